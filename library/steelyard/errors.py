"""Everything that can go wrong in this room, with one base."""

from __future__ import annotations


class MetricsError(Exception):
    """Something about texts or metrics is not as it must be.

    The docstring of a subclass is its message when none is given.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class KernelsNotBuilt(MetricsError):
    """The compiled kernels are missing or out of date. Run `make install`."""


class UnknownMetric(MetricsError):
    """There is no metric of that name."""


class BrokenMetric(MetricsError):
    """The metric of another distribution cannot be used."""


class BrokenFormat(MetricsError):
    """There is no format of that name, or the one of another distribution cannot be used."""


class BrokenTokenizer(MetricsError):
    """The tokenizer of another distribution cannot be used."""


class BadParameter(MetricsError):
    """A metric was given a parameter it does not have, or a value that is not allowed."""


class BadText(MetricsError):
    """A text file is not what it must be: UTF-8, one segment per line, as many lines as its test set."""


class MissingLayer(MetricsError):
    """A metric needs a linguistic layer, such as lemmas, that the texts do not have."""


class MissingResource(MetricsError):
    """A metric needs a file, such as word vectors, that is not there or has other content."""


class ProgramFailed(MetricsError):
    """A registered program crashed, took too long, or said what cannot be; another attempt may succeed."""


class BadTasks(MetricsError):
    """Tasks for annotators cannot be made of these texts."""


class BadVectors(MetricsError):
    """Word vectors are not what they must be: distinct words in UTF-8, all with as many finite numbers."""


class BadModel(MetricsError):
    """The folder of a model lacks a file, or one of them is damaged or of a kind that is not known."""


class OutOfMemory(MetricsError):
    """A model's device has no room for a single text."""


class MissingState(MetricsError):
    """A metric needs something counted in all references first, and was not given it."""


class BadState(MetricsError):
    """What was counted in the references is damaged, of other references, or was written by a newer release."""


class TooLarge(MetricsError):
    """The sums of these statistics would no longer be exact."""


class BadArray(MetricsError):
    """A kernel was given an array of another dtype, shape or layout than it works on."""
