"""Human judgments in every format."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.tables.formatting import MISSING
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client.documents.leaderboards.judgments import (
        AnnotatorAgreement,
        HumanScoresDetails,
        HumanScoresResponse,
        JudgedSegment,
    )

SYSTEM_COLUMNS = (
    *("system", "rank", "rank_low", "rank_high", "cluster", "cluster_first", "cluster_last", "wins"),
    *("score", "raw", "n_segments", "n_judgments"),
)
SEGMENT_COLUMNS = ("system", "segment", "score", "raw", "n_judgments")

SYSTEM_SCORES = {
    "given": "as published",
    "means": "means over segments",
    "wins": "share of comparisons won, ties left out",
    "better-or-equal": "share of comparisons won or tied",
}


def listing(there: Sequence[HumanScoresResponse]) -> Table:
    """Judgments with their campaigns and test sets."""
    columns = [
        Column("campaign", "Campaign", Kind.NAME),
        Column("test_set", "Test set", Kind.NAME),
        Column("name", "Judgments", Kind.NAME),
        Column("kind", "Kind"),
        Column("method", "Method"),
    ]
    rows = [[each.campaign, each.test_set, _title(each), each.kind, _method(each)] for each in there]
    empty = "No human judgments yet. Import some: `steelyard judgments import FILE --test-set NAME`."
    return Table(columns, rows, empty=empty, key="judgments")


def _title(stored: HumanScoresResponse) -> str:
    return f"{stored.name}@{stored.version}"


def _method(stored: HumanScoresResponse) -> str:
    """`standardised by annotator; scores of systems: means over segments`."""
    method, words = stored.method, []
    if "standardised" in method:
        words.append("standardised by annotator" if method["standardised"] else "not standardised")
    if "weights" in method:
        words.append("weights " + " ".join(f"{path}={weight:g}" for path, weight in sorted(method["weights"].items())))
    how = method.get("system_scores", "given")
    return "; ".join([*words, f"scores of systems: {SYSTEM_SCORES.get(how, how)}"])


def systems(shown: HumanScoresDetails, rows: Sequence[JudgedSegment], form: str, places: int) -> str:
    """The systems, ranked; where they have no scores, `rows` are counted."""
    return render_document(
        form,
        document=lambda: shown.model_dump(mode="json"),
        data=lambda: (SYSTEM_COLUMNS, [[getattr(each, name) for name in SYSTEM_COLUMNS] for each in shown.systems]),
        tables=lambda: [
            _ranking(shown, places) if shown.systems else _judged_segments(shown, rows),
            *([_annotators(shown)] if shown.by_annotator else []),
        ],
        title=_heading(shown),
    )


def segments(shown: HumanScoresDetails, rows: Sequence[JudgedSegment], form: str, places: int) -> str:
    """The scores of segments, by system and segment."""

    def table() -> Table:
        columns = [
            Column("system", "System", Kind.NAME),
            Column("segment", "Segment", Kind.ID),
            Column("score", "Score", Kind.NUMBER, places, missing=MISSING),
            Column("raw", "Raw", Kind.NUMBER, places, missing=MISSING),
            Column("judgments", "Judgments", Kind.COUNT, missing=MISSING),
        ]
        cells = [[printable(row.system), row.segment, row.score, row.raw, row.n_judgments] for row in rows]
        return Table(columns, cells, _heading(shown))

    return render_document(
        form,
        document=lambda: {
            **shown.model_dump(mode="json", exclude={"systems"}),
            "segments": [row.model_dump(mode="json") for row in rows],
        },
        data=lambda: (SEGMENT_COLUMNS, [[getattr(row, name) for name in SEGMENT_COLUMNS] for row in rows]),
        tables=lambda: [table()],
        title=_heading(shown),
    )


def _heading(shown: HumanScoresDetails) -> str:
    return f"{_title(shown)}: {shown.kind} of {shown.test_set}"


def _ranking(shown: HumanScoresDetails, places: int) -> Table:
    """The systems by rank, with the columns of which there is something to say."""
    rows = shown.systems
    columns: dict[Column, list[Any]] = {
        Column("rank", "Rank", Kind.ID): [row.rank for row in rows],
        Column("range", "Range", Kind.RANGE, missing="-"): [
            None if row.rank_low is None or row.rank_high is None else (row.rank_low, row.rank_high) for row in rows
        ],
        Column("system", "System", Kind.NAME): [printable(row.system) for row in rows],
        Column("score", "Score", Kind.NUMBER, places, missing=MISSING): [row.score for row in rows],
        Column("wins", "Wins", Kind.COUNT, missing=MISSING): [row.wins for row in rows],
        Column("raw", "Raw", Kind.NUMBER, places, missing=MISSING): [row.raw for row in rows],
        Column("segments", "Segments", Kind.COUNT, missing=MISSING): [row.n_segments for row in rows],
        Column("judgments", "Judgments", Kind.COUNT, missing=MISSING): [row.n_judgments for row in rows],
    }
    there = {column: cells for column, cells in columns.items() if any(cell is not None for cell in cells)}
    rules = {number for number, (one, other) in enumerate(pairwise(rows), 1) if one.cluster != other.cluster}
    cells = list(zip(*there.values(), strict=True))
    return Table(list(there), cells, _heading(shown), notes=_notes(shown), rules=frozenset(rules))


def _annotators(shown: HumanScoresDetails) -> Table:
    """What each annotator did, with the columns of which there is something to say."""
    rows = shown.by_annotator
    columns: dict[Column, list[Any]] = {
        Column("number", "Annotator", Kind.ID): [row.number for row in rows],
        Column("judgments", "Judgments", Kind.COUNT): [row.judgments for row in rows],
        Column("outputs", "Outputs", Kind.COUNT): [row.outputs or None for row in rows],
        Column("mean", "Mean", Kind.NUMBER, 3, missing=MISSING): [row.mean for row in rows],
        Column("deviation", "Deviation", Kind.NUMBER, 3, missing=MISSING): [row.deviation for row in rows],
        Column("shared", "Shared", Kind.COUNT): [row.shared or None for row in rows],
        Column("z", "z", Kind.NUMBER, 3, missing=MISSING): [row.z for row in rows],
        Column("seconds", "Seconds", Kind.NUMBER, 1, missing=MISSING): [row.seconds for row in rows],
    }
    there = {column: cells for column, cells in columns.items() if any(cell is not None for cell in cells)}
    notes = ["Seconds: the median of a judgment."] if any(row.seconds is not None for row in rows) else []
    if any(row.z is not None for row in rows):
        notes.insert(0, "z: mean difference from others on shared outputs, in standard deviations of all values.")
    return Table(list(there), list(zip(*there.values(), strict=True)), "Annotators", notes=notes)


def _judged_segments(shown: HumanScoresDetails, rows: Sequence[JudgedSegment]) -> Table:
    """For systems without scores: the number of judged segments and judgments of each."""
    counted: dict[str, list[int]] = {}
    for row in rows:
        counts = counted.setdefault(printable(row.system), [0, 0])
        counts[0] += 1
        counts[1] += row.n_judgments or 0
    columns = [
        Column("system", "System", Kind.NAME),
        Column("segments", "Segments", Kind.COUNT),
        Column("judgments", "Judgments", Kind.COUNT, missing=MISSING),
    ]
    cells = [[name, judged, count or None] for name, (judged, count) in counted.items()]
    notes = ["Systems have no scores: see --granularity segment.", *_notes(shown)]
    return Table(columns, cells, _heading(shown), notes=notes)


def _notes(shown: HumanScoresDetails) -> list[str]:
    notes = []
    if shown.test is not None and shown.systems:
        notes.append(
            "Range: possible ranks according to the tests. A line separates clusters (WMT's rule: "
            f"{shown.test}, p < 0.05)."
        )
    elif any(row.cluster for row in shown.systems):
        notes.append("A line separates clusters (WMT's rule, from the published numbers of wins).")
    method = _method(shown)
    notes.append(method[:1].upper() + method[1:] + ".")
    if shown.annotators:
        notes.append(number_of(shown.annotators, "annotator").capitalize() + _agreement(shown.agreement) + ".")
    if shown.reliability is not None and shown.reliability.alpha is not None:
        notes.append(
            f"Krippendorff's alpha {shown.reliability.alpha:.3f}, on {number_of(shown.reliability.outputs, 'output')} "
            "judged by several."
        )
    if shown.references:
        notes.append(f"Human translations: {_names(shown.references)}.")
    if shown.unknown:
        notes.append(f"Judged, but without a submission: {_names(shown.unknown)}.")
    if shown.not_judged:
        notes.append(f"Submitted, but not judged: {_names(shown.not_judged)}.")
    return notes


def _names(names: Sequence[str]) -> str:
    return listed([printable(name) for name in names])


def _agreement(agreement: AnnotatorAgreement | None) -> str:
    if agreement is None:
        return ", no pair of systems compared by two of them"
    kappa = "" if agreement.kappa is None else f" (kappa {agreement.kappa:.3f})"
    return (
        f"; two of them agree on a pair of systems in {100 * agreement.share:.1f} % of "
        f"{number_of(agreement.comparisons, 'comparison')}{kappa}"
    )
