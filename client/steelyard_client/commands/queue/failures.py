"""Failed evaluations with reasons and remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.tables.formatting import duration
from steelyard_client.commands.queue.folding_tables import add_row, folding_table
from steelyard_client.commands.submissions.evaluations import called, measured
from steelyard_client.vocabulary import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from steelyard_client.documents.submissions.evaluations import SelectedEvaluation
    from steelyard_client.documents.submissions.queue import QueueResponse

MOST_NUMBERS = 10
"""Most evaluations that a suggested command names."""


def shown_failures(queue: QueueResponse) -> Iterator[RenderableType]:
    """The failures, grouped by reason."""
    from rich.padding import Padding
    from rich.text import Text

    if not queue.failures:
        return
    total = max(queue.evaluations.get(EvaluationState.FAILED, 0), len(queue.failures))
    shown = len(queue.failures)
    newest = f", the newest {shown} of {total:,}; `--failed` shows all" if shown < total else ""
    yield Text(f"Failed{newest}", style="bold")
    groups: dict[tuple[str | None, str | None], list[SelectedEvaluation]] = {}
    for each in queue.failures:
        groups.setdefault((each.reason, each.fault), []).append(each)
    for (reason, fault), members in groups.items():
        yield Padding(Text(reason or "No reason was given."), (0, 0, 0, 2))
        table = folding_table("Evaluation", "System", "Of", "Ended", right=(0,))
        for each in members:
            ended = "" if each.ended_seconds is None else f"{duration(each.ended_seconds)} ago"
            add_row(table, str(each.id), called(each), measured(each), ended)
        yield Padding(table, (0, 0, 0, 4))
        yield Padding(Text(f"→ {what_next(fault, [each.id for each in members])}"), (0, 0, 0, 4))


def what_next(fault: str | None, evaluations: Sequence[int]) -> str:
    """What the user can do about evaluations that failed for one reason."""
    if fault == "input":
        return "Trying again does not help: correct the output or the choice of metrics, and submit again."
    if len(evaluations) > MOST_NUMBERS:
        command = "`steelyard submission retry --state failed`, with `--campaign NAME` only those of one campaign,"
    else:
        command = f"`steelyard submission retry {' '.join(map(str, sorted(evaluations)))}`"
    return f"{command} tries again; what was finished is kept."
