"""The n-grams that tell two systems apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from campaigns.errors import Forbidden
from campaigns.inspection.ngrams import read_ngram_view
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.text.languages import UNSEPARATED, main_code
from web.dependencies import IN_TURN, CurrentPrincipal, app_state
from web.pages.leaderboards.segment_views import MOST_LISTED, proposed_outputs, segment_views
from web.pages.rendering import page, part_of_address

router = APIRouter()

FOUND_AS_TEXT = 3
"""Characters of a word from which looking for it finds hardly anything else."""


@router.get("/campaigns/{name}/ngrams", dependencies=[IN_TURN])
def show_ngrams(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    system: Annotated[list[str] | None, Query()] = None,
    test_set: str = "",
    metric: str = "",
    references: str = "",
    first: str = "",
    second: str = "",
) -> Response:
    """Show what each of two systems gets right more often; by default of the best two."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        systems = list(dict.fromkeys(each for each in (first, second, *(system or ())) if each))
        try:
            view = read_ngram_view(connection, state.boards, access, test_set, systems)
        except NoTestSet as error:
            return page(
                request, "campaigns/no_test_set", title="N-grams", access=access, here="segments", why=str(error)
            )
        except Forbidden as error:
            return page(request, "leaderboards/ngrams", title="N-grams", access=access, here="segments", fault=error)
    chosen = {"test_set": f"{view.test_set.name}@{view.test_set.version}", "metric": metric, "references": references}
    pair = [each.submission for each in view.chosen]
    address = f"/campaigns/{part_of_address(name)}/segments"
    separated = main_code(view.test_set.target_language) not in UNSEPARATED

    def segments(ngram: Sequence[str], side: int) -> str:
        """Return where the segments with an n-gram are; "" where the text need not have it as it is written here."""
        words = " ".join(ngram)
        if not separated or len(words) < FOUND_AS_TEXT or not all(word.isalnum() for word in ngram):
            return ""
        order = ("first-better", "second-better")[side]
        query = {key: value for key, value in {**chosen, "text": words, "order": order}.items() if value}
        return f"{address}?{urlencode([*query.items(), *(('system', each) for each in pair)])}"

    return page(
        request,
        "leaderboards/ngrams",
        title="N-grams",
        access=access,
        here="segments",
        fault="",
        view=view,
        segments=segments,
        kept=[(name, chosen[name]) for name in ("metric", "references") if chosen[name]],
        most_listed=MOST_LISTED,
        outputs_by_name=proposed_outputs(view.outputs),
        views=segment_views(access, view.test_set.id, chosen, pair),
    )
