"""The names of systems on a leaderboard."""

from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.leaderboards.names import DisplayName, display_name


def access(*joined: str, own: tuple[str, ...] = (), shows_systems: bool = False) -> Any:
    """A viewer of a campaign that these teams have joined; all others are "a team" to everybody."""
    return SimpleNamespace(
        teams=dict.fromkeys(joined),
        own_teams=own,
        name_of=lambda team: f"Team {joined.index(team) + 1}" if team in joined else "a team",
        system_name_of=lambda _team, system: system if shows_systems else "",
    )


def entry(team: str, number: int, **more: Any) -> Any:
    """A system with one submission."""
    return SimpleNamespace(
        **{
            "team": team, "system": "s", "runs": ("",), "submission": number, "of_team": 1,
            "alone": False, "twice": False, **more,
        }
    )  # fmt: skip


def test_teams_that_have_not_joined_share_no_title() -> None:
    """Their names are hidden and they have no number: only their submissions tell them apart."""
    viewer = access("terns")
    assert [
        display_name(viewer, each).title for each in (entry("gulls", 4), entry("petrels", 5), entry("terns", 6))
    ] == [
        "a team #4",
        "a team #5",
        "Team 1",
    ]


@pytest.mark.parametrize(
    ("more", "shows_systems", "title"),
    [
        ({}, True, "Team 1/s"),
        ({"of_team": 2}, True, "Team 1/s"),
        ({"of_team": 2}, False, "Team 1 #7"),
        ({"twice": True}, True, "Team 1/s #7"),
        ({"runs": ("a",)}, True, "Team 1/s (1 run)"),
        ({"runs": ("a", "b"), "twice": True}, True, "Team 1/s (2 runs) #7"),
        ({"runs": ("a",), "alone": True}, True, "Team 1/s (run a) #7"),
        ({"alone": True}, True, "Team 1/s #7"),
    ],
)
def test_titles_are_unique(more: dict[str, Any], shows_systems: bool, title: str) -> None:
    assert display_name(access("terns", shows_systems=shows_systems), entry("terns", 7, **more)).title == title


def test_systems_of_the_organisers_have_no_team() -> None:
    shown = display_name(access("terns", own=("terns",), shows_systems=True), entry("", 3))
    assert (shown.team, shown.title.split(" ")[0], shown.own) == ("", "s", False)
    assert display_name(access("terns", own=("terns",)), entry("terns", 3)) == DisplayName(
        "Team 1", "", "Team 1", suffix="", own=True
    )
