"""What stands on the picture of a campaign or of a system: what everybody may see, whoever is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.accounts.principal import NOBODY
from campaigns.errors import NotFound
from campaigns.human_ranking.documents import places_of_submissions
from campaigns.human_ranking.official import read_official
from campaigns.leaderboards.choice import find_metric, read_choices
from campaigns.leaderboards.names import short_names
from campaigns.leaderboards.view import BoardQuery
from campaigns.overviews import overviews
from campaigns.permissions import read_access
from campaigns.systems.listing import find_system
from campaigns.systems.profile import read_scores_of_system
from models.corpus.phases import deadline_at, next_phase
from models.schema.roles import PhaseKind, Visibility
from steelyard.tables.formatting import TYPESET, date_time, digits
from steelyard.text.languages import language_name
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.leaderboards.view import Boards
    from campaigns.permissions import CampaignAccess
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace

ROWS = 5
PAIRS = 3


@dataclass(frozen=True, slots=True)
class CardRow:
    """A system with its score on a test set, or a test set with the score of a system."""

    rank: str
    name: str
    score: str
    value: float
    low: float | None
    """The ends of the interval; None without one."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Card:
    """A picture, as its words and numbers. Equal cards look the same."""

    title: str
    instead: str
    """In place of a title that cannot be drawn."""
    facts: str
    state: str
    table: str
    """The title of the rows."""
    rows: Sequence[CardRow]


def read_campaign_card(connection: Connection, boards: Boards, name: str) -> Card:
    """Return the card of a public campaign: with its best systems, where everybody sees them.

    Raises
    ------
    NotFound
        If the campaign is private, or its phase is blind.
    """
    access = _public_access(connection, name)
    (overview,) = overviews(connection, [access])
    pairs = [f"{_language(source)} to {_language(target)}" for source, target in overview.pairs if source and target]
    facts = [", ".join(pairs[:PAIRS]) + (f" and {len(pairs) - PAIRS} more" if len(pairs) > PAIRS else "")]
    facts.append(number_of(len(access.teams), "team") if access.teams else "")
    table, rows = _best(connection, boards, access)
    return Card(access.title, access.name, " · ".join(filter(None, facts)), _state(access), table, rows)


def read_system_card(connection: Connection, boards: Boards, name: str, system: int) -> Card:
    """Return the card of a system that everybody sees. Raises NotFound."""
    access = _public_access(connection, name)
    seen = find_system(connection, access, system)
    rows, titles = [], dict[str, None]()
    for each in read_scores_of_system(connection, boards, access, system):
        score = next((score for score in each.scores if score.metric == each.ranked_by), None)
        if score is None or score.score is None:
            continue
        titles[score.title] = None
        rank = f"{each.rank}/{each.of}" if each.rank is not None else "–"
        rows.append(CardRow(rank, each.test_set, _number(score.score), score.score, score.low, score.high))
    # Scores of different metrics have no axis in common.
    shown = (
        rows if len(titles) == 1 else [CardRow(*(row.rank, row.name, row.score, row.value), None, None) for row in rows]
    )
    by = f"Rank, {', '.join(titles)}" if titles else ""
    team = f"by {seen.team}" if seen.team and seen.team.casefold() != seen.system.casefold() else ""
    return Card(seen.system, f"System {seen.id}", team, access.title, by, tuple(shown[:ROWS]))


def _public_access(connection: Connection, name: str) -> CampaignAccess:
    access = read_access(connection, NOBODY, name)
    if not has_card(access):
        raise NotFound("There is no picture of a campaign while its phase is blind.")
    return access


def has_card(access: CampaignAccess) -> bool:
    """Whether a campaign has pictures: everybody sees it, and its phase is not blind."""
    blind = access.phase is not None and access.phase.kind is PhaseKind.BLIND
    return access.visibility is Visibility.PUBLIC and not blind


def _best(connection: Connection, boards: Boards, access: CampaignAccess) -> tuple[str, Sequence[CardRow]]:
    choices = read_choices(connection, access) if access.sees_board else []
    if not choices:
        return "", ()
    choice = choices[0]
    view = boards.view(connection, choice.listed, BoardQuery(find_metric(choice.listed, "", access.ranked_by)))
    official = read_official(connection, access, choice.id, boards.memory)
    places = places_of_submissions(connection, access, choice.id, official) if official else {}
    # As on the page of its results, people come before metrics where they rank officially.
    if judged := [line for line in view.lines if line.entry.submission in places]:
        judged = sorted(judged, key=lambda line: places[line.entry.submission].rank)[:ROWS]
        names = short_names(access, (each.entry for each in judged))
        return f"{choice.test_set}, by people", tuple(
            _by_people(names[line.entry.submission], places[line.entry.submission]) for line in judged
        )
    lines = [each for each in view.lines if each.rank is not None][:ROWS]
    names = short_names(access, (each.entry for each in lines))
    rows = []
    for line in lines:
        score = line.entry.scores[view.query.metric]
        if score.score is not None:
            ends = score.interval or (None, None)
            rows.append(CardRow(str(line.rank), names[line.entry.submission], _number(score.score), score.score, *ends))
    return f"{choice.test_set}, by {view.titles[view.query.metric]}", tuple(rows)


def _by_people(name: str, place: HumanPlace) -> CardRow:
    low, high = (place.interval.low, place.interval.high) if place.interval else (None, None)
    return CardRow(str(place.rank), name, _number(place.score), place.score, low, high)


def _state(access: CampaignAccess) -> str:
    if access.published:
        return "Results"
    if access.takes_submissions:
        deadline = deadline_at(access.phases, access.at)
        return "Open for submissions" + (
            f" until {date_time(deadline, access.time_zone)}" if deadline is not None else ""
        )
    coming = next_phase(access.phases, access.at)
    return f"Begins on {date_time(coming.starts_at, access.time_zone)}" if coming else "Closed for submissions"


def _number(score: float) -> str:
    return TYPESET.number(score, digits(1.0 if abs(score) <= 1 else 100.0))


def _language(code: str) -> str:
    return language_name(code) or code
