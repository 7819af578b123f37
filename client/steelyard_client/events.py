"""Parser of server-sent events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard_client.reading import read_json


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: Any
    """Decoded from JSON."""
    id: str


class EventParser:
    """Parses a stream line by line, by the rules of the HTML standard; comments (keep-alives) are skipped."""

    def __init__(self) -> None:
        self._name, self._last = "", ""
        self._data: list[str] = []

    def feed(self, line: str) -> Event | None:
        """The event that ends with this line; None while it goes on."""
        if not line:
            name, data = self._name or "message", self._data
            self._name, self._data = "", []
            return Event(name, read_json("\n".join(data), "The server"), self._last) if data else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id" and "\0" not in value:
            self._last = value
        return None
