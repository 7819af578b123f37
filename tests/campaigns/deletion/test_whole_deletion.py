"""Whatever a campaign, a team or a submission has goes with it, and nothing that another has."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy import Select, Table, delete, func, insert, select, update

import campaigns.deletion.submissions
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.deletion.accounts import KEPT, delete_account
from campaigns.deletion.campaigns import COUNTED, delete_campaign
from campaigns.deletion.imports import delete_human_judgments
from campaigns.deletion.submissions import delete_submission, delete_submissions
from campaigns.deletion.teams import delete_team, delete_team_from_campaign
from campaigns.errors import NotFound
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, SpanRow, SystemRow, store_judgments
from models.database.session import reading, writing
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.registry import KINDS
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.accounts import Account, AuditEntry, Invitation, Team
from models.schema.base import Base
from models.schema.campaigns import Declaration, Participation, Quota, QuotaAccount
from models.schema.corpus import Reference, Submission, System, TestSet, Text
from models.schema.human import ErrorSpan, HumanSegmentScore, HumanSystemScore, Judgments, Rating
from models.schema.queue import Comparison, Evaluation
from models.schema.roles import Scope
from models.schema.states import ComparisonState, EvaluationState, JudgmentKind
from steelyard.metrics.metric import EDITION
from tests.campaigns.deletion.rows import campaign_tables, rows_of_campaigns, stored_row
from tests.service.port import ADDRESS, NAME, Port, output


@pytest.fixture
def twice(service):
    """A campaign, and another one with the same systems of the same teams; no row of either is missing."""
    port = Port.opened(service)
    for who, system, seed in (("mary", "mast", 1), ("zoe", "oar", 2)):
        assert port.submit(port.program(who), output(seed), system=system).status_code == 201
    with writing(service.engine) as connection:
        teams = dict(connection.execute(select(Team.name, Team.id)).all())
    other = service.campaign("port 2", organisers=(port.accounts["ann"],), teams=tuple(teams.values()))
    with writing(service.engine) as connection:
        for row in connection.execute(select(Submission)).all():
            values = {**row._asdict(), "campaign_id": other}
            values.pop("id")
            connection.execute(insert(Submission).values(**values))
        known = rows_of_campaigns(connection)
        # Tables come after those that they refer to.
        for table in campaign_tables():
            for number, campaign in enumerate((port.campaign, other)):
                if not known[table.name].get(campaign):
                    of_campaign = select(func.min(Judgments.id)).where(Judgments.campaign_id == campaign)
                    given = {
                        "campaign_id": campaign,
                        "test_set_id": port.test_set,
                        "protocol_id": 1,
                        "judgments_id": connection.scalar(of_campaign),
                    }
                    theirs = select(func.min(Submission.id)).join(System, System.id == Submission.system_id)
                    ours = connection.scalar(theirs.where(Submission.campaign_id == campaign, System.team == "harbour"))
                    people = {"account_id": port.accounts["ann"], "team_id": teams["harbour"], "team": "harbour"}
                    stored_row(
                        connection,
                        table,
                        **given,
                        **people,
                        submission_id=ours,
                        secret_hash=f"{number}" * 8,
                        name=f"{number}",
                    )
    return port, other


def everything(connection, table: Table, campaign: int) -> list[object]:
    return sorted(map(repr, connection.execute(select(table).where(table.c.campaign_id == campaign)).all()))


def test_a_campaign_leaves_no_row_and_takes_none_of_another(twice):
    port, other = twice
    with writing(port.service.engine) as connection:
        before = rows_of_campaigns(connection)
        assert all(set(each) >= {port.campaign, other} for each in before.values()), "each table has rows of both"
        theirs = {table.name: everything(connection, table, other) for table in campaign_tables()}
        shared = {
            table: connection.scalar(select(func.count()).select_from(table)) for table in (System, Text, TestSet)
        }
        told = delete_campaign(connection, COMMAND_LINE, NAME, dry_run=False).removed
    with reading(port.service.engine) as connection:
        after = rows_of_campaigns(connection)
        assert {name for name, each in after.items() if port.campaign in each} == set()
        assert {table.name: everything(connection, table, other) for table in campaign_tables()} == theirs
        assert {table: connection.scalar(select(func.count()).select_from(table)) for table in shared} == shared
    assert {what: told[what] for what in COUNTED} == {
        what: before[table.__tablename__][port.campaign] for what, table in COUNTED.items()
    }


def test_a_team_leaves_no_row_and_takes_none_of_another(twice):
    port, _ = twice
    with writing(port.service.engine) as connection:
        connection.execute(delete(Quota))
        for team in ("harbour", "guests", "guests"):
            campaign = None if connection.scalar(select(func.count()).where(Quota.team == team)) else port.campaign
            stored_row(connection, Quota.__table__, team=team, campaign_id=campaign)
            team_id = connection.scalar(select(Team.id).where(Team.name == team))
            secret = f"{connection.scalar(select(func.count()).select_from(Invitation))}" * 9
            stored_row(connection, Invitation.__table__, team_id=team_id, secret_hash=secret)
        # Work that was done or discarded goes later, by its age.
        work = {"comparison", *(kind.table.__tablename__ for kind in KINDS)}
        named = {
            table.name: table
            for table in Base.metadata.sorted_tables
            if "team" in table.columns and table.name not in work
        }
        kept = {
            name: connection.scalar(select(func.count()).where(table.c.team == "harbour"))
            for name, table in named.items()
        }
        told = delete_team(connection, COMMAND_LINE, "guests", dry_run=False).removed
        expected = {"members": 1, "campaigns that it takes part in": 2, "invitations": 2, "quotas": 2}
        assert {what: told[what] for what in expected} == expected
    with reading(port.service.engine) as connection:
        left = {
            name for name, t in named.items() if connection.scalar(select(func.count()).where(t.c.team == "guests"))
        }
        assert left == set()
        assert kept == {
            name: connection.scalar(select(func.count()).where(table.c.team == "harbour"))
            for name, table in named.items()
        }
        assert connection.scalar(select(func.count()).select_from(Participation)) == 2
        assert set(connection.scalars(select(QuotaAccount.team))) == {"harbour"}


def rows_of_teams(connection) -> dict[tuple[str, str, int], list[str]]:
    """Of each table that names a campaign and a team, whose rows these are."""
    found: dict[tuple[str, str, int], list[str]] = {}

    def note(name: str, asked: Select[Any]) -> None:
        for row in connection.execute(asked).mappings():
            found.setdefault((name, row["team"], row["campaign_id"]), []).append(repr(sorted(row.items(), key=repr)))

    for table in campaign_tables():
        if "team" in table.columns:
            note(table.name, select(table).where(table.c.campaign_id.is_not(None), table.c.team != ""))
    note("participation", select(Participation, Team.name.label("team")).join(Team))
    note("submission", select(Submission, System.team).join(System).where(System.team != ""))
    return found


def test_a_team_leaves_one_campaign_and_takes_nothing_of_another_or_of_others(twice):
    port, other = twice
    with writing(port.service.engine) as connection:
        connection.execute(delete(Quota))
        for number, (team, campaign) in enumerate(itertools.product(("harbour", "guests"), (port.campaign, other))):
            stored_row(connection, Quota.__table__, team=team, campaign_id=campaign)
            row = connection.execute(select(QuotaAccount.team, QuotaAccount.campaign_id)).all()
            if (team, campaign) not in row:
                stored_row(connection, QuotaAccount.__table__, team=team, campaign_id=campaign)
            if not connection.scalar(select(1).where(Declaration.team == team, Declaration.campaign_id == campaign)):
                its = select(func.min(Submission.id)).join(System)
                key = connection.scalar(its.where(System.team == team, Submission.campaign_id == campaign))
                given = {"team": team, "campaign_id": campaign, "submission_id": key, "test_set_id": port.test_set}
                stored_row(connection, Declaration.__table__, **given, name=f"{number}")
        stored_row(connection, Quota.__table__, team="guests")
        before = rows_of_teams(connection)
        assert {(team, campaign) for _, team, campaign in before} == set(
            itertools.product(("harbour", "guests"), (port.campaign, other))
        )
        arguments = connection, COMMAND_LINE, NAME, "guests"
        planned = delete_team_from_campaign(*arguments, dry_run=True)
        assert rows_of_teams(connection) == before
        assert delete_team_from_campaign(*arguments, dry_run=False) == planned
    gone = {key for key in before if key[1:] == ("guests", port.campaign)}
    assert {name for name, *_ in gone} >= {"quota", "quota_account", "declaration", "participation", "submission"}
    with reading(port.service.engine) as connection:
        assert rows_of_teams(connection) == {key: rows for key, rows in before.items() if key not in gone}
        assert connection.scalar(select(func.count()).where(Quota.campaign_id.is_(None), Quota.team == "guests")) == 1
        entry = connection.execute(select(AuditEntry).where(AuditEntry.action == "campaign.delete_team")).one()
    assert planned.removed == {"submissions": 1, "quotas": 1}
    assert (entry.campaign_id, entry.details) == (port.campaign, planned.removed)
    with pytest.raises(NotFound), writing(port.service.engine) as connection:
        delete_team_from_campaign(connection, COMMAND_LINE, NAME, "guests", dry_run=True)


@pytest.mark.parametrize("used", ["reference", "source"])
def test_an_output_that_is_a_text_of_a_test_set_stays(port, used):
    with writing(port.service.engine) as connection:
        (row,) = connection.execute(select(Submission.id, Submission.text_id)).all()
        if used == "reference":
            connection.execute(update(Reference).values(text_id=row.text_id))
        else:
            connection.execute(update(TestSet).values(source_text_id=row.text_id))
    with writing(port.service.engine) as connection:
        delete_submission(connection, COMMAND_LINE, row.id, dry_run=False)
    with reading(port.service.engine) as connection:
        assert connection.scalar(select(func.count()).where(Text.id == row.text_id)) == 1


def test_a_version_of_judgments_goes_with_its_rows_and_leaves_the_others(port):
    tables = HumanSystemScore, HumanSegmentScore, Rating, ErrorSpan
    with writing(port.service.engine) as connection:
        kept = []
        for name, score in (("da", 0.25), ("da", 0.5), ("esa", 0.25)):
            judged = NewJudgments(
                name,
                JudgmentKind.RATINGS,
                {},
                [SystemRow("anchor", score)],
                [SegmentRow("anchor", segment, score) for segment in range(2)],
                [RatingRow("jo", "anchor", segment, score) for segment in range(3)],
                [SpanRow("jo", "anchor", 0, place, place + 1, "minor", "", False, False) for place in range(4)],
            )
            kept.append(store_judgments(connection, port.campaign, port.test_set, judged)[0].id)
        planned = delete_human_judgments(connection, COMMAND_LINE, NAME, "da@1", "quay", dry_run=True)
        assert connection.scalar(select(func.count()).select_from(Judgments)) == 3
        assert delete_human_judgments(connection, COMMAND_LINE, NAME, "da@1", "quay", dry_run=False) == planned
    assert planned.removed == {"scores of systems": 1, "scores of segments": 2, "ratings": 3, "marked errors": 4}
    with reading(port.service.engine) as connection:
        assert list(connection.scalars(select(Judgments.id).order_by(Judgments.id))) == kept[1:]
        for table in tables:
            assert set(connection.scalars(select(table.judgments_id))) == set(kept[1:]), table
        assert connection.scalar(select(AuditEntry.action).order_by(AuditEntry.id.desc())) == "human-scores.remove"


def test_many_submissions_are_deleted_in_portions(twice, monkeypatch):
    port, _ = twice
    monkeypatch.setattr(campaigns.deletion.submissions, "AT_ONCE", 2)
    with writing(port.service.engine) as connection:
        every = list(connection.scalars(select(Submission.id).order_by(Submission.id)))
        delete_submissions(connection, every[:5])
        assert list(connection.scalars(select(Submission.id))) == every[5:]
        # Its system has the one that is left.
        assert connection.scalar(select(func.count()).select_from(System)) == 1


def test_comparisons_with_a_deleted_system_end(port):
    with writing(port.service.engine) as connection:
        evaluation = connection.scalar(select(Evaluation.id))
        for systems in (((evaluation,), (evaluation + 1,)), ((77,), (78,))):
            plan = RandomizationPlan(1, systems, (Pair(0, 0, 1),), 300, 7)
            start_comparison(connection, plan, [(100, 200)], queue_class=1, team="", edition=EDITION)
        delete_submission(connection, COMMAND_LINE, connection.scalar(select(Submission.id)), dry_run=False)
        found = connection.execute(select(Comparison.state, Comparison.reason).order_by(Comparison.id)).all()
        assert [each.state for each in found] == [ComparisonState.FAILED, ComparisonState.RUNNING]
        assert found[0].reason == "A system in it was deleted."


def test_a_submission_that_is_not_visible_is_not_there_for_others(port):
    assert port.submit(port.program("mary"), output(1), system="mast").status_code == 201
    port.service.campaign(NAME, visibility="private")
    (number,) = (each["id"] for each in port.program("mary").get(f"{ADDRESS}/submissions").json()["items"])
    answers = {
        (answer.status_code, answer.json()["error"]["message"].replace(str(number), "N").replace("999", "N"))
        for asked in (number, 999)
        if (answer := port.program("zoe", *Scope).delete(f"/api/v1/submissions/{asked}?dry_run=true"))
    }
    assert len(answers) == 1, answers


def test_an_account_is_forgotten_wherever_the_audit_log_and_invitations_name_it(port):
    mary, zoe = port.accounts["mary"], port.accounts["zoe"]
    with writing(port.service.engine) as connection:
        connection.execute(delete(AuditEntry))
        parts = {"actor": "ann@example.org", "subject": "campaign x", "details": {}, "action": "account.role"}
        for own in (
            {"actor": "mary@example.org"},
            {"subject": "account Mary@Example.org"},
            {"details": {"before": {"email": "mary@example.org"}}},
            {"account_id": mary, "actor": "another name", "address": "192.0.2.7"},
            {"account_id": zoe, "address": "192.0.2.8"},
        ):
            connection.execute(insert(AuditEntry).values({**parts, **own}))
        for number, email in enumerate(("mary@example.org", "rosemary@example.org")):
            stored_row(connection, Invitation.__table__, email=email, secret_hash=f"{number}" * 9)
        assert delete_account(connection, COMMAND_LINE, mary, dry_run=False).kept == KEPT[1:], "it has sent nothing"
    called = f"deleted account {mary}"
    with reading(port.service.engine) as connection:
        columns = AuditEntry.actor, AuditEntry.subject, AuditEntry.details, AuditEntry.address
        rows = connection.execute(select(*columns).order_by(AuditEntry.id).limit(5)).all()
        assert [row.actor for row in rows] == [called, *["ann@example.org"] * 2, "another name", "ann@example.org"]
        assert rows[1].subject == f"account {called}"
        assert rows[2].details == {"before": {"email": called}}
        assert [row.address for row in rows[3:]] == ["", "192.0.2.8"]
        assert list(connection.scalars(select(Invitation.email))) == ["rosemary@example.org"]
        assert set(connection.scalars(select(Account.email))) >= {"zoe@example.org", "ann@example.org"}


def test_it_is_said_that_what_an_account_sent_stays(port):
    assert port.submit(port.program("mary"), output(1), system="mast").status_code == 201
    with writing(port.service.engine) as connection:
        assert delete_account(connection, COMMAND_LINE, port.accounts["mary"], dry_run=True).kept == KEPT
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.QUEUED}
