"""Series of nightly scores: every system's score by date, with significant changes of level."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.nightly.entries import apart
from analysis.nightly.regression import Subject, subject_from
from models.nightly.scores import NightlyScore, read_nightly_scores
from steelyard.resampling.change_points import FEWEST, find_change_points, shared_alpha
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.level_changes import is_reported, level_change, runs_of_levels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from analysis.nightly.baselines import RunHistory
    from steelyard.resampling.change_points import ChangePoint
    from steelyard.resampling.level_changes import Reported

    Floats = NDArray[np.float64]
    Key = tuple[str, int, int]
    """System, protocol and position of the metric."""


@dataclass(frozen=True)
class Change:
    """A lasting change of level in a series."""

    subject: Subject
    title: str
    """The metric's display name."""
    since: str
    """The date of the first run of the new level."""
    until: str
    """The date of the last run of the new level so far."""
    runs_before: int
    """Runs with a score on the level before, among the runs that were read."""
    runs_after: int
    before: float
    """The mean score of these runs."""
    after: float
    interval: tuple[float, float] | None
    """Of after minus before, over other segments like these."""
    p: float
    """Permutation test of the change against noise of single runs."""
    p_segments: float | None
    """Two-sided paired test of the means: whether other segments would show a difference, too."""
    worse: bool
    counts: bool
    """Whether `p_segments` is below alpha and the difference at least the minimum."""
    new: bool
    """Whether no earlier run has reported it."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    @property
    def regressed(self) -> bool:
        """Whether it fails a nightly run."""
        return self.worse and self.counts and self.new

    def as_json(self) -> dict[str, Any]:
        """The form that is stored and sent."""
        stored = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "subject"}
        of_subject = {field.name: getattr(self.subject, field.name) for field in fields(self.subject)}
        return {**of_subject, **stored, "references": list(self.subject.references), "difference": self.difference}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Change:
        """Read the stored form."""
        ends = stored["interval"]
        given = {field.name: stored[field.name] for field in fields(cls) if field.name != "subject"}
        interval = None if ends is None else (ends[0], ends[1])
        return cls(**{**given, "subject": subject_from(stored), "interval": interval})


@dataclass(frozen=True)
class Point:
    """One run of a series."""

    date: str
    score: float | None
    """None if the run has none."""
    interval: tuple[float, float] | None = None
    """95 % interval over segments. Successive runs share their segments, so these intervals do not apply to the
    differences between runs."""


@dataclass(frozen=True)
class ScoreSeries:
    """The scores of one system on one test set by one metric."""

    subject: Subject
    title: str
    signature: str
    higher_is_better: bool
    points: tuple[Point, ...]
    """One for each judged run, earliest first."""
    changes: tuple[Change, ...]

    @property
    def too_few(self) -> bool:
        """Whether there are too few runs to look for changes."""
        return sum(point.score is not None for point in self.points) < FEWEST

    def as_json(self) -> dict[str, Any]:
        """The form that is printed and sent."""
        return {
            "system": self.subject.system,
            "test_set": self.subject.test_set,
            "references": list(self.subject.references),
            "metric": self.subject.metric,
            "title": self.title,
            "signature": self.signature,
            "higher_is_better": self.higher_is_better,
            "points": [{"date": point.date, "score": point.score, "interval": point.interval} for point in self.points],
            "too_few_runs": self.too_few,
            "changes": [change.as_json() for change in self.changes],
        }


def read_series(
    connection: Connection,
    history: RunHistory,
    *,
    alpha: float,
    minimum_difference: float = 0.0,
    reported: Mapping[Subject, Sequence[Reported]] | None = None,
    only_last: bool = False,
    intervals: bool = True,
) -> list[ScoreSeries]:
    """The series of all systems, or with `only_last` of those of the last run, in the order of that run.

    `alpha` decides which changes count. A change is new unless it is among the `reported` ones of its subject. Without
    `intervals` the points have none.
    """
    members = {
        (position, member): member.evaluation_id
        for position, nightly_run in enumerate(history.nightly_runs)
        for member in history.members[nightly_run.id]
    }
    scores = apart(read_nightly_scores(connection, set(members.values()), replicates=intervals))
    evaluations: dict[Key, dict[int, int]] = {}
    places: dict[tuple[str, int], tuple[str, tuple[str, ...]]] = {}
    metrics: dict[int, list[int]] = {}
    for evaluation, metric in scores:
        metrics.setdefault(evaluation, []).append(metric)
    last = len(history.nightly_runs) - 1
    # The last run first: its order is that of the series.
    for (at, member), evaluation in sorted(members.items(), key=lambda each: -each[0][0]):
        places[member.system, member.protocol_id] = member.test_set, member.references
        for metric in sorted(metrics.get(evaluation, ())):
            evaluations.setdefault((member.system, member.protocol_id, metric), {})[at] = evaluation
    chosen = {key: nightly_runs for key, nightly_runs in evaluations.items() if last in nightly_runs or not only_last}
    values = {}
    for key, nightly_runs in chosen.items():
        newest = nightly_runs[max(nightly_runs)]
        values[key] = np.full(len(history.nightly_runs), np.nan)
        for at, evaluation in nightly_runs.items():
            score = scores[evaluation, key[2]].score
            if score is not None and history.same_edition(evaluation, newest):
                values[key][at] = score
    varying_series = sum(len(set(series[~np.isnan(series)].tolist())) > 1 for series in values.values())
    found = []
    for key, series in values.items():
        system, protocol, metric = key
        newest_score = scores[chosen[key][max(chosen[key])], metric]
        subject = Subject(system, *places[system, protocol], newest_score.specification)
        changes = [
            _change(
                connection, history, subject, newest_score, series, chosen[key], metric, step,
                alpha=alpha, minimum_difference=minimum_difference, reported=(reported or {}).get(subject, ()),
            )
            for step in find_change_points(series, shared_alpha(varying_series))
        ]  # fmt: skip
        points = []
        for at, nightly_run in enumerate(history.nightly_runs):
            if math.isnan(series[at]):
                points.append(Point(nightly_run.date, None))
                continue
            replicates = scores[chosen[key][at], metric].replicate_scores
            points.append(Point(nightly_run.date, float(series[at]), percentile_interval(replicates, 0.95)))
        found.append(
            ScoreSeries(
                subject=subject,
                title=newest_score.title,
                signature=newest_score.signature,
                higher_is_better=newest_score.higher_is_better,
                points=tuple(points),
                changes=tuple(changes),
            )
        )
    return found


def _change(
    connection: Connection,
    history: RunHistory,
    subject: Subject,
    like: NightlyScore,
    values: Floats,
    evaluations: Mapping[int, int],
    metric: int,
    step: ChangePoint,
    *,
    alpha: float,
    minimum_difference: float,
    reported: Sequence[Reported],
) -> Change:
    before, after = runs_of_levels(values, step)
    stored = read_nightly_scores(connection, {evaluations[at] for at in (*before, *after)}, metric=metric)
    replicates = np.stack([stored[evaluations[at], metric].replicate_scores for at in (*before, *after)])
    found = level_change(values[before], values[after], replicates, 1 - alpha)
    worse = (found.difference < 0) == like.higher_is_better
    return Change(
        subject=subject,
        title=like.title,
        since=history.nightly_runs[step.at].date,
        until=history.nightly_runs[after[-1]].date,
        runs_before=len(before),
        runs_after=len(after),
        before=found.before,
        after=found.after,
        interval=found.interval,
        p=step.p,
        p_segments=None if math.isnan(found.p) else found.p,
        worse=worse,
        counts=found.p < alpha and abs(found.difference) >= minimum_difference,
        new=not is_reported(step, reported, worse=worse),
    )
