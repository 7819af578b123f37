"""The standing submissions for one test set of one campaign."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from models.corpus.test_sets import common_layers, titled_board
from models.errors import NotFound
from models.schema.campaigns import Campaign, CampaignTestSet, is_campaign_test_set
from models.schema.corpus import Reference, Submission, TestSet


@dataclass(frozen=True, slots=True)
class StandingSubmissions:
    """The standing submissions for one test set of one campaign, and their references."""

    campaign_id: int
    test_set_id: int
    name: str
    """Campaign and test set; each is named only if it adds information."""
    references: tuple[str, ...]
    """Labels, in order."""
    target_language: str
    layers: frozenset[str]
    """The linguistic layers that all references and submissions have."""
    submissions: tuple[int, ...]
    """The last submission of each run of each system."""


def find_standing_submissions(connection: Connection, name: str) -> StandingSubmissions:
    """The standing submissions for the test set or campaign of this name; for several versions, the newest.

    Raises
    ------
    NotFound
        If it does not exist, listing the names, also if several campaigns share the test set.
    """
    rows = connection.execute(
        select(Submission.campaign_id, Submission.test_set_id, Campaign.name.label("campaign"), CampaignTestSet.name)
        .join(Campaign, Campaign.id == Submission.campaign_id)
        .join(CampaignTestSet, is_campaign_test_set(Submission.campaign_id, Submission.test_set_id))
        .group_by(Submission.campaign_id, Submission.test_set_id, Campaign.name, CampaignTestSet.name)
        .order_by(Submission.campaign_id, Submission.test_set_id)
    ).all()
    found = [row for row in rows if row.campaign == name] or [row for row in rows if row.name == name]
    if not found:
        names = sorted({row.campaign for row in rows} | {row.name for row in rows})
        known = f"There are: {', '.join(names)}." if names else "Nothing was evaluated here yet."
        raise NotFound(f'There is no campaign or test set called "{name}". {known}')
    campaigns = sorted({row.campaign for row in found})
    if len(campaigns) > 1:
        raise NotFound(f'Several campaigns have the test set "{name}". Name one of them: {", ".join(campaigns)}.')
    if len({row.name for row in found}) > 1:
        names = sorted({row.name for row in found})
        raise NotFound(f'The campaign "{name}" has several test sets. Name one of them: {", ".join(names)}.')
    return read_standing_submissions(connection, found[-1].campaign_id, found[-1].test_set_id)


def read_standing_submissions(connection: Connection, campaign_id: int, test_set_id: int) -> StandingSubmissions:
    """The standing submissions of a campaign for a test set.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    named = connection.execute(
        select(Campaign.name.label("campaign"), CampaignTestSet.name, CampaignTestSet.version, TestSet.target_language)
        .join(CampaignTestSet, CampaignTestSet.campaign_id == Campaign.id)
        .join(TestSet, TestSet.id == CampaignTestSet.test_set_id)
        .where(Campaign.id == campaign_id, TestSet.id == test_set_id)
    ).one_or_none()
    if named is None:
        raise NotFound(f"There is no campaign {campaign_id}, or it has no test set {test_set_id}.")
    references = connection.execute(
        select(Reference.label, Reference.text_id)
        .where(Reference.test_set_id == test_set_id)
        .order_by(Reference.position)
    ).all()
    last = select(func.max(Submission.id)).where(
        Submission.campaign_id == campaign_id, Submission.test_set_id == test_set_id
    )
    submissions = connection.execute(
        select(Submission.id, Submission.text_id)
        .where(Submission.id.in_(last.group_by(Submission.system_id, Submission.run)))
        .order_by(Submission.id)
    ).all()
    return StandingSubmissions(
        campaign_id,
        test_set_id,
        titled_board(named.campaign, named.name, named.version),
        tuple(row.label for row in references),
        named.target_language,
        common_layers(connection, [row.text_id for row in (*references, *submissions)]),
        tuple(row.id for row in submissions),
    )
