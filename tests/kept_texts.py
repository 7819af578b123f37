"""Compares what commands print with what is kept of them in tests/golden."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def assert_as_kept(file: Path, found: str) -> None:
    """By command line, so that a failure names the one that differs."""
    kept, now = ((text + "\n").split("$ steelyard ") for text in (file.read_text(), found))
    for ours, theirs in zip(now, kept, strict=False):
        assert ours == theirs
    assert len(now) == len(kept)
