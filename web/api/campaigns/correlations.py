"""Correlations of metrics with human judgments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import BadRequest, NotFound, Unavailable
from campaigns.inspection.correlations import LEVEL, CorrelationQuery, correlation_document
from campaigns.inspection.metrics_and_human import MAX_LEFT_OUT, read_metrics
from campaigns.inspection.visible import NoTestSet
from campaigns.leaderboards.comparison import MAX_SYSTEMS, WAIT_SECONDS
from campaigns.leaderboards.options import RETRY_SECONDS
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.roles import Scope
from steelyard_client.documents.leaderboards.correlations import CorrelationsResponse
from steelyard_client.vocabulary import Granularity, PValueCorrection
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["human scores"])

MOST_NAMES = 50


class CorrelationFilters:
    """Query parameters that say how metrics are compared."""

    def __init__(
        self,
        metric: Annotated[
            list[str] | None, Query(max_length=MOST_NAMES, description="Only these metrics; default: all.")
        ] = None,
        granularity: Annotated[Granularity, Query(description="Scores of systems, of segments, or both.")] = (
            Granularity.BOTH
        ),
        statistic: Annotated[
            list[str] | None,
            Query(
                max_length=MOST_NAMES,
                description="Statistics; the first one ranks and is tested. This and the next five are for accounts, "
                f"where they differ from the default, on leaderboards of up to {MAX_SYSTEMS} systems.",
            ),
        ] = None,
        replicates: Annotated[
            int | None, Query(ge=0, le=100_000, description="Bootstrap replicates; default: those of the leaderboard.")
        ] = None,
        level: Annotated[float, Query(ge=0.5, le=0.9999, description="Confidence level of the intervals.")] = LEVEL,
        trials: Annotated[
            int | None, Query(ge=0, le=1_000_000, description="Trials of the permutation tests, 0 for no tests.")
        ] = None,
        correction: Annotated[
            PValueCorrection, Query(description="The correction for multiple tests.")
        ] = PValueCorrection.HOLM,
        baseline: Annotated[
            str, Query(max_length=500, description="Test the others against this metric, not the best one.")
        ] = "",
    ) -> None:
        self.metrics = metric or []
        self.query = CorrelationQuery(
            granularity, tuple(statistic or ()), replicates, round(level, 4), trials, correction, baseline
        )


@router.get("/campaigns/{name}/correlations")
def read_correlations(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[CorrelationFilters, Depends()],
    test_set: str = "",
    references: str = "",
    human: str = "",
    without: Annotated[
        list[int], Query(max_length=MAX_LEFT_OUT, description="Submission numbers of systems to leave out.")
    ] = [],  # noqa: B006 - FastAPI copies it
    board: Annotated[
        int | None, Query(ge=1, lt=2**63, description="The number of a leaderboard, to select one that is not newest.")
    ] = None,
) -> CorrelationsResponse:
    """Read correlations of metrics with human judgments, with intervals and tests of each metric against the best.

    `without` leaves systems out, such as an output that equals a reference; it requires an account.
    """
    state, query = app_state(request), filters.query
    other = bool(filters.metrics) or not query.usual
    if other:
        principal.require(Scope.READ)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
    try:
        seen = read_metrics(
            state.boards, access, test_set, references, human, without, board_number=board, metrics=filters.metrics
        )
    except NoTestSet:
        if test_set or references or human or without:
            raise
        return CorrelationsResponse(test_set=None, references=[], human=None, tables=[])
    ranked = {submission for row in seen.systems for submission in row.submissions}
    if unknown := sorted(set(without) - ranked):
        raise NotFound(f"Submission {unknown[0]} is not on this leaderboard, so it cannot be left out.")
    patience = WAIT_SECONDS if other and principal is not COMMAND_LINE else None
    if patience is not None and len(ranked) > MAX_SYSTEMS:
        raise BadRequest(f"Other rules than the usual ones are for leaderboards of at most {MAX_SYSTEMS} systems.")
    tables = state.metrics.tables(seen.judged, patience, query) if seen.judged else []
    if tables is None:
        raise Unavailable("The metrics are being compared. Ask again.", retry_seconds=RETRY_SECONDS)
    return CorrelationsResponse(
        test_set=seen.test_set.title,
        references=list(seen.board.listed.references) if seen.board else [],
        human=seen.judged.human.title if seen.judged else None,
        tables=[correlation_document(each, access) for each in tables],
    )
