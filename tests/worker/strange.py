"""Messages as somebody might write them who reaches the broker."""

from __future__ import annotations

import base64
import copy
import json
import struct
import zlib
from typing import Any

import amqp

from models.queue.kinds.shards import SHARD
from worker.messaging.messages import LARGEST_MESSAGE

GOOD: dict[str, Any] = {
    "body": [[5], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}],
    "content-encoding": "utf-8",
    "content-type": "application/json",
    "headers": {
        "lang": "py", "task": SHARD.message, "id": "one", "shadow": None, "eta": None, "expires": None, "group": None,
        "group_index": None, "retries": 0, "timelimit": [120.0, None], "root_id": "one", "parent_id": None,
        "argsrepr": "(5,)", "kwargsrepr": "{}", "origin": "x", "ignore_result": True, "replaced_task_nesting": 0,
        "stamped_headers": None, "stamps": {}, "steelyard_message": 1,
    },
    "properties": {
        "correlation_id": "one", "reply_to": "x", "delivery_mode": 2, "priority": 0, "body_encoding": "base64",
        "delivery_info": {"exchange": "", "routing_key": "x"}, "delivery_tag": "one",
    },
}  # fmt: skip

GONE = object()

# Where it is, what stands there, and the reason why it is dropped.
CHANGES: list[tuple[tuple[str, ...], Any, str]] = [
    (("content-type",), "application/x-python-serialize", "wrong"),
    (("content-type",), None, "wrong"),
    (("content-type",), GONE, "wrong"),
    (("content-encoding",), "utf-32", "wrong"),
    (("headers",), None, "wrong"),
    (("headers",), [], "wrong"),
    (("headers",), {}, "wrong"),
    (("headers", "task"), GONE, "wrong"),
    (("headers", "task"), ["reduce"], "wrong"),
    (("headers", "task"), "no_such_task", "unknown"),
    (("headers", "task"), "celery.chain", "unknown"),
    (("headers", "id"), GONE, "wrong"),
    (("headers", "id"), {}, "wrong"),
    (("headers", "id"), "", "wrong"),
    (("headers", "id"), "x" * 300, "wrong"),
    (("headers", "timelimit"), "soon", "wrong"),
    (("headers", "timelimit"), [1], "wrong"),
    (("headers", "timelimit"), [1, 2, 3], "wrong"),
    (("headers", "timelimit"), ["x", "y"], "wrong"),
    (("headers", "timelimit"), [-1, None], "wrong"),
    (("headers", "timelimit"), 7, "wrong"),
    (("headers", "eta"), "never", "wrong"),
    (("headers", "eta"), "2999-01-01T00:00:00", "wrong"),
    (("headers", "expires"), {"x": 1}, "wrong"),
    (("headers", "group"), "g", "wrong"),
    (("headers", "chord"), {"task": SHARD.message}, "wrong"),
    (("headers", "shadow"), "another name", "wrong"),
    (("headers", "retries"), "many", "wrong"),
    (("headers", "compression"), "application/x-gzip", "unreadable"),
    (("headers", "steelyard_message"), "new", "wrong"),
    (("headers", "stamped_headers"), ["x"], "wrong"),
    (("body",), "none", "unreadable"),
    (("body",), None, "wrong"),
    (("body",), {}, "wrong"),
    (("body",), [], "wrong"),
    (("body",), [[5], {}], "wrong"),
    (("body",), [["5"], {}, {}], "wrong"),
    (("body",), [[True], {}, {}], "wrong"),
    (("body",), [[-5], {}, {}], "wrong"),
    (("body",), [[1 << 63], {}, {}], "wrong"),
    (("body",), [[1 << 70], {}, {}], "wrong"),
    (("body",), [[5, "6"], {}, {}], "wrong"),
    (("body",), [list(range(100)), {}, {}], "wrong"),
    (("body",), [[], {}, {}], "wrong"),
    (("body",), [[5], {"x": 1}, {}], "wrong"),
    (("body",), [[5], {}, {"chain": [{"task": SHARD.message}]}], "wrong"),
    (("body",), [[5], {}, None], "wrong"),
    (("body",), [["x" * LARGEST_MESSAGE], {}, {}], "large"),
    (("properties",), None, "unreadable"),
    (("properties",), [], "unreadable"),
    (("properties",), {}, "unreadable"),
    (("properties", "delivery_info"), 5, "wrong"),
    (("properties", "body_encoding"), "rot13", "unreadable"),
]


def changed(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A good message but for one thing, as kombu writes it."""
    message: dict[str, Any] = copy.deepcopy(GOOD)
    inner = message
    for name in place[:-1]:
        inner = inner[name]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    body = message["body"]
    text = body if body == "none" else json.dumps(body)
    message["body"] = base64.b64encode(text.encode()).decode()
    return message


RAW: list[bytes] = [
    b"garbage", b"null", b"[]", b"{}", b"5", b'"text"', b"\xff\xfe", b"", b"[" * 100_000, b"NaN", b"x" * 1_000_000,
    b'{"__type__": "decimal", "__value__": "x"}', b'{"__type__": "uuid", "__value__": 5}',
    b'{"__type__": {}, "__value__": 5}', b'{"__type__": "datetime", "__value__": []}',
    b'{"body": "a", "properties": {}}',
    json.dumps({**GOOD, "body": "???="}).encode(), json.dumps({**GOOD, "body": 5}).encode(),
    json.dumps({name: value for name, value in GOOD.items() if name != "body"}).encode(),
]  # fmt: skip
"""What is not even shaped like a message; some is, without a body that can be read."""


def bomb() -> bytes:
    """64 KB, which are 64 MB once they are unpacked."""
    return zlib.compress(bytes(1 << 26), 9)


def _table(*fields: bytes) -> bytes:
    body = b"".join(fields)
    return struct.pack(">HI", 0x2000, len(body)) + body


def _nested(depth: int) -> bytes:
    """A table in a table and so on, as a field."""
    field = b"\x01aV"
    for _ in range(depth):
        field = b"\x01aF" + struct.pack(">I", len(field)) + field
    return field


UNDECODABLE: list[bytes] = [
    struct.pack(">HB", 0x8000, 2) + b"\xff\xfe",
    struct.pack(">HB", 0x0400, 1) + b"\xff",
    _table(b"\x01aT" + struct.pack(">Q", 1 << 60)),
    _table(_nested(3_000)),
]
"""Properties of a message as AMQP has them: texts that are no UTF-8, a moment in no calendar, tables without end."""


class Undecodable(amqp.Message):  # type: ignore[misc]
    """A message with these properties."""

    def __init__(self, properties: bytes) -> None:
        super().__init__(b"{}")
        self.raw = properties

    def _serialize_properties(self) -> bytes:
        return self.raw
