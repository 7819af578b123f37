"""The result of a nightly run in words, for terminal and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.resampling.correction import TITLES
from steelyard.resampling.paired import TITLES_OF_TESTS
from steelyard.resampling.regression import Outcome
from steelyard_client.vocabulary import level_words

if TYPE_CHECKING:
    from analysis.nightly.regression import RegressionFinding, Subject
    from analysis.nightly.series import Change
    from analysis.nightly.verdict import Verdict

ORDER = list(Outcome)
"""The worst first."""


def summary(verdict: Verdict) -> str:
    """The number of regressions, in a line."""
    scores, levels = len(verdict.regressions), sum(change.regressed for change in verdict.changes)
    if not scores and not levels:
        shown = sum(finding.outcome == Outcome.BETTER for finding in verdict.findings)
        better = f"; {_counted(shown, 'score')} better" if shown else ""
        return f"no regression in {_counted(len(verdict.findings), 'score')}{better}."
    parts = [f"{_counted(scores, 'regression')} in {_counted(len(verdict.findings), 'score')}"] if scores else []
    parts += [f"{_counted(levels, 'new change')} for the worse over time"] if levels else []
    return " and ".join(parts) + "."


def how_tested(verdict: Verdict) -> str:
    """The tests behind a verdict, in a sentence."""
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
        f"Compared with {verdict.baseline}: {TITLES_OF_TESTS[verdict.test]} with {verdict.draws:,} {draws}, two-sided, "
        f"{corrected}; worse or better below {verdict.alpha:g}{least}."
    )


def level_of(change: Change) -> str:
    """The direction of a change, and whether it is new or too small to count."""
    return level_words(worse=change.worse, counts=change.counts, new=change.new)


def place_of(subject: Subject) -> str:
    """Test set and references, short."""
    return f"{subject.test_set} ({'+'.join(subject.references)})"


def baseline_of(finding: RegressionFinding) -> str:
    """Which output a score was compared with."""
    if finding.baseline_date is None:
        return str(finding.baseline_system)
    other = finding.baseline_system if finding.baseline_system != finding.subject.system else None
    return f"{other}, {finding.baseline_date}" if other else finding.baseline_date


def severity_key(finding: RegressionFinding) -> tuple[int, float, float]:
    """Sorts the worst first."""
    p = 1.0 if finding.p_corrected is None else finding.p_corrected
    return ORDER.index(finding.outcome), p, -abs(finding.difference or 0.0)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
