"""Reads a campaign out of a zip, in the sandbox: unpacked within limits, whole or not at all."""

from __future__ import annotations

import dataclasses
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from campaigns.errors import BadRequest
from campaigns.imports.export import read_export
from campaigns.imports.pairs import read_pairs
from steelyard.errors import BadText, MetricsError
from steelyard.formats.campaign.exports import MANIFEST
from steelyard.formats.campaign.pair_folders import has_pairs
from steelyard.text.names import printable

if TYPE_CHECKING:
    from campaigns.imports.content import CampaignContent
    from steelyard.text.limits import TextLimits

MAX_FILES = 20_000
MAX_NAME_BYTES = 250


def read_campaign_zip(path: Path, place: Path, limits: TextLimits) -> CampaignContent:
    """Read a zip; large texts stay in the folder `place`.

    Raises
    ------
    BadRequest
        For anything but an export as it was written, of this release or an earlier one, or a folder of pairs.
    BadText
        For texts that do not fit together, with all problems, by file and line.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if MANIFEST in names:
                return read_export(archive, place, limits)
            folder = _unpacked(archive, place, limits)
    except (zipfile.BadZipFile, EOFError, RuntimeError, zlib.error, NotImplementedError, OverflowError) as error:
        raise BadRequest("This is no zip, or a damaged one. Export the campaign again.") from error
    if not has_pairs(folder):
        raise BadRequest(
            f"This zip is no exported campaign (it has no {MANIFEST}), and no folder of language pairs: sources/, "
            "references/, documents/ and system-outputs/PAIR/ of WMT and mt-metrics-eval."
        )
    try:
        content = read_pairs(folder, limits)
        # Our own paths are nobody's business.
        told = tuple(each.removeprefix(f"{folder}: ").replace(f"{folder}/", "") for each in content.notices)
        return dataclasses.replace(content, notices=told)
    except BadText as error:
        raise BadText(str(error).replace(f"{folder}/", "").replace(str(folder), "the folder")) from error
    except MetricsError as error:
        raise BadRequest(str(error).replace(f"{folder}/", "")) from error


def _unpacked(archive: zipfile.ZipFile, place: Path, limits: TextLimits) -> Path:
    """The folder in a zip: its files themselves, or what is in its only folder."""
    members = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if len(members) > MAX_FILES:
        raise BadRequest(f"The zip has {len(members):,} files; {MAX_FILES:,} are the most.")
    left = limits.file_bytes
    root = place / "unpacked"
    for each in members:
        parts = PurePosixPath(each.filename).parts
        if any(part in ("..", "/") or len(part.encode()) > MAX_NAME_BYTES for part in parts) or "\0" in each.filename:
            raise BadRequest(
                f"The zip has a file with the name {printable(each.filename)[:100]}, which cannot be used."
            )
        target = root.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(each) as content, target.open("wb") as written:
            # What the zip says of sizes need not be true.
            while part := content.read(1 << 20):
                left -= len(part)
                if left < 0:
                    raise BadRequest(
                        f"The zip has more than {limits.file_bytes:,} bytes unpacked, the most of an upload."
                    )
                written.write(part)
    root.mkdir(exist_ok=True)
    there = list(root.iterdir())
    return there[0] if len(there) == 1 and there[0].is_dir() and not has_pairs(root) else root
