"""Parser of server-sent events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard_client.reading import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: Any
    """Decoded from JSON."""
    id: str


def parse_events(lines: Iterable[str]) -> Iterator[Event]:
    """Parse the events of a stream by the rules of the HTML standard; comments (keep-alives) are skipped."""
    name, last = "", ""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield Event(name or "message", read_json("\n".join(data), "The server"), last)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last = value
