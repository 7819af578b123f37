"""Requests to a server that is slow, away, busy, or no Steelyard at all."""

import json
from collections.abc import Callable

import httpx
import pytest

from steelyard_client import Client, RetryPolicy
from steelyard_client.addresses import path_of
from steelyard_client.errors import BadInput, NotFound, NotSteelyard, Refused, ServerUnreachable, TooMany, Unavailable
from steelyard_client.reading import MAX_DEPTH
from steelyard_client.requests import MAX_CACHED

Handler = Callable[[httpx.Request], httpx.Response]


class Server:
    """Answers one request after the other as told, and remembers what it was asked and how long was waited."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, token: str | None = "sty_secret", **patience: float) -> Client:
        return Client(
            "https://mt.example.org/",
            token,
            patience=RetryPolicy(**patience),  # type: ignore[arg-type]
            transport=httpx.MockTransport(self),
            sleep=self.slept.append,
        )


def refusal(status: int, *details: str, **headers: str) -> httpx.Response:
    error = {"code": "odd", "message": "No.", "details": list(details)}
    return httpx.Response(status, json={"error": error}, headers=headers)


GOOD = httpx.Response(200, json={"fine": True})


def test_a_request_is_signed_and_goes_to_the_api() -> None:
    server = Server(GOOD)
    assert server.client().get_json("campaigns", "news / 2026 ü") == {"fine": True}
    (request,) = server.asked
    assert str(request.url) == "https://mt.example.org/api/v1/campaigns/news%20%2F%202026%20%C3%BC"
    assert request.headers["Authorization"] == "Bearer sty_secret"
    assert path_of("..", "a?b#c%") == "/../a%3Fb%23c%25"


def test_what_fails_for_a_moment_is_asked_again() -> None:
    server = Server(httpx.ConnectError("no route"), httpx.ReadTimeout(""), refusal(503), refusal(502), GOOD)
    assert server.client().get_json("me") == {"fine": True}
    assert len(server.asked) == 5
    for wait, usual in zip(server.slept, (0.5, 1, 2, 4), strict=True):
        assert 0.75 * usual <= wait <= 1.25 * usual


def test_patience_has_an_end() -> None:
    server = Server(httpx.ConnectError("[Errno 111] Connection refused"))
    with pytest.raises(
        ServerUnreachable, match=r"https://mt.example.org does not answer: \[Errno 111\] Connection refused\."
    ):
        server.client(tries=3).get_json("me")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (httpx.ConnectError("no route"), 5),
        (httpx.ConnectTimeout(""), 5),
        (httpx.ReadTimeout(""), 5),
        (httpx.ReadError("[Errno 104] Connection reset by peer"), 10),
        (httpx.WriteError("[Errno 32] Broken pipe"), 10),
        (httpx.RemoteProtocolError("Server disconnected without sending a response."), 10),
        (refusal(503), 10),
        (refusal(429, **{"Retry-After": "1"}), 10),
    ],
)
def test_a_busy_server_is_asked_for_minutes_and_one_that_is_not_there_for_seconds(
    failure: httpx.Response | Exception, tries: int, caplog: pytest.LogCaptureFixture
) -> None:
    """In the last minutes before a deadline it may close connections."""
    server = Server(failure)
    with pytest.raises((ServerUnreachable, Unavailable, TooMany)) as ended:
        server.client().send("POST", "campaigns", key="k")
    assert len(server.asked) == tries
    assert len(server.slept) == tries - 1
    assert 120 <= sum(server.slept) <= 240 if tries == 10 else sum(server.slept) <= 10
    # Whoever waits is told why.
    told = [seconds for seconds in server.slept if seconds >= 1.0]
    assert caplog.messages == [f"{ended.value} Trying again in {seconds:.0f} s." for seconds in told]


def test_the_server_says_when_to_come_again() -> None:
    server = Server(refusal(429, **{"Retry-After": "7"}), GOOD)
    assert server.client().get_json("me") == {"fine": True}
    assert server.slept == [7.0]
    for seconds in ("3600", "60.5"):
        late = Server(refusal(429, **{"Retry-After": seconds}))
        with pytest.raises(TooMany, match="No"):
            late.client().get_json("me")
        assert late.slept == []
    longest = Server(refusal(503, **{"Retry-After": "60"}), GOOD)
    assert longest.client().get_json("me") == {"fine": True}
    assert longest.slept == [60.0]


def test_what_is_done_once_is_not_sent_twice() -> None:
    for error in (httpx.ReadTimeout("late"), refusal(503)):
        server = Server(error, GOOD)
        with pytest.raises((ServerUnreachable, Unavailable)):
            server.client().send("POST", "campaigns")
        assert len(server.asked) == 1
    # Nobody was there to do it; or whoever is there knows the key.
    for error, key in ((httpx.ConnectError("no"), None), (httpx.ReadTimeout("late"), "k"), (refusal(503), "k")):
        server = Server(error, GOOD)
        assert server.client().send("POST", "campaigns", key=key).status_code == 200
        assert [request.headers.get("Idempotency-Key") for request in server.asked] == [key, key]


def test_a_quota_that_is_used_up_is_not_tried_again() -> None:
    server = Server(refusal(429))
    with pytest.raises(TooMany):
        server.client().send("POST", "campaigns", "x", "submissions", key="k")
    assert len(server.asked) == 1


def test_what_is_refused_is_reported_in_the_servers_words() -> None:
    with pytest.raises(BadInput) as refused:
        Server(refusal(422, "fatal: 3 lines are missing", "note: it has a byte-order mark")).client().get_json("x")
    assert str(refused.value) == "No.\n  fatal: 3 lines are missing\n  note: it has a byte-order mark"
    assert (refused.value.status, refused.value.code) == (422, "odd")
    with pytest.raises(NotFound):
        Server(refusal(404)).client().get_json("x")
    with pytest.raises(Refused, match="status 418"):
        Server(httpx.Response(418, text="<h1>teapot</h1>")).client().get_json("x")


def test_who_is_no_steelyard_server() -> None:
    with pytest.raises(NotSteelyard, match="not in JSON"):
        Server(httpx.Response(200, text="<h1>Welcome</h1>")).client().get_json("me")
    elsewhere = Server(httpx.Response(301, headers={"Location": "https://evil.example.org/"}))
    with pytest.raises(NotSteelyard, match="elsewhere"):
        elsewhere.client().get_json("me")
    assert len(elsewhere.asked) == 1


@pytest.mark.parametrize("server", ["", "ftp://x", "https://", "https://me:secret@x", "https://x/?q=1", "https://x/#a"])
def test_what_is_no_address_of_a_server(server: str) -> None:
    with pytest.raises(NotSteelyard, match="is not the address of a server"):
        Client(server)


def test_a_token_does_not_travel_in_the_open() -> None:
    with pytest.raises(NotSteelyard, match="https"):
        Client("http://mt.example.org", "token")
    assert Client("http://mt.example.org").server == "http://mt.example.org"
    assert Client("http://localhost:8718/", "token").server == "http://localhost:8718"
    assert Client("mt.example.org", "token").server == "https://mt.example.org"


def test_what_has_not_changed_is_not_sent_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("If-None-Match"))
        if asked[-1] == '"1"':
            return httpx.Response(304, headers={"ETag": '"1"'})
        return httpx.Response(200, json={"of": str(request.url)}, headers={"ETag": '"1"'})

    asked: list[str | None] = []
    transport = Client("https://x", transport=httpx.MockTransport(answer))
    first = transport.get_json("board", metric="bleu", references=None)
    assert transport.get_json("board", metric="bleu") is first
    assert transport.get_json("board", metric="ter") != first
    assert asked == [None, '"1"', None]
    for number in range(MAX_CACHED):
        transport.get_json("board", number)
    transport.get_json("board", metric="bleu")
    assert asked[-1] is None


def test_all_pages_of_a_list() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after")
        asked.append(after)
        following = {None: "1", "1": "2", "2": None}[after]
        return httpx.Response(200, json={"items": [{"before": int(after or 0)}], "next": following})

    asked: list[str | None] = []
    client = Client("https://x", transport=httpx.MockTransport(answer))
    assert [each.before for each in client.list_waiting_uploads()] == [0, 1, 2]
    assert next(client.list_waiting_uploads()).before == 0
    assert asked == [None, "1", "2", None]


def test_a_page_that_is_empty_is_not_the_last_one() -> None:
    """Where what stood on it may not be seen."""
    team = {"id": 1, "name": "harbour", "publication_name": "", "affiliation": "", "created_at": 0.0, "members": 1}
    pages = [{"items": [], "next": "2"}, {"items": [team], "next": None}]
    server = Server(*(httpx.Response(200, json=page) for page in pages))
    assert [each.name for each in server.client().list_own_teams()] == ["harbour"]


@pytest.mark.parametrize("found", [None, [], "x", {}, {"id": 1, "link": 3}])
def test_what_does_not_fit_is_said(found: object) -> None:
    server = Server(httpx.Response(200, content=json.dumps(found)))
    with pytest.raises(NotSteelyard, match=r"no PasswordLinkResponse: it may be of another release"):
        server.client().create_password_link(1)


@pytest.mark.parametrize("begin", ['{"a":', "["])
def test_how_deep_an_answer_may_be(begin: str) -> None:
    end = {"[": "]"}.get(begin, "}")
    for depth in (MAX_DEPTH, MAX_DEPTH + 1):
        content = begin * depth + "1" + end * depth
        client = Server(httpx.Response(200, content=content)).client()
        if depth == MAX_DEPTH:
            assert client.get_json("me")
            continue
        with pytest.raises(NotSteelyard, match="more than 100 deep"):
            client.get_json("me")


def test_what_newer_servers_add_is_ignored() -> None:
    server = Server(httpx.Response(200, json={"link": "https://x", "seconds": 60, "new": 1}))
    assert server.client().create_password_link(1).link == "https://x"


def test_what_cannot_be_decompressed_is_said() -> None:
    server = Server(httpx.Response(200, stream=httpx.ByteStream(b"no gzip"), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(NotSteelyard, match="cannot be decoded"):
        server.client().read_me()
