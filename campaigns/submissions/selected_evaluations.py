"""Evaluations that organisers select by numbers, names and states, and what they do to all of them at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import BadRequest, Forbidden
from campaigns.fields.short_text import short_text
from campaigns.known_campaigns import may_organise
from campaigns.submissions.evaluation_actions import MAX_REASON_LENGTH
from models.database.session import reading
from models.queue_status.evaluation_filters import EvaluationFilter, EvaluationSummary, check_names, read_evaluations
from models.results.fingerprints import Fingerprint, read_fingerprints
from models.schema.campaigns import Campaign
from models.schema.roles import Scope
from models.schema.states import EvaluationState
from scheduler import admin
from steelyard_client.documents.submissions.evaluations import (
    EvaluationsCancel,
    EvaluationsChangeResponse,
    SelectedEvaluation,
    StoredScore,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Engine

    from campaigns.accounts.principal import Principal
    from runtime.settings import Settings
    from steelyard_client.documents.submissions.evaluations import EvaluationSelection

MOST = 2_000
"""Evaluations that one request changes; the command line on the database may change `admin.MOST`."""


def evaluation_filter(
    connection: Connection, principal: Principal, selection: EvaluationSelection, scope: Scope = Scope.READ
) -> EvaluationFilter:
    """Return a filter of the selected evaluations, in campaigns that the principal organises.

    Raises
    ------
    NotSignedIn, Forbidden
        If the principal organises no campaign, or its token lacks the scope.
    """
    principal.require(scope)
    within = None if principal.administrates else may_organise(principal)
    if within is not None and connection.scalar(select(Campaign.id).where(within).limit(1)) is None:
        raise Forbidden("Only organisers of a campaign can do that.")
    return EvaluationFilter(
        evaluations=tuple(dict.fromkeys(selection.evaluations)),
        campaign=selection.campaign or None,
        system=selection.system or None,
        team=selection.team or None,
        states=tuple(EvaluationState(state) for state in dict.fromkeys(selection.states)),
        within=within,
    )


def list_selected(
    connection: Connection, principal: Principal, selection: EvaluationSelection, *, after: int, limit: int
) -> list[EvaluationSummary]:
    """Return the selected evaluations by their numbers, at most `limit` after the one of that number.

    Raises as `evaluation_filter`, and NotFound for a name that nothing has.
    """
    wanted = evaluation_filter(connection, principal, selection)
    check_names(connection, wanted)
    return read_evaluations(connection, wanted, after=after, most=limit)


def read_scores(connection: Connection, principal: Principal, selection: EvaluationSelection) -> list[StoredScore]:
    """Return the scores that are stored of the selected evaluations. Raises as `list_selected`."""
    wanted = evaluation_filter(connection, principal, selection)
    check_names(connection, wanted)
    return _stored(read_fingerprints(connection, wanted.evaluations))


def change_evaluations(
    engine: Engine,
    settings: Settings,
    principal: Principal,
    action: admin.Action,
    selection: EvaluationSelection,
    *,
    dry_run: bool,
) -> EvaluationsChangeResponse:
    """Cancel, retry or recompute the selected evaluations, or say which it would be.

    Raises
    ------
    NotSignedIn, Forbidden, NotFound
        As `list_selected`.
    BadRequest
        If nothing is selected.
    NothingToDo, TooMany
        As `scheduler.admin.plan`.
    """
    with reading(engine) as connection:
        wanted = evaluation_filter(connection, principal, selection, Scope.ORGANISE)
        if wanted.everything:
            raise BadRequest("Select evaluations by their numbers, campaign, system, team or states.")
        plan = admin.plan(connection, action, wanted, admin.MOST if principal is COMMAND_LINE else MOST)
    touched = plan.touched
    done = admin.Recomputed(tuple(each.id for each in touched), {}, ())
    if not dry_run:
        if action is admin.Action.RECOMPUTE:
            done = admin.recompute(engine, settings, done.evaluations, audit=principal.audit)
        elif action is admin.Action.RETRY:
            queued = admin.retry(engine, settings, done.evaluations, audit=principal.audit)
            done = admin.Recomputed(tuple(queued), {}, ())
        else:
            assert isinstance(selection, EvaluationsCancel)
            # One line, because it is shown in tables.
            reason = " ".join(short_text(selection.reason, "The reason", MAX_REASON_LENGTH, lines=True).split())
            cancelled = admin.cancel(engine, done.evaluations, reason, counts=selection.counts, audit=principal.audit)
            done = admin.Recomputed(tuple(cancelled), {}, ())
    held = set(done.evaluations)
    return EvaluationsChangeResponse(
        changed=not dry_run,
        evaluations=[selected_evaluation(each) for each in touched if each.id in held],
        skipped=dict(sorted(Counter(each.state for each in plan.left).items())),
        scores=_stored(done.scores),
        comparisons=list(done.comparisons),
    )


def selected_evaluation(each: EvaluationSummary) -> SelectedEvaluation:
    """Return the document of an evaluation, for those who may know everything about it."""
    return SelectedEvaluation(
        id=each.id,
        submission=each.submission_id,
        campaign=each.campaign,
        test_set=each.test_set,
        references=list(each.references),
        team=each.system_team,
        system=each.system,
        run=each.run,
        state=each.state,
        reason=each.reason,
        fault=each.fault,
        shards_left=each.remaining,
        ended_seconds=each.ended_seconds,
    )


def _stored(scores: Mapping[tuple[int, int], Fingerprint]) -> list[StoredScore]:
    return [
        StoredScore(evaluation=evaluation, position=position, **asdict(each))
        for (evaluation, position), each in sorted(scores.items())
    ]
