"""A store of statistics that is slow and fails, as somebody says in files beside it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from tests.faults.troubled import MARKS

SLOW_SECONDS = 0.2
FAILURE = "503 Slow Down"


class TroubledStore(LocalFileSystem):
    """Files of this machine at `troubled://` and a path; the marks `slow` and `failing` do what they say."""

    protocol = "troubled"
    root_marker = "/"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return LocalFileSystem._strip_protocol(path.replace("troubled://", "/") if isinstance(path, str) else path)

    def _make_trouble(self) -> None:
        marks = Path(os.environ[MARKS])
        if (marks / "slow").exists():
            time.sleep(SLOW_SECONDS)
        if (marks / "failing").exists():
            raise OSError(FAILURE)

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        """Write a file, with the folders that it is in."""
        self._make_trouble()
        self.makedirs(os.path.dirname(self._strip_protocol(path)), exist_ok=True)
        super().pipe_file(path, value, **options)

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file."""
        if mode == "rb":
            self._make_trouble()
        return super().open(path, mode, **options)


def register_store() -> None:
    """Make the store known in this process and those forked from it."""
    fsspec.register_implementation("troubled", TroubledStore, clobber=True)
