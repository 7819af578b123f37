"""Scores in JSON: WMT's automatic scores, MetricX' predictions, COMET's `--to_json`."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.formats.scores.line_runs import ScoreLine, runs_of_lines
from steelyard.formats.scores.score_runs import (
    BadScores,
    Lines,
    ScoredDocument,
    ScoreRun,
    number,
    numbers,
)
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
    groups: dict[tuple[str, tuple[str, ...]], _Documents] = {}
    for at, line in _objects(text):
        pair, document = _text(line, "language_pair", text, at), _text(line, "document_id", text, at)
        scores = line.get("metric_scores")
        if not isinstance(scores, dict):
            raise BadScores(f'{text.name}, line {at}: "metric_scores" must hold a list of scores for each metric.')
        key = pair, tuple(scores)
        group = groups.get(key)
        if group is None:
            group = groups[key] = _Documents([], [], [])
        group.lines.append(at)
        group.names.append((str(line.get("domain") or ""), document))
        group.lists.append(tuple(scores.values()))
    # What is left is done for all lines of a pair and metric at once: a million scores take no step each.
    for (pair, metrics), group in groups.items():
        yield from _runs_of_lists(text.name, pair, metrics, system, group)


class _Documents(NamedTuple):
    """Lines of a language pair that have the same metrics: a document each."""

    lines: list[int]
    names: list[tuple[str, str]]
    """Domain and name."""
    lists: list[tuple[Any, ...]]
    """The scores by each metric."""


def _runs_of_lists(
    file: str, pair: str, metrics: tuple[str, ...], system: str, group: _Documents
) -> Iterator[ScoreRun]:
    sizes: list[int] | None = None
    columns = list(zip(*group.lists, strict=True))
    for column in columns:
        if set(map(type, column)) != {list} or sizes not in (None, found := list(map(len, column))):
            _refuse_lists(file, metrics, group)
        sizes = found
    documents = tuple(ScoredDocument(*name, size, None) for name, size in zip(group.names, sizes or (), strict=False))
    where = Lines(file, group.lines)
    for metric, column in zip(metrics, columns, strict=True):
        yield ScoreRun(
            pair, metric, system, documents, numbers(list(chain.from_iterable(column)), documents, where), where
        )


def _refuse_lists(file: str, metrics: tuple[str, ...], group: _Documents) -> None:
    """Name the first line with something else than lists of one length."""
    for at, lists in zip(group.lines, group.lists, strict=True):
        for metric, values in zip(metrics, lists, strict=True):
            if not isinstance(values, list):
                raise BadScores(f"{file}, line {at}: {printable(metric)} must be a list of scores, one a paragraph.")
        if len(set(map(len, lists))) > 1:
            counts = ", ".join(
                f"{printable(metric)} {len(values):,}" for metric, values in zip(metrics, lists, strict=True)
            )
            raise BadScores(f"{file}, line {at}: metrics have scores of different numbers of paragraphs: {counts}.")


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
        for at, line in _objects(text):
            yield ScoreLine(
                str(line.get("language_pair") or line.get("lp") or pair),
                METRICX,
                str(line.get("system_id") or system),
                str(line.get("doc_id") or ""),
                str(line.get("domain") or ""),
                "segment",
                str(line.get("segment_id", "")),
                number(line.get("prediction"), f"{text.name}, line {at}"),
                at,
            )

    yield from runs_of_lines(text.name, lines())


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
            documents = (ScoredDocument("", "", len(segments), None),)
            scores = numbers([each.get(name) for each in segments], documents, Lines(where))
            yield ScoreRun(pair, name, stem(path), documents, scores, Lines(where))


def _objects(text: Text) -> Iterator[tuple[int, dict[str, Any]]]:
    for at, line in enumerate(text.lines(), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise BadScores(f"{text.name}, line {at}: is not JSON ({error}). Write one JSON object a line.") from error
        if not isinstance(found, dict):
            raise BadScores(f"{text.name}, line {at}: must be a JSON object.")
        yield at, found


def _text(line: dict[str, Any], name: str, text: Text, at: int) -> str:
    found = line.get(name)
    if not isinstance(found, str):
        raise BadScores(f'{text.name}, line {at}: "{name}" must be there and be a text.')
    return found
