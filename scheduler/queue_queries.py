"""Queries for waiting and in-flight work whose cost does not depend on how much waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    CTE,
    CompoundSelect,
    Connection,
    Double,
    Integer,
    Select,
    String,
    bindparam,
    case,
    column,
    func,
    literal,
    select,
    true,
    union_all,
)

from models.queue.kinds.registry import KINDS
from models.queue.task_kind import TaskKind
from models.schema.base import now
from models.schema.queue import Leased
from models.schema.states import IN_FLIGHT, LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.fair_share import FairShareKey, InFlight

WINDOWED: tuple[TaskKind[Any, Any], ...] = tuple(kind for kind in KINDS if kind.cost is not None)
"""The kinds that share the window; at equal due times the first goes first, since shards wait for corpus statistics."""

MAX_KEYS = 100
"""Classes and teams per statement: SQLite joins at most 500."""


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """A row that may be sent."""

    kind: TaskKind[Any, Any]
    key: int
    share_key: FairShareKey
    """With the class in which the row is to be sent."""
    seconds: float
    """Estimated."""


def read_in_flight(connection: Connection, settings: Settings, edition: int) -> tuple[InFlight, set[FairShareKey]]:
    """The work in flight of an edition, and its classes and teams."""
    share_keys = connection.execute(_in_flight(), {"edition": edition, **_estimates(settings)}).all()
    held = InFlight(
        tasks=sum(row.tasks for row in share_keys),
        seconds=sum(row.seconds for row in share_keys),
    )
    return held, {(row.queue_class, row.team) for row in share_keys}


def read_waiting_keys(connection: Connection) -> list[tuple[TaskKind[Any, Any], FairShareKey]]:
    """The classes and teams with waiting work, and its kinds.

    Each is found by one step in an index, whatever the amount of work.
    """
    return [(WINDOWED[row.number], (row.queue_class, row.team)) for row in connection.execute(_waiting_keys())]


def read_waiting(
    connection: Connection,
    share_keys: Sequence[tuple[TaskKind[Any, Any], FairShareKey]],
    most: int,
    settings: Settings,
    edition: int,
) -> Mapping[FairShareKey, list[WaitingTask]]:
    """The next rows of an edition that may be sent, at most `most` for each class and team, in order.

    The earliest due time goes first, rows without one last; then the oldest. Rows due within `settings.urgent_seconds`
    count in the next higher class.
    """
    found: defaultdict[FairShareKey, list[tuple[tuple[float, int, int], WaitingTask]]] = defaultdict(list)
    common = {"most": most, "urgent_seconds": settings.urgent_seconds, "edition": edition, **_estimates(settings)}
    statements = _ready_at_once if connection.dialect.name == "postgresql" else _ready_one_by_one
    for statement, values in statements(share_keys):
        for row in connection.execute(statement, common | values):
            due = float("inf") if row.due_at is None else row.due_at
            waiting = WaitingTask(WINDOWED[row.number], row.id, (row.queue_class, row.team), row.seconds)
            found[waiting.share_key].append(((due, row.number, row.id), waiting))
    return {
        share_key: [waiting for _, waiting in sorted(rows, key=lambda row: row[0])] for share_key, rows in found.items()
    }


# Built once: building a statement takes longer than running it, and these run at every tick.
@cache
def _in_flight() -> Select[Any]:
    rows = union_all(
        *(
            select(
                kind.table.queue_class.label("queue_class"),
                kind.table.team.label("team"),
                _seconds(kind).label("seconds"),
            ).where(kind.table.state.in_(IN_FLIGHT), kind.table.edition == bindparam("edition", type_=Integer))
            for kind in WINDOWED
        )
    ).subquery()
    return select(
        rows.c.queue_class, rows.c.team, func.count().label("tasks"), func.sum(rows.c.seconds).label("seconds")
    ).group_by(rows.c.queue_class, rows.c.team)


@cache
def _waiting_keys() -> CompoundSelect[Any]:
    found = [_keys_of(number, kind.table) for number, kind in enumerate(WINDOWED)]
    return union_all(
        *(
            select(literal(number, Integer).label("number"), share_keys.c.queue_class, share_keys.c.team).where(
                share_keys.c.team.is_not(None)
            )
            for number, share_keys in enumerate(found)
        )
    )


ShareKeys = Sequence[tuple[TaskKind[Any, Any], FairShareKey]]
Statements = Iterator[tuple[CompoundSelect[Any], dict[str, Any]]]
"""Statements with their parameters."""


def _ready_at_once(share_keys: ShareKeys) -> Statements:
    """One statement, however many classes and teams there are: PostgreSQL would plan the part of each."""
    by_kind: defaultdict[TaskKind[Any, Any], list[FairShareKey]] = defaultdict(list)
    for kind, share_key in share_keys:
        by_kind[kind].append(share_key)
    if by_kind:
        values: dict[str, Any] = {}
        for kind, some in by_kind.items():
            values[f"classes_{kind.name}"] = [queue_class for queue_class, _ in some]
            values[f"teams_{kind.name}"] = [team for _, team in some]
        yield _ready_of_kinds(tuple(by_kind)), values


@cache
def _ready_of_kinds(kinds: tuple[TaskKind[Any, Any], ...]) -> CompoundSelect[Any]:
    return union_all(*(_ready_of_kind(kind) for kind in kinds))


def _ready_of_kind(kind: TaskKind[Any, Any]) -> Select[Any]:
    """The rows of several classes and teams, which are two arrays."""
    classes = bindparam(f"classes_{kind.name}", type_=ARRAY(Integer))
    teams = bindparam(f"teams_{kind.name}", type_=ARRAY(String))
    share_keys = (
        func.unnest(classes, teams)
        .table_valued(column("queue_class", Integer), column("team", String), name=f"keys_of_{kind.name}")
        .render_derived()
    )
    rows = _ready_of_key(kind, share_keys.c.queue_class, share_keys.c.team).lateral()
    return select(rows).select_from(share_keys.join(rows, true()))


def _ready_one_by_one(share_keys: ShareKeys) -> Statements:
    """A part of a statement for each class and team: SQLite has no lateral joins."""
    for begin in range(0, len(share_keys), MAX_KEYS):
        chosen = share_keys[begin : begin + MAX_KEYS]
        values: dict[str, Any] = {}
        for place, (_, (queue_class, team)) in enumerate(chosen):
            values |= {f"class_{place}": queue_class, f"team_{place}": team}
        yield _ready(tuple(kind for kind, _ in chosen)), values


@lru_cache(maxsize=64)
def _ready(kinds: tuple[TaskKind[Any, Any], ...]) -> CompoundSelect[Any]:
    """The rows of several classes and teams, which are parameters named by position."""
    return union_all(
        *(
            select(
                _ready_of_key(
                    kind, bindparam(f"class_{place}", type_=Integer), bindparam(f"team_{place}", type_=String)
                ).subquery()
            )
            for place, kind in enumerate(kinds)
        )
    )


def _ready_of_key(kind: TaskKind[Any, Any], queue_class: Any, team: Any) -> Select[Any]:
    """The next rows of one class and team."""
    table = kind.table
    conditions: list[Any] = [
        table.state == LeaseState.PENDING,
        table.queue_class == queue_class,
        table.team == team,
        table.not_before <= now(),
        table.edition == bindparam("edition", type_=Integer),
    ]
    if kind.waits is not None:
        conditions.append(~kind.waits(bindparam("edition", type_=Integer)))
    return (
        select(
            literal(WINDOWED.index(kind), Integer).label("number"),
            table.id.label("id"),
            urgent_class(table, bindparam("urgent_seconds", type_=Double)).label("queue_class"),
            table.team.label("team"),
            table.due_at.label("due_at"),
            _seconds(kind).label("seconds"),
        )
        .where(*conditions)
        .order_by(table.due_at.asc().nulls_last(), table.id)
        .limit(bindparam("most", type_=Integer))
    )


def _keys_of(number: int, table: type[Leased]) -> CTE:
    """(queue_class, team), with a team of NULL after the last one."""
    classes = union_all(*(select(literal(int(each), Integer).label("queue_class")) for each in QueueClass)).subquery()

    def first_team(queue_class: Any, *conditions: Any) -> Any:
        return (
            select(func.min(table.team, type_=String))
            .where(table.state == LeaseState.PENDING, table.queue_class == queue_class, *conditions)
            .scalar_subquery()
            .label("team")
        )

    first = first_team(classes.c.queue_class)
    share_keys = select(classes.c.queue_class, first).cte(f"keys_{number}", recursive=True)
    following = first_team(share_keys.c.queue_class, table.team > share_keys.c.team)
    return share_keys.union_all(select(share_keys.c.queue_class, following).where(share_keys.c.team.is_not(None)))


def urgent_class(table: type[Leased], urgent_seconds: Any) -> Any:
    """The class in which a row is to be sent: the next higher one if it is due soon."""
    urgent = (table.due_at < now() + urgent_seconds) & (table.queue_class > int(QueueClass.INTERACTIVE))
    return case((urgent, table.queue_class - 1), else_=table.queue_class)


def _seconds(kind: TaskKind[Any, Any]) -> Any:
    # A parameter, since these statements outlive the settings.
    return bindparam(f"seconds_{kind.name}", type_=Double) if callable(kind.cost) else kind.cost


def _estimates(settings: Settings) -> dict[str, float]:
    return {f"seconds_{kind.name}": kind.cost(settings) for kind in WINDOWED if callable(kind.cost)}


def keys_by_kind(rows: Iterable[tuple[TaskKind[Any, Any], int]]) -> dict[TaskKind[Any, Any], list[int]]:
    """The ids of rows by kind."""
    found: dict[TaskKind[Any, Any], list[int]] = {}
    for kind, key in rows:
        found.setdefault(kind, []).append(key)
    return found
