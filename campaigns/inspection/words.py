"""Words of an output marked against a reference, or against another output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.reports.limits import LETTERS
from steelyard.inspection.marks import Mark, Run, compare


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text as runs of words."""

    runs: Sequence[Run]
    missing: Sequence[str]
    """Words of the compared text that it does not have."""
    against: str
    """Label or name of the compared text; "" if there is none."""


def marked(text: str, others: Sequence[tuple[str, str]]) -> MarkedText:
    """Mark the text against the closest of the others, given with their labels; long texts are cut."""
    shown, rest = text[:LETTERS], _rest(text)
    if not others:
        return MarkedText([Run(shown, Mark.UNMARKED), *rest], (), "")
    found = compare(shown, [other[:LETTERS] for _, other in others])
    missing = [run.text.strip() for run in found.reference if run.mark is Mark.ALONE]
    return MarkedText([*found.hypothesis, *rest], missing, others[found.chosen][0])


def cut(text: str) -> str:
    """Cut a text that is not marked to the same length."""
    return text[:LETTERS] + "".join(run.text for run in _rest(text))


def _rest(text: str) -> list[Run]:
    more = len(text) - LETTERS
    return [Run(f" … ({more:,} more characters)", Mark.UNMARKED)] if more > 0 else []
