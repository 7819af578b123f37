"""The files of a test set, read with all the checks of a campaign's folder."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campaigns.errors import BadRequest
from campaigns.sandbox.limits import Limits
from campaigns.submissions.segment_lengths import check_segments
from steelyard.errors import BadText
from steelyard.formats.campaign.campaigns import read_any_campaign
from steelyard.formats.detection import read_text
from steelyard.formats.file_names import is_text, system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of
from steelyard.text.limits import TextLimits
from steelyard.text.names import fault_of_name

if TYPE_CHECKING:
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text

MAX_REFERENCES = 50
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class NamedContent:
    """A file that somebody uploaded."""

    name: str
    """The sender's name for it: used for a label, never as a path on the server."""
    content: bytes


@dataclass(frozen=True, slots=True)
class InputTestSet:
    """The files of a test set."""

    references: Sequence[NamedContent]
    """Plain texts are labelled by their names, `A.txt`; mteval's format and WMT's XML contain the labels."""
    source: NamedContent | None = None
    documents: NamedContent | None = None
    source_language: str = ""
    target_language: str = ""
    variable_references: bool = False


def is_language(code: str) -> bool:
    """Return whether this has the form of a language code."""
    return _LANGUAGE.fullmatch(code) is not None


def read_test_set_files(
    given: InputTestSet, place: Path, limits: Limits, metrics: Collection[str] = frozenset()
) -> CampaignFolder:
    """Read the files of a test set with all the checks of a campaign's folder; large texts stay in files at `place`.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadText
        If a text is invalid, with all problems, by file and line; also for a reference with a segment that is too
        long for one of `metrics`.
    """
    if not given.references:
        raise BadRequest("A test set needs at least one reference.")
    if len(given.references) > MAX_REFERENCES:
        raise BadRequest(f"A test set can have at most {MAX_REFERENCES} references.")
    for language in (given.source_language, given.target_language):
        if language and not is_language(language):
            raise BadRequest(f"{language[:20]!r} is not a language code such as cs or pt-BR.")
    # A folder of its own, so that messages name "test set/refs/A.txt" and never a path on the server.
    folder = place / "test set"

    def named(message: str) -> str:
        return message.replace(f"{folder}/", "").replace(str(folder), "test set")

    try:
        read = _read(folder, _write_folder(folder, given, limits.text), given, limits)
        for reference in read.references.values():
            check_segments(reference, metrics, limits.segment_seconds)
        return replace(read, notices=tuple(map(named, read.notices)))
    except BadText as error:
        raise BadText(named(str(error))) from error


def read_reference_files(
    files: Sequence[NamedContent], limits: Limits, metrics: Collection[str] = frozenset()
) -> dict[str, Text]:
    """Read references by label, each from a file with that name.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadText
        As in `read_test_set_files`.
    """
    texts: dict[str, Text] = {}
    for file in files:
        label = system_name(_basename(file.name))
        if label in texts:
            raise BadRequest(f"There are two files for the reference {label[:100]!r}. Upload only one.")
        texts[label] = read_text(file.content, name=_display_name(file.name), limits=limits.text)
        check_segments(texts[label], metrics, limits.segment_seconds)
    return texts


def _write_folder(folder: Path, given: InputTestSet, limits: TextLimits) -> list[Path]:
    """Write the files in the layout of a campaign's folder; returns those in a format with segment ids."""
    (folder / "refs").mkdir(parents=True)
    marked = []
    labels: set[str] = set()
    for number, (role, file) in enumerate(
        [("source", given.source), *(("reference", each) for each in given.references)]
    ):
        if file is None:
            continue
        contents = opened(file.content, name=_display_name(file.name), limits=limits)
        ending = _ending(file.name)
        if reader_of(contents.head).kind is Kind.DOCUMENTS:
            path = folder / f"{number} {_safe_file_name(file.name)}"
            marked.append(path)
        elif role == "source":
            path = folder / f"source{ending}"
        else:
            label = system_name(_basename(file.name))
            if fault := fault_of_name(label):
                raise BadRequest(f"{label[:50]!r} cannot be the label of a reference: {fault}. Rename the file.")
            if label in labels:
                raise BadRequest(f"Two references are called {label!r}. Rename one of the files.")
            labels.add(label)
            path = folder / "refs" / f"{label}{ending}"
        path.write_bytes(file.content)
    if given.documents is not None:
        (folder / "docs.tsv").write_bytes(given.documents.content)
    said = {"source_language": given.source_language, "target_language": given.target_language}
    meta = {"variable_references": given.variable_references, **{key: each for key, each in said.items() if each}}
    (folder / "meta.json").write_text(json.dumps(meta))
    return marked


def _read(folder: Path, marked: list[Path], given: InputTestSet, limits: Limits) -> CampaignFolder:
    bounds: Any = {"limits": limits.text, "markup_limits": limits.markup}
    if not marked:
        return read_any_campaign([folder], name="test set", without_systems=True, **bounds)
    if len(marked) < len(given.references) + (given.source is not None):
        raise BadRequest("Some of these files have segment ids and others do not. Use the same format for all.")
    read = read_any_campaign(marked, name="test set", without_systems=True, **bounds)
    if read.systems:
        raise BadRequest("These files also contain system outputs. Upload only source and references.")
    return replace(
        read,
        source_language=given.source_language or read.source_language,
        target_language=given.target_language or read.target_language,
    )


def _basename(name: str) -> str:
    """Return the last part of a path, with slashes or backslashes."""
    return re.split(r"[/\\]", name)[-1]


def _ending(name: str) -> str:
    """Return `.treex.gz` and the like; other files are read as text, by their content."""
    packed = ".gz" if name.lower().endswith(".gz") else ""
    ending = Path(name[: len(name) - len(packed)]).suffix.lower()
    return f"{ending if is_text(ending) else '.txt'}{packed}"


def _safe_file_name(name: str) -> str:
    """Return a file name that is valid on every file system."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", _basename(name))[-60:] or "file"


def _display_name(name: str) -> str:
    return _basename(name)[:100] or "a file"
