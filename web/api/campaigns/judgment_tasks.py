"""Outputs of a campaign as tasks of annotation tools."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Query, Request, UploadFile
from fastapi.responses import StreamingResponse

from campaigns.accounts.principal import Principal
from campaigns.changes import require_organiser
from campaigns.exports.archive import safe_name
from campaigns.exports.judgment_tasks import SEED, WantedTasks
from campaigns.exports.judgment_tasks import export_judgment_tasks as export_tasks
from steelyard.meta_evaluation.human.tasks.tutorial import TUTORIAL
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, TaskAssignment
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.tutorials import read_own_tutorial

router = APIRouter(tags=["human scores"])

MOST = 200
"""Test sets or systems that are named."""


def wanted_tasks(
    tool: Annotated[AnnotationTool, Query(description="The tool that people judge in.")],
    protocol: Annotated[AnnotationProtocol, Query(description="How they judge.")] = AnnotationProtocol.ESA,
    test_set: Annotated[list[str], Query(max_length=MOST, description="Only these test sets.")] = [],  # noqa: B006 - FastAPI copies it
    system: Annotated[list[str], Query(max_length=MOST, description="Only these systems.")] = [],  # noqa: B006 - FastAPI copies it
    references: Annotated[bool, Query(description="Judge references like systems.")] = False,
    annotators: Annotated[int | None, Query(ge=1, le=10_000, description="How many people judge.")] = None,
    assignment: Annotated[TaskAssignment, Query(description="Who judges what, in Pearmut.")] = TaskAssignment.DYNAMIC,
    together: Annotated[
        int | None, Query(ge=1, le=100, description="Systems that are shown beside each other.")
    ] = None,
    checks: Annotated[
        int | None,
        Query(ge=0, le=10_000, description="Damaged outputs, in a batch of Appraise or a campaign of Pearmut."),
    ] = None,
    tutorial: Annotated[bool, Query(description="Begin with errors that are explained.")] = False,
    seed: Annotated[int, Query(ge=0, lt=2**63, description="Of all that is drawn.")] = SEED,
) -> WantedTasks:
    """Which tasks to make, by query parameters."""
    return WantedTasks(
        tool=tool,
        protocol=protocol,
        test_sets=test_set,
        systems=system,
        references=references,
        annotators=annotators,
        assignment=assignment,
        together=together,
        checks=checks,
        tutorial=TUTORIAL if tutorial else (),
        seed=seed,
    )


Wanted = Annotated[WantedTasks, Depends(wanted_tasks)]
ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        "description": "A zip with the files of each test set.",
    }
}


@router.get("/campaigns/{name}/judgment-tasks", response_class=StreamingResponse, responses=ZIP)
def export_judgment_tasks(
    request: Request, name: str, principal: CurrentPrincipal, wanted: Wanted
) -> StreamingResponse:
    """Download tasks for people: every document by every system, once, with damaged outputs as attention checks.

    For Appraise a manifest and batches of 100 items for each test set, for Pearmut a campaign. Export what people gave
    from there, and import it as human scores. For organisers.
    """
    return _zip(request, name, principal, wanted)


@router.post("/campaigns/{name}/judgment-tasks", response_class=StreamingResponse, responses=ZIP)
def export_judgment_tasks_with_tutorial(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    wanted: Wanted,
    tutorial_file: Annotated[UploadFile, File()],
) -> StreamingResponse:
    """Download the same tasks with a tutorial of your own before them: JSON, pages of translations with explanations.

    Each has `source`, `target`, `explanation` and `score`, and perhaps `errors` and `marked` (docs/how-to/human.md).
    Nothing is stored. For organisers.
    """
    require_organiser(app_state(request).engine, principal, name)
    tutorial = read_own_tutorial(tutorial_file)
    return _zip(request, name, principal, replace(wanted, tutorial=tutorial))


def _zip(request: Request, name: str, principal: Principal, wanted: WantedTasks) -> StreamingResponse:
    parts = export_tasks(app_state(request).engine, principal, name, wanted)
    headers = {"Content-Disposition": f'attachment; filename="{safe_name(name, wanted.tool.value)}.zip"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)
