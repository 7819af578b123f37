"""What is left to do until a campaign is open: the checklist that organisers see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.corpus.phases import TAKING
from models.schema.roles import Joining, Visibility

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess


TEXTS = {
    "rules": ("Write its description", "What is translated, for whom, and who may take part."),
    "test-sets": ("Add a test set", "Source, references, languages and metrics."),
    "phases": ("Plan its phases", "When teams may submit, what they see meanwhile, and when results are published."),
    "teams": ("Invite teams", "One by one, many at once, or let any team join."),
    "open": ("Make it visible", "To everybody; until then organisers, viewers and invited teams see it."),
}
"""Step -> its title, and what it is about."""


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One step of the checklist."""

    key: str
    """"rules", "test-sets", "phases", "teams" or "open"."""
    title: str
    hint: str
    done: bool


def setup_steps(access: CampaignAccess) -> list[SetupStep]:
    """Return the steps, in their order; none for others than organisers, and none once the campaign is open.

    A campaign is open, and needs no checklist any more, once all steps are done or a phase that takes submissions has
    begun. It follows from what `access` knows, and asks the database nothing.
    """
    begun = any(each.kind in TAKING and each.starts_at <= access.at for each in access.phases)
    if not access.organises or access.published or (begun and access.test_sets):
        return []
    open_joining, public = access.joining == Joining.OPEN, access.visibility == Visibility.PUBLIC
    steps = [SetupStep(key, *TEXTS[key], done) for key, done in {
        "rules": bool(access.description),
        "test-sets": bool(access.test_sets),
        "phases": bool(access.phases),
        "teams": bool(access.teams) or open_joining,
        "open": public,
    }.items()]  # fmt: skip
    return [] if all(each.done for each in steps) else steps
