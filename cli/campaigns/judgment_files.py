"""Human judgments in a campaign folder, which `evaluate` ingests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard_client.commands.human.imported import describe_import, match_notices

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.meta_evaluation.human.judgments import Judged


def store_campaign_judgments(
    engine: Engine, campaign_id: int, test_set_id: int, judgments: dict[str, Judged], folder: CampaignFolder
) -> list[str]:
    """Store the judgments of a campaign folder; notices on what was read and stored.

    Judgments that match none of the campaign's systems are left out with a notice and do not stop the evaluation.
    """
    from scheduler.ingest.judgments import NothingMatched, ingest_judgments
    from steelyard.meta_evaluation.human.kinds import RANKINGS
    from steelyard.meta_evaluation.human.rankings import rankings

    notices = []
    for name, judged in judgments.items():
        try:
            taken = ingest_judgments(engine, campaign_id, test_set_id, name, judged)
        except NothingMatched as error:
            notices.append(f"Human judgments {name} were left out: {error}")
            continue
        known = "" if taken.new else " (was there already)"
        described = describe_import(
            f"{taken.stored.title} of {folder.name}{known}",
            kind=judged.kind, judgments=len(judged.judgments),
            rankings=len(rankings(judged.judgments)) if judged.kind == RANKINGS else 0,
            annotators=len({each.annotator for each in judged.judgments}),
            systems=len(judged.systems), segments=len(judged.segments),
        )  # fmt: skip
        matched = taken.matched
        notices += [*judged.notices, f"Human judgments {described}"]
        notices += match_notices(matched.systems, matched.unknown, matched.not_judged)
    return notices
