"""Forms of test sets: uploaded, bound to phases, released, corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.accounts.principal import Principal
from campaigns.changes import to_change, version_of
from campaigns.corrections import correct
from campaigns.errors import BadRequest, NotThere
from campaigns.measures import DEFAULT_METRICS, Measuring, add_measures, protocols_on, tokenizer_notices
from campaigns.permissions import Sight
from campaigns.sandbox.processes import scratch_folder
from campaigns.test_sets import (
    GivenFile,
    GivenTestSet,
    KnownTestSet,
    add_test_set,
    find_campaign_test_set,
    remove_test_set,
    set_test_set,
)
from metrics.text.folder import CampaignFolder
from metrics.text.plain import Text
from models.database.session import reading, writing
from web.dependencies import Asking, state_of
from web.pages.forms import Refused, filled_in
from web.pages.manage import organised
from web.pages.rendering import page, part_of_address, see_other
from web.uploads.large_bodies import takes_upload
from web.uploads.test_sets import read_sent_correction, read_sent_test_set

router = APIRouter()

Word = Annotated[str, Form(max_length=2000)]
LONGEST_NUMBER = 9


@router.get("/campaigns/{name}/manage/test-sets/new")
def show_new_test_set(request: Request, name: str, principal: Asking) -> Response:
    """The form of a new test set."""
    with reading(state_of(request).engine) as connection:
        sight = organised(connection, principal, name)
        known = protocols_on(connection, sight.campaign_id)
    metrics = known[-1].metrics if known else DEFAULT_METRICS
    return _new(request, sight, {"metrics": " ".join(metrics)})


@router.post("/campaigns/{name}/manage/test-sets/new")
@takes_upload
async def upload_test_set(
    request: Request,
    name: str,
    principal: Asking,
    test_set_name: Word = "",
    references: Annotated[list[UploadFile] | None, File()] = None,
    source: Annotated[UploadFile | None, File()] = None,
    documents: Annotated[UploadFile | None, File()] = None,
    source_language: Word = "",
    target_language: Word = "",
    variable_references: Word = "",
    phase: Word = "",
    metrics: Word = "",
    replicates: Word = "1000",
) -> Response:
    """Upload a test set with all that is measured on it."""
    state = state_of(request)
    await run_in_threadpool(_organised, request, name, principal)
    given = GivenTestSet(
        references=await _files(references or []),
        source=next(iter(await _files([source] if source else [])), None),
        documents=next(iter(await _files([documents] if documents else [])), None),
        source_language=source_language.strip(),
        target_language=target_language.strip(),
        variable_references=bool(variable_references),
    )

    def store(folder: CampaignFolder, measuring: Measuring) -> None:
        with writing(state.engine) as connection:
            sight = to_change(connection, principal, name)
            add_test_set(connection, state.settings, sight, test_set_name.strip(), folder, measuring, phase=phase)

    try:
        with filled_in(), scratch_folder() as place:
            measuring = Measuring(metrics.split(), replicates=_count(replicates))
            read = await read_sent_test_set(state, principal, name, given, measuring, place)
            await run_in_threadpool(store, read, measuring)
    except Refused as refused:
        words = {
            "test_set_name": test_set_name,
            "source_language": source_language,
            "target_language": target_language,
            "variable_references": variable_references,
            "phase": phase,
            "metrics": metrics,
            "replicates": replicates,
        }
        sight = await run_in_threadpool(_organised, request, name, principal)
        return await run_in_threadpool(_new, request, sight, words, str(refused), refused.status)
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done=test-set#test-sets")


@router.get("/campaigns/{name}/manage/test-sets/{test_set}")
def show_test_set(request: Request, name: str, test_set: str, principal: Asking) -> Response:
    """What can be done with a test set."""
    return _one(request, name, test_set, principal)


@router.post("/campaigns/{name}/manage/test-sets/{test_set}")
@takes_upload
async def change_test_set(
    request: Request,
    name: str,
    test_set: str,
    principal: Asking,
    do: Word = "",
    phase: Word = "",
    early: Word = "",
    metrics: Word = "",
    replicates: Word = "1000",
    reason: Word = "",
    references: Annotated[list[UploadFile] | None, File()] = None,
    version: Word = "*",
) -> Response:
    """Bind a test set to a phase, release its references or hide them, measure more, correct references, remove it."""
    state = state_of(request)
    await run_in_threadpool(_organised, request, name, principal)

    def change(texts: Mapping[str, Text]) -> None:
        with writing(state.engine) as connection:
            sight = to_change(connection, principal, name, version)
            known = find_campaign_test_set(connection, sight, _number(test_set))
            if do == "phase":
                set_test_set(connection, sight, known, phase=phase)
            elif do in ("release", "hide"):
                set_test_set(connection, sight, known, released=do == "release", early=bool(early))
            elif do == "measure":
                measuring = Measuring(_metrics(metrics), replicates=_count(replicates))
                add_measures(connection, state.settings, sight, known.id, measuring)
            elif do == "correct":
                correct(connection, state.settings, sight, known, texts, reason)
            elif do == "remove":
                remove_test_set(connection, sight, known)
            else:
                raise BadRequest("There is no such thing to do.")

    try:
        with filled_in():
            texts: Mapping[str, Text] = {}
            if do == "correct":
                files = await _files(references or [])
                texts = await read_sent_correction(state, principal, name, _number(test_set), files)
            await run_in_threadpool(change, texts)
    except Refused as refused:
        given = {"metrics": metrics, "replicates": replicates, "reason": reason}
        return await run_in_threadpool(
            _one, request, name, test_set, principal, given, str(refused), do, refused.status
        )
    done = "correct" if do == "correct" else "test-set"
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done={done}#test-sets")


def _organised(request: Request, name: str, principal: Principal) -> Sight:
    with reading(state_of(request).engine) as connection:
        return organised(connection, principal, name)


async def _files(uploads: Sequence[UploadFile]) -> list[GivenFile]:
    """Those that were chosen: a browser sends an empty one without a name where nothing was."""
    read = [GivenFile(each.filename or "", await each.read()) for each in uploads]
    return [each for each in read if each.name or each.content]


def _metrics(written: str) -> list[str]:
    if not written.split():
        raise BadRequest("Name at least one metric.")
    return written.split()


def _count(written: str) -> int:
    written = written.strip()
    if not (written.isascii() and written.isdigit() and len(written) <= LONGEST_NUMBER):
        raise BadRequest(f"{written[:20]!r} is no number of replicates.")
    return int(written)


def _number(test_set: str) -> int:
    if not (test_set.isascii() and test_set.isdigit() and len(test_set) < 19):
        raise NotThere
    return int(test_set)


def _new(request: Request, sight: Sight, given: Mapping[str, str], fault: str = "", status: int = 200) -> Response:
    blank = dict.fromkeys(("test_set_name", "source_language", "target_language", "variable_references", "phase"), "")
    return page(
        request,
        "manage_new_test_set",
        status=status,
        title="Add a test set",
        sight=sight,
        here="manage",
        given={**blank, "metrics": "", "replicates": "1000", **given},
        phases=_phases(sight),
        fault=fault,
    )


def _one(
    request: Request,
    name: str,
    test_set: str,
    principal: Asking,
    given: Mapping[str, str] | None = None,
    fault: str = "",
    where: str = "",
    status: int = 200,
) -> Response:
    with reading(state_of(request).engine) as connection:
        sight = organised(connection, principal, name)
        known: KnownTestSet = find_campaign_test_set(connection, sight, _number(test_set))
        measures = protocols_on(connection, sight.campaign_id, known.id)
        version = version_of(connection, sight.campaign_id)
    return page(
        request,
        "manage_test_set",
        status=status,
        title=f"Test set {known.title}",
        sight=sight,
        here="manage",
        test_set=known,
        measures=measures,
        notices=tokenizer_notices(measures, known.target_language),
        phases=_phases(sight),
        rules_version=version,
        given={"metrics": "", "replicates": "1000", "reason": "", **(given or {})},
        faults={where: fault} if fault else {},
    )


def _phases(sight: Sight) -> list[tuple[str, str]]:
    return [("", "all phases"), *((each.name, each.name) for each in sight.phases)]
