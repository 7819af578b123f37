"""The n-grams that tell two systems apart."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from campaigns.errors import NotFound
from campaigns.inspection.ngrams import read_ngram_view
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard_client.documents.leaderboards.ngrams import NgramsResponse
from web.dependencies import IN_TURN, CurrentPrincipal, app_state

router = APIRouter(tags=["segments"])


@router.get("/campaigns/{name}/ngrams", dependencies=[IN_TURN])
def read_campaign_ngrams(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: Annotated[str, Query(max_length=300, description="NAME or NAME@VERSION; default the first.")] = "",
    system: Annotated[
        list[str] | None,
        Query(max_length=2, description="Two outputs, by submission number or displayed name; default the best two."),
    ] = None,
) -> NgramsResponse:
    """Read the n-grams of the references that one of two systems has more often than the other.

    Matches are clipped by segment as BLEU clips, against all references of the test set. They appear once the
    references are released, of outputs that the account sees, for test sets of up to 16,000 segments.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        view = read_ngram_view(connection, state.boards, access, test_set, list(dict.fromkeys(system or ())))
    if view.document is None:
        raise NotFound("N-grams tell two systems apart, and there are not two outputs that you can see yet.")
    return view.document
