"""Comparisons in every format, from the document of their leaderboard and the tests on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.tables import paired_test_rows, paired_tests
from steelyard.tables.formatting import PLAIN, digits
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.leaderboards.power import scale_of
from steelyard_client.commands.leaderboards.tables import title_of
from steelyard_client.vocabulary import compared_to_leaderboard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.tables.delimited import Cell
    from steelyard.tables.paired_tests import PairedTests
    from steelyard_client.documents.leaderboards.comparisons import ComparisonsResponse, RunSpreadResponse

BOARD = ("campaign", "test_set", "version", "references")
OF_SYSTEM = {"name", "system", "team", "runs", "submissions", "kind", "ranked"}
OF_SCORE = {"metric", "title", "signature", "higher_is_better", "score", "interval", "runs"}
"""What a comparison says of systems and scores: not their ranks, which are those of a leaderboard."""


@dataclass(frozen=True)
class Compared:
    """The document of a comparison, and its tests."""

    document: ComparisonsResponse
    tests: PairedTests
    board: int
    """Number of the leaderboard."""

    @property
    def spreads(self) -> dict[tuple[int, str], RunSpreadResponse]:
        """Submission and metric -> how the score spreads over test sets and runs, where systems have runs."""
        return {(each.submission, each.metric): each for each in self.document.runs}


def rendered(compared: Sequence[Compared], form: str, width: int) -> str:
    """Comparisons in a format of tables; in JSON, CSV and TSV every number in full precision."""
    return render_document(
        form,
        document=lambda: [_object(each) for each in compared],
        data=lambda: ((*BOARD, *paired_test_rows.TSV_COLUMNS), [row for each in compared for row in _rows(each)]),
        tables=lambda: [table for each in compared for table in _tables(each, width)],
        title="Comparison",
    )


def _object(compared: Compared) -> dict[str, Any]:
    """The leaderboard with its systems and tests; null where undefined."""
    systems, spreads = [], compared.spreads
    for system in compared.document.systems:
        shown = []
        for score in system.scores:
            entry = score.model_dump(mode="json", include=OF_SCORE)
            if spread := spreads.get((system.submission, score.metric)):
                entry |= {"s_sel": spread.selection, "s_opt": spread.optimization}
            shown.append(entry)
        systems.append({**system.model_dump(mode="json", include=OF_SYSTEM), "scores": shown})
    begin = {name: getattr(compared.document, name) for name in BOARD}
    return {**begin, "systems": systems, "paired": paired_test_rows.as_objects(compared.tests)}


def _rows(compared: Compared) -> Iterator[tuple[Cell, ...]]:
    """A row for each metric and pair; None where undefined."""
    board = compared.document
    begin = (board.campaign, board.test_set, board.version, "+".join(board.references))
    return ((*begin, *row) for row in paired_test_rows.tsv_rows(compared.tests))


def _tables(compared: Compared, width: int) -> list[Table]:
    """The runs of its systems, matrices, and lists of tests."""
    tests = compared.tests
    found = [*([_run_table(compared, width)] if compared.spreads else []), *paired_tests.tables_of(tests, width)]
    found[-1] = replace(found[-1], notes=[*found[-1].notes, compared_to_leaderboard(tests.test, tests.correction)])
    return [replace(each, title=f"{title_of(compared.document)}: {each.title}") for each in found]


def _run_table(compared: Compared, width: int) -> Table:
    """s_sel, s_opt and run scores of each system by every metric."""
    columns = [Column("system", "System", Kind.NAME), Column("metric", "Metric"), *paired_tests.RUN_COLUMNS]
    rows, spreads = [], compared.spreads
    for system in compared.document.systems:
        for score in system.scores:
            spread, places = spreads[system.submission, score.metric], digits(scale_of(score), width)
            # The decimals are those of the metric.
            cells = [PLAIN.number(each, places) for each in (score.score, spread.selection, spread.optimization)]
            runs = zip(system.runs or [""], score.runs or [score.score], strict=True)
            of_runs = ", ".join(f"{run} {PLAIN.number(each, places)}".lstrip() for run, each in runs)
            title = score.title + ("" if score.higher_is_better else " ↓")
            rows.append([system.name, title, *cells, of_runs])
    notes = [paired_tests.RUN_SPREADS]
    notes += [paired_tests.ONE_RUN] if any(len(system.submissions) == 1 for system in compared.document.systems) else []
    return Table(columns, rows, "runs", notes=notes)
