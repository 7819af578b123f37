r"""The result of `score` as LaTeX tables; they need `\usepackage{booktabs}`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_tables import run_table, score_table, signatures
from steelyard.tables import paired_tests
from steelyard.tables.latex import as_latex, comments

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import Result


def render(result: Result) -> str:
    """The scores, the best of each metric in bold; the runs; the paired tests; the signatures as comments.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    references = len(result.inputs.references)
    caption = f"Scores against {references} reference{'s'[: references > 1]}"
    tests = result.tests
    if tests and tests.baseline is not None:
        caption += f"; * different from {tests.systems[tests.baseline]}, p below {tests.alpha:g}"
    tables = [replace(score_table(result), title=caption)]
    tables += [replace(run_table(result), title="Runs of systems")] if result.has_runs else []
    tables += paired_tests.lists_of(tests, result.options.width) if tests else []
    return "\n".join([*map(as_latex, tables), comments(signatures(result))])
