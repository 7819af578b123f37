"""The result of `score` as one self-contained HTML page without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli.scoring.score_outputs.score_text import detail_tables, run_notes, run_table, score_table, segment_rows
from steelyard.metrics.metric import VERSION
from steelyard.tables import paired_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cli.scoring.score_outputs.score_result import Result


@dataclass(frozen=True)
class Table:
    """A table of the page; the first row is its header."""

    heading: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    best: frozenset[tuple[int, int]] = frozenset()
    """Row and column of cells to stress."""
    names: int = 1
    """Columns at the left that are names."""
    matrix: bool = False
    open: bool = True
    """Whether the table is unfolded at first."""


def render(result: Result) -> str:
    """The page. Everything that comes from outside is escaped by the template engine."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    signatures = [f"{metric.measurement.metric.title}|{metric.signature}" for metric in result.metrics]
    references = [text.name for text in result.inputs.references]
    return environment.get_template("score.html.j2").render(
        tables=tables(result),
        signatures=signatures,
        references=references,
        segments=result.inputs.references[0].segments,
        version=VERSION,
    )


def tables(result: Result) -> Iterator[Table]:
    """All requested tables, in the order of the text output."""
    stressed = frozenset(
        (place, number + 1)
        for number, metric in enumerate(result.metrics)
        for place, found in enumerate(metric.systems)
        if found.score == metric.best
    )
    yield Table("Scores", score_table(result), [result.intervals] if result.intervals else [], stressed)
    if result.has_runs:
        yield Table("Runs", run_table(result), run_notes(result))
    if result.tests:
        yield from pair_tables(result.tests, result.options.width)
    for table in detail_tables(result):
        yield Table(f"Further figures of {table[0][0]}", [["System", *table[0][1:]], *table[1:]], open=False)
    if any(metric.measurement.segment_scores is not None for metric in result.metrics):
        yield Table("Segments", segment_rows(result), names=2, open=False)


def pair_tables(tests: paired_tests.PairedTests, width: int) -> Iterator[Table]:
    """Differences by every metric, the notes below the last ones."""
    last = len(tests.metrics) - 1
    for metric in range(len(tests.metrics)):
        heading = f"Differences by {tests.heading(metric)}"
        if paired_tests.has_matrix(tests):
            numbers, *body = paired_tests.matrix(tests, metric, width)
            header = ["System", *(f"{number.strip()}" for number in numbers[2:])]
            rows = [[f"{row[0]} {row[1]}", *(text.strip() for text in row[2:])] for row in body]
            yield Table(heading, [header, *rows], matrix=True)
            heading += ", the surest first"
        rows = paired_tests.pair_table(tests, metric, width)
        notes = paired_tests.explanations(tests) if metric == last else []
        yield Table(heading, [[*rows[0][:-1], "Direction"], *rows[1:]], notes, names=2 if tests.baseline is None else 1)
