"""What a command computes itself, because nobody else works on the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cli.stored import note_without_workers, settings_for
from cli.terminal.progress import shown_columns, shown_progress, shown_trials
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def finish_comparison(database: str | None, comparison: int) -> None:
    """Wait until a comparison has ended, with own workers where there is no broker, and show its progress."""
    from models.queue_status.progress import read_comparison_progress

    with shown_trials() as on_progress:
        _finish(database, lambda connection: read_comparison_progress(connection, [comparison]), on_progress)


def finish_metrics_task(database: str | None, campaign_id: int) -> None:
    """As `finish_comparison`, of the columns of a campaign's metrics task."""
    from models.queue_status.progress import read_columns_progress

    with shown_columns() as on_progress:
        _finish(database, lambda connection: read_columns_progress(connection, campaign_id), on_progress)


def finish_evaluations(database: str | None, evaluations: Sequence[int], processes: int | None = None) -> None:
    """Wait until evaluations have ended, with own workers where there is no broker, and show their progress."""
    from models.queue_status.progress import read_progress

    with shown_progress() as on_progress:
        _finish(database, lambda connection: read_progress(connection, evaluations), on_progress, processes)


def _finish(
    database: str | None,
    read: Callable[[Any], Any],
    on_progress: Callable[[Any], None],
    processes: int | None = None,
) -> None:
    from models.database.session import make_engine
    from scheduler.embedded.wait import wait_until

    settings = settings_for(database)
    if settings.embedded:
        from scheduler.embedded.shared import SharedEmbedded

        with SharedEmbedded(settings, processes or None, lambda message: note([message])) as embedded:
            embedded.run_until(read, on_progress)
            embedded.finish()
        return
    note_without_workers(settings)
    engine = make_engine(settings.database_url)
    wait_until(engine, settings, read, on_progress)
    engine.dispose()
