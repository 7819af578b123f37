"""The phases of a campaign: add, change, extend, close."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, select, update

from campaigns.changes import changed_fields
from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.fields.short_text import short_text
from campaigns.permissions import CampaignAccess
from models.corpus.phases import PhaseInfo
from models.schema.campaigns import CampaignTestSet, Declaration, Phase, Quota
from models.schema.roles import Feedback, LateRule, PhaseKind
from steelyard.tables.formatting import date_time
from steelyard.text.names import MAX_NAME_LENGTH, fault_of_name, folded

MAX_GRACE_SECONDS = 30 * 86400.0
MAX_STEP = 100.0


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


def find_phase(access: CampaignAccess, wanted: str | int) -> PhaseInfo:
    """Return the phase with that name or id.

    Raises
    ------
    NotFound
        If it does not exist; the message lists the existing names.
    """
    for phase in access.phases:
        if wanted in (phase.name, phase.id):
            return phase
    there = f"There are: {', '.join(each.name for each in access.phases)}." if access.phases else "It has none yet."
    raise NotFound(f"The campaign has no phase {str(wanted)[:100]!r}. {there}")


def rules_of(phase: PhaseInfo) -> PhaseRules:
    """Return the rules of an existing phase."""
    values = {name: getattr(phase, name) for name in PhaseRules.__dataclass_fields__}
    return PhaseRules(**values)


def add_phase(connection: Connection, access: CampaignAccess, rules: PhaseRules) -> int:
    """Add a phase; its id.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it overlaps another one.
    """
    values = asdict(_validated(access, rules, None))
    row = insert(Phase).values(campaign_id=access.campaign_id, **values).returning(Phase.id)
    phase_id = int(connection.execute(row).scalar_one())
    audit_phase(connection, access, "phase.add", rules.name, values)
    return phase_id


def change_phase(connection: Connection, access: CampaignAccess, phase: PhaseInfo, rules: PhaseRules) -> None:
    """Change a phase. Late submissions are reevaluated against a later deadline.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it would overlap another one.
    """
    checked = _validated(access, rules, phase)
    if checked.name != phase.name and phase.starts_at <= access.at:
        raise BadRequest(f'The phase "{phase.name}" has begun: submissions refer to its name, so it cannot be renamed.')
    before, values = asdict(rules_of(phase)), asdict(checked)
    changes = changed_fields(before, values)
    if not changes:
        return
    connection.execute(update(Phase).where(Phase.id == phase.id).values(**values))
    if "name" in changes:
        named = Quota.campaign_id == access.campaign_id, Quota.phase == phase.name
        connection.execute(update(Quota).where(*named).values(phase=checked.name))
    _move_late(connection, access, phase, checked.ends_at)
    audit_phase(connection, access, "phase.change", phase.name, changes)


def extend_phase(connection: Connection, access: CampaignAccess, phase: PhaseInfo, ends_at: float) -> None:
    """Extend the deadline of a phase, even one that has passed.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    """
    if phase.ends_at is None:
        raise BadRequest(f'The phase "{phase.name}" has no deadline that could be extended.')
    if ends_at <= phase.ends_at:
        raise BadRequest(
            f'The deadline of "{phase.name}" is {date_time(phase.ends_at, access.time_zone)} already. '
            "To extend it, give a later time; to have it earlier, change the phase."
        )
    change_phase(connection, access, phase, replace(rules_of(phase), ends_at=ends_at))


def remove_phase(connection: Connection, access: CampaignAccess, phase: PhaseInfo) -> None:
    """Delete a phase without test sets and submissions, with its quotas.

    Raises
    ------
    Conflict
        If it contradicts what is stored.
    """
    bound = connection.scalar(
        select(func.count()).select_from(CampaignTestSet).where(CampaignTestSet.phase_id == phase.id)
    )
    if bound:
        # Its test sets would be open in all phases, and teams would get their sources.
        raise Conflict(f'A test set belongs to the phase "{phase.name}". Give it another phase first.')
    submitted = connection.scalar(
        select(func.count())
        .select_from(Declaration)
        .where(Declaration.campaign_id == access.campaign_id, Declaration.phase == phase.name)
    )
    if submitted:
        raise Conflict(f'Teams have submitted in the phase "{phase.name}": you can only change its times.')
    connection.execute(delete(Phase).where(Phase.id == phase.id))
    # They would have no effect any more.
    quotas = delete(Quota).where(Quota.campaign_id == access.campaign_id, Quota.phase == phase.name)
    removed = connection.execute(quotas).rowcount
    audit_phase(connection, access, "phase.remove", phase.name, {**asdict(rules_of(phase)), "quotas": removed})


def close_now(connection: Connection, access: CampaignAccess) -> PhaseInfo:
    """Close the current phase now; returns it.

    Raises
    ------
    BadRequest
        If a value is invalid.
    """
    phase = access.phase
    if phase is None or not phase.takes(access.at):
        raise BadRequest("No current phase accepts submissions.")
    end_phase(connection, access, phase)
    return phase


def end_phase(connection: Connection, access: CampaignAccess, phase: PhaseInfo) -> None:
    """End a phase now, if it has not ended."""
    closes_at = phase.closes_at
    if closes_at is not None and closes_at <= access.at:
        return
    # A deadline in the past stays; only its grace period ends.
    ends_at = access.at if phase.ends_at is None else min(phase.ends_at, access.at)
    if ends_at <= phase.starts_at:
        ends_at = math.nextafter(phase.starts_at, math.inf)
    values = {"ends_at": ends_at, "grace_seconds": max(0.0, access.at - ends_at)}
    connection.execute(update(Phase).where(Phase.id == phase.id).values(**values))
    before = {"ends_at": phase.ends_at, "grace_seconds": phase.grace_seconds}
    audit_phase(connection, access, "phase.close", phase.name, changed_fields(before, values))


def _move_late(connection: Connection, access: CampaignAccess, phase: PhaseInfo, ends_at: float | None) -> None:
    """Update the lateness of late submissions for a new deadline."""
    late = (
        Declaration.campaign_id == access.campaign_id,
        Declaration.phase == phase.name,
        Declaration.late_seconds > 0,
    )
    moved = 0.0 if ends_at is None or phase.ends_at is None else ends_at - phase.ends_at
    if ends_at is None:
        connection.execute(update(Declaration).where(*late).values(late_seconds=0.0))
    elif moved > 0:
        left = case((Declaration.late_seconds > moved, Declaration.late_seconds - moved), else_=0.0)
        connection.execute(update(Declaration).where(*late).values(late_seconds=left))


def _validated(access: CampaignAccess, rules: PhaseRules, replaced: PhaseInfo | None) -> PhaseRules:
    # An existing name may come from the command line, and is kept.
    if replaced is None or replaced.name != rules.name:
        rules = replace(rules, name=short_text(rules.name, "The name", MAX_NAME_LENGTH))
        if fault := fault_of_name(rules.name):
            raise BadRequest(f"{rules.name[:50]!r} cannot be the name of a phase: {fault}.")
    if not all(math.isfinite(each) for each in (rules.starts_at, rules.grace_seconds, rules.feedback_step)):
        raise BadRequest("Times, grace period and step must be numbers.")
    if rules.ends_at is not None and not rules.starts_at < rules.ends_at < math.inf:
        raise BadRequest(f'The phase "{rules.name}" would end before it begins. Give a deadline after its start.')
    if not 0 <= rules.grace_seconds <= MAX_GRACE_SECONDS:
        raise BadRequest(f"The grace period can be from 0 to {MAX_GRACE_SECONDS / 86400:g} days.")
    if not 0 < rules.feedback_step <= MAX_STEP:
        raise BadRequest(f"The step of the feedback must be more than 0 and at most {MAX_STEP:g} points.")
    if rules.grace_seconds and rules.late == LateRule.REFUSE:
        raise BadRequest(
            "A grace period requires late submissions to be accepted. Accept them, or set no grace period."
        )
    others = [each for each in access.phases if replaced is None or each.id != replaced.id]
    if any(folded(each.name) == folded(rules.name) for each in others):
        raise Conflict(f'There is another phase with the name "{rules.name}". Choose another name.')
    if any(each.starts_at == rules.starts_at for each in others):
        raise Conflict("Another phase begins at exactly that time.")
    _check_overlaps(access, [*(rules_of(each) for each in others), rules])
    return rules


def _check_overlaps(access: CampaignAccess, phases: list[PhaseRules]) -> None:
    for before, after in pairwise(sorted(phases, key=lambda each: each.starts_at)):
        # A phase without a deadline lasts until the next one begins.
        closes_at = None if before.ends_at is None else before.ends_at + before.grace_seconds
        if closes_at is not None and closes_at > after.starts_at:
            grace = " with its grace" if before.grace_seconds else ""
            raise Conflict(
                f'The phase "{before.name}" lasts{grace} until {date_time(closes_at, access.time_zone)}, but '
                f'"{after.name}" begins on {date_time(after.starts_at, access.time_zone)}. '
                "Phases do not overlap: move one of them."
            )


def audit_phase(
    connection: Connection, access: CampaignAccess, action: str, name: str, details: dict[str, Any]
) -> None:
    """Write an audit log entry for a change to a phase."""
    subject = f"phase {name} of campaign {access.name}"
    # The subject has the phase's name already.
    shown = {key: value for key, value in details.items() if key != "name" or isinstance(value, list)}
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **shown)
