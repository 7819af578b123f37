"""Which earlier runs count, and what they have reported, which is not new again."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.nightly import baselines
from analysis.nightly.verdict import _reported
from models.schema.states import NightlyRunState
from steelyard.resampling.level_changes import Reported
from steelyard.resampling.regression import Outcome
from tests.cli.schedules.test_output import change, finding, subject, verdict


def history(*verdicts: Any) -> Any:
    """A run on each day of March, of which the last one is to be judged."""
    runs = [
        SimpleNamespace(date=f"2027-03-{day:02}", verdict=each.as_json() if hasattr(each, "as_json") else each)
        for day, each in enumerate(verdicts, 1)
    ]
    return SimpleNamespace(nightly_runs=runs)


WORSE = verdict(finding("tug", Outcome.WORSE), finding("raft", Outcome.BETTER))


def test_differences_that_were_shown_and_no_others() -> None:
    others = verdict(*(finding("tug", each) for each in Outcome if each not in (Outcome.WORSE, Outcome.BETTER)))
    assert _reported(history(WORSE, others, None)) == {
        subject("tug"): [Reported(0, True, None)],
        subject("raft"): [Reported(0, False, None)],
    }


def test_the_run_itself_has_reported_nothing_yet() -> None:
    """Also where its verdict is stored, as in a history: what is new in the last run stays new there."""
    assert _reported(history(WORSE)) == {}
    assert _reported(history(None, None, WORSE)) == {}
    assert _reported(history(None, WORSE, WORSE)) == {
        subject("tug"): [Reported(1, True, None)],
        subject("raft"): [Reported(1, False, None)],
    }


def test_changes_that_count_and_whose_beginning_is_known() -> None:
    changes = (
        change("tug", since="2027-03-02", worse=True, counts=True),
        change("tug", since="2027-03-01", worse=False, counts=True),
        change("tug", since="2027-03-01", worse=True, counts=False),
        change("raft", since="2026-12-31", worse=True, counts=True),
    )
    found = _reported(history(None, None, verdict(changes=changes), None))
    assert found == {subject("tug"): [Reported(2, True, 1), Reported(2, False, 0)]}


def test_of_several_runs_of_a_day_a_change_began_with_the_first() -> None:
    made = history(None, None, verdict(changes=(change("tug", since="2027-03-01"),)), None)
    made.nightly_runs[1].date = "2027-03-01"
    assert _reported(made) == {subject("tug"): [Reported(2, True, 0)]}


def test_a_verdict_that_cannot_be_read_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = _reported(history({"baseline": "x"}, WORSE, None))
    assert list(found) == [subject("tug"), subject("raft")]
    assert found[subject("tug")] == [Reported(1, True, None)]
    assert "The verdict of 2027-03-01 is passed over" in caplog.text


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_run_is_judged_by_the_runs_right_before_it(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that were judged; not by those behind it."""
    runs = [
        SimpleNamespace(
            id=day, due_at=float(day), date=f"2027-03-{day:02}", manual=False,
            state=NightlyRunState.FAILED if day == 3 else NightlyRunState.DONE,
        )
        for day in range(1, 9)
    ]  # fmt: skip
    run: Any = SimpleNamespace(**{**vars(runs[6]), "schedule_id": 4})
    asked: list[Any] = []

    def members(_: object, ids: list[int]) -> dict[int, Any]:
        asked.append(ids)
        return {}

    monkeypatch.setattr(baselines, "MAX_RUNS", most)
    monkeypatch.setattr(baselines, "list_nightly_runs", lambda _, schedule: runs if schedule == 4 else [])
    monkeypatch.setattr(baselines, "read_nightly_run_members", members)
    monkeypatch.setattr(baselines, "read_measured_outputs", lambda *_: {})
    found = baselines.read_run_history(None, run)  # type: ignore[arg-type]
    before = [1, 2, 4, 5, 6][-most:]
    assert [each.id for each in found.nightly_runs] == [*before, 7]
    assert asked == [[*before, 7]]
