"""What systems on a board are called before somebody's eyes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from campaigns.leaderboards.snapshot import Contender
    from campaigns.permissions import Sight


@dataclass(frozen=True, slots=True)
class Name:
    """A system as it may be shown."""

    team: str
    """"Team 7" where it is anonymous; "" for the organisers' own."""
    system: str
    """"" where it would tell who the team is."""
    title: str
    """Both, and whatever tells two lines with the same name apart."""
    own: bool
    """Whether it is of a team of whoever looks."""


def name_of(sight: Sight, contender: Contender) -> Name:
    """The name of a system; that of an anonymous team is its number alone."""
    team = sight.name_of(contender.team) if contender.team else ""
    system = sight.system_name_of(contender.team, contender.system)
    title = "/".join(part for part in (team, system) if part)
    runs = len(contender.runs)
    if any(contender.runs):
        title += f" ({runs} run{'s'[runs == 1 :]})"
    if contender.twice or (not system and (contender.of_team > 1 or contender.team not in sight.teams)):
        title += f" #{contender.submission}"
    return Name(team, system, title, contender.team in sight.own_teams)
