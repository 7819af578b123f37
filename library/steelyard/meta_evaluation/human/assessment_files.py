"""Files of direct assessments: Appraise's export, tables with a header, WMT's JSON Lines of 2024 and 2025."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from steelyard.formats.input.given_files import files_under
from steelyard.formats.plain import read_lines
from steelyard.meta_evaluation.human.assessments import Assessment
from steelyard.meta_evaluation.human.cells import DOCUMENT, LARGEST, NUMBERED, Cells
from steelyard.meta_evaluation.human.kinds import ANNOTATOR, RATINGS, SCORE, SYSTEM, required
from steelyard.meta_evaluation.human.readers import JUDGED_ITEMS
from steelyard.meta_evaluation.human.table import TABLE_LIMITS, BadTable, read_table
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from steelyard.formats.plain import Text
    from steelyard.meta_evaluation.human.table import Table

ENDINGS = (".csv", ".tsv", ".jsonl")
"""Of the files that are looked for in a folder, .gz behind them or not."""

APPRAISE = (
    *("username", "system", "itemId", "itemType", "srcLang", "trgLang", "score", "docId", "isDocScore", "spans"),
    *("timeStart", "timeEnd"),
)
"""The columns of Appraise's export of ESA, which does not name them; one with batches has two more."""

LATEST = 1e12
"""Seconds since 1970 that an end may be."""

_PAIR = re.compile(r"[a-z]{2,3}(?:_[A-Za-z0-9]+)*-[a-z]{2,3}(?:_[A-Za-z0-9]+)*(?=[._]|$)")
_WAVE = re.compile(r"human(\d{1,3})")
_PARTS = "_#_"
_FILLERS = {"tutorial": "tutorials", "#incomplete": "fillers", "#dup": "repeated items", "#bad": "damaged texts"}
"""What names of systems and documents say of items that do not count."""


@dataclass(slots=True)
class AssessmentFiles:
    """Reads files of judgments, and counts what does not count."""

    assessments: list[Assessment] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def read(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Add what files, and folders of such files, hold; each file is a wave of its own.

        Parameters
        ----------
        paths : sequence of path

        Raises
        ------
        BadText
            Where a file cannot be read or is in no known format, naming file and line.
        """
        for wave, path in enumerate(_files(paths)):
            text = read_lines(path, limits=TABLE_LIMITS)
            left_out: Counter[str] = Counter()
            if text.bytes.lstrip().startswith(b"{"):
                found = list(_read_json(text, wave, left_out))
            else:
                table = read_table(text.bytes, name=text.name, columns=_columns_of_appraise)
                found = list(_read_table(table, wave, left_out))
            self.assessments += _named_by_file(found, text.name)
            if left_out:
                each = [f"{count:,} of {what}" for what, count in left_out.items()]
                self.notices.append(f"{text.name}: judgments left out: {listed(each)}.")


def read_domains(paths: Iterable[str | os.PathLike[str]], pairs: Iterable[str]) -> dict[str, dict[str, str]]:
    """The domains of documents, from lists of documents.

    Parameters
    ----------
    paths : iterable of path
        A file has a line for each segment, with its domain and document, a tab between them, or a header that names
        them. One file holds for all pairs; several are told apart by their names, such as `en-cs.docs`.
    pairs : iterable of str
        Those that are judged.

    Returns
    -------
    dict of str to dict of str to str
        By pair ("" for all) and document; the domain of line N, counted from 0, is that of `#N`.

    Raises
    ------
    BadText
        Where a file cannot be read, or a document is in two domains.
    """
    files = list(paths)
    found = {}
    for path in files:
        name = PurePath(path).name
        pair = next((each for each in pairs if each and name.startswith(each)), "") if len(files) > 1 else ""
        if len(files) > 1 and not pair:
            raise BadTable(f"{path}: its name begins with none of the language pairs that were judged.")
        found[pair] = _domains(path)
    return found


def _domains(path: str | os.PathLike[str]) -> dict[str, str]:
    text = read_lines(path, limits=TABLE_LIMITS)
    rows = [line.decode().split("\t") for line in text.lines()]
    at_domain, at_document, first = 0, 1, 0
    folded = [cell.replace("_", "").casefold() for cell in rows[0]] if rows else []
    names = [name for name in DOCUMENT if name in folded]
    if "domain" in folded and names:
        at_domain, at_document, first = folded.index("domain"), folded.index(names[0]), 1
    elif rows and rows[0][0].casefold() == "canary":
        first = 1
    found: dict[str, str] = {}
    for number, row in enumerate(rows[first:]):
        if len(row) <= max(at_domain, at_document):
            raise BadTable(
                f"{text.name}, line {number + first + 1}: needs a domain and a document, a tab between them."
            )
        domain, document = row[at_domain], row[at_document]
        if found.setdefault(document, domain) != domain:
            raise BadTable(
                f"{text.name}, line {number + first + 1}: document {quoted(document)} is in the domains "
                f"{quoted(found[document])} and {quoted(domain)}."
            )
        found[f"#{number}"] = domain
    return found


def _files(paths: Sequence[str | os.PathLike[str]]) -> Iterator[str | os.PathLike[str]]:
    for path in paths:
        if str(path) == "-" or not Path(path).is_dir():
            yield path
            continue
        found = [each for each in files_under(Path(path)) if each.name.removesuffix(".gz").endswith(ENDINGS)]
        if not found:
            raise BadTable(f"{path}: holds no files of judgments ({', '.join(ENDINGS)}).")
        yield from found


def _columns_of_appraise(first: bytes) -> Sequence[str]:
    try:
        cells = next(csv.reader([first.decode()]))
    except (csv.Error, StopIteration):
        return ()
    more = len(cells) - len(APPRAISE)
    if more not in (0, 2) or cells[3] not in ("TGT", "BAD", "REF", "CHK", "SRC"):
        return ()
    return (*APPRAISE, *("batchNo", "rowId")[:more])


def _read_table(table: Table, wave: int, left_out: Counter[str]) -> Iterator[Assessment]:
    """A row for each judgment."""
    cells = Cells(table)
    at_system, at_score = required(table, RATINGS, *SYSTEM), required(table, RATINGS, *SCORE)
    at_segment = required(table, RATINGS, *NUMBERED, "itemid", "lineid", "segmentid")
    numbered = next((NUMBERED[name] for name in NUMBERED if name in table.columns), 1)
    columns = table.columns
    at_document, at_annotator = table.column(*DOCUMENT), table.column(*ANNOTATOR)
    at_end, at_type, at_domain = columns.get("timeend"), columns.get("itemtype"), columns.get("domain")
    at_pair, source, target = table.column("pair", "lp", "langs"), columns.get("srclang"), columns.get("trglang")

    def cell(row: Sequence[str], column: int | None) -> str:
        return "" if column is None else row[column]

    for line, row in table.rows():
        system, document = row[at_system], cell(row, at_document)
        if reason := _does_not_count(system, document, cell(row, at_type)):
            left_out[reason] += 1
            continue
        named = cells.name(system, line, "a system")
        score = cells.number(row[at_score], line, "score")
        end = cells.number(row[at_end], line, "end", LATEST) if at_end is not None else 0.0
        segment, pair, domain = row[at_segment], cell(row, at_pair), cell(row, at_domain)
        if source is not None and target is not None:
            pair = f"{row[source]}-{row[target]}"
        if _PARTS in segment:
            pair, domain, document, segment = _parts(segment, f"{table.name}, line {line}")
        elif not document and segment.isdecimal():
            segment = str(int(segment) - numbered)
        if named is not None and score is not None and end is not None:
            yield Assessment(
                pair, named, document, segment, domain, cell(row, at_annotator), wave, score, end, table.name
            )
    cells.findings.raise_if_any()


def _read_json(text: Text, wave: int, left_out: Counter[str]) -> Iterator[Assessment]:
    """WMT's judgments: a line for each segment with the scores of all systems, or for each judgment."""
    for number, line in enumerate(text.lines(), 1):
        if not line.strip():
            continue
        where = f"{text.name}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTable(f"{where}: is not JSON ({error}). Write one JSON object a line.") from error
        if not isinstance(found, dict) or not isinstance(found.get("doc_id"), str):
            raise BadTable(f'{where}: must be a JSON object with a "doc_id".')
        if "esa_score" in found:
            yield _flat(found, wave, where, text.name)
            continue
        pair, domain, document, segment = _parts(found["doc_id"], where)
        scores = found.get("scores")
        if not isinstance(scores, dict):
            raise BadTable(f'{where}: "scores" must hold the scores of each system.')
        for system, of_system in scores.items():
            for own_wave, annotator, score in _of_system(of_system, where, left_out):
                # Numbered apart from those of other files.
                at = wave + (own_wave << 32)
                yield Assessment(pair, system, document, segment, domain, annotator, at, score, 0.0, text.name)


def _of_system(found: object, where: str, left_out: Counter[str]) -> Iterator[tuple[int, str, float]]:
    """Wave, annotator and score of each judgment: a list in 2024, `human1`, `human2` ... in 2025."""
    if isinstance(found, list):
        for wave, each in enumerate(found, 1):
            if not isinstance(each, dict):
                raise BadTable(f"{where}: a judgment must be an object with a score.")
            protocol = str(each.get("protocol") or "ESA")
            if not protocol.upper().startswith("ESA"):
                left_out[f"the protocol {protocol}"] += 1
            elif (score := _score(each.get("score"), where)) is not None:
                yield wave, str(each.get("annotator") or ""), score
        return
    if not isinstance(found, dict):
        raise BadTable(f"{where}: the judgments of a system must be a list or an object.")
    for name, value in found.items():
        if (match := _WAVE.fullmatch(name)) and (score := _score(value, where)) is not None:
            yield int(match[1]), str(found.get(f"annotator{match[1]}") or ""), score


def _flat(found: Mapping[str, Any], wave: int, where: str, file: str) -> Assessment:
    system, score = found.get("system"), _score(found["esa_score"], where)
    if not isinstance(system, str) or not system or score is None:
        raise BadTable(f'{where}: needs a "system" and an "esa_score".')
    times = found.get("times")
    ends = [each for each in times if isinstance(each, int | float)] if isinstance(times, list) else []
    return Assessment(
        str(found.get("langs") or ""), system, found["doc_id"], str(found.get("line_id", "")),
        str(found.get("domain") or ""), str(found.get("annotator") or ""), wave, score,
        float(max(ends, default=0.0)), file,
    )  # fmt: skip


def _score(value: object, where: str) -> float | None:
    """A score, also one written as a text; None for null and NaN."""
    if value is None:
        return None
    try:
        score = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.inf
    except (ValueError, OverflowError):
        score = math.inf
    if math.isnan(score):
        return None
    if abs(score) > LARGEST:
        raise BadTable(f"{where}: {quoted(str(value))} is no score. Write a number, or null.")
    return score


def _parts(identifier: str, where: str) -> tuple[str, str, str, str]:
    """Pair, domain, document and segment of `en-cs_#_news_#_NAME_#_0`."""
    parts = identifier.split(_PARTS)
    if len(parts) != 4:
        raise BadTable(
            f"{where}: {quoted(identifier)} is no id of a segment. It must be PAIR_#_DOMAIN_#_DOCUMENT_#_SEGMENT."
        )
    return parts[0], parts[1], parts[2], parts[3]


def _does_not_count(system: str, document: str, item_type: str) -> str | None:
    if item_type and item_type != JUDGED_ITEMS:
        return "damaged texts" if item_type == "BAD" else f"type {item_type}"
    return next((what for mark, what in _FILLERS.items() if mark in system or mark in document), None)


def _named_by_file(found: Sequence[Assessment], name: str) -> Sequence[Assessment]:
    """With the pair that the file is called by, as in `en-cs.esa.csv`, where it holds one pair."""
    match = _PAIR.match(PurePath(name).name)
    if match is None or len({each.pair for each in found}) != 1:
        return found
    return [each._replace(pair=match[0]) for each in found]
