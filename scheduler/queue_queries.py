"""What waits and what is in flight, read quickly however much waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    CTE,
    CompoundSelect,
    Connection,
    Double,
    Integer,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    select,
    union_all,
)

from models.queue.kinds.corpus_statistics_plan import unprepared_protocols
from models.queue.kinds.registry import KINDS
from models.queue.task_kind import TaskKind
from models.schema.base import now
from models.schema.queue import Leased, Shard
from models.schema.states import IN_FLIGHT, LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.fair_share import InFlight, Turn

WINDOWED: tuple[TaskKind[Any, Any], ...] = tuple(kind for kind in KINDS if kind.cost is not None)
"""What shares the window; where two are due at once the first goes first, since shards wait for preparations."""

MOST_TURNS = 100
"""Turns whose rows one statement reads: SQLite joins at most 500."""


@dataclass(frozen=True, slots=True)
class WaitingTask:
    """A row that may be sent."""

    kind: TaskKind[Any, Any]
    key: int
    turn: Turn
    """Its class is that in which the row is to be sent."""
    seconds: float
    """Estimated."""


def read_in_flight(connection: Connection, settings: Settings, edition: int) -> tuple[InFlight, set[Turn]]:
    """What is in flight of an edition, and whose it is."""
    turns = connection.execute(_in_flight(), {"edition": edition, **_guesses(settings)}).all()
    held = InFlight(
        tasks=sum(row.tasks for row in turns),
        seconds=sum(row.seconds for row in turns),
    )
    return held, {(row.queue_class, row.team) for row in turns}


def read_turns(connection: Connection) -> list[tuple[TaskKind[Any, Any], Turn]]:
    """The classes and teams of which something waits, with the kind of which it does.

    Each is found by a step in the index, so that it does not matter how much there is of each.
    """
    return [(WINDOWED[row.number], (row.queue_class, row.team)) for row in connection.execute(_turns())]


def read_waiting(
    connection: Connection,
    turns: Sequence[tuple[TaskKind[Any, Any], Turn]],
    most: int,
    settings: Settings,
    edition: int,
) -> Mapping[Turn, list[WaitingTask]]:
    """Of each of these at most so many rows of an edition that may be sent now, in the order in which they should be.

    The earliest due goes first, then what is due at no time; among those the oldest. What is due within
    `settings.urgent_seconds` is in the next higher class.
    """
    found: defaultdict[Turn, list[tuple[tuple[float, int, int], WaitingTask]]] = defaultdict(list)
    for begin in range(0, len(turns), MOST_TURNS):
        chosen = turns[begin : begin + MOST_TURNS]
        values: dict[str, Any] = {"most": most, "urgent_seconds": settings.urgent_seconds, "edition": edition}
        values |= _guesses(settings)
        for place, (_, (queue_class, team)) in enumerate(chosen):
            values |= {f"class_{place}": queue_class, f"team_{place}": team}
        for row in connection.execute(_ready(tuple(kind for kind, _ in chosen)), values):
            due = float("inf") if row.due_at is None else row.due_at
            waiting = WaitingTask(WINDOWED[row.number], row.id, (row.queue_class, row.team), row.seconds)
            found[waiting.turn].append(((due, row.number, row.id), waiting))
    return {turn: [waiting for _, waiting in sorted(rows, key=lambda row: row[0])] for turn, rows in found.items()}


# Building a statement takes longer than asking it, and these are asked at every tick.
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
def _turns() -> CompoundSelect[Any]:
    found = [_turns_of(number, kind.table) for number, kind in enumerate(WINDOWED)]
    return union_all(
        *(
            select(literal(number, Integer).label("number"), turns.c.queue_class, turns.c.team).where(
                turns.c.team.is_not(None)
            )
            for number, turns in enumerate(found)
        )
    )


@lru_cache(maxsize=64)
def _ready(kinds: tuple[TaskKind[Any, Any], ...]) -> CompoundSelect[Any]:
    """The rows of so many turns: class and team of each are given as parameters, called by its place."""
    return union_all(*(_ready_of_turn(place, kind) for place, kind in enumerate(kinds)))


def _ready_of_turn(place: int, kind: TaskKind[Any, Any]) -> Select[Any]:
    table = kind.table
    conditions: list[Any] = [
        table.state == LeaseState.PENDING,
        table.queue_class == bindparam(f"class_{place}", type_=Integer),
        table.team == bindparam(f"team_{place}", type_=String),
        table.not_before <= now(),
        table.edition == bindparam("edition", type_=Integer),
    ]
    if table is Shard:
        # As a rule they are not found at all (`NOT_YET`), but programs of the release before queue, too.
        conditions.append(Shard.protocol_id.not_in(unprepared_protocols(bindparam("edition", type_=Integer))))
    rows = (
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
        .subquery()
    )
    return select(rows)


def _turns_of(number: int, table: type[Leased]) -> CTE:
    """(queue_class, team), with a team of NULL where there is no further one."""
    classes = union_all(*(select(literal(int(each), Integer).label("queue_class")) for each in QueueClass)).subquery()

    def first_team(queue_class: Any, *conditions: Any) -> Any:
        return (
            select(func.min(table.team, type_=String))
            .where(table.state == LeaseState.PENDING, table.queue_class == queue_class, *conditions)
            .scalar_subquery()
            .label("team")
        )

    first = first_team(classes.c.queue_class)
    turns = select(classes.c.queue_class, first).cte(f"turns_{number}", recursive=True)
    following = first_team(turns.c.queue_class, table.team > turns.c.team)
    return turns.union_all(select(turns.c.queue_class, following).where(turns.c.team.is_not(None)))


def urgent_class(table: type[Leased], urgent_seconds: Any) -> Any:
    """The class in which a row is to be sent: the next higher one when it is due soon."""
    urgent = (table.due_at < now() + urgent_seconds) & (table.queue_class > int(QueueClass.INTERACTIVE))
    return case((urgent, table.queue_class - 1), else_=table.queue_class)


def _seconds(kind: TaskKind[Any, Any]) -> Any:
    # A parameter, since these statements outlast the settings.
    return bindparam(f"seconds_{kind.name}", type_=Double) if callable(kind.cost) else kind.cost


def _guesses(settings: Settings) -> dict[str, float]:
    return {f"seconds_{kind.name}": kind.cost(settings) for kind in WINDOWED if callable(kind.cost)}


def keys_by_kind(rows: Iterable[tuple[TaskKind[Any, Any], int]]) -> dict[TaskKind[Any, Any], list[int]]:
    """The ids of rows, kind by kind."""
    found: dict[TaskKind[Any, Any], list[int]] = {}
    for kind, key in rows:
        found.setdefault(kind, []).append(key)
    return found
