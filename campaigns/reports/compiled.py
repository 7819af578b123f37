"""Templates compiled once, not in each process: beside them, where Python keeps its own compiled files."""

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


class BesideTemplates(BytecodeCache):
    """Keeps what Jinja makes of a template in `__pycache__`; Jinja itself sees whether the template has changed.

    Where Python may not write compiled files, neither does this.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The template's file."""
        return filename or name

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, if there is something for it."""
        with suppress(OSError), _file(bucket).open("rb") as kept:
            bucket.load_bytecode(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what is in the bucket, whole or not at all."""
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
