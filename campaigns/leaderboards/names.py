"""The names of systems on a leaderboard, as the viewer may see them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.visibility import sees_system

if TYPE_CHECKING:
    from collections.abc import Iterable

    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.permissions import CampaignAccess
    from models.results.leaderboard import LeaderboardRow


@dataclass(frozen=True, slots=True)
class DisplayName:
    """The name of a system to show."""

    team: str
    """"Team 7" if anonymous; "" for the organisers' own."""
    system: str
    """"" if it would reveal the team."""
    title: str
    """Both, made unique on the leaderboard."""
    suffix: str
    """What makes the title unique: " (3 runs)", " #17" or ""."""
    own: bool
    """Whether the viewer is in its team."""

    @property
    def short(self) -> str:
        """The system alone, or the team where the system is not to be known."""
        return (self.system or self.team) + self.suffix

    @property
    def beside(self) -> str:
        """The team, where it says more than the system alone; else ""."""
        return self.team if self.system and self.team.casefold() != self.system.casefold() else ""


def system_id_of(access: CampaignAccess, entry: BoardEntry | LeaderboardRow) -> int | None:
    """Return the number of a system in its address, /campaigns/NAME/systems/ID; None where it is not to be known."""
    return entry.system_id if sees_system(access, entry.team, entry.origin) else None


def short_names(access: CampaignAccess, entries: Iterable[BoardEntry]) -> dict[int, str]:
    """Return the names of systems that stand together, by submission: without the team where that tells them apart."""
    names = {entry.submission: display_name(access, entry) for entry in entries}
    alike = Counter(each.short for each in names.values())
    return {key: each.short if alike[each.short] == 1 else each.title for key, each in names.items()}


def display_name(access: CampaignAccess, entry: BoardEntry) -> DisplayName:
    """Return the name of a system; for an anonymous team only its number."""
    team = access.name_of(entry.team) if entry.team else ""
    system = access.system_name_of(entry.team, entry.system)
    title = "/".join(part for part in (team, system) if part)
    runs = len(entry.runs)
    suffix = f" ({runs} run{'s'[runs == 1 :]})" if any(entry.runs) else ""
    if entry.alone:
        suffix = f" (run {entry.runs[0]})" if entry.runs[0] else ""
    if entry.alone or entry.twice or (not system and (entry.of_team > 1 or entry.team not in access.teams)):
        suffix += f" #{entry.submission}"
    return DisplayName(team, system, title + suffix, suffix, entry.team in access.own_teams)
