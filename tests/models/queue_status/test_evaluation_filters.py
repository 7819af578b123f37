"""A small world of evaluations, gone through whole: every filter, alone and with each other, against a plain one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select, update

from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.queue_status.evaluation_filters import (
    EvaluationFilter,
    check_names,
    read_evaluations,
    read_failed_columns,
)
from models.queue_status.overview import RECENT_SECONDS, count_evaluations
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.corpus import Submission, System
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation
from models.schema.states import ColumnState, EvaluationState
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric

SYSTEMS = (("", "mast"), ("harbour", "mast"), ("guests", "harbour"))
Rows = dict[int, dict[str, Any]]


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def fill(engine: Engine) -> Rows:
    """Two campaigns with two test sets each, one called as the other campaign; the work is charged to other teams."""
    for (number, campaign), name in product(enumerate(("spring", "autumn")), ("quay", "spring")):
        ingest_campaign(
            engine,
            Settings(),
            campaign=campaign,
            test_set=NewTestSet(name, {"A": f"reference of {name}".encode()}),
            submissions=[NewSubmission(system, f"{team} {system}".encode(), team) for team, system in SYSTEMS],
            protocols=[NewProtocol(["A"], [parse_metric("bleu"), parse_metric("ter")], 0)],
            team=("guests", "")[number],
        )
    states = list(EvaluationState)
    with writing(engine) as connection:
        keys = connection.scalars(select(Evaluation.id).order_by(Evaluation.id)).all()
        for place, key in enumerate(keys):
            state = states[place % len(states)]
            ended = (
                None if place % len(states) < 3 else now() - (RECENT_SECONDS * (place % 2) + 100.0 * (place * 7 % 12))
            )
            values = {"state": state, "finished_at": ended, "reason": f"reason {key}"}
            connection.execute(update(Evaluation).where(Evaluation.id == key).values(**values))
            for metric, of_column in enumerate((ColumnState.FAILED, list(ColumnState)[place % 3])):
                column = {"evaluation_id": key, "metric": metric, "state": of_column, "remaining": 0}
                column |= {"reason": f"column {key} {metric}", "finished_at": now() - 100.0 * (place * 5 % 12)}
                if metric or place % 2:
                    connection.execute(insert(LearnedColumn).values(**column))
        columns = (
            *(Evaluation.id, Evaluation.state, Evaluation.team.label("charged"), Evaluation.finished_at),
            *(System.team, System.name.label("system"), Campaign.name.label("campaign")),
        )
        rows = connection.execute(
            select(*columns)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(System, System.id == Submission.system_id)
            .join(Campaign, Campaign.id == Submission.campaign_id)
        ).all()
    assert len(rows) == 12
    return {row.id: row._asdict() for row in rows}


ALONE: list[EvaluationFilter] = [
    EvaluationFilter(),
    *(EvaluationFilter(campaign=each) for each in ("spring", "autumn")),
    *(EvaluationFilter(name=each) for each in ("spring", "autumn", "quay")),
    *(EvaluationFilter(system=each) for each in ("mast", "harbour", "harbour/mast", "guests/harbour", "/mast")),
    *(EvaluationFilter(team=each) for each in ("guests", "")),
    *(
        EvaluationFilter(states=each)
        for each in ((EvaluationState.FAILED,), (EvaluationState.DONE, EvaluationState.QUEUED))
    ),
    EvaluationFilter(evaluations=(2, 3, 11)),
]
FIELDS = ("evaluations", "name", "campaign", "system", "team", "states")


def together(one: EvaluationFilter, other: EvaluationFilter) -> EvaluationFilter:
    return replace(one, **{name: getattr(other, name) or getattr(one, name) for name in FIELDS})


def matches(row: dict[str, Any], test_set: str, asked: EvaluationFilter) -> bool:
    """The filter, said once more."""
    called = (row["system"], f"{row['team']}/{row['system']}")
    return (
        (not asked.evaluations or row["id"] in asked.evaluations)
        and (asked.name is None or asked.name in (row["campaign"], test_set))
        and (asked.campaign is None or asked.campaign == row["campaign"])
        and (asked.system is None or asked.system in called)
        and (asked.team is None or asked.team == row["charged"])
        and (not asked.states or row["state"] in asked.states)
    )


def test_every_filter_selects_what_it_says(engine: Engine) -> None:
    rows = fill(engine)
    with reading(engine) as connection:
        everything = read_evaluations(connection, EvaluationFilter())
        assert [each.id for each in everything] == sorted(rows)
        test_sets = {each.id: each.test_set for each in everything}
        assert {*test_sets.values()} == {"quay", "spring"}
        for one, other in product(ALONE, ALONE):
            asked = together(one, other)
            wanted = [key for key in sorted(rows) if matches(rows[key], test_sets[key], asked)]
            assert [each.id for each in read_evaluations(connection, asked)] == wanted, asked
            assert [each.id for each in read_evaluations(connection, asked, after=4, most=2)] == [
                key for key in wanted if key > 4
            ][:2]
            if not asked.everything:
                states = [rows[key]["state"] for key in wanted]
                assert count_evaluations(connection, asked) == {each: states.count(each) for each in EvaluationState}
            _check_columns(
                connection, asked, {k for k in rows if matches(rows[k], test_sets[k], replace(asked, states=()))}
            )
        ended = sorted((row["finished_at"], key) for key, row in rows.items() if row["finished_at"] is not None)
        states_of_ended = (EvaluationState.FAILED, EvaluationState.CANCELLED, EvaluationState.DONE)
        newest = read_evaluations(connection, EvaluationFilter(states=states_of_ended), newest=True)
        assert [each.id for each in newest] == [key for _, key in reversed(ended)]
        recent = {row["state"]: 0 for row in rows.values()}
        for place, key in enumerate(sorted(rows)):
            recent[rows[key]["state"]] += rows[key]["finished_at"] is None or not place % 2
        assert count_evaluations(connection) == recent
        of_spring = EvaluationFilter(within=Campaign.name == "spring")
        assert [each.campaign for each in read_evaluations(connection, of_spring)] == ["spring"] * 6
    engine.dispose()


def _check_columns(connection: Any, asked: EvaluationFilter, chosen: set[int]) -> None:
    """Of what is done, the columns that have failed, the last first."""
    stored = connection.execute(
        select(LearnedColumn, Evaluation.state.label("of_evaluation"))
        .join(Evaluation, Evaluation.id == LearnedColumn.evaluation_id)
        .order_by(LearnedColumn.finished_at.desc(), Evaluation.id.desc())
    ).all()
    wanted = [
        (row.evaluation_id, f"{('bleu', 'ter')[row.metric]}: {row.reason}")
        for row in stored
        if row.state == ColumnState.FAILED and row.of_evaluation == "done" and row.evaluation_id in chosen
    ]
    for most in (1, 99):
        found = read_failed_columns(connection, asked, most)
        assert sorted((each.id, _short(each.reason)) for each in found) == sorted(
            wanted[:most] if most > 1 else wanted[:1]
        )


def _short(reason: str | None) -> str:
    """Without the parameters of the metric."""
    metric, _, rest = (reason or "").partition(": ")
    return f"{metric.partition(':')[0]}: {rest}"


def test_a_name_that_nothing_has_is_named_with_those_there_are(engine: Engine) -> None:
    with reading(engine) as connection, pytest.raises(NotFound, match="Nothing was evaluated"):
        check_names(connection, EvaluationFilter(campaign="winter"))
    fill(engine)
    of_spring = Campaign.name == "spring"
    for asked, message in (
        (EvaluationFilter(evaluations=(3, 99)), "no evaluation 99. There are 12, numbered 1 to 12"),
        (EvaluationFilter(evaluations=(9,), within=of_spring), "no evaluation 9. There are 6, numbered 1 to 6"),
        (EvaluationFilter(name="winter"), 'no campaign or test set "winter". There are: autumn, quay, spring'),
        (EvaluationFilter(campaign="quay"), 'no campaign "quay". There are: autumn, spring'),
        (EvaluationFilter(campaign="autumn", within=of_spring), 'no campaign "autumn". There are: spring'),
        (EvaluationFilter(system="keel"), 'no system "keel". There are: harbour, mast'),
        (EvaluationFilter(team="harbour"), 'no work of a team "harbour". There are: guests'),
    ):
        with reading(engine) as connection, pytest.raises(NotFound) as refused:
            check_names(connection, asked)
        assert message in str(refused.value)
    with reading(engine) as connection:
        for asked in ALONE[1:-1]:
            check_names(connection, asked)
    engine.dispose()
