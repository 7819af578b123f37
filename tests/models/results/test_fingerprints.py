"""Fingerprints of scores: any bit of what is stored changes them."""

from typing import Any

import pytest
from sqlalchemy import select, update

from models.database.session import make_engine, reading, writing
from models.results.fingerprints import Fingerprint, read_fingerprints
from models.schema.results import Score
from tests.scheduler.jobs import one_block_shards, queue_job, work_off


@pytest.mark.parametrize("column", ["score", "sums", "replicate_scores"])
def test_any_stored_number_of_a_score_is_in_its_fingerprint(sqlite_url: str, column: str) -> None:
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    job = queue_job(engine, settings, segments=100, systems=2, metrics=["bleu", "ter"], replicates=5)
    work_off(settings)

    def read() -> dict[tuple[int, int], Fingerprint]:
        with reading(engine) as connection:
            return read_fingerprints(connection, job.all_evaluations)

    first, second = job.all_evaluations
    before = read()
    assert set(before) == {(evaluation, metric) for evaluation in (first, second) for metric in (0, 1)}
    assert len({each.digest for each in before.values()}) == 4
    changed = Score.evaluation_id == first, Score.metric == 1
    with writing(engine) as connection:
        stored: Any = connection.execute(select(getattr(Score, column)).where(*changed)).scalar_one()
        other = stored + 1e-12 if column == "score" else stored[:-1] + bytes([stored[-1] ^ 1])
        connection.execute(update(Score).where(*changed).values({column: other}))
    after = read()
    assert [key for key in before if after[key].digest != before[key].digest] == [(first, 1)]
    engine.dispose()
