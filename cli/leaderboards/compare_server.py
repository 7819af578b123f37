"""`steelyard --server URL compare`: significance tests between systems on a server's leaderboards."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

from cli.decorators import check_trials
from cli.leaderboards.comparison import Compared, rendered
from cli.server import connected, refuse_local
from steelyard.commands.errors import CommandError, UsageError
from steelyard.text.wording import listed as summed_up
from steelyard_client.commands.leaderboards.chosen import BoardSelection, chosen_boards
from steelyard_client.commands.leaderboards.power import scale_of
from steelyard_client.commands.leaderboards.tables import title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.commands import Options
    from steelyard.tables.paired_tests import PairedTests
    from steelyard_client import Client
    from steelyard_client.documents.comparisons import ComparisonsResponse
    from steelyard_client.documents.leaderboards import BoardSystem, LeaderboardResponse


ASK_AGAIN_SECONDS = 1.0
"""Between two requests, while a server draws more replicates."""


def run(options: Options) -> int:
    """Request the data from the server and print it; the exit status."""
    refuse_local(options, report=None)
    check_trials(options)
    if options.baseline == "none":
        options.baseline = None
    if options.systems and options.submissions:
        raise UsageError("Give --systems or --submissions, not both.")
    with connected(options) as client:
        compared = _compared(client, options)
    print(rendered(compared, options.format, options.width), end="", flush=True)
    return 0


def _compared(client: Client, options: Options) -> list[Compared]:
    """The boards with at least two of the selected systems, and their tests. Raises CommandError where none has."""
    found, faults = [], dict[str, str]()
    references = options.references.split(",") if options.references else None
    every = options.all or bool(options.submissions)
    selection = BoardSelection(options.name, references, every=every, resample=options.resample)
    for campaign, listed in chosen_boards(client, selection):
        shown = "all" if options.all or options.submissions or options.systems or options.baseline else "ranked"
        board = client.read_leaderboard(campaign, board=listed.board, metric=options.by or "", shown=shown)
        systems, fault = _chosen(board, options)
        if not fault:
            fault = _unknown_metrics(board, options)
        if fault:
            faults[title_of(board)] = fault
            continue
        compare = partial(
            client.compare,
            campaign,
            [system.submission for system in systems],
            board=listed.board,
            metric=options.metrics[0] if options.metrics and len(options.metrics) == 1 else "",
            test=options.test,
            correction=options.correction,
            trials=options.trials,
            level=options.level,
            interval=options.interval,
            alpha=options.alpha,
            baseline=_baseline(systems, options),
        )
        while (made := compare()).drawing:
            time.sleep(ASK_AGAIN_SECONDS)
        spreads = {(each.submission, each.metric): each for each in made.runs}
        found.append(Compared(board, tests_of(board, systems, made, options), spreads))
    if not found:
        said = " ".join(f"{title}: {fault}." for title, fault in faults.items())
        raise CommandError(f"There is nothing to compare. {said}")
    return found


def _chosen(board: LeaderboardResponse, options: Options) -> tuple[list[BoardSystem], str]:
    """The selected systems, and what is wrong with the selection, or ""."""
    scored = [system for system in board.items if system.scores]
    if options.submissions:
        chosen = [system for system in scored if set(system.submissions) & set(options.submissions)]
        known = {number for system in chosen for number in system.submissions}
        missing = [str(number) for number in options.submissions if number not in known]
        if missing:
            return [], f"there is no submission {', '.join(missing)} with scores"
    else:
        # Of two submissions of one system, its name means the one that is ranked.
        there = {name: each for each in sorted(scored, key=lambda each: each.ranked) for name in _names_of(each)}
        wanted = dict.fromkeys([*(options.systems or ()), *([options.baseline] if options.baseline else [])])
        if missing := [name for name in wanted if name not in there]:
            names = summed_up(sorted(each.system or each.name for each in scored))
            return [], f"there is no system {', '.join(missing)} with scores; there are {names}"
        named = {there[name].submission for name in wanted}
        others = not options.systems
        chosen = [
            system for system in scored if system.submission in named or (others and (system.ranked or options.all))
        ]
    return chosen, "" if len(chosen) > 1 else "there are fewer than two systems with scores"


def _baseline(systems: Sequence[BoardSystem], options: Options) -> int | None:
    """The submission of the baseline."""
    return next((each.submission for each in systems if options.baseline in _names_of(each)), None)


def _names_of(system: BoardSystem) -> set[str]:
    """The names of a system that the command line accepts: its own, with its team, and as displayed."""
    names: set[str | None] = {system.system}
    if system.team and system.system:
        names.add(f"{system.team}/{system.system}")
    return {system.name, *(name for name in names if name)}


def _positions(board: LeaderboardResponse, options: Options) -> list[int | None]:
    """The positions of the requested metrics; None for one that the board does not have."""
    from analysis.leaderboard.board import position_of_metric

    if not options.metrics:
        return list(range(len(board.metrics)))
    return [position_of_metric(board.metrics, name) for name in options.metrics]


def _unknown_metrics(board: LeaderboardResponse, options: Options) -> str:
    return f"its metrics are {', '.join(board.metrics)}" if None in _positions(board, options) else ""


def tests_of(
    board: LeaderboardResponse, systems: Sequence[BoardSystem], made: ComparisonsResponse, options: Options
) -> PairedTests:
    """A server's tests in the form in which `compare` shows those of a database."""
    from steelyard.resampling.paired import PairedResult
    from steelyard.tables.paired_tests import ComparedMetric, PairedTests

    place = {each.submission: number for number, each in enumerate(made.systems)}
    wanted = list(dict.fromkeys(each for each in _positions(board, options) if each is not None))
    known = next(system.scores for system in systems)
    metrics = [
        ComparedMetric(board.metrics[each], known[each].title, known[each].higher_is_better, scale_of(known[each]))
        for each in wanted
    ]
    order = {metric.name: number for number, metric in enumerate(metrics)}
    pairs = [pair for pair in made.pairs if pair.metric in order]
    results = [
        PairedResult(
            a=place[pair.a_submission],
            b=place[pair.b_submission],
            metric=order[pair.metric],
            difference=_number(pair.difference),
            p=_number(pair.p),
            p_corrected=_number(pair.p_corrected),
            interval=(pair.interval.low, pair.interval.high) if pair.interval else None,
        )
        for pair in pairs
    ]
    return PairedTests(
        results=results,
        systems=[each.name for each in made.systems],
        metrics=metrics,
        test=made.test,
        draws=max((pair.n for pair in pairs), default=board.replicates),
        seed=board.seed,
        correction=made.correction,
        baseline=None if made.baseline is None else place[made.baseline],
        level=made.level,
        interval=made.interval,
        replicates=board.replicates,
        segments=board.segments,
        unit=made.resample,
        same_output={(place[pair.a_submission], place[pair.b_submission]) for pair in pairs if pair.same_output},
        alpha=made.alpha,
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value
