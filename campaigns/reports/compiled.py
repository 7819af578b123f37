"""A cache of compiled templates beside them, where Python keeps its own compiled files."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache

if TYPE_CHECKING:
    from jinja2.bccache import Bucket


class TemplateCache(BytecodeCache):
    """Keeps compiled templates in `__pycache__`; Jinja checks whether the template has changed.

    Disabled where Python may not write compiled files.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the template's file."""
        return filename or name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the compiled template, if there is one."""
        with suppress(OSError), _file(bucket).open("rb") as kept:
            bucket.load_bytecode(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the compiled template atomically."""
        if sys.dont_write_bytecode:
            return
        file = _file(bucket)
        new = file.with_name(f"{file.name}.{os.getpid()}")
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            new.write_bytes(bucket.bytecode_to_string())
            new.replace(file)


def _file(bucket: Bucket) -> Path:
    return Path(cache_from_source(bucket.key))
