"""Segments: selection, order, and what is visible of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from campaigns.errors import BadRequest
from campaigns.inspection.marked_errors import JudgedOutput, SegmentJudgments, read_segment_judgments
from campaigns.inspection.segment_scores import Measure, find_measure, read_measures, segment_scores
from campaigns.inspection.visible import (
    VisibleOutput,
    VisibleTestSet,
    choose_outputs,
    find_test_set,
    visible_outputs,
    visible_test_sets,
)
from campaigns.inspection.words import MarkedText, cut, marked
from campaigns.permissions import CampaignAccess
from models.schema.corpus import Document
from steelyard.inspection.lengths import counts_characters
from steelyard.text.blocks import BLOCK, block_count
from steelyard_client.vocabulary import Order
from worker.computing.scoring import read_texts

Floats = NDArray[np.float64]

MAX_OUTPUTS = 12
"""Side by side: more can be neither read nor marked quickly."""
DEFAULT_OUTPUTS = 2
MAX_CONTEXT = 50
"""Segments before, and after, one that is shown in its document."""
AT_ONCE = 64
"""Blocks that are searched together."""


@dataclass(frozen=True, slots=True)
class SegmentQuery:
    """Which segments to show. Empty fields mean the default, or all."""

    test_set: str = ""
    metric: str = ""
    references: str = ""
    systems: Sequence[str] = ()
    order: Order = Order.NUMBER
    document: str = ""
    domain: str = ""
    test_suite: str = ""
    shortest: int | None = None
    """Length of the source: in words, or in characters if the language writes no spaces."""
    longest: int | None = None
    text: str = ""
    """Found in the source, or in any visible reference or output; ignoring case."""
    segment: int | None = None
    """From 1: only this one."""
    context: int = 0
    """With `segment`: how many segments of its document to show before it, and after it."""
    human: str = ""
    """Human judgments whose marked errors to show: `NAME` or `NAME@VERSION`; the newest."""


@dataclass(frozen=True, slots=True)
class OutputView:
    """A system's output for a segment."""

    output: VisibleOutput
    text: str
    words: MarkedText
    score: float | None
    """By the metric; None if undefined, not computed or not visible."""
    judged: JudgedOutput | None = None
    """What people said of it; None if they did not judge it."""


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment."""

    number: int
    """From 1."""
    document: str
    domain: str
    test_suite: str
    source: str | None
    references: Sequence[tuple[str, str]]
    outputs: Sequence[OutputView]
    difference: float | None
    """Of the first two outputs' scores."""


@dataclass(frozen=True, slots=True)
class SegmentPage:
    """A page of segments, and the available choices."""

    test_set: VisibleTestSet
    test_sets: Sequence[VisibleTestSet]
    outputs: Sequence[VisibleOutput]
    """All visible outputs."""
    chosen: Sequence[VisibleOutput]
    measure: Measure | None
    """None if there are no visible segment scores."""
    measures: Sequence[Measure]
    documents: Sequence[str]
    domains: Sequence[str]
    test_suites: Sequence[str]
    found: int
    """Segments that match the query."""
    first: int
    """How many of them come before this page."""
    segments: Sequence[SegmentView]
    in_characters: bool
    """Whether lengths are counted in characters."""
    judgments: SegmentJudgments
    """Of the segments of this page."""


@dataclass(frozen=True)
class _Material:
    """What is known before any text is read."""

    test_set: VisibleTestSet
    chosen: Sequence[VisibleOutput]
    scores: Mapping[int, Floats] = field(default_factory=dict)
    documents: Sequence[Document] = ()
    judged: Mapping[tuple[int, int], JudgedOutput] = field(default_factory=dict)

    @property
    def texts(self) -> list[int]:
        """Of source, references and chosen outputs, as far as they are visible."""
        source = [] if self.test_set.source_text is None else [self.test_set.source_text]
        return [*source, *(text for _, text in self.test_set.references), *(each.text for each in self.chosen)]


def read_segments(
    connection: Connection, access: CampaignAccess, query: SegmentQuery, first: int = 0, most: int = 20
) -> SegmentPage:
    """Return a page of the segments that match the query, as far as they are visible.

    Scores, and marks against references, are shown only together with the references.

    Raises
    ------
    NotFound
        If it does not exist or is not visible.
    BadRequest
        If a value is invalid.
    """
    test_sets = visible_test_sets(connection, access)
    test_set, outputs = _chosen_test_set(connection, access, test_sets, query)
    shows_scores = access.sees_references(test_set.id)
    measures = read_measures(connection, access.campaign_id, test_set.id) if shows_scores else []
    measure = find_measure(measures, query.metric, query.references) if shows_scores else None
    chosen = choose_outputs(outputs, query.systems) if query.systems else _first_choice(outputs)
    if len(chosen) > MAX_OUTPUTS:
        raise BadRequest(f"{len(chosen)} systems are too many side by side. Choose at most {MAX_OUTPUTS}.")
    scores = segment_scores(connection, measure, [each.submission for each in chosen]) if measure else {}
    rows = connection.execute(
        select(Document).where(Document.test_set_id == test_set.id).order_by(Document.first_segment)
    )
    material = _Material(test_set, chosen, scores, rows.all())  # type: ignore[arg-type]
    in_characters = counts_characters(
        test_set.target_language if test_set.source_text is None else test_set.source_language
    )
    wanted = _matching_segments(connection, material, query, in_characters)
    if query.segment is None:
        wanted = _ordered(wanted, material, query.order, measure)
    shown = [int(each) for each in wanted[first : first + most]]
    judgments = read_segment_judgments(connection, access, test_set.id, query.human, chosen, shown)
    return SegmentPage(
        test_set=test_set,
        test_sets=test_sets,
        outputs=outputs,
        chosen=chosen,
        measure=measure,
        measures=measures,
        documents=[each.name for each in material.documents],
        domains=sorted({each.domain for each in material.documents} - {""}),
        test_suites=sorted({each.test_suite for each in material.documents} - {""}),
        found=len(wanted),
        first=first,
        segments=_segment_views(connection, replace(material, judged=judgments.outputs), shown, measure),
        in_characters=in_characters,
        judgments=judgments,
    )


def _chosen_test_set(
    connection: Connection, access: CampaignAccess, test_sets: Sequence[VisibleTestSet], query: SegmentQuery
) -> tuple[VisibleTestSet, list[VisibleOutput]]:
    """Return the test set with its outputs: a link to an output need not name its test set."""
    if not query.test_set and query.systems:
        for each in test_sets:
            outputs = visible_outputs(connection, access, each.id)
            if set(query.systems) <= {str(output.submission) for output in outputs}:
                return each, outputs
    test_set = find_test_set(test_sets, query.test_set)
    return test_set, visible_outputs(connection, access, test_set.id)


def _first_choice(outputs: Sequence[VisibleOutput]) -> list[VisibleOutput]:
    """Return the default outputs: own ones before others."""
    return sorted(outputs, key=lambda each: not each.own)[:DEFAULT_OUTPUTS]


def _matching_segments(
    connection: Connection, material: _Material, query: SegmentQuery, in_characters: bool
) -> NDArray[np.intp]:
    segments = material.test_set.segments
    if query.segment is not None:
        if not 1 <= query.segment <= segments:
            raise BadRequest(f"There is no segment {query.segment}: the test set has {segments:,}.")
        return _with_context(material, query.segment - 1, query.context)
    fits = np.ones(segments, np.bool_)
    for wanted, column in ((query.document, "name"), (query.domain, "domain"), (query.test_suite, "test_suite")):
        if wanted:
            inside = np.zeros(segments, np.bool_)
            for each in material.documents:
                if getattr(each, column) == wanted:
                    inside[each.first_segment : each.first_segment + each.segments] = True
            fits &= inside
    if query.shortest is not None or query.longest is not None or query.text:
        _search(connection, material, query, in_characters, fits)
    return np.flatnonzero(fits)


def _with_context(material: _Material, segment: int, context: int) -> NDArray[np.intp]:
    """A segment between its neighbours in the same document; alone where the test set has no documents."""
    low, high = segment - context, segment + context + 1
    for each in material.documents:
        if each.first_segment <= segment < each.first_segment + each.segments:
            return np.arange(max(low, each.first_segment), min(high, each.first_segment + each.segments))
    return np.array([segment])


def _search(
    connection: Connection, material: _Material, query: SegmentQuery, in_characters: bool, fits: NDArray[np.bool_]
) -> None:
    """Clear `fits` for segments whose texts do not match."""
    needle, texts = query.text.casefold(), material.texts
    blocks = np.unique(np.flatnonzero(fits) // BLOCK)
    for begin in range(0, block_count(len(fits)), AT_ONCE):
        if not texts or not ((blocks >= begin) & (blocks < begin + AT_ONCE)).any():
            continue
        lines = [text.decode().split("\n") for text in read_texts(connection, texts, begin, begin + AT_ONCE)]
        for number, of_segment in enumerate(zip(*lines, strict=True), begin * BLOCK):
            if not fits[number]:
                continue
            length = len("".join(of_segment[0].split())) if in_characters else len(of_segment[0].split())
            fits[number] = (
                (query.shortest is None or length >= query.shortest)
                and (query.longest is None or length <= query.longest)
                and (not needle or any(needle in text.casefold() for text in of_segment))
            )


def _ordered(fitting: NDArray[np.intp], material: _Material, order: Order, measure: Measure | None) -> NDArray[np.intp]:
    """Sort segments; those without a sort key come last, in the order of the test set."""
    if order is Order.NUMBER or measure is None or not material.scores:
        return fitting
    better = 1.0 if measure.higher_is_better else -1.0
    scores = [
        better * material.scores[each.submission] for each in material.chosen if each.submission in material.scores
    ]
    if order in (Order.WORST, Order.BEST):
        mean = np.mean(np.stack(scores), axis=0)
        key = mean if order is Order.WORST else -mean
    elif len(scores) < DEFAULT_OUTPUTS:
        return fitting
    else:
        ahead = scores[0] - scores[1]
        key = {
            Order.DIFFERENCE: -np.abs(ahead),
            Order.FIRST_BETTER: -ahead,
            Order.SECOND_BETTER: ahead,
        }[order]
    of_fitting = key[fitting]
    return fitting[np.argsort(np.where(np.isnan(of_fitting), np.inf, of_fitting), kind="stable")]


def _segment_views(
    connection: Connection, material: _Material, wanted: Sequence[int], measure: Measure | None
) -> list[SegmentView]:
    test_set, texts = material.test_set, material.texts
    lines: dict[int, list[str]] = {}
    for block, numbers in groupby(sorted(wanted), key=lambda each: each // BLOCK):
        # Decoding the other lines of the block, too, would cost much where they are long.
        contents = [text.split(b"\n") for text in read_texts(connection, texts, block, block + 1)] if texts else []
        for number in numbers:
            lines[number] = [of_text[number % BLOCK].decode() for of_text in contents]
    found = []
    for number in wanted:
        rest = iter(lines[number])
        source = next(rest) if test_set.source_text is not None else None
        references = [(label, next(rest)) for label, _ in test_set.references]
        if test_set.variable_references:
            # An empty line says that the segment lacks this one.
            references = [(label, text) for label, text in references if text] or references[:1]
        outputs = _output_views(material, number, list(rest), references)
        document = next(
            (each for each in material.documents if each.first_segment <= number < each.first_segment + each.segments),
            None,
        )
        pair = [each.score for each in outputs[:2]]
        found.append(
            SegmentView(
                number=number + 1,
                document=document.name if document else "",
                domain=document.domain if document else "",
                test_suite=document.test_suite if document else "",
                source=None if source is None else cut(source),
                references=[(label, cut(text)) for label, text in references],
                outputs=outputs,
                difference=pair[0] - pair[1]
                if measure and len(pair) == DEFAULT_OUTPUTS and pair[0] is not None and pair[1] is not None
                else None,
            )
        )
    return found


def _output_views(
    material: _Material, number: int, texts: Sequence[str], references: Sequence[tuple[str, str]]
) -> list[OutputView]:
    named = list(zip(material.chosen, texts, strict=True))
    found = []
    for place, (output, text) in enumerate(named):
        others = list(references)
        if not others and len(named) > 1:
            other = named[1 if place == 0 else 0]
            others = [(other[0].name, other[1])]
        scores = material.scores.get(output.submission)
        score = None if scores is None or np.isnan(scores[number]) else float(scores[number])
        judged = material.judged.get((output.submission, number))
        found.append(OutputView(output, text, marked(text, others), score, judged))
    return found
