"""Single segments with all that may be seen of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from campaigns.errors import BadRequest
from campaigns.inspection.segments import Asked, Order, SeenSegment, SeenSegments, read_segments
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import read_sight
from metrics.inspection.marks import Mark
from models.database.session import reading
from web.dependencies import Asking, state_of

router = APIRouter(tags=["segments"])

DIGITS = 9

LARGEST_ANSWER = 4 << 20
"""Characters of texts in one answer, unless a single segment has more."""


class Words(BaseModel):
    """Consecutive words of one kind."""

    text: str
    mark: Mark
    """same: in both, in the same order; moved: in both, elsewhere; alone: only here; unmarked: not compared."""


class Output(BaseModel):
    """What a system made of a segment."""

    submission: int
    system: str
    text: str
    score: float | None
    """null where it is undefined, not measured or not to be seen."""
    words: list[Words]
    """The text in pieces, marked against the closest reference, or another output where references may not be seen."""
    missing: list[str]
    """What it lacks of that."""
    against: str
    """Which it was compared with; "" where it was not."""


class Reference(BaseModel):
    """A human translation."""

    label: str
    text: str


class Segment(BaseModel):
    """One segment."""

    number: int
    """From 1."""
    document: str
    domain: str
    test_suite: str
    source: str | None
    references: list[Reference]
    """Empty before the organisers have released them."""
    outputs: list[Output]
    difference: float | None
    """Score of the first system minus score of the second."""


class Segments(BaseModel):
    """Some segments of a test set."""

    test_set: str | None
    """null where the campaign has none yet."""
    metric: str | None
    """The specification of what gave the scores; null where none may be seen."""
    references: list[str]
    """Labels of the references that it was measured against."""
    found: int
    """How many segments fit what was asked for."""
    items: list[Segment]
    next: str | None
    """Where to go on: give it as `after`."""


@router.get("/campaigns/{name}/segments")
def read_campaign_segments(
    request: Request,
    name: str,
    principal: Asking,
    test_set: str = "",
    metric: str = "",
    references: str = "",
    system: Annotated[list[str] | None, Query()] = None,
    order: Order = Order.NUMBER,
    document: str = "",
    domain: str = "",
    test_suite: str = "",
    shortest: Annotated[int | None, Query(ge=0)] = None,
    longest: Annotated[int | None, Query(ge=0)] = None,
    text: Annotated[str, Query(max_length=200)] = "",
    segment: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: str = "",
) -> Segments:
    """Segments with source, references, outputs, scores and marks, as far as the account may see them.

    `system` names outputs by the numbers of their submissions or as the page does, at most 12; `shortest` and `longest`
    count words of the source, or characters where its language writes no spaces; `text` is searched in everything that
    is shown. References, scores of segments and marks against references are there once references are released.
    """
    if after and not (after.isascii() and after.isdigit() and len(after) <= DIGITS):
        raise BadRequest('"after" is not what an earlier answer gave as "next".')
    first = int(after or 0)
    asked = Asked(
        test_set=test_set,
        metric=metric,
        references=references,
        systems=system or (),
        order=order,
        document=document,
        domain=domain,
        test_suite=test_suite,
        shortest=shortest,
        longest=longest,
        text=text.strip(),
        segment=segment,
    )
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        try:
            seen = read_segments(connection, sight, asked, first, limit)
        except NoTestSet:
            if test_set or system:
                raise
            return Segments(test_set=None, metric=None, references=[], found=0, items=[], next=None)
    return _answer(seen)


def _answer(seen: SeenSegments) -> Segments:
    items: list[Segment] = []
    room = LARGEST_ANSWER
    for each in seen.segments:
        room -= _length(each)
        if room < 0 and items:
            break
        items.append(_segment(each))
    last = seen.first + len(items)
    return Segments(
        test_set=seen.test_set.title,
        metric=seen.measure.specification if seen.measure else None,
        references=list(seen.measure.references) if seen.measure else [],
        found=seen.found,
        items=items,
        next=str(last) if items and last < seen.found else None,
    )


def _length(seen: SeenSegment) -> int:
    """Characters of its texts; those of outputs stand twice, as they are and with marks."""
    texts = [seen.source or "", *(text for _, text in seen.references)]
    return sum(map(len, texts)) + 2 * sum(len(each.text) for each in seen.outputs)


def _segment(seen: SeenSegment) -> Segment:
    return Segment(
        number=seen.number,
        document=seen.document,
        domain=seen.domain,
        test_suite=seen.test_suite,
        source=seen.source,
        references=[Reference(label=label, text=text) for label, text in seen.references],
        outputs=[
            Output(
                submission=each.output.submission,
                system=each.output.name,
                text=each.text,
                score=each.score,
                words=[Words(text=run.text, mark=run.mark) for run in each.words.runs],
                missing=list(each.words.missing),
                against=each.words.against,
            )
            for each in seen.outputs
        ],
        difference=seen.difference,
    )
