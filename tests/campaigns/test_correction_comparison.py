"""Scores before and after a correction: which protocols belong together, and which submission stands for a system."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.corrections.comparison import CorrectedMetric, compare_correction, ranks_before_and_after
from campaigns.corrections.corrections import CorrectionInfo
from campaigns.permissions import read_access
from models.database.session import reading
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service


def compared(old: Scored, new: Scored) -> list[CorrectedMetric]:
    """The comparison, as if one test set had been corrected to be the other."""
    correction = CorrectionInfo(1, old.test_set, new.test_set, "port", "1", "2", "", 0.0)
    with reading(old.service.engine) as connection:
        return compare_correction(connection, read_access(connection, COMMAND_LINE, old.name), correction)


@pytest.mark.parametrize(
    "other",
    [{}, {"references": ("A", "B")}, {"metrics": ("ter", "bleu")}, {"metrics": ("bleu",)}, {"replicates": 30}],
    ids=str,
)
def test_only_equal_protocols_are_compared(service: Service, other: dict[str, object]) -> None:
    old, new = Scored(service), replace(Scored(service, version="2", lines=b"x\nz"), **other)  # type: ignore[arg-type]
    for scored in (old, new):
        scored.add("", "mast", 30.0)
        scored.add("", "hull", 35.0)
    assert [each.specification for each in compared(old, new)] == ([] if other else ["bleu", "ter"])


def test_the_newest_run_stands_for_a_system(service: Service) -> None:
    """Ranks are those among what is on both leaderboards; two submissions of a system are compared one by one."""
    old, new = Scored(service), Scored(service, version="2", lines=b"x\nz")
    for scored, by in ((old, 0.0), (new, 10.0)):
        for run, score in (("a", 30.0), ("b", 32.0)):
            scored.add("", "mast", score + by, run=run)
        scored.add("gulls", "dive", 40.0 - by, **PRIMARY)
        # The better one of the two is another one now.
        scored.add("gulls", "dive", 20.0 + 1.5 * by, **CONTRASTIVE)
    old.add("", "gone", 90.0)
    new.add("", "came", 90.0)
    bleu, _ = compared(old, new)
    _, last_run, primary, contrastive, _ = sorted(new.evaluations)
    assert [(row.system, row.submission_id, row.old, row.new, row.old_rank, row.new_rank) for row in bleu.rows] == [
        ("mast", last_run, 31.0, 41.0, 2, 1),
        ("dive", primary, 40.0, 30.0, 1, 2),
        ("dive", contrastive, 20.0, 35.0, None, None),
    ]
    assert [(row.difference, row.risen) for row in bleu.rows] == [(10.0, 1), (-10.0, -1), (15.0, None)]


def test_ranks_are_those_among_the_same_systems() -> None:
    keys = [("", name, 0) for name in "abcd"]
    old = dict(zip(keys, (1.0, 2.0, None, 4.0), strict=True))
    new = dict(zip(keys, (4.0, None, 2.0, 1.0), strict=True))
    among = keys[:3]
    a, b, c = among
    assert ranks_before_and_after(old, new, among, True) == ({b: 1, a: 2}, {a: 1, c: 2})
    assert ranks_before_and_after(old, new, among, False) == ({a: 1, b: 2}, {c: 1, a: 2})
