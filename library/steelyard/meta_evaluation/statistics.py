"""The statistics that compare metrics with people, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from steelyard.errors import BadParameter
from steelyard.meta_evaluation import segment, system
from steelyard.meta_evaluation.segment_statistic import SegmentStatistic
from steelyard.meta_evaluation.tie_calibration import CalibratedAccuracy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_S = TypeVar("_S", "SystemStatistic", SegmentStatistic)


@dataclass(frozen=True)
class SystemStatistic:
    """Compares two lists of system scores."""

    name: str
    title: str
    source: str
    values: Callable[..., Floats] | None
    """A function of `meta_evaluation/system.py`; None for soft pairwise accuracy, which takes p-values of pairs."""
    unit: str = "systems"
    """What is counted: "systems" or "pairs"."""
    by_share: bool = False
    """Whether people's score of a system is its `better_or_equal_share`."""


SYSTEM_STATISTICS = (
    SystemStatistic("pearson", "Pearson", "Pearson 1895", system.pearson),
    SystemStatistic("spearman", "Spearman", "Spearman 1904", system.spearman),
    SystemStatistic("kendall", "Kendall", "Kendall 1945", system.kendall_tau_b),
    SystemStatistic("pairwise", "Pairwise acc.", "Kocmi et al. 2021", system.pairwise_accuracy, unit="pairs"),
    SystemStatistic("soft-pairwise", "Soft pairwise acc.", "Thompson et al. 2024", None, unit="pairs"),
    SystemStatistic("spearman-share", "Spearman (share)", "Callison-Burch et al. 2007", system.spearman, by_share=True),
)
"""Those of the system level, in the order they are shown in."""

ACC_EQ = CalibratedAccuracy("acc-eq", "acc-eq", "Deutsch, Foster and Freitag 2023", "pairs")
WMT14 = "kendall-wmt14"

SEGMENT_STATISTICS: tuple[SegmentStatistic, ...] = (
    ACC_EQ,
    segment.PairKendall(WMT14, "Kendall WMT14", "Machacek and Bojar 2014", "pairs"),
    segment.KendallBySegment("kendall-by-segment", "Kendall by segment", "Kendall 1945", "segments"),
    segment.SpearmanBySegment("spearman-by-segment", "Spearman by segment", "Kos 2008, section 3.2", "segments"),
    segment.PooledPearson("pearson", "Pearson", "Pearson 1895", "cells"),
    segment.AccuracyBySegment("acc", "acc", "Deutsch, Foster and Freitag 2023", "segments"),
    segment.PairKendall(
        "kendall-da", "Kendall DA > 25", "Bojar, Graham and Kamran 2017", "pairs",
        on_raw=True, more_than=25.0, count_metric_ties=False,
    ),
    segment.PooledKendall("kendall", "Kendall", "Kendall 1945", "cells"),
    segment.PearsonBySystem("pearson-by-system", "Pearson by system", "Pearson 1895", "systems"),
)  # fmt: skip
"""Those of the segment level."""

DEFAULT_SYSTEM = ("pearson", "spearman", "kendall", "pairwise", "soft-pairwise")
DEFAULT_SEGMENT = ("acc-eq", WMT14, "kendall-by-segment", "spearman-by-segment", "pearson")


def chosen_statistics(names: Sequence[str], levels: Sequence[str]) -> dict[str, list[str]]:
    """The statistics of each level.

    Parameters
    ----------
    names : sequence of str
        Those by default where none are given.
    levels : sequence of str

    Returns
    -------
    dict of str to list of str
        In their order.

    Raises
    ------
    BadParameter
        For a name that no level has.
    """
    there = {"system": [each.name for each in SYSTEM_STATISTICS], "segment": [each.name for each in SEGMENT_STATISTICS]}
    if not names:
        defaults = {"system": DEFAULT_SYSTEM, "segment": DEFAULT_SEGMENT}
        return {each: list(defaults[each]) for each in levels}
    asked = list(dict.fromkeys(names))
    for name in asked:
        if not any(name in there[each] for each in levels):
            known = "; ".join(f"by {each}: {', '.join(there[each])}" for each in levels)
            raise BadParameter(f'There is no statistic "{name}". There are, {known}.')
    return {each: chosen for each in levels if (chosen := [name for name in asked if name in there[each]])}


def system_statistic(name: str) -> SystemStatistic:
    """The statistic of system scores of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    SystemStatistic

    Raises
    ------
    BadParameter
        For another name.
    """
    return _named(SYSTEM_STATISTICS, name)


def segment_statistic(name: str) -> SegmentStatistic:
    """The statistic of segment scores of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    SegmentStatistic

    Raises
    ------
    BadParameter
        For another name.
    """
    return _named(SEGMENT_STATISTICS, name)


def _named(statistics: Sequence[_S], name: str) -> _S:
    for statistic in statistics:
        if statistic.name == name:
            return statistic
    raise BadParameter(f'There is no statistic "{name}". There are: {", ".join(each.name for each in statistics)}.')
