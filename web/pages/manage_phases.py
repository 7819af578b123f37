"""Forms of phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from campaigns.changes import to_change, version_of
from campaigns.errors import BadRequest, NotThere
from campaigns.permissions import Sight
from campaigns.phases import PhaseRules, add_phase, change_phase, find_phase, remove_phase, rules_of
from campaigns.times import read_moment, written_moment
from models.corpus.phases import KnownPhase
from models.database.session import reading, writing
from models.schema.roles import Feedback, LateRule, PhaseKind
from web.dependencies import Asking, state_of
from web.pages.forms import Refused, filled_in
from web.pages.manage import organised
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

NEW = "new"
HOUR = 3600.0
Word = Annotated[str, Form(max_length=200)]


@router.get("/campaigns/{name}/manage/phases/{phase}")
def show_phase(request: Request, name: str, phase: str, principal: Asking) -> Response:
    """The form of a phase, or of a new one."""
    with reading(state_of(request).engine) as connection:
        sight = organised(connection, principal, name)
        version = version_of(connection, sight.campaign_id)
    known = _known(sight, phase)
    return _form(request, sight, known, _filled(sight, known), version)


@router.post("/campaigns/{name}/manage/phases/{phase}")
def save_phase(
    request: Request,
    name: str,
    phase: str,
    principal: Asking,
    phase_name: Word = "",
    kind: Word = "",
    starts: Word = "",
    ends: Word = "",
    late: Word = "",
    grace_hours: Word = "",
    feedback: Word = "",
    feedback_step: Word = "",
    version: Word = "*",
    do: Word = "save",
) -> Response:
    """Plan a phase, change it, or remove it."""
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
    engine = state_of(request).engine
    try:
        with filled_in(), writing(engine) as connection:
            sight = to_change(connection, principal, name, version)
            known = _known(sight, phase)
            if do == "remove" and known is not None:
                remove_phase(connection, sight, known)
            elif known is None:
                add_phase(connection, sight, _read(sight, given, None))
            else:
                change_phase(connection, sight, known, _read(sight, given, known))
    except Refused as refused:
        with reading(engine) as connection:
            sight = organised(connection, principal, name)
            version = version_of(connection, sight.campaign_id)
        return _form(request, sight, _known(sight, phase), given, version, str(refused), refused.status)
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done=phase#phases")


def _known(sight: Sight, phase: str) -> KnownPhase | None:
    """The phase of that number; None for a new one. Raises NotThere."""
    if phase == NEW:
        return None
    if not (phase.isascii() and phase.isdigit() and len(phase) < 19):
        raise NotThere
    return find_phase(sight, int(phase))


def _filled(sight: Sight, phase: KnownPhase | None) -> dict[str, str]:
    """What stands in the fields before anybody writes into them."""
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
        "starts": written_moment(phase.starts_at, sight.time_zone),
        "ends": "" if phase.ends_at is None else written_moment(phase.ends_at, sight.time_zone),
        "late": phase.late,
        "grace_hours": f"{phase.grace_seconds / HOUR:g}",
        "feedback": phase.feedback,
        "feedback_step": f"{phase.feedback_step:g}",
    }


def _read(sight: Sight, given: Mapping[str, str], phase: KnownPhase | None) -> PhaseRules:
    """The phase as it was filled in; fields that nobody has touched keep their exact moments. Raises BadRequest."""
    before = _filled(sight, phase)
    # A new phase may begin now: then nobody need look at a clock.
    starts_at = sight.at if not given["starts"].strip() and phase is None else None
    try:
        late = LateRule(given["late"] or LateRule.REFUSE)
        rules = PhaseRules(
            name=given["phase_name"],
            kind=PhaseKind(given["kind"]),
            starts_at=read_moment(given["starts"], sight.time_zone) if starts_at is None else starts_at,
            ends_at=read_moment(given["ends"], sight.time_zone) if given["ends"].strip() else None,
            late=late,
            grace_seconds=_number(given["grace_hours"], "grace") * HOUR if late == LateRule.FLAG else 0.0,
            feedback=Feedback(given["feedback"] or Feedback.FULL),
            feedback_step=_number(given["feedback_step"] or "1", "step"),
        )
    except ValueError as error:
        raise BadRequest("There is no such kind of phase, rule or feedback.") from error
    if phase is not None:
        exact = rules_of(phase)
        untouched = {"starts": "starts_at", "ends": "ends_at", "grace_hours": "grace_seconds"}
        same = {field: getattr(exact, field) for word, field in untouched.items() if given[word] == before[word]}
        if late == LateRule.REFUSE:
            same["grace_seconds"] = 0.0
        rules = replace(rules, **same)
    return rules


def _number(written: str, what: str) -> float:
    try:
        return float(written.strip().replace(",", ".") or 0)
    except ValueError as error:
        raise BadRequest(f"{written[:20]!r} is no number for the {what}.") from error


def _form(
    request: Request,
    sight: Sight,
    phase: KnownPhase | None,
    given: Mapping[str, str],
    version: str,
    fault: str = "",
    status: int = 200,
) -> Response:
    return page(
        request,
        "manage_phase",
        status=status,
        title="Plan a phase" if phase is None else f"Phase {phase.name}",
        sight=sight,
        here="manage",
        phase=phase,
        given=given,
        rules_version=version,
        fault=fault,
    )
