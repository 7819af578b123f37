"""Which of two protocols replaces the other, for every pair of a small world: the rule of leaderboards, and that of a
campaign's protocols."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import Engine, select, update

from models.corpus.campaign_protocols import find_test_set_protocols
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.results.boards import BoardSummary, list_boards, superseded_boards
from models.schema.campaigns import CampaignTestSet
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, ResamplingUnit
from runtime.settings import Settings
from tests.scheduler.jobs import queue_job

METRICS = ("bleu",), ("wer", "bleu"), ("wer",)
REFERENCES = ("A",), ("A", "B")
REPLICATES = 0, 5, 7


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    """One campaign, whose two protocols have measured the same outputs."""
    engine = make_engine(sqlite_url)
    for metric in ("bleu", "wer"):
        queue_job(engine, Settings(database_url=sqlite_url), segments=3, systems=2, metrics=[metric])
    with writing(engine) as connection:
        connection.execute(update(Evaluation).values(state=EvaluationState.DONE))
    return engine


def is_careful(unit: ResamplingUnit) -> bool:
    """Intervals by document are the more careful ones."""
    return unit == ResamplingUnit.DOCUMENT


def test_a_leaderboard_says_all_of_one_that_it_supersedes(engine: Engine) -> None:
    variants = list(product(METRICS, REFERENCES, REPLICATES[:2], ResamplingUnit))
    wrong, count = [], 0
    with reading(engine) as connection:
        first, second = list_boards(connection)

        def made(board: BoardSummary, variant: tuple[object, ...]) -> BoardSummary:
            names = "metrics", "references", "replicates", "resample"
            return replace(board, **dict(zip(names, variant, strict=True)))  # type: ignore[arg-type]

        for before, after in product(variants, variants):
            older, newer = made(first, before), made(second, after)
            expected = (
                all(metric in newer.metrics for metric in older.metrics)
                and newer.references == older.references
                and not (older.replicates and not newer.replicates)
                and not (is_careful(older.resample) and not is_careful(newer.resample))
            )
            count += expected
            found = superseded_boards(connection, [newer, older])
            if found != ({older} if expected else set()):
                wrong.append((before, after))
    assert wrong == []
    assert 0 < count < len(variants) ** 2


def test_boards_of_other_campaigns_and_test_sets_supersede_nothing(engine: Engine) -> None:
    with reading(engine) as connection:
        first, second = list_boards(connection)
        second = replace(second, metrics=("bleu", "wer"))
        assert superseded_boards(connection, [first, second]) == {first}
        for other in (replace(second, campaign_id=99), replace(second, test_set_id=99)):
            assert superseded_boards(connection, [first, other]) == set()


def test_a_protocol_of_a_campaign_measures_all_of_one_that_it_supersedes(engine: Engine) -> None:
    with reading(engine) as connection:
        older, newer = connection.scalars(select(Protocol.id).order_by(Protocol.id))
    variants = list(product(METRICS, REFERENCES, REPLICATES, ResamplingUnit))
    wrong, count = [], 0
    # One of each value stays as it is: the other protocol meets all of them.
    for kept in (
        (("bleu",), ("A",), 5, ResamplingUnit.SEGMENT),
        (("wer", "bleu"), ("A", "B"), 5, ResamplingUnit.DOCUMENT),
    ):
        for variant, kept_is_older in product(variants, (True, False)):
            before, after = (kept, variant) if kept_is_older else (variant, kept)
            with writing(engine) as connection:
                for key, (metrics, references, replicates, resample) in ((older, before), (newer, after)):
                    values = {"metrics": list(metrics), "reference_labels": list(references)}
                    connection.execute(
                        update(Protocol)
                        .where(Protocol.id == key)
                        .values(**values, replicates=replicates, resample=resample)
                    )
                found = [each.id for each in find_test_set_protocols(connection, "trial").protocols]
            expected = (
                all(metric in after[0] for metric in before[0])
                and after[1] == before[1]
                and after[2] >= before[2]
                and not (is_careful(before[3]) and not is_careful(after[3]))
            )
            count += expected
            if found != ([newer] if expected else [older, newer]):
                wrong.append((before, after))
    assert wrong == []
    assert count


def test_sweeps_and_replaced_test_sets_measure_nothing_for_a_campaign(engine: Engine) -> None:
    with writing(engine) as connection:
        first, second = connection.scalars(select(Protocol.id).order_by(Protocol.id)).all()
        for sweeps in ({first}, {second}, {first, second}, set()):
            connection.execute(update(Protocol).values(sweep=Protocol.id.in_(sweeps)))
            expected = [each for each in (first, second) if each not in sweeps]
            if expected:
                found = find_test_set_protocols(connection, "trial")
                assert [each.id for each in found.protocols] == expected
            else:
                with pytest.raises(NotFound, match="measures nothing yet"):
                    find_test_set_protocols(connection, "trial")
        connection.execute(update(CampaignTestSet).values(replaced_by=CampaignTestSet.test_set_id))
        with pytest.raises(NotFound, match="measures nothing yet"):
            find_test_set_protocols(connection, "trial")
