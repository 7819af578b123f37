"""Deletes what was imported into a campaign: scores made elsewhere, and human judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from campaigns.changes import lock_for_change
from campaigns.deletion.counts import Deletion, present
from campaigns.inspection.judgments import judgments_of, remove_judgments
from campaigns.score_imports.versions import chosen_versions, delete_version
from models.schema.human import ErrorSpan, HumanSegmentScore, HumanSystemScore, Rating

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from runtime.settings import Settings

JUDGED: dict[str, Any] = {
    "scores of systems": HumanSystemScore,
    "scores of segments": HumanSegmentScore,
    "ratings": Rating,
    "marked errors": ErrorSpan,
}
KEPT = ("The audit log stays. The files can be imported again.",)


def delete_imported_scores(
    connection: Connection,
    settings: Settings,
    principal: Principal,
    campaign: str,
    title: str,
    test_set: str,
    *,
    dry_run: bool,
) -> Deletion:
    """Delete a version of imported scores, `NAME@VERSION`, or with `dry_run` say what would be deleted.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than the organisers of the campaign.
    NotFound
        If there is no such campaign or version.
    """
    access = lock_for_change(connection, principal, campaign)
    gone = chosen_versions(connection, access, title, test_set)
    if not dry_run:
        delete_version(connection, settings, access, title, test_set)
    counts = {
        "versions of a metric": len(gone),
        "systems with scores": sum(each.systems for each in gone),
        "columns of leaderboards": sum(each.shown for each in gone),
    }
    return Deletion(f"imported scores {title} of {test_set}", present(counts), KEPT)


def delete_human_judgments(
    connection: Connection, principal: Principal, campaign: str, title: str, test_set: str, *, dry_run: bool
) -> Deletion:
    """Delete a version of human judgments, `NAME@VERSION`, or with `dry_run` say what would be deleted.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than the organisers of the campaign.
    NotFound
        If there are no such campaign, test set or judgments.
    """
    access = lock_for_change(connection, principal, campaign)
    stored, chosen = judgments_of(connection, access, test_set, title)
    counts = {
        what: connection.scalar(select(func.count()).select_from(table).where(table.judgments_id == stored.id))
        for what, table in JUDGED.items()
    }
    if not dry_run:
        remove_judgments(connection, access, test_set, title)
    return Deletion(f"human judgments {stored.title} of {chosen.title}", present(counts), KEPT)
