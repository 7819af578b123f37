"""Which release this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """The version of the installed product."""
    try:
        return version("steelyard")
    except PackageNotFoundError:
        return "unknown"
