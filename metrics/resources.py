"""Files that metrics need beside the texts: word vectors, synonym groups, lemma tables.

A resource has a name and is pinned by its content: `news@3f2a9c01b7de` is the one called `news` whose SHA-256 begins
like that.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.errors import MissingResource

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGITS = 12
"""Of the hash, in hexadecimal: enough for every vector file ever made."""
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that is registered in a folder."""

    name: str
    digest: str
    kind: str
    """What it is, such as "vectors"."""
    description: str = ""
    """One line about its content, for lists."""

    @property
    def pinned(self) -> str:
        """Name and hash, as specifications and signatures have it."""
        return f"{self.name}@{self.digest}"


class Resources:
    """The resources of one run: files that the user named for it, then those registered in a folder.

    In the folder each content lies once, under its hash (`FOLDER/HASH/FILE`), and `FOLDER/NAME.json` says which one a
    name stands for. Registering is atomic: whoever looks sees a resource whole or not at all.
    """

    def __init__(self, folder: Path | None = None, files: Mapping[str, Path] | None = None) -> None:
        self.folder = folder
        self.files = dict(files or {})

    def pinned(self, reference: str, what: str) -> str:
        """`NAME` or `NAME@HASH` with its hash; `what` says in messages what is looked for, such as "vectors".

        Raises MissingResource, with the names there are.
        """
        name, at, digest = reference.partition("@")
        if name in self.files:
            found = content_digest(self.files[name])
        elif name in (known := {each.name: each.digest for each in self.listed()}):
            found = known[name]
        elif at and self.folder and (self.folder / digest).is_dir():
            found = digest
        else:
            names = ", ".join(sorted({*self.files, *known})) or "none"
            raise MissingResource(
                f'There are no {what} called "{name}". Resources known here: {names}. '
                f"Register them, or name their file for this run with --resource {name}=FILE."
            )
        if at and found != digest and not (self.folder and (self.folder / digest).is_dir()):
            raise MissingResource(f"The {what} {reference} are not here: {name} has other content, {found}.")
        return f"{name}@{digest if at else found}"

    def path(self, pinned: str, what: str) -> Path:
        """Where the content of `NAME@HASH` lies. Raises MissingResource."""
        name, _, digest = pinned.partition("@")
        if name in self.files and content_digest(self.files[name]) == digest:
            return self.files[name]
        if self.folder and (self.folder / digest).is_dir():
            return next((self.folder / digest).iterdir())
        where = f"in {self.folder}" if self.folder else "in this run"
        raise MissingResource(
            f"The {what} {pinned} are not {where}. Register them there (STEELYARD_RESOURCE_FOLDER): every worker "
            "needs them."
        )

    def listed(self) -> list[Resource]:
        """What is registered, by name."""
        if self.folder is None:
            return []
        return [Resource(**json.loads(path.read_text("utf-8"))) for path in sorted(self.folder.glob("*.json"))]

    def register(self, name: str, kind: str, content: Path, description: str = "") -> Resource:
        """Copy a file or folder into the store under this name, which may have stood for something else before.

        Raises MissingResource where the name cannot be one or there is no folder.
        """
        if self.folder is None:
            raise MissingResource("There is no folder to register resources in. Set STEELYARD_RESOURCE_FOLDER.")
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise MissingResource(f'"{name}" cannot be the name of a resource: give letters, digits, ".", "_" and "-".')
        resource = Resource(name, content_digest(content), kind, description)
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as scratch:
            if not (self.folder / resource.digest).is_dir():
                new = Path(scratch) / resource.digest
                new.mkdir()
                (shutil.copytree if content.is_dir() else shutil.copyfile)(content, new / content.name)
                if not (self.folder / resource.digest).is_dir():
                    os.replace(new, self.folder / resource.digest)
            entry = Path(scratch) / "entry"
            entry.write_text(json.dumps(asdict(resource), ensure_ascii=False), "utf-8")
            os.replace(entry, self.folder / f"{name}.json")
        return resource


def content_digest(path: Path) -> str:
    """The first digits of a file's SHA-256; of a folder's, that of its files' names and contents in order.

    Raises MissingResource where it cannot be read.
    """
    try:
        stat = path.stat()
        return _digest(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise MissingResource(f"{path}: cannot be read ({error.strerror}). Check the path.") from error


@lru_cache(maxsize=64)
def _digest(path: Path, modified: int, size: int) -> str:  # noqa: ARG001 - a changed file is read again
    digest = sha256()
    for each in sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(str(each.relative_to(path)).encode() + b"\0")
        with each.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()[:DIGITS]
