"""Scores in lines of columns: our own table, the metrics task's, and mt-metrics-eval's `.score` files."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from steelyard.formats.scores.json_scores import pair_of_path
from steelyard.formats.scores.line_runs import ScoreLine, runs_of_lines
from steelyard.formats.scores.score_runs import BadScores, ScoreRun
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard.formats.plain import Text

TABLE_COLUMNS = ("pair", "metric", "system", "domain", "document", "segment", "score")
"""Of our own table, in any order; `system`, `metric` and `score` must be there."""

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_NONE = frozenset({"", "none", "null", "nan", "n/a"})
_SCORE_LEVELS = {"seg": "segment", "doc": "document", "sys": "system"}
_SUBMISSION_COLUMNS = {9: "segment", 7: "system"}
_ALL = "all"


def is_table(head: bytes) -> bool:
    """Whether the first line names the columns of our own table.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    columns = _columns(head)
    return {"system", "metric", "score"} <= set(columns)


def table(text: Text) -> Iterator[ScoreRun]:
    """Our own table: columns with tabs between them; a score without a segment is that of a document, or of a system.

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
    names, at = _header(text, TABLE_COLUMNS)

    def lines() -> Iterator[ScoreLine]:
        for number, cells in _rows(text, len(names), after=1):
            cell = {name: cells[at[name]] if name in at else "" for name in TABLE_COLUMNS}
            level = "segment" if cell["segment"] else "document" if cell["document"] else "system"
            # A score of a document is a unit of its own, known by the document's name.
            segment, document = (cell["segment"], cell["document"]) if level == "segment" else (cell["document"], "")
            yield ScoreLine(
                cell["pair"], cell["metric"], cell["system"], document, cell["domain"], level, segment,
                _score(cell["score"], text, number), number,
            )  # fmt: skip

    yield from runs_of_lines(text.name, lines())


def is_metrics_task(head: bytes) -> bool:
    """Whether the first line names the columns of an answer to WMT's metrics task of 2025.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    return {"doc_id", "segment_id", "system_id", "overall"} <= set(_columns(head))


def metrics_task(text: Text) -> Iterator[ScoreRun]:
    """Answers to the metrics task of 2025: `overall` of segments, or of systems; challenge sets are left out.

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
    wanted = ("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "domain_name", "overall")
    names, at = _header(text, wanted)
    metric = PurePosixPath(text.name).parent.name or "overall"

    def lines() -> Iterator[ScoreLine]:
        for number, cells in _rows(text, len(names), after=1):
            cell = {name: cells[at[name]] if name in at else "" for name in wanted}
            if cell["set_id"] not in ("", "official"):
                continue
            pair = f"{cell['source_lang']}-{cell['target_lang']}"
            whole = cell["segment_id"] == _ALL
            document, segment = ("", "") if whole else (cell["doc_id"], cell["segment_id"])
            domain = "" if whole or cell["domain_name"] == "NaN" else cell["domain_name"]
            score = _score(cell["overall"], text, number)
            level = "system" if whole else "segment"
            yield ScoreLine(pair, metric, cell["system_id"], document, domain, level, segment, score, number)

    yield from runs_of_lines(text.name, lines())


def is_submission(head: bytes) -> bool:
    """Whether lines have the nine or seven columns of the metrics task until 2023.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    rows = [line.split(b"\t") for line in head.splitlines()[:2]]
    return bool(rows) and all(
        len(row) in _SUBMISSION_COLUMNS and _NUMBER.fullmatch(row[-1].decode(errors="replace")) for row in rows
    )


def submission(text: Text) -> Iterator[ScoreRun]:
    """Answers to the metrics task until 2023, without a header.

    Columns are metric, pair, test set, domain, document, reference, system, segment and score; those of systems lack
    document and segment.

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

    def lines() -> Iterator[ScoreLine]:
        for number, cells in _rows(text, None):
            if len(cells) not in _SUBMISSION_COLUMNS:
                raise BadScores(
                    f"{text.name}, line {number}: {number_of(len(cells), 'column')}, not 9 (segments) or 7 (systems)."
                )
            level, score = _SUBMISSION_COLUMNS[len(cells)], _score(cells[-1], text, number)
            if level == "segment":
                metric, pair, _, domain, document, _, system, segment, _ = cells
                yield ScoreLine(pair, metric, system, document, domain, level, segment, score, number)
            elif cells[3] == _ALL:
                metric, pair, _, _, _, system, _ = cells
                yield ScoreLine(pair, metric, system, "", "", level, "", score, number)

    yield from runs_of_lines(text.name, lines())


def is_score_file(head: bytes) -> bool:
    """Whether lines are a system and a score, as in mt-metrics-eval.

    Parameters
    ----------
    head : bytes
        The first 64 KiB.

    Returns
    -------
    bool
    """
    rows = [line.split() for line in head.splitlines()[:20] if line.strip()]
    return bool(rows) and all(len(row) == 2 and _is_score(row[1].decode(errors="replace")) for row in rows)


def score_file(text: Text) -> Iterator[ScoreRun]:
    """mt-metrics-eval's `PAIR/METRIC-REF.seg.score` (`doc`, `sys`), or its `PAIR.NAME.seg.score` of people.

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
    name = PurePosixPath(text.name).name.removesuffix(".gz").removesuffix(".score")
    name, _, ending = name.rpartition(".")
    if ending not in _SCORE_LEVELS:
        raise BadScores(
            f"{text.name}: two columns, system and score, but the name does not say of what: call it "
            "PAIR/METRIC-REFERENCE.seg.score, .doc.score or .sys.score, as mt-metrics-eval does."
        )
    pair = pair_of_path(text.name)
    if not pair:
        pair, _, name = name.partition(".")

    def lines() -> Iterator[ScoreLine]:
        for number, cells in _rows(text, 2, cut=str.split):
            yield ScoreLine(
                pair, name, cells[0], "", "", _SCORE_LEVELS[ending], "", _score(cells[1], text, number), number
            )

    yield from runs_of_lines(text.name, lines())


def _columns(head: bytes) -> list[str]:
    return head.partition(b"\n")[0].decode(errors="replace").rstrip("\r").split("\t")


def _header(text: Text, known: tuple[str, ...]) -> tuple[list[str], dict[str, int]]:
    names = next(iter(text.lines())).decode().split("\t")
    twice = [name for name in known if names.count(name) > 1]
    if twice:
        raise BadScores(f"{text.name}, line 1: the column {listed(twice)} is there twice.")
    return names, {name: names.index(name) for name in known if name in names}


def _rows(
    text: Text, columns: int | None, *, after: int = 0, cut: Callable[[str], list[str]] = lambda line: line.split("\t")
) -> Iterator[tuple[int, list[str]]]:
    for at, line in enumerate(text.lines(), 1):
        if at <= after or not line.strip():
            continue
        cells = cut(line.decode())
        if columns is not None and len(cells) != columns:
            raise BadScores(
                f"{text.name}, line {at}: {number_of(len(cells), 'column')}, not {columns}. Names must not hold blanks "
                "or tabs."
            )
        yield at, cells


def _is_score(text: str) -> bool:
    return text.lower() in _NONE or _NUMBER.fullmatch(text) is not None


def _score(cell: str, text: Text, line: int) -> float:
    if _NUMBER.fullmatch(cell):
        return float(cell) + 0.0
    if cell.lower() in _NONE:
        return math.nan
    raise BadScores(
        f"{text.name}, line {line}: the score is {quoted(cell[:50])}. Give a number, or None where there is none."
    )
