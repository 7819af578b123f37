"""Leaderboards of campaigns, also as files."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from analysis.leaderboard.significance import ALPHA
from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest
from campaigns.human_ranking.documents import places_of_submissions, ranking_document, rule_document
from campaigns.human_ranking.official import read_official
from campaigns.inspection.visible import NoTestSet, find_test_set, visible_test_sets
from campaigns.leaderboards.choice import BoardChoice, find_choice, find_metric, read_choices, require_board
from campaigns.leaderboards.documents import Beside, board_document
from campaigns.leaderboards.downloads import file_name, table_of
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import DisplayName, display_name, system_id_of
from campaigns.leaderboards.options import BoardOptions, optional_board
from campaigns.leaderboards.scores import read_details
from campaigns.leaderboards.stored import stored_document
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading
from models.results.equal_outputs import read_equal_references
from models.results.leaderboard import LeaderboardRow
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.latex import as_latex
from steelyard_client.commands.leaderboards.rows import COLUMNS, rows_of
from steelyard_client.documents.leaderboards.human_rankings import HumanRankingResponse
from steelyard_client.documents.leaderboards.leaderboards import LeaderboardResponse, LeaderboardSummary
from steelyard_client.documents.paging import Page
from steelyard_client.vocabulary import Constrained, IntervalKind, PValueCorrection, SignificanceTest, SystemFilter
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.etags import NOT_MODIFIED, board_etag, not_modified

router = APIRouter(tags=["leaderboards"])

DIGITS = 9
MOST_SYSTEMS = 1000
"""Systems in one response."""
TEXT = {"schema": {"type": "string"}}


class BoardFormat(StrEnum):
    """A format of leaderboards."""

    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    LATEX = "latex"


FILES: dict[BoardFormat, tuple[str, str]] = {
    BoardFormat.CSV: (".csv", "text/csv"),
    BoardFormat.TSV: (".tsv", "text/tab-separated-values"),
    BoardFormat.LATEX: (".tex", "text/x-tex"),
}
"""The ending of files in each, and its media type."""


class BoardFilters:
    """Query parameters that select a leaderboard and its systems."""

    def __init__(
        self,
        test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
        references: Annotated[str, Query(max_length=1000, description="Labels, separated by commas.")] = "",
        metric: Annotated[str, Query(max_length=500, description="The ranking metric.")] = "",
        shown: Annotated[
            SystemFilter, Query(description="ranked: one system per team; all: unranked systems, too.")
        ] = SystemFilter.RANKED,
        constrained: Annotated[Constrained, Query(description="yes, no, or empty for all systems.")] = Constrained.ANY,
        board: Annotated[
            int | None, Query(ge=1, description="The number of a leaderboard, to select one that is not the newest.")
        ] = None,
    ) -> None:
        self.test_set, self.references, self.metric = test_set, references, metric
        self.shown, self.constrained, self.board = shown, constrained, board


def read_board(
    request: Request, principal: Principal, name: str, filters: BoardFilters, *, all_ranks: bool = False
) -> tuple[CampaignAccess, BoardChoice, BoardView, Beside]:
    """The selected leaderboard, as the principal may see it. Raises NotFound and Forbidden."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices = read_choices(connection, access)
        choice = find_choice(choices, filters.test_set, filters.references, filters.board)
        metric = find_metric(choice.listed, filters.metric, access.ranked_by)
        query = BoardQuery(metric, filters.shown, filters.constrained)
        view = state.boards.view(connection, choice.listed, query)
        others = [each for each in range(len(choice.listed.metrics)) if each != metric] if all_ranks else []
        views = [state.boards.view(connection, choice.listed, replace(query, metric=each)) for each in others]
        # Equal texts reveal references, which teams may not know yet.
        submissions = [number for line in view.lines for number in line.entry.submissions] if access.organises else []
        equal = read_equal_references(connection, submissions)
        official = read_official(connection, access, choice.id, state.boards.memory)
        places = {} if official is None else places_of_submissions(connection, access, choice.id, official)
    rule = None if official is None else rule_document(official)
    return access, choice, view, Beside(views, equal, rule, places)


class RuleFilters:
    """Query parameters that say how intervals, rank ranges and clusters are computed."""

    def __init__(
        self,
        level: Annotated[
            float,
            Query(
                ge=0.5,
                le=0.9999,
                description="Confidence level of the intervals. This and the next seven "
                "are for accounts, where they differ from the default, on leaderboards of up to 60 systems.",
            ),
        ] = LEVEL,
        interval: Annotated[IntervalKind, Query(description="How intervals are computed.")] = IntervalKind.PERCENTILE,
        test: Annotated[SignificanceTest, Query(description="The test of all pairs.")] = SignificanceTest.BOOTSTRAP,
        trials: Annotated[
            int | None,
            Query(ge=1, le=10_000_000, description="Trials of each randomization test; default: as many as needed."),
        ] = None,
        correction: Annotated[
            PValueCorrection, Query(description="The correction for multiple tests.")
        ] = PValueCorrection.NONE,
        alpha: Annotated[
            float, Query(ge=0.0001, le=0.5, description="p-value below which a difference counts.")
        ] = ALPHA,
        all_submissions: Annotated[
            bool, Query(description="Also replaced submissions, each by itself. For organisers.")
        ] = False,
        power: Annotated[bool, Query(description="Which differences the test set can detect.")] = False,
    ) -> None:
        # A request for each of many levels must not have each computed.
        self.options = BoardOptions(
            round(level, 4), interval, test, trials, correction, round(alpha, 4), all_submissions, power
        )  # fmt: skip


def optional_document(
    request: Request, principal: Principal, name: str, filters: BoardFilters, options: BoardOptions
) -> LeaderboardResponse:
    """The selected leaderboard by other rules, as the principal may see it. Raises as `read_board`, and Unavailable."""
    state = app_state(request)
    access, choice, view, beside = read_board(request, principal, name, filters)
    with reading(state.engine) as connection:
        found = optional_board(connection, state.boards, access, view, options)
    entries = {each.submission: each for each in view.snapshot.entries}

    def named(row: LeaderboardRow) -> DisplayName:
        entry = entries.get(max(row.submissions))
        if entry is None or options.all_submissions:
            # Only organisers see what was replaced.
            return DisplayName(row.team, row.system, found.board.name(row), suffix="", own=row.team in access.own_teams)
        return display_name(access, entry)

    return stored_document(
        found.board, replaced=choice.replaced, every=filters.shown is SystemFilter.ALL, testing=found.missing,
        power=found.power, named=named, numbered=partial(system_id_of, access), secrets=access.organises,
        human=beside.human, human_places=beside.human_places,
    )  # fmt: skip


@router.get("/campaigns/{name}/leaderboards")
def list_leaderboards(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[LeaderboardSummary]:
    """List the leaderboards of a campaign, one for each test set and list of references; the default one first."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        choices, following = slice_page(read_choices(connection, access), limit, after)
    return Page(
        items=[
            LeaderboardSummary(
                board=each.listed.protocol_id,
                test_set=each.listed.test_set,
                version=each.listed.version,
                references=list(each.listed.references),
                metrics=list(each.listed.metrics),
                replicates=each.listed.replicates,
                resample=each.listed.resample,
                replaced=each.replaced,
                superseded=each.superseded,
            )
            for each in choices
        ],
        next=following,
    )


@router.get(
    "/campaigns/{name}/leaderboard",
    response_model=LeaderboardResponse,
    responses={200: {"content": {kind: TEXT for _, kind in FILES.values()}}, **NOT_MODIFIED},
)
def read_leaderboard(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[BoardFilters, Depends()],
    limit: Annotated[int, Query(ge=1, le=MOST_SYSTEMS, description="Maximum number of systems, of JSON.")] = 50,
    after: Annotated[
        str, Query(max_length=DIGITS, description='The "next" of the previous page; empty for the first page.')
    ] = "",
    form: Annotated[
        BoardFormat, Query(alias="format", description="JSON in pages, or a file with all systems.")
    ] = BoardFormat.JSON,
    all_ranks: Annotated[bool, Query(description="Ranks by every metric, and not by the ranking one alone.")] = False,
    rule: Annotated[RuleFilters, Depends()] = None,  # type: ignore[assignment] # FastAPI makes it
) -> Response:
    """Read a leaderboard: the systems, best first, with scores, intervals, rank ranges and clusters by WMT's rule.

    Defaults: the campaign's first test set and its longest list of references. Ranks are those among the systems
    shown. Withdrawn submissions are left out; anonymous teams stay anonymous. CSV and TSV have one row per system and
    metric, and an apostrophe before texts that a spreadsheet would take for formulas; LaTeX is a table in booktabs
    style, with a rule between clusters. The response has an ETag; a request with it in If-None-Match is answered with
    304 until something changes.
    """
    if after and not (after.isascii() and after.isdigit()):
        raise BadRequest('"after" is not the "next" of a previous page.')
    if not rule.options.usual:
        found = optional_document(request, principal, name, filters, rule.options)
        if form in FILES:
            raise BadRequest("Files are of the usual leaderboard. Leave out level, test and the like, or format.")
        first = int(after or 0)
        following = str(first + limit) if first + limit < len(found.items) else None
        page = found.model_copy(update={"items": found.items[first : first + limit], "next": following})
        return Response(page.model_dump_json(), media_type="application/json")
    access, choice, view, beside = read_board(request, principal, name, filters, all_ranks=all_ranks)
    testing = [each.testing for each in beside.views]
    human = beside.human and beside.human.model_dump_json()
    tag = board_etag(view, access, choice, form, limit, after, testing, human)
    if known := not_modified(request, tag):
        return known
    if form in FILES:
        ending, kind = FILES[form]
        headers = {"ETag": tag, "Content-Disposition": f'attachment; filename="{file_name(view, ending)}"'}
        if form is BoardFormat.LATEX:
            file = as_latex(table_of(view, access, beside))
        else:
            rows = rows_of(board_document(choice, view, access, view.lines, None, beside))
            file = (as_csv if form is BoardFormat.CSV else as_tsv)(COLUMNS, rows)
        return Response(file, media_type=f"{kind}; charset=utf-8", headers=headers)
    first = int(after or 0)
    following = str(first + limit) if first + limit < len(view.lines) else None
    lines = view.lines[first : first + limit]
    with reading(app_state(request).engine) as connection:
        details = read_details(connection, [line.entry.evaluations for line in lines if line.entry.scores])
    shown = board_document(choice, view, access, lines, following, replace(beside, details=details))
    return Response(shown.model_dump_json(), media_type="application/json", headers={"ETag": tag})


@router.get("/campaigns/{name}/human-ranking")
def read_human_ranking(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: Annotated[str, Query(max_length=300, description="Name, or name@version.")] = "",
) -> HumanRankingResponse:
    """Read the official ranking of a test set by human judgments: all judged systems, human translations included."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        require_board(access)
        try:
            chosen = find_test_set(visible_test_sets(connection, access), test_set)
        except NoTestSet:
            if test_set:
                raise
            return HumanRankingResponse(campaign=access.name, test_set=None, official=None, hidden=0, systems=[])
        official = read_official(connection, access, chosen.id, state.boards.memory)
        return ranking_document(connection, access, chosen, official)
