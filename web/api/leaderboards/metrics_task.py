"""The metrics of a campaign over all of its test sets, also as files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from campaigns.inspection.metrics_task import read_metrics_task
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.latex import as_latex
from steelyard.tables.metrics_task import COLUMNS, rows_of, tables_of
from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse
from web.api.leaderboards.leaderboards import FILES, TEXT, BoardFormat
from web.dependencies import CurrentPrincipal, app_state

router = APIRouter(tags=["leaderboards"])

PATIENCE_SECONDS = 10.0
"""How long a request waits for the tests."""


@router.get(
    "/campaigns/{name}/metrics-task",
    response_model=MetricsTaskResponse,
    responses={200: {"content": {kind: TEXT for _, kind in FILES.values()}}},
)
def read_campaign_metrics_task(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    human: Annotated[
        str, Query(max_length=300, description="The judgments, by name; by default the newest of each test set.")
    ] = "",
    form: Annotated[BoardFormat, Query(alias="format", description="JSON, or a file.")] = BoardFormat.JSON,
) -> Response:
    """Read how well the metrics of a campaign agree with people over all of its test sets, as WMT's metrics task ranks.

    Of each test set the leaderboard against the most references counts. Soft pairwise accuracy is of systems, acc-eq of
    segments; metrics that no permutation test tells apart share a rank. The tests take a while: until workers have done
    them, `computing` is true and there are no metrics. What they have found is kept until scores or judgments change.
    CSV and TSV have a row for each metric and task.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
    document = read_metrics_task(state.engine, state.settings, state.metrics_tasks, access, human, PATIENCE_SECONDS)
    if form not in FILES:
        return Response(document.model_dump_json(), media_type="application/json")
    ending, kind = FILES[form]
    if form is BoardFormat.LATEX:
        file = "\n".join(as_latex(table) for table in tables_of(document))
    else:
        file = (as_csv if form is BoardFormat.CSV else as_tsv)(COLUMNS, rows_of(document))
    headers = {"Content-Disposition": f'attachment; filename="metrics-task{ending}"'}
    return Response(file, media_type=f"{kind}; charset=utf-8", headers=headers)
