"""Forms of phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from campaigns.changes import lock_for_change, version_of
from campaigns.errors import BadRequest, NotFound
from campaigns.permissions import CampaignAccess
from campaigns.phases import PhaseRules, add_phase, change_phase, find_phase, remove_phase, rules_of
from campaigns.times import editable_local_time, parse_local_time
from models.corpus.phases import PhaseInfo
from models.database.session import reading, writing
from models.schema.roles import Feedback, LateRule, PhaseKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage import organiser_access
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

NEW = "new"
HOUR = 3600.0
Field = Annotated[str, Form(max_length=200)]


@router.get("/campaigns/{name}/manage/phases/{phase}")
def show_phase(request: Request, name: str, phase: str, principal: CurrentPrincipal) -> Response:
    """Show the form of a phase, or of a new one."""
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        version = version_of(connection, access.campaign_id)
    known = _known(access, phase)
    return _form(request, access, known, _initial_values(access, known), version)


@router.post("/campaigns/{name}/manage/phases/{phase}")
def save_phase(
    request: Request,
    name: str,
    phase: str,
    principal: CurrentPrincipal,
    phase_name: Field = "",
    kind: Field = "",
    starts: Field = "",
    ends: Field = "",
    late: Field = "",
    grace_hours: Field = "",
    feedback: Field = "",
    feedback_step: Field = "",
    version: Field = "*",
    do: Field = "save",
) -> Response:
    """Add, change or delete a phase."""
    given = {
        "phase_name": phase_name.strip(),
        "kind": kind,
        "starts": starts,
        "ends": ends,
        "late": late,
        "grace_hours": grace_hours,
        "feedback": feedback,
        "feedback_step": feedback_step,
    }
    engine = app_state(request).engine
    try:
        with form_errors(), writing(engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            known = _known(access, phase)
            if do == "remove" and known is not None:
                remove_phase(connection, access, known)
            elif known is None:
                add_phase(connection, access, _parse(access, given, None))
            else:
                change_phase(connection, access, known, _parse(access, given, known))
    except InvalidForm as invalid:
        with reading(engine) as connection:
            access = organiser_access(connection, principal, name)
            version = version_of(connection, access.campaign_id)
        return _form(request, access, _known(access, phase), given, version, str(invalid), invalid.status)
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done=phase#phases")


def _known(access: CampaignAccess, phase: str) -> PhaseInfo | None:
    """Return the phase with that id; None for a new one. Raises NotFound."""
    if phase == NEW:
        return None
    if not (phase.isascii() and phase.isdigit() and len(phase) < 19):
        raise NotFound
    return find_phase(access, int(phase))


def _initial_values(access: CampaignAccess, phase: PhaseInfo | None) -> dict[str, str]:
    """Return the initial values of the fields."""
    if phase is None:
        return {
            "phase_name": "",
            "kind": PhaseKind.OPEN,
            "starts": "",
            "ends": "",
            "late": LateRule.REFUSE,
            "grace_hours": "0",
            "feedback": Feedback.FULL,
            "feedback_step": "1",
        }
    return {
        "phase_name": phase.name,
        "kind": phase.kind,
        "starts": editable_local_time(phase.starts_at, access.time_zone),
        "ends": "" if phase.ends_at is None else editable_local_time(phase.ends_at, access.time_zone),
        "late": phase.late,
        "grace_hours": f"{phase.grace_seconds / HOUR:g}",
        "feedback": phase.feedback,
        "feedback_step": f"{phase.feedback_step:g}",
    }


def _parse(access: CampaignAccess, given: Mapping[str, str], phase: PhaseInfo | None) -> PhaseRules:
    """Parse the form; unchanged fields keep their exact times. Raises BadRequest."""
    before = _initial_values(access, phase)
    # A new phase without a start begins now.
    starts_at = access.at if not given["starts"].strip() and phase is None else None
    try:
        late = LateRule(given["late"] or LateRule.REFUSE)
        rules = PhaseRules(
            name=given["phase_name"],
            kind=PhaseKind(given["kind"]),
            starts_at=parse_local_time(given["starts"], access.time_zone) if starts_at is None else starts_at,
            ends_at=parse_local_time(given["ends"], access.time_zone) if given["ends"].strip() else None,
            late=late,
            grace_seconds=_number(given["grace_hours"], "hours for late submissions") * HOUR
            if late == LateRule.FLAG
            else 0.0,
            feedback=Feedback(given["feedback"] or Feedback.FULL),
            feedback_step=_number(given["feedback_step"] or "1", "step"),
        )
    except ValueError as error:
        raise BadRequest("Unknown kind of phase, late rule or feedback.") from error
    if phase is not None:
        exact = rules_of(phase)
        untouched = {"starts": "starts_at", "ends": "ends_at", "grace_hours": "grace_seconds"}
        same = {field: getattr(exact, field) for word, field in untouched.items() if given[word] == before[word]}
        if late == LateRule.REFUSE:
            same["grace_seconds"] = 0.0
        rules = replace(rules, **same)
    return rules


def _number(text: str, what: str) -> float:
    try:
        return float(text.strip().replace(",", ".") or 0)
    except ValueError as error:
        raise BadRequest(f"{text[:20]!r} is not a number ({what}).") from error


def _form(
    request: Request,
    access: CampaignAccess,
    phase: PhaseInfo | None,
    given: Mapping[str, str],
    version: str,
    error: str = "",
    status: int = 200,
) -> Response:
    return page(
        request,
        "campaigns/manage_phase",
        status=status,
        title="Add a phase" if phase is None else f"Phase {phase.name}",
        access=access,
        here="manage",
        phase=phase,
        given=given,
        rules_version=version,
        error=error,
    )
