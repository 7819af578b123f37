"""Randomization tests that a command needs: made by its own processes, or awaited from the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine

from metrics.resampling.randomization import TRIALS
from models.database.session import make_engine, writing
from models.queue.kinds.comparisons import prefer
from models.queue_status.progress import ComparisonProgress, read_comparison_progress
from models.results.randomizations import Runs
from runtime.settings import Settings
from scheduler.embedded.wait import wait_until, with_retries
from scheduler.enqueue.randomization import log, request_comparison
from scheduler.errors import ComparisonFailed


@dataclass(frozen=True, slots=True)
class WantedTests:
    """Tests that somebody wants to see, as in `request_comparison`."""

    protocol_id: int
    pairs: Sequence[tuple[Runs, Runs]]
    metrics: Sequence[int]
    seed: int
    trials: int = TRIALS


def randomize(
    settings: Settings,
    wanted: Sequence[WantedTests],
    *,
    processes: int | None = None,
    on_progress: Callable[[ComparisonProgress], None] | None = None,
    say: Callable[[str], None] = log.warning,
) -> None:
    """Make sure that all these tests are stored; `analysis.leaderboard.randomization` reads them.

    What is lacking is made by the workers, with a broker in memory by our own (`processes` of them, or as many as there
    are cores); while another command works on this database, by its workers. They are forked, so no connection to the
    database should be open: dispose of engines first. `say` hears what a user should know. Raises ComparisonFailed,
    BadComparison, NotFound, MetricsError, and with a broker in memory StorageFailed and WorkerDidNotStart.
    """
    engine = make_engine(settings.database_url, pooled=False)
    comparisons = []
    for each in wanted:
        # Who asks again gets what is under way.
        comparison = with_retries(
            partial(
                request_comparison,
                engine,
                settings,
                each.protocol_id,
                each.pairs,
                each.metrics,
                trials=each.trials,
                seed=each.seed,
                processes=processes,
            )
        )
        if comparison is not None:
            comparisons.append(comparison)
    if not comparisons:
        return

    def read(connection: Connection) -> ComparisonProgress:
        return read_comparison_progress(connection, comparisons)

    if settings.embedded:
        from scheduler.embedded.shared import SharedEmbedded

        with SharedEmbedded(settings, processes, say) as embedded:
            # What a command that was interrupted has left is still wanted, but nobody waits for it now.
            with_retries(partial(_prefer, embedded.engine, comparisons))
            ended = embedded.run_until(read, on_progress)
    else:
        ended = wait_until(engine, settings, read, on_progress)
    if ended.failures:
        raise ComparisonFailed("The systems could not be compared. " + " ".join(ended.failures))


def _prefer(engine: Engine, comparisons: Sequence[int]) -> None:
    with writing(engine) as connection:
        prefer(connection, comparisons)
