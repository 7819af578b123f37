"""The protocols of a campaign on one of its test sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from models.corpus.test_sets import StoredTestSet
from models.errors import NotFound
from models.schema.campaigns import Campaign, CampaignProtocol, CampaignTestSet, is_campaign_test_set
from models.schema.corpus import Protocol, Submission, TestSet
from models.schema.queue import Evaluation
from models.schema.states import ResamplingUnit


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """A protocol of a campaign."""

    id: int
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CampaignProtocols:
    """The protocols of a campaign on a test set."""

    campaign_id: int
    campaign: str
    test_set: StoredTestSet
    target_language: str
    protocols: tuple[ProtocolInfo, ...]
    """In order of creation, without parameter sweeps, and without protocols that a later one supersedes (same
    references, all metrics)."""


def find_campaign(connection: Connection, name: str) -> int:
    """The id of the campaign with this name.

    Raises
    ------
    NotFound
        If it does not exist, listing the existing names.
    """
    known = connection.scalar(select(Campaign.id).where(Campaign.name == name))
    if known is None:
        names = list(connection.scalars(select(Campaign.name).order_by(Campaign.name)))
        there = f"There are: {', '.join(names)}." if names else "Create one with `steelyard evaluate`."
        raise NotFound(f"There is no campaign {name!r}. {there}")
    return int(known)


def lock_campaign_shared(connection: Connection, campaign_id: int) -> None:
    """Lock a campaign's rules against changes until the transaction ends; the lock is shared.

    Submitting takes this lock before it reads the rules: otherwise a test set could be replaced in between.
    """
    connection.execute(select(Campaign.id).where(Campaign.id == campaign_id).with_for_update(read=True))


def lock_campaign(connection: Connection, campaign_id: int) -> None:
    """Lock a campaign exclusively until the transaction ends, to change its rules."""
    connection.execute(select(Campaign.id).where(Campaign.id == campaign_id).with_for_update())


def find_test_set_protocols(connection: Connection, campaign: str, test_set: str | None = None) -> CampaignProtocols:
    """The protocols of a campaign on one of its test sets, `NAME` or `NAME@VERSION`; by default its only one.

    A test set with corrected references is replaced by its successor.

    Raises
    ------
    NotFound
        If it does not exist, listing what exists.
    """
    campaign_id = find_campaign(connection, campaign)
    measured = (
        select(Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Submission.campaign_id == campaign_id)
        .union(select(CampaignProtocol.protocol_id).where(CampaignProtocol.campaign_id == campaign_id))
    )
    rows = connection.execute(
        select(
            *(
                Protocol.id,
                Protocol.metrics,
                TestSet.id.label("test_set_id"),
                CampaignTestSet.name,
                CampaignTestSet.version,
            ),
            *(TestSet.segments, TestSet.target_language, Protocol.reference_labels),
            *(Protocol.replicates, Protocol.resample),
        )
        .join(TestSet, TestSet.id == Protocol.test_set_id)
        .join(CampaignTestSet, is_campaign_test_set(campaign_id, TestSet.id))
        .where(Protocol.id.in_(measured), Protocol.sweep.is_(False), CampaignTestSet.replaced_by.is_(None))
        .order_by(Protocol.id)
    ).all()
    known = {row.test_set_id: StoredTestSet(row.test_set_id, row.name, row.version, row.segments) for row in rows}
    exact = [each for each in known.values() if test_set == f"{each.name}@{each.version}"]
    found = exact or [each for each in known.values() if test_set in (None, each.name)]
    there = ", ".join(f"{each.name}@{each.version}" for each in known.values())
    if not known:
        raise NotFound(
            f"The campaign {campaign!r} measures nothing yet. `steelyard testset create` adds a test set with "
            "references and metrics; `steelyard evaluate` creates one with its first system."
        )
    if not found:
        raise NotFound(f"The campaign {campaign!r} has no test set {test_set!r}. There are: {there}.")
    if len(found) > 1:
        raise NotFound(f"The campaign {campaign!r} has several test sets: {there}. Choose one with --test-set.")
    ours = [row for row in rows if row.test_set_id == found[0].id]
    ours = [row for place, row in enumerate(ours) if not any(_covers(later, row) for later in ours[place + 1 :])]
    return CampaignProtocols(
        campaign_id,
        campaign,
        found[0],
        ours[0].target_language,
        tuple(ProtocolInfo(row.id, tuple(row.metrics)) for row in ours),
    )


def _covers(newer: Any, older: Any) -> bool:
    """Whether a protocol measures everything that an older one does, so that the older one is superseded."""
    return bool(
        newer.reference_labels == older.reference_labels
        and set(older.metrics) <= set(newer.metrics)
        and newer.replicates >= older.replicates
        and newer.resample in (older.resample, ResamplingUnit.DOCUMENT)
    )
