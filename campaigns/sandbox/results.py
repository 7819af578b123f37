"""What comes back from a process that has read a stranger's text: data, of a bounded size, and never code.

`pickle` would call whatever a message names. Here it finds dataclasses, tuples, enumerations and errors of ours that
are loaded, a few plain types, and nothing else. The process still runs as the same user as the server.
"""

from __future__ import annotations

import io
import pickle
import sys
from dataclasses import is_dataclass
from enum import Enum
from multiprocessing.context import ForkServerContext
from typing import Any

# The errors of readers are found where they are loaded, and no message may load anything.
import steelyard.formats.filed
import steelyard.formats.markup.scanner
import steelyard.formats.treebanks.layered  # noqa: F401

OURS = frozenset({"campaigns", "models", "pebble", "steelyard", "tests"})
PLAIN = frozenset(
    {
        ("builtins", "frozenset"),
        ("builtins", "set"),
        ("pathlib", "PosixPath"),
        ("pebble.common.types", "RemoteException.rebuild_exception"),
    }
)


def _member(kind: Any, name: Any) -> Enum:
    """A member of an enumeration, which Python up to 3.11.3 sends as `getattr(kind, name)`."""
    if isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__:
        return kind[name]
    raise pickle.UnpicklingError(f"{name} is no member of an enumeration")


class _Data(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("builtins", "getattr"):
            return _member
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if (module, name) in PLAIN:
            return found
        if isinstance(found, type) and found.__module__ == module:
            if module == "builtins" and issubclass(found, Exception):
                return found
            data = is_dataclass(found) or issubclass(found, (Enum, Exception, tuple))
            if data and module.partition(".")[0] in OURS:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no data")


def read_data(message: bytes) -> Any:
    """What a message holds.

    Raises
    ------
    OSError
        If it asks for anything but data: its sender is not to be trusted.
    """
    try:
        return _Data(io.BytesIO(message)).load()
    except Exception as error:
        raise OSError(f"A process that reads texts sent what is no data: {error}") from error


class Processes(ForkServerContext):
    """Makes processes whose pipes hand the server data of at most so many bytes at once."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def Pipe(self, duplex: bool = True) -> Any:  # noqa: N802 - as multiprocessing calls it
        """The two ends of a pipe, of which the first reads data alone."""
        reader, writer = super().Pipe(duplex)
        most = self._most
        # Of this object alone: a process that is given the end of a pipe gets a bare one, and reads what we send it.
        reader.recv = lambda: read_data(reader.recv_bytes(most))  # type: ignore[method-assign]
        return reader, writer
