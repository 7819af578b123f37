"""`steelyard --server URL compare`: significance tests between systems on a server's leaderboards."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cli.leaderboards.leaderboard_server import LEVEL, RULE, named_boards, scale_of, title_of
from cli.server import connected, refuse_local
from steelyard.commands.errors import CommandError, UsageError
from steelyard.tables import rendering

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from steelyard.tables.delimited import Cell
    from steelyard.tables.paired_tests import PairedTests
    from steelyard.tables.table import Table
    from steelyard_client import Client
    from steelyard_client.documents.comparisons import ComparisonsResponse
    from steelyard_client.documents.leaderboards import BoardSystem, LeaderboardResponse

    Compared = tuple[LeaderboardResponse, PairedTests]


ASK_AGAIN_SECONDS = 1.0
"""Between two requests, while a server draws more replicates."""


def run(options: argparse.Namespace) -> int:
    """Request the data from the server and print it; the exit status."""
    refuse_local(options, **RULE, report=None)
    if options.baseline not in (None, "none"):
        raise UsageError("A server corrects for all pairs: --baseline is for a database.")
    if options.systems and options.submissions:
        raise UsageError("Give --systems or --submissions, not both.")
    with connected(options) as client:
        compared = _compared(client, options)
    print(rendered(compared, options), end="", flush=True)
    return 0


def _compared(client: Client, options: argparse.Namespace) -> list[Compared]:
    """The boards with at least two of the selected systems, and their tests. Raises CommandError where none has."""
    found, faults = [], dict[str, str]()
    for campaign, listed in named_boards(client, options):
        shown = "all" if options.all or options.submissions or options.systems else "ranked"
        board = client.read_leaderboard(campaign, board=listed.board, metric=options.sort or "", shown=shown)
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
            test=options.paired,
            correction=options.correction,
        )
        while (made := compare()).drawing:
            time.sleep(ASK_AGAIN_SECONDS)
        found.append((board, tests_of(board, systems, made, options)))
    if not found:
        said = " ".join(f"{title}: {fault}." for title, fault in faults.items())
        raise CommandError(f"There is nothing to compare. {said}")
    return found


def _chosen(board: LeaderboardResponse, options: argparse.Namespace) -> tuple[list[BoardSystem], str]:
    """The selected systems, and what is wrong with the selection, or ""."""
    scored = [system for system in board.items if system.scores]
    if options.submissions:
        chosen = [system for system in scored if set(system.submissions) & set(options.submissions)]
        known = {number for system in chosen for number in system.submissions}
        missing = [str(number) for number in options.submissions if number not in known]
        if missing:
            return [], f"there is no submission {', '.join(missing)} with scores"
    elif options.systems:
        chosen = [system for system in scored if _names_of(system) & set(options.systems)]
        names = {name for system in chosen for name in _names_of(system)}
        missing = [name for name in options.systems if name not in names]
        if missing:
            return [], f"there is no system {', '.join(missing)} with scores"
    else:
        chosen = [system for system in scored if system.ranked or options.all]
    return chosen, "" if len(chosen) > 1 else "there are fewer than two systems with scores"


def _names_of(system: BoardSystem) -> set[str]:
    return {system.name, *([system.system] if system.system else [])}


def _positions(board: LeaderboardResponse, options: argparse.Namespace) -> list[int | None]:
    """The positions of the requested metrics; None for one that the board does not have."""
    from analysis.leaderboard.board import position_of_metric

    if not options.metrics:
        return list(range(len(board.metrics)))
    return [position_of_metric(board.metrics, name) for name in options.metrics]


def _unknown_metrics(board: LeaderboardResponse, options: argparse.Namespace) -> str:
    return f"its metrics are {', '.join(board.metrics)}" if None in _positions(board, options) else ""


def tests_of(
    board: LeaderboardResponse, systems: Sequence[BoardSystem], made: ComparisonsResponse, options: argparse.Namespace
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
        level=LEVEL,
        replicates=board.replicates,
        segments=board.segments,
        same_output={(place[pair.a_submission], place[pair.b_submission]) for pair in pairs if pair.same_output},
        alpha=made.alpha,
    )


def tables_of(compared: Sequence[Compared], options: argparse.Namespace) -> list[Table]:
    """Every leaderboard with its matrices and lists of tests."""
    from analysis.leaderboard.significance import compared_to_leaderboard
    from steelyard.tables import paired_tests

    found: list[Table] = []
    for board, tests in compared:
        of_board = paired_tests.tables_of(tests, options.width)
        notes = [*of_board[-1].notes, compared_to_leaderboard(tests.test, tests.correction)]
        of_board[-1] = replace(of_board[-1], notes=notes)
        found += [replace(each, title=f"{title_of(board)}: {each.title}") for each in of_board]
    return found


def as_json(compared: Sequence[Compared], _: argparse.Namespace) -> str:
    """Every leaderboard with its systems and tests; numbers at full precision, null where undefined."""
    from steelyard.tables.paired_tests import as_objects

    objects = []
    for board, tests in compared:
        names = set(tests.systems)
        found: dict[str, Any] = {name: getattr(board, name) for name in ("campaign", "test_set", "version")}
        systems = [each.model_dump(mode="json") for each in board.items if each.name in names]
        objects.append({**found, "references": board.references, "systems": systems, "paired": as_objects(tests)})
    return rendering.as_json(objects)


def data_rows(compared: Sequence[Compared]) -> tuple[Sequence[str], list[tuple[Cell, ...]]]:
    """Columns and rows for programs: a row per leaderboard, metric and pair; None where undefined."""
    from steelyard.tables.paired_tests import TSV_COLUMNS, tsv_rows

    rows: list[tuple[Cell, ...]] = []
    for board, tests in compared:
        begin = (board.campaign, board.test_set, board.version, "+".join(board.references))
        rows += [(*begin, *row) for row in tsv_rows(tests)]
    return ("campaign", "test_set", "version", "references", *TSV_COLUMNS), rows


def rendered(compared: Sequence[Compared], options: argparse.Namespace) -> str:
    """The comparison in the format of the options."""
    from steelyard.tables import delimited

    if options.format == "json":
        return as_json(compared, options)
    if options.format in ("tsv", "csv"):
        return (delimited.as_tsv if options.format == "tsv" else delimited.as_csv)(*data_rows(compared))
    return rendering.render(tables_of(compared, options), options.format, "Comparison")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
