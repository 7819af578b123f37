"""What has happened in campaigns, for feeds: phases begun, results published, references corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.schema.roles import PhaseKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from campaigns.corrections.corrections import CorrectionInfo
    from campaigns.permissions import CampaignAccess

MOST = 50
"""Entries of a feed."""


@dataclass(frozen=True, slots=True)
class NewsEntry:
    """One thing that has happened."""

    campaign: str
    key: str
    """Names it for ever within its campaign: "phase-3"."""
    at: float
    title: str
    text: str


def news_of(accesses: Iterable[CampaignAccess], corrections: Sequence[CorrectionInfo] = ()) -> list[NewsEntry]:
    """Return what has happened in campaigns, as far as it is visible, the newest first.

    `corrections` are those of the only campaign.
    """
    found = []
    for access in accesses:
        for phase in access.phases:
            if phase.starts_at <= access.at:
                out = phase.kind == PhaseKind.PUBLISHED
                what = "the results are out" if out else f'the phase "{phase.name}" has begun'
                text = f"{access.title}: {what}."
                found.append(NewsEntry(access.name, f"phase-{phase.id}", phase.starts_at, text[:-1], text))
        for each in corrections:
            title = f"{access.title}: the references of {each.test_set} were corrected"
            found.append(NewsEntry(access.name, f"correction-{each.id}", each.made_at, title, each.reason))
    return sorted(found, key=lambda each: (-each.at, each.campaign, each.key))[:MOST]
