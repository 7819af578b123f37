"""Requests to a server that is slow, away, busy, or no Steelyard at all."""

from collections.abc import Callable

import httpx
import pytest

from steelyard_client.errors import BadInput, NotFound, NotSteelyard, Refused, ServerUnreachable, TooMany, Unavailable
from steelyard_client.transport import MAX_CACHED, RetryPolicy, Transport, path_of

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

    def transport(self, token: str | None = "sty_secret", **patience: float) -> Transport:
        return Transport(
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
    assert server.transport().get("campaigns", "news / 2026 ü") == {"fine": True}
    (request,) = server.asked
    assert str(request.url) == "https://mt.example.org/api/v1/campaigns/news%20%2F%202026%20%C3%BC"
    assert request.headers["Authorization"] == "Bearer sty_secret"
    assert path_of("..", "a?b#c%") == "/../a%3Fb%23c%25"


def test_what_fails_for_a_moment_is_asked_again() -> None:
    server = Server(httpx.ConnectError("no route"), httpx.ReadTimeout(""), refusal(503), refusal(502), GOOD)
    assert server.transport().get("me") == {"fine": True}
    assert len(server.asked) == 5
    for wait, usual in zip(server.slept, (0.5, 1, 2, 4), strict=True):
        assert 0.75 * usual <= wait <= 1.25 * usual


def test_patience_has_an_end() -> None:
    server = Server(httpx.ConnectError("[Errno 111] Connection refused"))
    with pytest.raises(
        ServerUnreachable, match=r"https://mt.example.org does not answer: \[Errno 111\] Connection refused\."
    ):
        server.transport(tries=3).get("me")
    assert len(server.asked) == 3


def test_the_server_says_when_to_come_again() -> None:
    server = Server(refusal(429, **{"Retry-After": "7"}), GOOD)
    assert server.transport().get("me") == {"fine": True}
    assert server.slept == [7.0]
    late = Server(refusal(429, **{"Retry-After": "3600"}))
    with pytest.raises(TooMany, match="No"):
        late.transport().get("me")
    assert late.slept == []


def test_what_is_done_once_is_not_sent_twice() -> None:
    for trouble in (httpx.ReadTimeout("late"), refusal(503)):
        server = Server(trouble, GOOD)
        with pytest.raises((ServerUnreachable, Unavailable)):
            server.transport().send("POST", "/campaigns")
        assert len(server.asked) == 1
    # Nobody was there to do it; or whoever is there knows the key.
    for trouble, key in ((httpx.ConnectError("no"), None), (httpx.ReadTimeout("late"), "k"), (refusal(503), "k")):
        server = Server(trouble, GOOD)
        assert server.transport().send("POST", "/campaigns", key=key).status_code == 200
        assert [request.headers.get("Idempotency-Key") for request in server.asked] == [key, key]


def test_a_quota_that_is_used_up_is_not_tried_again() -> None:
    server = Server(refusal(429))
    with pytest.raises(TooMany):
        server.transport().send("POST", "/campaigns/x/submissions", key="k")
    assert len(server.asked) == 1


def test_what_is_refused_is_told_in_the_servers_words() -> None:
    with pytest.raises(BadInput) as refused:
        Server(refusal(422, "fatal: 3 lines are lacking", "note: it has a byte-order mark")).transport().get("x")
    assert str(refused.value) == "No.\n  fatal: 3 lines are lacking\n  note: it has a byte-order mark"
    assert (refused.value.status, refused.value.code) == (422, "odd")
    with pytest.raises(NotFound):
        Server(refusal(404)).transport().get("x")
    with pytest.raises(Refused, match="status 418"):
        Server(httpx.Response(418, text="<h1>teapot</h1>")).transport().get("x")


def test_who_is_no_steelyard_server() -> None:
    with pytest.raises(NotSteelyard, match="not in JSON"):
        Server(httpx.Response(200, text="<h1>Welcome</h1>")).transport().get("me")
    elsewhere = Server(httpx.Response(301, headers={"Location": "https://evil.example.org/"}))
    with pytest.raises(NotSteelyard, match="elsewhere"):
        elsewhere.transport().get("me")
    assert len(elsewhere.asked) == 1


@pytest.mark.parametrize("server", ["", "ftp://x", "https://", "https://me:secret@x", "https://x/?q=1", "https://x/#a"])
def test_what_is_no_address_of_a_server(server: str) -> None:
    with pytest.raises(NotSteelyard, match="is not the address of a server"):
        Transport(server)


def test_a_token_does_not_travel_in_the_open() -> None:
    with pytest.raises(NotSteelyard, match="https"):
        Transport("http://mt.example.org", "token")
    assert Transport("http://mt.example.org").server == "http://mt.example.org"
    assert Transport("http://localhost:8718/", "token").server == "http://localhost:8718"
    assert Transport("mt.example.org", "token").server == "https://mt.example.org"


def test_what_has_not_changed_is_not_sent_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("If-None-Match"))
        if asked[-1] == '"1"':
            return httpx.Response(304, headers={"ETag": '"1"'})
        return httpx.Response(200, json={"of": str(request.url)}, headers={"ETag": '"1"'})

    asked: list[str | None] = []
    transport = Transport("https://x", transport=httpx.MockTransport(answer))
    first = transport.get("board", metric="bleu", references=None)
    assert transport.get("board", metric="bleu") is first
    assert transport.get("board", metric="ter") != first
    assert asked == [None, '"1"', None]
    for number in range(MAX_CACHED):
        transport.get("board", number)
    transport.get("board", metric="bleu")
    assert asked[-1] is None


def test_all_pages_of_a_list() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after")
        asked.append(after)
        return httpx.Response(200, json={"items": [after or "0"], "next": {None: "1", "1": "2", "2": None}[after]})

    asked: list[str | None] = []
    transport = Transport("https://x", transport=httpx.MockTransport(answer))
    assert list(transport.pages("things")) == ["0", "1", "2"]
    assert next(iter(transport.pages("things"))) == "0"
    assert asked == [None, "1", "2", None]
