"""The leaderboard of a campaign."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from markupsafe import Markup, escape
from sqlalchemy import Connection

from analysis.leaderboard.board import board_notices
from campaigns.checks.equality import find_equals, told_once
from campaigns.corrections.board_changes import BoardChange, board_changes, previous_choice
from campaigns.errors import NotFound
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.view import BoardLine, BoardQuery, Boards, BoardView
from campaigns.permissions import CampaignAccess, read_access
from campaigns.score_imports.autorank import autorank_formulas
from models.database.session import reading
from models.results.equal_outputs import read_equals
from runtime.service_settings import site_url
from steelyard.tables.formatting import TYPESET, digits
from steelyard_client.vocabulary import RANKED, Constrained, Grouping, SystemFilter
from web.api.leaderboards.comparisons import ComparisonFilters
from web.api.leaderboards.leaderboards import MOST_SYSTEMS, BoardFilters
from web.dependencies import CurrentPrincipal, app_state
from web.etags import board_etag, etag_of, not_modified
from web.pages.leaderboards.human_cells import HumanColumn, human_column
from web.pages.leaderboards.table import make_table, shown_columns
from web.pages.rendering import fragment, page, part_of_address

router = APIRouter()

PAGE = 50
"""Systems on one page."""
TABLE_BYTES = 500
"""Approximate size of a kept table beside its packed text."""
OWN = 10
"""Maximum number of the user's own systems listed above the table."""


@router.get("/campaigns/{name}/leaderboard")
def show_leaderboard(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    first: Annotated[int, Query(ge=0, le=10**9)] = 0,
    column: Annotated[list[str] | None, Query(max_length=100)] = None,
) -> Response:
    """Show a page of the leaderboard, with intervals, rank ranges and clusters."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        if not access.sees_board:
            return page(
                request, "leaderboards/leaderboard_hidden", title="Leaderboard", access=access, here="leaderboard"
            )
        choices = read_choices(connection, access)
        if not choices and not filters.test_set:
            return page(
                request, "leaderboards/leaderboard_hidden", title="Leaderboard", access=access, here="leaderboard"
            )
        choice, metric = closest_choice(choices, filters, access)
        view = state.boards.view(connection, choice.listed, BoardQuery(metric, filters.shown, filters.constrained))
        equals = _equals(connection, view.lines[first : first + PAGE]) if access.organises else []
        people = human_column(connection, access, choice.id, state.boards.memory)
        previous, changes = _since_previous(connection, state.boards, access, choices, view, choice)
    if first and first >= len(view.lines):
        raise NotFound(f"The leaderboard has only {len(view.lines)} systems.")
    lines = view.lines[first : first + PAGE]
    metrics = choice.listed.metrics
    columns = shown_columns(
        len(metrics), view.query.metric, [place for place, each in enumerate(metrics) if each in (column or ())]
    )
    links = Links(name, choice, view, [metrics[each] for each in columns] if len(columns) < len(metrics) else ())
    table, shared = board_table(
        state.boards.memory, view, access, choice, links, first=first, most=PAGE, columns=columns, people=people,
        changes=changes,
    )  # fmt: skip
    answer = page(
        request,
        "leaderboards/leaderboard",
        title="Leaderboard",
        access=access,
        here="leaderboard",
        choice=choice,
        view=view,
        table=table,
        shared=shared,
        people=people,
        previous=previous,
        columns=columns,
        own=_own(view, access),
        ranking_rule=RANKED,
        first=first,
        last=first + len(lines),
        page_size=PAGE,
        level=LEVEL,
        notices=[*view.snapshot.column_notices, *board_notices(choice.listed), *equals],
        links=links,
        groupings=list(Grouping) if access.sees_references(choice.id) else [],
        metrics=[
            (key, title.removesuffix(" ↓")) for key, title in zip(choice.listed.metrics, view.titles, strict=True)
        ],
        test_sets=list({each.test_set_key: each.test_set for each in choices}.items()),
        references=reference_options(choices, choice),
        embed=_embed_code(request, access, links) if access.embeddable else "",
        formulas=autorank_formulas(choice.listed.metrics, view.titles),
        imported=any(each.startswith("imported:") for each in choice.listed.metrics),
        shown_options=[(SystemFilter.RANKED, "ranked only"), (SystemFilter.ALL, "all systems")],
        constrained_options=[
            (Constrained.ANY, "all"),
            (Constrained.YES, "constrained"),
            (Constrained.NO, "not constrained"),
        ],
    )
    tag = etag_of(bytes(answer.body))
    if known := not_modified(request, tag):
        return known
    answer.headers["ETag"] = tag
    return answer


def closest_choice(
    choices: Sequence[BoardChoice], filters: BoardFilters | ComparisonFilters, access: CampaignAccess
) -> tuple[BoardChoice, int]:
    """Return the leaderboard and the metric for the filters, falling back to the first ones of the test set.

    The form sends the number, the references and the metric of the leaderboard that was shown along, which another test
    set or other references may not have.

    Raises
    ------
    NotFound
        If there is no such test set.
    """
    choice = None
    for references, board in ((filters.references, filters.board), (filters.references, None)):
        with suppress(NotFound):
            choice = choice or find_choice(choices, filters.test_set, references, board)
    choice = choice or find_choice(choices, filters.test_set)
    try:
        return choice, find_metric(choice.listed, filters.metric, access.ranked_by)
    except NotFound:
        return choice, find_metric(choice.listed, "", access.ranked_by)


def reference_options(choices: Sequence[BoardChoice], choice: BoardChoice) -> list[tuple[str, str]]:
    """Return the references that the leaderboards of the test set have, each once, with what is shown of them."""
    texts = {
        each.references: " + ".join(each.listed.references) or "without texts"
        for each in choices
        if each.test_set_key == choice.test_set_key and (not each.superseded or each is choice)
    }
    return list(texts.items())


def _signed(view: BoardView, change: BoardChange) -> str:
    scale = next(line.entry.scores[view.query.metric].scale for line in view.lines if line.entry.scores)
    return TYPESET.number(change.difference, digits(scale), sign=True)


def _since_previous(
    connection: Connection,
    boards: Boards,
    access: CampaignAccess,
    choices: Sequence[BoardChoice],
    view: BoardView,
    choice: BoardChoice,
) -> tuple[str, Mapping[int, BoardChange]]:
    """Return the version of the test set that was replaced, "" if none, and what changed since, by submission."""
    previous = previous_choice(access, choices, choice)
    metric = choice.listed.metrics[view.query.metric]
    if previous is None or metric not in previous.listed.metrics:
        return "", {}
    query = replace(view.query, metric=previous.listed.metrics.index(metric))
    return previous.test_set_key, board_changes(boards.view(connection, previous.listed, query), view)


class Links:
    """Links of a leaderboard. Each contains the complete state of the page."""

    def __init__(self, campaign: str, choice: BoardChoice, view: BoardView, columns: Sequence[str] = ()) -> None:
        self.campaign = f"/campaigns/{part_of_address(campaign)}"
        self.api = f"/api/v1{self.campaign}"
        listed = choice.listed
        self.query: dict[str, Any] = {
            "test_set": choice.test_set_key,
            "references": choice.references,
            "metric": listed.metrics[view.query.metric],
        }
        if choice.behind:
            self.query["board"] = listed.protocol_id
        if view.query.shown is not SystemFilter.RANKED:
            self.query["shown"] = view.query.shown.value
        if view.query.constrained is not Constrained.ANY:
            self.query["constrained"] = view.query.constrained.value
        self._columns = [("column", each) for each in columns]
        self._segments = {name: self.query[name] for name in ("test_set", "references", "metric")}

    def board(self, **changes: object) -> str:
        """The board with other wishes."""
        return f"{self.campaign}/leaderboard?{urlencode([*{**self.query, **changes}.items(), *self._columns])}"

    def newest(self) -> str:
        """The first board of this test set and these references."""
        query = {name: value for name, value in self.query.items() if name not in {"board", "metric"}}
        return f"{self.campaign}/leaderboard?{urlencode(query)}"

    def download(self, form: str) -> str:
        """The board as a file."""
        whole = {"limit": MOST_SYSTEMS} if form == "json" else {}
        return f"{self.api}/leaderboard?{urlencode({**self.query, 'format': form, **whole})}"

    def breakdown(self, by: str) -> str:
        """The scores of the board by document or domain."""
        return f"{self.campaign}/breakdown?{urlencode({**self.query, 'by': by})}"

    def segments(self, *submissions: int) -> str:
        """Segments of these systems, side by side."""
        systems = [("system", each) for each in submissions]
        order = [("order", "difference")] if len(submissions) > 1 else []
        return f"{self.campaign}/segments?{urlencode([*self._segments.items(), *order, *systems])}"

    def compare(self, submissions: Sequence[int] = (), **changes: object) -> str:
        """These systems compared."""
        return f"{self.campaign}/compare?{self._compared(submissions, changes)}"

    def cancel(self, comparison: int, submissions: Sequence[int], **changes: object) -> str:
        """Where this comparison of them is cancelled, and then shown as before."""
        query = self._compared(submissions, {**changes, "comparison": comparison})
        return f"{self.campaign}/compare/{comparison}/cancel?{query}"

    def _compared(self, submissions: Sequence[int], changes: Mapping[str, object]) -> str:
        query = {**{key: value for key, value in self.query.items() if key not in {"shown", "constrained"}}, **changes}
        return urlencode([*query.items(), *(("system", each) for each in submissions)])


def board_table(
    memory: LeaderboardCache,
    view: BoardView,
    access: CampaignAccess,
    choice: BoardChoice,
    links: Links,
    *,
    first: int = 0,
    most: int,
    columns: Sequence[int] = (),
    brief: bool = False,
    people: HumanColumn | None = None,
    changes: Mapping[int, BoardChange] | None = None,
) -> tuple[Markup, Sequence[str]]:
    """Return the table, the slowest part of a page, rendered once for equal access; and what all its rows share.

    A `brief` one is in the order of the official ranking by people, where there is one.
    """
    judged = people and people.official.version
    changed = tuple((changes or {}).items())
    key = "table", board_etag(view, access, choice, first, most, tuple(columns), brief, judged, changed)
    known: tuple[bytes, Sequence[str]] | None = memory.get(key)
    if known is not None:
        return Markup(zlib.decompress(known[0]).decode()), known[1]  # noqa: S704 - as it was rendered
    by_people = people if brief and people is not None and people.ranks(view) else None
    lines = by_people.ordered(view.lines) if by_people else view.lines
    clusters = {number: each.place.cluster for number, each in by_people.cells.items()} if by_people else None
    table = make_table(view, access, lines[first : first + most], columns, clusters)
    given = {"view": view, "choice": choice, "links": links, "table": table, "brief": brief, "people": people}
    given["by_people"] = by_people is not None
    given["changes"] = {each: (_signed(view, change), change.risen) for each, change in (changes or {}).items()}
    rendered = fragment("leaderboards/leaderboard_table", **given)
    # A twentieth of its size, and unpacked in a hundredth of the time that rendering takes.
    packed = zlib.compress(rendered.encode(), 1)
    memory.put(key, (packed, table.shared), len(packed) + TABLE_BYTES)
    return rendered, table.shared


def _embed_code(request: Request, access: CampaignAccess, links: Links) -> str:
    """Return the HTML by which other sites show the board."""
    which = ("test_set", "references", "metric", "board")
    query = urlencode({name: value for name, value in links.query.items() if name in which})
    address = escape(f"{site_url(app_state(request).settings)}{links.campaign}/embed?{query}")
    title = escape(f"Leaderboard of {access.title}")
    return f'<iframe src="{address}" title="{title}" width="800" height="600" loading="lazy"></iframe>'


def _own(view: BoardView, access: CampaignAccess) -> list[dict[str, Any]]:
    """Return the lines of the user's own teams, and the page of each."""
    found, own = [], set(access.own_teams)
    for position, line in enumerate(view.lines if own else ()):
        if line.entry.team in own and line.entry.team:
            found.append({"line": line, "first": position // PAGE * PAGE})
    return found[:OWN]


def _equals(connection: Connection, lines: Sequence[BoardLine]) -> list[str]:
    """Return findings about outputs that equal a reference or another output, each once. For organisers only."""
    entries = {submission: line.entry for line in lines for submission in line.entry.submissions}
    found: dict[str, None] = {}
    for submission, equals in told_once(read_equals(connection, list(entries))).items():
        each = entries[submission]
        name = f"{each.team}/{each.system}" if each.team else each.system
        found |= dict.fromkeys(f"{name}: {finding.message}" for finding in find_equals(equals))
    return list(found)
