"""The history of a submission, and who is named in it."""

from __future__ import annotations

from sqlalchemy import insert

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.permissions import read_access_by_id
from campaigns.submissions.history import MAX_EVENTS, HistoryEvent, read_history
from campaigns.submissions.views import find_submission
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from tests.service.port import Port


def test_a_team_reads_what_was_done_with_its_submission_and_by_whom_of_its_own(port: Port) -> None:
    """Others are "the organisers", and nothing of other submissions and campaigns is there."""
    port.submit(port.program("mary"))
    other = port.service.campaign("other")
    mary, ann, zoe = (port.accounts[name] for name in ("mary", "ann", "zoe"))
    done = (
        (mary, "submission.declare", "submission 2", port.campaign),
        (ann, "submission.withdraw", "submission 2 of team harbour", port.campaign),
        (None, "submission.reinstate", "submission 2", port.campaign),
        (zoe, "evaluation.cancel", "submission 2", port.campaign),
        (mary, "evaluation.retry", "submission 2", port.campaign),
        (mary, "submission.declare", "submission 2", other),
        (mary, "submission.declare", "submission 20", port.campaign),
        (mary, "submission.declare", "submission 20 of team harbour", port.campaign),
        (mary, "submission.declare", "submission 1", port.campaign),
        (mary, "quota.set", "submission 2", port.campaign),
    )
    with writing(port.service.engine) as connection:
        connection.execute(AuditEntry.__table__.delete())  # type: ignore[attr-defined]
        for at, (account, action, subject, campaign) in enumerate(done):
            row = {"account_id": account, "action": action, "subject": subject, "campaign_id": campaign}
            connection.execute(insert(AuditEntry).values(at=float(at), actor="a@example.org", **row))
    with reading(port.service.engine) as connection:
        access = read_access_by_id(connection, COMMAND_LINE, port.campaign)
        seen = find_submission(connection, COMMAND_LINE, 2, 60.0)[1]
        found = read_history(connection, access, seen)
    assert found == [
        HistoryEvent(4.0, "queued again", "mary"),
        HistoryEvent(3.0, "cancelled", "the organisers"),
        HistoryEvent(2.0, "reinstated", "a command"),
        HistoryEvent(1.0, "withdrawn", "the organisers"),
        HistoryEvent(0.0, "declared", "mary"),
    ]
    with writing(port.service.engine) as connection:
        row = {"actor": "a@example.org", "action": "submission.declare", "subject": "submission 2"}
        rows = [{**row, "campaign_id": port.campaign, "at": 10.0 + number} for number in range(MAX_EVENTS)]
        connection.execute(insert(AuditEntry), rows)
        found = read_history(connection, access, seen)
    assert [each.at for each in found] == [10.0 + number for number in reversed(range(MAX_EVENTS))], "the last ones"
