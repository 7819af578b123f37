"""What a message of ours looks like. Whoever reaches the broker can write others, which are dropped."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from models.queue.kinds.registry import BY_MESSAGE
from worker.messaging.celery_tasks import HINT_HEADER, WAKE

LARGEST_HINT = 1 << 16
"""Bytes of a message's body; ours have about 80."""

UNREADABLE_TYPE = "application/x-unreadable"
"""The content type of what stands for a message that could not even be taken apart."""

_NONE_OF_OURS = ("eta", "expires", "group", "chord", "stamped_headers", "shadow")
"""Headers that our messages leave empty: each would make Celery do something that we never ask for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a message is not one of ours."""

    reason: str
    """One of `worker.counters.REASONS`."""
    told: str
    """For the log: in words of ours, with nothing of the message but its sizes and types."""


def fault_of(message: Any) -> Fault | None:
    """What is wrong with a message, as kombu has taken it apart; None where it is one of ours."""
    if message.content_type != "application/json" or message.content_encoding not in {"utf-8", "binary"}:
        if message.content_type == UNREADABLE_TYPE:
            return Fault("unreadable", "it cannot be taken apart")
        return Fault("wrong", "its content type or encoding is another")
    size = len(message.body or b"")
    if size > LARGEST_HINT:
        return Fault("large", f"it has {size:,} bytes, and {LARGEST_HINT:,} are allowed")
    headers = message.headers
    if not isinstance(headers, dict) or not isinstance(message.properties, dict):
        return Fault("wrong", "it has no headers")
    if not isinstance(message.delivery_info or {}, dict):
        return Fault("wrong", "nothing is known of its delivery")
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
    version = headers.get(HINT_HEADER, 1)
    if not _is_whole(version) or not _is_whole(headers.get("retries", 0)):
        return Fault("wrong", "a header that counts is no number")
    limits = headers.get("timelimit")
    if limits and not (isinstance(limits, (list, tuple)) and len(limits) == 2 and all(map(_is_time, limits))):
        return Fault("wrong", "its time limits are none")
    return None


def _fault_of_body(task: str, body: bytes | str | None) -> Fault | None:
    try:
        given = json.loads(body or b"")
    except (ValueError, RecursionError, TypeError):
        return Fault("unreadable", "its body is no JSON")
    if not isinstance(given, list) or len(given) != 3:
        return Fault("wrong", "its body does not hold three parts")
    args, kwargs, embedded = given
    if not isinstance(args, list) or kwargs != {} or not isinstance(embedded, dict) or any(embedded.values()):
        return Fault("wrong", "its body asks for more than a task with a number")
    numbers = 0 if task == WAKE else 1
    if len(args) != numbers or not all(_is_whole(each) and 0 <= each < 1 << 63 for each in args):
        return Fault("wrong", "its task is for another number than it holds")
    return None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    )
