"""Two campaigns share test set, systems and outputs: the export of one holds nothing of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import insert, select, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.terms import set_terms
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, SystemRow, store_judgments
from models.database.session import writing
from models.schema.campaigns import CampaignMember, CampaignTestSet, Correction, Declaration
from models.schema.corpus import Submission
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.roles import PhaseKind, SystemOrigin
from models.schema.states import JudgmentKind
from models.schema.systems import SystemDescription
from models.storage.arrays import pack
from tests.campaigns.exports.exported import exported
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output, with_test_set

if TYPE_CHECKING:
    from tests.service.service import Service


def fill(service: Service, campaign: str, mark: str) -> None:
    """All that a campaign may have, each with the mark."""
    account = service.account(mark)
    team = service.team(f"team{mark}", account)
    number = service.campaign(campaign, teams=(team,), title=mark, description=mark)
    test_set = with_test_set(service.engine, campaign, name="news", metrics=("bleu",))
    submit_output(service.engine, campaign, "", "shared", b"kocka\npes\ndum\n", origin=SystemOrigin.BASELINE)
    submit_output(service.engine, campaign, f"team{mark}", "own", f"{mark}\npes\ndum\n".encode(), description=mark)
    service.phase(number, mark, PhaseKind.OPEN)
    with writing(service.engine) as connection:
        connection.execute(insert(CampaignMember).values(campaign_id=number, account_id=account, role="viewer"))
        set_terms(connection, lock_for_change(connection, COMMAND_LINE, campaign), mark)
        judged = NewJudgments(
            mark, JudgmentKind.SCORES, {"mark": mark}, [SystemRow(mark, 1.0)], [SegmentRow(mark, 0, 1.0)],
            [RatingRow("ann", mark, 0, 1.0, label=mark)],
        )  # fmt: skip
        store_judgments(connection, number, test_set, judged)
        imported = insert(ScoreImport).values(
            campaign_id=number, test_set_id=test_set, name=mark, version="1", specification=f"imported:metric={mark}",
            content_hash="0" * 64, level="segment", higher_is_better=True, systems=1,
            files=[{"name": mark, "sha256": "0" * 64}], notices=[mark], actor=mark,
        )  # fmt: skip
        key = connection.execute(imported.returning(ScoreImport.id)).scalar_one()
        own = select(Submission).where(Submission.campaign_id == number).order_by(Submission.id)
        first = connection.execute(own).first()
        assert first is not None
        row = {"import_id": key, "submission_id": first.id, "blob": pack(np.ones((3, 2)))}
        connection.execute(insert(ImportedScore).values(**row))
        described = SystemDescription.campaign_id == number
        connection.execute(update(SystemDescription).where(described).values(description=mark))
        corrected = {"old_test_set_id": test_set, "new_test_set_id": test_set, "reason": mark}
        connection.execute(insert(Correction).values(campaign_id=number, **corrected))
        mine = Declaration.campaign_id == number
        connection.execute(update(Declaration).where(mine).values(description=mark))


def test_an_export_holds_nothing_of_a_campaign_that_shares_everything(service: Service) -> None:
    for campaign, mark in (("wmt", "canaryours"), ("other", "canarytheirs")):
        fill(service, campaign, mark)
    work_off(service.settings)
    with writing(service.engine) as connection:
        shared = connection.scalars(select(CampaignTestSet.test_set_id)).all()
        assert len(shared) == 2
        assert len({*shared}) == 1
    files = exported(service, COMMAND_LINE)
    for name, content in files.items():
        assert b"canarytheirs" not in content, name
        assert "canarytheirs" not in name
        assert b" of campaign other" not in content, name
    told = {name for name, content in files.items() if b"canaryours" in content}
    tables = ("campaign", "submissions", "systems", "corrections", "judgments", "imported", "teams", "members", "audit")
    assert {name.partition(".")[0] for name in told} >= {*tables}
