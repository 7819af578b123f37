"""The verdict on a night: regressions against baselines and changes over the nights; reports and histories.

The verdict is stored with the night, so that a report never changes afterwards.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import board_notices
from analysis.nightly.baselines import read_nights_before
from analysis.nightly.entries import read_score_entries
from analysis.nightly.regression import Outcome, RegressionFinding, Subject, findings
from analysis.nightly.series import Change, NightSeries, Reported, read_series
from analysis.nightly.tests import WantedTests, randomization_of, wanted_tests
from metrics.resampling.paired import FEW_SEGMENTS, few_segments, smallest_p
from metrics.resampling.randomization import TRIALS
from models.corpus.protocols import read_protocol
from models.errors import UnreadableRow
from models.nightly.runs import list_nights, read_night
from models.nightly.schedules import read_schedule
from models.results.boards import list_boards
from models.schema.column_types import stored
from models.schema.states import BaselineKind, NightState, PairedTest

__all__ = [
    "History",
    "NightReport",
    "Verdict",
    "WantedTests",
    "judge_night",
    "read_history",
    "read_report",
    "wanted_tests",
]

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from analysis.nightly.baselines import NightsBefore
    from models.nightly.runs import NightInfo
    from models.nightly.schedules import Baseline, ScheduleInfo

log = logging.getLogger(__name__)

VERSION = 1
"""Version of the stored form of verdicts: raised when a field changes its meaning."""


@dataclass(frozen=True)
class Verdict:
    """The findings and changes of one night."""

    baseline: str
    """The baseline, in words."""
    test: str
    """"bootstrap" or "randomization"."""
    draws: int
    """Replicates or trials."""
    alpha: float
    correction: str
    minimum_difference: float
    findings: tuple[RegressionFinding, ...]
    changes: tuple[Change, ...]
    """Changes over the last nights, including those that earlier nights have reported."""
    notes: tuple[str, ...] = ()
    """Limits of the tests, and missing systems; sentences."""

    @property
    def tests(self) -> int:
        """The number of tests in the corrected family."""
        return sum(each.p is not None and each.outcome != Outcome.SAME_OUTPUT for each in self.findings)

    @property
    def regressions(self) -> list[RegressionFinding]:
        """The findings that fail the night."""
        return [each for each in self.findings if each.outcome.regressed]

    @property
    def regressed(self) -> bool:
        """Whether any system is worse than its baseline, or has a new change to a worse level."""
        return bool(self.regressions) or any(change.regressed for change in self.changes)

    def as_json(self) -> dict[str, Any]:
        """The form that is stored and sent."""
        return {
            "version": VERSION,
            "regressed": self.regressed,
            "baseline": self.baseline,
            "test": self.test,
            "draws": self.draws,
            "alpha": self.alpha,
            "correction": self.correction,
            "minimum_difference": self.minimum_difference,
            "tests": self.tests,
            "findings": [each.as_json() for each in self.findings],
            "changes": [each.as_json() for each in self.changes],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, verdict: dict[str, Any]) -> Verdict:
        """Read the stored form. Raises UnreadableRow."""
        with stored("The verdict on a night"):
            return cls(
                baseline=verdict["baseline"],
                test=verdict["test"],
                draws=verdict["draws"],
                alpha=verdict["alpha"],
                correction=verdict["correction"],
                minimum_difference=verdict["minimum_difference"],
                findings=tuple(map(RegressionFinding.from_json, verdict["findings"])),
                changes=tuple(map(Change.from_json, verdict["changes"])),
                notes=tuple(verdict["notes"]),
            )


@dataclass(frozen=True)
class NightReport:
    """A night with its schedule and its verdict."""

    schedule: ScheduleInfo
    night: NightInfo
    verdict: Verdict | None
    """None until it was judged, and where it failed or was missed."""

    @property
    def wrong(self) -> bool:
        """Whether the night regressed, failed or was missed."""
        return self.night.state in {NightState.FAILED, NightState.MISSED} or bool(
            self.verdict and self.verdict.regressed
        )

    def as_json(self) -> dict[str, Any]:
        """The form that is printed and sent: docs/regressions.md describes it."""
        return {
            "schedule": self.schedule.name,
            "night": self.night.id,
            "date": self.night.date,
            "due_at": self.night.due_at,
            "state": str(self.night.state),
            "reason": self.night.reason,
            "caught_up": self.night.caught_up,
            "manual": self.night.manual,
            "wrong": self.wrong,
            "verdict": None if self.verdict is None else self.verdict.as_json(),
        }


@dataclass(frozen=True)
class History:
    """All nights of a schedule, and the series of their scores."""

    schedule: ScheduleInfo
    nights: tuple[NightInfo, ...]
    """Earliest first."""
    series: tuple[NightSeries, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The form that is printed: docs/regressions.md describes it."""
        return {
            "version": VERSION,
            "schedule": self.schedule.name,
            "time_zone": self.schedule.time_zone,
            "nights": [
                {
                    "night": night.id,
                    "date": night.date,
                    "due_at": night.due_at,
                    "state": str(night.state),
                    "reason": night.reason,
                    "regressed": night.regressed,
                }
                for night in self.nights
            ],
            "series": [each.as_json() for each in self.series],
        }


def judge_night(connection: Connection, night_id: int) -> Verdict:
    """The verdict on a night whose evaluations are done; read-only. Raises NotFound.

    Missing randomization tests are computed here, which may take long: `wanted_tests` lists them for computation
    beforehand.
    """
    night = read_night(connection, night_id)
    schedule = read_schedule(connection, night.schedule_id)
    before = read_nights_before(connection, night)
    entries = read_score_entries(connection, schedule, before)
    p_of = None
    if schedule.test == PairedTest.RANDOMIZATION:
        p_of = randomization_of(connection, entries, schedule.seed)
    found = findings(
        entries,
        alpha=schedule.alpha,
        correction=schedule.correction,
        minimum_difference=schedule.minimum_difference,
        p_of=p_of,
    )
    series = read_series(
        connection, before, alpha=schedule.alpha, minimum_difference=schedule.minimum_difference,
        reported=_reported(before), only_last=True, intervals=False,
    )  # fmt: skip
    draws = schedule.replicates if p_of is None else TRIALS
    verdict = Verdict(
        baseline=describe_baseline(schedule.baseline),
        test=str(schedule.test),
        draws=draws,
        alpha=schedule.alpha,
        correction=schedule.correction,
        minimum_difference=schedule.minimum_difference,
        findings=tuple(found),
        changes=tuple(change for each in series for change in each.changes),
    )
    notes = [*_absent(before), *_weak(connection, before, verdict)]
    return Verdict(**{**verdict.__dict__, "notes": tuple(notes)})


def read_report(connection: Connection, night_id: int) -> NightReport:
    """A night with its stored verdict. Raises NotFound."""
    night = read_night(connection, night_id)
    verdict = None if night.verdict is None else Verdict.from_json(night.verdict)
    return NightReport(read_schedule(connection, night.schedule_id), night, verdict)


def read_history(connection: Connection, schedule_id: int) -> History:
    """The nights of a schedule and the series of the last `analysis.nightly.baselines.MOST_NIGHTS` that were judged."""
    schedule = read_schedule(connection, schedule_id)
    nights = list_nights(connection, schedule_id)
    judged = [night for night in nights if night.state == NightState.DONE]
    if not judged:
        return History(schedule, tuple(nights))
    before = read_nights_before(connection, judged[-1])
    series = read_series(
        connection, before, alpha=schedule.alpha, minimum_difference=schedule.minimum_difference,
        reported=_reported(before),
    )  # fmt: skip
    return History(schedule, tuple(nights), tuple(series))


def describe_baseline(baseline: Baseline) -> str:
    """The baseline in words."""
    if baseline.kind == BaselineKind.PREVIOUS:
        return "the same system in the night before"
    if baseline.kind == BaselineKind.BEST:
        return "the same system in its best night so far"
    of_night = f" in the night of {baseline.night}" if baseline.night else ""
    return (f"system {baseline.system}" if baseline.system else "the same system") + of_night


def _reported(before: NightsBefore) -> dict[Subject, list[Reported]]:
    """The differences and changes that the verdicts of earlier nights report, by subject."""
    date_at = {night.date: at for at, night in reversed(list(enumerate(before.nights)))}
    found: dict[Subject, list[Reported]] = {}
    for at, night in enumerate(before.nights[:-1]):
        if night.verdict is None:
            continue
        try:
            verdict = Verdict.from_json(night.verdict)
        except UnreadableRow as error:
            log.warning("The verdict of %s is passed over: %s", night.date, error)
            continue
        for finding in verdict.findings:
            if finding.outcome in {Outcome.WORSE, Outcome.BETTER}:
                worse = finding.outcome == Outcome.WORSE
                found.setdefault(finding.subject, []).append(Reported(at, worse, None))
        for change in verdict.changes:
            if change.counts and change.since in date_at:
                found.setdefault(change.subject, []).append(Reported(at, change.worse, date_at[change.since]))
    return found


def _absent(before: NightsBefore) -> list[str]:
    if len(before.nights) < 2:
        return []
    last, now = (
        {(member.system, member.test_set): None for member in before.members[night.id]} for night in before.nights[-2:]
    )
    lacking = [f"{system} on {test_set}" for system, test_set in last if (system, test_set) not in now]
    return [f"Scored in the night before and not in this one: {', '.join(lacking)}."] if lacking else []


def _weak(connection: Connection, before: NightsBefore, verdict: Verdict) -> list[str]:
    """Limits of the tests: too few replicates, untested scores, few segments, unsuitable tokenizers."""
    notes = []
    least = smallest_p(verdict.draws, verdict.tests, verdict.correction)
    if verdict.tests and least >= verdict.alpha:
        what = "replicates" if verdict.test == PairedTest.BOOTSTRAP else "trials"
        notes.append(
            f"{verdict.draws:,} {what} are too few for {verdict.tests} tests: no corrected p-value can be below "
            f"{least:.3g}, so nothing can be significant. Use more, or the correction bh."
        )
    untested = sum(each.outcome == Outcome.UNTESTED for each in verdict.findings)
    if untested:
        notes.append(f"Scores that could not be tested, because no replicate has a score: {untested}.")
    protocols = {member.protocol_id for member in before.members[before.nights[-1].id]}
    if verdict.test == PairedTest.BOOTSTRAP:
        sizes = {read_protocol(connection, protocol).segments for protocol in sorted(protocols)}
        notes += [f"{few_segments(segments)}." for segments in sorted(sizes) if segments < FEW_SEGMENTS]
    boards = list_boards(connection, protocols=sorted(protocols))
    return [*notes, *dict.fromkeys(notice for board in boards for notice in board_notices(board))]
