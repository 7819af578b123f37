"""Lists of submissions: whose, which, in what order, page by page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal, principal_of_session
from campaigns.errors import NotFound
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.views import (
    EvaluationView,
    SubmissionQuery,
    SubmissionView,
    earlier_of_system,
    find_submission,
    list_submissions,
)
from campaigns.systems.listing import list_systems
from models.corpus.test_sets import StoredTestSet
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet, Declaration, Participation, SubmissionFindings
from models.schema.corpus import Protocol, Submission, TestSet, Text
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind, PhaseKind
from models.schema.states import EvaluationState, Fault
from steelyard.checks.finding import Finding, Severity
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service

SILENT = 60.0
SUBMITTED: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("wmt", "ants", "mast", "news", {"declared": DeclaredKind.PRIMARY}),
    ("wmt", "bees", "mast", "news", {"declared": DeclaredKind.PRIMARY}),
    ("wmt", "ants", "sail", "news", {"declared": DeclaredKind.CONTRASTIVE, "run": "1"}),
    ("wmt", "ants", "mast", "talks", {}),
    ("wmt", "ants", "mast", "news", {"declared": DeclaredKind.CONTRASTIVE}),
    ("wmt", "ants", "mast", "news", {"declared": DeclaredKind.CONTRASTIVE, "run": "1"}),
    ("wmt", "bees", "sail", "talks", {}),
    ("other", "ants", "mast", "papers", {}),
]
"""Campaign, team, system and test set of the submissions 1 to 8, and what was said of them."""


class Site:
    """Two campaigns and two teams; submissions 1 to 7 in the first, 8 in the other."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.accounts = {name: service.account(name) for name in ("olga", "mary", "eve")}
        self.teams = {
            "ants": service.team("ants", self.accounts["mary"]),
            "bees": service.team("bees", self.accounts["eve"]),
        }
        for name, teams in (("wmt", tuple(self.teams.values())), ("other", tuple(self.teams.values()))):
            service.campaign(name, organisers=(self.accounts["olga"],), teams=teams)
        engine = service.engine
        with_test_set(engine, "wmt", name="news")
        with_test_set(engine, "wmt", given(b"x\ny\nz\n"), name="talks")
        with_test_set(engine, "other", given(b"u\nv\nw\n"), name="papers")
        for number, (campaign, team, system, test_set, values) in enumerate(SUBMITTED, start=1):
            lines = b"%d\ny\nz\n" % number
            assert (
                submit_output(engine, campaign, team, system, lines, test_set=test_set, **values).submission == number
            )
        with writing(engine) as connection:
            for number, values in ((3, {"withdrawn_at": now()}), (5, {"late_seconds": 3.0})):
                connection.execute(update(Declaration).where(Declaration.submission_id == number).values(**values))

    def principal(self, name: str) -> Principal:
        if name == "command line":
            return COMMAND_LINE
        with reading(self.service.engine) as connection:
            return principal_of_session(connection, self.service.session(self.accounts[name]))

    def access(self, name: str, campaign: str = "wmt") -> CampaignAccess:
        principal = self.principal(name)
        with reading(self.service.engine) as connection:
            return read_access(connection, principal, campaign)

    def listed(self, name: str, **wanted: Any) -> tuple[list[int], int | None]:
        access = self.access(name)
        with reading(self.service.engine) as connection:
            found = list_submissions(connection, access, SubmissionQuery(**wanted), SILENT)
        return [each.id for each in found.items], found.next


@pytest.fixture
def site(service: Service) -> Site:
    return Site(service)


def test_who_lists_which(site: Site) -> None:
    """One made world for all questions: making it takes longer than asking."""
    everything, ants, bees = [7, 6, 5, 4, 3, 2, 1], [6, 5, 4, 3, 1], [7, 2]
    for name, wanted, expected in (
        ("olga", {}, everything),
        ("command line", {}, everything),
        ("mary", {}, ants),
        ("eve", {}, bees),
        ("olga", {"team": "bees"}, bees),
        ("mary", {"team": "bees"}, []),
        ("olga", {"test_set": "talks"}, [7, 4]),
        ("mary", {"test_set": "talks"}, [4]),
        ("olga", {"test_set": "talks@1"}, [7, 4]),
        ("olga", {"test_set": "talks@2"}, []),
        ("olga", {"kind": "withdrawn"}, [3]),
        ("olga", {"kind": "late"}, [5]),
        ("olga", {"kind": "primary"}, [2, 1]),
        ("olga", {"kind": "contrastive"}, [6, 5]),
        ("olga", {"team": "ants", "test_set": "news", "kind": "contrastive"}, [6, 5]),
        ("olga", {"after": 4}, [3, 2, 1]),
        ("olga", {"after": 1}, []),
        ("mary", {"after": 4}, [3, 1]),
    ):
        assert site.listed(name, **wanted) == (expected, None), (name, wanted)
    assert site.listed("olga", limit=7) == (everything, None)
    assert site.listed("olga", limit=6) == (everything[:6], 2)
    assert site.listed("olga", limit=3) == ([7, 6, 5], 5)
    assert site.listed("olga", limit=3, after=5) == ([4, 3, 2], 2)
    assert site.listed("olga", limit=3, after=2) == ([1], None)


def test_what_is_said_of_one(site: Site) -> None:
    with reading(site.service.engine) as connection:
        access, seen = find_submission(connection, site.principal("mary"), 3, SILENT)
    assert (access.name, seen.team, seen.system, seen.run, seen.name) == ("wmt", "ants", "sail", "1", "sail, run 1")
    assert (seen.test_set.name, seen.test_set.version, seen.test_set.segments) == ("news", "1", 3)
    assert (seen.kind, seen.declared, seen.withdrawn_at is not None) == (DeclaredKind.CONTRASTIVE, True, True)
    assert [(each.references, each.metrics[0][:4]) for each in seen.evaluations] == [(("A",), "bleu")]
    with writing(site.service.engine) as connection:
        connection.execute(Declaration.__table__.delete().where(Declaration.submission_id == 3))
    with reading(site.service.engine) as connection:
        seen = find_submission(connection, site.principal("olga"), 3, SILENT)[1]
    assert (seen.declared, seen.kind, seen.late_seconds, seen.description) == (False, DeclaredKind.UNDECLARED, 0.0, "")


def test_each_is_shown_as_submitted_and_declared(site: Site) -> None:
    """Every field, of several at once: none is that of another."""
    engine = site.service.engine
    said = {
        number: {
            "constrained": (None, True, False)[number % 3],
            "description": f"about {number}",
            "phase": f"phase {number}",
            "late_seconds": float(number),
            "withdrawn_at": 100.0 + number if number % 2 else None,
        }
        for number in range(1, 9)
    }
    findings = {
        number: (Finding(f"odd{number}", Severity.NOTE, f"It is {number}.", (1, 3), number),) for number in (1, 3, 4)
    }
    with writing(engine) as connection:
        for number, values in said.items():
            connection.execute(update(Declaration).where(Declaration.submission_id == number).values(**values))
        for number, found in findings.items():
            row = {"submission_id": number, "findings": [each.as_row() for each in found]}
            connection.execute(insert(SubmissionFindings).values(**row))
        for number, fault in ((3, Fault.INPUT), (4, Fault.PLATFORM)):
            ended = {"state": "failed", "reason": f"why {number}", "fault": fault, "finished_at": 200.0 + number}
            connection.execute(update(Evaluation).where(Evaluation.submission_id == number).values(**ended))
        rows = {row.id: row for row in connection.execute(select(Submission))}
        of_submission = {row.submission_id: row for row in connection.execute(select(Evaluation))}
        protocols = {row.id: row for row in connection.execute(select(Protocol))}
        sizes = {row.id: row.segments for row in connection.execute(select(TestSet))}
        sums = {row.id: row.sha256 for row in connection.execute(select(Text.id, Text.sha256))}
    assert len(set(sums.values())) == len(sums)
    reasons = {
        3: "The metrics cannot score this text. The organisers of the campaign see the reason.",
        4: "The server failed to score it; this does not count against the quota. The organisers see the reason.",
    }
    access = site.access("mary")
    with reading(engine) as connection:
        items = list_submissions(connection, access, SubmissionQuery(), SILENT).items
    assert [each.id for each in items] == [6, 5, 4, 3, 1]
    for each in items:
        _, team, system, test_set, values = SUBMITTED[each.id - 1]
        evaluation = of_submission[each.id]
        protocol = protocols[evaluation.protocol_id]
        ended = each.id in (3, 4)
        assert each == SubmissionView(
            id=each.id,
            campaign_id=access.campaign_id,
            team=team,
            system=system,
            run=values.get("run", ""),
            test_set=StoredTestSet(rows[each.id].test_set_id, test_set, "1", sizes[rows[each.id].test_set_id]),
            created_at=rows[each.id].created_at,
            bytes=5,
            sha256=sums[rows[each.id].text_id],
            declared=True,
            kind=values.get("declared", DeclaredKind.UNDECLARED),
            **said[each.id],
            evaluations=(
                EvaluationView(
                    *(evaluation.id, evaluation.protocol_id, ("A",), tuple(protocol.metrics)),
                    EvaluationState.FAILED if ended else EvaluationState.QUEUED,
                    reasons.get(each.id),
                    200.0 + each.id if ended else None,
                ),
            ),
            findings=findings.get(each.id, ()),
            progress=each.progress,
        )
        assert each.progress is not None
        assert each.progress.ended == ended


def test_who_finds_which(site: Site) -> None:
    words = set()
    for name, theirs in (("mary", {1, 3, 4, 5, 6, 8}), ("eve", {2, 7}), ("olga", set(range(1, 9)))):
        principal = site.principal(name)
        for number in (*range(9), -1, 2**63, 999):
            with reading(site.service.engine) as connection:
                if number in theirs:
                    assert find_submission(connection, principal, number, SILENT)[1].id == number
                    continue
                with pytest.raises(NotFound) as error:
                    find_submission(connection, principal, number, SILENT)
                words.add(str(error.value).replace(str(number), "N"))
    assert words == {"There is no submission N that you may see."}


def test_what_belongs_to_a_phase_to_come_is_there_for_organisers_alone(site: Site) -> None:
    """Also for the teams that have handed it in: a phase may have been moved."""
    campaign, engine = site.service.campaign("wmt"), site.service.engine
    site.service.phase(campaign, "now", PhaseKind.OPEN)
    coming = site.service.phase(campaign, "later", PhaseKind.OPEN, begins=DAY)
    with writing(engine) as connection:
        talks = select(CampaignTestSet.test_set_id).where(CampaignTestSet.name == "talks").scalar_subquery()
        moved = update(CampaignTestSet).where(CampaignTestSet.test_set_id == talks)
        connection.execute(moved.values(phase_id=coming))
    for name, wanted, expected in (
        ("mary", {}, [6, 5, 3, 1]),
        ("mary", {"test_set": "talks"}, []),
        ("eve", {}, [2]),
        ("olga", {}, [7, 6, 5, 4, 3, 2, 1]),
    ):
        assert site.listed(name, **wanted) == (expected, None), (name, wanted)
    for name, number, there in (("mary", 4, False), ("eve", 7, False), ("olga", 4, True), ("mary", 1, True)):
        principal = site.principal(name)
        with reading(engine) as connection:
            if there:
                assert find_submission(connection, principal, number, SILENT)[1].id == number
                continue
            with pytest.raises(NotFound, match=f"^There is no submission {number} that you may see.$"):
                find_submission(connection, principal, number, SILENT)
    for name, expected in (("mary", [3, 1, 1]), ("olga", [4, 1, 1, 1])):
        access = site.access(name)
        with reading(engine) as connection:
            systems = list_systems(connection, access, limit=50, after=None)
        assert sorted((each.submissions for each in systems), reverse=True) == expected, name


def test_earlier_ones_are_those_of_the_same_system_on_the_same_test_set(site: Site) -> None:
    for number, expected in ((1, [6, 5]), (5, [6, 1]), (6, [5, 1]), (2, []), (3, []), (4, []), (7, []), (8, [])):
        with reading(site.service.engine) as connection:
            access, seen = find_submission(connection, COMMAND_LINE, number, SILENT)
            found = earlier_of_system(connection, access, seen, SILENT)
        assert [each.id for each in found] == expected, number


def test_a_team_that_has_left_a_campaign_sees_nothing_of_it(site: Site) -> None:
    with writing(site.service.engine) as connection:
        connection.execute(Participation.__table__.delete().where(Participation.team_id == site.teams["bees"]))
    assert site.listed("eve") == ([], None)
    with reading(site.service.engine) as connection, pytest.raises(NotFound):
        find_submission(connection, site.principal("eve"), 2, SILENT)


def test_pages_of_fifty_and_findings_that_are_more_than_notes(site: Site) -> None:
    assert SubmissionQuery().limit == 50
    with reading(site.service.engine) as connection:
        seen = find_submission(connection, COMMAND_LINE, 1, SILENT)[1]
    findings = tuple(Finding("odd", severity, "It is odd.") for severity in (Severity.NOTE, *Severity))
    assert replace(seen, findings=findings).warnings == len(Severity) - 1
