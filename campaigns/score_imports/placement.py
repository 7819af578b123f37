"""Which segment of a test set a score in a file belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.errors import BadRequest
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from models.corpus.test_sets import DocumentSegments
    from steelyard.formats.scores.score_runs import ScoredDocument
    from steelyard.formats.scores.score_tables import MetricTable

VIDEO = "vid_"
"""WMT25 writes it before the names of spoken documents in outputs, and not in scores."""


@dataclass(frozen=True)
class Placement:
    """Where the scores of a metric stand."""

    places: Sequence[int | None]
    """The segment of each unit, from 0; None for a unit of a document that the test set lacks."""
    notices: Sequence[str]
    """Documents and segments that the scores or the test set lack."""


@dataclass(frozen=True)
class Segmented:
    """The segments of a test set, as scores are matched with them."""

    title: str
    segments: int
    documents: Mapping[str, DocumentSegments]
    """Empty where the test set has none."""


def place(table: MetricTable, test_set: Segmented) -> Placement:
    """Find the segment of each score: by document and order, or by the ids of segments.

    Raises
    ------
    BadRequest
        For other numbers of segments than the test set has, and for ids that do not fit.
    """
    if table.level == "system":
        return Placement([0], [])
    if table.level == "document":
        return _of_documents(table, test_set)
    if not test_set.documents or all(not each.name for each in table.documents):
        ordered = _in_order(table, test_set)
        return Placement(ordered, _unscored(table, ordered, range(test_set.segments), test_set))
    names = [_known_name(each.name, test_set) for each in table.documents]
    absent = [each.name for each, name in zip(table.documents, names, strict=True) if name is None]
    if len(absent) == len(names):
        raise BadRequest(
            f"The scores by {table.name} are of other documents than those of the test set {test_set.title}: "
            f"{listed([quoted(each) for each in absent])}."
        )
    numbered = _numbering(table, names, test_set)
    places: list[int | None] = []
    for document, name in zip(table.documents, names, strict=True):
        if name is None:
            places += [None] * document.size
        else:
            places += _in_document(document, test_set.documents[name], numbered, table, test_set)
    scored = sorted(place for name in set(names) if name is not None for place in test_set.documents[name].positions)
    return Placement(
        places,
        [
            *_missing(table, names, test_set),
            *_unscored(table, places, scored, test_set),
            *_unknown(table, absent, test_set),
        ],
    )


def _known_name(name: str, test_set: Segmented) -> str | None:
    """The test set's name of a document; WMT25's has pair and domain before it."""
    for each in (name, f"{VIDEO}{name}", name.rpartition("_#_")[2]):
        if each in test_set.documents:
            return each
    ends = [each for each in test_set.documents if each.endswith((f"_#_{name}", f"_#_{VIDEO}{name}"))]
    return ends[0] if len(ends) == 1 else None


def _in_order(table: MetricTable, test_set: Segmented) -> list[int | None]:
    """Where documents do not tell: all segments, in order or by ids that are unique in the whole test set."""
    (document, *more) = table.documents
    if not more and document.ids is None:
        _check_number(table, document.size, test_set.segments, f"the test set {test_set.title}")
        return list(range(document.size))
    ids = [each for document in table.documents for each in document.ids or ()]
    if more and (len(ids) < sum(each.size for each in table.documents) or len(set(ids)) < len(ids)):
        if not document.name:
            raise BadRequest(
                f"The scores by {table.name} do not name their documents. Write one score for each segment."
            )
        raise BadRequest(
            f"The scores by {table.name} are of documents, and the test set {test_set.title} has none. Number their "
            "segments through the whole test set."
        )
    known = _ids_of(test_set)
    if all(each in known for each in ids):
        return [known[each] for each in ids]
    numbers = _numbers(ids)
    for first in (1, 0):
        if numbers and all(first <= each < first + test_set.segments for each in numbers):
            return [each - first for each in numbers]
    allowed = {*known, *map(str, range(test_set.segments + 1))}
    strange = [each for each in ids if each not in allowed]
    raise BadRequest(
        f"The ids of segments in the scores by {table.name} are not those of the test set {test_set.title}, which has "
        f"{number_of(test_set.segments, 'segment')}: {listed([quoted(each) for each in strange or ids], 3)}."
    )


def _of_documents(table: MetricTable, test_set: Segmented) -> Placement:
    """A document's score stands at its first segment."""
    (document, *_) = table.documents
    if document.ids is None:
        _check_number(table, document.size, len(test_set.documents), f"the test set {test_set.title}", "document")
        return Placement([each.positions[0] for each in test_set.documents.values()], [])
    names = [_known_name(each, test_set) for each in document.ids]
    absent = [each for each, name in zip(document.ids, names, strict=True) if name is None]
    if len(absent) == len(names):
        raise BadRequest(f"The scores by {table.name} are of other documents than those of {test_set.title}.")
    places = [None if name is None else test_set.documents[name].positions[0] for name in names]
    return Placement(places, [*_missing(table, names, test_set), *_unknown(table, absent, test_set)])


def _numbering(table: MetricTable, names: Sequence[str | None], test_set: Segmented) -> tuple[bool, int] | None:
    """How numbers count segments: (through the whole test set, the first number); None where they do not fit."""
    known = [(d, test_set.documents[n]) for d, n in zip(table.documents, names, strict=True) if n is not None]
    for whole, first in ((True, 1), (False, 1), (True, 0), (False, 0)):
        for document, segments in known:
            numbers = _numbers(document.ids or ())
            allowed = {each + first for each in (segments.positions if whole else range(len(segments.positions)))}
            if numbers is None or not set(numbers) <= allowed:
                break
        else:
            return whole, first
    return None


def _in_document(
    document: ScoredDocument,
    segments: DocumentSegments,
    numbered: tuple[bool, int] | None,
    table: MetricTable,
    test_set: Segmented,
) -> list[int | None]:
    called = f"document {quoted(document.name)} of the test set {test_set.title}"
    if document.ids is None:
        _check_number(table, document.size, len(segments.positions), called)
        return list(segments.positions)
    known = dict(zip(segments.ids or (), segments.positions, strict=False))
    if all(each in known for each in document.ids):
        return [known[each] for each in document.ids]
    numbers = _numbers(document.ids)
    if numbers is None or numbered is None:
        raise BadRequest(
            f"The ids of segments in the scores by {table.name} are not those of {called}: "
            f"{listed([quoted(each) for each in document.ids], 3)}."
        )
    whole, first = numbered
    return [each - first if whole else segments.positions[each - first] for each in numbers]


def _ids_of(test_set: Segmented) -> dict[str, int]:
    """The segments by id, where ids are unique in the whole test set."""
    found: dict[str, int] = {}
    for document in test_set.documents.values():
        for each, position in zip(document.ids or (), document.positions, strict=False):
            if each in found:
                return {}
            found[each] = position
    return found


def _numbers(ids: Sequence[str]) -> list[int] | None:
    return [int(each) for each in ids] if all(each.isascii() and each.isdigit() for each in ids) else None


def _check_number(table: MetricTable, found: int, wanted: int, where: str, unit: str = "segment") -> None:
    if found != wanted:
        raise BadRequest(
            f"There are {number_of(found, 'score')} by {table.name} for each system, but {where} has "
            f"{number_of(wanted, unit)}. Give one score for each, null where there is none."
        )


def _missing(table: MetricTable, names: Sequence[str | None], test_set: Segmented) -> list[str]:
    missing = [quoted(each) for each in test_set.documents if each not in set(names)]
    if not missing:
        return []
    return [f"{table.name}: no scores of {number_of(len(missing), 'document')} of {test_set.title}: {listed(missing)}."]


def _unscored(
    table: MetricTable, places: Sequence[int | None], wanted: Sequence[int], test_set: Segmented
) -> list[str]:
    """Segments that the scores leave out, though they have others of the same document."""
    found = set(places)
    missing = [f"{each + 1}" for each in wanted if each not in found]
    if not missing:
        return []
    return [f"{table.name}: no scores of {number_of(len(missing), 'segment')} of {test_set.title}: {listed(missing)}."]


def _unknown(table: MetricTable, absent: Sequence[str], test_set: Segmented) -> list[str]:
    if not absent:
        return []
    names = listed([quoted(each) for each in absent])
    return [f"{table.name}: left out, for {test_set.title} has no such documents: {names}."]
