"""Forms of phases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, TypeVar

from fastapi import APIRouter, Form, Request, Response

from campaigns.changes import lock_for_change, version_of
from campaigns.errors import BadRequest, NotFound
from campaigns.fields.times import editable_local_time, parse_local_time
from campaigns.permissions import CampaignAccess
from campaigns.phases import PhaseRules, add_phase, change_phase, find_phase, remove_phase, rules_of
from models.corpus.phases import PhaseInfo
from models.database.session import reading, writing
from models.schema.roles import Feedback, LateRule, PhaseKind
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

NEW = "new"
HOUR = 3600.0
Kind = TypeVar("Kind", bound=StrEnum)
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
        return _form(request, access, _known(access, phase), given, version, invalid)
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
        "starts": _picked(phase.starts_at, access.time_zone),
        "ends": "" if phase.ends_at is None else _picked(phase.ends_at, access.time_zone),
        "late": phase.late,
        "grace_hours": f"{phase.grace_seconds / HOUR:g}",
        "feedback": phase.feedback,
        "feedback_step": f"{phase.feedback_step:g}",
    }


def _parse(access: CampaignAccess, given: Mapping[str, str], phase: PhaseInfo | None) -> PhaseRules:
    """Parse the form; unchanged fields keep their exact times. Raises InvalidForm with all that is wrong."""
    before = _initial_values(access, phase)
    form = FieldReader()
    if not given["phase_name"]:
        form.wrong("phase_name", "Give the phase a name.")
    kind = form.read("kind", _known_value, PhaseKind, given["kind"], "a kind of phase")
    late = form.read("late", _known_value, LateRule, given["late"] or LateRule.REFUSE, "what happens to late ones")
    feedback = form.read("feedback", _known_value, Feedback, given["feedback"] or Feedback.FULL, "a kind of feedback")
    # A new phase without a start begins now.
    begins_now = phase is None and not given["starts"].strip()
    starts_at = access.at if begins_now else form.read("starts", parse_local_time, given["starts"], access.time_zone)
    ends_at = None
    if given["ends"].strip():
        ends_at = form.read("ends", parse_local_time, given["ends"], access.time_zone)
        if ends_at is not None and starts_at is not None and ends_at <= starts_at:
            form.wrong("ends", "The deadline must be after the beginning.")
    hours = form.read("grace_hours", _number, given["grace_hours"]) if late == LateRule.FLAG else 0.0
    step = form.read("feedback_step", _number, given["feedback_step"] or "1")
    form.finish()
    assert kind is not None
    assert late is not None
    assert feedback is not None
    assert starts_at is not None
    assert hours is not None
    assert step is not None
    rules = PhaseRules(
        name=given["phase_name"],
        kind=kind,
        starts_at=starts_at,
        ends_at=ends_at,
        late=late,
        grace_seconds=hours * HOUR,
        feedback=feedback,
        feedback_step=step,
    )
    if phase is not None:
        exact = rules_of(phase)
        untouched = {"starts": "starts_at", "ends": "ends_at", "grace_hours": "grace_seconds"}
        same = {field: getattr(exact, field) for word, field in untouched.items() if given[word] == before[word]}
        if late == LateRule.REFUSE:
            same["grace_seconds"] = 0.0
        rules = replace(rules, **same)
    return rules


def _known_value(kinds: type[Kind], value: str, what: str) -> Kind:
    try:
        return kinds(value)
    except ValueError as error:
        raise BadRequest(f"Choose {what}.") from error


def _picked(moment: float, time_zone: str) -> str:
    """Return a time as the picker of a browser writes it."""
    return editable_local_time(moment, time_zone).replace(" ", "T", 1)


def _number(text: str) -> float:
    try:
        return float(text.strip().replace(",", ".") or 0)
    except ValueError as error:
        raise BadRequest(f"{text[:20]!r} is not a number.") from error


def _form(
    request: Request,
    access: CampaignAccess,
    phase: PhaseInfo | None,
    given: Mapping[str, str],
    version: str,
    invalid: InvalidForm | None = None,
) -> Response:
    return page(
        request,
        "campaigns/manage/phase",
        status=invalid.status if invalid else 200,
        title="Add a phase" if phase is None else f"Phase {phase.name}",
        access=access,
        here="manage",
        phase=phase,
        given=given,
        rules_version=version,
        error=str(invalid) if invalid else "",
        errors=defaultdict(str, invalid.fields if invalid else {}),
    )
