"""The phases of a campaign: planned, changed, extended, closed, published."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, select, update

from campaigns.changes import changed
from campaigns.errors import BadRequest, NotThere, Taken
from campaigns.permissions import Sight
from campaigns.short_text import short_text
from campaigns.times import shown_moment
from metrics.text.names import MAX_NAME_LENGTH, fault_of_name, folded
from models.corpus.phases import KnownPhase
from models.schema.campaigns import CampaignTestSet, Declaration, Phase, Quota
from models.schema.roles import Feedback, LateRule, PhaseKind

LONGEST_GRACE = 30 * 86400.0
LARGEST_STEP = 100.0
PUBLISHED = "Published"
"""What the phase is called that `publish` makes where none was planned."""


@dataclass(frozen=True, slots=True)
class PhaseRules:
    """A phase as organisers plan it; times in seconds since 1970."""

    name: str
    kind: PhaseKind
    starts_at: float
    ends_at: float | None = None
    late: LateRule = LateRule.REFUSE
    grace_seconds: float = 0.0
    feedback: Feedback = Feedback.FULL
    feedback_step: float = 1.0


def find_phase(sight: Sight, wanted: str | int) -> KnownPhase:
    """The phase of that name or number. Raises NotThere with the names there are."""
    for phase in sight.phases:
        if wanted in (phase.name, phase.id):
            return phase
    there = f"There are: {', '.join(each.name for each in sight.phases)}." if sight.phases else "It has none yet."
    raise NotThere(f"The campaign has no phase {str(wanted)[:100]!r}. {there}")


def rules_of(phase: KnownPhase) -> PhaseRules:
    """A phase that is there, to be changed."""
    values = {name: getattr(phase, name) for name in PhaseRules.__dataclass_fields__}
    return PhaseRules(**values)


def add_phase(connection: Connection, sight: Sight, rules: PhaseRules) -> int:
    """Plan a phase; its id. Raises BadRequest, and Taken where it overlaps another one."""
    values = asdict(_checked(sight, rules, None))
    row = insert(Phase).values(campaign_id=sight.campaign_id, **values).returning(Phase.id)
    phase_id = int(connection.execute(row).scalar_one())
    _audit(connection, sight, "phase.add", rules.name, values)
    return phase_id


def change_phase(connection: Connection, sight: Sight, phase: KnownPhase, rules: PhaseRules) -> None:
    """Let a phase be as these rules say. What was late stays so no longer where the deadline is later now.

    Raises BadRequest, and Taken where it would overlap another one.
    """
    checked = _checked(sight, rules, phase)
    if checked.name != phase.name and phase.starts_at <= sight.at:
        raise BadRequest(f'The phase "{phase.name}" has begun, and submissions and quotas go by its name: it keeps it.')
    before, values = asdict(rules_of(phase)), asdict(checked)
    changes = changed(before, values)
    if not changes:
        return
    connection.execute(update(Phase).where(Phase.id == phase.id).values(**values))
    if "name" in changes:
        named = Quota.campaign_id == sight.campaign_id, Quota.phase == phase.name
        connection.execute(update(Quota).where(*named).values(phase=checked.name))
    _move_late(connection, sight, phase, checked.ends_at)
    _audit(connection, sight, "phase.change", phase.name, changes)


def extend_phase(connection: Connection, sight: Sight, phase: KnownPhase, ends_at: float) -> None:
    """Give a phase a later deadline, also one that is over already. Raises BadRequest and Taken."""
    if phase.ends_at is None:
        raise BadRequest(f'The phase "{phase.name}" has no deadline that could be extended.')
    if ends_at <= phase.ends_at:
        raise BadRequest(
            f'The deadline of "{phase.name}" is {shown_moment(phase.ends_at, sight.time_zone)} already. To extend it, '
            "give a later time; to have it earlier, change the phase."
        )
    change_phase(connection, sight, phase, replace(rules_of(phase), ends_at=ends_at))


def remove_phase(connection: Connection, sight: Sight, phase: KnownPhase) -> None:
    """Remove a phase to which nothing belongs, with its quotas. Raises Taken."""
    bound = connection.scalar(
        select(func.count()).select_from(CampaignTestSet).where(CampaignTestSet.phase_id == phase.id)
    )
    if bound:
        # They would be open in all phases, and teams would get their sources.
        raise Taken(f'A test set belongs to the phase "{phase.name}". Give it another phase first.')
    handed_in = connection.scalar(
        select(func.count())
        .select_from(Declaration)
        .where(Declaration.campaign_id == sight.campaign_id, Declaration.phase == phase.name)
    )
    if handed_in:
        raise Taken(f'Teams have handed in during the phase "{phase.name}": it stays. You can change its times.')
    connection.execute(delete(Phase).where(Phase.id == phase.id))
    # They would limit nothing any more.
    quotas = delete(Quota).where(Quota.campaign_id == sight.campaign_id, Quota.phase == phase.name)
    removed = connection.execute(quotas).rowcount
    _audit(connection, sight, "phase.remove", phase.name, {**asdict(rules_of(phase)), "quotas": removed})


def close_now(connection: Connection, sight: Sight) -> KnownPhase:
    """Let nothing more be handed in in the phase that holds now; which it is. Raises BadRequest."""
    phase = sight.phase
    if phase is None or not phase.takes(sight.at):
        raise BadRequest("There is no phase now in which teams could hand in.")
    _end(connection, sight, phase)
    return phase


def publish_now(connection: Connection, sight: Sight) -> None:
    """Let the results be out from now on: the phase before ends, and the one that was planned for it begins.

    Raises BadRequest where they are out, and Taken where other phases are still to come.
    """
    if sight.published:
        raise BadRequest("The results are published.")
    coming = [each for each in sight.phases if each.starts_at > sight.at]
    planned = next((each for each in coming if each.kind == PhaseKind.PUBLISHED), None)
    between = [each.name for each in coming if each is not planned]
    if between:
        raise Taken(
            f"{', '.join(between)} {'is' if len(between) == 1 else 'are'} still to come. Remove what will not take "
            "place, or move it, before you publish."
        )
    if sight.phase is not None:
        _end(connection, sight, sight.phase)
    if planned is not None:
        # The very moment is that of the transaction's sight: nothing was handed in meanwhile, for we hold the campaign.
        connection.execute(update(Phase).where(Phase.id == planned.id).values(starts_at=sight.at))
        name = planned.name
    else:
        taken = {each.name for each in sight.phases}
        name = next(each for each in (PUBLISHED, *(f"{PUBLISHED} {n}" for n in range(2, 100))) if each not in taken)
        row = {"campaign_id": sight.campaign_id, "name": name, "kind": PhaseKind.PUBLISHED, "starts_at": sight.at}
        connection.execute(insert(Phase).values(**row))
    _audit(connection, sight, "campaign.publish", name, {})


def _end(connection: Connection, sight: Sight, phase: KnownPhase) -> None:
    """End a phase at this moment, if it has not ended."""
    closes_at = phase.closes_at
    if closes_at is not None and closes_at <= sight.at:
        return
    # A deadline that is over stays; only its grace ends.
    ends_at = sight.at if phase.ends_at is None else min(phase.ends_at, sight.at)
    if ends_at <= phase.starts_at:
        ends_at = math.nextafter(phase.starts_at, math.inf)
    values = {"ends_at": ends_at, "grace_seconds": max(0.0, sight.at - ends_at)}
    connection.execute(update(Phase).where(Phase.id == phase.id).values(**values))
    before = {"ends_at": phase.ends_at, "grace_seconds": phase.grace_seconds}
    _audit(connection, sight, "phase.close", phase.name, changed(before, values))


def _move_late(connection: Connection, sight: Sight, phase: KnownPhase, ends_at: float | None) -> None:
    """What came late is late by the new deadline now, or in time."""
    late = (
        Declaration.campaign_id == sight.campaign_id,
        Declaration.phase == phase.name,
        Declaration.late_seconds > 0,
    )
    moved = 0.0 if ends_at is None or phase.ends_at is None else ends_at - phase.ends_at
    if ends_at is None:
        connection.execute(update(Declaration).where(*late).values(late_seconds=0.0))
    elif moved > 0:
        left = case((Declaration.late_seconds > moved, Declaration.late_seconds - moved), else_=0.0)
        connection.execute(update(Declaration).where(*late).values(late_seconds=left))


def _checked(sight: Sight, rules: PhaseRules, replaced: KnownPhase | None) -> PhaseRules:
    # A phase may have a name from elsewhere; it keeps it.
    if replaced is None or replaced.name != rules.name:
        rules = replace(rules, name=short_text(rules.name, "The name", MAX_NAME_LENGTH))
        if fault := fault_of_name(rules.name):
            raise BadRequest(f"{rules.name[:50]!r} cannot be the name of a phase: {fault}.")
    if not all(math.isfinite(each) for each in (rules.starts_at, rules.grace_seconds, rules.feedback_step)):
        raise BadRequest("Times, grace and step must be numbers.")
    if rules.ends_at is not None and not rules.starts_at < rules.ends_at < math.inf:
        raise BadRequest(f'The phase "{rules.name}" would end before it begins. Give a deadline after its start.')
    if not 0 <= rules.grace_seconds <= LONGEST_GRACE:
        raise BadRequest(f"The grace can be from 0 to {LONGEST_GRACE / 86400:g} days.")
    if not 0 < rules.feedback_step <= LARGEST_STEP:
        raise BadRequest(f"The step of the feedback must be more than 0 and at most {LARGEST_STEP:g} points.")
    if rules.grace_seconds and rules.late == LateRule.REFUSE:
        raise BadRequest("Where late submissions are refused there is no grace. Let them be flagged, or give none.")
    others = [each for each in sight.phases if replaced is None or each.id != replaced.id]
    if any(folded(each.name) == folded(rules.name) for each in others):
        raise Taken(f'There is another phase that is called "{rules.name}". Choose another name.')
    if any(each.starts_at == rules.starts_at for each in others):
        raise Taken("Another phase begins at that very moment.")
    _check_overlaps(sight, [*(rules_of(each) for each in others), rules])
    return rules


def _check_overlaps(sight: Sight, phases: list[PhaseRules]) -> None:
    for before, after in pairwise(sorted(phases, key=lambda each: each.starts_at)):
        # One without a deadline lasts until the next one begins.
        closes_at = None if before.ends_at is None else before.ends_at + before.grace_seconds
        if closes_at is not None and closes_at > after.starts_at:
            grace = " with its grace" if before.grace_seconds else ""
            raise Taken(
                f'The phase "{before.name}" lasts{grace} until {shown_moment(closes_at, sight.time_zone)}, but '
                f'"{after.name}" begins on {shown_moment(after.starts_at, sight.time_zone)}. Phases do not overlap: '
                "move one of them."
            )


def _audit(connection: Connection, sight: Sight, action: str, name: str, details: dict[str, Any]) -> None:
    subject = f"phase {name} of campaign {sight.name}"
    # The name of the phase is a detail as well; the subject says it.
    shown = {key: value for key, value in details.items() if key != "name" or isinstance(value, list)}
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **shown)
