"""Human scores, and how metrics agree with them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from analysis.meta_evaluation.correlation_json import agreement_object
from campaigns.changes import require_organiser
from campaigns.errors import Forbidden, NotThere
from campaigns.inspection.judgments import remove_judgments
from campaigns.inspection.metrics_and_human import MOST_LEFT_OUT, read_metrics
from campaigns.inspection.visible import NoTestSet, visible_test_sets
from campaigns.permissions import read_sight
from models.corpus.judgments import StoredJudgments, list_judgments
from models.database.session import reading, writing
from web.dependencies import Asking, state_of
from web.uploads.judgments import add_judgments
from web.uploads.large_bodies import takes_upload

router = APIRouter(tags=["human scores"])


class HumanScores(BaseModel):
    """Human judgments of a test set in one version."""

    test_set: str
    name: str
    version: int
    kind: str
    """scores, ratings, errors or rankings."""
    method: dict[str, Any]
    """How scores were made of the judgments."""
    created_at: float
    """Seconds since 1970."""


class AddedHumanScores(HumanScores):
    """What was added, and which of its systems are systems here."""

    matched: list[str]
    """As they are called here: judgments may call them with or without their teams."""
    unknown: list[str]
    """Judged, but without an output here, and no human translation."""
    not_judged: list[str]
    """With an output here, but never judged."""


class ListedHumanScores(BaseModel):
    """All human scores of a campaign."""

    items: list[HumanScores]
    next: str | None


class Correlations(BaseModel):
    """How metrics agree with people."""

    test_set: str | None
    """null where the campaign has none yet."""
    references: list[str]
    human: str | None
    """The judgments; null where there are none of systems that have scores."""
    tables: list[dict[str, Any]]
    """One by system and one by segment, as far as people judged either, as `steelyard correlate -f json` gives them."""


@router.get("/campaigns/{name}/human-scores")
def list_human_scores(request: Request, name: str, principal: Asking) -> ListedHumanScores:
    """Which human scores there are; as long as scores of all systems are not shown, for organisers alone."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        if not sight.sees_board:
            raise Forbidden("Scores of all systems are not shown in this phase.")
        found = [
            _shown(test_set.title, each)
            for test_set in visible_test_sets(connection, sight)
            for each in list_judgments(connection, sight.campaign_id, test_set.id)
        ]
    return ListedHumanScores(items=found, next=None)


@router.post("/campaigns/{name}/human-scores", status_code=201)
@takes_upload
async def add_human_scores(
    request: Request,
    name: str,
    principal: Asking,
    files: Annotated[list[UploadFile], File()],
    test_set: Annotated[str, Form()] = "",
    called: Annotated[str, Form()] = "",
) -> AddedHumanScores:
    """Add human scores: tables that belong together, as `steelyard human import` reads them (docs/human.md).

    The same content under the same name is stored once; other content becomes the next version. Where there are outputs
    and none of their systems was judged, nothing is stored.
    """
    state = state_of(request)
    sight = await run_in_threadpool(require_organiser, state.engine, principal, name)
    title, stored, matched = await add_judgments(state, sight, test_set, called, files)
    return AddedHumanScores(
        **_shown(title, stored).model_dump(),
        matched=list(matched.systems),
        unknown=list(matched.unknown),
        not_judged=list(matched.not_judged),
    )


@router.delete("/campaigns/{name}/human-scores/{title}", status_code=204)
def delete_human_scores(request: Request, name: str, title: str, principal: Asking, test_set: str = "") -> Response:
    """Delete human scores in one version, NAME@VERSION. For organisers."""
    with writing(state_of(request).engine) as connection:
        remove_judgments(connection, read_sight(connection, principal, name), test_set, title)
    return Response(status_code=204)


@router.get("/campaigns/{name}/correlations")
def read_correlations(
    request: Request,
    name: str,
    principal: Asking,
    test_set: str = "",
    references: str = "",
    human: str = "",
    without: Annotated[
        list[int], Query(max_length=MOST_LEFT_OUT, description="Numbers of submissions whose systems are left out.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> Correlations:
    """Correlations of metrics with human scores, with intervals, and tests of each metric against the best.

    `without` leaves systems out, such as an output that is a reference; it needs an account.
    """
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
    try:
        seen = read_metrics(state.engine, sight, test_set, references, human, without)
    except NoTestSet:
        if test_set or references or human or without:
            raise
        return Correlations(test_set=None, references=[], human=None, tables=[])
    standing = {submission for row in seen.systems for submission in row.submissions}
    if strangers := sorted(set(without) - standing):
        raise NotThere(f"The submission {strangers[0]} does not stand on this leaderboard, so it cannot be left out.")
    made = (state.metrics.tables(seen.judged) if seen.judged else None) or []
    tables = [agreement_object(each) for each in made]
    if not sight.sees_names:
        for table in tables:
            # Under which name somebody was judged would tell who an anonymous team is.
            del table["left_out"], table["systems"]
    return Correlations(
        test_set=seen.test_set.title,
        references=list(seen.board.listed.references) if seen.board else [],
        human=seen.judged.human.title if seen.judged else None,
        tables=tables,
    )


def _shown(test_set: str, stored: StoredJudgments) -> HumanScores:
    return HumanScores(
        test_set=test_set,
        name=stored.name,
        version=stored.version,
        kind=stored.kind,
        method=dict(stored.method),
        created_at=stored.created_at,
    )
