"""The zip of an exported campaign: its manifest, and tables as they were written."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadText
from steelyard.text.limits import DEFAULT_LIMITS
from steelyard.text.names import printable
from steelyard.text.spreadsheets import restored
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from zipfile import ZipFile

MANIFEST = "manifest.json"
EXPORT_VERSION = 2
"""Of what is in the zip, and how; a release that writes something else raises it. 2: terms, and `embeddable`."""


class BadExport(BadText):
    """A zip is no exported campaign, or not as it was exported."""


def read_manifest(archive: ZipFile, name: str) -> dict[str, Any]:
    """The manifest of an export.

    Parameters
    ----------
    archive : ZipFile
    name : str
        For messages.

    Returns
    -------
    dict

    Raises
    ------
    BadExport
        For a zip without one, and one whose format is newer than this release.
    """
    if MANIFEST not in archive.namelist():
        raise BadExport(f"{name} is no exported campaign, or one of a release before manifests: it has no {MANIFEST}.")
    try:
        found = json.loads(bytes_of(archive, MANIFEST))
        version, release = int(found["export"]), str(found["release"])
        files = {str(file): str(digest) for file, digest in found["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BadExport(
            f"{name}: {MANIFEST} cannot be read ({type(error).__name__}). Export the campaign again."
        ) from error
    if version > EXPORT_VERSION:
        raise BadExport(
            f"{name} was written by Steelyard {printable(release[:50])}, whose exports have version {version}. This "
            f"release knows version {EXPORT_VERSION}: install a newer one."
        )
    return {**found, "files": files}


def changed_files(archive: ZipFile, files: dict[str, str]) -> list[str]:
    """What in a zip is not as its manifest says, a sentence each.

    Parameters
    ----------
    archive : ZipFile
    files : dict of str to str
        Name and SHA-256.

    Returns
    -------
    list of str
    """
    there = archive.namelist()
    found = [f"{printable(each)} is there twice." for each in sorted({name for name in there if there.count(name) > 1})]
    if missing := sorted(files.keys() - {*there}):
        found.append(f"Missing: {listed([printable(each) for each in missing])}.")
    if more := sorted({*there} - files.keys() - {MANIFEST}):
        found.append(f"Not exported, but there: {listed([printable(each) for each in more])}.")
    found += [
        f"{printable(name)} was changed after the export."
        for name, digest in files.items()
        if name in there and hashlib.sha256(bytes_of(archive, name)).hexdigest() != digest
    ]
    return found


def bytes_of(archive: ZipFile, name: str, most: int | None = None) -> bytes:
    """A file of a zip. What the zip says of its size need not be true: no more than `most` is read.

    Parameters
    ----------
    archive : ZipFile
    name : str
    most : int, optional
        That of a text by default.

    Returns
    -------
    bytes

    Raises
    ------
    BadExport
        Where it is missing, or has more bytes.
    """
    most = most or DEFAULT_LIMITS.file_bytes
    try:
        member = archive.open(name)
    except KeyError as error:
        raise BadExport(f"The zip lacks {printable(name)}. Export the campaign again.") from error
    with member as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise BadExport(f"{printable(name)} has more than {most:,} bytes.")
    return found


def rows_of(archive: ZipFile, name: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a table, as they were before they were written for spreadsheets.

    Parameters
    ----------
    archive : ZipFile
    name : str
    columns : sequence of str
        That it must have.

    Returns
    -------
    list of dict

    Raises
    ------
    BadExport
        For a table without these columns, and one that cannot be read.
    """
    try:
        content = bytes_of(archive, name).decode()
        table = csv.reader(io.StringIO(content, newline=""), delimiter="\t", strict=True)
        header, *lines = table
    except (KeyError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise BadExport(f"{name} cannot be read ({error}). Export the campaign again.") from error
    if missing := [each for each in columns if each not in header]:
        raise BadExport(f"{name} has no column {listed(missing)}. Export the campaign again.")
    if any(len(line) != len(header) for line in lines):
        raise BadExport(f"{name} has rows of different lengths. Export the campaign again.")
    return [dict(zip(header, map(restored, line), strict=True)) for line in lines]
