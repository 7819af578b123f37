"""What is said of columns that wait or have failed."""

from __future__ import annotations

import pytest

from analysis.leaderboard import column_notices
from models.results.learned_columns import ColumnProgress
from models.schema.states import ColumnState

METRICS = ["bleu", "comet", "bertscore"]


def notices(monkeypatch: pytest.MonkeyPatch, unfinished: dict[tuple[int, int], ColumnProgress]) -> list[str]:
    asked = []

    def read(connection: object, evaluations: object) -> dict[tuple[int, int], ColumnProgress]:
        asked.append((connection, evaluations))
        return unfinished

    monkeypatch.setattr(column_notices, "read_unfinished_columns", read)
    monkeypatch.setattr(column_notices, "_title", str.upper)
    found = column_notices.column_notices("connection", METRICS, [3, 4])  # type: ignore[arg-type]
    assert asked == [("connection", [3, 4])]
    return found


def waiting(scored: int, segments: int = 2000) -> ColumnProgress:
    return ColumnProgress(ColumnState.WAITING, segments, scored, None)


FAILED = ColumnProgress(ColumnState.FAILED, 2000, 500, "no words")


def test_each_column_is_told_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notices(monkeypatch, {}) == []
    wait = "Until it is done, they have no score by it."
    again = "`steelyard status --failed` says why, `steelyard submission retry` tries again."
    assert notices(
        monkeypatch, {(3, 2): waiting(7), (3, 1): waiting(1500), (4, 1): waiting(0, 1000), (5, 1): FAILED}
    ) == [
        f"COMET is still being scored: 1,500 of 3,000 segments of 2 systems. {wait}",
        f"COMET could not be scored for 1 system. {again}",
        f"BERTSCORE is still being scored: 7 of 2,000 segments of 1 system. {wait}",
    ]
    assert notices(monkeypatch, {(n, 2): FAILED for n in range(1001)}) == [
        f"BERTSCORE could not be scored for 1,001 systems. {again}"
    ]


def test_boards_without_learned_metrics_ask_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_notices, "read_unfinished_columns", None)
    assert column_notices.column_notices(None, ["bleu", "ter"], [1]) == []  # type: ignore[arg-type]


def test_a_metric_that_is_not_installed_is_told_by_its_specification() -> None:
    assert [column_notices._title(each) for each in ("bleu", "gone:x=1")] == ["BLEU", "gone:x=1"]
