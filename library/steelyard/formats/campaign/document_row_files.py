"""Which files of a folder are a campaign in JSON Lines, and what each of them holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from steelyard.formats.input.contents import opened
from steelyard.formats.input.given_files import list_given

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

ENDINGS = (".jsonl", ".jsonl.gz")
TEST_KINDS = {"test", "wmt24++"}
"""Of files that hold what is translated, and references."""
DEPTH = 3
"""Folders below the given one that are searched: data/systems/ and the like."""


def has_test_file(files: Sequence[Path]) -> bool:
    """Whether files that are given one by one are such a campaign: one of them is a test file.

    Parameters
    ----------
    files : sequence of Path

    Returns
    -------
    bool
    """
    there = [path for path in files if path.is_file() and path.name.endswith(ENDINGS)]
    return any(kind_of(_first_object(path)) in TEST_KINDS for path in there)


def document_files(folder: Path) -> list[Path]:
    """The files in a folder that may be of such a campaign; none unless one of them is a test file.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
    """
    files = list(_below(folder, DEPTH))
    kinds = {path: kind_of(_first_object(path)) for path in files}
    return [path for path in files if kinds[path]] if TEST_KINDS & {*kinds.values()} else []


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for path in list_given(folder):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if depth:
                yield from _below(path, depth - 1)
        elif path.name.endswith(ENDINGS):
            yield path


def _first_object(path: Path) -> Mapping[str, Any]:
    contents = opened(path)
    contents.close()
    try:
        # A document may be longer than what is looked at; its first keys say enough.
        line = contents.head.partition(b"\n")[0].decode(errors="ignore")
        return object_of(line)
    except ValueError:
        keys = ("doc_id", "src_text", "hypothesis", "lp", "original_target", "metric_scores")
        return {key: "" for key in keys if f'"{key}"' in line}


def object_of(line: str) -> Mapping[str, Any]:
    """The JSON object in a line.

    Parameters
    ----------
    line : str

    Returns
    -------
    mapping

    Raises
    ------
    ValueError
        For anything else.
    """
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(row, dict):
        raise ValueError("it is no object")
    return row


def kind_of(row: Mapping[str, Any]) -> str:
    """What a file with such an object holds.

    Parameters
    ----------
    row : mapping

    Returns
    -------
    str
        "test", "outputs", "wmt24++" or "".
    """
    if "doc_id" in row and "src_text" in row:
        return "test"
    if "doc_id" in row and "hypothesis" in row:
        return "outputs"
    return "wmt24++" if "lp" in row and "original_target" in row else ""
