"""The client believes no server: what one says is bounded, and steers no terminal."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from steelyard.commands.errors import CommandError, exit_status
from steelyard_client import reading
from steelyard_client.errors import BadInput, NotSteelyard
from steelyard_client.reading import LineReader
from tests.client.test_events import parsed
from tests.client.test_requests import Server

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe\u2066\x00\u200b\ud800\r\x7f\u2028"
"""The escapes of a terminal, in seven and eight bits, directions, and what cannot be seen."""
SHOWN = {"\n", "\t"}


def steers(text: str) -> list[str]:
    return [each for each in text if not each.isprintable() and each not in SHOWN]


def test_messages_are_shown_and_not_obeyed() -> None:
    details = [STEERING, "two\nlines\tand a tab", {"a": STEERING}]
    error = {"code": STEERING, "message": f"No{STEERING}", "details": details}
    with pytest.raises(BadInput) as caught:
        Server(httpx.Response(422, content=json.dumps({"error": error}).encode())).client().get_json("me")
    assert not steers(str(caught.value) + caught.value.code)
    escaped = r"\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe\u2066\x00\u200b\ud800\r\x7f\u2028"
    assert str(caught.value).startswith(f"No{escaped}")
    assert "two\nlines\tand a tab" in str(caught.value)


def test_names_and_texts_of_an_answer_are_shown_and_not_obeyed() -> None:
    content = json.dumps({STEERING: [STEERING, {"x": STEERING}]}).encode()
    ((name, (text, within)),) = Server(httpx.Response(200, content=content)).client().get_json("me").items()
    assert not steers(name + text + within["x"])
    same = {"name": "Zoë 船 عربي क्\u200dष 🚢", "numbers": [1, 2.5, None, True], "text": "a\n\tb"}
    assert Server(httpx.Response(200, json=same)).client().get_json("me") == same


def test_events_are_shown_and_not_obeyed() -> None:
    lines = ["event: x", f"data: {json.dumps({'reason': STEERING})}", ""]
    (event,) = parsed(lines)
    assert not steers(event.data["reason"])
    with pytest.raises(NotSteelyard, match="not in JSON"):
        parsed(["data: {", ""])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 200_000, "not in JSON"),
        (b"[" * 90_000 + b"]" * 90_000, "JSON|deep"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "more than 100 deep"),
        (b"1" * 10_000, "not in JSON"),
        (b"\xff\xfe", "not in JSON"),
        (b"", "not in JSON"),
    ],
    ids=["open", "nested", "objects", "digits", "bytes", "empty"],
)
def test_odd_json_is_a_clear_error(content: bytes, said: str) -> None:
    with pytest.raises(NotSteelyard, match=said):
        Server(httpx.Response(200, content=content)).client().get_json("me")
    refused = Server(httpx.Response(422, content=content)).client()
    with pytest.raises(BadInput, match="not as a Steelyard server does"):
        refused.get_json("me")


def test_an_answer_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_ANSWER_BYTES", 1 << 20)
    bomb = gzip.compress(b'"' + b"a" * (8 << 20) + b'"')
    assert len(bomb) < 20_000
    with pytest.raises(NotSteelyard, match="more than 1,048,576 bytes"):
        Server(httpx.Response(200, content=bomb, headers={"Content-Encoding": "gzip"})).client().get_json("me")
    good = gzip.compress(b'{"fine": true}')
    fine = Server(httpx.Response(200, content=good, headers={"Content-Encoding": "gzip"})).client()
    assert fine.get_json("me") == {"fine": True}
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 1000)
    endless = Server(httpx.Response(200, content=b"data: " + b"a" * 5000)).client()
    with pytest.raises(NotSteelyard, match="a line without an end"):
        list(endless.watch_submission(1))
    lines = LineReader("x")
    assert [lines.feed(part) for part in (b"a\r\n\xc3", b"\xbc\n\nlast")] == [["a"], ["ü", ""]]


def test_the_command_line_prints_no_error_that_steers(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> int:
        raise CommandError(f"No {STEERING}")

    assert exit_status("steelyard", fails) == 1
    assert not steers(capsys.readouterr().err)
