"""The statements of workers, recorded while real code handles real tasks and computes nothing.

What a task sends is cut into requests (`benchmarks.crowd.wire`); ids in their parameters become names. All that a
process prepares or does for the first time has been done by then.
"""

from __future__ import annotations

import struct
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from sqlalchemy import make_url, select, text

import worker.preemption
from benchmarks.crowd.tables import METRICS, SHARDS
from benchmarks.crowd.wire import Recorder, failed, message, messages, read_bind, rows
from models.database.session import make_engine
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD, ScoredShard, ShardRow, ShardTiming
from models.queue.task_kind import Outcome
from models.schema.results import Statistics
from worker.context import WorkerContext
from worker.handlers import do_several
from worker.processes.heartbeat import Heartbeat
from worker.runners import read_needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Engine

    from models.queue.kinds.reductions import ClaimedReduction
    from models.queue.kinds.shards import ClaimedShard
    from runtime.settings import Settings

BLOB = bytes(range(256)) * 4
"""Statistics as they are in a row where large ones are objects elsewhere."""
TIMING = ShardTiming(0.375, (0.125,) * 3)
WARM = 6
"""Evaluations before the first that is recorded: what is done once for each is prepared by then, too."""
RECORDED = (19, 29, 39)
"""Blocks of an evaluation: there begin its first shards, other ones, the last. They are like no other small number."""
OTHERS_DONE = """
WITH others AS (UPDATE shard SET state = 'done', attempts = 1, ended_at = 0 WHERE id = ANY (:others) RETURNING id)
UPDATE evaluation SET remaining = :remaining WHERE id = :evaluation AND EXISTS (SELECT FROM others)
"""
LOOKS = 2
"""How often a shard of three metrics looks for more urgent work."""

ROWS = """
SELECT s.id AS shard, s.protocol_id AS protocol, s.first_block, s.last_block, e.id AS evaluation, x.text_id AS text,
       s.team
FROM shard s JOIN shard_evaluation l ON l.shard_id = s.id JOIN evaluation e ON e.id = l.evaluation_id
JOIN submission x ON x.id = e.submission_id WHERE s.state IN ('pending', 'enqueued')
"""
Values = dict[str, Any]
"""Ids and blocks by name, and the team's name, which is as long as those of all others."""


ARRAY_HEAD = 20
"""Bytes of an array in binary form before its elements."""


class Part(NamedTuple):
    """A parameter that differs from task to task."""

    name: str
    size: int


@dataclass(frozen=True)
class Request:
    """A request with its parameters, and the answer to the one that was recorded."""

    parts: tuple[bytes | Part, ...]
    answer: bytes
    gives: str | None = None
    """The name of the number that its answer begins with, where later requests need it."""

    def refuses(self, answer: bytes) -> bool:
        """Whether an answer says that somebody else has a task that was to be claimed."""
        claims = any(isinstance(part, Part) and part.name == "owner" for part in self.parts)
        return claims and len(rows(answer)) < len(rows(self.answer))

    def filled(self, values: Values, owner: bytes) -> bytes:
        """The request for another task."""
        return b"".join(
            part
            if isinstance(part, bytes)
            else owner
            if part.name == "owner"
            else values[part.name].to_bytes(part.size, "big")
            if isinstance(values[part.name], int)
            else values[part.name].encode()
            for part in self.parts
        )


Requests = tuple[Request, ...]


@dataclass(frozen=True)
class Fork:
    """Requests after which there are two ways to go on, by the answers to them."""

    common: Requests
    usual: Requests
    rare: Requests


@dataclass(frozen=True)
class Script:
    """What a worker's process sends for so many shards of an evaluation, one after the other, named by one message."""

    size: int
    startup: bytes
    prepared: bytes
    """What has been prepared before."""
    claim: Fork
    """Until the texts are read; rare: the first shard of its evaluation."""
    looks: Sequence[Requests]
    """For more urgent work, between the parts of its own."""
    complete: Fork
    """Rare: the last shard of its evaluation, and its reduction."""


def is_first(answer: bytes) -> bool:
    """Whether the answers to a claim say that it is the first of its evaluation."""
    return any(b"queued" in row for row in rows(answer))


def is_last(answer: bytes) -> bool:
    """Whether the answers to a completion say, by the evaluation's counter, that no shard is left."""
    return any(len(row) > 1 and row[1] == bytes(4) for row in rows(answer))


class Context(WorkerContext):
    """That of a process with one connection, which is recorded."""

    def __init__(self, settings: Settings, url: str) -> None:
        super().__init__(settings, 1)
        prepared = settings.prepares_statements
        self._own = make_engine(url, relaxed=True, binary=True, connections=1, prepared=prepared, retried=True)

    @property
    def engine(self) -> Engine:
        """As `WorkerContext`."""
        return self._own


@contextmanager
def recorded(settings: Settings, sizes: Sequence[int] = (1,)) -> Iterator[dict[int, Script]]:
    """Handle shards of some evaluations that wait, and make a script of the last ones, for messages of each size.

    The scripts name the worker that was recorded, so that it lives on for as long as they are used: a scheduler
    takes the work of silent workers away.

    Raises
    ------
    RuntimeError
        If two tasks of a kind differ by more than what a script fills in.
    """
    address = make_url(settings.database_url)
    recorder = Recorder(address.host or "", address.port or 5432)
    own = address.set(host="127.0.0.1", port=recorder.port)
    own = own.update_query_dict({"sslmode": "disable", "gssencmode": "disable"})
    context = Context(settings, own.render_as_string(hide_password=False))
    # Nothing is sent to workers without processes.
    beat = Heartbeat(context, 0, forks=False)
    beat.start()
    try:
        marks: list[int] = []

        def score(
            of: WorkerContext, claims: Sequence[ClaimedShard], preempt: Callable[[], None]
        ) -> list[Callable[[], Outcome[ScoredShard]]]:
            of.read(lambda connection: read_needs(connection, claims, of.edition), snapshot=False)
            return [partial(score_one, claim, preempt) for claim in claims]

        def score_one(claim: ClaimedShard, preempt: Callable[[], None]) -> Outcome[ScoredShard]:
            for _ in range(LOOKS):
                marks.append(len(recorder.sent))
                preempt()
            marks.append(len(recorder.sent))
            scored = [
                ShardRow(each, number, BLOB, None) for each in claim.evaluations for number in range(len(METRICS))
            ]
            return Outcome(ScoredShard(scored, TIMING))

        # A kind keeps the function that it has imported.
        runners = patch.dict(vars(SHARD), runner=score), patch.dict(vars(REDUCTION), runner=reduce)
        with runners[0], runners[1], _looking_at_once():
            found = {size: _record(context, recorder, marks, size) for size in sizes}
        # What is prepared for one of them may serve another.
        yield {size: replace(each, prepared=_prepared(recorder)) for size, each in found.items()}
    finally:
        beat.stop()
        context.engine.dispose()
        recorder.close()


def reduce(context: WorkerContext, claim: ClaimedReduction, _preempt: object) -> Outcome[list[dict[str, Any]]]:
    """Read the statistics, and give scores that are none."""
    stored = select(Statistics.blob).where(Statistics.evaluation_id.in_(claim.evaluations))
    context.read(lambda connection: connection.scalars(stored).all())
    return Outcome(
        [
            {
                "evaluation_id": each, "metric": number, "specification": name, "title": name, "signature": name,
                "higher_is_better": True, "scale": 1.0, "columns": ["a"], "sums": bytes(8), "score": 0.0,
                "replicate_scores": bytes(8000),
            }
            for each in claim.evaluations for number, name in enumerate(METRICS)
        ]
    )  # fmt: skip


def _looking_at_once() -> Any:
    return patch.object(worker.preemption, "EVERY_SECONDS", 0.0)


def shards_by_evaluation(engine: Engine) -> dict[int, list[Values]]:
    """The shards that wait."""
    found: dict[int, list[Values]] = {}
    with engine.connect() as connection:
        for row in connection.execute(text(f"{ROWS} ORDER BY e.id, s.id")):
            found.setdefault(row.evaluation, []).append(dict(row._mapping))
    return found


def batch(shards: Sequence[Values]) -> Values:
    """What differs from message to message: the names of the first shard's values, and numbered ones of the others."""
    own = ("shard", "first_block", "last_block")
    more = {f"{name} {number}": each[name] for number, each in enumerate(shards) for name in own if number}
    return shards[0] | more


def _prepared(recorder: Recorder) -> bytes:
    """All that was prepared: by a Parse with a name."""
    return b"".join(
        message(kind, body)
        for request, _ in recorder.requests()
        for kind, body in messages(request)
        if kind == ord("P") and body[0]
    )


def _record(context: Context, recorder: Recorder, marks: list[int], size: int) -> Script:
    engine = make_engine(context.settings.database_url)
    waiting = [each for each in shards_by_evaluation(engine).values() if len(each) == SHARDS][: WARM + 2]
    recorded: list[list[Requests]] = []
    for shards in waiting:
        chosen = [shards[block : block + size] for block in RECORDED]
        taken = [each["shard"] for some in chosen for each in some]
        others = [each["shard"] for each in shards if each["shard"] not in taken]
        with engine.begin() as connection:
            values = {"others": others, "remaining": len(taken), "evaluation": shards[0]["evaluation"]}
            connection.execute(text(OTHERS_DONE), values)
        recorded = recorded[-len(RECORDED) :]
        for some in chosen:
            values = batch(some)
            begun, task = len(recorder.sent), str(uuid.uuid4())
            marks.clear()
            do_several(context, SHARD, [each["shard"] for each in some], task)
            with engine.connect() as connection:
                find = text("SELECT reduction_id FROM evaluation WHERE id = :evaluation")
                reduction = connection.scalar(find, values)
            known = values if reduction is None else {**values, "reduction": reduction}
            recorded.append(_cut(recorder, begun, marks, known, task.encode()))
    engine.dispose()
    before, after = recorded[: len(RECORDED)], recorded[len(RECORDED) :]
    for one, other in zip(before, after, strict=True):
        compare(one, other)
    first, usual, last = after
    script = Script(
        size,
        recorder.startup,
        b"",
        _fork(usual[0], first[0]),
        usual[1:-1],
        _fork(usual[-1], last[-1]),
    )
    for says, fork, rare in ((is_first, script.claim, first[0]), (is_last, script.complete, last[-1])):
        answers = [b"".join(each.answer for each in some[: len(fork.common)]) for some in (fork.common, rare)]
        if list(map(says, answers)) != [False, True]:
            raise RuntimeError(f"What was recorded no longer shows {says.__name__}.")
    return script


def _cut(recorder: Recorder, begun: int, marks: Sequence[int], values: Values, task: bytes) -> list[Requests]:
    """The requests of a task: until it computes, between its parts, and afterwards."""
    at = len(recorder.startup)
    parts: list[list[Request]] = [[] for _ in range(len(marks) + 1)]
    awaited = "reduction" if "reduction" in values else None
    for request, answer in recorder.requests():
        if at >= begun:
            if complaint := failed(answer):
                raise RuntimeError(f"A recorded task has failed: {complaint}")
            gives = None
            if awaited and any(int.from_bytes(row[0] or b"", "big") == values[awaited] for row in rows(answer)):
                gives, awaited = awaited, None
            parts[sum(mark <= at for mark in marks)].append(
                Request(tuple(_abstracted(request, values, task)), answer, gives)
            )
        at += len(request)
    return [tuple(each) for each in parts]


def _abstracted(request: bytes, values: Values, task: bytes) -> list[bytes | Part]:
    """A request whose parameters are named, literal bytes joined."""
    parts: list[bytes | Part] = [b""]

    def add(part: bytes | Part) -> None:
        if isinstance(part, bytes) and isinstance(parts[-1], bytes):
            parts[-1] += part
        else:
            parts.append(part)

    for kind, body in messages(request):
        if kind == ord("H"):
            # The driver flushes or not as time has it; the Sync at a request's end does it anyway.
            continue
        if kind != ord("B"):
            add(message(kind, body))
            continue
        bind = read_bind(body)
        add(struct.pack(">ci", b"B", len(body) + 4) + bind.head)
        for value in bind.values:
            add(struct.pack(">i", -1 if value is None else len(value)))
            for part in _named(value or b"", values, task):
                add(part)
        add(bind.tail)
    return parts


def _named(value: bytes, values: Values, task: bytes) -> list[bytes | Part]:
    """A parameter, or each element of one that is an array: known numbers are named."""
    if value.startswith(task):
        return [Part("owner", len(value))]
    for name, known in values.items():
        number = int.from_bytes(value, "big") if len(value) in {2, 4, 8} else None
        if known in (number, value.decode("latin-1")):
            return [Part(name, len(value))]
    array = struct.unpack_from(">ii", value) if len(value) > ARRAY_HEAD else None
    if array not in {(1, 0), (1, 1)}:
        return [value]
    found: list[bytes | Part] = [value[:ARRAY_HEAD]]
    at = ARRAY_HEAD
    while at < len(value):
        size = max(0, struct.unpack_from(">i", value, at)[0])
        found += [value[at : at + 4], *_named(value[at + 4 : at + 4 + size], values, task)]
        at += 4 + size
    return found


def compare(one: Sequence[Requests], other: Sequence[Requests]) -> None:
    """Raise RuntimeError where two recorded tasks of a kind differ by more than ids."""
    if len(one) != len(other):
        raise RuntimeError(f"Two tasks stop {len(one) - 1} and {len(other) - 1} times.")
    for ours, theirs in zip(one, other, strict=True):
        for number in range(max(len(ours), len(theirs))):
            pair = [each[number].parts if number < len(each) else None for each in (ours, theirs)]
            if pair[0] != pair[1]:
                differing = [both for both in zip_longest(*(each or () for each in pair)) if both[0] != both[1]]
                raise RuntimeError(f"Two tasks of a kind differ in request {number}: {differing}")


def _fork(usual: Requests, rare: Requests) -> Fork:
    same = 0
    while same < min(len(usual), len(rare)) and usual[same].parts == rare[same].parts:
        same += 1
    return Fork(usual[:same], usual[same:], rare[same:])
