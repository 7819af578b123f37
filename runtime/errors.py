"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations


class ProcessError(Exception):
    """A process cannot run as it is set up.

    The docstring of a subclass is its message when none is given.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class AddressTaken(ProcessError):
    """Health and metrics cannot be served at the address."""


class MissingTracePackages(ProcessError):
    """STEELYARD_TRACES_URL needs packages that are not installed: pip install "steelyard-server[traces]"."""
