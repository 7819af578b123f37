"""What a command computes itself, because nobody else works on the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.stored import note_without_workers, settings_for
from cli.terminal.progress import shown_trials
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from models.queue_status.progress import ComparisonProgress


def finish_comparison(database: str | None, comparison: int) -> None:
    """Wait until a comparison has ended, with own workers where there is no broker, and show its progress."""
    from models.database.session import make_engine
    from models.queue_status.progress import read_comparison_progress
    from scheduler.embedded.wait import wait_until

    settings = settings_for(database)

    def read(connection: Connection) -> ComparisonProgress:
        return read_comparison_progress(connection, [comparison])

    with shown_trials() as on_progress:
        if settings.embedded:
            from scheduler.embedded.shared import SharedEmbedded

            with SharedEmbedded(settings, None, lambda message: note([message])) as embedded:
                embedded.run_until(read, on_progress)
                embedded.finish()
            return
        note_without_workers(settings)
        engine = make_engine(settings.database_url)
        wait_until(engine, settings, read, on_progress)
        engine.dispose()
