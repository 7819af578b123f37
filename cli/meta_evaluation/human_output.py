"""Human judgments as text, JSON and TSV."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.tables.delimited import as_tsv
from steelyard.tables.text import aligned
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analysis.meta_evaluation.human import HumanScores
    from models.corpus.judgments import StoredJudgments
    from models.corpus.test_sets import StoredTestSet
    from steelyard.meta_evaluation.human.agreement import Agreement
    from steelyard.ranking.human_ranks import HumanRank

LIST_COLUMNS = ("test_set", "test_set_version", "name", "version", "kind", "method", "campaign")
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


@dataclass(frozen=True)
class Shown:
    """Judgments with everything that their output needs."""

    test_set: StoredTestSet
    human: HumanScores
    places: Mapping[str, HumanRank]
    submitted: frozenset[str]
    annotators: int
    """0 where only scores are stored."""
    agreement: Agreement | None
    shared: bool


def listing(there: Sequence[tuple[str, StoredTestSet, StoredJudgments]], form: str) -> str:
    """A list of judgments with their campaigns and test sets, in the format `form`."""
    if form == "json":
        return _json(
            [
                dict(zip(LIST_COLUMNS, (*_names(test_set, stored), dict(stored.method), campaign), strict=True))
                for campaign, test_set, stored in there
            ]
        )
    if form == "tsv":
        return as_tsv(
            LIST_COLUMNS,
            [[*_names(test_set, stored), _method(stored), campaign] for campaign, test_set, stored in there],
        )
    if not there:
        return "No human judgments yet. Import some: `steelyard human import FILE --test-set NAME`.\n"
    several = len({campaign for campaign, _, _ in there}) > 1
    table = [
        [*([campaign] if several else []), test_set.title, stored.title, stored.kind.value, _method(stored)]
        for campaign, test_set, stored in there
    ]
    return aligned([[*(["Campaign"] if several else []), "Test set", "Judgments", "Kind", "Method"], *table])


def _names(test_set: StoredTestSet, stored: StoredJudgments) -> list[Any]:
    return [test_set.name, test_set.version, stored.name, stored.version, stored.kind.value]


def _method(stored: StoredJudgments) -> str:
    """`standardised by annotator; scores of systems: means over segments`."""
    method, words = stored.method, []
    if "standardised" in method:
        words.append("standardised by annotator" if method["standardised"] else "not standardised")
    if "weights" in method:
        words.append("weights " + " ".join(f"{path}={weight:g}" for path, weight in sorted(method["weights"].items())))
    how = method.get("system_scores", "given")
    return "; ".join([*words, f"scores of systems: {SYSTEM_SCORES.get(how, how)}"])


def systems(shown: Shown, form: str, digits: int) -> str:
    """The systems, ranked."""
    if form == "json":
        return _json({**_head(shown), "systems": [_system(shown, name) for name in shown.human.rows]})
    if form == "tsv":
        rows = [[_system(shown, name)[column] for column in SYSTEM_COLUMNS] for name in shown.human.rows]
        return as_tsv(SYSTEM_COLUMNS, rows)
    lines = [_title(shown)]
    lines.append((_ranking(shown, digits) if shown.human.rows else _judged_segments(shown)).rstrip("\n"))
    return "\n".join([*lines, *_notes(shown)]) + "\n"


def segments(shown: Shown, form: str, digits: int) -> str:
    """The scores of segments, by system and segment."""
    rows = shown.human.segment_rows
    if form == "json":
        return _json({**_head(shown), "segments": [dict(zip(SEGMENT_COLUMNS, row, strict=True)) for row in rows]})
    if form == "tsv":
        return as_tsv(SEGMENT_COLUMNS, rows)
    table = [
        [printable(row.system), str(row.segment)]
        + [_number(cell, digits) for cell in (row.score, row.raw)]
        + [_count(row.judgments)]
        for row in rows
    ]
    return _title(shown) + "\n" + aligned([["System", "Segment", "Score", "Raw", "Judgments"], *table])


def _head(shown: Shown) -> dict[str, Any]:
    human, agreement = shown.human, shown.agreement
    told = None
    if agreement and agreement.comparisons:
        kappa = None if math.isnan(agreement.kappa) else agreement.kappa
        told = {"comparisons": agreement.comparisons, "share": agreement.share, "kappa": kappa}
    return {
        "test_set": shown.test_set.name,
        "test_set_version": shown.test_set.version,
        "name": human.name,
        "version": human.version,
        "kind": human.kind.value,
        "method": dict(human.method),
        "test": human.test(shared=shown.shared),
        "annotators": shown.annotators or None,
        "agreement": told,
    }


def _system(shown: Shown, name: str) -> dict[str, Any]:
    row, place = shown.human.rows[name], shown.places[name]
    first, last = place.cluster_ranks or (None, None)
    return {
        "system": name,
        "reference": shown.human.is_reference(name) and name not in shown.submitted,
        "submitted": name in shown.submitted,
        "rank": place.rank,
        "rank_low": place.low,
        "rank_high": place.high,
        "cluster": place.cluster,
        "cluster_first": first,
        "cluster_last": last,
        "wins": place.wins,
        "score": row.score,
        "raw": row.raw,
        "n_segments": row.segments,
        "n_judgments": row.judgments,
    }


def _title(shown: Shown) -> str:
    return f"{shown.human.title}: {shown.human.kind.value} of {shown.test_set.title}"


def _ranking(shown: Shown, digits: int) -> str:
    places = list(shown.places.values())
    ranges = any(place.low is not None for place in places)
    wins = any(place.wins is not None for place in places)
    rows = list(shown.human.rows.values())
    beside = {
        "Raw": any(row.raw is not None for row in rows),
        "Segments": any(row.segments is not None for row in rows),
        "Judgments": any(row.judgments is not None for row in rows),
    }
    table = [
        ["Rank", *(["Range"] if ranges else []), "System", "Score", *(["Wins"] if wins else [])]
        + [title for title, there in beside.items() if there]
    ]
    rules = []
    for number, (row, place) in enumerate(zip(rows, places, strict=True), 1):
        cells = {"Raw": _number(row.raw, digits), "Segments": _count(row.segments), "Judgments": _count(row.judgments)}
        table.append(
            [str(place.rank), *([_range(place)] if ranges else []), printable(row.system), _number(row.score, digits)]
            + ([_count(place.wins)] if wins else [])
            + [cells[title] for title, there in beside.items() if there]
        )
        if number < len(places) and places[number].cluster != place.cluster:
            rules.append(number)
    return aligned(table, rules)


def _judged_segments(shown: Shown) -> str:
    """For systems without scores: the number of judged segments and judgments of each."""
    rows: dict[str, list[int]] = {}
    for row in shown.human.segment_rows:
        counts = rows.setdefault(row.system, [0, 0])
        counts[0] += 1
        counts[1] += row.judgments or 0
    table = [[printable(name), _count(judged), _count(counts or None)] for name, (judged, counts) in rows.items()]
    return aligned([["System", "Segments", "Judgments"], *table]) + "Systems have no scores: see --level segment."


def _notes(shown: Shown) -> list[str]:
    human, notes = shown.human, []
    test = human.test(shared=shown.shared)
    if test is not None and human.rows:
        notes.append(
            f"Range: possible ranks according to the tests. A line separates clusters (WMT's rule: {test}, p < 0.05)."
        )
    elif any(place.cluster for place in shown.places.values()):
        notes.append("A line separates clusters (WMT's rule, from the published numbers of wins).")
    notes.append(_method(human.stored)[:1].upper() + _method(human.stored)[1:] + ".")
    if shown.annotators:
        notes.append(number_of(shown.annotators, "annotator").capitalize() + _agreement(shown.agreement) + ".")
    matched = human.matched(shown.submitted)
    if matched.references:
        notes.append(f"Human translations: {listed([printable(name) for name in matched.references])}.")
    if shown.submitted and matched.unknown:
        notes.append(f"Judged, but without a submission: {listed([printable(name) for name in matched.unknown])}.")
    if matched.not_judged:
        notes.append(f"Submitted, but not judged: {listed([printable(name) for name in matched.not_judged])}.")
    return notes


def _agreement(agreement: Agreement | None) -> str:
    if agreement is None or not agreement.comparisons:
        return ", no pair of systems compared by two of them"
    kappa = "" if math.isnan(agreement.kappa) else f" (kappa {agreement.kappa:.3f})"
    return (
        f"; two of them agree on a pair of systems in {100 * agreement.share:.1f} % of "
        f"{number_of(agreement.comparisons, 'comparison')}{kappa}"
    )


def _range(place: HumanRank) -> str:
    if place.low is None:
        return "-"
    return str(place.low) if place.low == place.high else f"{place.low}-{place.high}"


def _number(value: float | None, digits: int) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return "n/a" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def _count(value: int | None) -> str:
    return "n/a" if value is None else f"{value:,}"


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
