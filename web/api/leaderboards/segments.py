"""Single segments: source, references, outputs, scores and marks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request

from campaigns.errors import BadRequest
from campaigns.inspection.segments import MAX_CONTEXT, SegmentPage, SegmentQuery, SegmentView, read_segments
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard_client.documents.leaderboards.segments import (
    OutputError,
    SegmentOutput,
    SegmentReference,
    SegmentResponse,
    SegmentsResponse,
    WordRun,
)
from steelyard_client.vocabulary import Order, WordMark
from web.dependencies import IN_TURN, CurrentPrincipal, app_state

router = APIRouter(tags=["segments"])

DIGITS = 9

MAX_CHARACTERS = 4 << 20
"""Limit on the characters of text in one response; a single larger segment is still returned."""


@router.get("/campaigns/{name}/segments", dependencies=[IN_TURN])
def list_segments(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
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
    context: Annotated[int, Query(ge=0, le=MAX_CONTEXT)] = 0,
    human: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: str = "",
) -> SegmentsResponse:
    """List segments with the source, references, outputs, scores and marks that the account may see.

    `system` selects up to 12 outputs by submission number or displayed name. `shortest` and `longest` count words of
    the source, or characters for languages written without spaces. `text` is searched in all texts shown.
    `segment` shows one alone, or with up to `context` segments of its document before and after it. References,
    segment scores and marks against references appear once the references are released. `human_score` and `errors` are
    what people said in the human judgments `human`, by default the newest ones in which errors are marked.
    """
    if after and not (after.isascii() and after.isdigit() and len(after) <= DIGITS):
        raise BadRequest('"after" is not the "next" of a previous page.')
    first = int(after or 0)
    asked = SegmentQuery(
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
        context=context,
        human=human,
    )
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        try:
            seen = read_segments(connection, access, asked, first, limit)
        except NoTestSet:
            if test_set or system:
                raise
            return SegmentsResponse(test_set=None, metric=None, references=[], human=None, found=0, items=[], next=None)
    return _response(seen)


def _response(found: SegmentPage) -> SegmentsResponse:
    items: list[SegmentResponse] = []
    room = MAX_CHARACTERS
    for each in found.segments:
        room -= _length(each)
        if room < 0 and items:
            break
        items.append(_segment_response(each))
    last = found.first + len(items)
    return SegmentsResponse(
        test_set=found.test_set.title,
        metric=found.measure.specification if found.measure else None,
        references=list(found.measure.references) if found.measure else [],
        human=found.judgments.chosen.title if found.judgments.chosen else None,
        found=found.found,
        items=items,
        next=str(last) if items and last < found.found else None,
    )


def _length(segment: SegmentView) -> int:
    """Characters of its texts; those of outputs count twice, plain and with marks."""
    texts = [segment.source or "", *(text for _, text in segment.references)]
    return sum(map(len, texts)) + 2 * sum(len(each.text) for each in segment.outputs)


def _segment_response(seen: SegmentView) -> SegmentResponse:
    return SegmentResponse(
        number=seen.number,
        document=seen.document,
        domain=seen.domain,
        test_suite=seen.test_suite,
        source=seen.source,
        references=[SegmentReference(label=label, text=text) for label, text in seen.references],
        outputs=[
            SegmentOutput(
                submission=each.output.submission,
                system=each.output.name,
                text=each.text,
                score=each.score,
                words=[WordRun(text=run.text, mark=WordMark(run.mark)) for run in each.words.runs],
                missing=list(each.words.missing),
                against=each.words.against,
                human_score=each.judged.score if each.judged else None,
                errors=[OutputError(**asdict(error)) for error in each.judged.errors] if each.judged else [],
            )
            for each in seen.outputs
        ],
        difference=seen.difference,
    )
