"""Pearmut's export: a log of what annotators gave, to which lines are only ever added."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment
from steelyard.meta_evaluation.human.assessment_formats.found import ANY_SCALE, annotator_name, finite, system_name
from steelyard.meta_evaluation.human.assessment_formats.json_lines import objects_of_lines
from steelyard.meta_evaluation.human.assessment_formats.penalties import penalty
from steelyard.meta_evaluation.human.assessment_formats.spans import in_code_points, read_spans
from steelyard.meta_evaluation.human.cells import OF_HUNDRED
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.meta_evaluation.human.assessment_formats.found import Found

RESET = "__RESET__"
_SPECIAL = ("welcome_", "random_", "goodbye_")
_TUTORIAL = "_#_tutorial_#_"
_ATTENTION = "attention_check_"
_SEPARATORS = ("_###_", "_#_")


@dataclass(frozen=True)
class _Line:
    """One document by one annotator."""

    where: str
    user: str
    line: Mapping[str, Any]


@dataclass
class _Campaign:
    """What counts of one campaign's log."""

    pair: str
    lines: dict[tuple[str, str], _Line] = field(default_factory=dict)
    """The last of each annotator and document."""


def is_pearmut(head: bytes) -> bool:
    """Whether a file is an export, or a campaign's log.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    bool
    """
    return head.lstrip().startswith(b"{") and b'"annotation"' in head and (b'"user_id"' in head or b'"item"' in head)


def assessments_of_pearmut(found: Found) -> Iterator[Assessment]:
    """The judgments of segments: the last of each annotator, without those that were reset and without checks.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment

    Raises
    ------
    BadTable
        For what is no export of Pearmut.
    """
    for campaign in _campaigns(found):
        lines = list(campaign.lines.values())
        by_errors = _by_errors(lines)
        models: dict[str, None] = {}
        shown: list[int] = []
        for each in lines:
            for item, of_item in _items(found, each):
                models.update(dict.fromkeys(of_item))
                shown.append(len(of_item))
                yield from _of_item(found, campaign.pair, each, item, of_item, by_errors=by_errors)
        fewer = sum(count < len(models) for count in shown)
        if fewer:
            found.notices.append(
                f"{found.name}: {fewer:,} of {number_of(len(shown), 'judged segment')} show only some of the "
                f"{len(models)} systems. If they were chosen by their scores so far, the others lack judgments not at "
                "random."
            )


def _campaigns(found: Found) -> list[_Campaign]:
    """By the campaigns of the file; a log holds one, that the file is called by."""
    campaigns: dict[str, _Campaign] = {}
    replaced = 0
    for where, called, line in _lines(found):
        campaign = campaigns.setdefault(called, _Campaign(_pair(called)))
        user = annotator_name(line.get("user_id"), where)
        if line.get("annotation") == RESET:
            gone = [key for key in campaign.lines if key[0] == user]
            found.left_out["annotators who started again"] += sum(_cells(campaign.lines.pop(key).line) for key in gone)
            continue
        item = str(line.get("item_i", ""))
        if item.startswith(_SPECIAL):
            found.left_out["welcome, random and goodbye pages"] += _cells(line)
            continue
        if not isinstance(line.get("item"), list) or not isinstance(line.get("annotation"), list):
            raise BadTable(f'{where}: needs an "item" and an "annotation", both lists of segments.')
        replaced += campaign.lines.pop((user, item), None) is not None
        campaign.lines[user, item] = _Line(where, user, line)
    if replaced:
        found.left_out["documents that were edited again"] += replaced
    found.left_out = type(found.left_out)({what: count for what, count in found.left_out.items() if count})
    return list(campaigns.values())


def _lines(found: Found) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each line with its campaign; "" for a log."""
    for where, parsed in objects_of_lines(found):
        if "annotation" in parsed:
            yield where, "", parsed
            continue
        for called, lines in parsed.items():
            if not isinstance(lines, list) or not all(isinstance(each, dict) for each in lines):
                raise BadTable(f"{where}: the campaign {called[:100]!r} must be a list of annotations.")
            for number, line in enumerate(lines, 1):
                yield f"{where}, annotation {number} of {called[:100]!r}", called, line


def _pair(campaign: str) -> str:
    """The pair that a campaign is called by, as in `eng_Latn---ces_Latn v3`."""
    words = campaign.split()
    return words[0] if words and "---" in words[0] else ""


def _cells(line: Mapping[str, Any]) -> int:
    annotation = line.get("annotation")
    if not isinstance(annotation, list):
        return 1
    return sum(len(each) if isinstance(each, dict) else 1 for each in annotation)


def _by_errors(lines: Sequence[_Line]) -> bool:
    """Whether annotators gave no scores, but marked errors, as in MQM."""
    marked = False
    for each in lines:
        for of_item in each.line["annotation"]:
            for given in of_item.values() if isinstance(of_item, dict) else ():
                if isinstance(given, dict):
                    if _given_score(given) is not None:
                        return False
                    marked = marked or bool(given.get("error_spans"))
    return marked


def _items(found: Found, each: _Line) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The segments that count, with what was given to each system."""
    items, annotation = each.line["item"], each.line["annotation"]
    if len(items) != len(annotation):
        raise BadTable(f"{each.where}: has {len(items)} segments, but {len(annotation)} annotations.")
    for item, of_item in zip(items, annotation, strict=True):
        identifier = item.get("item_id") if isinstance(item, dict) else None
        if not isinstance(identifier, str) or not isinstance(of_item, dict):
            found.left_out["forms and segments without an id"] += 1
        elif identifier.startswith(_ATTENTION):
            found.left_out["attention checks"] += len(of_item)
        elif _TUTORIAL in identifier:
            found.left_out["tutorials"] += len(of_item)
        else:
            yield item, of_item


def _of_item(
    found: Found, pair: str, each: _Line, item: Mapping[str, Any], of_item: Mapping[str, Any], *, by_errors: bool
) -> Iterator[Assessment]:
    texts = item.get("tgt")
    if not isinstance(texts, dict):
        raise BadTable(f'{each.where}: a segment needs "tgt", the translation of each system.')
    domain, document, segment = _place(item["item_id"], str(each.line.get("item_i", "")))
    times = [at for action in each.line.get("actions") or () if isinstance(action, dict) for at in [action.get("time")]]
    known = [moment for at in times if (moment := finite(at)) is not None]
    cells = _cells(each.line)
    seconds = (max(known) - min(known)) / cells if len(known) > 1 and cells else None
    for system, given in of_item.items():
        if given is None:
            continue
        text = texts.get(system)
        if not isinstance(given, dict) or not isinstance(text, str):
            raise BadTable(f"{each.where}: {system[:100]!r} was judged without a translation of it.")
        spans = read_spans(given.get("error_spans"), each.where)
        spans = in_code_points(spans, text, trimmed=False, behind_is_missing=True)
        # Sliders of the organisers have scales of their own.
        scale = ANY_SCALE if given.get("score") is None else OF_HUNDRED
        score = penalty(spans, each.where) if by_errors else found.score(_given_score(given), each.where, scale)
        if score is None:
            found.left_out["segments that were skipped"] += 1
            continue
        yield Assessment(
            pair, system_name(system, each.where), document, segment, domain, each.user, found.wave, score,
            max(known, default=0.0), found.name, spans, seconds, text, by_errors,
        )  # fmt: skip


def _given_score(given: Mapping[str, Any]) -> object:
    """The score, or the mean of the sliders that were asked for instead."""
    sliders = given.get("sliders")
    if given.get("score") is None and isinstance(sliders, dict) and sliders:
        values = list(sliders.values())
        if all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
            try:
                return math.fsum(values) / len(values)
            except (OverflowError, ValueError):
                return math.inf  # beyond all floats, which is no score
    return given.get("score")


def _place(identifier: str, document: str) -> tuple[str, str, str]:
    """Domain, document and segment of `news_###_NAME_###_0`, or of what was written instead."""
    for separator in _SEPARATORS:
        parts = identifier.split(separator)
        if len(parts) > 1:
            domain = parts[0] if len(parts) > 2 else ""
            return domain, separator.join(parts[1:-1] if domain else parts[:-1]), parts[-1]
    return "", document, identifier
