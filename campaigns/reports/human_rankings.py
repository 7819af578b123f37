"""The ranking of the systems by people, as a section of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.reports.template import rendered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from analysis.meta_evaluation.human_ranking import HumanRanking

WIDE = 10.0
"""Scores below it have three decimals."""


def human_rankings_body(rankings: Sequence[HumanRanking]) -> Markup:
    """Render a table for each ranking: ranks, rank ranges, scores with intervals, wins and losses, by cluster."""
    found = []
    for each in rankings:
        ranks = each.ranks
        clusters: dict[int, list[object]] = {}
        for name, system in each.systems.items():
            row = {"rank": ranks[name], "name": name, "system": system, "interval": each.intervals.get(name)}
            clusters.setdefault(system.cluster, []).append(row)
        # Standardised scores lie around 0.
        places = 2 if any(abs(system.score) >= WIDE for system in each.systems.values()) else 3
        found.append({"ranking": each, "clusters": list(clusters.values()), "places": places})
    return rendered("human_rankings", rankings=found)
