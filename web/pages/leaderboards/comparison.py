"""Pairwise comparison of systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from analysis.leaderboard.significance import ALPHA
from campaigns.charts.effects import LONGEST_NAME, Effect, effects
from campaigns.charts.lettering import shortened
from campaigns.charts.numbers import csv_address
from campaigns.leaderboards.choice import BoardChoice, read_choices
from campaigns.leaderboards.comparison import (
    MAX_RANDOMIZED_SYSTEMS,
    MAX_SYSTEMS,
    ComparisonQuery,
    ComparisonResult,
    choose_systems,
    compare_systems,
    read_trials_progress,
)
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name, short_names
from campaigns.leaderboards.snapshot import BoardEntry
from campaigns.leaderboards.view import BoardQuery, BoardView
from campaigns.permissions import CampaignAccess, read_access
from campaigns.reports.differences import MetricPairs, differences_body
from campaigns.reports.leaderboard import CORRECTIONS
from campaigns.reports.template import drawing
from campaigns.submissions.evaluation_actions import cancel_comparison
from models.database.session import reading, writing
from steelyard.resampling.correction import TITLES
from steelyard.resampling.draws_needed import smallest_p
from steelyard.tables.formatting import TYPESET, digits, p_value
from steelyard.text.wording import of_documents
from steelyard_client.vocabulary import PValueCorrection, SignificanceTest, SystemFilter, compared_to_leaderboard
from web.api.leaderboards.comparisons import ComparisonFilters, start_trials
from web.dependencies import CurrentPrincipal, app_state
from web.pages.leaderboards.leaderboard import Links, closest_choice, reference_options
from web.pages.rendering import page, part_of_address, see_other

if TYPE_CHECKING:
    from markupsafe import Markup

router = APIRouter()

BEST = 3
"""Systems compared at first."""
MOST_EFFECTS = 30
"""Pairs in the chart; the matrix has all."""
MOST_LISTED = 200
"""Maximum number of systems to choose from, not counting the compared ones."""


@router.get("/campaigns/{name}/compare")
def show_comparison(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    filters: Annotated[ComparisonFilters, Depends()],
    comparison: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> Response:
    """Show a matrix of differences for each metric, the chosen one first; its cells link to segments."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        choices = read_choices(connection, access) if access.sees_board else []
        if not choices:
            return page(request, "leaderboards/leaderboard_hidden", title="Compare", access=access, here="compare")
        choice, metric = closest_choice(choices, filters, access)
        view = state.boards.view(connection, choice.listed, BoardQuery(metric, SystemFilter.ALL))
        systems = choose_systems(view, filters.systems, best=BEST)
        others = [position for position in range(len(choice.listed.metrics)) if position != metric]
        query = ComparisonQuery(systems, [metric, *others], filters.test, filters.correction)
        compared = compare_systems(connection, state.boards, view, query)
        progress = None if comparison is None else read_trials_progress(connection, view, comparison)
    links = Links(name, choice, view)
    segment_links = _segment_links(access, systems, links)
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
        effects=_effects(access, compared, segment_links),
        body=_matrices(access, choice, compared, segment_links),
        linked=bool(segment_links),
        progress=progress,
        systems=[(each.submission, display_name(access, each).title) for each in systems],
        numbers=[each.submission for each in systems],
        offered=_system_choices(access, view, chosen),
        same=[[display_name(access, systems[each]).title for each in pair] for pair in sorted(compared.same_output)],
        links=links,
        may_try=principal.signed_in and len(systems) <= MAX_RANDOMIZED_SYSTEMS,
        most_tried=MAX_RANDOMIZED_SYSTEMS,
        most=MAX_SYSTEMS,
        test_sets=list({each.test_set_key: each.test_set for each in choices if not each.superseded}.items()),
        references=reference_options(choices, choice),
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
def request_trials(
    request: Request, name: str, principal: CurrentPrincipal, filters: Annotated[ComparisonFilters, Depends()]
) -> Response:
    """Start randomization tests, and redirect to the page with their progress."""
    filters.metrics, ranked_by = [], filters.metric
    _, choice, view, query, comparison = start_trials(request, principal, name, filters)
    more: dict[str, object] = {"test": SignificanceTest.RANDOMIZATION.value, "correction": query.correction.value}
    if ranked_by in choice.listed.metrics:
        more["metric"] = ranked_by
    if comparison is not None:
        more["comparison"] = comparison
    return see_other(Links(name, choice, view).compare([each.submission for each in query.systems], **more))


@router.post("/campaigns/{name}/compare/{comparison}/cancel")
def cancel_trials(
    request: Request, name: str, comparison: Annotated[int, Path(ge=1, lt=2**63)], principal: CurrentPrincipal
) -> Response:
    """Cancel a running comparison and redirect to its page, keeping the query. For organisers."""
    with writing(app_state(request).engine, durable=True) as connection:
        cancel_comparison(
            connection, read_access(connection, principal, name), comparison, reason="Cancelled by an organiser."
        )
    return see_other(f"/campaigns/{part_of_address(name)}/compare?{request.url.query}")


def _segment_links(access: CampaignAccess, systems: Sequence[BoardEntry], links: Links) -> dict[tuple[int, int], str]:
    """Return links to the segments of each pair whose outputs the user may see."""
    visible = [
        number
        for number, each in enumerate(systems)
        if access.sees_segments and access.sees_output(each.team, each.kind, ranked=each.ranked)
    ]
    return {
        (a, b): links.segments(systems[a].submission, systems[b].submission) for a in visible for b in visible if a < b
    }


@dataclass(frozen=True, slots=True)
class Effects:
    """The differences by the first metric, largest first, as a chart and as the table of its numbers."""

    chart: Markup
    rows: Sequence[tuple[str, str, str, str, str]]
    """Better system, other system, difference, interval and p-value."""
    csv: str
    """The address of their numbers."""
    segments: Sequence[tuple[str, str]]
    """Title and address of the segments behind each difference, where they are visible."""


def _effects(
    access: CampaignAccess, compared: ComparisonResult, segment_links: Mapping[tuple[int, int], str]
) -> Effects | None:
    """Return the differences between pairs of systems, each as the better one minus the other; None without any."""
    systems, metric = compared.query.systems, compared.query.metrics[0]
    pairs = compared.results[0] if compared.results else []
    if not pairs or len(pairs) > MOST_EFFECTS:
        return None
    names = [*short_names(access, systems).values()]
    figure = systems[0].scores[metric]
    places = digits(figure.scale)
    drawn, rows, numbers, segments = [], [], [], []
    for pair in pairs:
        # A pair holds b minus a; in the chart the better one comes first, whatever the metric's direction.
        turned = (pair.difference > 0) != figure.higher_is_better
        first, second = (pair.a, pair.b) if turned else (pair.b, pair.a)
        sign = -1.0 if turned else 1.0
        # 0 has no sign.
        difference = sign * pair.difference + 0.0
        low, high = sorted(sign * each + 0.0 for each in pair.interval) if pair.interval else (math.nan, math.nan)
        name = " – ".join(shortened(names[each], LONGEST_NAME // 2 - 1) for each in (first, second))
        certain = pair.p_corrected < ALPHA and pair.difference != 0
        drawn.append(Effect(name, difference, low, high, certain))
        rows.append(
            (
                names[first],
                names[second],
                TYPESET.number(difference, places, sign=True),
                TYPESET.interval((low, high) if pair.interval else None, places, sign=True),
                p_value(pair.p_corrected),
            )
        )
        numbers.append((names[first], names[second], difference, low, high, pair.p_corrected))
        if link := segment_links.get((pair.a, pair.b)):
            segments.append((f"{names[first]} and {names[second]}", link))
    title = f"Differences by {figure.title}, with {100 * LEVEL:g} % intervals"
    lower = "" if figure.higher_is_better else ", lower is better"
    return Effects(
        drawing(effects(drawn, f"{figure.title}: better minus worse system{lower}", title=title)),
        rows,
        csv_address(["system", "compared_with", "difference", "low", "high", "p"], numbers),
        segments,
    )


def _matrices(
    access: CampaignAccess,
    choice: BoardChoice,
    compared: ComparisonResult,
    segment_links: Mapping[tuple[int, int], str],
) -> Any:
    query = compared.query
    names = [*short_names(access, query.systems).values()]
    metrics = []
    for metric, results in zip(query.metrics, compared.results, strict=False):
        figure = query.systems[0].scores[metric]
        metrics.append(MetricPairs(figure.title, figure.higher_is_better, figure.scale, results))
    kind = "replicates" if query.test is SignificanceTest.BOOTSTRAP else "trials"
    kind += of_documents(choice.listed.resample)
    test = "paired bootstrap" if query.test is SignificanceTest.BOOTSTRAP else "paired approximate randomization"
    corrected = CORRECTIONS[query.correction]
    pairs = max((len(results) for results in compared.results), default=0)
    reason = "A comparison needs at least two systems with scores."
    if len(query.systems) > 1:
        reason = (
            "Randomization tests of these pairs have not been computed yet."
            if query.test is SignificanceTest.RANDOMIZATION
            else "The results will appear here."
            if compared.drawing
            else "No bootstrap replicates are stored. Choose approximate randomization instead."
        )
    return differences_body(
        names,
        metrics,
        alpha=ALPHA,
        what=f"{test} with {compared.draws:,} {kind}, seed {choice.listed.seed}, two-sided, {corrected}",
        least=smallest_p(compared.draws, pairs, query.correction) if compared.draws else 1.0,
        rule=compared_to_leaderboard(query.test, query.correction),
        links=segment_links,
        why=reason,
        most=MAX_SYSTEMS,
    )


def _system_choices(access: CampaignAccess, view: BoardView, chosen: set[int]) -> list[tuple[int, str, bool]]:
    """Return the systems to choose from: id, name, and whether it is selected."""
    found: list[tuple[int, str, bool]] = []
    for line in view.lines:
        each = line.entry
        if each.scores and (each.submission in chosen or len(found) < MOST_LISTED):
            found.append((each.submission, display_name(access, each).title, each.submission in chosen))
    return found
