"""The verdict on a nightly run: regressions against baselines and changes over time; reports and histories.

The verdict is stored with the run, so that a report never changes afterwards.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import board_notices
from analysis.nightly.baselines import read_run_history
from analysis.nightly.entries import read_score_entries
from analysis.nightly.regression import RegressionFinding, Subject, findings
from analysis.nightly.series import Change, ScoreSeries, read_series
from analysis.nightly.tests import randomization_of
from models.corpus.protocols import read_protocol
from models.errors import UnreadableRow
from models.nightly.runs import list_nightly_runs, read_nightly_run
from models.nightly.schedules import read_schedule
from models.results.boards import list_boards
from models.schema.column_types import stored
from models.schema.states import BaselineKind, NightlyRunState, PairedTest, ResamplingUnit
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.level_changes import Reported
from steelyard.resampling.paired import FEW_SEGMENTS, few_segments
from steelyard.resampling.randomization import TRIALS
from steelyard.resampling.regression import Outcome

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from analysis.nightly.baselines import RunHistory
    from models.nightly.runs import NightlyRunInfo
    from models.nightly.schedules import Baseline, ScheduleInfo
    from steelyard_client.documents.submissions.nightly import NightlyRunResponse

log = logging.getLogger(__name__)

VERSION = 1
"""Version of the stored form of verdicts: raised when a field changes its meaning."""


@dataclass(frozen=True)
class Verdict:
    """The findings and changes of one run."""

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
    """Changes over the last runs, including those that earlier runs have reported."""
    notes: tuple[str, ...] = ()
    """Limits of the tests, and missing systems; sentences."""

    @property
    def tests(self) -> int:
        """The number of tests in the corrected family."""
        return sum(each.p is not None and each.outcome != Outcome.SAME_OUTPUT for each in self.findings)

    @property
    def regressions(self) -> list[RegressionFinding]:
        """The findings that fail the run."""
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
        """Read the stored form.

        Raises
        ------
        UnreadableRow
            If a row cannot be read.
        """
        with stored("The verdict on a run"):
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
class NightlyRunReport:
    """A nightly run with its schedule and its verdict."""

    schedule: ScheduleInfo
    nightly_run: NightlyRunInfo
    verdict: Verdict | None
    """None until it was judged, and if it failed or was missed."""

    @property
    def wrong(self) -> bool:
        """Whether the run regressed, failed or was missed."""
        return self.nightly_run.state in {NightlyRunState.FAILED, NightlyRunState.MISSED} or bool(
            self.verdict and self.verdict.regressed
        )

    @property
    def document(self) -> NightlyRunResponse:
        """What is printed and sent."""
        from steelyard_client.documents.document import utc
        from steelyard_client.documents.submissions.nightly import NightlyRunResponse, VerdictResponse

        return NightlyRunResponse(
            schedule=self.schedule.name,
            run=self.nightly_run.id,
            date=self.nightly_run.date,
            due_at=utc(self.nightly_run.due_at),
            state=str(self.nightly_run.state),
            reason=self.nightly_run.reason,
            caught_up=self.nightly_run.caught_up,
            manual=self.nightly_run.manual,
            wrong=self.wrong,
            verdict=None if self.verdict is None else VerdictResponse(**self.verdict.as_json()),
        )


@dataclass(frozen=True)
class History:
    """All runs of a schedule, and the series of their scores."""

    schedule: ScheduleInfo
    nightly_runs: tuple[NightlyRunInfo, ...]
    """Earliest first."""
    series: tuple[ScoreSeries, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The form that is printed: docs/reference/regressions.md describes it."""
        return {
            "version": VERSION,
            "schedule": self.schedule.name,
            "time_zone": self.schedule.time_zone,
            "runs": [
                {
                    "run": nightly_run.id,
                    "date": nightly_run.date,
                    "due_at": nightly_run.due_at,
                    "state": str(nightly_run.state),
                    "reason": nightly_run.reason,
                    "regressed": nightly_run.regressed,
                }
                for nightly_run in self.nightly_runs
            ],
            "series": [each.as_json() for each in self.series],
        }


def judge_nightly_run(connection: Connection, nightly_run_id: int) -> Verdict:
    """The verdict on a run whose evaluations are done; read-only.

    Missing randomization tests are computed here, which may take long: `required_tests` lists them for computation
    beforehand.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    nightly_run = read_nightly_run(connection, nightly_run_id)
    schedule = read_schedule(connection, nightly_run.schedule_id)
    history = read_run_history(connection, nightly_run)
    entries = read_score_entries(connection, schedule, history)
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
        connection, history, alpha=schedule.alpha, minimum_difference=schedule.minimum_difference,
        reported=_reported(history), only_last=True, intervals=False,
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
    notes = [*_missing_systems(history), *_limits(connection, history, verdict)]
    return Verdict(**{**verdict.__dict__, "notes": tuple(notes)})


def read_report(connection: Connection, nightly_run_id: int) -> NightlyRunReport:
    """A run with its stored verdict.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    nightly_run = read_nightly_run(connection, nightly_run_id)
    verdict = None if nightly_run.verdict is None else Verdict.from_json(nightly_run.verdict)
    return NightlyRunReport(read_schedule(connection, nightly_run.schedule_id), nightly_run, verdict)


def read_history(connection: Connection, schedule_id: int) -> History:
    """The runs of a schedule and the series of the last `analysis.nightly.baselines.MAX_RUNS` judged ones."""
    schedule = read_schedule(connection, schedule_id)
    nightly_runs = list_nightly_runs(connection, schedule_id)
    judged = [nightly_run for nightly_run in nightly_runs if nightly_run.state == NightlyRunState.DONE]
    if not judged:
        return History(schedule, tuple(nightly_runs))
    history = read_run_history(connection, judged[-1])
    series = read_series(
        connection, history, alpha=schedule.alpha, minimum_difference=schedule.minimum_difference,
        reported=_reported(history),
    )  # fmt: skip
    return History(schedule, tuple(nightly_runs), tuple(series))


def describe_baseline(baseline: Baseline) -> str:
    """The baseline in words."""
    if baseline.kind == BaselineKind.PREVIOUS:
        return "the same system in the previous run"
    if baseline.kind == BaselineKind.BEST:
        return "the same system in its best run so far"
    when = f" in the run of {baseline.date}" if baseline.date else ""
    return (f"system {baseline.system}" if baseline.system else "the same system") + when


def _reported(history: RunHistory) -> dict[Subject, list[Reported]]:
    """The differences and changes that the verdicts of earlier runs report, by subject."""
    date_at = {nightly_run.date: at for at, nightly_run in reversed(list(enumerate(history.nightly_runs)))}
    found: dict[Subject, list[Reported]] = {}
    for at, nightly_run in enumerate(history.nightly_runs[:-1]):
        if nightly_run.verdict is None:
            continue
        try:
            verdict = Verdict.from_json(nightly_run.verdict)
        except UnreadableRow as error:
            log.warning("The verdict of %s is passed over: %s", nightly_run.date, error)
            continue
        for finding in verdict.findings:
            if finding.outcome in {Outcome.WORSE, Outcome.BETTER}:
                worse = finding.outcome == Outcome.WORSE
                found.setdefault(finding.subject, []).append(Reported(at, worse, None))
        for change in verdict.changes:
            if change.counts and change.since in date_at:
                found.setdefault(change.subject, []).append(Reported(at, change.worse, date_at[change.since]))
    return found


def _missing_systems(history: RunHistory) -> list[str]:
    if len(history.nightly_runs) < 2:
        return []
    last, now = (
        {(member.system, member.test_set): None for member in history.members[nightly_run.id]}
        for nightly_run in history.nightly_runs[-2:]
    )
    missing = [f"{system} on {test_set}" for system, test_set in last if (system, test_set) not in now]
    return [f"Scored in the previous run and not in this one: {', '.join(missing)}."] if missing else []


def _limits(connection: Connection, history: RunHistory, verdict: Verdict) -> list[str]:
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
    protocols = {member.protocol_id for member in history.members[history.nightly_runs[-1].id]}
    if verdict.test == PairedTest.BOOTSTRAP:
        sizes = {read_protocol(connection, protocol).segments for protocol in sorted(protocols)}
        notes += [f"{few_segments(segments)}." for segments in sorted(sizes) if segments < FEW_SEGMENTS]
    boards = list_boards(connection, protocols=sorted(protocols))
    by_document = sorted({board.test_set for board in boards if board.resample == ResamplingUnit.DOCUMENT})
    if verdict.tests and by_document:
        what = "The replicates draw" if verdict.test == PairedTest.BOOTSTRAP else "The trials exchange"
        notes.append(f"{what} whole documents, not segments, of {', '.join(by_document)}.")
    return [*notes, *dict.fromkeys(notice for board in boards for notice in board_notices(board))]
