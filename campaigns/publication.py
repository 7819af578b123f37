"""Publishing the results of a campaign now, and what that does to the phases that were planned before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, update

from campaigns.errors import BadRequest, Conflict
from campaigns.phases import audit_phase, end_phase, remove_phase
from campaigns.test_sets.stored import audit_test_set
from models.corpus.test_sets import titled_test_set
from models.schema.campaigns import CampaignTestSet, Phase
from models.schema.roles import PhaseKind
from steelyard.tables.formatting import date_time
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess, CampaignTestSetView
    from models.corpus.phases import PhaseInfo

PUBLISHED = "Published"
"""Name of the phase that `publish_now` creates if none was planned."""


@dataclass(frozen=True, slots=True)
class Publication:
    """What publishing now would do to the phases of a campaign."""

    ends: PhaseInfo | None
    """The current phase, if it has not ended."""
    begins: PhaseInfo | None
    """The phase planned for publication; one is created where there is none."""
    deletes: tuple[PhaseInfo, ...]
    """Phases that would begin before it."""
    moves: tuple[CampaignTestSetView, ...]
    """Test sets of these, which move to `home`: the sources that nobody has seen yet are visible from then on."""
    home: PhaseInfo | None
    """The current phase, or else that of publication."""

    def moved_from(self, phase: PhaseInfo) -> list[str]:
        """Titles of the test sets of a phase that would be deleted."""
        return [titled_test_set(each.name, each.version) for each in self.moves if each.phase_id == phase.id]


def plan_publication(access: CampaignAccess) -> Publication:
    """Return what publishing now would do; phases after the one planned for publication stay as they are."""
    coming = [each for each in access.phases if each.starts_at > access.at]
    planned = next((each for each in coming if each.kind == PhaseKind.PUBLISHED), None)
    deletes = tuple(coming if planned is None else coming[: coming.index(planned)])
    gone = {each.id for each in deletes}
    current = access.phase
    running = current is not None and access.phase_status(current) == "now"
    moves = tuple(each for each in access.test_sets.values() if each.phase_id in gone)
    return Publication(current if running else None, planned, deletes, moves, current or planned)


def publish_now(connection: Connection, access: CampaignAccess, *, delete_later: bool = False) -> None:
    """Publish the results now: the current phase ends, and the phase planned for publication begins.

    `delete_later` confirms that phases which would begin before publication are deleted.

    Raises
    ------
    BadRequest
        If they are published.
    Conflict
        If there are such phases and this was not confirmed, or teams have submitted in one of them.
    """
    if access.published:
        raise BadRequest("The results are already published.")
    plan = plan_publication(access)
    if plan.deletes and not delete_later:
        raise Conflict(_question(access, plan))
    if access.phase is not None:
        end_phase(connection, access, access.phase)
    if plan.begins is not None:
        # The transaction's own time: nothing was submitted in between, because the campaign is locked.
        connection.execute(update(Phase).where(Phase.id == plan.begins.id).values(starts_at=access.at))
        begun, name = plan.begins.id, plan.begins.name
    else:
        taken = {each.name for each in access.phases}
        name = next(each for each in (PUBLISHED, *(f"{PUBLISHED} {n}" for n in range(2, 100))) if each not in taken)
        row = {"campaign_id": access.campaign_id, "name": name, "kind": PhaseKind.PUBLISHED, "starts_at": access.at}
        begun = int(connection.execute(insert(Phase).values(**row).returning(Phase.id)).scalar_one())
    titles = {each.id: each.name for each in plan.deletes}
    for each in plan.moves:
        home, named = (begun, name) if plan.home is None else (plan.home.id, plan.home.name)
        here = CampaignTestSet.campaign_id == access.campaign_id, CampaignTestSet.test_set_id == each.id
        connection.execute(update(CampaignTestSet).where(*here).values(phase_id=home))
        before = titles[each.phase_id] if each.phase_id is not None else ""
        audit_test_set(connection, access, "test_set.phase", each.id, phase=[before, named])
    for phase in plan.deletes:
        remove_phase(connection, access, phase)
    audit_phase(connection, access, "campaign.publish", name, {})


def _question(access: CampaignAccess, plan: Publication) -> str:
    """What publishing would do to later phases, for programs and commands; pages have it before they ask."""
    told = []
    for phase in plan.deletes:
        begins = date_time(phase.starts_at, access.time_zone)
        moved = plan.moved_from(phase)
        where = f'"{plan.home.name}"' if plan.home else "the phase of publication"
        texts = f"; {listed(moved)} would move to {where}, which shows the source" if moved else ""
        told.append(f'"{phase.name}" ({phase.kind}, planned for {begins}{texts})')
    return (
        f"{listed(told)} {'is' if len(told) == 1 else 'are'} still to come, and would be deleted. Confirm that with "
        "delete_later (--delete-later on the command line), or move "
        f"{'it' if len(told) == 1 else 'them'} behind the publication."
    )
