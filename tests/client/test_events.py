"""Server-sent events as they come over the line."""

import pytest

from steelyard_client.events import Event, EventParser


def parsed(lines: list[str]) -> list[Event]:
    parser = EventParser()
    return [event for line in lines if (event := parser.feed(line)) is not None]


def test_events_are_distinguished_by_empty_lines() -> None:
    lines = [
        ": still there",
        "",
        "event: progress",
        "id: 7",
        'data: {"done":',
        "data: 3}",
        "",
        "data:[1]",
        "",
        "data: 9",
    ]
    assert parsed(lines) == [Event("progress", {"done": 3}, "7"), Event("message", [1], "7")]


@pytest.mark.parametrize("lines", [[], [""], ["event: x", ""], ["retry: 100", "", "nonsense", ""]])
def test_nothing_is_no_event(lines: list[str]) -> None:
    assert parsed(lines) == []


def test_an_id_stays_until_another_one_and_none_has_a_zero_byte() -> None:
    """As the HTML standard has it: with the last one the stream is asked for again."""
    told = [["id: 1", "data: 1"], ["data: 2"], ["id: 3\0", "data: 3"], ["id", "data: 4"], ["id:5"], ["data: 6"]]
    ids = [(event.data, event.id) for event in parsed([line for each in told for line in (*each, "")])]
    assert ids == [(1, "1"), (2, "1"), (3, "1"), (4, ""), (6, "5")]
