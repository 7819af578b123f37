"""Uploads in pieces: what has come stays, so that a connection that breaks costs only what was under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from models.account import Account
from models.base import now
from models.upload import Upload, UploadPart
from web.access.secrets import new_secret
from web.errors import BadRequest, NotThere, Taken, TooLarge, TooMany
from web.submissions.received import shown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Row

    from web.settings import WebSettings

PIECE_BYTES = 1 << 20
"""What is stored at once; what comes faster is cut."""
OFFSET = "Upload-Offset"
"""The header that says where an upload stands."""
UNFINISHED = "There is no such upload of yours. It may be over: begin it again."


@dataclass(frozen=True, slots=True)
class KnownUpload:
    """How far an upload has come."""

    id: int
    secret: str
    name: str
    size: int
    received: int
    sha256: str | None
    expires_at: float

    @property
    def complete(self) -> bool:
        """Whether all of it has come."""
        return self.received == self.size


def begin_upload(
    connection: Connection,
    settings: WebSettings,
    account_id: int,
    *,
    name: str,
    size: int,
    sha256: str | None = None,
) -> KnownUpload:
    """Announce a file of so many bytes. Raises TooLarge, TooMany, BadRequest."""
    connection.execute(delete(Upload).where(Upload.expires_at < now()))
    if size > settings.upload_bytes:
        raise TooLarge(f"{size:,} bytes are more than the {settings.upload_bytes:,} that the server takes.")
    if size < 1:
        raise BadRequest("A file of 0 bytes has no text. Announce how many bytes it has.")
    # The account is held, so that its uploads are counted one request after the other.
    connection.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    there = connection.scalar(select(func.count()).select_from(Upload).where(Upload.account_id == account_id)) or 0
    if there >= settings.open_uploads:
        raise TooMany(
            f"You have {there} uploads that are not finished. Finish or delete some: `GET /api/v1/uploads` lists them."
        )
    row = {
        "secret": new_secret(),
        "account_id": account_id,
        "name": shown_name(name),
        "size": size,
        "sha256": sha256.lower() if sha256 else None,
        "expires_at": now() + settings.upload_seconds,
    }
    return _known(connection.execute(insert(Upload).values(**row).returning(Upload)).one())


def find_upload(connection: Connection, account_id: int, secret: str) -> KnownUpload:
    """An upload of this account. Raises NotThere, also where it is somebody else's."""
    row = connection.execute(select(Upload).where(*_own(account_id, secret))).one_or_none()
    if row is None:
        raise NotThere(UNFINISHED)
    return _known(row)


def list_uploads(connection: Connection, account_id: int) -> list[KnownUpload]:
    """The uploads of an account that are not finished."""
    rows = connection.execute(
        select(Upload).where(Upload.account_id == account_id, Upload.expires_at > now()).order_by(Upload.id)
    )
    return [_known(row) for row in rows]


def add_piece(connection: Connection, account_id: int, secret: str, offset: int, content: bytes) -> KnownUpload:
    """Add what follows on what is there. Raises NotThere, Taken with where it stands, TooLarge."""
    upload = find_upload(connection, account_id, secret)
    if upload.received != offset:
        raise WrongOffset(upload)
    if offset + len(content) > upload.size:
        raise TooLarge(f"{upload.name}: more than the {upload.size:,} bytes that were announced.")
    # Of two that send the same piece at once, one is first.
    moved = connection.execute(
        update(Upload)
        .where(*_own(account_id, secret), Upload.received == offset)
        .values(received=offset + len(content))
        .returning(Upload)
    ).one_or_none()
    if moved is None:
        raise WrongOffset(find_upload(connection, account_id, secret))
    if content:
        connection.execute(insert(UploadPart).values(upload_id=upload.id, begin=offset, content=content))
    return _known(moved)


def read_pieces(connection: Connection, upload: KnownUpload) -> Iterator[bytes]:
    """All that has come, in its order, a piece at a time."""
    begins = connection.scalars(
        select(UploadPart.begin).where(UploadPart.upload_id == upload.id).order_by(UploadPart.begin)
    ).all()
    for begin in begins:
        at = UploadPart.upload_id == upload.id, UploadPart.begin == begin
        yield connection.execute(select(UploadPart.content).where(*at)).scalar_one()


def delete_upload(connection: Connection, account_id: int, secret: str) -> bool:
    """Forget an upload; False where there is none."""
    return connection.execute(delete(Upload).where(*_own(account_id, secret))).rowcount == 1


class WrongOffset(Taken):
    """The piece does not follow on what is there."""

    code = "wrong_offset"

    def __init__(self, upload: KnownUpload) -> None:
        super().__init__(
            f"{upload.name}: {upload.received:,} of {upload.size:,} bytes are here. Go on at offset {upload.received}."
        )
        self.headers[OFFSET] = str(upload.received)


def _own(account_id: int, secret: str) -> tuple[ColumnElement[bool], ...]:
    return Upload.secret == secret, Upload.account_id == account_id, Upload.expires_at > now()


def _known(row: Row[Upload]) -> KnownUpload:
    return KnownUpload(row.id, row.secret, row.name, row.size, row.received, row.sha256, row.expires_at)
