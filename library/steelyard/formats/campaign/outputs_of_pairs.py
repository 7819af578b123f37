"""Finds which of many outputs belongs to which test set: files named after language pairs."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.campaign.document_ids import parse_document_id
from steelyard.formats.file_names import is_text, system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.input.given_files import files_under, list_given
from steelyard.formats.plain import read_lines
from steelyard.text.language_pairs import NoSuchPair, pair_called
from steelyard.text.limits import STORING_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

WHOLE_DOCUMENTS = TextLimits(
    STORING_LIMITS.file_bytes, segment_characters=STORING_LIMITS.file_bytes, segments=STORING_LIMITS.segments
)
"""A line of JSON is as long as its document."""


@dataclass(frozen=True, slots=True)
class OutputOfPair:
    """The output for a test set."""

    shown: str
    """The file's name, with the pair where the file is for several."""
    path: Path
    pair: str = ""
    """Of a file for many pairs: the pair as its documents name it."""


def outputs_in(folder: Path) -> dict[str, Path]:
    """The outputs in a folder, and in the folders in it, by their names there.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict of str to Path
    """
    return {str(path.relative_to(folder)): path for path in _files(folder)}


def left_out_of(folder: Path) -> list[str]:
    """The files in a folder that cannot be outputs: no texts, or deeper than `PAIR/SYSTEM.txt`.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of str
        Their names there, printable. What systems put beside files of people is not among them.
    """
    outputs = set(_files(folder))
    beside = [path.relative_to(folder) for path in files_under(folder) if path not in outputs]
    return [printable(str(each)) for each in beside if not any(map(_is_of_systems, each.parts))]


def outputs_of_pairs(
    files: Mapping[str, Path], test_sets: Mapping[str, str]
) -> tuple[dict[str, OutputOfPair], dict[str, str]]:
    """Match outputs with test sets.

    Parameters
    ----------
    files : mapping of str to Path
        Called `PAIR.txt`, in any format of texts, or `PAIR/SYSTEM.txt`; PAIR in any spelling, or the name of a test
        set. A file in JSON Lines whose documents name their pairs, as those of WMT25 and WMT26 do, is for all of them.
    test_sets : mapping of str to str
        Name and language pair of each.

    Returns
    -------
    found : dict of str to OutputOfPair
        By name of the test set, in the order of the files.
    refused : dict of str to str
        File and reason: what is no text, fits no test set, or several, and all that fit the same one, for nobody
        can say which of them is meant.
    """
    fitting: dict[str, list[OutputOfPair]] = {}
    refused: dict[str, str] = {}
    for file, path in files.items():
        shown = printable(file)
        if not is_text(file):
            refused[shown] = f"{shown}: Name a text after its language pair, such as en-cs.txt."
            continue
        called = [file.partition("/")[0] if "/" in file else system_name(file)]
        if of_documents := pairs_of_documents(path, file):
            called = of_documents
        for each in called:
            # Of a file for many pairs each pair may be refused.
            about = f"{shown} ({printable(each)})" if of_documents else shown
            try:
                name = _test_set_called(each, test_sets)
            except NoSuchPair as error:
                refused[about] = str(error)
                continue
            fitting.setdefault(name, []).append(OutputOfPair(about, path, each if of_documents else ""))
    for name, outputs in fitting.items():
        for output in outputs if len(outputs) > 1 else ():
            others = listed([each.shown for each in outputs if each is not output])
            are = "is" if len(outputs) == 2 else "are"
            refused[output.shown] = f"{output.shown}: is for {name}, and so {are} {others}. Send one of them."
    return {name: outputs[0] for name, outputs in fitting.items() if len(outputs) == 1}, refused


def each_pair_alone(found: Mapping[str, OutputOfPair], folder: Path) -> dict[str, OutputOfPair]:
    """Cut files for many pairs into one file for each pair, so that nobody reads or sends all of them for each.

    Parameters
    ----------
    found : mapping of str to OutputOfPair
        As `outputs_of_pairs` finds them.
    folder : Path
        Where the pieces are written, an empty one. They are called as the file is, and line i of a piece is line i of
        the file: lines of other pairs are empty.

    Returns
    -------
    dict of str to OutputOfPair
        The same outputs; a file for one test set alone is left as it is.
    """
    sharing: dict[Path, dict[str, str]] = {}
    for name, output in found.items():
        if output.pair:
            sharing.setdefault(output.path, {})[output.pair] = name
    alone = dict(found)
    for number, (path, names) in enumerate(sharing.items()):
        if len(names) > 1:
            for pair, piece in _cut(path, list(names), folder / str(number)).items():
                alone[names[pair]] = replace(found[names[pair]], path=piece)
    return alone


def _cut(path: Path, pairs: Sequence[str], folder: Path) -> dict[str, Path]:
    pieces: dict[str, Path] = {}
    with ExitStack() as stack:
        files = {}
        for number, pair in enumerate(pairs):
            pieces[pair] = folder / str(number) / path.name.removesuffix(".gz")
            pieces[pair].parent.mkdir(parents=True)
            files[pair] = stack.enter_context(pieces[pair].open("wb"))
        for line in read_lines(opened(path, limits=STORING_LIMITS), limits=WHOLE_DOCUMENTS).lines():
            own = _pair_of_line(line)
            for pair, file in files.items():
                file.write(line + b"\n" if pair == own else b"\n")
    return pieces


def _pair_of_line(line: bytes) -> str | None:
    """The pair that the document of a line is of; None without one. Raises ValueError for what is no JSON."""
    row = json.loads(line) if line.strip() else {}
    text = row.get("doc_id") if isinstance(row, dict) else None
    found = parse_document_id(text) if isinstance(text, str) else None
    if row and found is None:
        raise ValueError("the document names no pair")
    return found.pair if found else None


def pairs_of_documents(path: Path, name: str = "") -> list[str]:
    """The pairs that the ids of a file's documents name, in order.

    Parameters
    ----------
    path : Path
    name : str
        What the file is called, if not as its path is.

    Returns
    -------
    list of str
        None for any file that is not in JSON Lines, and for a damaged one.
    """
    if ".jsonl" not in (name or path.name):
        return []
    pairs: dict[str, None] = {}
    try:
        for line in read_lines(opened(path, limits=STORING_LIMITS), limits=WHOLE_DOCUMENTS).lines():
            if pair := _pair_of_line(line):
                pairs[pair] = None
    except (BadText, ValueError, RecursionError):
        # Whoever reads it as an output says what is wrong.
        return []
    return list(pairs)


def _is_of_systems(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _files(folder: Path) -> Iterator[Path]:
    for path in list_given(folder):
        if _is_of_systems(path.name):
            continue
        if path.is_dir():
            yield from (file for file in list_given(path) if is_text(file.name) and not file.name.startswith("."))
        elif is_text(path.name):
            yield path


def _test_set_called(name: str, test_sets: Mapping[str, str]) -> str:
    """A test set's own name means that one; two of one pair cannot be told apart by the pair."""
    if name in test_sets:
        return name
    pair = pair_called(name, sorted(set(test_sets.values()) - {""}))
    meant = [each for each, its in test_sets.items() if its == pair]
    if len(meant) > 1:
        raise NoSuchPair(f"{printable(name)}: the pair {pair} has several test sets: {', '.join(meant)}. Name one.")
    return meant[0]
