"""The Ladder rule: who submits again and again learns nothing but real improvements."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from campaigns.leaderboards.ladder import next_step, write_steps
from campaigns.leaderboards.rounding import step_of
from campaigns.quotas.usage_log import lock_quota_account
from models.database.session import make_engine, writing
from models.errors import RowsHeld
from models.schema.campaigns import QuotaAccount
from scheduler.ingest.campaigns import store_campaign

SCORES = st.lists(st.floats(0, 100, allow_nan=False), min_size=1, max_size=60)
STEPS = st.sampled_from([0.1, 0.5, 1.0, 3.0])


LABELS, TRIES = 2000, 600


def told_by_ladder(scores: Sequence[float], points: float, *, higher: bool = True) -> list[float]:
    """What a team hears, submission by submission."""
    heard: list[float] = []
    for score in scores:
        best = heard[-1] if heard else None
        new = next_step(best, score, step_of(points, 100.0), higher_is_better=higher)
        heard.append(best if new is None and best is not None else new)  # type: ignore[arg-type]
    return heard


@given(SCORES, STEPS, st.booleans())
def test_a_team_hears_at_most_as_many_numbers_as_there_are_steps(
    scores: list[float], points: float, higher: bool
) -> None:
    heard = told_by_ladder(scores, points, higher=higher)
    changes = [after - before for before, after in pairwise(heard) if after != before]
    assert all((change if higher else -change) >= points * (1 - 1e-9) for change in changes)
    assert len(set(heard)) <= 100 / points + 2


@given(st.floats(0, 100), STEPS, st.lists(st.floats(-1, 1), max_size=40))
def test_variants_within_a_step_reveal_nothing_after_the_first(first: float, points: float, moves: list[float]) -> None:
    step = step_of(points, 100.0)
    heard = told_by_ladder([first], points)[0]
    # Whatever is not better than the told best by more than a step.
    variants = [min(first + move * points, float(Fraction(heard) + step * 999 / 1000)) for move in moves]
    assert set(told_by_ladder([first, *variants], points)) == {heard}


@given(SCORES, STEPS)
def test_what_is_reported_is_never_far_from_the_best_that_there_was(scores: list[float], points: float) -> None:
    """The promise of the paper: the leaderboard follows the true best to within the step and its rounding."""
    for number, heard in enumerate(told_by_ladder(scores, points), 1):
        assert abs(heard - max(scores[:number])) <= 1.5 * points + 1e-9


def boosting_attack(said_to_be_good: Callable[[list[float]], list[bool]], *, seed: int) -> float:
    """The attack of Blum and Hardt, section 4.1: random outputs, and the vote of those said to be good.

    Returns how many points above chance the vote stands, all of which is chance.
    """
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, LABELS)
    outputs = draw.integers(0, 2, (TRIES, LABELS))
    good = outputs[said_to_be_good((100 * (outputs == truth).mean(axis=1)).tolist())]
    vote = good.sum(axis=0) * 2 > len(good) if len(good) else outputs[0]
    return float(100 * (vote == truth).mean() - 50)


@pytest.mark.parametrize("seed", range(3))
def test_the_attack_of_the_paper_gains_nothing(seed: int) -> None:
    def by_ladder(scores: list[float]) -> list[bool]:
        heard = told_by_ladder([50.0, *scores], 3.0)
        return [after > before for before, after in pairwise(heard)]

    climbed = boosting_attack(lambda scores: [score > 50 for score in scores], seed=seed)
    assert climbed > 10, "with full scores the attack works, else the test shows nothing"
    # By chance alone the best of so many random outputs stands some 3.5 points above.
    assert boosting_attack(by_ladder, seed=seed) < 4.5


@pytest.mark.parametrize(
    ("best", "score", "higher", "told"),
    [
        (None, 30.4, True, 30.0),
        (None, 30.4, False, 30.0),
        (30.0, 31.0, True, None),
        (30.0, 31.0000001, True, 31.0),
        (30.0, 29.0, True, None),
        (30.0, 29.0, False, None),
        (30.0, 28.9999999, False, 29.0),
        (30.0, 31.5, False, None),
        (30.0, None, True, None),
        (None, None, True, None),
        (None, math.nan, True, None),
        (30.0, math.nan, False, None),
    ],
)
def test_a_best_is_beaten_by_more_than_a_step(
    best: float | None, score: float | None, higher: bool, told: float | None
) -> None:
    assert next_step(best, score, step_of(1.0, 100.0), higher_is_better=higher) == told


def test_the_steps_of_a_team_are_written_by_one_at_a_time(postgres_url: str) -> None:
    engine = make_engine(postgres_url)
    with writing(engine) as connection:
        campaign, other = store_campaign(connection, "port"), store_campaign(connection, "bay")
        for number, team in ((campaign, "harbour"), (campaign, "lighthouse"), (other, "harbour")):
            lock_quota_account(connection, number, team)

    def lock(number: int, team: str) -> None:
        asked = QuotaAccount.campaign_id == number, QuotaAccount.team == team
        with writing(engine) as connection:
            connection.execute(select(QuotaAccount.id).where(*asked).with_for_update(nowait=True)).one()

    with writing(engine) as connection:
        write_steps(connection, campaign, "harbour", 1.0)
        with pytest.raises(RowsHeld):
            lock(campaign, "harbour")
        lock(campaign, "lighthouse")
        lock(other, "harbour")
    lock(campaign, "harbour")
    engine.dispose()
