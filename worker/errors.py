"""The exceptions of this package, with one base class."""

from __future__ import annotations


class WorkerError(Exception):
    """A worker cannot do its work.

    A subclass's docstring is its default message.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class BrokerAway(WorkerError):
    """The broker cannot be reached."""


class BrokerInMemory(WorkerError):
    """A separate worker needs a broker: set STEELYARD_BROKER_URL, e.g. redis://localhost/0."""


class PartsMissing(WorkerError):
    """The counts of the references do not cover the test set."""


class ShardsMissing(WorkerError):
    """The shards of an evaluation do not cover its test set."""


class CorpusStatisticsMissing(WorkerError):
    """The corpus statistics of the metrics are not complete yet."""


class TakenOver(WorkerError):
    """Another worker has taken this task over."""
