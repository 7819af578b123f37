"""The phases of a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from campaigns.changes import lock_for_change
from campaigns.fields.times import local_isoformat, parse_local_time
from campaigns.permissions import CampaignAccess, read_access
from campaigns.phases import PhaseRules, add_phase, change_phase, extend_phase, find_phase, remove_phase, rules_of
from models.corpus.phases import PhaseInfo
from models.database.session import reading, writing
from steelyard_client.documents.campaigns.phases import PhaseCreate, PhaseExtend, PhaseResponse, PhaseUpdate
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.campaigns.campaigns import IfMatch
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["campaigns"])


@router.get("/campaigns/{name}/phases")
def list_phases(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[PhaseResponse]:
    """List the phases of a campaign, ordered by their start."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    found, going_on = slice_page(access.phases, limit, after)
    return Page(items=[phase_response(access, each) for each in found], next=going_on)


@router.post("/campaigns/{name}/phases", status_code=201)
def create_phase(
    request: Request, name: str, new: PhaseCreate, principal: CurrentPrincipal, if_match: IfMatch = None
) -> PhaseResponse:
    """Create a phase. Phases must not overlap. Ambiguous or non-existent local times (daylight saving) are rejected."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        rules = PhaseRules(new.name, new.kind, parse_local_time(new.starts, access.time_zone))
        phase = add_phase(connection, access, _apply_update(rules, new, access))
        return _stored_response(read_access(connection, principal, name), phase)


@router.patch("/campaigns/{name}/phases/{phase}")
def update_phase(
    request: Request, name: str, phase: int, new: PhaseUpdate, principal: CurrentPrincipal, if_match: IfMatch = None
) -> PhaseResponse:
    """Change a phase. The name is fixed once the phase has begun."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        known = find_phase(access, phase)
        change_phase(connection, access, known, _apply_update(rules_of(known), new, access))
        return _stored_response(read_access(connection, principal, name), phase)


@router.post("/campaigns/{name}/phases/{phase}/extend", name="extend_phase")
def extend_one_phase(
    request: Request, name: str, phase: int, new: PhaseExtend, principal: CurrentPrincipal, if_match: IfMatch = None
) -> PhaseResponse:
    """Extend a phase, even one that has ended; late submissions are judged by the new deadline."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        extend_phase(connection, access, find_phase(access, phase), parse_local_time(new.ends, access.time_zone))
        return _stored_response(read_access(connection, principal, name), phase)


@router.delete("/campaigns/{name}/phases/{phase}", status_code=204)
def delete_phase(
    request: Request, name: str, phase: int, principal: CurrentPrincipal, if_match: IfMatch = None
) -> Response:
    """Delete a phase without test sets and submissions."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        remove_phase(connection, access, find_phase(access, phase))
    return Response(status_code=204)


def phase_response(access: CampaignAccess, phase: PhaseInfo) -> PhaseResponse:
    """The response for a phase."""
    is_now = access.phase_status(phase) == "now"
    return PhaseResponse(
        id=phase.id,
        name=phase.name,
        kind=phase.kind,
        starts_at=utc(phase.starts_at),
        starts=local_isoformat(phase.starts_at, access.time_zone),
        ends_at=utc(phase.ends_at),
        ends=None if phase.ends_at is None else local_isoformat(phase.ends_at, access.time_zone),
        late=phase.late,
        grace_seconds=phase.grace_seconds,
        feedback=phase.feedback,
        feedback_step=phase.feedback_step,
        now=is_now,
        takes_submissions=is_now and access.takes_submissions,
    )


def _stored_response(access: CampaignAccess, phase: int) -> PhaseResponse:
    return phase_response(access, find_phase(access, phase))


def _apply_update(rules: PhaseRules, new: PhaseUpdate, access: CampaignAccess) -> PhaseRules:
    values: dict[str, Any] = {
        name: getattr(new, name)
        for name in ("name", "kind", "late", "grace_seconds", "feedback", "feedback_step")
        if getattr(new, name) is not None
    }
    if new.starts is not None:
        values["starts_at"] = parse_local_time(new.starts, access.time_zone)
    if new.ends is not None:
        values["ends_at"] = parse_local_time(new.ends, access.time_zone) if new.ends else None
    return replace(rules, **values)
