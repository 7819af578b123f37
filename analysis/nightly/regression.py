"""Regressions: which systems of a nightly run are worse than their baselines by more than chance.

One paired test for each system, test set and metric; all those of a run are one family, corrected together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.resampling.correction import corrected
from steelyard.resampling.interval import interval
from steelyard.resampling.regression import Outcome, outcome_of, regression_p
from steelyard.text.wording import with_references

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analysis.nightly.baselines import Candidate
    from models.nightly.scores import NightlyScore


@dataclass(frozen=True)
class Subject:
    """The subject of a series: a system on a test set against references, by a metric."""

    system: str
    test_set: str
    references: tuple[str, ...]
    metric: str
    """Its specification."""

    @property
    def where(self) -> str:
        """Test set and references."""
        return with_references(self.test_set, self.references)


@dataclass(frozen=True)
class RegressionFinding:
    """A system of a nightly run and its baseline, by one metric. Undefined numbers are None."""

    subject: Subject
    title: str
    """The metric's display name."""
    signature: str
    higher_is_better: bool
    scale: float | None
    """The score of a perfect output; None where the metric has no upper end."""
    score: float | None
    outcome: Outcome
    baseline_system: str | None = None
    baseline_date: str | None = None
    """Date of the run that scored it; None without one."""
    baseline_score: float | None = None
    difference: float | None = None
    """Score minus that of the baseline."""
    interval: tuple[float, float] | None = None
    """Of the difference, at the level 1 - alpha, not corrected."""
    candidates: int = 1
    """The number of different outputs from which the best was chosen."""
    p: float | None = None
    """Two-sided."""
    p_corrected: float | None = None
    """Corrected for all tests of the run."""

    def as_json(self) -> dict[str, Any]:
        """The form that is stored and sent."""
        stored = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "subject"}
        of_subject = {field.name: getattr(self.subject, field.name) for field in fields(self.subject)}
        return {**of_subject, **stored, "references": list(self.subject.references), "outcome": str(self.outcome)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> RegressionFinding:
        """Read the stored form."""
        ends = stored["interval"]
        given = {field.name: stored[field.name] for field in fields(cls) if field.name != "subject"}
        return cls(
            **{
                **given,
                "subject": subject_from(stored),
                "outcome": Outcome(stored["outcome"]),
                "interval": None if ends is None else (ends[0], ends[1]),
            }
        )


def subject_from(stored: dict[str, Any]) -> Subject:
    """The subject of a stored finding or change."""
    return Subject(stored["system"], stored["test_set"], tuple(stored["references"]), stored["metric"])


@dataclass(frozen=True)
class BaselineScore:
    """A possible baseline with its score."""

    candidate: Candidate
    score: NightlyScore
    same_output: bool
    itself: bool = False
    """Whether it is the judged evaluation itself, of the same run."""


@dataclass(frozen=True)
class ScoreEntry:
    """A score of a nightly run with its possible baselines."""

    subject: Subject
    evaluation_id: int
    protocol_id: int
    metric: int
    """A position in the protocol's list."""
    score: NightlyScore
    rivals: Sequence[BaselineScore]
    """The latest first."""

    @property
    def best(self) -> BaselineScore | None:
        """The rival with the best score, the latest of those that are equal; None where none has a score."""
        sign = 1 if self.score.higher_is_better else -1
        scored = [rival for rival in self.rivals if rival.score.score is not None]
        return max(scored, key=lambda rival: sign * (rival.score.score or 0.0), default=None)


def findings(
    entries: Sequence[ScoreEntry],
    *,
    alpha: float,
    correction: str,
    minimum_difference: float = 0.0,
    p_of: Callable[[ScoreEntry, BaselineScore], float] | None = None,
) -> list[RegressionFinding]:
    """The finding on each entry, in order, with all tests corrected as one family.

    `p_of` gives the p-value of an entry's test against its best rival alone; the default is the paired bootstrap. A
    score is worse where the corrected p-value is below alpha and the difference at least the minimum. The same output
    is not tested: its p-value is 1, and it does not count in the family.
    """
    found = [_tested(entry, alpha, p_of) for entry in entries]
    family = corrected([math.nan if each.p is None or _same(each) else each.p for each in found], correction)
    return [
        each if math.isnan(p) else _judged(replace(each, p_corrected=p), alpha, minimum_difference)
        for each, p in zip(found, family.tolist(), strict=True)
    ]


def _same(finding: RegressionFinding) -> bool:
    return finding.outcome == Outcome.SAME_OUTPUT


def _tested(
    entry: ScoreEntry, alpha: float, p_of: Callable[[ScoreEntry, BaselineScore], float] | None
) -> RegressionFinding:
    score, rival = entry.score, entry.best
    plain = RegressionFinding(
        subject=entry.subject,
        title=score.title,
        signature=score.signature,
        higher_is_better=score.higher_is_better,
        scale=score.scale if math.isfinite(score.scale) else None,
        score=score.score,
        outcome=Outcome.NO_BASELINE,
    )
    if rival is None or rival.score.score is None:
        return plain
    if rival.itself:
        return replace(plain, outcome=Outcome.BASELINE)
    against = replace(
        plain,
        baseline_system=rival.candidate.system,
        baseline_date=rival.candidate.date,
        baseline_score=rival.score.score,
        candidates=len(entry.rivals),
    )
    if score.score is None:
        return replace(against, outcome=Outcome.NO_SCORE)
    difference = score.score - rival.score.score
    against = replace(against, difference=difference)
    if rival.same_output:
        return replace(against, outcome=Outcome.SAME_OUTPUT, interval=(0.0, 0.0), p=1.0, p_corrected=1.0)
    ends = None
    if len(score.replicate_scores):
        ends = interval("percentile", score.replicate_scores - rival.score.replicate_scores, 1 - alpha)
    p = _bootstrap_p(entry) if p_of is None else p_of(entry, rival)
    # The best of several rivals without joint trials: Bonferroni. `min` keeps a NaN in the first place.
    p = p if p_of is None else min(p * len(entry.rivals), 1.0)
    return replace(against, interval=ends, p=None if math.isnan(p) else p, outcome=Outcome.UNTESTED)


def _bootstrap_p(entry: ScoreEntry) -> float:
    mine, rivals = entry.score, [rival.score for rival in entry.rivals if rival.score.score is not None]
    if mine.score is None or not len(mine.replicate_scores):
        return math.nan
    return regression_p(
        mine.score,
        mine.replicate_scores,
        np.array([rival.score for rival in rivals], np.float64),
        np.stack([rival.replicate_scores for rival in rivals]),
        higher_is_better=mine.higher_is_better,
    )


def _judged(finding: RegressionFinding, alpha: float, minimum_difference: float) -> RegressionFinding:
    outcome = outcome_of(
        finding.difference or 0.0,
        1.0 if finding.p_corrected is None else finding.p_corrected,
        alpha=alpha,
        minimum_difference=minimum_difference,
        higher_is_better=finding.higher_is_better,
    )
    return replace(finding, outcome=outcome)
