"""Scores in JSON: WMT's automatic scores, MetricX' predictions, COMET's `--to_json`."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from steelyard.formats.scores.line_runs import ScoreLine, runs_of_lines
from steelyard.formats.scores.score_runs import BadScores, ScoreRun, number
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.formats.plain import Text

METRICX = "MetricX"
"""What the column of MetricX' predictions is called, which do not name it."""

_PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z0-9]+)*-{1,3}[a-z]{2,3}(?:_[A-Za-z0-9]+)*")
_NOT_SCORES = frozenset({"src", "mt", "ref", "errors"})


def pair_of_path(path: str) -> str:
    """The language pair that a folder of a path is called by, the innermost.

    Parameters
    ----------
    path : str

    Returns
    -------
    str
        Empty where none is.
    """
    parents = [part for part in PurePosixPath(path).parts[:-1] if _PAIR.fullmatch(part)]
    return parents[-1] if parents else ""


def stem(path: str) -> str:
    """A file's name without its last extension, and without .gz.

    Parameters
    ----------
    path : str

    Returns
    -------
    str
    """
    return PurePosixPath(path.removesuffix(".gz")).stem


def is_wmt_scores(head: bytes) -> bool:
    """Whether lines have "metric_scores" for documents.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    return head.lstrip().startswith(b"{") and b'"metric_scores"' in head


def wmt_scores(text: Text) -> Iterator[ScoreRun]:
    """WMT25's automatic scores: a line for each document, the file's name is the system's.

    Parameters
    ----------
    text : Text

    Yields
    ------
    ScoreRun

    Raises
    ------
    BadScores
        Naming the line.
    """
    system = stem(text.name)
    for where, line in _objects(text):
        pair, document = _text(line, "language_pair", where), _text(line, "document_id", where)
        domain = str(line.get("domain") or "")
        scores = line.get("metric_scores")
        if not isinstance(scores, dict):
            raise BadScores(f'{where}: "metric_scores" must hold a list of scores for each metric.')
        lists = {name: values for name, values in scores.items() if isinstance(values, list)}
        if len(set(map(len, lists.values()))) > 1:
            counts = ", ".join(f"{printable(name)} {len(values):,}" for name, values in lists.items())
            raise BadScores(f"{where}: metrics have scores of different numbers of paragraphs: {counts}.")
        for metric, values in scores.items():
            if not isinstance(values, list):
                raise BadScores(f"{where}: {printable(str(metric))} must be a list of scores, one a paragraph.")
            yield ScoreRun(
                pair, metric, system, document, domain, [number(each, where) for each in values], where=where
            )


def is_metricx(head: bytes) -> bool:
    """Whether lines have a "prediction".

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    first = head.lstrip().partition(b"\n")[0]
    return first.startswith(b"{") and b'"prediction"' in first


def metricx(text: Text) -> Iterator[ScoreRun]:
    """MetricX' output: its input's lines with a "prediction" each, where less is better.

    Parameters
    ----------
    text : Text

    Yields
    ------
    ScoreRun

    Raises
    ------
    BadScores
        Naming the line.
    """
    pair, system = pair_of_path(text.name), stem(text.name)

    def lines() -> Iterator[ScoreLine]:
        for where, line in _objects(text):
            yield ScoreLine(
                str(line.get("language_pair") or line.get("lp") or pair),
                METRICX,
                str(line.get("system_id") or system),
                str(line.get("doc_id") or ""),
                str(line.get("domain") or ""),
                "segment",
                str(line.get("segment_id", "")),
                number(line.get("prediction"), where),
                where,
            )

    yield from runs_of_lines(lines())


def is_comet(head: bytes) -> bool:
    """Whether a file is an object of lists with the fields that COMET writes.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    return re.match(rb'\s*\{\s*"[^"]*"\s*:\s*\[\s*\{', head) is not None and b'"mt"' in head


def comet(text: Text) -> Iterator[ScoreRun]:
    """COMET's `--to_json`: by path of the output, a list of segments with their scores by metric.

    Parameters
    ----------
    text : Text

    Yields
    ------
    ScoreRun

    Raises
    ------
    BadScores
        Naming the output.
    """
    try:
        found = json.loads(b"\n".join(text.lines()))
    except (ValueError, RecursionError) as error:
        raise BadScores(f"{text.name}: is not whole JSON ({error}). Let COMET write it again.") from error
    for path, segments in found.items():
        where = f"{text.name}, {printable(path[-100:])}"
        if not isinstance(segments, list) or not all(isinstance(each, dict) for each in segments):
            raise BadScores(f"{where}: must be a list of segments, each an object with its scores.")
        names = dict.fromkeys(
            name for each in segments for name, value in each.items()
            if name not in _NOT_SCORES and (value is None or isinstance(value, int | float))
        )  # fmt: skip
        if not names:
            raise BadScores(f"{where}: no segment has a score.")
        pair = pair_of_path(path) or pair_of_path(text.name)
        for name in names:
            scores = [number(each.get(name), where) for each in segments]
            yield ScoreRun(pair, name, stem(path), "", "", scores, where=where)


def _objects(text: Text) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, line in enumerate(text.lines(), 1):
        if not line.strip():
            continue
        where = f"{text.name}, line {at}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadScores(f"{where}: is not JSON ({error}). Write one JSON object a line.") from error
        if not isinstance(found, dict):
            raise BadScores(f"{where}: must be a JSON object.")
        yield where, found


def _text(line: dict[str, Any], name: str, where: str) -> str:
    found = line.get(name)
    if not isinstance(found, str):
        raise BadScores(f'{where}: "{name}" must be there and be a text.')
    return found
