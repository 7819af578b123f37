"""Validates task messages. Anyone with access to the broker can send others, which are dropped."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from models.queue.kinds.registry import BY_MESSAGE
from worker.messaging.celery_tasks import MESSAGE_HEADER, WAKE
from worker.tasks import MOST_TOGETHER

LARGEST_MESSAGE = 1 << 16
"""Limit on the bytes of a message's body; ours have about 80, or twice that with several ids."""

UNREADABLE_TYPE = "application/x-unreadable"
"""The content type that marks an unparsable message."""

_NONE_OF_OURS = ("eta", "expires", "group", "chord", "stamped_headers", "shadow")
"""Headers that our messages leave empty: each would trigger a feature of Celery that we do not use."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a message is not one of ours."""

    reason: str
    """One of `worker.telemetry.REASONS`."""
    description: str
    """For the log: our own words, with nothing of the message but sizes and types."""


def find_fault(message: Any) -> Fault | None:
    """The fault of a message, as kombu parsed it; None if it is one of ours."""
    if message.content_type != "application/json" or message.content_encoding not in {"utf-8", "binary"}:
        if message.content_type == UNREADABLE_TYPE:
            return Fault("unreadable", "it cannot be parsed")
        return Fault("wrong", "its content type or encoding is wrong")
    size = len(message.body or b"")
    if size > LARGEST_MESSAGE:
        return Fault("large", f"it has {size:,} bytes, and {LARGEST_MESSAGE:,} are allowed")
    headers = message.headers
    if not isinstance(headers, dict) or not isinstance(message.properties, dict):
        return Fault("wrong", "it has no headers")
    if not isinstance(message.delivery_info or {}, dict):
        return Fault("wrong", "it has no delivery information")
    task = headers.get("task")
    if not isinstance(task, str):
        return Fault("wrong", "it names no task")
    if task not in BY_MESSAGE and task != WAKE:
        return Fault("unknown", "this release does not know its task")
    return _fault_of_headers(headers) or _fault_of_body(task, message.body)


def _fault_of_headers(headers: dict[str, Any]) -> Fault | None:
    identity = headers.get("id")
    if not isinstance(identity, str) or not 0 < len(identity) <= 255:
        return Fault("wrong", "it has no id")
    for name in _NONE_OF_OURS:
        if headers.get(name):
            return Fault("wrong", f"its header {name!r} is not empty")
    version = headers.get(MESSAGE_HEADER, 1)
    if not _is_whole(version) or not _is_whole(headers.get("retries", 0)):
        return Fault("wrong", "a counting header is not a number")
    limits = headers.get("timelimit")
    if limits and not (isinstance(limits, (list, tuple)) and len(limits) == 2 and all(map(_is_time, limits))):
        return Fault("wrong", "its time limits are invalid")
    return None


def _fault_of_body(task: str, body: bytes | str | None) -> Fault | None:
    try:
        given = json.loads(body or b"")
    except (ValueError, RecursionError, TypeError):
        return Fault("unreadable", "its body is not JSON")
    if not isinstance(given, list) or len(given) != 3:
        return Fault("wrong", "its body does not hold three parts")
    args, kwargs, embedded = given
    if not isinstance(args, list) or kwargs != {} or not isinstance(embedded, dict) or any(embedded.values()):
        return Fault("wrong", "its body has more than a task id")
    if task == WAKE:
        numbers = range(1)
    else:
        numbers = range(1, 2 if BY_MESSAGE[task].together is None else MOST_TOGETHER + 1)
    if len(args) not in numbers or not all(_is_whole(each) and 0 <= each < 1 << 63 for each in args):
        return Fault("wrong", "its header and body have different task ids")
    return None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    )
