"""Schedules of nightly runs, their scores and verdicts."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from analysis.nightly.text import baseline_of, how_tested, level_of, place_of, severity_key, summary
from analysis.nightly.verdict import NightlyRunReport
from campaigns.errors import NotFound
from campaigns.inspection.scheduled_runs import (
    CHARTS,
    chart,
    chosen_series,
    metrics_of,
    numbers_of,
    visible_history,
    visible_report,
    visible_schedules,
)
from models.database.session import reading
from models.schema.states import NightlyRunState
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()

RUNS = 60
"""Number of runs listed for a schedule, newest first."""
PLACES = 2


@router.get("/nightly")
def list_schedules(request: Request, principal: CurrentPrincipal) -> Response:
    """List the schedules that the user may see."""
    with reading(app_state(request).engine) as connection:
        schedules = visible_schedules(connection, principal)
    return page(request, "campaigns/nightly", title="Nightly runs", schedules=schedules)


@router.get("/nightly/{name}")
def show_schedule(
    request: Request, name: str, principal: CurrentPrincipal, metric: str = "", system: str = "", run: str = ""
) -> Response:
    """Show the scores of a schedule over time, and the verdict on its latest or another run."""
    with reading(app_state(request).engine) as connection:
        history = visible_history(connection, principal, name)
        ended = [each for each in history.nightly_runs if each.state != NightlyRunState.DUE]
        run = run or (str(ended[-1].id) if ended else "")
        if run and not (run.isascii() and run.isdigit() and len(run) < 10):
            raise NotFound("This schedule has no such run.")
        report = visible_report(connection, principal, name, int(run)) if run else None
    metrics = metrics_of(history.series)
    metric = metric if metric in metrics else (metrics[0] if metrics else "")
    series = chosen_series(history.series, metric, system)
    return page(
        request,
        "campaigns/nightly_run",
        title=history.schedule.name,
        crumbs=[("Nightly runs", "/nightly")],
        history=history,
        report=report,
        verdict=_verdict_text(report),
        metrics=metrics,
        metric=metric,
        systems=sorted({each.subject.system for each in history.series}),
        system=system,
        series=series,
        charts=[(chart(each), f"{each.title} of {each.subject.system}", numbers_of(each)) for each in series[:CHARTS]],
        changes=[change for each in series for change in each.changes],
        nightly_runs=list(reversed(history.nightly_runs))[:RUNS],
        level_of=level_of,
        place_of=place_of,
        places=PLACES,
    )


def _verdict_text(report: NightlyRunReport | None) -> dict[str, object]:
    """Return a verdict as text, with the most severe findings first."""
    if report is None or report.verdict is None:
        return {}
    verdict = report.verdict
    return {
        "summary": summary(verdict),
        "how": how_tested(verdict),
        "findings": [
            (each, baseline_of(each) if each.baseline_score is not None else "")
            for each in sorted(verdict.findings, key=severity_key)
        ],
    }
