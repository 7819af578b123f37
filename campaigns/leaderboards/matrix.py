"""The matrix of a campaign: its systems over all of its test sets, by one metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import position_of_metric
from campaigns.errors import BadRequest, NotFound
from campaigns.leaderboards.choice import BoardChoice
from campaigns.leaderboards.names import display_name, system_id_of
from campaigns.leaderboards.rounding import finite_scale
from campaigns.leaderboards.snapshot import read_board_versions
from campaigns.leaderboards.view import BoardQuery
from models.results.autoranks import autorank_columns
from steelyard.ranking.rank_matrix import RankedScore, RankMatrix, rank_matrix
from steelyard.tables.formatting import digits
from steelyard.tables.rank_matrix import tables_of
from steelyard_client.documents.leaderboards.matrices import MatrixCell, MatrixResponse, MatrixSystem, MatrixTestSet
from steelyard_client.vocabulary import Constrained, SystemFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection

    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.leaderboards.view import Boards, BoardView
    from campaigns.permissions import CampaignAccess
    from models.results.boards import BoardSummary
    from steelyard.tables.delimited import Cell
    from steelyard.tables.table import Table
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace

HUMAN = "human"
"""What ranks where people do, by the rule of the campaign."""
MEAN_RANK, AUTORANK, SYSTEM, GAPS = "mean_rank", "autorank", "system", "gaps"
SORTS = (MEAN_RANK, AUTORANK, SYSTEM, GAPS)
"""What rows may be sorted by, besides the name of a test set."""
COLUMNS = (
    *("campaign", "test_set", "version", "metric", "system", "score", "rank", "rank_low", "rank_high", "cluster"),
    "origin",
)
"""Of CSV and TSV: a row for each system and test set."""


@dataclass(frozen=True, slots=True)
class MatrixQuery:
    """What of a matrix to show, and in which order."""

    metric: str = ""
    """Specification, title or name; by default the one that ranks the campaign. `HUMAN` for the ranking by people."""
    shown: SystemFilter = SystemFilter.RANKED
    constrained: Constrained = Constrained.ANY
    sort: str = MEAN_RANK
    only: tuple[str, ...] = ()
    """Test sets by name, or by NAME@VERSION; by default all."""
    complete: bool = False
    """Leave out systems with gaps."""


@dataclass(frozen=True, eq=False)
class CampaignMatrix:
    """A matrix with the views that it was made of."""

    choices: Sequence[BoardChoice]
    views: Sequence[BoardView]
    document: MatrixResponse
    metrics: Sequence[tuple[str, str]]
    """What may rank: specification and title."""
    metric: str
    """Which of them does."""
    ranks: RankMatrix
    entries: Mapping[str, Sequence[BoardEntry]]
    """What each name is on the leaderboards."""

    def tables(self) -> list[Table]:
        """The scores, and the rank ranges where there are some, for people."""
        places = digits(math.inf if self.document.scale is None else self.document.scale)
        return tables_of(self.ranks, self.document.metric, places, higher_is_better=self.document.higher_is_better)

    def rows(self) -> list[list[Cell]]:
        """The rows of CSV and TSV, by the columns of `COLUMNS`."""
        return [
            [
                *(self.document.campaign, column.test_set, column.version, column.metric, row.name),
                *(cell.score, cell.rank, cell.rank_low, cell.rank_high, cell.cluster, row.origin.value),
            ]
            for row in self.document.systems
            for column, cell in zip(self.document.test_sets, row.cells, strict=True)
            if cell is not None
        ]


def read_matrix(
    connection: Connection,
    boards: Boards,
    access: CampaignAccess,
    choices: Sequence[BoardChoice],
    query: MatrixQuery,
    human_places: Callable[[int], Mapping[int, HumanPlace] | None],
) -> CampaignMatrix:
    """Return the matrix of a campaign: of each test set the leaderboard against the most references.

    `human_places` gives the places of submissions of a test set that people rank officially, or None.

    Raises
    ------
    NotFound
        If there is no leaderboard, or none by this metric, or no test set of a name.
    BadRequest
        For an order that does not exist.
    """
    offered = one_for_each_test_set(choices, query.only)
    by_people = bool(access.human_rule) and query.metric in (HUMAN, access.human_rule)
    # Ranking anew takes a while, so it waits until somebody asks for it.
    people = {each.id: found for each in offered if by_people and (found := human_places(each.id)) is not None}
    wanted = access.ranked_by if by_people else query.metric or access.ranked_by
    places = {each: _place(each, wanted, people if by_people else None) for each in offered}
    used = [each for each in offered if places[each] is not None]
    if not used:
        known = ", ".join(dict.fromkeys(metric for each in offered for metric in each.listed.metrics))
        known += f", {HUMAN}" if access.human_rule and not by_people else ""
        raise NotFound(f"No leaderboard of the campaign has the metric {query.metric[:200]!r}. There are: {known}.")
    versions = read_board_versions(connection, access.campaign_id, [each.listed.protocol_id for each in used])
    views = [
        boards.view(
            *(connection, each.listed, BoardQuery(place, query.shown, query.constrained)),
            versions[each.listed.protocol_id],
        )
        for each in used
        if (place := places[each]) is not None
    ]
    by_test_set = {
        each.test_set_key: _ranked_scores(access, view, people[each.id] if by_people else None)
        for each, view in zip(used, views, strict=True)
    }
    titles = [each.test_set for each in used]
    ranks = rank_matrix({title: by_test_set[each.test_set_key] for title, each in zip(titles, used, strict=True)})
    if query.sort not in (*SORTS, *titles, *by_test_set):
        raise BadRequest(f"Rows cannot be sorted by {query.sort[:100]!r}: choose {', '.join(SORTS)} or a test set.")
    own, drawn, entries = _of_systems(access, views)
    first = next((view for view in views if view.signatures), views[0])
    score = next((line.entry.scores[first.query.metric] for line in first.lines if line.entry.scores), None)
    rows = [
        MatrixSystem(
            name=name,
            system_id=system_id_of(access, entries[name][0]),
            own=name in own,
            origin=entries[name][0].origin,
            mean_rank=_or_none(ranks.mean_ranks[name]),
            autorank=math.fsum(drawn[name]) / len(drawn[name]) if name in drawn else None,
            gaps=ranks.gaps(name),
            cells=[_cell(ranks.cells.get((name, title))) for title in titles],
        )
        for name in ranks.systems
        if not (query.complete and ranks.gaps(name))
    ]
    place = titles.index(query.sort) if query.sort in titles else None
    if query.sort in by_test_set:
        place = list(by_test_set).index(query.sort)
    if (key := _key(query.sort, place)) is not None:
        rows.sort(key=key)
    autoranks = {row.name: row.autorank for row in rows if row.autorank is not None}
    ranks = replace(ranks, systems=tuple(row.name for row in rows), autoranks=autoranks)
    document = MatrixResponse(
        campaign=access.name,
        metric=access.human_rule if by_people else first.titles[first.query.metric].removesuffix(" ↓"),
        higher_is_better=by_people or score is None or score.higher_is_better,
        scale=100.0 if by_people else finite_scale(score.scale) if score else None,
        shown=query.shown,
        constrained=query.constrained,
        sort=query.sort,
        test_sets=[
            _column(view, ranks.best(title), access.human_rule, by_test_set[each.test_set_key])
            if by_people
            else _column(view, ranks.best(title), view.listed.metrics[view.query.metric], None)
            for each, view, title in zip(used, views, titles, strict=True)
        ],
        systems=rows,
        left_out=[each.test_set for each in offered if places[each] is None],
    )
    offers = [
        (metric, title.removesuffix(" ↓")) for metric, title in zip(first.listed.metrics, first.titles, strict=True)
    ]
    if access.human_rule:
        offers.insert(0, (HUMAN, "people"))
    metric = HUMAN if by_people else first.listed.metrics[first.query.metric]
    return CampaignMatrix(used, views, document, offers, metric, ranks, entries)


def one_for_each_test_set(choices: Sequence[BoardChoice], only: Sequence[str]) -> list[BoardChoice]:
    """The leaderboard of each test set that comes first: in use, against the most references."""
    first: dict[str, BoardChoice] = {}
    for each in choices:
        if not each.superseded and not each.replaced:
            first.setdefault(each.test_set_key, each)
    known = list(first.values())
    strangers = [name for name in only if not any(name in (each.test_set_key, each.name) for each in known)]
    if strangers or not known:
        there = f"There are: {', '.join(each.test_set for each in known[:20])}." if known else "It has none yet."
        asked = f"leaderboard of the test set {strangers[0][:200]!r}" if strangers else "leaderboard"
        raise NotFound(f"This campaign has no {asked}. {there}")
    chosen = [each for each in known if not only or each.test_set_key in only or each.name in only]
    return sorted(chosen, key=lambda each: (each.name, each.version))


def _place(choice: BoardChoice, wanted: str, people: Mapping[int, object] | None) -> int | None:
    """The position of the metric that ranks; where people do, of any: a leaderboard has the names of systems."""
    if people is None:
        return _position(choice.listed, wanted)
    return (_position(choice.listed, wanted) or 0) if choice.id in people else None


def _position(listed: BoardSummary, wanted: str) -> int | None:
    """The position of the metric that ranks; its tokenizer follows the language, so the name alone may have to do."""
    if not wanted:
        return 0
    found = position_of_metric(listed.metrics, wanted)
    if found is not None:
        return found
    name = wanted.partition(":")[0]
    alike = [place for place, each in enumerate(listed.metrics) if each.partition(":")[0] == name]
    return alike[0] if len(alike) == 1 else None


def _ranked_scores(
    access: CampaignAccess, view: BoardView, people: Mapping[int, HumanPlace] | None
) -> dict[str, RankedScore]:
    found: dict[str, RankedScore] = {}
    for line in view.lines:
        if people is not None:
            if human := people.get(line.entry.submission):
                ranked = RankedScore(human.score, human.rank, human.rank_low, human.rank_high, human.cluster)
                found.setdefault(display_name(access, line.entry).title, ranked)
            continue
        score = line.entry.scores[view.query.metric].score if line.entry.scores else None
        if score is not None and not math.isnan(score):
            place = line.place
            ends = (place.low, place.high, place.cluster) if place else (None, None, None)
            # The best one, should two systems have one name.
            found.setdefault(display_name(access, line.entry).title, RankedScore(score, line.rank, *ends))
    return found


def _of_systems(
    access: CampaignAccess, views: Sequence[BoardView]
) -> tuple[set[str], dict[str, list[float]], dict[str, list[BoardEntry]]]:
    """Which names belong to the reader's teams, the AutoRanks of each name, and its entries."""
    own: set[str] = set()
    drawn: dict[str, list[float]] = {}
    entries: dict[str, list[BoardEntry]] = {}
    for view in views:
        column = next(iter(autorank_columns(view.listed.metrics)), None)
        for line in view.lines:
            name = display_name(access, line.entry)
            entries.setdefault(name.title, []).append(line.entry)
            if name.own:
                own.add(name.title)
            score = line.entry.scores[column].score if column is not None and line.entry.scores else None
            if score is not None and not math.isnan(score):
                drawn.setdefault(name.title, []).append(score)
    return own, drawn, entries


def _key(sort: str, place: int | None) -> Callable[[MatrixSystem], Any] | None:
    """The key of an order; None by mean rank, as rows are, and in which equal ones stay."""
    if place is not None:

        def by_rank(row: MatrixSystem) -> tuple[bool, int]:
            cell = row.cells[place]
            rank = None if cell is None else cell.rank
            return rank is None, rank or 0

        return by_rank
    if sort == SYSTEM:
        return lambda row: row.name.casefold()
    if sort == GAPS:
        return lambda row: row.gaps
    if sort == AUTORANK:
        return lambda row: (row.autorank is None, row.autorank or 0.0)
    return None


def _column(view: BoardView, best: set[str], metric: str, judged: Mapping[str, RankedScore] | None) -> MatrixTestSet:
    listed = view.listed
    return MatrixTestSet(
        board=listed.protocol_id,
        test_set=listed.test_set,
        version=listed.version,
        target_language=listed.target_language,
        references=list(listed.references),
        metric=metric,
        resample=listed.resample,
        segments=listed.segments,
        systems=sum(line.rank is not None for line in view.lines) if judged is None else len(judged),
        best=sorted(best),
        testing=view.testing if judged is None else 0,
    )


def _cell(cell: RankedScore | None) -> MatrixCell | None:
    if cell is None:
        return None
    rank = None if cell.rank is None else int(cell.rank)
    return MatrixCell(score=cell.score, rank=rank, rank_low=cell.low, rank_high=cell.high, cluster=cell.cluster)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
