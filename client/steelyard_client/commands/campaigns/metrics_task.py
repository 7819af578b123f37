"""The metrics of a campaign over all of its test sets, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note
from steelyard.tables.metrics_task import COLUMNS, notes, rows_of, tables_of
from steelyard.tables.rendering import render_document
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse


def print_metrics_task(found: MetricsTaskResponse, form: str) -> int:
    """Print the table in a format; the exit status.

    Raises
    ------
    CommandError
        Where nothing can be compared.
    """
    if not found.metrics and form != "json":
        if found.failures:
            raise CommandError(f"{found.campaign}: nothing could be computed. {'; '.join(found.failures)}")
        if waiting := found.evaluations_waiting:
            raise CommandError(
                f"{found.campaign} has judgments, and {number_of(waiting, 'evaluation')} of what was judged "
                f"{'waits' if waiting == 1 else 'wait'} to be scored. Ask again when they are done: "
                "`steelyard status`."
            )
        raise CommandError(
            f"{found.campaign} has no scores of the same segments by metrics and by people. Import judgments of "
            f"segments: `steelyard judgments import FILE --campaign {found.campaign}`."
        )
    print(
        render_document(
            form,
            document=lambda: found.model_dump(mode="json"),
            data=lambda: (COLUMNS, rows_of(found)),
            tables=lambda: tables_of(found),
            title=f"Metrics task of {found.campaign}",
        ),
        end="",
    )
    lines = notes(found) if form in ("tsv", "csv") else []
    if found.evaluations_waiting and form != "json":
        lines = [*lines, f"{number_of(found.evaluations_waiting, 'evaluation')} not scored yet: the table will change."]
    note(lines)
    return 0
