"""Notices on scores that were already stored."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def measured_before(selections: Sequence[Sequence[str]], metrics: int, amounts: Sequence[Sequence[int]]) -> list[str]:
    """Sentences such as "3 of 5 metrics of 11 systems were measured before."; none where all is new.

    `selections` are the labels of the references that were scored against, `amounts` for each of them by how many of
    the `metrics` each output had been measured already. Where it differs between references they are named.
    """
    found: dict[tuple[int, int], list[Sequence[str]]] = {}
    for labels, of_outputs in zip(selections, amounts, strict=True):
        for amount, outputs in Counter(of_outputs).items():
            if amount:
                found.setdefault((amount, outputs), []).append(labels)
    return [
        f"{amount} of {metrics} metrics of {outputs} {'system' if outputs == 1 else 'systems'} were measured before"
        + ("." if len(against) == len(selections) else f" (against {', '.join(map('+'.join, against))}).")
        for (amount, outputs), against in sorted(found.items(), reverse=True)
    ]
