"""Segment scores of a test set, from the stored statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from campaigns.errors import NotFound
from models.errors import NotFound as RecordNotFound
from models.results.statistics import read_statistics
from models.schema.corpus import Protocol, Submission
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from steelyard.errors import MetricsError
from steelyard.tables.titles import with_distinct_titles
from worker.computing.scoring import cached_metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with the references that it was computed against."""

    protocol: int
    position: int
    """The metric's position in the protocol."""
    specification: str
    title: str
    references: tuple[str, ...]
    higher_is_better: bool
    scale: float

    @property
    def key(self) -> str:
        """Identifies it in a URL."""
        return f"{self.specification}@{','.join(self.references)}"


def read_measures(connection: Connection, campaign_id: int, test_set_id: int) -> list[Measure]:
    """Return all metrics with scores in a campaign, the most references first; of equal ones the newest."""
    rows = connection.execute(
        select(Protocol)
        .where(Protocol.test_set_id == test_set_id, ~Protocol.sweep)
        .where(
            select(Evaluation.id)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .where(Evaluation.protocol_id == Protocol.id, Submission.campaign_id == campaign_id)
            .exists()
        )
        .order_by(Protocol.id.desc())
    ).all()
    found: dict[str, Measure] = {}
    for row in sorted(rows, key=lambda row: -len(row.reference_labels)):
        of_protocol = []
        for position, specification in enumerate(row.metrics):
            try:
                metric = cached_metric(specification)
            except MetricsError:
                continue  # from a distribution that is not installed any more
            of_protocol.append(
                Measure(
                    row.id,
                    position,
                    specification,
                    metric.title,
                    tuple(row.reference_labels),
                    metric.higher_is_better,
                    metric.scale,
                )
            )
        for measure in with_distinct_titles(of_protocol):
            found.setdefault(measure.key, measure)
    return list(found.values())


def find_measure(measures: Sequence[Measure], metric: str = "", references: str = "") -> Measure | None:
    """Return the first that matches a key, specification, title or name, and labels; None if there are no scores.

    Raises
    ------
    NotFound
        If there are scores, but none that matches.
    """
    labels = sorted(each for each in references.split(",") if each)
    for each in measures:
        names = {each.key, each.specification, each.title, each.specification.partition(":")[0]}
        if metric in {"", *names} and (not labels or sorted(each.references) == labels):
            return each
    if not measures:
        return None
    known = ", ".join(f"{each.title} against {'+'.join(each.references)}" for each in measures[:20])
    raise NotFound(f"There are no scores by that metric. There are: {known}.")


def segment_scores(connection: Connection, measure: Measure, submissions: Sequence[int]) -> Mapping[int, Floats]:
    """Return submission -> (segments,), NaN if undefined; for submissions that have scores."""
    rows = connection.execute(
        select(Evaluation.id, Evaluation.submission_id).where(
            Evaluation.protocol_id == measure.protocol,
            Evaluation.submission_id.in_(submissions),
            Evaluation.state == EvaluationState.DONE,
        )
    )
    metric = cached_metric(measure.specification)
    found = {}
    for row in rows.all():
        try:
            statistics = read_statistics(connection, [row.id], measure.position)
        except RecordNotFound:
            continue
        found[row.submission_id] = metric.segment_score(statistics)[0]
    return found
