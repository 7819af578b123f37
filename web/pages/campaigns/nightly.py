"""What is measured every night, and what came of it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from analysis.nightly.text import baseline_of, how_tested, level_of, place_of, severity_key, summary
from analysis.nightly.verdict import NightlyRunReport
from campaigns.errors import NotThere
from campaigns.inspection.scheduled_runs import (
    CHARTS,
    chart,
    chosen_series,
    metrics_of,
    visible_history,
    visible_report,
    visible_schedules,
)
from models.database.session import reading
from models.schema.states import NightlyRunState
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page

router = APIRouter()

NIGHTS = 60
"""In the list of a schedule, the last ones."""
PLACES = 2


@router.get("/nightly")
def list_schedules(request: Request, principal: CurrentPrincipal) -> Response:
    """All schedules that one may see."""
    with reading(app_state(request).engine) as connection:
        schedules = visible_schedules(connection, principal)
    return page(request, "campaigns/nightly", title="Nights", schedules=schedules)


@router.get("/nightly/{name}")
def show_schedule(
    request: Request, name: str, principal: CurrentPrincipal, metric: str = "", system: str = "", night: str = ""
) -> Response:
    """The series of a schedule, and the verdict on its last night or another one."""
    with reading(app_state(request).engine) as connection:
        history = visible_history(connection, principal, name)
        judged = [each for each in history.nights if each.state != NightlyRunState.DUE]
        wanted = night or (str(judged[-1].id) if judged else "")
        if wanted and not (wanted.isascii() and wanted.isdigit() and len(wanted) < 10):
            raise NotThere("This schedule has no such night.")
        report = visible_report(connection, principal, name, int(wanted)) if wanted else None
    metrics = metrics_of(history.series)
    metric = metric if metric in metrics else (metrics[0] if metrics else "")
    series = chosen_series(history.series, metric, system)
    return page(
        request,
        "campaigns/nightly_run",
        title=history.schedule.name,
        crumbs=[("Nights", "/nightly")],
        history=history,
        report=report,
        told=_told(report),
        metrics=metrics,
        metric=metric,
        systems=sorted({each.subject.system for each in history.series}),
        system=system,
        series=series,
        charts=[chart(each) for each in series[:CHARTS]],
        changes=[change for each in series for change in each.changes],
        nights=list(reversed(history.nights))[:NIGHTS],
        level_of=level_of,
        place_of=place_of,
        places=PLACES,
    )


def _told(report: NightlyRunReport | None) -> dict[str, object]:
    """A verdict in words, the worst first."""
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
