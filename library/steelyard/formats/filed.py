"""Plain texts too large to be held: checked once, then read from their files again for each use."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.input.contents import opened, refuse_other_formats
from steelyard.formats.input.gzip_members import GZIP
from steelyard.formats.input.windows import Windows
from steelyard.formats.plain import Text
from steelyard.text.blocks import BLOCK, cut_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from steelyard.formats.input.contents import Contents
    from steelyard.formats.plain import Utf8
    from steelyard.text.limits import TextLimits

EXPANSION = 4
"""How many times its size a packed text is reckoned to have."""


class ChangedFile(BadText):
    """The file changed while it was read. Try again when nobody writes to it."""


class FiledText(Text):
    """A plain text that stays in its file; `bytes` and `lines()` read the whole of it at every call, `runs` does not.

    Raises BadText as `read_lines` does when it is made, and ChangedFile when the file is found to have changed later.
    """

    __slots__ = ("_limits", "_path", "_sha256", "_size")
    _limits: TextLimits
    _path: Path
    _sha256: str
    _size: int

    def __init__(self, contents: Contents, limits: TextLimits) -> None:
        refuse_other_formats(contents)
        windows = Windows(contents, limits)
        digest, size = hashlib.sha256(), 0
        for lines in windows:
            digest.update(lines)
            size += len(lines)
        values = {
            "name": contents.name,
            "segments": windows.segments,
            "layers": {},
            "unit": "line",
            "ids": (),
            "language": "",
            "notices": tuple(windows.notices),
            "_path": contents.path,
            "_limits": limits,
            "_sha256": digest.hexdigest(),
            "_size": max(size - 1, 0),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, object]:
        """Where it lies and what it was found to be: another process reads the same file."""
        return {name: getattr(self, name) for name in _KEPT}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    @property
    def bytes(self) -> Utf8:
        """All of it, read from the file."""
        return b"\n".join(self.runs(BLOCK))

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._size

    @property
    def sha256(self) -> str:
        """As it was when the text was checked."""
        return self._sha256

    def runs(self, blocks: int) -> Iterator[Utf8]:
        """The text in runs of several blocks of 256 segments, in the memory that one run takes.

        Parameters
        ----------
        blocks : int

        Yields
        ------
        bytes

        Raises
        ------
        ChangedFile
            Where the file is not what it was, at the end at the latest.
        """
        digest, rest = hashlib.sha256(), b""
        for window in Windows(opened(self._path, name=self.name, limits=self._limits), self._limits):
            digest.update(window)
            *whole, rest = cut_lines(rest + window, blocks * BLOCK)
            yield from (run[:-1] for run in whole)
        if rest:
            yield rest[:-1]
        if digest.hexdigest() != self._sha256:
            raise ChangedFile(f"{self.name}: changed while it was read. Try again when nobody writes to it.")


_KEPT = ("name", "segments", "layers", "unit", "ids", "language", "notices", *FiledText.__slots__)


def stays_in_file(contents: Contents, limits: TextLimits) -> bool:
    """Whether a plain text is too large to be held in memory, and lies in a file that can be read again.

    Parameters
    ----------
    contents : Contents
    limits : TextLimits

    Returns
    -------
    bool
    """
    path = contents.path
    if limits.held_bytes is None or path is None or not path.is_file():
        return False
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    return path.stat().st_size * (EXPANSION if packed else 1) > limits.held_bytes
