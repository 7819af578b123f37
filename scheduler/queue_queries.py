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

from models.queue.corpus_statistics_plan import unprepared_protocols
from models.schema.base import now
from models.schema.queue import Leased, Preparation, Shard, Trials
from models.schema.states import IN_FLIGHT, LeaseState, QueueClass
from scheduler.fair_share import InFlight, Turn

WORK: Sequence[type[Leased]] = (Preparation, Shard, Trials)
"""What shares the window; where two are due at once the first goes first, since shards wait for preparations."""

Guesses = Mapping[type[Leased], float]
"""How many seconds a row takes, for tables that do not know it. It is put right when the row has ended."""

MOST_TURNS = 100
"""Turns whose rows one statement reads: SQLite joins at most 500."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that may be sent."""

    table: type[Leased]
    key: int
    turn: Turn
    """Its class is that in which the row is to be sent."""
    seconds: float
    """Estimated."""


def read_in_flight(connection: Connection, guesses: Guesses, edition: int) -> tuple[InFlight, set[Turn]]:
    """What is in flight of an edition, and whose it is."""
    turns = connection.execute(_in_flight(), {"edition": edition, **_guessed(guesses)}).all()
    held = InFlight(
        tasks=sum(row.tasks for row in turns),
        seconds=sum(row.seconds for row in turns),
    )
    return held, {(row.queue_class, row.team) for row in turns}


def read_turns(connection: Connection) -> list[tuple[type[Leased], Turn]]:
    """The classes and teams of which something waits, with the table where it does.

    Each is found by a step in the index, so that it does not matter how much there is of each.
    """
    return [(WORK[row.number], (row.queue_class, row.team)) for row in connection.execute(_turns())]


def read_waiting(
    connection: Connection,
    turns: Sequence[tuple[type[Leased], Turn]],
    most: int,
    guesses: Guesses,
    urgent_seconds: float,
    edition: int,
) -> Mapping[Turn, list[Waiting]]:
    """Of each of these at most so many rows of an edition that may be sent now, in the order in which they should be.

    The earliest due goes first, then what is due at no time; among those the oldest. What is due within
    `urgent_seconds` is in the next higher class.
    """
    found: defaultdict[Turn, list[tuple[tuple[float, int, int], Waiting]]] = defaultdict(list)
    for begin in range(0, len(turns), MOST_TURNS):
        chosen = turns[begin : begin + MOST_TURNS]
        values: dict[str, Any] = {"most": most, "urgent_seconds": urgent_seconds, "edition": edition}
        values |= _guessed(guesses)
        for place, (_, (queue_class, team)) in enumerate(chosen):
            values |= {f"class_{place}": queue_class, f"team_{place}": team}
        for row in connection.execute(_ready(tuple(table for table, _ in chosen)), values):
            due = float("inf") if row.due_at is None else row.due_at
            waiting = Waiting(WORK[row.number], row.id, (row.queue_class, row.team), row.seconds)
            found[waiting.turn].append(((due, row.number, row.id), waiting))
    return {turn: [waiting for _, waiting in sorted(rows, key=lambda row: row[0])] for turn, rows in found.items()}


# Building a statement takes longer than asking it, and these are asked at every tick.
@cache
def _in_flight() -> Select[Any]:
    rows = union_all(
        *(
            select(
                table.queue_class.label("queue_class"),
                table.team.label("team"),
                _seconds(table).label("seconds"),
            ).where(table.state.in_(IN_FLIGHT), table.edition == bindparam("edition", type_=Integer))
            for table in WORK
        )
    ).subquery()
    return select(
        rows.c.queue_class, rows.c.team, func.count().label("tasks"), func.sum(rows.c.seconds).label("seconds")
    ).group_by(rows.c.queue_class, rows.c.team)


@cache
def _turns() -> CompoundSelect[Any]:
    found = [_turns_of(*numbered) for numbered in enumerate(WORK)]
    return union_all(
        *(
            select(literal(number, Integer).label("number"), turns.c.queue_class, turns.c.team).where(
                turns.c.team.is_not(None)
            )
            for number, turns in enumerate(found)
        )
    )


@lru_cache(maxsize=64)
def _ready(tables: tuple[type[Leased], ...]) -> CompoundSelect[Any]:
    """The rows of so many turns: class and team of each are given as parameters, called by its place."""
    return union_all(*(_ready_of_turn(place, table) for place, table in enumerate(tables)))


def _ready_of_turn(place: int, table: type[Leased]) -> Select[Any]:
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
            literal(WORK.index(table), Integer).label("number"),
            table.id.label("id"),
            urgent_class(table, bindparam("urgent_seconds", type_=Double)).label("queue_class"),
            table.team.label("team"),
            table.due_at.label("due_at"),
            _seconds(table).label("seconds"),
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


def _seconds(table: type[Leased]) -> Any:
    return Shard.cost if table is Shard else bindparam(f"guess_{WORK.index(table)}", type_=Double)


def _guessed(guesses: Guesses) -> dict[str, float]:
    return {f"guess_{WORK.index(table)}": seconds for table, seconds in guesses.items()}


def keys_by_table(rows: Iterable[tuple[type[Leased], int]]) -> dict[type[Leased], list[int]]:
    """The ids of rows, table by table."""
    found: dict[type[Leased], list[int]] = {}
    for table, key in rows:
        found.setdefault(table, []).append(key)
    return found
