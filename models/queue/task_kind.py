"""What a kind of leased task is, and the one way in which all of them are claimed, completed and released.

Each function is one short transaction's worth of work on the connection it gets. docs/tasks.md shows how to add a
kind.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, select, true, update
from sqlalchemy.orm import InstrumentedAttribute

from models.queue.lease import end, finish, held_by, no_attempt_left, retry_later, take
from models.schema.queue import RETRIED, Leased
from models.schema.states import Fault, LeaseState
from runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Claim:
    """A task that is ours until its lease is over."""

    key: int
    """The id of its row."""
    owner: str
    """The fencing token, new at each claim."""
    attempt: int
    """Which attempt this is, the first being 1."""

    @property
    def identity(self) -> tuple[int, str, int]:
        """For the claim of a kind, which adds what is to be done."""
        return self.key, self.owner, self.attempt

    def log_fields(self) -> dict[str, Any]:
        """For whom the work is done, as logs tell it."""
        return {}


Claimed = TypeVar("Claimed", bound=Claim)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LeasePolicy:
    """How long a task may be held, how often it is tried, and how long it waits in between."""

    lease_seconds: float
    max_attempts: int
    delay: Callable[[int], float]
    """The seconds to wait after so many attempts."""
    setting: str = "STEELYARD_MAX_ATTEMPTS"
    """What an operator changes to allow more attempts."""


def queue_policy(settings: Settings) -> LeasePolicy:
    """That of all tasks for which people wait: the delay grows with each attempt."""
    return LeasePolicy(
        settings.lease_seconds, settings.max_attempts, lambda attempts: settings.retry_seconds * attempts
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task has failed for good."""

    attempts: int
    reason: str
    permanent: bool
    """Whether the error comes again whoever tries."""

    def told(self, what: str) -> str:
        """The reason for people, after a clause that says what could not be done."""
        tries = f"tried {self.attempts} times" if self.attempts > 1 else "tried once"
        return f"{what} ({tries}): {self.reason}"

    @property
    def fault(self) -> Fault:
        """Whose fault it is: what comes again whoever tries is that of the input."""
        return Fault.INPUT if self.permanent else Fault.PLATFORM


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """What a task has computed."""

    result: Result
    report: Callable[[float], Mapping[str, object]] = lambda _: {}
    """Called once the result is stored, with the seconds since the claim: counts it, and gives what the log says."""


def _no_columns(_claim: Any, _result: Any) -> Mapping[str, object]:
    return {}


def _no_fields(_connection: Connection, _key: int) -> dict[str, Any]:
    return {}


def _nothing_refers(_connection: Connection, _keys: list[int]) -> None:
    pass


@dataclass(frozen=True, eq=False, repr=False)
class TaskKind(Generic[Claimed, Result]):
    """A kind of leased task. Its locks are taken in the order: its row, then what it works for."""

    name: str
    """What metrics and `steelyard status` call such tasks, in the plural."""
    table: type[Leased]
    message: str | None
    """The name of the message by which workers hear of one; None where the scheduler does them itself."""
    run: str | None
    """The function with which workers do it outside any transaction: `(context, claim, give_way) -> Outcome`.

    As `module:name`, because it lies in a room above this one; whoever only sends or recovers tasks never imports it.
    """
    load: Callable[[Connection, Claim], Claimed | None]
    """Reads what is to be done, in the transaction of the claim. None: nobody needs it any more."""
    complete: Callable[[Connection, Claimed, Result], tuple[TaskKind[Any, Any], int] | None]
    """Stores the result, in the transaction that ends the task; a task that is ready by it, if any."""
    exhausted: Callable[[Connection, Row[Any], Failure], None]
    """Fails or splits what waits for a row that has failed for good."""
    cost: ColumnElement[float] | InstrumentedAttribute[float] | Callable[[Settings], float] | None = None
    """The estimated seconds of a task, a column of it or one number for all; None where it takes no place in the
    scheduler's window."""
    removable: Callable[[], ColumnElement[bool]] = true
    """Of a row that ended long ago, whether it may be deleted."""
    log_fields: Callable[[Connection, int], dict[str, Any]] = _no_fields
    """For whom a row is worked on, as logs tell it, for those who did not claim it."""
    columns: Callable[[Claimed, Result], Mapping[str, object]] = _no_columns
    """What the row itself keeps of a result."""
    detach: Callable[[Connection, list[int]], None] = _nothing_refers
    """Frees rows that are to be deleted from what refers to them."""
    policy: Callable[[Settings], LeasePolicy] = queue_policy

    def __repr__(self) -> str:
        return f"TaskKind({self.name})"

    @property
    def title(self) -> str:
        """What logs call one of them."""
        return self.table.__name__

    @cached_property
    def runner(self) -> Callable[[Any, Claimed, Callable[[], None]], Outcome[Result]]:
        """The function that `run` names, imported."""
        assert self.run is not None
        found: Callable[[Any, Claimed, Callable[[], None]], Outcome[Result]] = resolve_name(self.run)
        return found


@dataclass(frozen=True, slots=True)
class Completion:
    """What came of handing in a result."""

    accepted: bool
    """False when somebody else had taken the task over."""
    ready: tuple[TaskKind[Any, Any], int] | None = None
    """A pending task that this one was the last to be waited for by."""


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
    """Try to become the one who does a task; None when somebody else does, or nobody needs it.

    With an `edition` only a task of that one is taken.
    """
    attempt = take(
        connection,
        kind.table,
        key,
        owner=owner,
        worker=worker,
        lease_seconds=policy.lease_seconds,
        max_attempts=policy.max_attempts,
        edition=edition,
    )
    if attempt is None:
        return None
    claimed = kind.load(connection, Claim(key, owner, attempt))
    if claimed is None:
        end(connection, kind.table, [key], LeaseState.CANCELLED, None)
    return claimed


def complete(connection: Connection, kind: TaskKind[Claimed, Result], claimed: Claimed, result: Result) -> Completion:
    """Hand in what was computed, if the task is still ours."""
    if not finish(connection, kind.table, claimed.key, claimed.owner, **kind.columns(claimed, result)):
        return Completion(accepted=False)
    return Completion(accepted=True, ready=kind.complete(connection, claimed, result))


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
    """Take a task from an owner that could not finish it; False when it was not his any more.

    It goes back to pending after a delay. Out of attempts, or at once when the error is `permanent`, it fails, and
    the kind says what that means for those who wait for it.
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
    """End a task that waits although its attempts are used up, as if the last one had failed now.

    False when it is not such a task any more.
    """
    table, owner = kind.table, uuid.uuid4().hex
    # Who holds it can release it, and nobody can claim it any more.
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
    """What logs tell of a task that somebody else has claimed: its id, for whom it is done, which attempt it is."""
    attempt = connection.scalar(select(kind.table.attempts).where(kind.table.id == key))
    return {kind.title.lower(): key, **kind.log_fields(connection, key), "attempt": attempt}
