"""The views of a test set's segments: one by one, by n-grams, and in groups. They keep what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from steelyard_client.vocabulary import Grouping
from web.pages.rendering import part_of_address

if TYPE_CHECKING:
    from campaigns.inspection.visible import VisibleOutput
    from campaigns.permissions import CampaignAccess

MOST_LISTED = 100
"""Systems in a list to choose from; of more, the others are named."""
MOST_PROPOSED = 300
"""Names that a field for one proposes: a list of more would be most of the page."""
GROUPINGS = ((Grouping.LENGTH, "By length"), (Grouping.DOMAIN, "By domain"), (Grouping.DOCUMENT, "By document"))


def proposed_outputs(outputs: Sequence[VisibleOutput]) -> list[tuple[str, str]]:
    """Return the names that a field for an output proposes, as pairs; none where they are too many."""
    return [(each.name, each.name) for each in outputs] if len(outputs) <= MOST_PROPOSED else []


def segment_views(
    access: CampaignAccess, test_set_id: int, chosen: Mapping[str, str], systems: Sequence[object] = ()
) -> list[tuple[str, str, str]]:
    """Return key, title and address of each view; none while they would only say that references are hidden.

    `chosen` has the test set, the metric and the references in the address, as far as they are known.
    """
    if not access.sees_references(test_set_id):
        return []
    campaign = f"/campaigns/{part_of_address(access.name)}"
    query = [(key, value) for key, value in chosen.items() if value]
    of_systems = [("system", str(each)) for each in systems]
    views = [
        ("segments", "Segments", f"{campaign}/segments?{urlencode([*query, *of_systems])}"),
        ("ngrams", "N-grams", f"{campaign}/ngrams?{urlencode([*query, *of_systems])}"),
    ]
    if access.sees_board:
        views += [
            (by.value, title, f"{campaign}/breakdown?{urlencode([*query, ('by', by.value)])}")
            for by, title in GROUPINGS
        ]
    return views
