"""Kinds of leased tasks, and how all of them are claimed, completed and released.

Each function is one short transaction's worth of work on the given connection.
docs/how-to/tasks.md shows how to add a kind.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, select, true, update

from models.queue.lease import claim_rows, complete_rows, end, held_by, no_attempt_left, retry_later
from models.schema.queue import RETRIED, Leased
from models.schema.states import Fault, LeaseState, QueueClass
from runtime.settings import Settings
from runtime.tracing import trace_id


@dataclass(frozen=True, slots=True)
class Claim:
    """A task under our lease."""

    key: int
    """The id of its row."""
    owner: str
    """The fencing token, new at each claim."""
    attempt: int
    """The number of this attempt, from 1."""
    trace: str | None
    """The trace that it belongs to (`runtime.tracing`)."""
    queue_class: QueueClass
    """The class in which it was sent."""

    @property
    def identity(self) -> tuple[int, str, int, str | None, QueueClass]:
        """The arguments that a kind's claim begins with."""
        return self.key, self.owner, self.attempt, self.trace, self.queue_class

    def log_fields(self) -> dict[str, Any]:
        """Log fields that say what the task works for."""
        return {}


Claimed = TypeVar("Claimed", bound=Claim)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LeasePolicy:
    """The lease duration, the number of attempts, and the delay between them."""

    lease_seconds: float
    max_attempts: int
    delay: Callable[[int], float]
    """Seconds to wait after this many attempts."""
    setting: str = "STEELYARD_MAX_ATTEMPTS"
    """The setting that allows more attempts."""


def queue_policy(settings: Settings) -> LeasePolicy:
    """The policy of all tasks for evaluations: the delay grows with each attempt."""
    return LeasePolicy(
        settings.lease_seconds, settings.max_attempts, lambda attempts: settings.retry_seconds * attempts
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task has failed for good."""

    attempts: int
    reason: str
    permanent: bool
    """Whether the error would recur at every attempt."""

    def describe(self, what: str) -> str:
        """The reason for users, after a clause that says what failed."""
        tries = f"tried {self.attempts} times" if self.attempts > 1 else "tried once"
        return f"{what} ({tries}): {self.reason}"

    @property
    def fault(self) -> Fault:
        """Permanent errors are the input's fault."""
        return Fault.INPUT if self.permanent else Fault.PLATFORM


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """The result of running a task."""

    result: Result
    report: Callable[[float], Mapping[str, object]] = lambda _: {}
    """Called once the result is stored, with the seconds since the claim; counts it and returns log fields."""


def _ready_none(_connection: Connection, _claim: Any, _result: Any) -> None:
    pass


def _fails_none(_connection: Connection, _row: Row[Any], _failure: Failure) -> None:
    pass


def _no_columns(_claim: Any, _result: Any) -> Mapping[str, object]:
    return {}


def _no_fields(_connection: Connection, _key: int) -> dict[str, Any]:
    return {}


def _nothing_refers(_connection: Connection, _keys: list[int]) -> None:
    pass


Ready = tuple["TaskKind[Any, Any]", int]
"""A pending task that became ready with another one."""


@dataclass(frozen=True, slots=True)
class Together(Generic[Claimed, Result]):
    """How the tasks of one message are handled together: one transaction loads them, one stores what they came to."""

    load: Callable[[Connection, Sequence[Claim]], list[Claimed]]
    """As a kind's own, for several: those that are still needed."""
    complete: Callable[[Connection, Sequence[tuple[Claimed, Result]]], list[Ready]]
    """As a kind's own, for several."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskKind(Generic[Claimed, Result]):
    """A kind of leased task. Lock order: the task's row, then the rows it works for."""

    name: str
    """The plural name in metrics and `steelyard status`."""
    table: type[Leased]
    message: str | None
    """The name of the message that tells workers of a task; None if no message does: learned workers look for their
    tasks, and the scheduler runs those without `run`."""
    run: str | None
    """The function that runs a task in workers, outside any transaction: `(context, claim, preempt) -> Outcome`; None
    if the scheduler runs the tasks itself. Those that run `together`: `(context, claims, preempt)`, and for each claim
    a function without arguments that returns its Outcome.

    Written as `module:name`, because it belongs to a package above this one; processes that only send or recover tasks
    never import it.
    """
    load: Callable[[Connection, Claim], Claimed | None] | None = None
    """Reads what is to be done, in the transaction of the claim. None: the task is no longer needed."""
    complete: Callable[[Connection, Claimed, Result], Ready | None] = _ready_none
    """Stores the result, in the transaction that ends the task; returns a task that is now ready, if any."""
    together: Together[Claimed, Result] | None = None
    """Instead of `load` and `complete`, for small tasks of which a message may name several."""
    exhausted: Callable[[Connection, Row[Any], Failure], None] = _fails_none
    """Fails or splits what waits for a task that has failed for good."""
    cost: ColumnElement[float] | Callable[[Settings], float] | None = None
    """The estimated seconds of a task, as a column or one number for all; None if it takes no place in the scheduler's
    window."""
    took: ColumnElement[Any] | None = None
    """The seconds that an ended task has computed, if its row keeps them; otherwise its time since the claim counts."""
    removable: Callable[[], ColumnElement[bool]] = true
    """Condition: a row that ended long ago may be deleted."""
    log_fields: Callable[[Connection, int], dict[str, Any]] = _no_fields
    """Log fields that say what a row works for, for processes that did not claim it."""
    columns: Callable[[Claimed, Result], Mapping[str, object]] = _no_columns
    """The columns of the row that keep a result."""
    detach: Callable[[Connection, list[int]], None] = _nothing_refers
    """Removes references to rows that are about to be deleted."""
    policy: Callable[[Settings], LeasePolicy] = queue_policy
    waits: Callable[[ColumnElement[int]], ColumnElement[bool]] | None = None
    """Condition for an edition: a pending row waits for another task, and is not sent."""
    retried_after_timeout: bool = True
    """False for tasks that would use up their time again, with the same texts."""
    repair: str | None = None
    """What a worker does after a run that has failed, outside any transaction: `(context, claim, error) -> None`, named
    as `run` is."""

    def __repr__(self) -> str:
        return f"TaskKind({self.name})"

    @property
    def title(self) -> str:
        """The name of one such task in logs."""
        return self.table.__name__

    @property
    def log_key(self) -> str:
        """The log field with the id of such a task."""
        return str(self.table.__tablename__)  # type: ignore[attr-defined]

    @cached_property
    def runner(self) -> Callable[[Any, Any, Callable[[], None]], Any]:
        """The function that `run` names, imported."""
        assert self.run is not None
        found: Callable[[Any, Any, Callable[[], None]], Any] = resolve_name(self.run)
        return found

    def runs(
        self, context: Any, claims: Sequence[Claimed], preempt: Callable[[], None]
    ) -> list[Callable[[], Outcome[Result]]]:
        """What runs each of the tasks."""
        if self.together is not None:
            return list(self.runner(context, claims, preempt))
        return [partial(self.runner, context, each, preempt) for each in claims]

    def repair_after(self, context: Any, claimed: Claimed, error: Exception) -> None:
        """Call the function that `repair` names."""
        if self.repair is not None:
            resolve_name(self.repair)(context, claimed, error)


@dataclass(frozen=True, slots=True)
class Completion:
    """The outcome of completing a task."""

    accepted: bool
    """False if another process had taken the task over."""
    ready: Ready | None = None
    """A pending task that became ready with this one."""


@dataclass(frozen=True, slots=True)
class Completions:
    """The outcome of completing several tasks."""

    accepted: Collection[int]
    """The ids of those that no other process had taken over."""
    ready: Sequence[Ready] = ()
    """Pending tasks that became ready with these."""


def claim(
    connection: Connection,
    kind: TaskKind[Claimed, Any],
    key: int,
    policy: LeasePolicy,
    *,
    owner: str,
    worker: str,
    edition: int | None = None,
) -> Claimed | None:
    """As `claim_several`, for one task."""
    claimed = claim_several(connection, kind, [key], policy, owner=owner, worker=worker, edition=edition)
    return claimed[0] if claimed else None


def claim_several(
    connection: Connection,
    kind: TaskKind[Claimed, Any],
    keys: Collection[int],
    policy: LeasePolicy,
    *,
    owner: str,
    worker: str,
    edition: int | None = None,
) -> list[Claimed]:
    """Claim tasks, but for those that another process holds, or that are no longer needed.

    With an `edition`, only tasks of this edition are claimed.
    """
    rows = claim_rows(
        connection,
        kind.table,
        keys,
        owner=owner,
        worker=worker,
        lease_seconds=policy.lease_seconds,
        max_attempts=policy.max_attempts,
        edition=edition,
    )
    if not rows:
        return []
    claims = [Claim(row.id, owner, row.attempts, row.trace, QueueClass(row.queue_class)) for row in rows]
    if kind.together is not None:
        loaded = kind.together.load(connection, claims)
    else:
        assert kind.load is not None
        loaded = [found for each in claims if (found := kind.load(connection, each)) is not None]
    if needless := {each.key for each in claims} - {each.key for each in loaded}:
        end(connection, kind.table, sorted(needless), LeaseState.CANCELLED, None)
    return loaded


def complete(connection: Connection, kind: TaskKind[Claimed, Result], claimed: Claimed, result: Result) -> Completion:
    """Store a result, if we still hold the task."""
    completions = complete_several(connection, kind, [(claimed, result)])
    return Completion(bool(completions.accepted), next(iter(completions.ready), None))


def complete_several(
    connection: Connection, kind: TaskKind[Claimed, Result], done: Sequence[tuple[Claimed, Result]]
) -> Completions:
    """Store the results of those tasks that we still hold. All of them were claimed together."""
    values = {claimed.key: kind.columns(claimed, result) for claimed, result in done}
    accepted = complete_rows(connection, kind.table, values, done[0][0].owner)
    ours = [each for each in done if each[0].key in accepted]
    if kind.together is not None:
        ready = kind.together.complete(connection, ours) if ours else []
    else:
        found = [kind.complete(connection, *each) for each in ours]
        ready = [each for each in found if each is not None]
    return Completions(accepted, ready)


def release(
    connection: Connection,
    kind: TaskKind[Any, Any],
    key: int,
    owner: str,
    reason: str,
    policy: LeasePolicy,
    *,
    permanent: bool = False,
) -> bool:
    """Release a task that failed; False if the owner no longer holds it.

    The task returns to pending after a delay. Without attempts left, or at once if the error is `permanent`, it fails,
    and the kind decides what that means for what waits for it.
    """
    row = connection.execute(select(kind.table).where(held_by(kind.table, key, owner)).with_for_update()).one_or_none()
    if row is None:
        return False
    if row.attempts < policy.max_attempts and not permanent:
        retry_later(connection, kind.table, key, reason=reason, delay_seconds=policy.delay(row.attempts))
        return True
    end(connection, kind.table, [key], LeaseState.FAILED, reason)
    kind.exhausted(connection, row, Failure(row.attempts, reason, permanent))
    return True


def give_up(connection: Connection, kind: TaskKind[Any, Any], key: int, policy: LeasePolicy) -> bool:
    """End a pending task without attempts left, as if the last attempt had failed now.

    False if it is no longer such a task.
    """
    table, owner = kind.table, uuid.uuid4().hex
    # A task that is held can be released, but no longer claimed.
    held = (
        update(table)
        .where(table.id == key, RETRIED, table.attempts >= policy.max_attempts)
        .values(state=LeaseState.RUNNING, owner=owner)
        .returning(table.error)
    )
    row = connection.execute(held).one_or_none()
    if row is None:
        return False
    reason = no_attempt_left(row.error, policy.setting, policy.max_attempts)
    return release(connection, kind, key, owner, reason, policy)


def found_fields(connection: Connection, kind: TaskKind[Any, Any], key: int) -> dict[str, Any]:
    """Log fields of a task that another process claimed: its id, what it works for, the attempt and the trace."""
    row = connection.execute(select(kind.table.attempts, kind.table.trace).where(kind.table.id == key)).one_or_none()
    found = {} if row is None else {"attempt": row.attempts, "trace_id": trace_id(row.trace)}
    return {kind.log_key: key, **kind.log_fields(connection, key), **found}
