"""Direct assessments of segments, put together by language pair as rules for human rankings take them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


class Assessment(NamedTuple):
    """One score that an annotator gave to one segment of one system."""

    pair: str
    """Languages, such as "en-cs"; empty where the file does not say."""
    system: str
    document: str
    """Empty where the file does not say."""
    segment: str
    """Its id or number in the document, or in the test set."""
    domain: str
    """Empty where the file does not say."""
    annotator: str
    wave: int
    """Judgments of different waves are never averaged."""
    score: float
    """Higher is better; from 0 to 100 in direct assessments."""
    end: float
    """When it was given, in seconds; of several of the same annotator the latest counts."""
    file: str


@dataclass(frozen=True, eq=False)
class AssessedPair:
    """The judgments of one language pair."""

    pair: str
    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    """(systems, places): a place is a segment in one wave; NaN where a system was not judged there."""
    domains: tuple[str, ...]
    """Of each place."""
    documents: tuple[int, ...]
    """The document of each place, from 0: each wave has its own, and so has a place without a document."""
    notices: tuple[str, ...] = ()


def assessed_pairs(
    assessments: Iterable[Assessment], domains: Mapping[str, Mapping[str, str]] | None = None
) -> list[AssessedPair]:
    """Judgments by language pair, in the order in which pairs and systems come first.

    Of several scores of an annotator for the same segment of a system in one wave, that with the latest end counts; of
    several annotators the mean.

    Parameters
    ----------
    assessments : iterable of Assessment
    domains : mapping of str to mapping of str to str, optional
        By pair the domain of each document; those of the pair "" hold for all others. Without it, or for documents
        whose domain the judgments name, their own count.

    Returns
    -------
    list of AssessedPair

    Raises
    ------
    BadTable
        For a document whose domain is not known while others' are, and where two files hold the same judgments.
    """
    by_pair: dict[str, list[Assessment]] = {}
    for each in assessments:
        by_pair.setdefault(each.pair, []).append(each)
    if not by_pair:
        raise BadTable("There is no judgment of a translation in these files.")
    return [_pair(pair, found, domains or {}) for pair, found in by_pair.items()]


def _pair(pair: str, found: Sequence[Assessment], domains: Mapping[str, Mapping[str, str]]) -> AssessedPair:
    _refuse_doubles(pair, found)
    latest: dict[tuple[int, str, str, str, str], Assessment] = {}
    for each in found:
        key = each.wave, each.document, each.segment, each.system, each.annotator
        if key not in latest or latest[key].end <= each.end:
            latest[key] = each
    systems = {name: row for row, name in enumerate(dict.fromkeys(each.system for each in found))}
    places: dict[tuple[int, str, str], int] = {}
    cells: dict[tuple[int, int], list[float]] = {}
    of_places: list[str] = []
    documents: dict[tuple[int, str, str], int] = {}
    documents_of_places: list[int] = []
    for each in latest.values():
        place = places.setdefault((each.wave, each.document, each.segment), len(places))
        if place == len(of_places):
            of_places.append(_domain(pair, each, domains))
            own = each.wave, each.document, "" if each.document else each.segment
            documents_of_places.append(documents.setdefault(own, len(documents)))
        cells.setdefault((systems[each.system], place), []).append(each.score)
    scores = np.full((len(systems), len(places)), np.nan)
    for cell, given in cells.items():
        scores[cell] = math.fsum(given) / len(given)
    replaced = len(found) - len(latest)
    notices = [f"{pair}: {number_of(replaced, 'judgment')} replaced by a later one."] if replaced else []
    return AssessedPair(pair, tuple(systems), scores, tuple(of_places), tuple(documents_of_places), tuple(notices))


def _domain(pair: str, assessment: Assessment, domains: Mapping[str, Mapping[str, str]]) -> str:
    known = domains.get(pair, domains.get(""))
    if assessment.domain or known is None:
        return assessment.domain
    found = known.get(assessment.document) if assessment.document else known.get(f"#{assessment.segment}")
    if found is None:
        what = f"document {quoted(assessment.document)}" if assessment.document else f"segment {assessment.segment}"
        raise BadTable(
            f"{assessment.file}: the list of documents has no {what}. Give the list of the test set that was judged."
        )
    return found


def _refuse_doubles(pair: str, found: Sequence[Assessment]) -> None:
    """Raise BadTable where a file repeats another: its judgments would count as those of another wave."""
    by_file: dict[str, Counter[tuple[str, str, str, float]]] = {}
    for each in found:
        by_file.setdefault(each.file, Counter())[each.annotator, each.system, each.document, each.score] += 1
    names = list(by_file)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            shared = (by_file[first] & by_file[second]).total()
            if 2 * shared > min(by_file[first].total(), by_file[second].total()):
                raise BadTable(
                    f"{listed([first, second])}: hold the same judgments{f' of {pair}' if pair else ''} "
                    f"({shared:,} alike). Give one of them."
                )
