"""What came of a night, for people, programs and continuous integration; its history is in `cli.nightly_history`."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from analysis.regression import Outcome
from cli.columns import aligned, digits
from cli.nightly_changes import CHANGE_HEADER, change_row, place_of
from cli.nightly_history import history_json, history_svg, history_text
from cli.nightly_junit import night_junit
from cli.pairs_output import TESTS
from metrics.resampling.correction import TITLES

if TYPE_CHECKING:
    from analysis.nights import NightReport, Verdict
    from analysis.regression import Finding

__all__ = ["history_json", "history_svg", "history_text", "night_json", "night_junit", "night_text"]

ORDER = list(Outcome)
"""The worst first."""


def night_text(report: NightReport) -> str:
    """For a terminal: what is worse first, then the rest, changes over the nights and notes."""
    night, verdict = report.night, report.verdict
    how = [word for word, is_so in (("caught up", night.caught_up), ("run by hand", night.manual)) if is_so]
    title = f"{report.schedule.name}, night of {night.date}" + (f" ({', '.join(how)})" if how else "")
    if verdict is None:
        return f"{title}: {night.state}." + (f"\n{night.reason}" if night.reason else "") + "\n"
    text = f"{title}: {summary(verdict)}\n\n{how_tested(verdict)}\n\n"
    if verdict.findings:
        text += aligned([_header(verdict), *map(_row, sorted(verdict.findings, key=_badness))])
    else:
        text += "Nothing was measured.\n"
    told = [change for change in verdict.changes if change.counts]
    if told:
        text += "\nLevels that lasted, over the last nights\n"
        text += aligned([CHANGE_HEADER, *map(change_row, sorted(told, key=lambda each: not each.regressed))])
    return text + "".join(f"\nNote: {note}" for note in verdict.notes) + "\n" * bool(verdict.notes)


def night_json(report: NightReport) -> str:
    """Everything, numbers at full precision; docs/regressions.md describes it."""
    return json.dumps(report.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def summary(verdict: Verdict) -> str:
    """What is wrong, in a line."""
    scores, levels = len(verdict.regressions), sum(change.regressed for change in verdict.changes)
    if not scores and not levels:
        shown = sum(finding.outcome == Outcome.BETTER for finding in verdict.findings)
        better = f"; {_counted(shown, 'score')} better" if shown else ""
        return f"no regression in {_counted(len(verdict.findings), 'score')}{better}."
    parts = [f"{_counted(scores, 'regression')} in {_counted(len(verdict.findings), 'score')}"] if scores else []
    parts += [f"{_counted(levels, 'new change')} for the worse over the nights"] if levels else []
    return " and ".join(parts) + "."


def how_tested(verdict: Verdict) -> str:
    """By which tests, in a sentence."""
    if not verdict.tests:
        return f"Compared with {verdict.baseline}: there was nothing to test."
    draws = "replicates" if verdict.test == "bootstrap" else "trials"
    corrected = (
        f"p corrected by {TITLES[verdict.correction]} for {_counted(verdict.tests, 'test')}"
        if verdict.correction in TITLES
        else f"p not corrected for {_counted(verdict.tests, 'test')}"
    )
    least = f", by at least {verdict.minimum_difference:g}" if verdict.minimum_difference else ""
    return (
        f"Compared with {verdict.baseline}: {TESTS[verdict.test]} with {verdict.draws:,} {draws}, two-sided, "
        f"{corrected}; worse or better below {verdict.alpha:g}{least}."
    )


def _header(verdict: Verdict) -> list[str]:
    level = f"{100 * (1 - verdict.alpha):g} % interval"
    return ["System", "Test set", "Metric", "Score", "Baseline", "Difference", level, "p", "Verdict"]


def _row(finding: Finding) -> list[str]:
    places = digits(2, math.inf if finding.scale is None else finding.scale)

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


def baseline_of(finding: Finding) -> str:
    """Which output a score was compared with."""
    if finding.baseline_date is None:
        return str(finding.baseline_system)
    other = finding.baseline_system if finding.baseline_system != finding.subject.system else None
    return f"{other}, {finding.baseline_date}" if other else finding.baseline_date


def _badness(finding: Finding) -> tuple[int, float, float]:
    p = 1.0 if finding.p_corrected is None else finding.p_corrected
    return ORDER.index(finding.outcome), p, -abs(finding.difference or 0.0)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
