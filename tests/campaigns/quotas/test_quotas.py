"""Quotas: which of them apply to whom and when, and that nothing exceeds them."""

import itertools
import multiprocessing
from dataclasses import replace
from datetime import datetime

import pytest
from sqlalchemy import Engine, delete, insert, select, update

from campaigns.quotas.errors import BadQuota, QuotaUsedUp
from campaigns.quotas.quotas import day_of, read_team_quotas, remove_quotas, set_phase
from campaigns.quotas.rules import QuotaScope, list_quotas, quotas_of
from campaigns.quotas.usage import QuotaUsage
from campaigns.quotas.usage_log import lock_quota_account
from campaigns.submissions.submit import submit
from models.corpus.campaign_protocols import find_campaign
from models.database.session import make_engine, reading, writing
from models.errors import NotFound
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import Campaign, Participation, Phase, Quota, UsageLogEntry
from models.schema.corpus import Submission
from models.schema.roles import Feedback, PhaseKind
from models.schema.states import QuotaKind
from runtime.settings import Settings
from scheduler.errors import BadSchedule
from steelyard.tables.formatting import date_time
from tests.campaigns.quotas.quotas import (
    CAMPAIGN,
    IN_FLIGHT,
    PER_DAY,
    PER_PHASE,
    attempt,
    count,
    limit,
    one_kind,
    refused,
    standings,
    used,
)
from tests.scheduler.jobs import one_block_shards, queue_job


@pytest.mark.parametrize(
    ("zone", "moment", "day", "begin", "hours"),
    [
        ("UTC", "2026-11-22T23:59:59+00:00", "2026-11-22", "2026-11-22T00:00+00:00", 24),
        ("Europe/Prague", "2026-11-21T23:00:00+00:00", "2026-11-22", "2026-11-22T00:00+01:00", 24),
        ("Europe/Prague", "2026-10-25T23:30+01:00", "2026-10-25", "2026-10-25T00:00+02:00", 25),
        ("Europe/Prague", "2026-03-29T12:00+02:00", "2026-03-29", "2026-03-29T00:00+01:00", 23),
        # The clocks go from 0 to 1 there: the day begins at 1, and the day before it ends then.
        ("America/Santiago", "2025-09-07T01:00-03:00", "2025-09-07", "2025-09-07T01:00-03:00", 23),
        ("America/Santiago", "2025-09-06T23:59-04:00", "2025-09-06", "2025-09-06T00:00-04:00", 24),
        # The hour before midnight came twice.
        ("America/Santiago", "2025-04-05T23:30-04:00", "2025-04-05", "2025-04-05T00:00-03:00", 25),
        # There was no 30th.
        ("Pacific/Apia", "2011-12-29T12:00-10:00", "2011-12-29", "2011-12-29T00:00-10:00", 24),
    ],
)
def test_days_begin_and_end_by_the_clocks_of_the_place(zone, moment, day, begin, hours):
    found = day_of(datetime.fromisoformat(moment).timestamp(), zone)
    assert found.date.isoformat() == day
    assert found.begin == datetime.fromisoformat(begin).timestamp()
    assert found.end - found.begin == 3600 * hours


ROUNDS = 12

RIVALS = 3


def rival(url: str, number: int, barrier: "multiprocessing.synchronize.Barrier", results: object) -> None:
    """Submit for the same team at the same moment as the others, round by round."""
    engine, settings = make_engine(url, pooled=False), one_block_shards(url)
    for team in range(ROUNDS):
        mine = attempt(RIVALS * team + number, team=f"team{team}")
        barrier.wait(60)
        try:
            submit(engine, settings, mine)
            results.put((team, "in"))
        except QuotaUsedUp:
            results.put((team, "out"))
        except Exception as error:
            results.put((team, repr(error)))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_of_uploads_at_the_same_moment_one_passes_a_limit_of_one(
    engine: Engine, settings: Settings, database_url: str
) -> None:
    limit(engine, {PER_DAY: 1})
    with writing(engine) as connection:
        trial = find_campaign(connection, CAMPAIGN)
        for team in range(ROUNDS):
            # Else they would wait for each other only because all want to make it.
            lock_quota_account(connection, trial, f"team{team}")
    engine.dispose()
    fork = multiprocessing.get_context("fork")
    barrier, results = fork.Barrier(RIVALS), fork.Queue()
    rivals = [fork.Process(target=rival, args=(database_url, number, barrier, results)) for number in range(RIVALS)]
    for process in rivals:
        process.start()
    found = sorted(results.get(timeout=120) for _ in range(ROUNDS * RIVALS))
    for process in rivals:
        process.join(60)
    expected = [(team, "in" if first else "out") for team in range(ROUNDS) for first in (1, *[0] * (RIVALS - 1))]
    assert found == sorted(expected)
    assert count(engine, UsageLogEntry) == ROUNDS
    assert count(engine, Submission) == 1 + ROUNDS


@one_kind
def test_a_quota_that_is_set_again_or_removed_is_that_of_its_scope(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="other", seed=3)
    scopes = [(None, "", ""), *itertools.product((CAMPAIGN, "other"), ("", "t"), ("", "p"))]
    with writing(engine) as connection:
        numbers = {None: None, **{name: find_campaign(connection, name) for name in (CAMPAIGN, "other")}}
    expected = {}
    for amount, kinds in ((1, (PER_DAY, IN_FLIGHT)), (20, (PER_DAY,))):
        for number, (campaign, team, phase) in enumerate(scopes):
            limit(engine, dict.fromkeys(kinds, amount + number), campaign=campaign, team=team, phase=phase)
            whose = QuotaScope(numbers[campaign], team, phase)
            expected |= {(whose, kind): amount + number for kind in kinds}
            assert quotas(engine) == expected
    for whose in {scope for scope, _ in expected}:
        with writing(engine) as connection:
            (removed,) = remove_quotas(connection, whose, [IN_FLIGHT])
        assert (removed.scope, removed.kind) == (whose, IN_FLIGHT)
        del expected[whose, IN_FLIGHT]
        assert quotas(engine) == expected


def quotas(engine: Engine) -> dict[tuple[QuotaScope, QuotaKind], int | None]:
    with reading(engine) as connection:
        return {(each.scope, each.kind): each.amount for each in list_quotas(connection)}


@one_kind
def test_the_most_specific_quota_of_each_kind_holds(engine: Engine, settings: Settings) -> None:
    def amounts(team: str) -> list[int | None]:
        return [each.amount for each in standings(engine, team).values()]

    queue_job(engine, settings, segments=6, systems=1, campaign="other")
    limit(engine, {IN_FLIGHT: 9, PER_DAY: 9, PER_PHASE: 9}, campaign=None)
    assert amounts("harbour") == [9, 9, 9]
    limit(engine, {PER_DAY: 8}, time_zone="Europe/Prague")
    limit(engine, {PER_DAY: 5, PER_PHASE: 5}, phase="final")
    limit(engine, {PER_DAY: 1}, campaign="other")
    assert amounts("harbour") == [9, 8, 9]
    limit(engine, {PER_DAY: None, PER_PHASE: 7}, team="harbour")
    assert amounts("harbour") == [9, None, 7]
    assert amounts("other") == [9, 8, 9]
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
    assert amounts("other") == [9, 5, 5]
    assert amounts("harbour") == [9, None, 7], "what is said of a team is more than what is said of a phase"
    assert standings(engine)[PER_DAY].day.time_zone == "Europe/Prague", "as for the quota before it"
    limit(engine, {PER_DAY: 3}, team="harbour")
    assert amounts("harbour") == [9, 3, 7]
    with writing(engine) as connection:
        scope = QuotaScope(
            connection.execute(select(Campaign.id).where(Campaign.name == CAMPAIGN)).scalar_one(), "harbour"
        )
        assert [each.amount for each in remove_quotas(connection, scope, [PER_PHASE])] == [7]
        assert len(remove_quotas(connection, scope)) == 1
        with pytest.raises(NotFound, match="There is no such quota"):
            remove_quotas(connection, scope)
    assert amounts("harbour") == [9, 5, 5]
    with reading(engine) as connection:
        assert len(list_quotas(connection)) == 7


def test_a_quota_for_what_the_campaign_does_not_have_is_refused(engine: Engine, settings: Settings) -> None:
    """Where its phases and teams are known; else any name may come to mean something."""
    submit(engine, settings, attempt(1))
    limit(engine, {PER_PHASE: 1}, phase="anything", team="anybody")
    with writing(engine) as connection:
        campaign = connection.execute(select(Campaign.id).where(Campaign.name == CAMPAIGN)).scalar_one()
        phase = {"campaign_id": campaign, "name": "Test", "kind": "open", "starts_at": 1.0}
        connection.execute(insert(Phase).values(**phase))
        team = connection.execute(
            insert(Team).values(name="harbour", folded_name="harbour").returning(Team.id)
        ).scalar_one()
        connection.execute(insert(Participation).values(campaign_id=campaign, team_id=team, number=1))
    with pytest.raises(BadQuota, match=r"no phase 'test'\. There are: Test"):
        limit(engine, {PER_PHASE: 1}, phase="test")
    with pytest.raises(BadQuota, match=r"no team 'guests'\. There are: harbour"):
        limit(engine, {PER_PHASE: 1}, team="guests")
    limit(engine, {PER_PHASE: 1}, phase="Test", team="harbour")
    limit(engine, {PER_PHASE: 1})


def test_phases_are_counted_apart(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_PHASE: 1})
    limit(engine, {PER_PHASE: 0}, phase="closed")
    submit(engine, settings, attempt(1))
    assert refused(engine, settings, 2) == (
        "Team harbour has used 1 of 1 submission of the campaign; the next is possible in another phase."
    )
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
    submit(engine, settings, attempt(2))
    assert '1 of 1 submission of the phase "final"' in refused(engine, settings, 3)
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "closed")
    assert refused(engine, settings, 3) == 'Team harbour may not submit: its quota of the phase "closed" is 0.'


@one_kind
def test_yesterday_does_not_count(engine: Engine, settings: Settings) -> None:
    limit(engine, {PER_DAY: 1}, time_zone="Pacific/Kiritimati")
    submit(engine, settings, attempt(1))
    day = standings(engine)[PER_DAY].day
    from_then = f"the next is possible from {date_time(day.end, 'Pacific/Kiritimati')}."
    assert refused(engine, settings, 2).endswith(f"(Pacific/Kiritimati); {from_then}")
    begin = day.begin
    with writing(engine) as connection:
        connection.execute(update(UsageLogEntry).values(created_at=begin - 0.001))
    submit(engine, settings, attempt(2))
    assert used(engine) == (2, 1, 2)


@one_kind
def test_quotas_that_cannot_be(engine: Engine, settings: Settings) -> None:
    for others, error, message in [
        ({"campaign": None, "team": "harbour"}, BadQuota, "give the campaign, too"),
        ({"campaign": None, "phase": "final"}, BadQuota, "give the campaign, too"),
        ({"team": "t" * 101}, BadQuota, "cannot be the name of a team"),
        ({"time_zone": "Europe/Praha"}, BadSchedule, "Did you mean Europe/Prague"),
        ({"campaign": "trail"}, NotFound, "There are: trial."),
    ]:
        with pytest.raises(error, match=message):
            limit(engine, {PER_DAY: 1}, **others)
    with pytest.raises(BadQuota, match="A quota needs a limit"):
        limit(engine, {})
    with pytest.raises(BadQuota, match="Give 0 or more"):
        limit(engine, {PER_DAY: 2**31})
    with reading(engine) as connection, pytest.raises(NotFound, match='No team "nobody"'):
        read_team_quotas(connection, "nobody")


@one_kind
def test_of_all_quotas_that_fit_a_team_the_most_specific_holds(engine: Engine, settings: Settings) -> None:
    """A team's before a campaign's before one for everything; of two for the same, that which names the phase."""
    scopes = [(team, campaign, phase) for team in ("", "harbour") for campaign in (False, True) for phase in ("", "x")]
    with writing(engine) as connection:
        trial = find_campaign(connection, CAMPAIGN)
        rows = [
            {"team": team, "campaign_id": trial if campaign else None, "phase": phase, "kind": PER_DAY, "amount": place}
            for place, (team, campaign, phase) in enumerate(scopes)
        ]
        strange = [{**rows[-1], "team": "other", "amount": 90}, {**rows[-1], "phase": "y", "amount": 91}]
        # Whatever the order in which they were stored.
        for row in (*strange, *reversed(rows)):
            connection.execute(insert(Quota).values(**row))
        for place in reversed(range(len(scopes))):
            assert quotas_of(connection, trial, "harbour", "x")[PER_DAY].amount == place, scopes[place]
            here = Quota.amount == place
            connection.execute(delete(Quota).where(here))
        assert quotas_of(connection, trial, "harbour", "x") == {}


@pytest.mark.parametrize(
    ("used", "amount", "full"), [(0, 0, True), (0, 1, False), (1, 1, True), (2, 1, True), (9, None, False)]
)
def test_a_quota_is_full_when_all_of_it_is_used(used: int, amount: int | None, full: bool) -> None:
    day = day_of(0.0, "UTC")
    for kind in QuotaKind:
        standing = QuotaUsage(kind, amount, used, tuple(range(used)), None, "", day)
        assert standing.full == full
        assert standing.free_at == (day.end if full and amount and kind == PER_DAY else None)


@one_kind
def test_a_day_begins_at_its_first_moment_and_ends_before_the_first_of_the_next(
    engine: Engine, settings: Settings
) -> None:
    submit(engine, settings, attempt(1))
    day = standings(engine)[PER_DAY].day
    for moment, counts in ((day.begin, 1), (day.begin - 0.001, 0), (day.end - 0.001, 1), (day.end, 0)):
        with writing(engine) as connection:
            connection.execute(update(UsageLogEntry).values(created_at=moment))
        assert used(engine) == (1, counts, 1)


def test_what_other_teams_and_other_campaigns_use_does_not_count(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="elsewhere", seed=3)
    limit(engine, {PER_DAY: 1, IN_FLIGHT: 1, PER_PHASE: 1}, campaign=None)
    assert used(engine, "other") == (0, 0, 0)
    submit(engine, settings, attempt(1))
    assert (used(engine), used(engine, "other")) == ((1, 1, 1), (0, 0, 0))
    submit(engine, settings, attempt(2, team="other"))
    assert (used(engine), used(engine, "other")) == ((1, 1, 1), (1, 1, 1))
    submit(engine, settings, replace(attempt(4), campaign="elsewhere"))
    assert used(engine) == (1, 1, 1)
    assert refused(engine, settings, 5)
    with reading(engine) as connection:
        assert {each.campaign for each in read_team_quotas(connection, "harbour")} == {CAMPAIGN, "elsewhere"}
        assert [each.campaign for each in read_team_quotas(connection, "other")] == [CAMPAIGN]


@one_kind
def test_the_phase_of_one_campaign_is_set(engine: Engine, settings: Settings) -> None:
    queue_job(engine, settings, segments=6, systems=1, campaign="other", seed=3)
    with writing(engine) as connection:
        set_phase(connection, CAMPAIGN, "final")
        phases = dict(connection.execute(select(Campaign.name, Campaign.phase)).all())
    assert phases == {CAMPAIGN: "final", "other": ""}


@one_kind
def test_who_asks_for_a_team_that_is_not_there_hears_of_those_there_are(engine: Engine, settings: Settings) -> None:
    with reading(engine) as connection, pytest.raises(NotFound, match=r"quotas of its own. None has so far\.$"):
        read_team_quotas(connection, "nobody")
    submit(engine, settings, attempt(1, team="ants"))
    limit(engine, {PER_DAY: 1})
    limit(engine, {PER_DAY: 2}, team="bees")
    with reading(engine) as connection:
        with pytest.raises(NotFound, match=r"There are: ants, bees\.$"):
            read_team_quotas(connection, "nobody")
        for team, used_today, most in (("ants", 1, 1), ("bees", 0, 2)):
            (account,) = read_team_quotas(connection, team)
            (day,) = [each for each in account.usage if each.kind == PER_DAY]
            assert (account.campaign, day.used, day.amount) == (CAMPAIGN, used_today, most)


@one_kind
def test_a_campaign_with_times_is_in_the_phase_of_now(engine: Engine, settings: Settings) -> None:
    with writing(engine) as connection:
        row = {"campaign_id": find_campaign(connection, CAMPAIGN), "kind": PhaseKind.OPEN, "feedback": Feedback.FULL}
        connection.execute(insert(Phase).values(name="dev", starts_at=now() - 5, **row))
        with pytest.raises(BadQuota, match="has phases with times"):
            set_phase(connection, CAMPAIGN, "dev")
        # Whatever was said before there were any.
        connection.execute(update(Campaign).values(phase="final"))
    assert {each.phase for each in standings(engine).values()} == {"dev"}
