"""Receives the submission of a request: a file in a form, or the file as the body."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from campaigns.errors import BadRequest
from campaigns.submissions.form import SubmissionFields
from campaigns.submissions.upload_file import UploadedFile, shown_name
from models.schema.roles import Scope
from web.dependencies import CurrentPrincipal, app_state, credential_of

FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
CHUNK_BYTES = 1 << 20
MAX_FIELDS = 20
MAX_FILES = 100
"""In one form."""


@dataclass
class SubmissionRequest:
    """A completely received file, with the fields of the submission."""

    values: Mapping[str, Any]
    """The fields as sent, for showing the form again."""
    file: UploadedFile | None

    @property
    def fields(self) -> SubmissionFields:
        """The validated fields. Raises RequestValidationError."""
        try:
            return SubmissionFields.model_validate(dict(self.values))
        except ValidationError as error:
            raise RequestValidationError(
                [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
            ) from error


@dataclass
class SeveralRequest:
    """The files of a form, completely received, with the fields of the submissions."""

    values: Mapping[str, Any]
    files: Sequence[UploadedFile]

    @property
    def single(self) -> SubmissionRequest:
        """The request of one file, or of none."""
        return SubmissionRequest(self.values, self.files[0] if self.files else None)


async def receive_submissions(request: Request, principal: CurrentPrincipal) -> AsyncIterator[SeveralRequest]:
    """Receive all outputs of a form completely; their files are deleted after the response.

    As `receive_submission`, for forms alone.
    """
    principal.require(Scope.SUBMIT)
    state = app_state(request)
    with ExitStack() as stack:
        async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS) as form:
            values = {name: value for name, value in form.multi_items() if isinstance(value, str)}
            files = []
            for _, value in form.multi_items():
                # Without a choice, browsers send a file without a name.
                if isinstance(value, UploadFile) and (value.filename or value.size):
                    files.append(stack.enter_context(UploadedFile(state.settings)))
                    await _copy(value, files[-1])
        yield SeveralRequest(values, files)


async def receive_submission(request: Request, principal: CurrentPrincipal) -> AsyncIterator[SubmissionRequest]:
    """Receive the output of a request completely; its file is deleted after the response.

    Principals without the scope to submit are refused before the body is read.
    """
    principal.require(Scope.SUBMIT)
    state = app_state(request)
    with UploadedFile(state.settings) as file:
        kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        # curl labels a raw body as a form; fields in the query tell the two apart.
        alone = kind == FORMS[1] and "system" in request.query_params and credential_of(request).kind == "token"
        if kind in FORMS and not alone:
            async with request.form(max_files=1, max_fields=MAX_FIELDS) as form:
                values, given = await _from_form(form, file)
        else:
            values = dict(request.query_params)
            file.name = shown_name(values.get("file_name"))
            try:
                async for chunk in request.stream():
                    file.write(chunk)
            except ClientDisconnect as error:
                raise BadRequest("The connection was interrupted. Send the request again.") from error
            given = file.size > 0 or "file_name" in values
        yield SubmissionRequest(values, file if given else None)


ReceivedSubmissions = Annotated[SeveralRequest, Depends(receive_submissions)]
"""All submissions of a form, as `ReceivedSubmission`."""
ReceivedSubmission = Annotated[SubmissionRequest, Depends(receive_submission)]
"""The submission of a request: a parameter `incoming: ReceivedSubmission` of a route."""


async def _from_form(form: FormData, file: UploadedFile) -> tuple[dict[str, Any], bool]:
    """The fields, and whether there is a file: without a choice, browsers send one without a name."""
    values = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    files = [value for value in form.values() if isinstance(value, UploadFile)]
    if files:
        await _copy(files[0], file)
    return values, file.size > 0 or bool(files and files[0].filename)


async def _copy(sent: UploadFile, file: UploadedFile) -> None:
    file.name = shown_name(sent.filename)
    while chunk := await sent.read(CHUNK_BYTES):
        file.write(chunk)
