"""Tasks for annotators: the form in which organisers choose them, and the files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import StreamingResponse

from campaigns.accounts.principal import Principal
from campaigns.errors import BadRequest, NotFound
from campaigns.exports.archive import safe_name
from campaigns.exports.judgment_tasks import SEED, WantedTasks, export_judgment_tasks, names_to_judge
from models.database.session import reading
from steelyard.meta_evaluation.human.tasks.tutorial import TUTORIAL, Tutorial
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, TaskAssignment
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import page
from web.uploads.tutorials import read_own_tutorial

router = APIRouter()

MOST = 200
"""Test sets or systems that are named."""
NUMBERS = {
    "annotators": ("Annotators", 1, 10_000),
    "together": ("Systems beside each other", 1, 100),
    "checks": ("Damaged outputs", 0, 10_000),
    "seed": ("Seed", 0, 2**63 - 1),
}
"""Fields with a number, their title, and the smallest and largest one."""
Field = Annotated[str, Form(max_length=100)]


@router.get("/campaigns/{name}/manage/judgment-tasks")
def show_judgment_tasks(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the form."""
    return _form(request, name, principal, {})


@router.post("/campaigns/{name}/manage/judgment-tasks")
def make_judgment_tasks(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    tool: Field = AnnotationTool.APPRAISE,
    protocol: Field = AnnotationProtocol.ESA,
    test_set: Annotated[list[str], Form(max_length=MOST)] = [],  # noqa: B006 - FastAPI copies it
    system: Annotated[list[str], Form(max_length=MOST)] = [],  # noqa: B006 - FastAPI copies it
    references: Field = "",
    tutorial: Field = "",
    assignment: Field = TaskAssignment.DYNAMIC,
    annotators: Field = "",
    together: Field = "",
    checks: Field = "",
    seed: Field = "",
    tutorial_file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Download the files, or show the form again with what is wrong."""
    numbers = {"annotators": annotators, "together": together, "checks": checks, "seed": seed}
    given: dict[str, Any] = {
        "tool": tool,
        "protocol": protocol,
        "test_set": test_set,
        "system": system,
        "references": bool(references),
        "tutorial": bool(tutorial),
        "assignment": assignment,
        **numbers,
    }
    engine = app_state(request).engine
    with reading(engine) as connection:
        organiser_access(connection, principal, name)
    try:
        with form_errors():
            form = FieldReader()
            chosen = {key: form.read(key, _number, text, *NUMBERS[key]) for key, text in numbers.items()}
            form.finish()
            wanted = WantedTasks(
                tool=_one_of(AnnotationTool, tool),
                protocol=_one_of(AnnotationProtocol, protocol),
                test_sets=test_set,
                systems=system,
                references=bool(references),
                tutorial=_tutorial(tutorial_file) or (TUTORIAL if tutorial else ()),
                assignment=_one_of(TaskAssignment, assignment),
                annotators=chosen["annotators"],
                together=chosen["together"],
                checks=chosen["checks"],
                seed=SEED if chosen["seed"] is None else chosen["seed"],
            )
            parts = _made(request, principal, name, wanted)
    except InvalidForm as invalid:
        return _form(request, name, principal, given, invalid)
    headers = {"Content-Disposition": f'attachment; filename="{safe_name(name, wanted.tool.value)}.zip"'}
    return StreamingResponse(parts, media_type="application/zip", headers=headers)


def _tutorial(sent: UploadFile | None) -> Tutorial:
    """The organisers' own tutorial; an empty one where no file was chosen."""
    return () if sent is None or not sent.filename else read_own_tutorial(sent)


def _made(request: Request, principal: Principal, name: str, wanted: WantedTasks) -> Any:
    """The files; what is not there can be chosen anew in the form."""
    try:
        return export_judgment_tasks(app_state(request).engine, principal, name, wanted)
    except NotFound as error:
        raise BadRequest(str(error)) from error


def _one_of(kind: Any, given: str) -> Any:
    try:
        return kind(given)
    except ValueError:
        raise BadRequest(f"{given[:40]!r} cannot be chosen: {', '.join(kind)} can.") from None


def _number(text: str, title: str, least: int, most: int) -> int | None:
    """A number, None for an empty field."""
    text = text.strip()
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most:
        return int(text)
    raise BadRequest(f"{title}: {text[:40]!r} is not a number from {least} to {most}.")


def _form(
    request: Request, name: str, principal: Principal, given: Mapping[str, Any], invalid: InvalidForm | None = None
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        test_sets, systems = names_to_judge(connection, access)
    blank: dict[str, Any] = dict.fromkeys(NUMBERS, "")
    blank |= {"tool": AnnotationTool.APPRAISE, "protocol": AnnotationProtocol.ESA, "test_set": [], "system": []}
    blank |= {"references": False, "tutorial": True, "assignment": TaskAssignment.DYNAMIC}
    return page(
        request,
        "campaigns/manage/judgment_tasks",
        status=invalid.status if invalid else 200,
        title="Tasks for annotators",
        access=access,
        here="manage",
        test_sets=test_sets,
        systems=systems,
        given={**blank, **given},
        error=str(invalid) if invalid else "",
        errors=defaultdict(str, invalid.fields if invalid else {}),
        numbers=NUMBERS,
    )
