"""BibTeX of campaigns and systems: the year of the results, who is the author, and addresses that TeX takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from campaigns.systems.citations import campaign_year, cite_campaign, cite_system
from campaigns.systems.listing import SystemView
from models.schema.roles import PhaseKind, SystemOrigin, Weights
from tests.campaigns.test_permissions import access, phase

SYSTEM = SystemView(
    7, "harbour", "mast", True, 1, 0.0, 0.0, SystemOrigin.TEAM, "", "", "", "", None, Weights.UNKNOWN, None
)


def at(year: int) -> float:
    return datetime(year, 6, 1, tzinfo=UTC).timestamp()


def test_the_year_is_that_of_the_phase_that_decides_what_is_seen() -> None:
    asked = replace(access("nobody", "none"), at=at(2026))
    assert campaign_year(asked) == 2026, "without phases it goes on"
    phases = [
        phase(1, PhaseKind.BLIND, at(2021)),
        phase(2, PhaseKind.PUBLISHED, at(2022)),
        phase(3, PhaseKind.CLOSED, at(2024)),
        phase(4, PhaseKind.OPEN, at(2027)),
    ]
    for known, year in ((4, 2022), (2, 2022), (1, 2021)):
        seen = replace(asked, phases=tuple(phases[:known]))
        assert campaign_year(seen) == year
        assert f"year = {{{year}}}" in cite_campaign(seen, "https://mt.example.org")
        assert f"year = {{{year}}}" in cite_system(seen, SYSTEM, "https://mt.example.org")


@pytest.mark.parametrize(("team", "author"), [("harbour", "harbour"), ("", "mast")])
def test_the_author_is_the_team_or_the_system_of_no_team(team: str, author: str) -> None:
    cited = cite_system(access("nobody", "none"), replace(SYSTEM, team=team), "https://mt.example.org")
    assert f"author = {{{{{author}}}}}," in cited
    assert (" of {harbour} in " in cited) == bool(team)


def test_addresses_are_what_url_takes() -> None:
    """A # or % in the argument of another command would end the line or be doubled, a brace end the argument."""
    asked = replace(access("nobody", "none"), name="a/b #1 50%")
    cited = cite_system(asked, replace(SYSTEM, paper_url="https://example.org/{x}?y=%20#page=2"), "https://s.org")
    assert r"howpublished = {\url{https://s.org/campaigns/a\%2Fb\%20\%231\%2050\%25/systems/7}}" in cited
    assert r"Described in \url{https://example.org/\%7Bx\%7D?y=\%20\#page=2}" in cited
    assert cited.startswith("@misc{a-b-1-50-mast-7,\n")
    assert r"howpublished = {\url{https://s.org/campaigns/a\%2Fb\%20\%231\%2050\%25}}" in cite_campaign(
        asked, "https://s.org"
    )
