"""Takes what a request sends: a file in a form, or a file alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from campaigns.errors import BadRequest
from campaigns.submissions.form import SubmissionFields
from campaigns.submissions.upload_file import Received, shown_name
from models.schema.roles import Scope
from web.dependencies import Asking, credential_of, state_of

FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
READ_AT_ONCE = 1 << 20
MOST_FIELDS = 20


@dataclass
class Incoming:
    """A file that has come in full, with what is said about it."""

    values: Mapping[str, Any]
    """As it was given, for showing it again."""
    file: Received | None

    @property
    def fields(self) -> SubmissionFields:
        """What is said about it. Raises RequestValidationError."""
        try:
            return SubmissionFields.model_validate(dict(self.values))
        except ValidationError as error:
            raise RequestValidationError(
                [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
            ) from error


async def receive(request: Request, principal: Asking) -> AsyncIterator[Incoming]:
    """The output that a request sends, once all of it is here; it is forgotten when the request is answered.

    Who may not hand in at all is refused before anything is read.
    """
    principal.require(Scope.SUBMIT)
    state = state_of(request)
    with Received(state.settings) as file:
        kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        # curl calls a file that it sends as a body a form; fields in the address say that it is none.
        alone = kind == FORMS[1] and "system" in request.query_params and credential_of(request).kind == "token"
        if kind in FORMS and not alone:
            async with request.form(max_files=1, max_fields=MOST_FIELDS) as form:
                values, given = await _from_form(form, file)
        else:
            values = dict(request.query_params)
            file.name = shown_name(values.get("file_name"))
            try:
                async for piece in request.stream():
                    file.write(piece)
            except ClientDisconnect as error:
                raise BadRequest("The request broke off. Send it again.") from error
            given = file.size > 0 or "file_name" in values
        yield Incoming(values, file if given else None)


Receiving = Annotated[Incoming, Depends(receive)]
"""What a request hands in: a parameter `incoming: Receiving` of a route."""


async def _from_form(form: FormData, file: Received) -> tuple[dict[str, Any], bool]:
    """The fields, and whether there is a file: browsers send one without a name where none was chosen."""
    values = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    files = [value for value in form.values() if isinstance(value, UploadFile)]
    if files:
        file.name = shown_name(files[0].filename)
        while piece := await files[0].read(READ_AT_ONCE):
            file.write(piece)
    return values, file.size > 0 or bool(files and files[0].filename)
