"""A campaign whose systems' runs have scores that were put in by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, insert, select, update

from models.database.session import writing
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.storage.arrays import pack
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric

BLEU = parse_metric("bleu")
"""Its place in the protocol stands for any metric: scores are put in by hand."""


def set_state(connection: Connection, evaluation: int, state: str, reason: str | None = None) -> None:
    connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(state=state, reason=reason))


def with_runs(engine: Engine, url: str, runs: dict[tuple[str, str], list[float | None] | str]) -> int:
    """A protocol whose systems' runs have these (score, replicates...), or failed for a reason; its id."""
    job = ingest_campaign(
        engine,
        Settings(database_url=url),
        campaign="one",
        test_set=NewTestSet("t", {"A": b"x\ny"}),
        submissions=[NewSubmission(system, f"{system}\n{run}".encode(), run=run) for system, run in runs],
        protocols=[NewProtocol(["A"], [BLEU])],
    )
    with writing(engine) as connection:
        for evaluation, found in zip(job.evaluations[0], runs.values(), strict=True):
            put_in(connection, evaluation, found)
    return job.protocols[0]


def put_in(connection: Connection, evaluation: int, found: list[float | None] | str) -> None:
    if isinstance(found, str):
        set_state(connection, evaluation, "failed" if found else "queued", found or None)
        return
    connection.execute(delete(Score).where(Score.evaluation_id == evaluation))
    score, *replicates = found
    details = {} if score is None else {"BP": 1.0} if score > 50 else {"BP": score / 100, "few": 2.0}
    row = {"signature": "s", "scale": 100.0, "columns": ["n"], "sums": pack(np.ones((1, 1))), "details": details}
    row |= {"metric": 0, "specification": "m", "title": "M", "higher_is_better": True, "score": score}
    row["replicate_scores"] = pack(np.array([math.nan if each is None else each for each in replicates]))
    connection.execute(insert(Score).values(evaluation_id=evaluation, **row))
    set_state(connection, evaluation, "done")


def declare(engine: Engine, declared: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Say of the submissions of these systems and runs, all of one team, what it has declared."""
    submitted = select(Submission, System.name).join(System, System.id == Submission.system_id)
    with writing(engine) as connection:
        rows = {(row.name, row.run): row for row in connection.execute(submitted)}
        for key, values in declared.items():
            place = {name: getattr(rows[key], name) for name in ("campaign_id", "test_set_id")}
            connection.execute(
                insert(Declaration).values(submission_id=rows[key].id, team="harbour", **place, **values)
            )
