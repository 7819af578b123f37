"""What was measured of single segments of a test set, from the stored statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from campaigns.errors import NotThere
from metrics.errors import MetricsError
from metrics.titles import titled_apart
from models.errors import NotFound
from models.results.statistics import read_statistics
from models.schema.corpus import Protocol, Submission
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from worker.computing.scoring import known_metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with the references that it was measured against."""

    protocol: int
    position: int
    """Of the metric in the protocol."""
    specification: str
    title: str
    references: tuple[str, ...]
    higher_is_better: bool
    scale: float

    @property
    def key(self) -> str:
        """Names it in an address."""
        return f"{self.specification}@{','.join(self.references)}"


def read_measures(connection: Connection, campaign_id: int, test_set_id: int) -> list[Measure]:
    """All that a campaign's submissions were measured by, the most references first; of equals the newest."""
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
                metric = known_metric(specification)
            except MetricsError:
                continue  # of a distribution that is not here any more
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
        for measure in titled_apart(of_protocol):
            found.setdefault(measure.key, measure)
    return list(found.values())


def find_measure(measures: Sequence[Measure], metric: str = "", references: str = "") -> Measure | None:
    """The first that fits a key, specification, title or name, and labels; None where nothing is measured.

    Raises NotThere where something is, but not that.
    """
    labels = sorted(each for each in references.split(",") if each)
    for each in measures:
        names = {each.key, each.specification, each.title, each.specification.partition(":")[0]}
        if metric in {"", *names} and (not labels or sorted(each.references) == labels):
            return each
    if not measures:
        return None
    known = ", ".join(f"{each.title} against {'+'.join(each.references)}" for each in measures[:20])
    raise NotThere(f"Nothing here was measured by that. There are: {known}.")


def segment_scores(connection: Connection, measure: Measure, submissions: Sequence[int]) -> Mapping[int, Floats]:
    """Submission -> (segments,), NaN where undefined; of those that are measured already."""
    rows = connection.execute(
        select(Evaluation.id, Evaluation.submission_id).where(
            Evaluation.protocol_id == measure.protocol,
            Evaluation.submission_id.in_(submissions),
            Evaluation.state == EvaluationState.DONE,
        )
    )
    metric = known_metric(measure.specification)
    found = {}
    for row in rows.all():
        try:
            statistics = read_statistics(connection, [row.id], measure.position)
        except NotFound:
            continue
        found[row.submission_id] = metric.segment_score(statistics)[0]
    return found
