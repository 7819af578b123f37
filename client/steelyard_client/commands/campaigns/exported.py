"""Exported campaigns as files: a zip, or the folder that mt-metrics-eval reads."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError
from steelyard.formats.file_names import system_name
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

OWNER_ONLY = 0o600
FOLDERS_OF_PAIRS = ("sources", "references", "documents", "system-outputs", "metric-scores", "human-scores")
BESIDE = ("automatic_scores", "human")
"""What may lie beside them: WMT25's scores of metrics, and judgments as annotation tools export them."""
ENDINGS = (".jsonl", ".xml", ".sgm", ".sgml")
"""Of files that say themselves which pairs they are of: WMT25's, WMT26's, WMT24++'s and WMT's XML."""
NAMES = "names.json"
"""The file of the folder that says what each name stands for, and what is left out."""


def write_zip(path: Path, content: bytes) -> None:
    """Write a zip that nobody else can read: it may contain outputs and scores that are not public yet."""
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, OWNER_ONLY)) as written:
        os.fchmod(written.fileno(), OWNER_ONLY)
        written.write(content)


def write_folder(folder: Path, content: bytes) -> list[str]:
    """Write what a zip holds into a new folder; returns notices on what is left out.

    Raises
    ------
    CommandError
        Where the folder has something in it already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} exists and is not an empty folder. Give the name of a new one.")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
        described = json.loads(archive.read(NAMES))
    left_out = [f"{name} is left out: it has no texts, or none that you may see." for name in described["left_out"]]
    return left_out + [
        f"{pair}: left out: {each}" for pair, about in described["pairs"].items() for each in about["left_out"]
    ]


def name_of_campaign(paths: Sequence[Path]) -> str:
    """What a campaign is called by its folder, its zip, or the first of its files, as `steelyard evaluate` calls it."""
    name = paths[0].resolve().name
    return system_name(name) if _are_rows(paths) else name.removesuffix(".zip")


def read_campaign_files(paths: Sequence[Path]) -> bytes:
    """Return a zip, a campaign's folder as one, or its files in JSON Lines, a test file and one for each system.

    Raises
    ------
    CommandError
        Where it is none of these.
    """
    if not _are_rows(paths):
        return read_campaign_file(paths[0])
    from steelyard.formats.campaign.document_row_files import has_test_file

    for path in paths:
        if not path.is_file():
            what = "is a folder: give it alone" if path.is_dir() else "there is no such file"
            raise CommandError(f"{path}: {what}.")
    if twice := [name for name, times in Counter(each.name for each in paths).items() if times > 1]:
        raise CommandError(
            f"Several files are called {listed(twice)}. Rename one: systems are named after their files."
        )
    if not has_test_file(paths):
        raise CommandError(
            f"{listed([str(each) for each in paths])}: none is a test file. Give one in JSON Lines, with doc_id, "
            "src_text and refs, and one for each system, or a folder or zip alone."
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            archive.write(path, path.name)
    return packed.getvalue()


def _are_rows(paths: Sequence[Path]) -> bool:
    """Whether several files are given, or one in JSON Lines, and no folder or zip."""
    return len(paths) > 1 or (paths[0].name.removesuffix(".gz").endswith(".jsonl") and not paths[0].is_dir())


def read_campaign_file(path: Path) -> bytes:
    """Return a zip, or a campaign's folder as one.

    Raises
    ------
    CommandError
        Where it is neither.
    """
    if path.is_file():
        return path.read_bytes()
    if not path.is_dir():
        raise CommandError(f"{path}: there is no such file or folder.")
    from steelyard.formats.campaign.test_sets import has_test_sets

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        folders = [path / each for each in FOLDERS_OF_PAIRS if (path / each).is_dir()]
        files = [file for folder in (*folders, *(path / each for each in BESIDE)) for file in sorted(folder.rglob("*"))]
        if not folders:
            ends = ("",) if has_test_sets(path) else ENDINGS
            files = sorted(file for file in path.rglob("*") if file.name.removesuffix(".gz").endswith(ends))
        for file in files:
            if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts):
                archive.write(file, file.relative_to(path))
        if not archive.namelist():
            raise CommandError(
                f"{path} has none of the folders {', '.join(FOLDERS_OF_PAIRS)}, no refs and systems, none of these in "
                f"a folder of its own, and no files in {', '.join(ENDINGS)}."
            )
    return packed.getvalue()
