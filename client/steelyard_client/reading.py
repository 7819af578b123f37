"""Reads responses of servers that are not trusted: size limits, and no terminal control characters."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from steelyard_client.errors import NotSteelyard
from steelyard_client.visible import visible

Shape = TypeVar("Shape", bound=BaseModel)

MAX_ANSWER_BYTES = 512 * 2**20
"""Limit of an uncompressed response: twice the largest output that a server accepts by default."""
MAX_LINE_BYTES = 16 * 2**20
"""Limit of a line of a stream."""
MAX_DEPTH = 100
"""Limit of nested lists and objects; our own responses have about six levels."""


class WholeResponse:
    """Collects a streamed response. Raises NotSteelyard if it becomes too large."""

    def __init__(self, answer: httpx.Response) -> None:
        self._answer, self._content = answer, bytearray()

    def add(self, chunk: bytes) -> None:
        """Add what has arrived, decompressed."""
        self._content += chunk
        if len(self._content) > MAX_ANSWER_BYTES:
            raise NotSteelyard(
                f"{self._answer.request.url.host} sends more than {MAX_ANSWER_BYTES:,} bytes in one answer: no "
                "Steelyard server does."
            )

    def response(self) -> httpx.Response:
        """The complete response."""
        answer = self._answer
        # The content is decompressed already.
        headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _PACKED]
        return httpx.Response(answer.status_code, headers=headers, content=bytes(self._content), request=answer.request)


_PACKED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class LineReader:
    """Parts a stream into lines. Raises NotSteelyard for a line beyond the limit."""

    def __init__(self, server: str) -> None:
        self._server, self._waiting = server, b""

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that are complete now."""
        *lines, self._waiting = (self._waiting + chunk).split(b"\n")
        if len(self._waiting) > MAX_LINE_BYTES:
            raise NotSteelyard(f"{self._server} sends a line without an end: no Steelyard server does.")
        return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]


def read_json(text: str | bytes, host: str) -> Any:
    """Decode JSON, with control characters in strings made visible. Raises NotSteelyard."""
    try:
        return _cleaned(json.loads(text), 0)
    except _TooDeep:
        raise NotSteelyard(
            f"{host} answers with lists or objects more than {MAX_DEPTH} deep: is it a Steelyard server?"
        ) from None
    except (ValueError, RecursionError) as error:
        raise NotSteelyard(f"{host} answers, but not in JSON that can be read: is it a Steelyard server?") from error


def decode(kind: type[Shape], found: Any) -> Shape:
    """The document in decoded JSON; unknown fields, from newer servers, are ignored. Raises NotSteelyard."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "it"
        raise NotSteelyard(
            f"The server's answer is no {kind.__name__}: it may be of another release. {where}: {fault['msg']}."
        ) from error


class _TooDeep(Exception):
    """Too many nested lists or objects."""


def _cleaned(found: Any, depth: int) -> Any:
    if isinstance(found, str):
        return visible(found)
    if isinstance(found, (dict, list)):
        if depth >= MAX_DEPTH:
            raise _TooDeep
        if isinstance(found, list):
            return [_cleaned(each, depth + 1) for each in found]
        return {visible(name): _cleaned(each, depth + 1) for name, each in found.items()}
    return found
