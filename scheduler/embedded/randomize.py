"""Randomization tests for a command: run by its own processes, or by the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy import Connection, Engine

from models.database.session import make_engine, writing
from models.queue.kinds.comparisons import prefer
from models.queue_status.progress import ComparisonProgress, read_comparison_progress
from models.results.randomizations import PairTests
from runtime.settings import Settings
from scheduler.embedded.wait import wait_until, with_retries
from scheduler.enqueue.randomization import log, request_comparison
from scheduler.errors import ComparisonFailed


def randomize(
    settings: Settings,
    required: Sequence[PairTests],
    *,
    processes: int | None = None,
    on_progress: Callable[[ComparisonProgress], None] | None = None,
    say: Callable[[str], None] = log.warning,
) -> None:
    """Make sure that all these tests are stored; `analysis.leaderboard.randomization` reads them.

    Missing tests are run by the workers; with the embedded worker, by our own processes (`processes` of them, by
    default one per core), or by those of another command that works on this database. Processes are forked, so dispose
    of engines first. `say` is called with messages for the user.

    Raises
    ------
    ComparisonFailed, BadComparison, NotFound, MetricsError
        If the systems cannot be compared.
    StorageFailed, WorkerDidNotStart
        If the embedded worker fails.
    """
    engine = make_engine(settings.database_url, pooled=False)
    comparisons = []
    for each in required:
        # A repeated request returns the running comparison.
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
            # Comparisons of an interrupted command are still useful, but nobody waits for them.
            with_retries(partial(_prefer, embedded.engine, comparisons))
            ended = embedded.run_until(read, on_progress)
    else:
        ended = wait_until(engine, settings, read, on_progress)
    if ended.failures:
        raise ComparisonFailed("The systems could not be compared. " + " ".join(ended.failures))


def _prefer(engine: Engine, comparisons: Sequence[int]) -> None:
    with writing(engine) as connection:
        prefer(connection, comparisons)
