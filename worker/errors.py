"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations


class WorkerError(Exception):
    """A worker cannot do its work.

    The docstring of a subclass is its message when none is given.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BrokerAway(WorkerError):
    """The broker cannot be asked for its queues."""


class BrokerInMemory(WorkerError):
    """A worker of its own needs a broker of its own: set STEELYARD_BROKER_URL, e.g. redis://localhost/0."""


class PartsMissing(WorkerError):
    """What was counted in the references does not cover the test set."""


class ShardsMissing(WorkerError):
    """The shards of an evaluation do not cover its test set."""


class StateMissing(WorkerError):
    """What the metrics must know of all references is not there yet."""
