"""WMT's judgments in JSON Lines, and those of mt-metrics-eval that stand alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from steelyard.meta_evaluation.human.assessment_formats.assessment import CODE_POINTS, TRIMMED_UTF16, Assessment
from steelyard.meta_evaluation.human.assessment_formats.found import annotator_name, finite, parts_of, system_name
from steelyard.meta_evaluation.human.assessment_formats.mt_metrics_eval import rated_errors, rated_score
from steelyard.meta_evaluation.human.assessment_formats.spans import in_code_points, read_spans
from steelyard.meta_evaluation.human.cells import LARGEST, OF_HUNDRED
from steelyard.meta_evaluation.human.table import BadTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steelyard.meta_evaluation.human.assessment_formats.assessment import ErrorSpan
    from steelyard.meta_evaluation.human.assessment_formats.found import Found

_WAVE = re.compile(r"human(\d{1,3})")


def objects_of_lines(found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON object of each line; empty lines are passed over.

    Parameters
    ----------
    found : Found

    Yields
    ------
    where : str
    object : dict

    Raises
    ------
    BadTable
        For anything else.
    """
    for number, line in enumerate(found.text.lines(), 1):
        if not line.strip():
            continue
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTable(f"{found.at(number)}: is not JSON ({error}). Write one JSON object a line.") from error
        if not isinstance(parsed, dict):
            raise BadTable(f"{found.at(number)}: must be a JSON object.")
        yield found.at(number), parsed


def assessments_of_lines(found: Found) -> Iterator[Assessment]:
    """WMT's judgments: a line for each segment with the scores of all systems, or for each judgment.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment

    Raises
    ------
    BadTable
        For anything else.
    """
    for where, line in objects_of_lines(found):
        if "errors" in line and "system_id" in line:
            yield _rated(found, line, where)
            continue
        if not isinstance(line.get("doc_id"), str):
            raise BadTable(f'{where}: must be a JSON object with a "doc_id".')
        if "esa_score" in line:
            yield _flat(found, line, where)
            continue
        pair, domain, document, segment = parts_of(line["doc_id"], where)
        scores, texts = line.get("scores"), line.get("tgt_text")
        if not isinstance(scores, dict):
            raise BadTable(f'{where}: "scores" must hold the scores of each system.')
        for system, of_system in scores.items():
            text = texts.get(system) if isinstance(texts, dict) else None
            text = text if isinstance(text, str) else None
            for each in _of_system(found, of_system, where):
                # Numbered apart from those of other files.
                wave, annotator, score, spans, seconds = each
                converted, units = _converted(spans, text, where)
                yield Assessment(
                    pair, system_name(system, where), document, segment, domain, annotator, found.wave + (wave << 32),
                    score, 0.0, found.name, converted, seconds, text, units=units,
                )  # fmt: skip


def _of_system(
    found: Found, judged: object, where: str
) -> Iterator[tuple[int, str, float, tuple[ErrorSpan, ...], float | None]]:
    """Wave, annotator, score, spans and seconds of each judgment: a list in 2024, `human1`, `human2` ... in 2025."""
    if isinstance(judged, list):
        for wave, each in enumerate(judged, 1):
            if not isinstance(each, dict):
                raise BadTable(f"{where}: a judgment must be an object with a score.")
            protocol = str(each.get("protocol") or "ESA")
            if not protocol.upper().startswith("ESA"):
                found.left_out[f"the protocol {protocol}"] += 1
            elif (score := found.score(each.get("score"), where, _scale(each.get("protocol")))) is not None:
                annotator = annotator_name(each.get("annotator"), where)
                yield wave, annotator, score, read_spans(each.get("errors"), where), _taken(each.get("times"))
        return
    if not isinstance(judged, dict):
        raise BadTable(f"{where}: the judgments of a system must be a list or an object.")
    for name, value in judged.items():
        if (match := _WAVE.fullmatch(name)) and (score := found.score(value, where)) is not None:
            annotator = annotator_name(judged.get(f"annotator{match[1]}"), where)
            yield int(match[1]), annotator, score, read_spans(judged.get(f"errors{match[1]}"), where), None


def _scale(protocol: object) -> tuple[float, float]:
    """Without a protocol a list may hold MQM's scores, too, as WMT25's do: minus the weights of errors."""
    low, high = OF_HUNDRED
    return (low if protocol else -LARGEST), high


def _flat(found: Found, line: Mapping[str, Any], where: str) -> Assessment:
    system = line.get("system")
    # The dump writes scores as texts.
    written = found.written
    score = found.score(line["esa_score"], where)
    found.written = written
    if not isinstance(system, str) or not system or score is None:
        raise BadTable(f'{where}: needs a "system" and an "esa_score".')
    times = line.get("times")
    ends = [end for each in times if (end := finite(each)) is not None] if isinstance(times, list) else []
    text = line["tgt"] if isinstance(line.get("tgt"), str) else None
    spans, units = _converted(read_spans(line.get("esa_spans"), where), text, where)
    return Assessment(
        str(line.get("langs") or ""), system_name(system, where), line["doc_id"], str(line.get("line_id", "")),
        str(line.get("domain") or ""), annotator_name(line.get("annotator"), where), found.wave, score,
        max(ends, default=0.0), found.name, spans, _taken(times), text, units=units,
    )  # fmt: skip


def _rated(found: Found, line: Mapping[str, Any], where: str) -> Assessment:
    """A line of mt-metrics-eval's ratings: positions are those of code points, ends are exclusive."""
    text = line["hypothesis"] if isinstance(line.get("hypothesis"), str) else None
    spans = rated_errors(line["errors"], where)
    pair = "-".join(str(line[key]) for key in ("src_lang", "tgt_lang") if line.get(key))
    return Assessment(
        pair if "-" in pair else "", system_name(line["system_id"], where), str(line.get("document_id") or ""),
        str(line.get("segment_id", "")), "", annotator_name(line.get("rater_id"), where), found.wave,
        rated_score(line["errors"], spans, where), 0.0, found.name, spans, None, text, True,
    )  # fmt: skip


def _converted(spans: tuple[ErrorSpan, ...], text: str | None, where: str) -> tuple[tuple[ErrorSpan, ...], str]:
    if text is None or not spans:
        return spans, TRIMMED_UTF16 if spans else CODE_POINTS
    try:
        return in_code_points(spans, text), CODE_POINTS
    except BadTable as error:
        raise BadTable(f"{where}: {error}") from error


def _taken(times: object) -> float | None:
    """The seconds between two times."""
    if not isinstance(times, list) or len(times) != 2:
        return None
    start, end = map(finite, times)
    return max(end - start, 0.0) if start is not None and end is not None else None
