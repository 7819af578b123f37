"""Finds the test sets in a folder, whatever its layout, and those of them that are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.formats.campaign.layouts import (
    LAYOUTS,
    BadCampaign,
    CampaignPaths,
    is_own_layout,
    own_layout,
    wmt_layout,
)
from steelyard.formats.campaign.pair_folders import find_pairs, has_pairs
from steelyard.formats.input.given_files import list_given
from steelyard.text.language_pairs import NoSuchPair, pair_called, parse_pair
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


def find_test_sets(
    folder: Path, pairs: Sequence[str] = (), read_elsewhere: Collection[str] = ()
) -> list[CampaignPaths]:
    """Recognise the layout of a folder and sort its files by test sets.

    Parameters
    ----------
    folder : Path
        In the project's layout (one test set), in WMT's (`generaltest2022.en-cs.hyp.SYSTEM.cs`), in that of WMT24 and
        mt-metrics-eval (`system-outputs/PAIR/SYSTEM.txt`), or with such folders in it.
    pairs : sequence of str
        Only test sets of these language pairs, in any spelling, or of these names (`generaltest2022.en-cs`).
    read_elsewhere : collection of str
        Names of folders beside those of many pairs that are not said to be unused.

    Returns
    -------
    list of CampaignPaths
        At least one.

    Raises
    ------
    BadCampaign
        When the folder is missing, or has none of the layouts.
    NoSuchPair
        Where a pair is not there, or two test sets fit it.
    """
    if not folder.exists():
        raise BadCampaign(f"{folder}: there is no such folder. Check the path.")
    if not folder.is_dir():
        raise BadCampaign(f"{folder}: is a file, not a folder. {LAYOUTS}")
    try:
        if is_own_layout(folder):
            return [_of_pair(folder, own_layout(folder), pairs)]
        found = find_pairs(folder, read_elsewhere) if has_pairs(folder) else wmt_layout(folder) or _below(folder)
    except OSError as error:
        raise BadCampaign(f"{folder}: cannot be listed ({error}). Check its permissions.") from error
    if not found:
        there = listed([printable(path.name) for path in list_given(folder)])
        shown = f"found: {there}" if there else "it is empty"
        raise BadCampaign(f"{folder}: no campaign in this folder ({shown}). {LAYOUTS}")
    return _chosen(folder, found, pairs)


def has_test_sets(folder: Path) -> bool:
    """Whether a folder has one of the layouts, or folders that have one.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bool
    """
    places = [folder, *(each for each in list_given(folder) if each.is_dir() and not each.name.startswith("."))]
    return bool(any(is_own_layout(each) or has_pairs(each) for each in places) or wmt_layout(folder))


def find_test_set(folder: Path, pair: str | None) -> CampaignPaths:
    """The files of the only test set in a folder, or of the one that is asked for.

    Parameters
    ----------
    folder : Path
    pair : str or None
        Its language pair, or its name.

    Returns
    -------
    CampaignPaths

    Raises
    ------
    BadCampaign
        As `find_test_sets` does, and for several test sets.
    """
    found = find_test_sets(folder, [] if pair is None else [pair])
    if len(found) == 1:
        return found[0]
    there = listed([each.name for each in found], shown=40)
    raise BadCampaign(
        f"{folder}: holds several test sets: {there}. Choose one with the parameter pair, e.g. {found[0].name}."
    )


def _of_pair(folder: Path, paths: CampaignPaths, pairs: Sequence[str]) -> CampaignPaths:
    """A test set in the project's layout, which may be silent on its languages."""
    meta = paths.meta
    if not pairs:
        return paths
    if not (meta.source_language or meta.target_language) and len(pairs) == 1:
        pair = parse_pair(pairs[0])
        if pair is not None:
            said = replace(meta, source_language=pair.source_code, target_language=pair.target_code)
            return replace(paths, meta=said)
    known = f"{meta.source_language or 'nothing'}-{meta.target_language or 'nothing'}"
    for each in pairs:
        try:
            pair_called(each, [known], str(folder))
        except NoSuchPair as error:
            raise BadCampaign(
                f"{folder}: is not known to be for the language pair {printable(each)}: {folder / 'meta.json'} says "
                f"{known}. Name source_language and target_language there, or choose no pair."
            ) from error
    return paths


def _below(folder: Path) -> list[CampaignPaths]:
    """The test sets in the folders of a folder."""
    found = []
    for place in list_given(folder):
        if not place.is_dir() or place.name.startswith("."):
            continue
        if is_own_layout(place):
            found.append(own_layout(place))
        elif has_pairs(place):
            found += [replace(each, name=f"{place.name}.{each.name}") for each in find_pairs(place)]
    return found


def _chosen(folder: Path, found: list[CampaignPaths], pairs: Sequence[str]) -> list[CampaignPaths]:
    """Those of some pairs; a name that is a test set's own means that one."""
    chosen: list[CampaignPaths] = []
    for wanted in pairs:
        named = [each for each in found if each.name == wanted]
        if not named:
            known = sorted({each.pair for each in found})
            pair = pair_called(wanted, known, str(folder))
            named = [each for each in found if each.pair == pair]
        chosen += [each for each in named if each not in chosen]
    return chosen if pairs else found
