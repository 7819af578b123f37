"""Scores of a night, read in portions: of those evaluations and that metric which were asked for, and no others."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from sqlalchemy import insert, select, update

from models.database.session import make_engine, reading, writing
from models.nightly.scores import latest_evaluation, read_measured_outputs, read_nightly_scores
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.storage.arrays import pack
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

METRICS, REPLICATES = 2, 3


@pytest.mark.parametrize("portion", [1, 2, 500])
def test_all_that_was_asked_for_in_portions(sqlite_url: str, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.nightly.scores.CHUNK", portion)
    engine = make_engine(sqlite_url)
    evaluations = queue_job(engine, one_block_shards(sqlite_url), systems=4).all_evaluations
    with writing(engine) as connection:
        for evaluation in evaluations[:3]:
            for metric in range(METRICS):
                row = {
                    "evaluation_id": evaluation, "metric": metric, "specification": f"m{metric}", "title": f"M{metric}",
                    "signature": f"s{evaluation}", "higher_is_better": metric == 0, "scale": 10.0 + metric,
                    "columns": ["n"], "sums": pack(np.ones((1, 1))), "details": {}, "score": evaluation + metric / 2,
                    "replicate_scores": pack(np.arange(float(REPLICATES)) + evaluation * 10.0 + metric),
                }  # fmt: skip
                connection.execute(insert(Score).values(**row))
        for edition, evaluation in enumerate(evaluations, 3):
            connection.execute(update(Evaluation).where(Evaluation.id == evaluation).values(edition=edition))
        texts = {row.id: row.text_id for row in connection.execute(select(Submission.id, Submission.text_id))}
        of = {row.id: texts[row.submission_id] for row in connection.execute(select(Evaluation))}
    with reading(engine) as connection:
        every = chain.from_iterable(combinations(evaluations, count) for count in range(5))
        for asked in every:
            for one in (None, 0, 1):
                found = read_nightly_scores(connection, [*asked, *asked], metric=one)
                wanted = {
                    (each, place)
                    for each in asked
                    for place in range(METRICS)
                    if each in evaluations[:3] and one in (None, place)
                }
                assert found.keys() == wanted
                for (evaluation, place), score in found.items():
                    assert (score.score, score.scale) == (evaluation + place / 2, 10.0 + place)
                    assert (score.specification, score.title, score.signature) == (
                        f"m{place}",
                        f"M{place}",
                        f"s{evaluation}",
                    )
                    assert score.higher_is_better == (place == 0)
                    assert score.replicate_scores.tolist() == [n + evaluation * 10.0 + place for n in range(REPLICATES)]
                without = read_nightly_scores(connection, asked, metric=one, replicates=False)
                assert without.keys() == wanted
                assert not any(each.replicate_scores.size for each in without.values())
            outputs = read_measured_outputs(connection, asked)
            assert {key: (each.edition, each.text_id) for key, each in outputs.items()} == {
                each: (evaluations.index(each) + 3, of[each]) for each in asked
            }
    engine.dispose()


def test_the_latest_evaluation_is_one_of_the_campaign(sqlite_url: str) -> None:
    """Another campaign measures the same text of a system with the same name by the same protocol, and later."""
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    jobs = {name: queue_job(engine, settings, systems=2, campaign=name) for name in ("first", "second")}
    work_off(settings)
    with reading(engine) as connection:
        rows = connection.execute(
            select(Evaluation.id, Evaluation.protocol_id, Submission.campaign_id, System.name)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(System, System.id == Submission.system_id)
        ).all()
        assert len(rows) == 4
        assert len({row.protocol_id for row in rows}) == 1
        for row in rows:
            assert latest_evaluation(connection, row.campaign_id, row.protocol_id, row.name) == row.id
            assert latest_evaluation(connection, row.campaign_id, row.protocol_id + 1, row.name) is None
            assert latest_evaluation(connection, row.campaign_id, row.protocol_id, "nobody") is None
        assert {each for job in jobs.values() for each in job.all_evaluations} == {row.id for row in rows}
    engine.dispose()
