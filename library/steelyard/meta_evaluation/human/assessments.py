"""Direct assessments of segments, put together by language pair as rules for human rankings take them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment


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
    adjusted: NDArray[np.float64] | None = None
    """As `scores`, less the severity of annotators who judged several systems (`annotator_effects`); None where no
    annotator did."""
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


def latest(found: Iterable[Assessment]) -> list[Assessment]:
    """What counts where an annotator judged a segment of a system several times in one wave: what was given last.

    Parameters
    ----------
    found : iterable of Assessment

    Returns
    -------
    list of Assessment
    """
    counted: dict[tuple[int, str, str, str, str], Assessment] = {}
    for each in found:
        key = each.wave, each.document, each.segment, each.system, each.annotator
        if key not in counted or counted[key].end <= each.end:
            counted[key] = each
    return list(counted.values())


def _pair(pair: str, found: Sequence[Assessment], domains: Mapping[str, Mapping[str, str]]) -> AssessedPair:
    _refuse_doubles(pair, found)
    counted = latest(found)
    systems = {name: row for row, name in enumerate(dict.fromkeys(each.system for each in found))}
    places: dict[tuple[int, str, str], int] = {}
    cells: dict[tuple[int, int], list[float]] = {}
    of_places: list[str] = []
    documents: dict[tuple[int, str, str], int] = {}
    documents_of_places: list[int] = []
    placed = []
    for each in counted:
        place = places.setdefault((each.wave, each.document, each.segment), len(places))
        if place == len(of_places):
            of_places.append(_domain(pair, each, domains))
            own = each.wave, each.document, "" if each.document else each.segment
            documents_of_places.append(documents.setdefault(own, len(documents)))
        cells.setdefault((systems[each.system], place), []).append(each.score)
        placed.append((each, place))
    scores, adjusted = np.full((len(systems), len(places)), np.nan), None
    for cell, given in cells.items():
        scores[cell] = math.fsum(given) / len(given)
    given_by = [(each.annotator, systems[each.system], place, each.score) for each, place in placed]
    effects = annotator_effects(given_by)
    if effects:
        without: dict[tuple[int, int], list[float]] = {}
        for annotator, system, place, score in given_by:
            without.setdefault((system, place), []).append(score - effects.get(annotator, 0.0))
        adjusted = np.full(scores.shape, np.nan)
        for cell, given in without.items():
            adjusted[cell] = math.fsum(given) / len(given)
    # By name, so that nothing depends on the order of files and rows.
    in_order = {
        each: number for number, each in enumerate(sorted(range(len(documents)), key=list(documents).__getitem__))
    }
    documents_of_places = [in_order[each] for each in documents_of_places]
    return AssessedPair(
        pair, tuple(systems), scores, tuple(of_places), tuple(documents_of_places), adjusted,
        tuple(_notices(pair, found, counted)),
    )  # fmt: skip


def annotator_effects(judgments: Sequence[tuple[str, int, int, float]]) -> dict[str, float]:
    """How much more than others each annotator gives, for those who judged several systems.

    An annotator's effect is the mean difference of their scores to the means of the places where they gave them. One
    who judged a single system has none, for it could not be told from that system's quality. What two systems got at a
    place may be exchanged, with the annotators who gave it, without any change of an effect: tests that exchange are
    as right with scores less effects as with scores.

    Parameters
    ----------
    judgments : sequence of (str, int, int, float)
        Annotator, system, place and score.

    Returns
    -------
    dict of str to float
        Empty where there is nothing to tell.
    """
    at_places: dict[int, list[float]] = {}
    judged: dict[str, set[int]] = {}
    for annotator, system, place, score in judgments:
        at_places.setdefault(place, []).append(score)
        if annotator:
            judged.setdefault(annotator, set()).add(system)
    several = {annotator for annotator, systems in judged.items() if len(systems) > 1}
    if len(several) < 2:
        return {}
    means = {place: math.fsum(given) / len(given) for place, given in at_places.items()}
    differences: dict[str, list[float]] = {}
    for annotator, _, place, score in judgments:
        if annotator in several:
            differences.setdefault(annotator, []).append(score - means[place])
    return {annotator: math.fsum(each) / len(each) for annotator, each in differences.items()}


def _notices(pair: str, found: Sequence[Assessment], counted: Collection[Assessment]) -> Iterator[str]:
    title = f"{pair}: " if pair else ""
    if replaced := len(found) - len(counted):
        yield f"{title}{number_of(replaced, 'judgment')} replaced by a later one."
    by_annotator = Counter(each.annotator for each in counted if each.annotator)
    if once := sorted(name for name, count in by_annotator.items() if count == 1):
        yield f"{title}{number_of(len(once), 'annotator')} gave one judgment only: {listed(once)}."


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
