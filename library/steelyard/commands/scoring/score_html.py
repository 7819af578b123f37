"""The result of `score` as one self-contained HTML page without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from steelyard.commands.scoring.score_text import detail_tables, run_notes, run_table, score_table, segment_rows
from steelyard.metrics.metric import VERSION
from steelyard.tables import paired_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.commands.scoring.score_result import Result


PAGE = Path(__file__).with_name("page.html")


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
    """The page. Everything that comes from outside is escaped."""
    references = [f"<bdi>{escape(text.name)}</bdi>" for text in result.inputs.references]
    segments = result.inputs.references[0].segments
    signatures = [
        f"<code>{escape(f'{metric.measurement.metric.title}|{metric.signature}')}</code>" for metric in result.metrics
    ]
    parts = [
        "<h1>Scores</h1>",
        f'<p class="soft">{segments:,} segment{"" if segments == 1 else "s"} against the '
        f"reference{'s' if len(references) > 1 else ''} {', '.join(references)}. Weighed by Steelyard {VERSION}.</p>",
        *(table_html(number, table) for number, table in enumerate(tables(result), 1)),
        "<h2>Signatures</h2>",
        f'<p class="soft">{"<br>".join(signatures)}</p>',
    ]
    return Template(PAGE.read_text("utf-8")).substitute(content="\n".join(parts))


def table_html(number: int, table: Table) -> str:
    """A table with its heading and notes; folded away at first unless it is open."""
    label = f"table-{number}"
    section, heading = ("section", "h2") if table.open else ("details", "summary")
    header = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.rows[0])
    body = [
        f"<tr>{''.join(_cell(table, place, column, cell) for column, cell in enumerate(row))}</tr>"
        for place, row in enumerate(table.rows[1:])
    ]
    kind = ' class="matrix"' if table.matrix else ""
    return "\n".join(
        (
            f"<{section}>",
            f'<{heading} id="{label}">{escape(table.heading)}</{heading}>',
            f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{label}">',
            f'<table{kind} aria-labelledby="{label}">',
            f"<thead><tr>{header}</tr></thead>",
            "<tbody>",
            *body,
            "</tbody>",
            "</table>",
            "</div>",
            *(f'<p class="soft">{escape(note)}</p>' for note in table.notes),
            f"</{section}>",
        )
    )


def _cell(table: Table, place: int, column: int, text: str) -> str:
    if column < table.names:
        return f'<th scope="row" dir="auto">{escape(text)}</th>'
    stressed = (place, column) in table.best
    return f"<td><strong>{escape(text)}</strong></td>" if stressed else f"<td>{escape(text)}</td>"


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
