"""Systems of a campaign: what is said of them, and what they score."""

from __future__ import annotations

import re

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.documents.leaderboards.human_rankings import HumanPlace
from steelyard_client.vocabulary import SystemOrigin, Weights

MAX_DESCRIPTION_LENGTH = 5000
MAX_AFFILIATION_LENGTH = 200
MAX_ADDRESS_LENGTH = 500
MAX_PARAMETERS = 10**18

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}


def parse_parameters(text: str) -> int | None:
    """Return a number of parameters as people write it: 7000000000, "7B", "1.3b", "350 M"; None for "".

    Raises
    ------
    ValueError
        For anything else.
    """
    if not text.strip():
        return None
    found = re.fullmatch(r"(\d{1,18}(?:,\d{3})*)(\.\d{1,6})?\s?([kmbt]?)", text.strip().lower())
    if found is None:
        raise ValueError(f"{text[:50]!r} is no number of parameters. Write it as 7B, 350M or 7000000000.")
    whole, part, unit = found[1].replace(",", ""), (found[2] or ".0")[1:], _UNITS[found[3]]
    number: int = int(whole) * unit + int(part) * unit // int(10 ** len(part))
    if not 1 <= number <= MAX_PARAMETERS:
        raise ValueError(f"{text[:50]!r} is no number of parameters: it is not from 1 to {MAX_PARAMETERS:.0e}.")
    return number


def parameters_text(number: int | None) -> str:
    """Return a number of parameters in short, rounded to four digits: 7B; "" for None."""
    if number is None:
        return ""
    # Rounded before the unit is chosen: 999,999 are 1M.
    rounded = float(f"{number:.4g}")
    unit, of_unit = next(((u, n) for u, n in reversed(_UNITS.items()) if rounded >= n), ("", 1))
    return f"{rounded / of_unit:.7g}{unit.upper()}"


class SystemUpdate(Document):
    """What is said of a system; fields that are left out stay as they are."""

    model_config = ConfigDict(extra="forbid")

    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION_LENGTH)
    """In Markdown."""
    affiliation: str | None = Field(default=None, max_length=MAX_AFFILIATION_LENGTH)
    """Institution of those who made it."""
    paper_url: str | None = Field(default=None, max_length=MAX_ADDRESS_LENGTH)
    """Address of the paper about it; "" for none."""
    url: str | None = Field(default=None, max_length=MAX_ADDRESS_LENGTH)
    """Address of its code, model or service; "" for none."""
    parameters: int | None = Field(default=None, ge=1, le=MAX_PARAMETERS)
    """The number of its parameters; an explicit null clears it."""
    weights: Weights | None = None
    """Whether others can get its weights: open, closed, or "" for what nobody has said."""
    constrained: bool | None = None
    """Whether it used only the permitted data; an explicit null clears it. What a submission declares goes before."""
    origin: SystemOrigin | None = None
    """Whose it is. For organisers."""


class SystemResponse(Document):
    """A system, with what is said of it."""

    id: int
    """The number in its permanent address, /campaigns/NAME/systems/ID."""
    team: str
    """Displayed name of the team; "" for the organisers' own systems."""
    system: str
    """Name of the system."""
    own: bool
    """Whether it belongs to one of your teams."""
    submissions: int
    """Number of its submissions."""
    first_at: Timestamp
    """Time of its first submission."""
    last_at: Timestamp
    """When the last one was submitted."""
    origin: SystemOrigin
    """Whose it is: a team's, a baseline of the organisers, or an online system whose output they fetched."""
    description: str
    """In Markdown."""
    affiliation: str
    """Institution of those who made it; by default that of the team."""
    paper_url: str
    """Address of the paper about it."""
    url: str
    """Address of its code, model or service."""
    parameters: int | None
    """The number of its parameters; null where nobody has said."""
    weights: Weights
    """Whether others can get its weights."""
    constrained: bool | None
    """Whether it used only the permitted data; null where nobody has said."""


class SystemScore(Document):
    """A score of a system."""

    metric: str
    """Specification of the metric."""
    title: str
    """Its title on leaderboards."""
    score: float | None
    """null where it is undefined."""
    low: float | None
    """The lower end of its confidence interval; null where there is none."""
    high: float | None
    """The upper end."""


class SystemOnTestSet(Document):
    """A system on one leaderboard."""

    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references."""
    board: int
    """Number of the leaderboard."""
    submission: int
    """The number of its last submission there."""
    name: str
    """As the leaderboard shows it."""
    output: bool
    """Whether its output can be downloaded."""
    ranked: bool
    """Whether it is ranked."""
    ranked_by: str
    """Specification of the metric that ranks."""
    rank: int | None
    """null where it is not ranked."""
    rank_low: int | None
    """The best rank that the tests allow."""
    rank_high: int | None
    """The worst rank that the tests allow."""
    cluster: int | None
    """The number of its cluster, from 1."""
    of: int
    """How many systems are ranked there."""
    human: HumanPlace | None = None
    """Its place by human judgments; null where the campaign has no such rule, or nobody judged it."""
    row: int = 0
    """Its place in the list, from 0: of the ranked systems, or of all (`shown=all`) where it is not ranked."""
    scores: list[SystemScore]
    """By every metric; empty until its evaluation is done."""


class SystemWithScoresResponse(SystemResponse):
    """A system with all that it scores, where leaderboards are shown."""

    scores: list[SystemOnTestSet]
    """On each leaderboard that it is on; empty while leaderboards are hidden."""


class SystemsImport(Document):
    """A table of descriptions."""

    model_config = ConfigDict(extra="forbid")

    table: str = Field(min_length=1, max_length=2_000_000)
    """Tab-separated, with a header: `system`, and any of team, track, description, affiliation, paper, url, parameters,
    weights and origin."""
    preview: bool = False
    """Say which systems match, and store nothing."""


class SystemsImportedResponse(Document):
    """What a table of descriptions said."""

    matched: list[str]
    """Names of the systems whose description it has."""
    unknown: list[str]
    """Names of which the campaign has no system."""
    missing: list[str]
    """Systems of the campaign that the table does not name."""
    stored: bool
    """False for a preview."""
