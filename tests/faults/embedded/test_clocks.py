"""The clock of the machine is set while the embedded default works."""

import pytest
from sqlalchemy import func, select

from models.database.session import make_engine, reading
from models.queue_status.progress import Progress
from models.schema.queue import Evaluation, Shard
from models.schema.states import EvaluationState
from scheduler.embedded.processes import Embedded
from tests.scheduler.clocks import DAY, set_clock
from tests.scheduler.jobs import one_block_shards, queue_job, run_until_done

pytestmark = [
    pytest.mark.faults,
    # From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_run_during_which_the_clock_is_set(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, jump: float, caplog: pytest.LogCaptureFixture
) -> None:
    clock = set_clock(sqlite_url, monkeypatch)
    settings = one_block_shards(sqlite_url, sweep_seconds=0.1)
    heard: list[Progress] = []

    def tell(progress: Progress) -> None:
        if not heard and progress.shards_done:
            heard.append(progress)
            clock.set(jump)

    with Embedded(settings, concurrency=2) as embedded:
        job = queue_job(embedded.engine, settings, segments=256 * 12, systems=2, metrics=["troubled:pause=0.1"])
        assert run_until_done(embedded, job.all_evaluations, tell).done == 2
    assert heard[0].shards_done < heard[0].shards, "the run was over before the clock was set"
    assert "clock jumped" in caplog.text
    with reading(make_engine(sqlite_url, pooled=False)) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
        assert connection.scalar(select(func.max(Shard.attempts))) == 1, "work was taken from the living"
