"""What the server's commands print of sweeps and of nightly runs that are made by hand, in every format.

`python -m tests.cli.printed.made_reports` writes tests/golden/server_reports anew: look at the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from analysis.meta_evaluation.parameter_sweep import SweepCorrelation, SweepOptions
from analysis.meta_evaluation.tuning import Choice, CrossFit, Tuned
from analysis.nightly.verdict import Verdict
from cli.meta_evaluation import tune_output
from cli.schedules.junit import nightly_run_junit
from cli.schedules.output import nightly_run_json, nightly_run_text
from models.results.boards import BoardSummary
from models.schema.states import NightlyRunState
from steelyard.meta_evaluation.parameter_choice import Gain, HeldOutChoice
from steelyard.meta_evaluation.sweep import sweep
from steelyard.resampling.regression import Outcome
from tests.cli.schedules.test_output import UNTESTED, change, finding, report

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "server_reports"
SWEEP = sweep("tbleu", "eps", ["0", "0.3", "1"], {})
"""With the rivals five metrics."""
SYSTEM, SEGMENT = SweepOptions("system", "pearson"), SweepOptions("segment", "kendall")
LEVEL = 0.9


def agreement(
    name: str, question: SweepOptions, observed: list[float], *, replicates: int = 0, references: str = "A"
) -> SweepCorrelation:
    metrics = tuple(metric.specification for metric in SWEEP.every)
    listed = BoardSummary(1, len(name), "sea", name, "1", tuple(references), metrics, replicates, 77, 60)
    drawn = np.array(observed)[:, None] + np.linspace(-0.2, 0.3, replicates)
    drawn[1] = math.nan
    systems = question == SYSTEM
    return SweepCorrelation(
        listed, ("a", "b", "c"), question, 3 if systems else 1234, "systems" if systems else "cells",
        np.array(observed), drawn, "documents" if replicates else "",
    )  # fmt: skip


def tuned() -> list[Tuned]:
    """Two variants, with and without intervals, choices and folds."""
    port = agreement("port", SYSTEM, [0.1, 0.52, 0.5204, -0.4, 0.3], replicates=40)
    both = agreement("port", SYSTEM, [0.2, math.nan, 0.2, 0.9, math.nan], replicates=40, references="AB")
    quay = agreement("quay", SEGMENT, [0.3, 0.2, 0.1, 0.25, 0.0], replicates=40)
    none = agreement("reef", SEGMENT, [math.nan] * 5)
    gains = (Gain(0.0004, (-0.0004, 0.25)), Gain(math.nan, None))
    choices = (Choice(port, quay, 2, 0, gains), Choice(port, port, 1, 2, (Gain(-0.1, None), gains[0])))
    fits = CrossFit(quay.listed, SEGMENT, HeldOutChoice((0, 2, 0), (3, 2, 2), 0.28, gains))
    return [
        Tuned("vectors=cbow", SWEEP, (port, both, quay), choices, (fits,)),
        Tuned("vectors=glove", SWEEP, (none,), (), ()),
    ]


def sweeps() -> Iterator[str]:
    """Of all variants together, of the first one with one choice, and of the last, which has no intervals."""
    one = Tuned("", SWEEP, tuned()[0].agreements[2:], tuned()[0].choices[:1], ())
    for given in (tuned(), [one], tuned()[1:]):
        for form in (tune_output.as_text, tune_output.as_json, tune_output.as_tsv, tune_output.as_svg):
            yield f"== {form.__name__}\n{form(given, LEVEL)}"


def runs() -> Iterator[str]:
    """Of a run with every outcome, of one that is fine, and of those without a verdict."""
    nothing = (Outcome.NO_BASELINE, Outcome.BASELINE)
    findings = [
        finding(f"s{place}", outcome, **(UNTESTED if outcome in nothing else {"p_corrected": 0.01 * place}))
        for place, outcome in enumerate(reversed(Outcome))
    ]
    findings.append(finding("t", Outcome.WORSE, difference=-3.0, scale=1.0, higher_is_better=False, p_corrected=0.08))
    findings.append(finding("u", Outcome.WORSE, baseline_system="v", baseline_date=None, p_corrected=0.08))
    findings.append(finding("w", Outcome.BETTER, baseline_system="v", scale=None, interval=None))
    changes = tuple(
        change(f"s{number}", worse=bool(number & 1), counts=bool(number & 2), new=bool(number & 4))
        for number in range(8)
    )
    told = ("A note.", "Another one.")
    verdicts = [
        Verdict("the best run", "bootstrap", 1500, 0.01, "holm", 0.5, tuple(findings), changes, told),
        Verdict("system v", "randomization", 10000, 0.05, "none", 0.0, (findings[0], findings[-1]), changes[6:7]),
        Verdict("the same system", "bootstrap", 1000, 0.05, "bh", 0.0, (finding("x", Outcome.BETTER),), ()),
        Verdict("the same system", "bootstrap", 1000, 0.05, "bh", 0.0, (), ()),
    ]
    reports = [report(each, caught_up=place == 0, manual=place < 2) for place, each in enumerate(verdicts)]
    reports += [report(state=state, reason=reason) for state in NightlyRunState for reason in (None, "disk full")]
    for each in reports:
        for form in (nightly_run_text, nightly_run_junit, nightly_run_json):
            yield f"== {form.__name__}\n{form(each)}"


FILES = {"sweeps": sweeps, "runs": runs}

if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, parts in FILES.items():
        (GOLDEN / f"{name}.txt").write_text("\n".join(parts()))
