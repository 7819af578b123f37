"""Systems of a campaign compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from analysis.leaderboard.significance import ALPHA, compared_to_leaderboard
from campaigns.leaderboards.choice import BoardChoice, read_choices
from campaigns.leaderboards.comparison import (
    MAX_RANDOMIZED_SYSTEMS,
    MAX_SYSTEMS,
    ComparisonQuery,
    ComparisonResult,
    PValueCorrection,
    SignificanceTest,
    choose_systems,
    compare_systems,
    read_trials_progress,
)
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.snapshot import BoardEntry
from campaigns.leaderboards.view import BoardQuery, BoardView, SystemFilter
from campaigns.permissions import CampaignAccess, read_access
from campaigns.reports.differences import MetricPairs, differences_body
from campaigns.reports.leaderboard import CORRECTIONS
from campaigns.submissions.evaluation_actions import cancel_comparison
from metrics.resampling.correction import TITLES
from metrics.resampling.paired import smallest_p
from models.database.session import reading, writing
from web.api.leaderboards.comparisons import ComparisonFilters, start_trials
from web.dependencies import CurrentPrincipal, app_state
from web.pages.leaderboards.leaderboard import Links, near_choice
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

MOST_LISTED = 200
"""Systems to choose from; those that are compared are always among them."""


@router.get("/campaigns/{name}/compare")
def show_comparison(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    asked: Annotated[ComparisonFilters, Depends()],
    comparison: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    """A matrix of differences for every metric, that of the chosen one open; cells lead to the segments."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        choices = read_choices(connection, access) if access.sees_board else []
        if not choices:
            return page(request, "leaderboards/leaderboard_hidden", title="Compare", access=access, here="compare")
        choice, metric = near_choice(choices, asked, access)
        view = state.boards.view(connection, choice.listed, BoardQuery(metric, SystemFilter.ALL))
        systems = choose_systems(view, asked.systems)
        others = [position for position in range(len(choice.listed.metrics)) if position != metric]
        wanted = ComparisonQuery(systems, [metric, *others], asked.test, asked.correction)
        compared = compare_systems(connection, state.boards, view, wanted)
        trying = None if comparison is None else read_trials_progress(connection, view, comparison)
    links = Links(name, choice, view)
    addresses = _addresses(access, systems, links)
    chosen = {each.submission for each in systems}
    return page(
        request,
        "leaderboards/comparison",
        title="Compare",
        access=access,
        here="compare",
        choice=choice,
        view=view,
        compared=compared,
        body=_matrices(access, choice, compared, addresses),
        linked=bool(addresses),
        trying=trying,
        systems=[(each.submission, display_name(access, each).title) for each in systems],
        numbers=[each.submission for each in systems],
        offered=_offered(access, view, chosen),
        same=[[display_name(access, systems[each]).title for each in pair] for pair in sorted(compared.same_output)],
        links=links,
        may_try=principal.signed_in and len(systems) <= MAX_RANDOMIZED_SYSTEMS,
        most_tried=MAX_RANDOMIZED_SYSTEMS,
        most=MAX_SYSTEMS,
        test_sets=list({each.test_set_key: each.test_set for each in choices if not each.outgrown}.items()),
        references=[
            (each.references, " + ".join(each.listed.references))
            for each in choices
            if each.test_set_key == choice.test_set_key and (not each.outgrown or each is choice)
        ],
        metrics=list(zip(choice.listed.metrics, (title.removesuffix(" ↓") for title in view.titles), strict=True)),
        tests=[
            (SignificanceTest.BOOTSTRAP, "paired bootstrap"),
            (SignificanceTest.RANDOMIZATION, "approximate randomization"),
        ],
        corrections=[
            (PValueCorrection.NONE, "none, as on the leaderboard"),
            *((each, TITLES[each]) for each in (PValueCorrection.HOLM, PValueCorrection.BH)),
        ],
    )


@router.post("/campaigns/{name}/compare")
def ask_for_trials(
    request: Request, name: str, principal: CurrentPrincipal, asked: Annotated[ComparisonFilters, Depends()]
) -> Response:
    """Have randomization tests made, and go on to the page that shows how far they have come."""
    asked.metric, ranked_by = "", asked.metric
    _, choice, view, wanted, comparison = start_trials(request, principal, name, asked)
    more: dict[str, object] = {"test": SignificanceTest.RANDOMIZATION.value, "correction": wanted.correction.value}
    if ranked_by in choice.listed.metrics:
        more["metric"] = ranked_by
    if comparison is not None:
        more["comparison"] = comparison
    return see_other(Links(name, choice, view).compare([each.submission for each in wanted.systems], **more))


@router.post("/campaigns/{name}/compare/{comparison}/cancel")
def end_trials(
    request: Request, name: str, comparison: Annotated[int, Path(ge=1, lt=2**63)], principal: CurrentPrincipal
) -> Response:
    """End a comparison that runs, and go back to the page that showed it, whose query comes along. For organisers."""
    with writing(app_state(request).engine, durable=True) as connection:
        cancel_comparison(
            connection, read_access(connection, principal, name), comparison, reason="Cancelled by an organiser."
        )
    return see_other(f"/campaigns/{part_of_address(name)}/compare?{request.url.query}")


def _addresses(access: CampaignAccess, systems: Sequence[BoardEntry], links: Links) -> dict[tuple[int, int], str]:
    """Where the segments of a pair are to be seen, for those pairs whose outputs may be."""
    seen = [
        number
        for number, each in enumerate(systems)
        if access.sees_segments and access.sees_output(each.team, each.kind, ranked=each.ranked)
    ]
    return {(a, b): links.segments(systems[a].submission, systems[b].submission) for a in seen for b in seen if a < b}


def _matrices(
    access: CampaignAccess, choice: BoardChoice, compared: ComparisonResult, addresses: Mapping[tuple[int, int], str]
) -> Any:
    wanted = compared.query
    names = [display_name(access, each).title for each in wanted.systems]
    metrics = []
    for metric, results in zip(wanted.metrics, compared.results, strict=False):
        figure = wanted.systems[0].scores[metric]
        metrics.append(MetricPairs(figure.title, figure.higher_is_better, figure.scale, results))
    kind = "replicates" if wanted.test is SignificanceTest.BOOTSTRAP else "trials"
    test = "paired bootstrap" if wanted.test is SignificanceTest.BOOTSTRAP else "paired approximate randomization"
    corrected = CORRECTIONS[wanted.correction]
    pairs = max((len(results) for results in compared.results), default=0)
    why = "There are fewer than two systems with scores to compare."
    if len(wanted.systems) > 1:
        why = (
            "None of these pairs has been tested by randomization yet."
            if wanted.test is SignificanceTest.RANDOMIZATION
            else "The tests will stand here."
            if compared.drawing
            else "No bootstrap replicates were stored: choose randomization."
        )
    return differences_body(
        names,
        metrics,
        alpha=ALPHA,
        what=f"{test} with {compared.draws:,} {kind}, seed {choice.listed.seed}, two-sided, {corrected}",
        least=smallest_p(compared.draws, pairs, wanted.correction) if compared.draws else 1.0,
        rule=compared_to_leaderboard(wanted.test, wanted.correction),
        links=addresses,
        why=why,
        most=MAX_SYSTEMS,
    )


def _offered(access: CampaignAccess, view: BoardView, chosen: set[int]) -> list[tuple[int, str, bool]]:
    """Systems to choose from: number, name, whether it is chosen."""
    found: list[tuple[int, str, bool]] = []
    for line in view.lines:
        each = line.entry
        if each.scores and (each.submission in chosen or len(found) < MOST_LISTED):
            found.append((each.submission, display_name(access, each).title, each.submission in chosen))
    return found
