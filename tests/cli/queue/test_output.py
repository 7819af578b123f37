"""What `status` says of a queue or of submissions, from their documents alone."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from steelyard.commands.errors import CommandError
from steelyard_client.commands.queue import submissions, watch
from steelyard_client.commands.queue.failures import what_next
from steelyard_client.commands.queue.output import MOST_ROWS, Status
from steelyard_client.documents.submissions.evaluations import SelectedEvaluation
from steelyard_client.documents.submissions.queue import (
    CampaignProgressResponse,
    ClassOfWork,
    LearnedWorkResponse,
    QueueResponse,
    RunningTaskResponse,
    TeamWorkResponse,
    ThroughputResponse,
    WorkerResponse,
)
from steelyard_client.documents.submissions.submissions import MeasuredEvaluation, ProgressResponse, SubmissionResponse
from steelyard_client.errors import NotFound, ServerUnreachable, TooMany, Unavailable
from steelyard_client.vocabulary import EvaluationState

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def work(waiting: int = 0, in_flight: int = 0) -> ClassOfWork:
    return ClassOfWork.model_construct(
        queue_class="nightly", waiting=waiting, in_flight=in_flight, oldest_seconds=90.0 if waiting else None
    )


def worker(**changed: Any) -> WorkerResponse:
    values = {
        "id": "w", "host": "quay", "pid": 7, "version": "1.0", "edition": 1, "processes": 4, "beating": True,
        "beat_seconds": 3.0, "up_seconds": 60.0, "holds": [], "queue": "", "device": None,
    }  # fmt: skip
    return WorkerResponse.model_construct(**values | changed)


def status(**changed: Any) -> Status:
    empty = ("queues", "work", "teams", "workers", "astray", "comparisons", "learned", "campaigns", "asked", "failures")
    values: dict[str, Any] = {name: [] for name in empty} | {
        "at": NOON, "scheduler": True, "embedded": False, "seconds_left": None, "evaluations": {}, "unserved": {},
        "last_minute": ThroughputResponse(shards=1, hypotheses=2000),
    }  # fmt: skip
    return Status(QueueResponse.model_construct(**values | changed))


def rows(shown: Status) -> dict[str, str]:
    """Lines by their first words, up to two spaces."""
    lines = [line.partition("  ") for line in shown.text().splitlines() if line]
    return {begin: " ".join(rest.split()) for begin, _, rest in lines}


@pytest.mark.parametrize(
    ("changed", "advice"),
    [
        ({"workers": [worker()]}, None),
        ({"scheduler": False, "workers": [worker()]}, "Start `steelyard scheduler`."),
        ({"workers": []}, "Start `steelyard worker`."),
        ({"workers": [worker(beating=False)]}, "Start `steelyard worker`."),
        ({"workers": [worker(queue="learned", device="cpu")]}, "Start `steelyard worker`."),
        ({"scheduler": False}, "Start `steelyard scheduler` and `steelyard worker`."),
        ({"scheduler": False, "embedded": True}, "Start `steelyard up`, or evaluate something."),
        ({"embedded": True}, None),
        ({"workers": [worker()], "unserved": {3: 2}}, "No worker can compute 2 evaluations of edition"),
        ({"scheduler": False, "queues": [work()]}, None),
    ],
)
def test_what_to_do_where_work_cannot_go_on(changed: dict[str, Any], advice: str | None) -> None:
    found = rows(status(**{"queues": [work(waiting=1)]} | changed)).get("What to do")
    assert (found is None) if advice is None else (found is not None and advice in found)


def test_the_headline_counts_those_who_are_alive() -> None:
    workers = [worker(), worker(processes=1), worker(beating=False, processes=9)]
    found = rows(status(workers=workers, evaluations={"done": 1200, "failed": 0, "queued": 3}))
    assert found["Workers"] == "2 workers with 5 processes, 1 silent"
    assert found["Last minute"] == "1 shard, 2,000 hypotheses"
    assert found["Evaluations"] == "1,200 done, 3 queued"
    assert "Time left" not in found
    assert rows(status(workers=[worker(beating=False)]))["Workers"] == "none alive, 1 silent"
    assert rows(status())["Evaluations"] == "none"


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, "cannot be estimated"), (0.4, "less than 1 s"), (1.0, "about 1 s"), (90.0, "about 1")]
)
def test_no_estimate_says_that_nothing_is_left(seconds: float | None, said: str) -> None:
    for queues in ([work(waiting=1)], [work(in_flight=1)]):
        assert rows(status(queues=queues, seconds_left=seconds))["Time left"].startswith(said)


def test_all_is_done_only_when_it_is() -> None:
    def percent(shards_done: int, shards: int, **evaluations: int) -> str:
        counts = {"queued": 0, "running": 0, "reducing": 0, "done": 0, "failed": 0, "cancelled": 0} | evaluations
        campaign = CampaignProgressResponse.model_construct(
            title="news", shards=shards, shards_done=shards_done, evaluations=counts
        )
        return rows(status(campaigns=[campaign]))["news"]

    assert percent(199, 200, running=1, done=2, failed=4, cancelled=5) == "99 % 11/12 199/200 4 5"
    assert percent(200, 200, done=3) == "100 % 3/3 200/200 0 0"
    # Without shards the evaluations count.
    assert percent(0, 0, queued=1, done=2) == "66 % 2/3 0/0 0 0"


def test_what_workers_do_and_who_has_a_model() -> None:
    held = [
        RunningTaskResponse.model_construct(kind="shards", title="shard", id=5, attempt=1, seconds=2.0),
        RunningTaskResponse.model_construct(kind="shards", title="shard", id=6, attempt=2, seconds=None),
    ]
    workers = [worker(holds=held), worker(pid=8, queue="learned", device="cuda", beating=False)]
    learned = [
        LearnedWorkResponse(metric=name, waiting=3, running=1, contents=2000, scored=1500, workers=count)
        for name, count in (("comet", 0), ("bert", 2))
    ]
    found = rows(status(workers=workers, learned=learned, astray=held[:1]))
    assert found["quay, process 7"].startswith("1.0 4 3 s ago shard 5 for 2 s; shard 6, attempt 2")
    assert found["quay, process 8"] == "1.0 learned, cuda 3 s ago, silent -"
    assert found["(gone)"] == "shard 5 for 2 s"
    assert found["comet"] == "3 1 1,500/2,000 none has it: `steelyard worker --queue learned`"
    assert found["bert"] == "3 1 1,500/2,000 2"


def test_of_many_teams_those_who_wait_most_are_shown() -> None:
    teams = [TeamWorkResponse(team=f"t{number:02}", waiting=number, in_flight=1) for number in range(MOST_ROWS + 3)]
    found = rows(status(teams=[*teams, TeamWorkResponse(team="", waiting=99, in_flight=0)]))
    assert [name in found for name in ("(none)", "t22", "t04", "t03")] == [True, True, True, False]
    assert any("and 4 more" in name for name in found)


@pytest.mark.parametrize(
    ("fault", "numbers", "said"),
    [
        ("input", [1], "Trying again does not help"),
        ("platform", [3, 1], "`steelyard submission retry 1 3` tries again"),
        (None, list(range(10)), "`steelyard submission retry 0 1 2 3 4 5 6 7 8 9` tries"),
        (None, list(range(11)), "`steelyard submission retry --state failed`"),
    ],
)
def test_what_helps_against_a_failure(fault: str | None, numbers: list[int], said: str) -> None:
    assert said in what_next(fault, numbers)


def failed(**changed: Any) -> SelectedEvaluation:
    values = {
        "id": 1, "team": "harbour", "system": "mast", "run": "", "campaign": "wmt", "test_set": "news",
        "references": ["A"], "state": "failed", "reason": "full", "fault": "platform", "ended_seconds": 60.0,
        "shards_left": 0,
    }  # fmt: skip
    return SelectedEvaluation.model_construct(**values | changed)


def test_failures_of_one_reason_stand_together() -> None:
    failures = [failed(), failed(id=3, reason="odd", fault="input"), failed(id=2)]
    text = status(failures=failures, evaluations={"failed": 5}).text()
    assert "Failed, the newest 3 of 5; `--failed` shows all" in text
    assert text.count("full") == 1
    assert "`steelyard submission retry 1 2`" in text
    assert text.count("Trying again does not help") == 1
    assert "newest" not in status(failures=failures, evaluations={"failed": 3}).text()


def submitted(number: int, state: str, **changed: Any) -> SubmissionResponse:
    progress = ProgressResponse(
        state=state, segments=9, segments_done=4, ahead=None, seconds_left=None, ended=state in ("done", "failed")
    )
    values = {
        "id": number, "campaign": "wmt", "team": "harbour", "system": "mast", "run": "", "test_set": "news@1",
        "kind": "", "withdrawn_at": None, "progress": progress, "evaluations": [],
    }  # fmt: skip
    return SubmissionResponse.model_construct(**values | changed)


def client(asked: list[str]) -> Any:
    def listed(campaign: str) -> list[SubmissionResponse]:
        asked.append(campaign)
        states = ("queued", "failed", "running", "done", "reducing")
        return [submitted(number, states[number % 5], campaign=campaign) for number in range(60)]

    campaigns = [SimpleNamespace(name=name) for name in ("wmt", "iwslt")]
    return SimpleNamespace(list_campaigns=lambda: campaigns, list_campaign_submissions=listed)


def test_submissions_of_one_campaign_or_of_all() -> None:
    asked: list[str] = []
    look, requests = submissions.looking(client(asked), "", failed=False)
    found = look()
    assert (requests, asked, len(found.submissions)) == (2, ["wmt", "iwslt"], 2 * submissions.MOST)
    # Queued, running and reducing are open.
    assert found.open == 60
    look, requests = submissions.looking(client(asked), "iwslt", failed=True)
    assert (requests, {str(each.progress.state) for each in look().submissions}) == (1, {"failed"})
    assert (len(look().submissions), look().open, asked[2:]) == (12, 0, ["iwslt"] * 3)
    with pytest.raises(CommandError, match=r'no campaign "gone". There are: wmt, iwslt'):
        submissions.looking(client(asked), "gone", failed=False)


def test_a_line_for_each_submission() -> None:
    reasons = [MeasuredEvaluation.model_construct(id=1, state="failed", references=["A"], reason="too long")] * 2
    one = submitted(7, "failed", run="2", test_set="news@2", kind="primary", withdrawn_at=NOON, evaluations=reasons)
    lines = submissions.as_text([one, submitted(8, "queued")], failed=False).splitlines()
    assert [" ".join(each.split()) for each in lines[-2:]] == [
        "7 wmt harbour/mast (run 2) news@2 failed 4 of 9 primary; withdrawn; too long",
        "8 wmt harbour/mast news queued 4 of 9",
    ]
    assert submissions.as_text([], failed=True) == "No submission has failed.\n"
    assert submissions.as_text([], failed=False) == "There are no submissions of yours.\n"


@pytest.mark.parametrize(
    "error",
    [TooMany(429, "too_many", "Later."), Unavailable(503, "unavailable", "Later."), ServerUnreachable("Later.")],
)
def test_a_moment_without_an_answer_is_waited_for(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=slept.append))
    answers: list[Any] = [status(evaluations={"running": 1}), error, error, status(evaluations={"done": 1})]

    def look() -> Status:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert watch.watch(look, 2.0, until_done=True, as_lines=False) == 0
    printed = capsys.readouterr()
    assert (slept, printed.err) == ([2.0] * 3, "steelyard: Later.\n" * 2)
    assert printed.out.count("Scheduler") == 2
    answers[:] = [error]
    with pytest.raises(type(error)):
        watch.watch(look, 2.0, until_done=True, as_lines=False)
    answers[:] = [status(evaluations={"running": 1}), NotFound(404, "not_found", "It is gone.")]
    with pytest.raises(NotFound):
        watch.watch(look, 2.0, until_done=True, as_lines=False)


@pytest.mark.parametrize(("done", "shards", "total"), [(199, 200, 200), (0, 7, 7), (0, 0, 1)])
def test_a_bar_is_as_long_as_what_is_done(done: int, shards: int, total: int) -> None:
    campaign = CampaignProgressResponse.model_construct(title="news", shards=shards, shards_done=done, evaluations={})
    (table,) = (each for each in status(campaigns=[campaign]).sections() if "Progress" in _headers(each))
    (bar,) = table.columns[1].cells  # type: ignore[attr-defined]
    assert (bar.completed, bar.total) == (done, total)


def _headers(section: Any) -> list[str]:
    return [str(each.header) for each in getattr(section, "columns", ())]


@pytest.mark.parametrize(
    ("terminal", "dumb", "as_lines", "in_place"),
    [(True, False, False, True), (True, True, False, False), (True, False, True, False), (False, False, False, False)],
)
def test_only_a_terminal_that_can_is_written_in_place(
    terminal: bool, dumb: bool, as_lines: bool, in_place: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    console = SimpleNamespace(is_terminal=terminal, is_dumb_terminal=dumb)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr(watch, "_in_place", lambda *_: called.append("in place"))
    monkeypatch.setattr(watch, "_block_by_block", lambda *_: called.append("blocks"))
    assert watch.watch(status, 1.0, until_done=True, as_lines=as_lines) == 0
    assert called == ["in place" if in_place else "blocks"]


@pytest.mark.parametrize("as_lines", [False, True])
def test_blocks_have_an_empty_line_between_them_and_lines_of_json_none(
    as_lines: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=lambda _: None))
    looks = [status(evaluations={EvaluationState(each): 1}) for each in ("running", "done")]
    written = [each.json() if as_lines else each.text() for each in looks]
    assert watch.watch(lambda: looks.pop(0), 2.0, until_done=True, as_lines=as_lines) == 0
    assert capsys.readouterr().out == ("" if as_lines else "\n").join(written)


def test_what_is_shown_in_place_ends_with_the_last_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    """An outage is told below what was read before it."""
    monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=lambda _: None))
    looks: list[Any] = [
        submissions.SubmissionsStatus([submitted(7, "running")], failures_only=False),
        Unavailable(503, "unavailable", "Later."),
        submissions.SubmissionsStatus([submitted(7, "done")], failures_only=False),
    ]

    def look() -> submissions.SubmissionsStatus:
        found = looks.pop(0)
        if isinstance(found, Exception):
            raise found
        return found  # type: ignore[no-any-return]

    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    watch._in_place(screen, look, 2.0, until_done=True)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert not looks
    assert shown.count("Later.") == 1
    assert shown.index("running") < shown.index("Later.") < shown.index("done")
