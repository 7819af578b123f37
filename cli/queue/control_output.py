"""Output of `submission cancel`, `retry` and `recompute`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from models.queue_status.evaluation_filters import EvaluationSummary
    from models.results.fingerprints import Fingerprint
    from scheduler.admin import Plan

MOST_ROWS = 20


def planned(verb: str, plan: Plan) -> str:
    """The selected evaluations, and the number of skipped ones."""
    rows = [["Evaluation", "System", "Of", "State"]]
    rows += [[str(each.id), each.called, each.measured, each.state] for each in plan.touched[:MOST_ROWS]]
    text = f"To {verb}:\n{aligned(rows)}"
    if len(plan.touched) > MOST_ROWS:
        text += f"and {len(plan.touched) - MOST_ROWS:,} more\n"
    counts = Counter(each.state for each in plan.left)
    if counts:
        text += "Skipped: " + ", ".join(f"{amount:,} {state}" for state, amount in sorted(counts.items())) + ".\n"
    return text


def compared(
    evaluations: Sequence[EvaluationSummary],
    before: Mapping[tuple[int, int], Fingerprint],
    after: Mapping[tuple[int, int], Fingerprint],
) -> tuple[str, bool]:
    """A comparison of recomputed scores with the old ones as text, and whether all are equal to the bit.

    `before` and `after` are by evaluation and position of the metric.
    """
    called = {each.id: each for each in evaluations}
    both = [key for key in sorted(before) if key in after]
    if not before:
        return "There were no scores before to compare with.\n", True
    if not both:
        return "There are no new scores to compare with the old ones.\n", True
    changed = [key for key in both if not before[key].same(after[key])]
    if not changed:
        what = "The score is" if len(both) == 1 else f"All {len(both):,} scores are"
        return f"{what} the same to the bit as before.\n", True
    rows = [["Evaluation", "System", "Of", "Metric", "Before", "Now"]]
    for key in changed[:MOST_ROWS]:
        each, old, new = called[key[0]], before[key], after[key]
        rows.append([str(key[0]), each.called, each.measured, new.title, _digits(old.score), _digits(new.score)])
    text = f"{len(changed):,} of {len(both):,} scores differ from those before:\n{aligned(rows)}"
    if len(changed) > MOST_ROWS:
        text += f"and {len(changed) - MOST_ROWS:,} more\n"
    if any(before[key].score == after[key].score for key in changed):
        text += "Where the score is the same, its sums or replicates differ.\n"
    if renamed := [key for key in changed if before[key].signature != after[key].signature]:
        was, now = before[renamed[0]].signature, after[renamed[0]].signature
        text += f"{len(renamed):,} of them have another signature, such as {now} instead of {was}.\n"
    return text, False


def _digits(score: float | None) -> str:
    """All digits, since they may differ in the last."""
    return "n/a" if score is None else repr(score)
