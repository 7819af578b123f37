"""The report of a run for people, programs and continuous integration; `steelyard schedule show` has the history."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from analysis.nightly.text import baseline_of, how_tested, place_of, severity_key, summary
from steelyard.tables.formatting import digits
from steelyard.tables.text import aligned
from steelyard_client.commands.campaigns.schedule_history import CHANGE_HEADER, change_row
from steelyard_client.documents.submissions.nightly import LevelChange

if TYPE_CHECKING:
    from analysis.nightly.regression import RegressionFinding
    from analysis.nightly.verdict import NightlyRunReport, Verdict


def nightly_run_text(report: NightlyRunReport) -> str:
    """Text for a terminal: findings with the worst first, then changes over the runs and notes."""
    nightly_run, verdict = report.nightly_run, report.verdict
    how = [word for word, is_so in (("caught up", nightly_run.caught_up), ("run by hand", nightly_run.manual)) if is_so]
    title = f"{report.schedule.name}, run of {nightly_run.date}" + (f" ({', '.join(how)})" if how else "")
    if verdict is None:
        return f"{title}: {nightly_run.state}." + (f"\n{nightly_run.reason}" if nightly_run.reason else "") + "\n"
    text = f"{title}: {summary(verdict)}\n\n{how_tested(verdict)}\n\n"
    if verdict.findings:
        text += aligned([_header(verdict), *map(_row, sorted(verdict.findings, key=severity_key))])
    else:
        text += "Nothing was measured.\n"
    told = [change for change in verdict.changes if change.counts]
    if told:
        text += "\nLevels that lasted, over the last runs\n"
        told.sort(key=lambda each: not each.regressed)
        text += aligned([CHANGE_HEADER, *(change_row(LevelChange(**each.as_json())) for each in told)])
    return text + "".join(f"\nNote: {note}" for note in verdict.notes) + "\n" * bool(verdict.notes)


def nightly_run_json(report: NightlyRunReport) -> str:
    """Everything, numbers at full precision; docs/reference/regressions.md describes it."""
    known = report.document.model_dump(mode="json")
    return json.dumps(known, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _header(verdict: Verdict) -> list[str]:
    level = f"{100 * (1 - verdict.alpha):g} % interval"
    return ["System", "Test set", "Metric", "Score", "Baseline", "Difference", level, "p", "Verdict"]


def _row(finding: RegressionFinding) -> list[str]:
    places = digits(math.inf if finding.scale is None else finding.scale, 2)

    def shown(value: float | None, form: str = "") -> str:
        return "n/a" if value is None else f"{value:{form}.{places}f}"

    ends = finding.interval
    against = finding.baseline_score is not None
    return [
        finding.subject.system,
        place_of(finding.subject),
        finding.title + ("" if finding.higher_is_better else " ↓"),
        shown(finding.score),
        f"{shown(finding.baseline_score)} ({baseline_of(finding)})" if against else "",
        shown(finding.difference, "+") if against else "",
        f"{ends[0]:+.{places}f} to {ends[1]:+.{places}f}" if ends else "",
        "" if finding.p_corrected is None else f"{finding.p_corrected:.3g}",
        finding.outcome.upper() if finding.outcome.regressed else str(finding.outcome),
    ]
