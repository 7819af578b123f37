"""What a leaderboard still lacks: columns that wait for a model or a program, or that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.results.learned_columns import read_unfinished_columns
from models.schema.states import ColumnState
from steelyard.metrics.registry import installed_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection


def column_notices(connection: Connection, metrics: Sequence[str], evaluations: Sequence[int]) -> list[str]:
    """Sentences about the metrics of a board whose evaluations these are; nothing waits for what they say."""
    learned = [each.specification for each in installed_metrics(metrics) if each.learned]
    if not learned:
        return []
    unfinished = read_unfinished_columns(connection, evaluations)
    notices = []
    for position, specification in enumerate(metrics):
        columns = [each for (_, metric), each in unfinished.items() if metric == position]
        title = _title(specification)
        if waiting := [each for each in columns if each.state == ColumnState.WAITING]:
            systems = _amount(len(waiting), "system")
            scored, segments = sum(each.scored for each in waiting), sum(each.segments for each in waiting)
            notices.append(
                f"{title} is still being scored: {scored:,} of {segments:,} segments of {systems}. Until it is done, "
                "they have no score by it."
            )
        if failed := len(columns) - len(waiting):
            notices.append(
                f"{title} could not be scored for {_amount(failed, 'system')}. `steelyard status --failed` says why, "
                "`steelyard submission retry` tries again."
            )
    return notices


def _title(specification: str) -> str:
    found = installed_metrics([specification])
    return found[0].title if found else specification


def _amount(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
