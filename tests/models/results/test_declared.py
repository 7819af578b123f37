"""Rows of a leaderboard whose runs differ in what is declared of them, and systems that somebody chooses."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.results.leaderboard import (
    read_leaderboard,
    read_measured_entries,
    read_selected_systems,
    state_of_runs,
)
from models.schema.campaigns import Campaign
from models.schema.column_types import read_as
from models.schema.corpus import Protocol, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import DeclaredKind, SystemOrigin
from models.schema.states import EvaluationState
from models.schema.systems import SystemDescription
from models.storage.arrays import pack
from tests.models.results.scored_runs import declare, set_state, with_runs


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


@pytest.mark.parametrize("score", [90.0, 40.0, 10.0, None])
def test_what_is_not_ranked_takes_no_rank_from_others(engine: Engine, sqlite_url: str, score: float | None) -> None:
    """Nor does it count for how others are placed, whether it is better, as good or worse."""
    protocol = with_runs(engine, sqlite_url, {("anna", ""): [40.0], ("bert", ""): [score], ("carl", ""): [20.0]})
    with writing(engine) as connection:
        connection.execute(update(System).values(team="harbour").where(System.name == "bert"))
    declare(engine, {("bert", ""): {"kind": DeclaredKind.CONTRASTIVE}})
    with reading(engine) as connection:
        rows = {row.system: row for row in read_leaderboard(connection, protocol)}
    assert {name: row.ranked for name, row in rows.items()} == {"anna": True, "bert": False, "carl": True}
    assert {name: row.scores[0].rank for name, row in rows.items()} == {"anna": 1, "bert": None, "carl": 2}


@pytest.mark.parametrize("late", [(0.0, 60.0, 5.0), (60.0, 0.0, None), (None, None, 7.5), (None, None, None)])
def test_a_system_is_as_late_as_the_latest_of_its_runs(
    engine: Engine, sqlite_url: str, late: tuple[float | None, ...]
) -> None:
    runs = {("anna", str(number)): [40.0] for number in range(len(late))}
    protocol = with_runs(engine, sqlite_url, runs)
    said = {key: {"late_seconds": each} for key, each in zip(runs, late, strict=True) if each is not None}
    declare(engine, said)
    with reading(engine) as connection:
        (row,) = read_leaderboard(connection, protocol)
    assert row.late_seconds == max(each or 0.0 for each in late)


@pytest.mark.parametrize("declared", [True, False, None])
@pytest.mark.parametrize("described", [True, False, None])
def test_what_a_team_declares_of_an_output_counts_more_than_the_description_of_its_system(
    engine: Engine, sqlite_url: str, declared: bool | None, described: bool | None
) -> None:
    protocol = with_runs(engine, sqlite_url, {("anna", ""): [40.0], ("bert", ""): [30.0]})
    declare(engine, {("anna", ""): {"constrained": declared}})
    with writing(engine) as connection:
        values = {"campaign_id": connection.scalar(select(Campaign.id)), "constrained": described}
        anna = connection.scalar(select(System.id).where(System.name == "anna"))
        connection.execute(insert(SystemDescription).values(system_id=anna, origin=SystemOrigin.ONLINE, **values))
        rows = read_leaderboard(connection, protocol)
    assert [(row.constrained, row.origin) for row in rows] == [
        (described if declared is None else declared, SystemOrigin.ONLINE),
        (None, SystemOrigin.TEAM),
    ]


def test_the_reason_is_that_of_the_least_advanced_run(engine: Engine, sqlite_url: str) -> None:
    """Each of its runs may have one, of an earlier attempt for example."""
    protocol = with_runs(engine, sqlite_url, {("anna", "1"): [40.0], ("anna", "2"): "too long", ("anna", "3"): ""})
    with writing(engine) as connection:
        states = connection.execute(select(Evaluation.id, Evaluation.state).order_by(Evaluation.id)).all()
        assert [row.state for row in states] == ["done", "failed", "queued"]
        set_state(connection, states[0].id, "done", "it was tried again")
        (row,) = read_leaderboard(connection, protocol)
    assert (row.state, row.reason, row.runs_done) == ("failed", "too long", 1)


def test_chosen_runs_stay_in_their_order(engine: Engine, sqlite_url: str) -> None:
    """As somebody has named them: what is told of each run is told in that order."""
    found = {("anna", "1"): [40.0, 1.0], ("anna", "2"): [20.0, 2.0], ("anna", "3"): [30.0, 3.0]}
    protocol = with_runs(engine, sqlite_url, found)
    with reading(engine) as connection:
        (row,) = read_leaderboard(connection, protocol)
        chosen = [row.evaluations[place] for place in (2, 0, 1)]
        (again,) = read_selected_systems(connection, protocol, [chosen])
    assert list(again.evaluations) == chosen
    assert again.scores[0].run_scores == (30.0, 40.0, 20.0)
    assert again.scores[0].run_replicate_scores[:, 0].tolist() == [3.0, 1.0, 2.0]


def test_autorank_is_of_the_ranked_systems_alone(engine: Engine, sqlite_url: str) -> None:
    """Whatever stands between them: what is not ranked has none, and moves no other. It goes up to N + 1 in WMT24."""
    found = {("bert", ""): [90.0, 9.0], ("anna", ""): [40.0, 1.0], ("dora", ""): [], ("carl", ""): [20.0, 2.0]}
    protocol = with_runs(engine, sqlite_url, {key: each or "too long" for key, each in found.items()})
    declare(engine, {("bert", ""): {"kind": DeclaredKind.CONTRASTIVE}})
    with writing(engine) as connection:
        connection.execute(update(System).values(team="harbour").where(System.name == "bert"))
        connection.execute(update(Protocol).values(metrics=["bleu", "autorank:rule=wmt24:of=1"]))
        for values in [row._asdict() for row in connection.execute(select(Score))]:
            undefined = {"metric": 1, "score": None, "higher_is_better": False, "replicate_scores": pack(np.ones(1))}
            connection.execute(insert(Score).values({**values, **undefined}))
        rows = {row.system: row for row in read_leaderboard(connection, protocol, sort_metric=1)}
    assert list(rows) == ["anna", "carl", "bert", "dora"]
    columns = {name: row.scores[1] for name, row in rows.items() if row.scores}
    assert {name: (each.score, each.rank) for name, each in columns.items()} == {
        "anna": (1.0, 1),
        "carl": (3.0, 2),
        "bert": (None, None),
    }
    assert [columns[name].replicate_scores.tolist() for name in ("anna", "carl")] == [[3.0], [1.0]]


@pytest.mark.parametrize("of_organisers", [True, False])
def test_chosen_submissions_are_ranked_each_as_a_row_of_its_own(
    engine: Engine, sqlite_url: str, of_organisers: bool
) -> None:
    """Runs of one system, contrastive outputs and withdrawn ones; AutoRank is of whole leaderboards alone."""
    found = {
        ("anna", "1"): [40.0, 1.0],
        ("anna", "2"): [20.0, 1.0],
        ("bert", ""): [30.0, 1.0],
        ("carl", ""): [9.0, 1.0],
    }
    protocol = with_runs(engine, sqlite_url, found)
    said = {("anna", "2"): {"kind": DeclaredKind.CONTRASTIVE}, ("bert", ""): {"withdrawn_at": 1.0}}
    declare(engine, said)
    with writing(engine) as connection:
        connection.execute(update(System).values(team="" if of_organisers else "harbour"))
        chosen = [row.submission_id for row in read_measured_entries(connection, protocol) if row.name == "anna"]
        chosen.append(connection.scalars(select(Evaluation.submission_id).where(Evaluation.id == 3)).one())
        rows = read_leaderboard(connection, protocol, submissions=chosen)
        assert [(row.system, row.runs, row.ranked, row.scores[0].rank) for row in rows] == [
            ("anna", ("1",), True, 1),
            ("bert", ("",), True, 2),
            ("anna", ("2",), True, 3),
        ]
        connection.execute(update(Protocol).values(metrics=["bleu", "autorank:rule=wmt24:of=1"]))
        for values in [row._asdict() for row in connection.execute(select(Score))]:
            connection.execute(insert(Score).values({**values, "metric": 1, "score": None}))
        given = [row.evaluations for row in rows]
        for again in (
            read_leaderboard(connection, protocol, submissions=chosen),
            read_selected_systems(connection, protocol, given),
        ):
            assert [row.evaluations for row in again] == given
            assert all(row.scores[1].score is None for row in again)


def test_entries_of_one_protocol_or_several_are_read(engine: Engine, sqlite_url: str) -> None:
    first = with_runs(engine, sqlite_url, {("anna", ""): [40.0], ("bert", ""): [30.0]})
    with writing(engine) as connection:
        content = {**connection.execute(select(Protocol)).one()._asdict(), "content_hash": "another"}
        second = content["id"] = first + 1
        connection.execute(insert(Protocol).values(content))
        evaluation = {**connection.execute(select(Evaluation)).first()._asdict(), "id": 9, "protocol_id": second}
        connection.execute(insert(Evaluation).values(evaluation))
        for asked, expected in (
            (first, [1, 2]),
            (second, [9]),
            ([first, second], [1, 2, 9]),
            ([second], [9]),
            ([], []),
        ):
            assert [row.id for row in read_measured_entries(connection, asked)] == expected
        assert [row.id for row in read_measured_entries(connection, [first, second], evaluations=[2, 9])] == [2, 9]
        assert [row.id for row in read_measured_entries(connection, first, evaluations=[2, 9])] == [2]


def test_the_state_of_runs_is_the_least_advanced_one() -> None:
    """What failed needs somebody before what was stopped on purpose, and what this release does not know before all."""
    order = ["melted", "failed", "cancelled", "queued", "running", "reducing", "done"]
    assert set(order[1:]) == {state.value for state in EvaluationState}
    for states in product(order, repeat=3):
        runs = [
            SimpleNamespace(state=read_as(EvaluationState, state), reason=f"{number} {state}")
            for number, state in enumerate(states)
        ]
        number = min(range(3), key=lambda number: (order.index(states[number]), number))
        expected = states[number], f"{number} {states[number]}", states.count("done")
        assert state_of_runs(runs) == expected
