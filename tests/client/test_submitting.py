"""Outputs submitted over the network: once, whatever connections do, and watched until they are measured."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.schema.corpus import Submission
from steelyard_client import BadInput, Client, Forbidden, NotFound, NotSignedIn, files
from steelyard_client.documents.submissions.submissions import SubmissionUpdate
from steelyard_client.files import read_file
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.port import NAME, SEGMENTS, Port, output


@pytest.fixture
def port(live: Live) -> Port:
    return Port.opened(live.service)


@pytest.fixture
def mary(live: Live, port: Port) -> Client:
    return live.client(port.accounts["mary"])


class Shaky(httpx.HTTPTransport):
    """A line that breaks: before a request arrives, or after it was answered, as often as it is asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.before: list[str] = []
        self.after: list[str] = []
        self.methods: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.methods.append(request.method)
        if request.method in self.before:
            self.before.remove(request.method)
            raise httpx.ConnectError("no route")
        answer = super().handle_request(request)
        if request.method in self.after:
            self.after.remove(request.method)
            answer.read()
            raise httpx.ReadError("connection reset")
        return answer


def test_an_output_is_submitted_and_watched(live: Live, port: Port, mary: Client) -> None:
    made = mary.submit_output(NAME, output(), system="mast", kind="primary", constrained=False, description="ours")
    assert (made.stored, made.queued, made.segments, made.test_set) == (True, True, SEGMENTS, "quay@1")
    assert (made.team, made.kind, made.constrained, made.description) == ("harbour", "primary", False, "ours")
    assert made.progress.state == "queued"
    told: list[Any] = []
    watcher = threading.Thread(target=lambda: told.extend(live.client(port.accounts["mary"]).watch_submission(made.id)))
    watcher.start()
    end = time.monotonic() + 120
    while not told:
        assert time.monotonic() < end, "no progress was reported"
        time.sleep(0.01)
    port.work_off()
    watcher.join(120)
    assert told[0].state == "queued"
    assert (told[-1].state, told[-1].ended, told[-1].segments_done) == ("done", True, told[-1].segments)
    found = mary.wait_for_submission(made.id)
    (evaluation,) = found.feedback
    assert [score.metric for score in evaluation.scores] == ["bleu", "chrf"]
    for score in evaluation.scores:
        assert score.low < score.score < score.high  # type: ignore[operator]
    assert mary.download_output(made.id) == output()


def test_it_is_declared_withdrawn_and_listed(port: Port, mary: Client) -> None:
    numbers = [mary.submit_output(NAME, output(seed), system=f"mast {seed}").id for seed in (1, 2, 3)]
    assert [each.id for each in mary.list_campaign_submissions(NAME)] == numbers[::-1]
    assert (
        mary.update_submission(numbers[0], SubmissionUpdate(kind="contrastive", constrained=True)).constrained is True
    )
    assert mary.update_submission(numbers[0], SubmissionUpdate(constrained=None, description="x")).constrained is None
    assert [each.id for each in mary.list_campaign_submissions(NAME, kind="contrastive")] == [numbers[0]]
    assert mary.withdraw_submission(numbers[1]).withdrawn_at is not None
    assert mary.reinstate_submission(numbers[1]).withdrawn_at is None


def test_a_broken_connection_submits_once(live: Live, port: Port) -> None:
    for broken in ("before", "after"):
        line = Shaky()
        client = live.client(port.accounts["mary"], transport=line)
        getattr(line, broken).append("POST")
        made = client.submit_output(NAME, output(), system=f"mast {broken}")
        assert line.methods == ["POST", "POST"]
        assert client.read_submission(made.id).system == f"mast {broken}"
    assert port.count(Submission) == 3  # with that of the organisers


def test_a_large_file_is_packed_and_tells_how_far_it_is(
    live: Live, port: Port, mary: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "GZIP_ABOVE_BYTES", 0)
    line = Shaky()
    client = live.client(port.accounts["mary"], transport=line)
    line.after += ["POST"]
    heard: list[tuple[int, int]] = []
    made = client.submit_output(NAME, output(), system="mast", on_progress=lambda *how: heard.append(how))
    assert heard[-1][0] == heard[-1][1] < len(output())
    # The whole of it again, where the connection broke: submitted once.
    assert [read for read, _ in heard].count(heard[-1][1]) >= 2
    assert mary.download_output(made.id) == output()
    assert port.count(Submission) == 2


def test_what_cannot_be_scored_is_said_with_all_that_is_wrong(port: Port, mary: Client) -> None:
    with pytest.raises(BadInput, match="fatal") as refused:
        mary.submit_output(NAME, output(segments=10), system="mast")
    assert refused.value.details
    assert any(
        finding.severity == "fatal" for finding in mary.check_output(NAME, output(segments=10), system="mast").findings
    )
    assert not any(finding.severity == "fatal" for finding in mary.check_output(NAME, output(), system="mast").findings)
    assert port.count(Submission) == 1


def test_who_may_not(live: Live, port: Port, mary: Client) -> None:
    number = mary.submit_output(NAME, output(), system="mast").id
    with pytest.raises(NotSignedIn):
        live.client().submit_output(NAME, output(), system="mast")
    with pytest.raises(NotFound):
        live.client(port.accounts["zoe"]).read_submission(number)
    with pytest.raises(Forbidden):
        live.client(port.accounts["zoe"]).submit_output(NAME, output(), system="mast", team="harbour")


def test_progress_is_asked_for_where_no_stream_is_left(live: Live, port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            error = {"code": "too_many", "message": "Too many.", "details": []}
            return httpx.Response(429, json={"error": error})
        return real.handle_request(request)

    real = live.stack.enter_context(httpx.HTTPTransport())
    slept: list[float] = []
    token = live.token(port.accounts["mary"])

    def work(seconds: float) -> None:
        slept.append(seconds)
        port.work_off()

    with Client(live.url, token, transport=httpx.MockTransport(refuse), sleep=work) as client:
        number = client.submit_output(NAME, output(), system="mast").id
        assert [each.state for each in client.watch_submission(number)] == ["queued", "done"]
    assert slept == [2.0]


def test_a_stream_that_breaks_is_taken_up(live: Live, port: Port, mary: Client) -> None:
    made = mary.submit_output(NAME, output(), system="mast")

    class Broken(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            said = (
                b'{"state": "running", "segments": 2, "segments_done": 1, "ahead": 0, "seconds_left": null, '
                b'"ended": false}'
            )
            yield b"id: 7\nevent: progress\ndata: " + said + b"\n\n"
            raise httpx.ReadError("connection reset")

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("Last-Event-ID"))
        if len(asked) == 1:
            return httpx.Response(200, stream=Broken())
        port.work_off()
        return real.handle_request(request)

    real, asked = live.stack.enter_context(httpx.HTTPTransport()), list[str | None]()
    token = live.token(port.accounts["mary"])
    with Client(live.url, token, transport=httpx.MockTransport(handle), sleep=lambda _: None) as client:
        told = [each.state for each in client.watch_submission(made.id)]
    assert (told[0], told[-1]) == ("running", "done")
    assert asked == [None, "7"]


def test_a_file_has_its_own_name_unless_another_is_given(tmp_path: Path) -> None:
    """Scores are sent by the name of their folder, too; a text without a file has a name all the same."""
    (tmp_path / "mast.txt").write_bytes(b"a\n")
    assert read_file(tmp_path / "mast.txt") == read_file(str(tmp_path / "mast.txt")) == ("mast.txt", b"a\n")
    assert read_file(tmp_path / "mast.txt", "en-cs/mast.txt") == ("en-cs/mast.txt", b"a\n")
    assert (read_file(b"a"), read_file(b"a", "x")) == (("output.txt", b"a"), ("x", b"a"))
