"""Uploads in pieces."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from models.roles import Scope
from models.session import reading, writing
from web.asking import Asking, state_of
from web.errors import BadRequest, NotThere
from web.large_bodies import takes_piece
from web.state import State
from web.submissions.uploads import (
    OFFSET,
    PIECE_BYTES,
    UNFINISHED,
    KnownUpload,
    add_piece,
    begin_upload,
    delete_upload,
    find_upload,
    list_uploads,
)

router = APIRouter(prefix="/uploads", tags=["uploads"])

PIECE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class NewUpload(BaseModel):
    """A file that is going to be sent."""

    name: str = Field(default="", max_length=200)
    """What messages call it."""
    size: int = Field(ge=1, le=2**53)
    """Bytes of the file, as it will be sent."""
    sha256: str | None = Field(default=None, pattern=r"^[0-9A-Fa-f]{64}$")
    """Of the file: it is looked at once all of it is here."""


class Upload(BaseModel):
    """How far an upload has come."""

    id: str
    """Its name in addresses; nobody else's account can use it."""
    name: str
    size: int
    received: int
    """Where the next piece begins."""
    complete: bool
    expires_at: float
    """Seconds since 1970."""


class Uploads(BaseModel):
    """One's uploads that are not handed in."""

    items: list[Upload]
    next: None = None


@router.post("", status_code=201)
def announce_upload(request: Request, response: Response, principal: Asking, new: NewUpload) -> Upload:
    """Announce a file that is sent in pieces: `PUT` them to the address of the answer, then hand it in by its id."""
    account_id = principal.require(Scope.SUBMIT)
    state = state_of(request)
    with writing(state.engine) as connection:
        upload = begin_upload(connection, state.settings, account_id, name=new.name, size=new.size, sha256=new.sha256)
    response.headers["Location"] = f"{request.url.path}/{upload.secret}"
    return _shown(response, upload)


@router.get("")
def list_own_uploads(request: Request, principal: Asking) -> Uploads:
    """Uploads of this account that are neither handed in nor over."""
    account_id = principal.require(Scope.SUBMIT)
    with reading(state_of(request).engine) as connection:
        return Uploads(items=[_shown(None, each) for each in list_uploads(connection, account_id)])


@router.get("/{upload}")
def read_upload(request: Request, response: Response, principal: Asking, upload: str) -> Upload:
    """How much of an upload is here: go on there after a connection broke."""
    account_id = principal.require(Scope.SUBMIT)
    with reading(state_of(request).engine) as connection:
        return _shown(response, find_upload(connection, account_id, upload))


@router.head("/{upload}", include_in_schema=False)
def look_at_upload(request: Request, principal: Asking, upload: str) -> Response:
    """The same in the header `Upload-Offset` alone."""
    response = Response()
    read_upload(request, response, principal, upload)
    return response


@router.patch("/{upload}", openapi_extra=PIECE, include_in_schema=False)
@router.put("/{upload}", openapi_extra=PIECE)
@takes_piece
async def send_piece(
    request: Request,
    response: Response,
    principal: Asking,
    upload: str,
    offset: Annotated[int | None, Query(ge=0)] = None,
    upload_offset: Annotated[int | None, Header(ge=0)] = None,
) -> Upload:
    """Send what follows on what is here, as much as you like; `offset` says where it begins.

    What has come of a request that breaks off stays. An offset that is not where the upload stands is answered by 409
    with the header `Upload-Offset`.
    """
    account_id = principal.require(Scope.SUBMIT)
    state = state_of(request)
    at = offset if offset is not None else upload_offset
    if at is None:
        raise BadRequest(f"Say where the piece begins: ?offset=0, or the header {OFFSET}.")
    known = await run_in_threadpool(_add, state, account_id, upload, at, b"")
    pending = bytearray()
    try:
        async for part in request.stream():
            pending += part
            while len(pending) >= PIECE_BYTES:
                piece = bytes(pending[:PIECE_BYTES])
                del pending[:PIECE_BYTES]
                known = await run_in_threadpool(_add, state, account_id, upload, known.received, piece)
    except ClientDisconnect:
        # Nobody hears the answer; what is here is kept for the next request.
        pass
    if pending:
        known = await run_in_threadpool(_add, state, account_id, upload, known.received, bytes(pending))
    return _shown(response, known)


@router.delete("/{upload}", status_code=204)
def forget_upload(request: Request, principal: Asking, upload: str) -> None:
    """Forget an upload."""
    account_id = principal.require(Scope.SUBMIT)
    with writing(state_of(request).engine) as connection:
        if not delete_upload(connection, account_id, upload):
            raise NotThere(UNFINISHED)


def _add(state: State, account_id: int, upload: str, offset: int, piece: bytes) -> KnownUpload:
    with writing(state.engine) as connection:
        return add_piece(connection, account_id, upload, offset, piece)


def _shown(response: Response | None, upload: KnownUpload) -> Upload:
    if response is not None:
        response.headers[OFFSET] = str(upload.received)
    return Upload(
        id=upload.secret,
        name=upload.name,
        size=upload.size,
        received=upload.received,
        complete=upload.complete,
        expires_at=upload.expires_at,
    )
