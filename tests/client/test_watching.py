"""Progress over a line that breaks: what is told, what is asked again, and when patience ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

import steelyard_client
from steelyard_client import AsyncClient, Client, RetryPolicy, files
from steelyard_client.documents.submissions.evaluations import EvaluationScoresResponse
from steelyard_client.errors import Conflict, NotFound, NotSteelyard, ServerUnreachable, Unavailable
from steelyard_client.operations.submissions import POLL_SECONDS
from steelyard_client.requests import PAGE_ITEMS

Stream = list[bytes | Exception]


def event(name: str, number: int, state: str, *, ended: bool = False) -> bytes:
    progress = {
        "state": state, "segments": 9, "segments_done": number, "ahead": None, "seconds_left": None, "ended": ended,
    }  # fmt: skip
    return f"id: {number}\nevent: {name}\ndata: {json.dumps(progress)}\n\n".encode()


class Parts(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A response that comes in parts, or breaks."""

    def __init__(self, parts: Stream) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[bytes]:
        for each in self.parts:
            if isinstance(each, Exception):
                raise each
            yield each

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self:
            yield each


def refusal(status: int, **headers: str) -> httpx.Response:
    error = {"code": "odd", "message": "No.", "details": []}
    return httpx.Response(status, json={"error": error}, headers=headers)


class Line:
    """Answers with one stream after the other, the last one for ever."""

    def __init__(self, *streams: Stream | httpx.Response | Exception) -> None:
        self.streams = list(streams)
        self.asked: list[str | None] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/submissions/7/events"
        assert request.headers["Accept"] == "text/event-stream"
        self.asked.append(request.headers.get("Last-Event-ID"))
        answer = self.streams.pop(0) if len(self.streams) > 1 else self.streams[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, stream=Parts(answer))

    def watched(self, tries: int = 3) -> list[tuple[str, int]]:
        patience = RetryPolicy(tries=tries, first_seconds=1.0)
        transport = httpx.MockTransport(self)
        with Client("https://x", patience=patience, transport=transport, sleep=self.slept.append) as client:
            return [(str(each.state), each.segments_done) for each in client.watch_submission(7)]


BREAK = httpx.ReadError("reset")


def test_what_comes_between_the_breaks_starts_patience_anew() -> None:
    streams: list[Stream] = [[event("progress", number, "running"), BREAK] for number in range(1, 8)]
    line = Line(*streams, [event("progress", 8, "done", ended=True)])
    assert line.watched() == [*(("running", number) for number in range(1, 8)), ("done", 8)]
    assert line.asked == [None, *map(str, range(1, 8))]
    assert all(0.75 <= each <= 1.25 for each in line.slept)
    # A server that only ends its streams, too.
    quiet = Line(*(stream[:1] for stream in streams), [event("end", 9, "failed", ended=True)])
    assert quiet.watched()[-1] == ("failed", 9)


@pytest.mark.parametrize("broken", [[], [BREAK], [b": still there\n\n"], httpx.ConnectError("no route")])
def test_patience_with_a_stream_that_tells_nothing_ends(broken: Any) -> None:
    line = Line(broken)
    with pytest.raises(ServerUnreachable, match=r"keeps closing the stream|does not answer"):
        line.watched()
    assert (len(line.asked), len(line.slept)) == (3, 2)
    assert line.slept[1] > line.slept[0]


def test_the_end_is_told_by_an_event_of_its_own_and_what_is_unknown_is_not_progress() -> None:
    hello = b"event: hello\nid: 5\ndata: {}\n\n"
    line = Line([hello, event("end", 6, "cancelled", ended=True), event("progress", 7, "running")])
    assert line.watched() == [("cancelled", 6)]
    again = Line([hello, BREAK], [event("progress", 6, "done", ended=True)])
    assert again.watched() == [("done", 6)]
    assert again.asked == [None, "5"]


def test_what_is_refused_is_not_asked_again() -> None:
    line = Line(refusal(404))
    with pytest.raises(NotFound):
        line.watched()
    assert line.asked == [None]


def test_events_may_come_in_any_pieces() -> None:
    content = event("progress", 1, "running") + event("end", 2, "done", ended=True).replace(b"\n", b"\r\n")
    line = Line([content[each : each + 1] for each in range(len(content))])
    assert line.watched() == [("running", 1), ("done", 2)]


def test_a_line_without_an_end_is_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard_client.reading.MAX_LINE_BYTES", 10)
    with pytest.raises(NotSteelyard, match="line without an end"):
        Line([b"data: [1, 2", b", 3"]).watched()


def test_both_clients_watch_alike() -> None:
    line = Line([event("progress", 1, "running"), BREAK], [event("progress", 2, "done", ended=True)])

    async def watched() -> list[int]:
        async def sleep(seconds: float) -> None:
            line.slept.append(seconds)

        async with AsyncClient("https://x", transport=httpx.MockTransport(line), sleep=sleep) as client:
            return [each.segments_done async for each in client.watch_submission(7)]

    assert asyncio.run(watched()) == [1, 2]
    assert line.asked == [None, "1"]
    assert len(line.slept) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_without_a_stream_the_submission_is_read_until_it_has_ended(status: int) -> None:
    states = ["queued", "running", "failed"]
    slept: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return refusal(status)
        state = states.pop(0)
        progress = json.loads(event("progress", 3 - len(states), state, ended=not states).split(b"data: ")[1])
        known: dict[str, Any] = dict.fromkeys(("campaign", "team", "system", "run", "test_set", "description"), "")
        known |= {"id": 7, "segments": 9, "created_at": 0.0, "kind": "", "constrained": None, "phase": ""}
        known |= {"late_seconds": 0.0, "withdrawn_at": None, "evaluations": [], "findings": [], "progress": progress}
        return httpx.Response(200, json=known)

    with Client("https://x", transport=httpx.MockTransport(answer), sleep=slept.append) as client:
        assert [str(each.state) for each in client.watch_submission(7)] == ["queued", "running", "failed"]
    assert slept == [POLL_SECONDS] * 2


@pytest.mark.parametrize(("count", "requests"), [(1, 1), (PAGE_ITEMS, 1), (PAGE_ITEMS + 1, 2), (3 * PAGE_ITEMS, 3)])
def test_scores_of_many_evaluations_come_in_portions(count: int, requests: int) -> None:
    asked: list[list[int]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        numbers = [int(each) for each in request.url.params.get_list("evaluation")]
        asked.append(numbers)
        score = {"position": 0, "title": "BLEU", "signature": "s", "score": 1.0, "digest": "d"}
        return httpx.Response(200, json={"scores": [{"evaluation": each, **score} for each in numbers]})

    client = Client("https://x", transport=httpx.MockTransport(answer))
    found: EvaluationScoresResponse = client.read_evaluation_scores(list(range(1, count + 1)))
    assert [each.evaluation for each in found.scores] == list(range(1, count + 1))
    assert len(asked) == requests
    assert max(map(len, asked)) <= PAGE_ITEMS


def test_a_large_file_is_called_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ending says that it is packed."""
    monkeypatch.setattr(files, "GZIP_ABOVE_BYTES", 3)
    assert files.compressed("out.txt", b"abc") == ("out.txt", b"abc")
    name, content = files.compressed("out.txt", b"abcd")
    assert (name, content[:2]) == ("out.txt.gz", b"\x1f\x8b")
    assert files.compressed("out.txt", b"abcd") == (name, content), "the same bytes at another time"


def test_how_much_was_read_is_told_each_time() -> None:
    told: list[tuple[int, int]] = []
    reader = files.ProgressReader(b"abcdef", lambda *how: told.append(how))
    assert (reader.read(4), reader.read(4)) == (b"abcd", b"ef")
    reader.seek(0)
    assert reader.read() == b"abcdef"
    assert told == [(4, 6), (6, 6), (6, 6)]


def test_tests_that_were_asked_for_are_waited_for_by_their_number() -> None:
    """Those of others who compare the same systems may be done before, or never."""
    asked: list[tuple[str, str | None]] = []
    told: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.params.get("comparison")))
        done = len(asked) > 3
        progress = {"comparison": 8, "running": not done, "trials": 100, "trials_done": 40 * len(asked), "failure": ""}
        found = {
            "campaign": "wmt", "test_set": "news", "version": "1", "references": ["A"], "test": "randomization",
            "correction": "none", "trials": 100, "alpha": 0.05, "level": 0.95, "interval": "percentile",
            "baseline": None, "resample": "segment", "systems": [], "pairs": [], "runs": [],
            "missing": 0 if done else 2, "drawing": 0, "progress": progress,
        }  # fmt: skip
        return httpx.Response(200, json=found)

    transport = httpx.MockTransport(answer)
    with Client("https://x", transport=transport, sleep=lambda _: None) as client:
        client.compare("wmt", test="randomization", on_progress=lambda progress: told.append(progress.trials_done))
    assert asked == [("GET", None), ("POST", None), ("GET", "8"), ("GET", "8")]
    assert told == [80, 120]


def test_tests_that_could_not_be_made_are_no_comparison() -> None:
    def asked(failure: str | None) -> str:
        progress = {"comparison": 8, "running": False, "trials": 100, "trials_done": 40, "failure": failure}
        found = {
            "campaign": "wmt", "test_set": "news", "version": "1", "references": ["A"], "test": "randomization",
            "correction": "none", "trials": 100, "alpha": 0.05, "level": 0.95, "interval": "percentile",
            "baseline": None, "resample": "segment", "systems": [], "pairs": [], "runs": [],
            "missing": 2, "drawing": 0, "progress": None if failure is None else progress,
        }  # fmt: skip
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json=found))
        with Client("https://x", transport=transport) as client, pytest.raises(Conflict) as refused:
            client.compare("wmt", test="randomization")
        return str(refused.value)

    assert asked("The texts are gone.") == "The texts are gone."
    assert asked("") == asked(None) == "Some pairs could not be tested."


@pytest.mark.parametrize("error", [httpx.ConnectError("no route"), httpx.ReadTimeout("slow")])
def test_a_stream_that_cannot_be_opened_is_opened_again(error: Exception) -> None:
    line = Line(error, [event("progress", 1, "done", ended=True)])
    assert line.watched() == [("done", 1)]
    assert (line.asked, len(line.slept)) == ([None, None], 1)


def test_both_clients_read_and_are_refused_alike() -> None:
    answers = [httpx.Response(200, json={"fine": True}), refusal(404), refusal(503)]

    def answer(request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.path) == ("GET", "/api/v1/campaigns/wmt")
        return answers.pop(0)

    async def read() -> list[Any]:
        patience = RetryPolicy(tries=1)
        async with AsyncClient("https://x", transport=httpx.MockTransport(answer), patience=patience) as client:
            found = [await client.get_json("campaigns", "wmt")]
            for kind in (NotFound, Unavailable):
                with pytest.raises(kind) as refused:
                    await client.get_json("campaigns", "wmt")
                found.append(str(refused.value))
            return found

    assert asyncio.run(read()) == [{"fine": True}, "No.", "No."]
    assert not answers


def test_the_package_lists_what_it_has() -> None:
    listed = dir(steelyard_client)
    assert listed == sorted(listed)
    assert {"AsyncClient", "Client", "NotFound", "RetryPolicy"} <= set(listed)
    with pytest.raises(AttributeError, match=r"^module 'steelyard_client' has no attribute 'Cleint'$"):
        _ = steelyard_client.Cleint
