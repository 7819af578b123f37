"""All tables, by subject, and the states and roles that their columns hold.

Tables refer to each other by name: whoever uses one of them has loaded all.
"""

from models.schema import accounts, campaigns, corpus, human, nightly, queue, results

__all__ = ["accounts", "campaigns", "corpus", "human", "nightly", "queue", "results"]
