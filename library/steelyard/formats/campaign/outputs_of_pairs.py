"""Finds which of many outputs belongs to which test set: files named after language pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.file_names import is_text, system_name
from steelyard.formats.input.given_files import list_given
from steelyard.text.language_pairs import NoSuchPair, pair_called
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def outputs_of_pairs(folder: Path, test_sets: Mapping[str, str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Match the outputs in a folder with test sets.

    Parameters
    ----------
    folder : Path
        With `PAIR.txt`, in any format of texts, or `PAIR/SYSTEM.txt`; PAIR in any spelling, or the name of a test set.
    test_sets : mapping of str to str
        Name and language pair of each.

    Returns
    -------
    found : dict of str to Path
        By name of the test set, in the order of the files.
    refused : dict of str to str
        File and reason: what fits no test set, or several, or one that another file fits.
    """
    found: dict[str, Path] = {}
    refused: dict[str, str] = {}
    for path in _files(folder):
        shown = printable(str(path.relative_to(folder)))
        called = system_name(path) if path.parent == folder else path.relative_to(folder).parts[0]
        try:
            name = _test_set_called(called, test_sets)
        except NoSuchPair as error:
            refused[shown] = str(error)
            continue
        if name in found:
            refused[shown] = f"{shown}: is for {name}, and so is {found[name].relative_to(folder)}. Send one of them."
        else:
            found[name] = path
    return found, refused


def _files(folder: Path) -> Iterator[Path]:
    for path in list_given(folder):
        if path.name.startswith(".") or path.name == "__MACOSX":
            continue
        if path.is_dir():
            yield from (file for file in list_given(path) if is_text(file.name) and not file.name.startswith("."))
        elif is_text(path.name):
            yield path


def _test_set_called(name: str, test_sets: Mapping[str, str]) -> str:
    """A test set's own name means that one; two of one pair cannot be told apart by the pair."""
    if name in test_sets:
        return name
    pair = pair_called(name, sorted(set(test_sets.values()) - {""}), printable(name))
    meant = [each for each, its in test_sets.items() if its == pair]
    if len(meant) > 1:
        raise NoSuchPair(f"{printable(name)}: the pair {pair} has several test sets: {', '.join(meant)}. Name one.")
    return meant[0]
