"""What is said of the systems of a campaign, as a table that `steelyard system import` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.systems.listing import all_systems
from steelyard.tables.delimited import as_tsv

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess

COLUMNS = (
    *("system", "team", "origin", "track", "affiliation", "parameters", "weights", "paper", "url", "description"),
)
TRACKS = {True: "constrained", False: "unconstrained", None: ""}


def system_table(connection: Connection, access: CampaignAccess) -> str:
    """Return the visible systems as TSV."""
    rows = (
        [
            *(each.system, each.team, each.origin.value, TRACKS[each.constrained], each.affiliation),
            *(each.parameters, each.weights.value, each.paper_url, each.url, each.description),
        ]
        for each in all_systems(connection, access)
    )
    return as_tsv(COLUMNS, rows)
