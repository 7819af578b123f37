"""Deletions: they say first what they take away, take exactly that, and leave the audit log."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select, text, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.deletion.accounts import delete_account
from campaigns.deletion.campaigns import delete_campaign
from campaigns.deletion.submissions import delete_submission
from campaigns.deletion.teams import delete_team
from campaigns.errors import Conflict, Forbidden, NotFound
from campaigns.quotas.quotas import read_team_quotas, set_quotas
from campaigns.quotas.rules import QuotaScope
from models.database.session import reading, writing
from models.schema.accounts import Account, AuditEntry, Membership, Team
from models.schema.base import Base
from models.schema.campaigns import Campaign, Declaration
from models.schema.corpus import Submission, System, Text
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import Scope, SiteRole
from models.schema.states import QuotaKind
from tests.service.port import NAME, Port, output


@pytest.fixture
def port(service):
    """A campaign with the organisers' system and two teams' systems, one of them twice; two are scored, one waits."""
    port = Port.opened(service)
    for who, system, seed in (("mary", "mast", 1), ("zoe", "oar", 2)):
        assert port.submit(port.program(who), output(seed), system=system).status_code == 201
    port.work_off()
    assert port.submit(port.program("mary"), output(3), system="keel").status_code == 201
    return port


def rows(port):
    """How many rows every table has, but for the audit log."""
    with reading(port.service.engine) as connection:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table))
            for table in Base.metadata.tables.values()
            if table.name != "audit_entry"
        }


def numbers(port, system):
    with reading(port.service.engine) as connection:
        return list(
            connection.scalars(
                select(Submission.id).join(System, System.id == Submission.system_id).where(System.name == system)
            )
        )


def done(port, delete, *arguments, by=COMMAND_LINE):
    """What is said before and after; before, nothing changes."""
    before = rows(port)
    with writing(port.service.engine) as connection:
        planned = delete(connection, by, *arguments, dry_run=True)
    assert rows(port) == before
    with writing(port.service.engine) as connection:
        assert delete(connection, by, *arguments, dry_run=False) == planned
    return planned


def test_a_submission_goes_with_its_output_and_scores_and_out_of_the_quota(port):
    (mast,), before = numbers(port, "mast"), rows(port)
    with writing(port.service.engine) as connection:
        set_quotas(connection, QuotaScope(), {QuotaKind.PER_PHASE: 9})
        assert connection.scalar(select(func.count()).select_from(Score)) == 6
    planned = done(port, delete_submission, mast)
    assert planned.removed == {"submissions": 1, "scores": 2}
    after = rows(port)
    gone = {name: before[name] - after[name] for name in ("submission", "evaluation", "score", "text", "system")}
    assert gone == {"submission": 1, "evaluation": 1, "score": 2, "text": 1, "system": 1}
    assert not numbers(port, "mast")
    with reading(port.service.engine) as connection:
        (account,) = read_team_quotas(connection, "harbour", NAME)
        assert {each.kind: each.used for each in account.usage}[QuotaKind.PER_PHASE] == 1
        assert connection.scalar(select(AuditEntry.subject).where(AuditEntry.action == "submission.delete")) == (
            f"submission {mast} of harbour/mast"
        )
    # The leaderboard has all others.
    board = port.program("ann").get("/api/v1/campaigns/port%201/leaderboard").json()
    assert {each["system"] for each in board["items"] if each["scores"]} == {"anchor", "oar"}


def test_work_that_waits_for_a_deleted_submission_hurts_nobody(port):
    (keel,) = numbers(port, "keel")
    done(port, delete_submission, keel)
    assert port.submit(port.program("zoe"), output(4), system="tug").status_code == 201
    port.work_off()
    with reading(port.service.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {"done"}


def test_an_output_that_another_campaign_has_too_stays(port):
    (mast,) = numbers(port, "mast")
    with writing(port.service.engine) as connection:
        text_id = connection.scalar(select(Submission.text_id).where(Submission.id == mast))
        (keel,) = numbers(port, "keel")
        connection.execute(update(Submission).where(Submission.id == keel).values(text_id=text_id))
    done(port, delete_submission, mast)
    with reading(port.service.engine) as connection:
        assert connection.scalar(select(func.count()).where(Text.id == text_id)) == 1


def test_a_campaign_goes_with_all_that_is_in_it(port):
    planned = done(port, delete_campaign, NAME)
    expected = {"submissions": 4, "teams": 2, "organisers and viewers": 1, "phases": 1, "test sets": 1}
    assert {name: planned.removed[name] for name in expected} == expected
    with reading(port.service.engine) as connection:
        for table in (Campaign, Submission, Evaluation, Score, Declaration):
            assert not connection.scalar(select(func.count()).select_from(table)), table
        assert connection.scalar(select(func.count()).select_from(Team)) == 2
        entry = connection.execute(select(AuditEntry).where(AuditEntry.action == "campaign.delete")).one()
        assert (entry.subject, entry.details["submissions"]) == (f"campaign {NAME}", 4)
        assert connection.scalar(select(func.count()).where(AuditEntry.action == "submission.create")) is not None
    # Its name is free again.
    port.service.campaign(NAME)


def test_a_team_goes_with_its_submissions_and_its_members_stay(port):
    planned = done(port, delete_team, "harbour")
    assert (planned.removed["submissions"], planned.removed["members"]) == (2, 1)
    with reading(port.service.engine) as connection:
        assert list(connection.scalars(select(Team.name))) == ["guests"]
        assert "mary@example.org" in set(connection.scalars(select(Account.email)))
        assert set(connection.scalars(select(System.name))) == {"anchor", "oar"}


def test_an_account_leaves_no_trace_of_its_address(port):
    mary = port.accounts["mary"]
    with writing(port.service.engine) as connection:
        # One whose address ends in hers keeps it.
        connection.execute(
            AuditEntry.__table__.insert().values(
                actor="rosemary@example.org",
                action="account.role",
                subject="account mary@example.org",
                details={"email": ["mary@example.org", "rosemary@example.org"]},
            )
        )
    done(port, delete_account, mary)
    called = f"deleted account {mary}"
    with reading(port.service.engine) as connection:
        entries = connection.execute(select(AuditEntry.actor, AuditEntry.subject, AuditEntry.details)).all()
        stored = json.dumps([[row.actor, row.subject, row.details] for row in entries])
        assert "mary@example.org" not in stored.replace("rosemary@example.org", "")
        (other,) = [row for row in entries if row.actor == "rosemary@example.org"]
        assert (other.subject, other.details["email"]) == (f"account {called}", [called, "rosemary@example.org"])
        assert called in {row.actor for row in entries}, "it has submitted"
        assert len(numbers(port, "mast")) == 1
        assert connection.scalar(select(func.count()).select_from(Membership)) == 1
        assert connection.scalar(select(Declaration.account_id).where(Declaration.team == "harbour")) is None


def test_teams_and_servers_keep_somebody_who_leads_them(port, service):
    root = service.account("root", SiteRole.ADMINISTRATOR)
    with writing(service.engine) as connection:
        harbour = connection.scalar(select(Team.id).where(Team.name == "harbour"))
        connection.execute(
            Membership.__table__.insert().values(team_id=harbour, account_id=port.accounts["zoe"], role="member")
        )
    for account, said in ((root, "administrator"), (port.accounts["mary"], "the only lead of harbour")):
        with pytest.raises(Conflict, match=said), writing(service.engine) as connection:
            delete_account(connection, COMMAND_LINE, account, dry_run=True)


def test_a_team_that_nobody_leads_keeps_nobody(port):
    """Nor does one that another leads, too."""
    mary, zoe = port.accounts["mary"], port.accounts["zoe"]
    with writing(port.service.engine) as connection:
        harbour = connection.scalar(select(Team.id).where(Team.name == "harbour"))
        connection.execute(Membership.__table__.insert().values(team_id=harbour, account_id=zoe, role="lead"))
        delete_account(connection, COMMAND_LINE, mary, dry_run=True)
        connection.execute(update(Membership).where(Membership.team_id == harbour).values(role="member"))
        delete_account(connection, COMMAND_LINE, mary, dry_run=True)


@pytest.mark.parametrize("who", ["mary", "ann"])
def test_who_may_delete(port, who):
    client = port.program(who, *Scope)
    (mast,) = numbers(port, "mast")
    may = 200 if who == "ann" else 403
    for path, status in (
        (f"/api/v1/submissions/{mast}", may),
        ("/api/v1/campaigns/port%201", may),
        ("/api/v1/teams/guests", 403),
        (f"/api/v1/accounts/{port.accounts['zoe']}", 403),
    ):
        before = rows(port)
        answer = client.delete(f"{path}?dry_run=true")
        assert answer.status_code == status, answer.text
        if status == 200:
            assert answer.json()["deleted"] is False
        assert rows(port) == before
    assert numbers(port, "mast")


def test_what_is_not_there(port):
    for delete, what in ((delete_campaign, "x"), (delete_team, "x"), (delete_submission, 999)):
        with pytest.raises(NotFound), writing(port.service.engine) as connection:
            delete(connection, COMMAND_LINE, what, dry_run=False)
    with pytest.raises((NotFound, Forbidden)), writing(port.service.engine) as connection:
        delete_account(connection, COMMAND_LINE, 999, dry_run=False)
    with reading(port.service.engine) as connection:
        assert connection.execute(text("SELECT 1")).scalar() == 1
