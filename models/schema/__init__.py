"""All tables, by subject, with the states and roles of their columns.

Tables refer to each other by name: importing one of them imports all.
"""

from models.schema import (
    accounts,
    campaigns,
    corpus,
    human,
    imported,
    learned,
    nightly,
    notices,
    queue,
    results,
    systems,
)

__all__ = [
    "accounts",
    "campaigns",
    "corpus",
    "human",
    "imported",
    "learned",
    "nightly",
    "notices",
    "queue",
    "results",
    "systems",
]
