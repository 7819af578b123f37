"""Official rankings of systems by human judgments."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class HumanInterval(Document):
    """Confidence interval of a human score, by the bootstrap over documents."""

    level: float
    """The confidence level, such as 0.95."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    n: int
    """Bootstrap replicates."""


class HumanPlace(Document):
    """What human judgments say of a system, by the campaign's rule."""

    score: float
    """Higher is better."""
    interval: HumanInterval | None
    """null where only one document was judged."""
    rank: int
    """Among all judged systems, human translations included; equal scores share one."""
    rank_low: int
    """The best rank that the tests allow."""
    rank_high: int
    """The worst rank that the tests allow."""
    wins: int
    """How many systems it beats significantly."""
    losses: int
    """How many systems beat it."""
    cluster: int
    """The number of its cluster, from 1."""
    n: int
    """Judgments that its score is made of."""


class HumanRankedSystem(Document):
    """A judged system."""

    name: str
    """As pages show it."""
    submission: int | None
    """Its last submission; null for human translations and others that nobody submitted."""
    human: HumanPlace
    """Its score and place."""


class HumanRule(Document):
    """How a campaign ranks by human judgments."""

    rule: str
    """The rule, as `steelyard rank --by` takes it."""
    judgments: str
    """NAME@VERSION of the judgments."""
    fault: str | None
    """Why nothing could be ranked; null otherwise."""
    notices: list[str]
    """What to know of the judgments, such as annotators with a single one."""


class HumanRankingResponse(Document):
    """The official ranking of a test set by human judgments."""

    campaign: str
    """Name of the campaign."""
    test_set: str | None
    """Name of the test set; null while the campaign has none."""
    official: HumanRule | None
    """null where the campaign has no official ranking, or no such judgments of the test set."""
    hidden: int
    """Judged systems without a submission that are not shown: their names would reveal anonymous teams."""
    systems: list[HumanRankedSystem]
    """Best first."""
