"""Files that metrics need beside the texts: word vectors, synonym groups, lemma tables.

A resource has a name and is pinned by its content: `news@3f2a9c01b7de` is the one called `news` whose SHA-256 begins
like that.
"""

from __future__ import annotations

import atexit
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, MissingResource
from steelyard.formats.input.given_files import files_under, open_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEFAULT_FOLDER = Path("steelyard-resources")
"""Where resources are registered, unless the user says otherwise."""
DIGITS = 12
"""Of the hash, in hexadecimal: enough for every vector file ever made."""
_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
_DIGEST = re.compile(f"[0-9a-f]{{{DIGITS}}}")


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

    Parameters
    ----------
    folder : Path, optional
        Where resources are registered.
    files : mapping of str to Path, optional
        Those of this run, by name.
    """

    def __init__(self, folder: Path | None = None, files: Mapping[str, Path] | None = None) -> None:
        self.folder = folder
        self.files = dict(files or {})

    def pinned(self, reference: str, what: str) -> str:
        """The name of a resource with the hash of its content.

        Parameters
        ----------
        reference : str
            `NAME` or `NAME@HASH`.
        what : str
            What is looked for, for messages, such as "vectors".

        Returns
        -------
        str
            `NAME@HASH`.

        Raises
        ------
        MissingResource
            With the names there are.
        """
        name, at, digest = reference.partition("@")
        known = {each.name: each.digest for each in self.listed()}
        if at and self._registered(digest):
            return reference
        if name in self.files:
            found = content_digest(self.files[name])
        elif name in known:
            found = known[name]
        else:
            names = ", ".join(sorted({*self.files, *known})) or "none"
            raise MissingResource(
                f'There are no {what} called "{name}". Resources known here: {names}. '
                f"Register them, or name their file for this run with --resource {name}=FILE, in Python with "
                f'resources={{"{name}": "FILE"}}.'
            )
        if at and found != digest:
            raise MissingResource(f"The {what} {reference} are not here: {name} has other content, {found}.")
        return f"{name}@{found}"

    def path(self, pinned: str, what: str) -> Path:
        """Where the content of a resource lies.

        Parameters
        ----------
        pinned : str
            `NAME@HASH`.
        what : str
            What is looked for, for messages.

        Returns
        -------
        Path

        Raises
        ------
        MissingResource
            Where that content is not here.
        """
        name, _, digest = pinned.partition("@")
        if name in self.files and content_digest(self.files[name]) == digest:
            return self.files[name]
        if registered := self._registered(digest):
            return next(registered.iterdir())
        where = f"in {self.folder}" if self.folder else "in this run"
        raise MissingResource(
            f"The {what} {pinned} are not {where}. Register them there (STEELYARD_RESOURCE_FOLDER): every worker "
            "needs them."
        )

    def converted(self, pinned: str, what: str, convert: Callable[[Path, Path], None], form: str = "") -> Path:
        """The content in another form.

        What is registered is converted once, for all processes, into the store; another file for this process alone.

        Parameters
        ----------
        pinned : str
            `NAME@HASH`.
        what : str
            What is looked for, for messages.
        convert : callable
            `convert(content, folder)` fills a folder; what it raises is raised.
        form : str, optional
            Of what it makes; what an earlier release made in another form is left alone.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        MissingResource
            Where that content is not here.
        """
        content = self.path(pinned, what)
        digest = pinned.partition("@")[2]
        kept = (
            self.folder / f".{what}{form and '-'}{form}" / digest if self.folder and self._registered(digest) else None
        )
        if kept is None or not os.access(kept.parents[1], os.W_OK):
            converted = _converted()
            if (digest, what) not in converted:
                folder = _folder_of_this_process()
                convert(content, folder)
                converted[digest, what] = folder
            return converted[digest, what]
        if not kept.is_dir():
            import tempfile

            kept.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parents[1], prefix=".new-") as scratch:
                new = Path(scratch) / digest
                new.mkdir()
                convert(content, new)
                _take(new, kept)
        return kept

    def _registered(self, digest: str) -> Path | None:
        """Where this content lies in the folder, if it does."""
        # A digest comes from whoever wrote the specification: it must not lead out of the folder.
        if not (self.folder and _DIGEST.fullmatch(digest)):
            return None
        place = self.folder / digest
        return place if place.is_dir() and any(place.iterdir()) else None

    def listed(self) -> list[Resource]:
        """What is registered, by name.

        Returns
        -------
        list of Resource
        """
        if self.folder is None:
            return []
        return [_read_entry(path) for path in sorted(self.folder.glob("*.json"))]

    def register(self, name: str, kind: str, content: Path, description: str = "", *, move: bool = False) -> Resource:
        """Copy a file or folder into the store under a name, which may have stood for something else before.

        Parameters
        ----------
        name : str
        kind : str
            What it is, such as "vectors".
        content : Path
        description : str
            One line about it, for lists.
        move : bool
            It is not copied but taken away from where it is, which must be on the same file system.

        Returns
        -------
        Resource

        Raises
        ------
        MissingResource
            Where the name cannot be one or there is no folder.
        """
        import shutil
        import tempfile

        if self.folder is None:
            raise MissingResource("There is no folder to register resources in. Set STEELYARD_RESOURCE_FOLDER.")
        check_name(name)
        resource = Resource(name, content_digest(content), kind, description)
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as scratch:
            if self._registered(resource.digest) is None:
                new = Path(scratch) / resource.digest
                new.mkdir()
                if move:
                    os.replace(content, new / content.name)
                else:
                    (shutil.copytree if content.is_dir() else shutil.copyfile)(content, new / content.name)
                _take(new, self.folder / resource.digest)
            entry = Path(scratch) / "entry"
            entry.write_text(json.dumps(asdict(resource), ensure_ascii=False), "utf-8")
            os.replace(entry, self.folder / f"{name}.json")
        return resource


def given_resources(given: Resources | Mapping[str, str | Path] | None) -> Resources | None:
    """Resources as Python users give them.

    Parameters
    ----------
    given : Resources, or mapping of str to path, or None
        Files by name.

    Returns
    -------
    Resources or None
        None for None.

    Raises
    ------
    BadParameter
        For anything else.
    """
    if given is None or isinstance(given, Resources):
        return given
    if not isinstance(given, Mapping):
        raise BadParameter(f'resources must be files by name, such as {{"flores200": "FILE"}}, and not {given!r:.100}.')
    return Resources(files={name: Path(file) for name, file in given.items()})


def merged_resources(several: Iterable[Resources | None]) -> Resources | None:
    """The resources of several metrics that are scored together.

    Parameters
    ----------
    several : iterable of Resources or None

    Returns
    -------
    Resources or None
        None where there are none.

    Raises
    ------
    BadParameter
        Where one name stands for several files, or two of them have folders.
    """
    given = list(dict.fromkeys(each for each in several if each is not None))
    if len(given) < 2:
        return given[0] if given else None
    files: dict[str, Path] = {}
    for each in given:
        for name, file in each.files.items():
            if files.setdefault(name, file) != file:
                raise BadParameter(f'The resource "{name}" is {files[name]} and {file}. Give them different names.')
    folders = list(dict.fromkeys(each.folder for each in given if each.folder))
    if len(folders) > 1:
        raise BadParameter(f"Resources are registered in {folders[0]} and {folders[1]}. Give one folder for all.")
    return Resources(folders[0] if folders else None, files)


def check_name(name: str) -> None:
    """See that a resource can be called so.

    Parameters
    ----------
    name : str

    Raises
    ------
    MissingResource
        Where it cannot.
    """
    if not _NAME.fullmatch(name):
        raise MissingResource(f'"{name}" cannot be the name of a resource: give letters, digits, ".", "_" and "-".')


def _read_entry(path: Path) -> Resource:
    try:
        return Resource(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise MissingResource(f"{path}: is not an entry of a resource ({error}). Register it again.") from error


@cache
def _converted() -> dict[tuple[str, str], Path]:
    """Folders with converted content that last as long as this process, by hash and kind.

    No module's own variable: `steelyard.plugins.integrity` would take its growth for a change of the house.
    """
    return {}


def _folder_of_this_process() -> Path:
    import shutil
    import tempfile

    folder, process = Path(tempfile.mkdtemp(prefix="steelyard-")), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # and not a fork of it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _take(new: Path, place: Path) -> None:
    """Put a folder in its place, unless another process has put the same there before."""
    try:
        os.replace(new, place)
    except OSError:
        if not place.is_dir():
            raise


def content_digest(path: Path) -> str:
    """The first digits of a file's SHA-256; of a folder's, that of its files' names and contents in order.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str

    Raises
    ------
    MissingResource
        Where it cannot be read.
    TooManyFiles
        For a folder of too many.
    """
    try:
        stat = path.stat()
        return _digest(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise MissingResource(f"{path}: cannot be read ({error.strerror}). Check the path.") from error


@lru_cache(maxsize=64)
def _digest(path: Path, modified: int, size: int) -> str:  # noqa: ARG001 - a changed file is read again
    digest = sha256()
    for each in files_under(path) if path.is_dir() else [path]:
        if path.is_dir():
            digest.update(str(each.relative_to(path)).encode() + b"\0")
        with open_given(each) as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()[:DIGITS]
