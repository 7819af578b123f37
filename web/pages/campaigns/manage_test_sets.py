"""Forms of test sets: upload, phase, release of references, metrics, corrections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change, version_of
from campaigns.corrections.corrections import correct_test_set
from campaigns.errors import BadRequest, NotFound
from campaigns.measures import DEFAULT_METRICS, MeasureRequest, add_measures, protocols_on, tokenizer_notices
from campaigns.permissions import CampaignAccess
from campaigns.sandbox.processes import scratch_folder
from campaigns.test_sets.files import InputTestSet, NamedContent, is_language
from campaigns.test_sets.stored import (
    CampaignTestSetInfo,
    add_test_set,
    find_campaign_test_set,
    remove_test_set,
    set_test_set,
)
from models.database.session import reading, writing
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.plain import Text
from steelyard.metrics.registry import parse_metrics
from steelyard.text.languages import language_names
from steelyard.text.names import fault_of_name
from steelyard_client.vocabulary import ResamplingUnit
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other
from web.uploads.large_bodies import accepts_upload
from web.uploads.test_sets import read_sent_correction, read_sent_test_set

router = APIRouter()

ACTIONS = frozenset({"phase", "release", "hide", "measure", "correct", "remove"})
"""What the forms of a test set do."""

Field = Annotated[str, Form(max_length=2000)]
LONGEST_NUMBER = 9
RESAMPLED = [
    (ResamplingUnit.SEGMENT, "segments"),
    (ResamplingUnit.DOCUMENT, "whole documents, whose segments are alike"),
]
COMMON_METRICS = (
    ("bleu", "BLEU", "n-grams of words"),
    ("chrf", "chrF2", "n-grams of characters"),
    ("chrf++", "chrF2++", "characters and words"),
    ("ter", "TER", "edits; lower is better"),
    ("nist", "NIST", "n-grams by information"),
    ("character", "CharacTER", "edits of characters; lower is better"),
)
"""Metrics to tick, each with its title and what it counts; others are written."""


@router.get("/campaigns/{name}/manage/test-sets/new")
def show_new_test_set(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the form of a new test set."""
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        known = protocols_on(connection, access.campaign_id)
    metrics = known[-1].metrics if known else DEFAULT_METRICS
    return _new(request, access, {"metrics": " ".join(metrics)})


@router.post("/campaigns/{name}/manage/test-sets/new")
@accepts_upload
async def upload_test_set(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set_name: Field = "",
    references: Annotated[list[UploadFile] | None, File()] = None,
    source: Annotated[UploadFile | None, File()] = None,
    documents: Annotated[UploadFile | None, File()] = None,
    source_language: Field = "",
    target_language: Field = "",
    variable_references: Field = "",
    phase: Field = "",
    metric: Annotated[list[str] | None, Form(max_length=50)] = None,
    metrics: Field = "",
    replicates: Field = "1000",
    resample: Field = "",
) -> Response:
    """Upload a test set and choose its metrics."""
    state = app_state(request)
    await run_in_threadpool(_organiser_access, request, name, principal)
    given = InputTestSet(
        references=await _files(references or []),
        source=next(iter(await _files([source] if source else [])), None),
        documents=next(iter(await _files([documents] if documents else [])), None),
        source_language=source_language.strip(),
        target_language=target_language.strip(),
        variable_references=bool(variable_references),
    )

    def store(folder: CampaignFolder, measuring: MeasureRequest) -> None:
        with writing(state.engine) as connection:
            access = lock_for_change(connection, principal, name)
            add_test_set(connection, state.settings, access, test_set_name.strip(), folder, measuring, phase=phase)

    asked = list(dict.fromkeys([*(metric or ()), *metrics.split()]))
    try:
        with form_errors(), scratch_folder() as place:
            measuring = _read_fields(given, test_set_name, asked, replicates, resample)
            read = await read_sent_test_set(state, principal, name, given, measuring, place)
            await run_in_threadpool(store, read, measuring)
    except InvalidForm as invalid:
        values = {
            "test_set_name": test_set_name,
            "source_language": source_language,
            "target_language": target_language,
            "variable_references": variable_references,
            "phase": phase,
            "metrics": " ".join(asked),
            "replicates": replicates,
            "resample": resample,
        }
        access = await run_in_threadpool(_organiser_access, request, name, principal)
        return await run_in_threadpool(_new, request, access, values, invalid)
    return see_other(f"/campaigns/{part_of_address(name)}/manage/test-sets?done=test-set")


@router.get("/campaigns/{name}/manage/test-sets/{test_set}")
def show_test_set(request: Request, name: str, test_set: str, principal: CurrentPrincipal) -> Response:
    """Show the management page of a test set."""
    return _one(request, name, test_set, principal)


@router.post("/campaigns/{name}/manage/test-sets/{test_set}")
@accepts_upload
async def change_test_set(
    request: Request,
    name: str,
    test_set: str,
    principal: CurrentPrincipal,
    do: Field = "",
    phase: Field = "",
    early: Field = "",
    metrics: Field = "",
    replicates: Field = "1000",
    resample: Field = "",
    reason: Field = "",
    references: Annotated[list[UploadFile] | None, File()] = None,
    version: Field = "*",
) -> Response:
    """Set the phase of a test set, release, hide or correct its references, add metrics, or delete it."""
    state = app_state(request)
    await run_in_threadpool(_organiser_access, request, name, principal)
    # No form asks for it, so the page has no place to say it.
    if do not in ACTIONS:
        raise BadRequest("Unknown action.")

    def change(texts: Mapping[str, Text]) -> None:
        with writing(state.engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            known = find_campaign_test_set(connection, access, _number(test_set))
            if do == "phase":
                set_test_set(connection, access, known, phase=phase)
            elif do in ("release", "hide"):
                set_test_set(connection, access, known, released=do == "release", early=bool(early))
            elif do == "measure":
                measuring = MeasureRequest(_metrics(metrics), replicates=_count(replicates), resample=_unit(resample))
                add_measures(connection, state.settings, access, known.id, measuring)
            elif do == "correct":
                correct_test_set(connection, state.settings, access, known, texts, reason)
            elif do == "remove":
                remove_test_set(connection, access, known)

    try:
        with form_errors():
            texts: Mapping[str, Text] = {}
            if do == "correct":
                files = await _files(references or [])
                texts = await read_sent_correction(state, principal, name, _number(test_set), files)
            await run_in_threadpool(change, texts)
    except InvalidForm as invalid:
        given = {"metrics": metrics, "replicates": replicates, "resample": resample, "reason": reason}
        return await run_in_threadpool(
            _one, request, name, test_set, principal, given, str(invalid), do, invalid.status
        )
    done = "correct" if do == "correct" else "test-set"
    return see_other(f"/campaigns/{part_of_address(name)}/manage/test-sets?done={done}")


def _organiser_access(request: Request, name: str, principal: Principal) -> CampaignAccess:
    with reading(app_state(request).engine) as connection:
        return organiser_access(connection, principal, name)


async def _files(uploads: Sequence[UploadFile]) -> list[NamedContent]:
    """Read the uploaded files. A browser sends an empty file without a name if none was chosen."""
    read = [NamedContent(each.filename or "", await each.read()) for each in uploads]
    return [each for each in read if each.name or each.content]


def _read_fields(
    given: InputTestSet, name: str, metrics: Sequence[str], replicates: str, resample: str
) -> MeasureRequest:
    """Check what can be checked before the files are read. Raises InvalidForm with all that is wrong."""
    form = FieldReader()
    if fault := fault_of_name(name.strip()):
        form.wrong("test_set_name", f"This cannot be the name of a test set: {fault}.")
    if not given.references:
        form.wrong("references", "A test set needs at least one reference.")
    for field, language in (("source_language", given.source_language), ("target_language", given.target_language)):
        if language and not is_language(language):
            form.wrong(field, f"{language[:20]!r} is not a language code such as cs or pt-BR.")
    if metrics:
        form.read("metrics", parse_metrics, metrics)
    else:
        form.wrong("metrics", "Choose at least one metric.")
    count = form.read("replicates", _count, replicates)
    form.finish()
    assert count is not None
    return MeasureRequest(metrics, replicates=count, resample=_unit(resample))


def _metrics(text: str) -> list[str]:
    if not text.split():
        raise BadRequest("Name at least one metric.")
    return text.split()


def _count(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise BadRequest(f"{text[:20]!r} is not a number of replicates.")
    return int(text)


def _unit(text: str) -> ResamplingUnit | None:
    if text not in ("", *ResamplingUnit):
        raise BadRequest(f"{text[:20]!r} cannot be resampled: choose segments or documents.")
    return ResamplingUnit(text) if text else None


def _number(test_set: str) -> int:
    if not (test_set.isascii() and test_set.isdigit() and len(test_set) < 19):
        raise NotFound
    return int(test_set)


def _new(
    request: Request, access: CampaignAccess, given: Mapping[str, str], invalid: InvalidForm | None = None
) -> Response:
    blank = dict.fromkeys(("test_set_name", "source_language", "target_language", "variable_references", "phase"), "")
    asked = given["metrics"].split()
    offered = [each for each, _, _ in COMMON_METRICS]
    return page(
        request,
        "campaigns/manage/new_test_set",
        status=invalid.status if invalid else 200,
        title="Add a test set",
        access=access,
        here="manage",
        given={
            **blank,
            "replicates": "1000",
            "resample": ResamplingUnit.SEGMENT,
            **given,
            "metrics": " ".join(each for each in asked if each not in offered),
        },
        chosen=asked,
        common=COMMON_METRICS,
        languages=[(code, f"{language} ({code})") for code, language in language_names().items()],
        resampled=RESAMPLED,
        phases=_phases(access),
        error=str(invalid) if invalid else "",
        errors=defaultdict(str, invalid.fields if invalid else {}),
    )


def _one(
    request: Request,
    name: str,
    test_set: str,
    principal: CurrentPrincipal,
    given: Mapping[str, str] | None = None,
    error: str = "",
    where: str = "",
    status: int = 200,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        known: CampaignTestSetInfo = find_campaign_test_set(connection, access, _number(test_set))
        measures = protocols_on(connection, access.campaign_id, known.id)
        version = version_of(connection, access.campaign_id)
    return page(
        request,
        "campaigns/manage/test_set",
        status=status,
        title=f"Test set {known.title}",
        access=access,
        here="manage",
        test_set=known,
        measures=measures,
        notices=tokenizer_notices(measures, known.target_language),
        phases=_phases(access),
        rules_version=version,
        given={"metrics": "", "replicates": "1000", "resample": "", "reason": "", **(given or {})},
        resampled=[("", "as before"), *RESAMPLED],
        errors={where: error} if error else {},
    )


def _phases(access: CampaignAccess) -> list[tuple[str, str]]:
    return [("", "all phases"), *((each.name, each.name) for each in access.phases)]
