"""The official ranking of a campaign by human judgments, as a table."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note
from steelyard.tables.rendering import as_json, render
from steelyard.tables.table import Column, Estimate, Kind, Table

if TYPE_CHECKING:
    from steelyard_client.client import Client


def print_ranking(client: Client, campaign: str, test_set: str, form: str) -> int:
    """Print the ranking of a test set; the exit status.

    Raises
    ------
    CommandError
        Where the campaign has none.
    """
    found = client.read_human_ranking(campaign, test_set=test_set)
    if form == "json":
        print(as_json(found.model_dump(mode="json")), end="")
        return 0
    if found.official is None:
        raise CommandError(
            f"{campaign} has no official ranking by people{f' of {found.test_set}' if found.test_set else ''}. Import "
            f"judgments, and choose a rule: `steelyard campaign update {campaign} --human-rule human`."
        )
    if found.official.fault:
        raise CommandError(found.official.fault)
    columns = [
        Column("rank", "Rank", Kind.ID),
        Column("range", "Range", Kind.RANGE),
        Column("cluster", "Cluster", Kind.ID),
        Column("system", "System", Kind.NAME),
        Column("score", "Score", Kind.ESTIMATE, places=2),
        Column("wins", "Wins", Kind.COUNT),
        Column("losses", "Losses", Kind.COUNT),
        Column("n", "Judgments", Kind.COUNT),
    ]
    places = [each.human for each in found.systems]
    rows = [
        [
            *(place.rank, (place.rank_low, place.rank_high), place.cluster, each.name),
            Estimate(place.score, (place.interval.low, place.interval.high) if place.interval else None),
            *(place.wins, place.losses, place.n),
        ]
        for each, place in zip(found.systems, places, strict=True)
    ]
    rules = frozenset(number for number, (one, other) in enumerate(pairwise(places), 1) if one.cluster != other.cluster)
    title = f"{found.test_set}: ranked by {found.official.rule} of {found.official.judgments}"
    notes = [*found.official.notices]
    if found.hidden:
        notes.append(f"{found.hidden} more judged systems cannot be shown yet.")
    print(render([Table(columns, rows, title, notes=notes, rules=rules, key="human")], form, "Human ranking"), end="")
    if form in ("tsv", "csv"):
        note(notes)
    return 0
