"""All tables, by subject, with the states and roles of their columns.

Tables refer to each other by name: importing one of them imports all.
"""

from models.schema import accounts, campaigns, corpus, human, imported, learned, nightly, queue, results

__all__ = ["accounts", "campaigns", "corpus", "human", "imported", "learned", "nightly", "queue", "results"]
