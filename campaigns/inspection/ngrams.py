"""The n-grams that one of two systems gets right more often than the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.breakdown.ngrams import words_of
from campaigns.errors import Forbidden, NotFound
from campaigns.inspection.best_pair import best_pair
from campaigns.inspection.segment_scores import read_measures
from campaigns.inspection.visible import choose_outputs, find_test_set, visible_outputs, visible_test_sets
from campaigns.reports.limits import NGRAMS, TEXT_SEGMENTS
from steelyard.inspection.ngrams import ngram_differences
from steelyard.metrics.segments import Segments
from steelyard.text.blocks import block_count
from steelyard_client.documents.leaderboards.ngrams import NgramResponse, NgramsResponse, NgramSystem
from worker.computing.scoring import read_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.inspection.visible import VisibleOutput, VisibleTestSet
    from campaigns.leaderboards.view import Boards
    from campaigns.permissions import CampaignAccess
    from steelyard.inspection.ngrams import Lists

KEPT_BYTES = 20_000
"""Of the n-grams of two systems, about."""


@dataclass(frozen=True, slots=True)
class NgramView:
    """The n-grams of two systems, and the available choices."""

    test_set: VisibleTestSet
    test_sets: Sequence[VisibleTestSet]
    outputs: Sequence[VisibleOutput]
    """All visible outputs."""
    chosen: Sequence[VisibleOutput]
    """Two; fewer where there are not as many."""
    document: NgramsResponse | None
    """None without two systems."""


def read_ngram_view(
    connection: Connection, boards: Boards, access: CampaignAccess, test_set: str, systems: Sequence[str]
) -> NgramView:
    """Return the n-grams of the references that one of two systems has more often, clipped by segment as BLEU clips.

    Where fewer than two `systems` are named, the best ones of the leaderboard join them, else the first ones by name.
    Matches are counted against all references of the test set, of words by the tokenizer of its first metric that
    counts words. Like marks of words, they are shown together with the references.

    Raises
    ------
    NotFound
        For a test set or a system that does not exist or is not visible, and for texts that are too long.
    Forbidden
        While the references are hidden.
    """
    test_sets = visible_test_sets(connection, access)
    found = find_test_set(test_sets, test_set)
    if not access.sees_references(found.id) or not found.references:
        raise Forbidden("N-grams are shown once the references are released, as those of segments are.")
    if found.segments > TEXT_SEGMENTS:
        raise NotFound(
            f"N-grams are shown for up to {TEXT_SEGMENTS:,} segments, and this test set has {found.segments:,}."
        )
    outputs = visible_outputs(connection, access, found.id)
    if len(systems) < 2:
        best = best_pair(connection, boards, access, f"{found.name}@{found.version}")
        systems = [*systems, *(each for each in best if each not in systems)]
    chosen = choose_outputs(outputs, systems)
    chosen = [*chosen, *(each for each in outputs if each not in chosen)][:2]
    measures = read_measures(connection, access.campaign_id, found.id)
    tokenizer, case = words_of([each.specification for each in measures])
    document = None
    if len(chosen) == 2:
        texts = *(text for _, text in found.references), *(each.text for each in chosen)
        key = "ngrams", found.id, texts, tokenizer, case
        known: Lists | None = boards.memory.get(key)
        if known is None:
            read = read_texts(connection, texts, 0, block_count(found.segments))
            segments = Segments(
                references=read[:-2], hypotheses=read[-2:], variable_references=found.variable_references
            )
            (known,) = ngram_differences(segments, [(0, 1)], tokenizer=tokenizer, case=case, most=NGRAMS)
            boards.memory.put(key, known, KEPT_BYTES)
        document = NgramsResponse(
            campaign=access.name,
            test_set=found.name,
            version=found.version,
            references=[label for label, _ in found.references],
            tokenizer=tokenizer,
            case=case,
            systems=[NgramSystem(submission=each.submission, name=each.name, own=each.own) for each in chosen],
            ngrams=_rows(known, chosen),
        )
    return NgramView(found, test_sets, outputs, chosen, document)


def _rows(lists: Lists, chosen: Sequence[VisibleOutput]) -> list[NgramResponse]:
    return [
        NgramResponse(
            order=order,
            words=list(each.ngram),
            more_often_in=system.submission,
            first=each.first,
            second=each.second,
            possible=each.references,
        )
        for order, sides in lists.items()
        for system, side in zip(chosen, sides, strict=True)
        for each in side
    ]
