"""Schedules and their nights, for those who run the server or its campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup
from sqlalchemy import Connection, select

from analysis.nightly.series import NightSeries
from analysis.nightly.verdict import History, NightReport, read_history, read_report
from campaigns.accounts.principal import Principal
from campaigns.charts import chart_of_nights
from campaigns.errors import Forbidden, NotSignedIn, NotThere
from campaigns.permissions import may_know
from campaigns.reports.template import drawing
from models.nightly.runs import KnownNight, count_nights, list_nights
from models.nightly.schedules import KnownSchedule, list_schedules
from models.schema.base import now
from models.schema.campaigns import Campaign
from scheduler.nightly.plan import LATE_SECONDS

CHARTS = 6
"""Series that are drawn at once; the others are in the table."""


@dataclass(frozen=True)
class SeenSchedule:
    """A schedule in a list."""

    schedule: KnownSchedule
    nights: int
    last: KnownNight | None
    overdue: bool
    """Whether its next night should have begun, and nobody sees to it."""


def require_watcher(principal: Principal) -> None:
    """Raises NotSignedIn and Forbidden unless somebody may see how the server works."""
    if not principal.signed_in:
        raise NotSignedIn
    if not principal.may_found_campaigns:
        raise Forbidden("Only organisers and administrators see that.")


def seen_schedules(connection: Connection, principal: Principal) -> list[SeenSchedule]:
    """All schedules whose campaigns an organiser may see; administrators see all."""
    require_watcher(principal)
    at = float(connection.execute(now().select()).scalar_one())
    schedules = _visible(connection, principal)
    nights = count_nights(connection, [each.id for each in schedules])
    return [
        SeenSchedule(
            each,
            nights[each.id].count,
            nights[each.id].last,
            overdue=each.next_at is not None and at > each.next_at + LATE_SECONDS,
        )
        for each in schedules
    ]


def seen_history(connection: Connection, principal: Principal, name: str) -> History:
    """The nights of a schedule. Raises NotThere, Forbidden and NotSignedIn."""
    require_watcher(principal)
    return read_history(connection, _find(connection, principal, name).id)


def seen_report(connection: Connection, principal: Principal, name: str, night: int) -> NightReport:
    """What came of a night of that schedule. Raises NotThere, Forbidden and NotSignedIn."""
    require_watcher(principal)
    schedule = _find(connection, principal, name)
    if night not in {each.id for each in list_nights(connection, schedule.id)}:
        raise NotThere(f"This schedule has no night {night}.")
    return read_report(connection, night)


def metrics_of(series: Sequence[NightSeries]) -> list[str]:
    """The metrics that there are series of, by what people call them."""
    return list(dict.fromkeys(each.title for each in series))


def chosen_series(series: Sequence[NightSeries], metric: str, system: str) -> list[NightSeries]:
    """Those of a metric and a system: of all systems, those that have changed come first."""
    wanted = [each for each in series if metric in {"", each.title} and system in {"", each.subject.system}]
    return sorted(wanted, key=lambda each: (not each.changes, each.subject.test_set, each.subject.system))


@lru_cache(maxsize=256)
def chart(series: NightSeries) -> Markup:
    """A drawing of one series; the same series is drawn once."""
    return drawing(chart_of_nights(series))


def _visible(connection: Connection, principal: Principal) -> list[KnownSchedule]:
    schedules = list_schedules(connection)
    if principal.administrates:
        return schedules
    seen = set(connection.scalars(select(Campaign.id).where(may_know(principal))))
    return [each for each in schedules if each.campaign_id in seen]


def _find(connection: Connection, principal: Principal, name: str) -> KnownSchedule:
    for each in _visible(connection, principal):
        if each.name == name:
            return each
    raise NotThere(f"There is no schedule {name[:200]!r} that you may see.")
