"""The phases of a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from campaigns.changes import to_change
from campaigns.permissions import Sight, read_sight
from campaigns.phases import PhaseRules, add_phase, change_phase, extend_phase, find_phase, remove_phase, rules_of
from campaigns.times import local_moment, read_moment
from models.corpus.phases import KnownPhase
from models.database.session import reading, writing
from models.schema.roles import Feedback, LateRule, PhaseKind
from web.api.campaigns import IfMatch
from web.api.paging import After, Limit, Paged, part_of
from web.dependencies import Asking, state_of

router = APIRouter(tags=["campaigns"])

A_MOMENT = "2026-11-30T18:00 in the time zone of the campaign, or with an offset: 2026-11-30T18:00+01:00."
Moment = Field(max_length=40, description=A_MOMENT, examples=["2026-11-30T18:00"])


class ShownPhase(BaseModel):
    """A phase. Times are in seconds since 1970, and beside them as the clocks of the campaign's time zone show them."""

    id: int
    name: str
    kind: PhaseKind
    starts_at: float
    starts: str
    ends_at: float | None
    """The deadline: the first moment at which it is too late."""
    ends: str | None
    late: LateRule
    grace_seconds: float
    feedback: Feedback
    feedback_step: float
    now: bool
    """Whether it is the phase of now."""
    takes_submissions: bool
    """Whether teams can hand in in it now."""


class PhaseChange(BaseModel):
    """What a phase is to be; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=100)
    kind: PhaseKind | None = None
    starts: str | None = Field(default=None, max_length=40, description=A_MOMENT)
    ends: str | None = Field(default=None, max_length=40, description=A_MOMENT + ' "" for no deadline.')
    late: LateRule | None = None
    grace_seconds: float | None = None
    """How long after the deadline late submissions are still taken in, and flagged."""
    feedback: Feedback | None = None
    """What teams are told of their own scores in a blind phase."""
    feedback_step: float | None = None
    """Points on the scale of 0 to 100."""


class NewPhase(PhaseChange):
    """A phase to be planned."""

    name: str = Field(max_length=100)
    kind: PhaseKind
    starts: str = Moment


class Extension(BaseModel):
    """A later deadline."""

    model_config = ConfigDict(extra="forbid")

    ends: str = Moment


@router.get("/campaigns/{name}/phases")
def list_phases(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownPhase]:
    """The phases of a campaign by their start."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
    found, going_on = part_of(sight.phases, limit, after)
    return Paged(items=[shown(sight, each) for each in found], next=going_on)


@router.post("/campaigns/{name}/phases", status_code=201)
def plan_phase(request: Request, name: str, new: NewPhase, principal: Asking, if_match: IfMatch = None) -> ShownPhase:
    """Plan a phase. Phases do not overlap; a local time that comes twice or never is asked back."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        rules = PhaseRules(new.name, new.kind, read_moment(new.starts, sight.time_zone))
        phase = add_phase(connection, sight, _changed(rules, new, sight))
        return _again(read_sight(connection, principal, name), phase)


@router.patch("/campaigns/{name}/phases/{phase}")
def change(
    request: Request, name: str, phase: int, new: PhaseChange, principal: Asking, if_match: IfMatch = None
) -> ShownPhase:
    """Change a phase. One that has begun keeps its name."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        known = find_phase(sight, phase)
        change_phase(connection, sight, known, _changed(rules_of(known), new, sight))
        return _again(read_sight(connection, principal, name), phase)


@router.post("/campaigns/{name}/phases/{phase}/extend")
def extend(
    request: Request, name: str, phase: int, new: Extension, principal: Asking, if_match: IfMatch = None
) -> ShownPhase:
    """Give a phase a later deadline, also one that is over; what came late is judged by the new one."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        extend_phase(connection, sight, find_phase(sight, phase), read_moment(new.ends, sight.time_zone))
        return _again(read_sight(connection, principal, name), phase)


@router.delete("/campaigns/{name}/phases/{phase}", status_code=204)
def remove(request: Request, name: str, phase: int, principal: Asking, if_match: IfMatch = None) -> Response:
    """Remove a phase to which no test set and no submission belongs."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        remove_phase(connection, sight, find_phase(sight, phase))
    return Response(status_code=204)


def shown(sight: Sight, phase: KnownPhase) -> ShownPhase:
    """A phase as an answer."""
    is_now = sight.phase is not None and sight.phase.id == phase.id
    return ShownPhase(
        id=phase.id,
        name=phase.name,
        kind=phase.kind,
        starts_at=phase.starts_at,
        starts=local_moment(phase.starts_at, sight.time_zone),
        ends_at=phase.ends_at,
        ends=None if phase.ends_at is None else local_moment(phase.ends_at, sight.time_zone),
        late=phase.late,
        grace_seconds=phase.grace_seconds,
        feedback=phase.feedback,
        feedback_step=phase.feedback_step,
        now=is_now,
        takes_submissions=is_now and sight.takes_submissions,
    )


def _again(sight: Sight, phase: int) -> ShownPhase:
    return shown(sight, find_phase(sight, phase))


def _changed(rules: PhaseRules, new: PhaseChange, sight: Sight) -> PhaseRules:
    values: dict[str, Any] = {
        name: getattr(new, name)
        for name in ("name", "kind", "late", "grace_seconds", "feedback", "feedback_step")
        if getattr(new, name) is not None
    }
    if new.starts is not None:
        values["starts_at"] = read_moment(new.starts, sight.time_zone)
    if new.ends is not None:
        values["ends_at"] = read_moment(new.ends, sight.time_zone) if new.ends else None
    return replace(rules, **values)
