"""Human judgments as files of mt-metrics-eval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human_ranking import numbered_annotators
from campaigns.exports.names import GivenNames, word
from campaigns.human_ranking.official import submissions_of_judged
from models.corpus.judgments import list_judgments, read_segments, read_spans, read_systems
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.exports.pair import Pair
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import SpanRow, StoredJudgments

NONE = "None"
"""Its word for a score that is missing."""


@dataclass
class HumanFiles:
    """The files of all judgments of a pair, each in its newest version."""

    files: list[tuple[str, list[bytes]]] = field(default_factory=list)
    described: dict[str, str] = field(default_factory=dict)
    """Name in the folder -> NAME@VERSION."""
    references: list[str] = field(default_factory=list)
    """Those that were judged: they are written among the system outputs, too."""
    left_out: list[str] = field(default_factory=list)


def human_files(connection: Connection, access: CampaignAccess, pair: Pair) -> HumanFiles:
    """Return `human-scores/PAIR.NAME.LEVEL.score` of segments and systems, and ratings where errors were marked.

    Annotators are numbered: their names leave the database nowhere.
    """
    found, names = HumanFiles(), GivenNames()
    called = _called(connection, access, pair)
    newest: dict[str, StoredJudgments] = {}
    for each in list_judgments(connection, access.campaign_id, pair.test_set.id):
        newest.setdefault(each.name, each)
    for stored in newest.values():
        name = names.give(word(stored.name))
        segments: dict[str, dict[int, float]] = {}
        for row in read_segments(connection, stored.id):
            segments.setdefault(row.system, {})[row.segment] = row.score
        systems = {row.system: row.score for row in read_systems(connection, stored.id)}
        judged = [each for each in {**systems, **segments} if each in called]
        if unknown := sorted({*systems, *segments} - {*judged}):
            shown = listed(unknown) if access.sees_names else number_of(len(unknown), "system")
            found.left_out.append(f"{stored.title}: judged, but without an output that you may see: {shown}.")
        if not judged:
            continue
        found.described[name] = stored.title
        found.references += [
            called[each] for each in judged if called[each] in pair.references and called[each] not in found.references
        ]
        place = f"human-scores/{pair.name}.{name}"
        if segments:
            units = range(pair.test_set.segments)
            found.files.append(
                (f"{place}.seg.score", [_lines(called[each], segments.get(each, {}), units) for each in judged])
            )
        if systems:
            found.files.append(
                (
                    f"{place}.sys.score",
                    [_lines(called[each], {0: systems[each]}, [0]) for each in judged if each in systems],
                )
            )
        found.files += _ratings(connection, stored, place, {each: called[each] for each in judged}, segments, pair)
    return found


def _called(connection: Connection, access: CampaignAccess, pair: Pair) -> dict[str, str]:
    """What judgments call a system -> its name in the folder; of several runs, the one that came in last."""
    here = {submission: name for name, (_, submission, _) in pair.systems.items()}
    found = {}
    for judged, submissions in submissions_of_judged(connection, access.campaign_id, pair.test_set.id).items():
        own = [here[each] for each in submissions if each in here]
        if own:
            found[judged] = own[-1]
    for name, (label, _) in pair.references.items():
        for spelled in (label, name, f"HUMAN-{label}", f"ref-{label}", f"ref{label}", f"Human-{label}.0"):
            found.setdefault(spelled, name)
    return found


def _lines(system: str, scores: Mapping[int, float], units: Sequence[int] | range) -> bytes:
    return "".join(f"{system}\t{scores.get(unit, NONE)!s}\n" for unit in units).encode()


def _ratings(
    connection: Connection,
    stored: StoredJudgments,
    place: str,
    called: Mapping[str, str],
    segments: Mapping[str, Mapping[int, float]],
    pair: Pair,
) -> list[tuple[str, list[bytes]]]:
    """The marked errors: as many files as somebody judged one segment, for a file has one rating of each."""
    spans: dict[tuple[str, int], dict[str, list[SpanRow]]] = {}
    rows = read_spans(connection, stored.id)
    annotators = numbered_annotators(each.annotator for each in rows)
    for each in rows:
        if each.system in called:
            spans.setdefault((each.system, each.segment), {}).setdefault(annotators[each.annotator], []).append(each)
    most = max((len(each) for each in spans.values()), default=0)
    files = []
    for number in range(most):
        lines = []
        for system, name in called.items():
            for segment in range(pair.test_set.segments):
                rated = sorted(spans.get((system, segment), {}).items())
                if number < len(rated):
                    annotator, errors = rated[number]
                    lines.append(f"{name}\t{_errors(errors)}\t{annotator.replace(' ', '')}\n")
                elif number == 0 and segment in segments.get(system, {}):
                    lines.append(f'{name}\t{{"errors": []}}\n')
                else:
                    lines.append(f"{name}\t{NONE}\n")
        called_apart = "" if most == 1 else f".{number + 1}"
        files.append((f"{place}{called_apart}.seg.rating", ["".join(lines).encode()]))
    return files


def _errors(spans: Sequence[SpanRow]) -> str:
    errors = [
        {
            "start": each.begins,
            "end": each.ends,
            "category": each.category or None,
            "severity": each.severity,
            "is_source_error": each.in_source,
        }
        for each in spans
    ]
    return json.dumps({"errors": errors}, ensure_ascii=False)
