"""Bytes of statistics, in their rows or as content-addressed objects in a store.

A store is a folder that fsspec can write (`file:///...`, `s3://bucket/prefix`). An object is named by the SHA-256 of
its content and written before the transaction that refers to it, so a late worker can only overwrite it with the same
bytes. Its row keeps the full address: after a change of the store, existing objects stay readable.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import Connection, delete, select

from models.errors import BadStore, MissingObject, ModelsError, UnreachableStore
from models.schema.results import ReplicatePart, ShardResult, Statistics
from runtime.private_files import make_private_folders, warn_of_open_folder, write_privately
from runtime.redaction import redacted

LONGEST_ADDRESS = 500
NAME_LENGTH = 64
READ_AT_ONCE = 1 << 20
LARGEST_OBJECT = 1 << 31
"""Bytes per read when only verifying an object."""
_NAME = re.compile(r"([0-9a-f]{64})(\.[0-9a-f]{8})?")
"""Names of objects, and of partially written ones."""
_STORE = re.compile(r"file:///+[^/].*|(?!file:)[a-z][a-z0-9+.-]*://[^/:].*", re.IGNORECASE | re.DOTALL)
"""A folder or a bucket: not the root of a disk, and no chain of drivers, which would keep copies of their own."""

_ODD_FOLDER = re.compile(r"(?<=[^:/])//|/\.\.?(?:/|$)")
"""Folders without a name, `.` and `..`: objects in them can be written to S3, but not listed."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Bytes stored as an object."""

    address: str


Blob: TypeAlias = bytes | StoredObject
"""Bytes to be kept in a row, or the object that holds them."""

TABLES: tuple[type[ShardResult], ...] = (Statistics, ReplicatePart)


def write_object(content: bytes, store: str) -> StoredObject:
    """Write an object.

    Raises
    ------
    BadStore
        If the store's address is invalid.
    OSError
        If the store cannot be written.
    """
    name = hashlib.sha256(content).hexdigest()
    address = f"{_checked(store)}/{name[:2]}/{name}"
    files, path = _files(address)
    if "file" in _protocols(files):
        _write_file(path, content)
    else:
        # Written even if it exists: that makes it young, so that garbage collection keeps it until its row is stored.
        files.pipe_file(path, content)
    return StoredObject(address)


def columns(blob: Blob) -> dict[str, Any]:
    """The columns of a row that holds these bytes."""
    if isinstance(blob, StoredObject):
        return {"blob": b"", "object_url": blob.address}
    return {"blob": blob, "object_url": None}


def content_of(row: Any, most: int) -> bytes:
    """The bytes of a row with `blob` and `object_url`, at most `most`.

    Raises
    ------
    MissingObject
        If the object is missing or damaged.
    UnreachableStore
        If the store cannot be read.
    """
    if row.object_url is None:
        return bytes(row.blob)
    return b"".join(_parts(row.object_url, most))


def _parts(address: str, most: int) -> Iterator[bytes]:
    """Read an object in parts, hardly more than `most` bytes.

    Raises
    ------
    MissingObject
        If the object is missing or damaged; after the last part at the latest.
    UnreachableStore
        If the store cannot be read.
    """
    files, path = _files(address)
    digest, size = hashlib.sha256(), 0
    try:
        with files.open(path, "rb") as file:
            while part := file.read(READ_AT_ONCE):
                size += len(part)
                if size > most:
                    raise MissingObject(_lost(address, f"is damaged: it has more than {most:,} bytes"))
                digest.update(part)
                yield part
    except FileNotFoundError as error:
        raise MissingObject(_lost(address, "is not there")) from error
    except (ModelsError, MemoryError):
        raise
    except Exception as error:
        # Whatever its driver raises: no permission, an unreachable server, an invalid response.
        said = f"{type(error).__name__}: {error}".rstrip(".")
        raise UnreachableStore(redacted(f"The object {address} cannot be read: {said}.")) from error
    if digest.hexdigest() != address[-NAME_LENGTH:]:
        raise MissingObject(_lost(address, "is damaged"))


def read_stored_objects(connection: Connection, evaluations: Collection[int]) -> dict[tuple[int, int], set[str]]:
    """The addresses of objects that rows of these evaluations refer to: (evaluation, metric) -> addresses."""
    found: dict[tuple[int, int], set[str]] = {}
    for table in TABLES:
        placed = select(table.evaluation_id, table.metric, table.object_url).where(
            table.evaluation_id.in_(evaluations), table.object_url.is_not(None)
        )
        for row in connection.execute(placed):
            found.setdefault((row.evaluation_id, row.metric), set()).add(row.object_url)
    return found


def find_lost_objects(addresses: Iterable[str]) -> set[str]:
    """Those of the objects that are missing or damaged. Reads them all: do not call it within a transaction."""
    lost = set()
    for address in addresses:
        try:
            for _ in _parts(address, LARGEST_OBJECT):
                pass
        except MissingObject:
            lost.add(address)
    return lost


def delete_object_rows(connection: Connection, evaluations: Collection[int], addresses: Collection[str]) -> int:
    """Delete rows of these evaluations that refer to these objects, so that they are recomputed; their number."""
    return sum(
        connection.execute(
            delete(table).where(table.evaluation_id.in_(evaluations), table.object_url.in_(sorted(addresses)))
        ).rowcount
        for table in TABLES
    )


def collect_garbage(
    connection: Connection, store: str, *, older_seconds: float, force: bool = False
) -> tuple[int, int]:
    """Delete the objects of a store that no row refers to; (kept, deleted).

    Objects younger than `older_seconds` are kept, since their rows may not be committed yet. The age is measured by the
    clocks of the store and of this machine: allow for their difference.

    Raises BadStore, unless `force`, if more objects would be deleted than rows refer to: then the store probably
    belongs to another database as well, and objects do not record their owner.
    """
    files, folder = _files(_checked(store))
    wanted = {
        bytes.fromhex(address[-NAME_LENGTH:])
        for table in TABLES
        for address in connection.scalars(select(table.object_url).where(table.object_url.is_not(None)).distinct())
        if address is not None
    }
    before = datetime.now(UTC) - timedelta(seconds=older_seconds)
    known = young = 0
    unwanted = []
    for path in _objects(files, folder):
        name = _NAME.fullmatch(path.rpartition("/")[2])
        if name is None:
            continue
        if name[2] is None and bytes.fromhex(name[1]) in wanted:
            known += 1
            continue
        modified = files.modified(path)
        if modified.replace(tzinfo=modified.tzinfo or UTC) > before:
            young += 1
        else:
            unwanted.append(path)
    if len(unwanted) > known and not force:
        raise BadStore(
            f"This database refers to {known:,} objects in {redacted(store)}, and {len(unwanted):,} would be deleted. "
            "Does another installation keep its statistics there? They would be lost: give each a folder of its own. "
            "If they should be deleted, use --force."
        )
    for path in unwanted:
        files.rm_file(path)
    return known + young, len(unwanted)


def _objects(files: Any, folder: str) -> Iterator[str]:
    """The paths of the objects in a store."""
    if files.exists(folder):
        for part in files.ls(folder, detail=False):
            if len(part.rstrip("/").rpartition("/")[2]) == len("ab"):
                yield from files.ls(part, detail=False)


def _checked(store: str) -> str:
    try:
        parts = urlsplit(store)
    except ValueError:
        raise BadStore from None
    # The address is kept in rows, which are shown and copied.
    if "@" in parts.netloc:
        raise BadStore(
            f"The store of statistics {parts.scheme}://... names a user: addresses are kept in the database. Give user "
            "and password in the environment, as the store's driver says."
        )
    if parts.query or parts.fragment:
        raise BadStore(
            f"The store of statistics {parts.scheme}://... has options: addresses are kept in the database. Give "
            "them in the environment, as the store's driver says."
        )
    folder = store.rstrip("/")
    odd = "::" in folder or _ODD_FOLDER.search(folder)
    if odd or not _STORE.fullmatch(store) or len(store) > LONGEST_ADDRESS - NAME_LENGTH - len("/ab/"):
        raise BadStore(
            f"{redacted(store)!r} cannot be a store of statistics. Write file:///FOLDER or s3://BUCKET/FOLDER."
        )
    return folder


def _files(address: str) -> tuple[Any, str]:
    # Imported here: most installations keep everything in SQL.
    from fsspec.core import url_to_fs

    try:
        files, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise BadStore(redacted(f"{address} cannot be used to store statistics: {error}.")) from error
    return files, path


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)


def _write_file(path: str, content: bytes) -> None:
    """Write atomically and durably: a row is about to refer to it."""
    folder = os.path.dirname(path)
    make_private_folders(folder)
    warn_of_open_folder(os.path.dirname(folder))
    part = f"{path}.{uuid.uuid4().hex[:8]}"
    with open(part, "wb", opener=write_privately) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def _lost(address: str, what: str) -> str:
    return (
        f"An object with statistics {what}: {address}. Restore it, or recompute the evaluation: "
        "`steelyard submission retry` recomputes what is missing."
    )
