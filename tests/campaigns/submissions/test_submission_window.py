"""Whether a team may submit just now, as it sees beforehand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import delete, update

from campaigns.accounts.principal import principal_of_session
from campaigns.permissions import read_access
from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from campaigns.submissions.submission_window import SubmissionWindow, read_submission_window
from models.database.session import reading, writing
from models.schema.accounts import Account
from models.schema.base import now
from models.schema.campaigns import Campaign, Phase
from models.schema.roles import LateRule, PhaseKind
from models.schema.states import QuotaKind
from tests.service.port import NAME, Port

HOUR = 3600.0
OVER = {"ends_at": now() - 60}


def submission_window(port: Port, team: str = "harbour") -> SubmissionWindow:
    secret = port.service.session(port.accounts["mary"])
    with reading(port.service.engine) as connection:
        access = read_access(connection, principal_of_session(connection, secret), NAME)
        return read_submission_window(connection, access, team)


@pytest.mark.parametrize(
    ("phase", "campaign", "verified", "closed"),
    [
        ({}, {}, False, ""),
        (OVER, {}, True, 'the phase "first" was closed at'),
        ({"starts_at": now() + HOUR}, {}, True, "begins"),
        ({"kind": PhaseKind.CLOSED}, {}, True, "."),
        ({"kind": PhaseKind.PUBLISHED}, {}, True, "."),
        ({**OVER, "late": LateRule.FLAG, "grace_seconds": 30.0}, {}, True, 'the phase "first" was closed at'),
        (None, {}, False, ""),
        ({}, {"frozen_at": 0.0}, True, r"^The campaign was frozen on 1 January 1970, 00:00"),
        (None, {"frozen_at": 0.0}, True, "was frozen on"),
        (OVER, {"frozen_at": 0.0}, True, "was frozen on"),
        ({}, {"verified_only": True}, False, "only from accounts with a confirmed e-mail address"),
        (None, {"verified_only": True}, False, "only from accounts with a confirmed e-mail address"),
        ({}, {"verified_only": True}, True, ""),
        (OVER, {"verified_only": True}, False, 'the phase "first" was closed at'),
    ],
)
def test_why_nothing_is_taken(
    port: Port, phase: dict[str, Any] | None, campaign: dict[str, Any], verified: bool, closed: str
) -> None:
    with writing(port.service.engine) as connection:
        if phase is None:
            connection.execute(delete(Phase))
        elif phase:
            connection.execute(update(Phase).values(**phase))
        if campaign:
            connection.execute(update(Campaign).values(**campaign))
        connection.execute(update(Account).values(verified_at=1.0 if verified else None))
    found = submission_window(port)
    assert (found.team, bool(found.closed), found.late_seconds) == ("harbour", bool(closed), 0.0)
    assert re.search(closed, found.closed)
    assert (found.phase is None) == (phase is None or "starts_at" in phase)


def test_what_is_taken_late_is_marked_as_late(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 60, late=LateRule.FLAG, grace_seconds=HOUR))
    found = submission_window(port)
    assert (found.closed, found.late_seconds) == ("", pytest.approx(90, abs=30))
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(frozen_at=1.0))
    assert submission_window(port).late_seconds == 0.0, "nothing is taken"


@pytest.mark.parametrize("phases", [True, False])
def test_the_limits_are_those_of_the_team_in_the_phase_of_now(port: Port, phases: bool) -> None:
    port.service.phase(port.campaign, "second", PhaseKind.OPEN, begins=HOUR)
    with writing(port.service.engine) as connection:
        if not phases:
            connection.execute(delete(Phase))
            connection.execute(update(Campaign).values(phase="first"))
        for team, phase, amount in (("", "first", 1), ("", "second", 0), ("guests", "first", 5)):
            set_quotas(connection, QuotaScope(port.campaign, team, phase), {QuotaKind.PER_PHASE: amount})
        set_quotas(connection, QuotaScope(port.campaign, "", ""), {QuotaKind.PER_DAY: 3})
    for used in (0, 1):
        found = submission_window(port)
        limits = {each.kind: (each.amount, each.used) for each in found.limits}
        assert limits == {QuotaKind.PER_PHASE: (1, used), QuotaKind.PER_DAY: (3, used)}
        assert (found.closed, len(found.full)) == ("", used), "a quota that is used up closes nothing for others"
        assert not used or "Team harbour has used 1 of 1 submission" in found.full[0]
        assert {each.kind: each.amount for each in submission_window(port, "guests").limits}[QuotaKind.PER_PHASE] == 5
        if not used:
            assert port.submit(port.program("mary")).status_code == 201
