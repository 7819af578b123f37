"""Scores of lists of strings, in the order of arguments of sacreBLEU: what stands behind `BLEU().corpus_score(...)`."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.errors import BadParameter, BadText
from steelyard.metrics.preparation.text_checks import joined_texts
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import corpus_sums, score_systems, shard_statistics
from steelyard.metrics.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.contract import MetricContract
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.score import Score

    Floats = NDArray[np.float64]
    References = Sequence[Sequence[str | None]]

SEED = 12345
PAIRS_AT_ONCE = 1 << 16
"""Pairs of a hypothesis and a reference that are scored in one call, so that they fit in memory."""


@dataclass(frozen=True)
class PreparedReferences:
    """References as `Segments` takes them: made once, however many systems are scored by them."""

    texts: list[bytes]
    some_lack: bool
    """Whether an empty line stands for a reference that the segment lacks."""


def prepared_references(references: References, *, blanks_count: bool = False) -> PreparedReferences:
    """References, checked and joined.

    Parameters
    ----------
    references : list of list of str
        None stands for a reference that a segment lacks.
    blanks_count : bool
        The metric tells a blank from nothing: then no reference may be empty beside others that are missing.

    Returns
    -------
    PreparedReferences

    Raises
    ------
    BadText
        For what is no list of lists of strings.
    """
    if isinstance(references, (str, bytes)) or any(isinstance(each, (str, bytes)) for each in references):
        raise BadText("references is a list of strings, but must be a list of references: references=[lines].")
    some_lack = any(line is None for reference in references for line in reference)
    if not some_lack:
        kept = [[_line(line) for line in reference] for reference in references]
    else:
        # An empty line stands for a reference that is not there, so that one which is there, but empty, gets a blank.
        if blanks_count and any(line is not None and not _line(line) for each in references for line in each):
            raise BadText("A reference is empty, and another is None. Give None for both, or a text for both.")
        kept = [["" if line is None else _line(line) or " " for line in reference] for reference in references]
    return PreparedReferences(joined_texts("references", kept), some_lack)


def as_segments(
    hypotheses: Sequence[Sequence[str]],
    references: References | PreparedReferences,
    source: Sequence[str] | None = None,
    *,
    blanks_count: bool = False,
) -> Segments:
    """The texts of all systems and the references, checked.

    Parameters
    ----------
    hypotheses : list of list of str
        One list for each system.
    references : list of list of str, or PreparedReferences
    source : list of str, optional
    blanks_count : bool
        As of `prepared_references`.

    Returns
    -------
    Segments

    Raises
    ------
    BadText
        For what is no list of strings, and for lists of different lengths.
    """
    if isinstance(source, (str, bytes)):
        raise BadText("source is a single string, but must be a list of strings, one a segment.")
    if not isinstance(references, PreparedReferences):
        references = prepared_references(references, blanks_count=blanks_count)
    return Segments(
        references=references.texts,
        hypotheses=joined_texts("hypotheses", [[_line(line) for line in each] for each in hypotheses]),
        source=None if source is None else joined_texts("source", [[_line(line) for line in source]])[0],
        variable_references=references.some_lack,
    )


def corpus_score(
    metric: MetricContract,
    hypotheses: Sequence[str],
    references: References | PreparedReferences,
    source: Sequence[str] | None,
    replicates: int,
    seed: int,
) -> Score:
    """The score of one system; `Metric.corpus_score` says more.

    Parameters
    ----------
    metric : Metric
    hypotheses : list of str
    references : list of list of str, or PreparedReferences
    source : list of str or None
    replicates : int
    seed : int

    Returns
    -------
    Score

    Raises
    ------
    BadText, MissingResource
    """
    if isinstance(hypotheses, (str, bytes)):
        raise BadText("hypotheses is a single string, but must be a list of strings, one a segment.")
    segments = as_segments([hypotheses], references, source, blanks_count=_counts_blanks(metric))
    pinned = _pinned(metric)
    counted = counted_references(segments)
    if not replicates and pinned.corpus_statistics is None:
        return pinned.score_type(pinned, _sums(pinned, segments, metric.resources), counted)
    (found,) = score_systems(segments, [pinned], replicates=replicates, seed=seed, resources=metric.resources)
    return pinned.score_type(pinned, found.sums[0], counted, found.replicate_scores[0], seed)


def counted_references(segments: Segments) -> int | str:
    """How many references each segment has, for the signature.

    Parameters
    ----------
    segments : Segments

    Returns
    -------
    int or "var"
        "var" where their numbers differ.
    """
    if not segments.variable_references:
        return len(segments.references)
    counts = set(segments.reference_mask.sum(axis=0).tolist())
    return int(counts.pop()) if len(counts) == 1 else "var"


def signature_for(metric: MetricContract, references: PreparedReferences) -> str:
    """The signature of any score by some references.

    Parameters
    ----------
    metric : Metric
    references : PreparedReferences

    Returns
    -------
    str

    Raises
    ------
    MissingResource
        Where a file or package that the metric needs is not here.
    """
    segments = Segments(references=references.texts, hypotheses=[], variable_references=references.some_lack)
    return _pinned(metric).signature(counted_references(segments))


@dataclass
class Accumulator:
    """Sums of the statistics of one system, to which more segments and other accumulators can be added.

    The score of the sum is that of all segments together, to the last bit, however they were divided and in whatever
    order they were added.

    Examples
    --------
    >>> from steelyard import BLEU
    >>> whole = BLEU().accumulator()
    >>> whole.update(["the cat sat on the mat"], [["the cat sat on the mat"]])
    >>> whole += BLEU().accumulator()
    >>> whole.compute()
    BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
    """

    metric: MetricContract
    sums: Floats = field(init=False)
    segments: int = field(default=0, init=False)
    references: set[int | str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        if self.metric.corpus_statistics is not None:
            raise BadParameter(
                f"{self.metric.name} counts something in all references before it scores a segment, so that segments "
                "cannot be added one after the other. Use corpus_score."
            )
        self._resources = self.metric.resources
        self.metric = _pinned(self.metric)
        self.sums = np.zeros(len(self.metric.columns))

    def update(self, hypotheses: Sequence[str], references: References, *, source: Sequence[str] | None = None) -> None:
        """Add segments.

        Parameters
        ----------
        hypotheses : list of str
        references : list of list of str
        source : list of str, optional
            As `Metric.corpus_score` takes them.

        Raises
        ------
        BadText
            For lists of different lengths, and for what is no string.
        """
        segments = as_segments([hypotheses], references, source, blanks_count=_counts_blanks(self.metric))
        self.sums = self.sums + _sums(self.metric, segments, self._resources)
        self.segments += len(segments)
        self.references.add(counted_references(segments))

    def __iadd__(self, other: Accumulator) -> Self:
        if other.metric != self.metric:
            raise BadParameter(
                f"Statistics of {other.metric.specification} cannot be added to those of {self.metric.specification}."
            )
        self.sums = self.sums + other.sums
        self.segments += other.segments
        self.references |= other.references
        return self

    def __add__(self, other: Accumulator) -> Accumulator:
        total = copy(self)
        total.references = set(self.references)
        total += other
        return total

    def compute(self) -> Score:
        """The score of all segments that were added.

        Returns
        -------
        Score

        Raises
        ------
        BadText
            Where there are none.
        """
        if not self.segments:
            raise BadText("Nothing was added yet. Call update first.")
        references = next(iter(self.references)) if len(self.references) == 1 else "var"
        return self.metric.score_type(self.metric, self.sums, references)


def pairwise(
    metric: MetricContract, hypotheses: Sequence[str], references: Sequence[str], source: str | None
) -> Floats:
    """The score of each hypothesis against each reference; `Metric.pairwise` says more.

    Parameters
    ----------
    metric : Metric
    hypotheses : list of str
    references : list of str
    source : str or None

    Returns
    -------
    (hypotheses, references) float64

    Raises
    ------
    BadText, BadParameter
    """
    for what, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, (str, bytes)) or not texts:
            raise BadText(f"{what} must be a list of at least one string.")
    if metric.corpus_statistics is not None:
        raise BadParameter(f"{metric.name} needs a whole test set of references, so it has no scores of single pairs.")
    pinned = _pinned(metric)
    against = [_line(line) for line in references]
    lines = [_line(line) for line in hypotheses]
    at_once = max(1, PAIRS_AT_ONCE // len(against))
    found = np.empty((len(lines), len(against)))
    for begin in range(0, len(lines), at_once):
        systems = [[line] * len(against) for line in lines[begin : begin + at_once]]
        translated = None if source is None else [_line(source)] * len(against)
        segments = Segments.from_lines(references=[against], hypotheses=systems, source=translated)
        (statistics,) = shard_statistics(segments.with_resources(metric.resources), [pinned])
        found[begin : begin + at_once] = pinned.segment_score(statistics)
    return found


def _sums(metric: MetricContract, segments: Segments, resources: Resources | None) -> Floats:
    """(k,): the summed statistics of the one system."""
    segments.resources = resources or segments.resources
    statistics = (shard_statistics(piece, [metric])[0] for piece in segments.slices())
    return reduce(np.add, (corpus_sums(each)[0] for each in statistics))


def _pinned(metric: MetricContract) -> MetricContract:
    """With versions of dictionaries and resources named, as the signature must. Raises MissingResource."""
    if metric.resources:
        # Files may be others than they were for the last score.
        return resolve([metric], RunContext(resources=metric.resources))[0][0]
    pinned: MetricContract | None = vars(metric).get("_pinned")
    if pinned is None:
        ((pinned,), _) = resolve([metric], RunContext())
        object.__setattr__(metric, "_pinned", pinned)
    return pinned


def _counts_blanks(metric: MetricContract) -> bool:
    return bool(getattr(metric, "space", False))


def _line(line: object) -> str:
    if not isinstance(line, str):
        raise BadText(f"A segment is of the type {type(line).__name__}, but must be a string: {str(line)[:80]!r}.")
    return line.rstrip("\r\n").replace("\n", " ")
