r"""The result of `score` as LaTeX tables; they need `\usepackage{booktabs}`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_text import cell, run_notes, run_table
from steelyard.tables import paired_tests
from steelyard.tables.latex import booktabs, comments, escaped

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result


def render(result: Result) -> str:
    """The scores, the best of each metric in bold; the runs; the paired tests; the signatures as comments."""
    parts = [score_table(result)]
    notes = [f"{metric.measurement.metric.title}|{metric.signature}" for metric in result.metrics]
    notes += [result.intervals] if result.intervals else []
    if result.has_runs:
        rows = [[escaped(text) for text in row] for row in run_table(result)]
        parts.append(booktabs(rows, "lrlrrrr", "Runs of systems"))
        notes += run_notes(result)
    if result.tests:
        parts.append(paired_tests.as_latex(result.tests, result.options.width))
    return "\n".join([*parts, comments(notes)])


def score_table(result: Result) -> str:
    """A row per system; arrows say which way is better, a star that a system differs from the baseline."""
    arrows = [r"$\uparrow$" if each.measurement.metric.higher_is_better else r"$\downarrow$" for each in result.metrics]
    titles = [escaped(metric.measurement.metric.title) for metric in result.metrics]
    rows = [["System", *(f"{title} {arrow}" for title, arrow in zip(titles, arrows, strict=True))]]
    starred = differing(result)
    for place, name in enumerate(result.names):
        row = [escaped(name)]
        for number, metric in enumerate(result.metrics):
            score, space, rest = cell(metric, metric.systems[place]).partition(" ")
            shown = escaped(score)
            if metric.systems[place].score == metric.best:
                shown = rf"\textbf{{{shown}}}"
            if (place, number) in starred:
                shown += "$^{*}$"
            row.append(shown + space + escaped(rest.strip()))
        rows.append(row)
    references = len(result.inputs.references)
    caption = f"Scores against {references} reference{'s'[: references > 1]}"
    if result.tests and result.tests.baseline is not None:
        caption += f"; * different from {result.tests.systems[result.tests.baseline]}, p below {result.tests.alpha:g}"
    return booktabs(rows, "l" + "r" * len(result.metrics), caption)


def differing(result: Result) -> set[tuple[int, int]]:
    """The systems that differ from the baseline beyond chance, each with the metric."""
    tests = result.tests
    if tests is None or tests.baseline is None:
        return set()
    return {(found.b, found.metric) for found in tests.results if tests.significant(found)}
