"""What a server says, which may be any server: bounded, and without what would steer a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

from metrics.text.names import visible
from metrics.text.wording import number_of
from web.client.errors import NotSteelyard

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_ANSWER = 512 * 2**20
"""Bytes of an answer, unpacked: twice the largest output that a server takes by default."""
LONGEST_LINE = 16 * 2**20
"""Bytes of a line of a stream."""
DEEPEST = 100
"""Lists and objects within one another; what a server of ours says has six or so."""


def read_whole(answer: httpx.Response) -> httpx.Response:
    """An answer that is still to be read, with its content. Raises NotSteelyard where there is too much of it."""
    content = bytearray()
    for piece in answer.iter_bytes():
        content += piece
        if len(content) > LARGEST_ANSWER:
            raise NotSteelyard(
                f"{answer.request.url.host} sends more than {number_of(LARGEST_ANSWER, 'byte')} in one answer: no "
                "Steelyard server does."
            )
    # It is unpacked by now.
    headers = [(name, value) for name, value in answer.headers.raw if name.lower() not in _PACKED]
    return httpx.Response(answer.status_code, headers=headers, content=bytes(content), request=answer.request)


_PACKED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


def read_lines(answer: httpx.Response) -> Iterator[str]:
    """The lines of a stream as they come. Raises NotSteelyard for one without an end."""
    waiting = b""
    for piece in answer.iter_bytes():
        *lines, waiting = (waiting + piece).split(b"\n")
        if len(waiting) > LONGEST_LINE:
            raise NotSteelyard(f"{answer.request.url.host} sends a line without an end: no Steelyard server does.")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
    if waiting:
        yield waiting.decode("utf-8", "replace")


def read_json(text: str | bytes, host: str) -> Any:
    """What JSON says, its strings as a terminal may show them. Raises NotSteelyard."""
    try:
        return _cleaned(json.loads(text), 0)
    except _TooDeep:
        raise NotSteelyard(
            f"{host} answers with lists or objects more than {DEEPEST} deep: is it a Steelyard server?"
        ) from None
    except (ValueError, RecursionError) as error:
        raise NotSteelyard(f"{host} answers, but not in JSON that can be read: is it a Steelyard server?") from error


class _TooDeep(Exception):
    """Lists within lists without end."""


def _cleaned(found: Any, depth: int) -> Any:
    if isinstance(found, str):
        return visible(found)
    if isinstance(found, (dict, list)):
        if depth >= DEEPEST:
            raise _TooDeep
        if isinstance(found, list):
            return [_cleaned(each, depth + 1) for each in found]
        return {visible(name): _cleaned(each, depth + 1) for name, each in found.items()}
    return found
