"""A leaderboard is read for pages, and for whoever has the database: both say the same of each system and its runs."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from campaigns.leaderboards.view import BoardQuery, Boards
from models.database.session import reading
from models.results.boards import list_boards
from models.results.leaderboard import read_leaderboard
from models.schema.roles import DeclaredKind
from steelyard_client.vocabulary import SystemFilter
from tests.service.scored_campaigns import Scored

if TYPE_CHECKING:
    from tests.service.service import Service

FIRST = ("team", "system", "runs", "submissions", "evaluations", "state", "reason", "runs_done", "kind", "constrained")
SAME = (*FIRST, "late_seconds", "ranked", "twice", "origin")


def fill(scored: Scored, draw: Random) -> dict[int, dict[str, Any]]:
    """Systems of three teams and of none, with one, two or three runs; what was declared, by submission."""
    said: dict[int, dict[str, Any]] = {}
    of_team: dict[str, list[int]] = {}
    for number in range(14):
        team, system = draw.choice(("", "harbour", "guests", "gulls")), draw.choice(("mast", "keel"))
        runs = draw.choice(([""], [""], ["1", "2"], ["1", "2", "3"]))
        for run in runs:
            values: dict[str, Any] = {"late_seconds": draw.choice((0.0, 5.0, 60.0))}
            values["constrained"] = draw.choice((None, True, True, False))
            values["kind"] = draw.choice((DeclaredKind.UNDECLARED, DeclaredKind.CONTRASTIVE))
            state = draw.choice(("done", "done", "done", "failed", "queued"))
            score, ter = draw.choice((None, 10.0, 20.0, 20.0)), float(draw.randrange(40, 60))
            key = scored.add(team, system, score, ter=ter, run=run, state=state, text=f"{number} {run}", **values)
            said[key] = values if team else {"late_seconds": 0.0, "constrained": None}
            of_team.setdefault(team, []).append(key)
    for team in ("harbour", "gulls"):
        primary = draw.choice(of_team[team])
        scored.declare(primary, kind=DeclaredKind.PRIMARY)
    return said


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_both_readers_say_the_same(service: Service, seed: int) -> None:
    scored = Scored(service)
    said = fill(scored, Random(seed))
    boards = Boards(service.engine, 2**20)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
        for metric in range(2):
            rows = read_leaderboard(connection, listed.protocol_id, sort_metric=metric)
            view = boards.view(connection, listed, BoardQuery(metric, SystemFilter.ALL))
            entries = {each.submissions: each for each in view.snapshot.entries}
            assert {row.submissions for row in rows} == entries.keys()
            ranks = {line.entry.submissions: line.rank for line in view.lines}
            for row in rows:
                entry = entries[row.submissions]
                assert {name: getattr(entry, name) for name in SAME} == {name: getattr(row, name) for name in SAME}
                late = [said[each]["late_seconds"] for each in row.submissions]
                assert entry.late_seconds == max(late)
                constrained = {said[each]["constrained"] for each in row.submissions}
                assert entry.constrained == (False if False in constrained else True if constrained == {True} else None)
                assert [score.score for score in entry.scores] == [score.score for score in row.scores]
                if row.scores:
                    assert ranks[row.submissions] == row.scores[metric].rank
            shown = [line.entry.submissions for line in view.lines]
            scored_rows = [row for row in rows if row.scores and row.scores[metric].score is not None]
            assert [each for each in shown if each in {row.submissions for row in scored_rows}] == [
                row.submissions for row in scored_rows
            ]
