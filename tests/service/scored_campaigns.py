"""Campaigns whose scores are put in by hand, for tests of what boards show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import delete, insert, select, update

from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import DeclaredKind
from models.storage.arrays import pack
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.service.service import Service

METRICS = ("bleu", "ter")
"""Of the second, lower is better."""
REPLICATES = 40


@dataclass
class Scored:
    """A campaign on a test set of two segments, to which submissions come with the scores that a test wants."""

    service: Service
    name: str = "port"
    references: Sequence[str] = ("A",)
    version: str = "1"
    lines: bytes = b"x\ny"
    """Each reference; other ones make another test set."""
    metrics: Sequence[str] = METRICS
    replicates: int = REPLICATES
    campaign_id: int = 0
    protocol: int = 0
    test_set: int = 0
    evaluations: dict[int, int] = field(default_factory=dict)
    """Submission -> evaluation."""

    def add(
        self,
        team: str,
        system: str,
        score: float | None,
        *,
        ter: float | None = 50.0,
        text: str = "",
        run: str = "",
        state: str = "done",
        spread: float = 0.5,
        **declared: object,
    ) -> int:
        """A submission, done unless the state says otherwise; the submission's id.

        What is `declared` (kind, constrained, late_seconds, ...) goes into its declaration; a team's always has one.
        """
        output = (text or f"{team} {system} {run} {score} {len(self.evaluations)}") + "\nend"
        job = ingest_campaign(
            self.service.engine,
            self.service.settings,
            campaign=self.name,
            test_set=NewTestSet("port", dict.fromkeys(self.references, self.lines), version=self.version),
            submissions=[NewSubmission(system, output.encode(), team, run=run)],
            protocols=[
                NewProtocol(list(self.references), [parse_metric(each) for each in self.metrics], self.replicates)
            ],
        )
        self.campaign_id, (self.protocol,), self.test_set = job.campaign_id, job.protocols, job.test_set_id
        ((evaluation,),), (submission,) = job.evaluations, job.submissions
        self.evaluations[submission] = evaluation
        with writing(self.service.engine) as connection:
            if team:
                row = {"submission_id": submission, "campaign_id": job.campaign_id, "team": team}
                row["test_set_id"] = connection.scalar(
                    select(Submission.test_set_id).where(Submission.id == submission)
                )
                connection.execute(insert(Declaration).values(**{**row, **declared}))
            if state != "done":
                changed = update(Evaluation).where(Evaluation.id == evaluation)
                connection.execute(changed.values(state=state, reason="too long" if state == "failed" else None))
        if state == "done":
            self.finish(submission, score, ter=ter, spread=spread)
        return submission

    def finish(self, submission: int, score: float | None, *, ter: float | None = 50.0, spread: float = 0.5) -> None:
        """The evaluation of a submission is done, with these scores and replicates around them."""
        evaluation = self.evaluations[submission]
        with writing(self.service.engine) as connection:
            connection.execute(delete(Score).where(Score.evaluation_id == evaluation))
            for position, (metric, value) in enumerate(zip(self.metrics, (score, ter), strict=False)):
                draw = np.random.default_rng(1000 * submission + position).standard_normal(self.replicates)
                around = np.full(self.replicates, math.nan) if value is None else value + spread * draw
                row = {
                    "evaluation_id": evaluation,
                    "metric": position,
                    "specification": metric,
                    "title": metric.partition(":")[0].upper(),
                    "signature": f"{metric}|version:1",
                    "higher_is_better": metric != "ter",
                    "scale": 100.0,
                    "columns": ["n"],
                    "sums": pack(np.ones((1, 1))),
                    "score": value,
                    "details": {"BP": 0.987},
                    "replicate_scores": pack(around),
                }
                connection.execute(insert(Score).values(**row))
            done = {"state": "done", "finished_at": now()}
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(**done))

    def declare(self, submission: int, **values: object) -> None:
        """Change what its team says of a submission."""
        with writing(self.service.engine) as connection:
            connection.execute(update(Declaration).where(Declaration.submission_id == submission).values(**values))

    def withdraw(self, submission: int) -> None:
        """As its team would."""
        self.declare(submission, withdrawn_at=now())


PRIMARY, CONTRASTIVE = {"kind": DeclaredKind.PRIMARY}, {"kind": DeclaredKind.CONTRASTIVE}
