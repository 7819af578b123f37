"""Schedules and their runs, for administrators and organisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from markupsafe import Markup
from sqlalchemy import Connection, select

from analysis.nightly.series import ScoreSeries
from analysis.nightly.verdict import History, NightlyRunReport, read_history, read_report
from campaigns.accounts.principal import Principal
from campaigns.charts import chart_of_runs
from campaigns.charts.numbers import csv_address
from campaigns.errors import Forbidden, NotFound, NotSignedIn
from campaigns.known_campaigns import may_know
from campaigns.reports.template import drawing
from models.nightly.failed_deliveries import FailedDelivery, read_failed_deliveries
from models.nightly.runs import NightlyRunInfo, count_nightly_runs, list_nightly_runs
from models.nightly.schedules import ScheduleInfo, find_schedule, list_schedules
from models.schema.base import database_time
from models.schema.campaigns import Campaign
from scheduler.nightly.plan import LATE_SECONDS
from scheduler.nightly.sources import Source
from steelyard_client.documents.document import utc
from steelyard_client.documents.submissions.nightly import (
    BaselineResponse,
    FailedDeliveryResponse,
    ScheduleHistoryResponse,
    ScheduleResponse,
)

CHARTS = 6
"""Series that are drawn at once; the table has the others."""


@dataclass(frozen=True)
class ScheduleView:
    """A schedule in a list."""

    schedule: ScheduleInfo
    nightly_runs: int
    last: NightlyRunInfo | None
    overdue: bool
    """Whether its next run should have begun, and no scheduler has started it."""
    failed_delivery: FailedDelivery | None = None
    """The last message to its webhook, if it did not arrive."""


def require_watcher(principal: Principal) -> None:
    """Raise NotSignedIn or Forbidden unless the principal may see the server's work."""
    if not principal.signed_in:
        raise NotSignedIn
    if not principal.may_create_campaigns:
        raise Forbidden("Only organisers and administrators can see nightly runs.")


def visible_schedules(connection: Connection, principal: Principal, *, removed: bool = False) -> list[ScheduleView]:
    """Return all schedules of campaigns visible to an organiser; administrators see all, with `removed` deleted ones.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    NotSignedIn
        If nobody is signed in.
    """
    require_watcher(principal)
    if removed and not principal.administrates:
        raise Forbidden("Only administrators can see deleted schedules.")
    at = database_time(connection)
    schedules = list_schedules(connection, removed=True) if removed else _visible(connection, principal)
    failed = read_failed_deliveries(connection)
    nightly_runs = count_nightly_runs(connection, [each.id for each in schedules])
    return [
        ScheduleView(
            each,
            nightly_runs[each.id].count,
            nightly_runs[each.id].last,
            overdue=each.next_at is not None and at > each.next_at + LATE_SECONDS,
            failed_delivery=failed.get(each.id),
        )
        for each in schedules
    ]


def visible_history(connection: Connection, principal: Principal, name: str) -> History:
    """Return the runs of a schedule.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    Forbidden
        If the caller lacks the permission.
    NotSignedIn
        If nobody is signed in.
    """
    require_watcher(principal)
    return read_history(connection, _find(connection, principal, name).id)


def visible_report(connection: Connection, principal: Principal, name: str, nightly_run: int) -> NightlyRunReport:
    """Return the report of one run of a schedule.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    Forbidden
        If the caller lacks the permission.
    NotSignedIn
        If nobody is signed in.
    """
    require_watcher(principal)
    schedule = _find(connection, principal, name)
    if nightly_run not in {each.id for each in list_nightly_runs(connection, schedule.id)}:
        raise NotFound(f"This schedule has no run {nightly_run}.")
    return read_report(connection, nightly_run)


def metrics_of(series: Sequence[ScoreSeries]) -> list[str]:
    """Return the titles of the metrics in these series."""
    return list(dict.fromkeys(each.title for each in series))


def chosen_series(series: Sequence[ScoreSeries], metric: str, system: str) -> list[ScoreSeries]:
    """Return the series of a metric and a system; of all systems, those with changes come first."""
    wanted = [each for each in series if metric in {"", each.title} and system in {"", each.subject.system}]
    return sorted(wanted, key=lambda each: (not each.changes, each.subject.test_set, each.subject.system))


@lru_cache(maxsize=256)
def chart(series: ScoreSeries) -> Markup:
    """Return a chart of one series; cached."""
    return drawing(chart_of_runs(series))


def numbers_of(series: ScoreSeries) -> str:
    """Return the address of the numbers of such a chart, as CSV."""
    rows = [(each.date, each.score, *(each.interval or (None, None))) for each in series.points]
    return csv_address(["date", "score", "low", "high"], rows)


def _visible(connection: Connection, principal: Principal) -> list[ScheduleInfo]:
    schedules = list_schedules(connection)
    if principal.administrates:
        return schedules
    seen = set(connection.scalars(select(Campaign.id).where(may_know(principal))))
    return [each for each in schedules if each.campaign_id in seen]


def schedule_document(view: ScheduleView, principal: Principal) -> ScheduleResponse:
    """Return the document of a schedule. Files, commands and webhooks of the server are for administrators."""
    schedule, last = view.schedule, view.last
    source = webhook = failed = None
    if principal.administrates:
        source = str(Source.from_json(schedule.source))
        # The other parts of its address may be secret.
        webhook = None if schedule.webhook is None else urlsplit(schedule.webhook).hostname
        if view.failed_delivery is not None:
            failed = FailedDeliveryResponse(**asdict(view.failed_delivery))
    return ScheduleResponse(
        name=schedule.name,
        active=schedule.active,
        cron=schedule.cron,
        time_zone=schedule.time_zone,
        next_at=utc(schedule.next_at),
        overdue=view.overdue,
        metrics=list(schedule.metrics),
        baseline=BaselineResponse(
            kind=str(schedule.baseline.kind), system=schedule.baseline.system, date=schedule.baseline.date
        ),
        source=source,
        webhook=webhook,
        failed_delivery=failed,
        runs=view.nightly_runs,
        last_date=last.date if last else None,
        last_state=last.state if last else None,
        last_regressed=last.regressed if last else None,
    )


def history_document(history: History, principal: Principal) -> ScheduleHistoryResponse:
    """Return the document of a history. Reasons may name folders and commands of the server."""
    known = history.as_json()
    for nightly_run in known["runs"]:
        nightly_run["due_at"] = utc(nightly_run["due_at"])
        if not principal.administrates:
            nightly_run["reason"] = None
    return ScheduleHistoryResponse(**known)


def _find(connection: Connection, principal: Principal, name: str) -> ScheduleInfo:
    if principal.administrates:
        return find_schedule(connection, name)
    for each in _visible(connection, principal):
        if each.name == name:
            return each
    raise NotFound(f"There is no schedule {name[:200]!r} that you may see.")
