"""Which pairs of systems the page of a comparison shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cli.leaderboards import report
from steelyard.resampling.draws_needed import smallest_p


@pytest.mark.parametrize("baseline", [0, 1, 2, None])
def test_a_baseline_is_shown_with_every_other_system(baseline: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = SimpleNamespace(metrics=("bleu", "ter"))
    board = SimpleNamespace(rows=["tug", "raft", "keel"], name=str.upper, listed=listed, title="port")
    shown: dict[str, Any] = {}
    monkeypatch.setattr(report, "_board", lambda *_, **__: board)
    monkeypatch.setattr(report, "_ranked", lambda *_: board)
    monkeypatch.setattr(report, "render_report", lambda *given, **named: shown.update(named, boards=given[1]) or "page")
    made = SimpleNamespace(
        baseline=baseline, test="randomization", draws=1234, unit="document", correction="holm", alpha=0.03,
        of=lambda number: ["a test"] * (2 + number),
    )  # fmt: skip
    scores = [SimpleNamespace(metric="ter")]
    document = SimpleNamespace(systems=[SimpleNamespace(scores=scores)])
    compared: Any = [SimpleNamespace(tests=made, document=document)]
    assert report.report(None, compared, single=False, by="") == "page"  # type: ignore[arg-type]
    names = ["TUG", "RAFT", "KEEL"]
    expected = [(names[baseline], each) for each in names if each != names[baseline]] if baseline is not None else None
    assert (shown["pairs"], shown["title"], shown["boards"]) == (expected, "port", [board])
    (tests,) = shown["tests"]
    assert (tests.by_metric, tests.alpha) == ([[], ["a test"] * 2], 0.03)
    assert "with 1,234 trials" in tests.what
    assert tests.least == smallest_p(1234, 2, "holm")
    assert report.report(None, [*compared, *compared], single=False, by="") == "page"  # type: ignore[arg-type]
    assert (shown["title"], len(shown["tests"])) == ("Comparison", 2)
