"""Reads the two small files that describe a campaign folder: `meta.json` and `docs.tsv`."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from steelyard.errors import BadText
from steelyard.formats.plain import read_lines
from steelyard.text.limits import TextLimits
from steelyard.text.spreadsheets import cells_of
from steelyard.text.wording import listed, number_of, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard.formats.plain import Text

META_LIMITS = TextLimits(file_bytes=1 << 20)
PARTED = ("source", "references", "systems")
Kind = TypeVar("Kind")
_LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*")


class BadCampaignFile(BadText):
    """A file that describes a campaign cannot be understood."""


class SegmentDocument(NamedTuple):
    """The document that a segment belongs to."""

    doc_id: str
    domain: str = ""
    """Empty where the table has none."""
    test_suite: str = ""
    """Name of the test suite that it belongs to; empty for the test set itself."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What `meta.json` says; None where it is silent."""

    name: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    variable_references: bool = False
    segments: int | None = None
    references: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    """By role (one of PARTED) which layer of its TectoMT documents, or zone of its Treex documents, is meant."""


def read_meta(path: Path) -> Meta:
    """Read `meta.json`; keys that are not known are passed over.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Meta

    Raises
    ------
    BadCampaignFile
        Naming line or key.
    """
    try:
        document = json.loads(
            read_lines(path, limits=META_LIMITS).bytes, object_pairs_hook=lambda pairs: _unique(path, pairs)
        )
    except json.JSONDecodeError as error:
        raise BadCampaignFile(
            f"{path}, line {error.lineno}, character {error.colno}: not JSON ({error.msg}). Correct it."
        ) from error
    except (RecursionError, ValueError) as error:
        raise BadCampaignFile(f"{path}: not usable as JSON ({error}). Correct it.") from error
    if not isinstance(document, dict):
        raise BadCampaignFile(f'{path}: must be a JSON object, like {{"source_language": "en"}}.')
    return Meta(
        name=_value(path, document, "name", str, "a text"),
        source_language=_language(path, document, "source_language"),
        target_language=_language(path, document, "target_language"),
        variable_references=bool(_value(path, document, "variable_references", bool, "true or false")),
        segments=_value(path, document, "segments", int, "a whole number"),
        references=_names(path, document, "references"),
        systems=_names(path, document, "systems"),
        parts=_parts(path, document),
    )


def read_documents(
    table: Text, segments: int
) -> tuple[tuple[SegmentDocument, ...], tuple[str, ...] | None, tuple[str, ...]]:
    """Read `docs.tsv`: the document of each segment.

    Columns are found by their names: `segment` (counted from 0), `doc_id`, and where there are `domain`, `test_suite`
    and `segment_id`, the id of the segment in its document.

    Parameters
    ----------
    table : Text
    segments : int
        Of the test set.

    Returns
    -------
    documents : tuple of SegmentDocument
        Of each segment.
    segment_ids : tuple of str or None
        Of each segment; None where the table has none.
    notices : tuple of str

    Raises
    ------
    BadCampaignFile
        Naming the line, or all segments that are missing, too many or given twice.
    """
    path = table.name
    rows = [cells_of(line.decode()) for line in table.lines()]
    header = rows[0] if rows else []
    for column in ("segment", "doc_id"):
        if header.count(column) != 1:
            raise BadCampaignFile(
                f"{path}, line 1: needs the column {column!r} once. Begin with a line that names the "
                "columns, with tabs between them: segment, doc_id, seg_in_doc, domain."
            )
    documents = _documents_by_segment(path, header, rows[1:], segments)
    ids = _segment_ids(path, header, rows[1:], documents) if "segment_id" in header else None
    return documents, ids, (*table.notices, *split_documents(path, documents, "segment", 0))


def _documents_by_segment(
    path: str, header: list[str], rows: list[list[str]], segments: int
) -> tuple[SegmentDocument, ...]:
    at_segment, at_document = header.index("segment"), header.index("doc_id")
    beside = {column: header.index(column) for column in ("domain", "test_suite") if column in header}
    found: dict[int, SegmentDocument] = {}
    lines: dict[int, int] = {}
    first_of: dict[str, tuple[SegmentDocument, int]] = {}
    extra = []
    for number, row in enumerate(rows, start=2):
        where = f"{path}, line {number}"
        if len(row) != len(header):
            raise BadCampaignFile(
                f"{where}: {number_of(len(row), 'column')}, the first line names {len(header)}. "
                "Put one tab between two columns."
            )
        if re.fullmatch(r"[0-9]{1,9}", row[at_segment]) is None:
            raise BadCampaignFile(f"{where}: segment {row[at_segment]!r} is not a whole number. Count segments from 0.")
        segment = int(row[at_segment])
        entry = SegmentDocument(row[at_document], **{column: row[place] for column, place in beside.items()})
        if not entry.doc_id:
            raise BadCampaignFile(f"{where}: no doc_id. Name the document of segment {segment}.")
        if segment in found:
            raise BadCampaignFile(
                f"{where}: segment {segment} was already given in line {lines[segment]}. Remove one of them."
            )
        first, line = first_of.setdefault(entry.doc_id, (entry, number))
        for what, before, now in (
            ("domain", first.domain, entry.domain),
            ("test suite", first.test_suite, entry.test_suite),
        ):
            if before != now:
                raise BadCampaignFile(
                    f"{where}: document {entry.doc_id!r} has {what} {now!r}, "
                    f"but {before!r} in line {line}. A document has one {what}."
                )
        if segment >= segments:
            extra.append(segment)
        found[segment], lines[segment] = entry, number
    missing = [segment for segment in range(segments) if segment not in found]
    if missing or extra:
        faults = [f"without a line: {ranges(missing)}"] if missing else []
        faults += [f"not in the test set: {ranges(sorted(extra))}"] if extra else []
        raise BadCampaignFile(
            f"{path}: must name the document of each of the {number_of(segments, 'segment')}, counted "
            f"from 0; segments {'; segments '.join(faults)}. Correct the table, or remove it."
        )
    return tuple(found[segment] for segment in range(segments))


def _segment_ids(
    path: str, header: list[str], rows: list[list[str]], documents: tuple[SegmentDocument, ...]
) -> tuple[str, ...]:
    at_segment, at_id = header.index("segment"), header.index("segment_id")
    found: dict[int, str] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows, start=2):
        segment, name = int(row[at_segment]), row[at_id]
        if not name:
            raise BadCampaignFile(f"{path}, line {number}: no segment_id. Name all segments, or remove the column.")
        doc_id = documents[segment].doc_id
        if (line := lines.setdefault((doc_id, name), number)) != number:
            raise BadCampaignFile(
                f"{path}, line {number}: document {doc_id!r} has a segment {name!r} already, in line {line}."
            )
        found[segment] = name
    return tuple(found[segment] for segment in range(len(documents)))


def split_documents(path: str, documents: Sequence[SegmentDocument], unit: str, first: int) -> tuple[str, ...]:
    """Say which documents end and come back later; their pieces are one document.

    Parameters
    ----------
    path : str
        The file that names the documents.
    documents : sequence of SegmentDocument
        Of each segment.
    unit : str
        What the file counts.
    first : int
        The number there of the first segment.

    Returns
    -------
    tuple of str
        A notice; empty where each document is in one piece.
    """
    ended: set[str] = set()
    split: dict[str, int] = {}
    for number, (before, entry) in enumerate(pairwise(documents), first + 1):
        if before.doc_id != entry.doc_id:
            ended.add(before.doc_id)
            if entry.doc_id in ended:
                split.setdefault(entry.doc_id, number)
    if not split:
        return ()
    again = listed([f"{name!r} again in {unit} {number}" for name, number in split.items()])
    return (
        f"{path}: not in one piece: {number_of(len(split), 'document')} ({again}). Segments with one name are one "
        "document, wherever they are.",
    )


def _unique(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = sorted(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise BadCampaignFile(f"{path}: given twice: {listed(twice)}. Remove one of them.")
    return found


def _value(path: Path, document: dict[str, Any], key: str, kind: type[Kind], called: str) -> Kind | None:
    value = document.get(key)
    if value is None:
        return None
    # In Python true is a whole number; in JSON it is not.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadCampaignFile(f"{path}: {key!r} must be {called}, not {json.dumps(value)[:60]}. Correct it.")
    return value


def _language(path: Path, document: dict[str, Any], key: str) -> str | None:
    value = _value(path, document, key, str, "a language code")
    if value is not None and _LANGUAGE_CODE.fullmatch(value) is None:
        raise BadCampaignFile(f'{path}: {key!r} must be a language code like "cs", not {json.dumps(value)[:60]}.')
    return value


def _names(path: Path, document: dict[str, Any], key: str) -> tuple[str, ...] | None:
    value = _value(path, document, key, list, "a list of names")
    if value is None:
        return None
    if not all(isinstance(name, str) for name in value):
        raise BadCampaignFile(f"{path}: {key!r} must be a list of names. Put each in quotation marks.")
    return tuple(value)


def _parts(path: Path, document: dict[str, Any]) -> dict[str, str]:
    value = _value(path, document, "parts", dict, "an object") or {}
    for role, part in value.items():
        if role not in PARTED or not isinstance(part, str):
            raise BadCampaignFile(
                f"{path}: 'parts' names a layer or zone for some of {', '.join(PARTED)}, such as "
                f'{{"references": "cs_ref"}}; not {json.dumps({role: part})[:60]}.'
            )
    return value
