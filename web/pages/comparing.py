"""Systems of a campaign compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from analysis.leaderboard.significance import ALPHA, beside_the_leaderboard
from campaigns.leaderboards.choice import Choice, read_choices
from campaigns.leaderboards.comparison import (
    MOST_SYSTEMS,
    MOST_TRIED,
    Compared,
    Correction,
    Test,
    Wanted,
    choose_systems,
    compare,
    read_trying,
)
from campaigns.leaderboards.names import name_of
from campaigns.leaderboards.snapshot import Contender
from campaigns.leaderboards.view import BoardView, Shown, Wish
from campaigns.permissions import Sight, read_sight
from campaigns.reports.differences import MetricPairs, differences_body
from campaigns.reports.leaderboard import CORRECTIONS
from campaigns.submissions.evaluation_actions import cancel_comparison
from metrics.resampling.correction import TITLES
from metrics.resampling.paired import smallest_p
from models.database.session import reading, writing
from web.api.comparisons import Comparing, begin_trials
from web.dependencies import Asking, state_of
from web.pages.boards import Links, near_choice
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

MOST_LISTED = 200
"""Systems to choose from; those that are compared are always among them."""


@router.get("/campaigns/{name}/compare")
def show_comparison(
    request: Request,
    name: str,
    principal: Asking,
    asked: Annotated[Comparing, Depends()],
    comparison: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    """A matrix of differences for every metric, that of the chosen one open; cells lead to the segments."""
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
        choices = read_choices(connection, sight) if sight.sees_board else []
        if not choices:
            return page(request, "board_hidden", title="Compare", sight=sight, here="compare")
        choice, metric = near_choice(choices, asked, sight)
        view = state.boards.view(connection, choice.listed, Wish(metric, Shown.ALL))
        systems = choose_systems(view, asked.systems)
        others = [position for position in range(len(choice.listed.metrics)) if position != metric]
        wanted = Wanted(systems, [metric, *others], asked.test, asked.correction)
        compared = compare(connection, state.boards, view, wanted)
        trying = None if comparison is None else read_trying(connection, view, comparison)
    links = Links(name, choice, view)
    addresses = _addresses(sight, systems, links)
    chosen = {each.submission for each in systems}
    return page(
        request,
        "comparison",
        title="Compare",
        sight=sight,
        here="compare",
        choice=choice,
        view=view,
        compared=compared,
        body=_matrices(sight, choice, compared, addresses),
        linked=bool(addresses),
        trying=trying,
        systems=[(each.submission, name_of(sight, each).title) for each in systems],
        numbers=[each.submission for each in systems],
        offered=_offered(sight, view, chosen),
        same=[[name_of(sight, systems[each]).title for each in pair] for pair in sorted(compared.same_output)],
        links=links,
        may_try=principal.signed_in and len(systems) <= MOST_TRIED,
        most_tried=MOST_TRIED,
        most=MOST_SYSTEMS,
        test_sets=list({each.test_set_key: each.test_set for each in choices if not each.outgrown}.items()),
        references=[
            (each.references, " + ".join(each.listed.references))
            for each in choices
            if each.test_set_key == choice.test_set_key and (not each.outgrown or each is choice)
        ],
        metrics=list(zip(choice.listed.metrics, (title.removesuffix(" ↓") for title in view.titles), strict=True)),
        tests=[(Test.BOOTSTRAP, "paired bootstrap"), (Test.RANDOMIZATION, "approximate randomization")],
        corrections=[
            (Correction.NONE, "none, as on the leaderboard"),
            *((each, TITLES[each]) for each in (Correction.HOLM, Correction.BH)),
        ],
    )


@router.post("/campaigns/{name}/compare")
def ask_for_trials(request: Request, name: str, principal: Asking, asked: Annotated[Comparing, Depends()]) -> Response:
    """Have randomization tests made, and go on to the page that shows how far they have come."""
    asked.metric, ranked_by = "", asked.metric
    _, choice, view, wanted, comparison = begin_trials(request, principal, name, asked)
    more: dict[str, object] = {"test": Test.RANDOMIZATION.value, "correction": wanted.correction.value}
    if ranked_by in choice.listed.metrics:
        more["metric"] = ranked_by
    if comparison is not None:
        more["comparison"] = comparison
    return see_other(Links(name, choice, view).compare([each.submission for each in wanted.systems], **more))


@router.post("/campaigns/{name}/compare/{comparison}/cancel")
def end_trials(
    request: Request, name: str, comparison: Annotated[int, Path(ge=1, lt=2**63)], principal: Asking
) -> Response:
    """End a comparison that runs, and go back to the page that showed it, whose query comes along. For organisers."""
    with writing(state_of(request).engine, durable=True) as connection:
        cancel_comparison(
            connection, read_sight(connection, principal, name), comparison, reason="Cancelled by an organiser."
        )
    return see_other(f"/campaigns/{part_of_address(name)}/compare?{request.url.query}")


def _addresses(sight: Sight, systems: Sequence[Contender], links: Links) -> dict[tuple[int, int], str]:
    """Where the segments of a pair are to be seen, for those pairs whose outputs may be."""
    seen = [
        number
        for number, each in enumerate(systems)
        if sight.sees_segments and sight.sees_output(each.team, each.kind, ranked=each.ranked)
    ]
    return {(a, b): links.segments(systems[a].submission, systems[b].submission) for a in seen for b in seen if a < b}


def _matrices(sight: Sight, choice: Choice, compared: Compared, addresses: Mapping[tuple[int, int], str]) -> Any:
    wanted = compared.wanted
    names = [name_of(sight, each).title for each in wanted.systems]
    metrics = []
    for metric, results in zip(wanted.metrics, compared.results, strict=False):
        figure = wanted.systems[0].figures[metric]
        metrics.append(MetricPairs(figure.title, figure.higher_is_better, figure.scale, results))
    kind = "replicates" if wanted.test is Test.BOOTSTRAP else "trials"
    test = "paired bootstrap" if wanted.test is Test.BOOTSTRAP else "paired approximate randomization"
    corrected = CORRECTIONS[wanted.correction]
    pairs = max((len(results) for results in compared.results), default=0)
    why = "There are fewer than two systems with scores to compare."
    if len(wanted.systems) > 1:
        why = (
            "None of these pairs has been tested by randomization yet."
            if wanted.test is Test.RANDOMIZATION
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
        rule=beside_the_leaderboard(wanted.test, wanted.correction),
        links=addresses,
        why=why,
        most=MOST_SYSTEMS,
    )


def _offered(sight: Sight, view: BoardView, chosen: set[int]) -> list[tuple[int, str, bool]]:
    """Systems to choose from: number, name, whether it is chosen."""
    found: list[tuple[int, str, bool]] = []
    for line in view.lines:
        each = line.contender
        if each.figures and (each.submission in chosen or len(found) < MOST_LISTED):
            found.append((each.submission, name_of(sight, each).title, each.submission in chosen))
    return found
