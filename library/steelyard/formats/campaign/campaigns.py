"""Reads a campaign from whatever holds one: a folder in one of the layouts, or marked-up files.

Marked-up files (mteval's SGML and XML, WMT's XML) say themselves which texts, documents and segments they hold.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.formats.campaign.alignment import align
from steelyard.formats.campaign.folder import CampaignFolder, read_campaign
from steelyard.formats.campaign.layouts import LAYOUTS, BadCampaign, is_beside, is_own_layout
from steelyard.formats.detection import read_marked_file
from steelyard.formats.file_names import parse_wmt_name
from steelyard.formats.input.contents import opened
from steelyard.formats.input.given_files import list_given
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of, titles
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


def read_any_campaign(
    paths: Sequence[str | os.PathLike[str]],
    *,
    pair: str | None = None,
    name: str | None = None,
    test_suites: bool = False,
    limits: TextLimits = DEFAULT_LIMITS,
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
    without_systems: bool = False,
) -> CampaignFolder:
    """Read a campaign from one folder, or from marked-up files that belong together.

    `pair` chooses among several language pairs of a WMT folder, and is checked elsewhere; `name` is what the campaign
    is called instead of what its files or its folder say; `test_suites` takes in documents of test suites, too;
    `without_systems` lets it be a test set alone.
    Raises BadText naming files, lines and what to do.
    """
    places = [Path(path) for path in paths]
    folders = [place for place in places if place.is_dir()]
    if not folders:
        return _marked(places, pair, name, test_suites, markup_limits, without_systems=without_systems)
    if len(places) > 1:
        raise BadCampaign(f"{folders[0]}: is a folder. Give one folder, or files; not several folders, nor both.")
    (folder,) = folders
    marked, others = _files_in(folder)
    if not marked:
        campaign = read_campaign(folder, pair=pair, limits=limits, without_systems=without_systems)
        return dataclasses.replace(campaign, name=name or campaign.name)
    campaign = _marked(marked, pair, name, test_suites, markup_limits, without_systems=without_systems)
    unused = (f"{folder}: not used: {listed(others)}.",) if others else ()
    return dataclasses.replace(campaign, notices=(*campaign.notices, *unused))


def _marked(
    files: Sequence[Path],
    pair: str | None,
    name: str | None,
    test_suites: bool,
    limits: MarkupLimits,
    *,
    without_systems: bool,
) -> CampaignFolder:
    for file in files:
        # A file that is missing is left to its reader.
        if file.exists() and not _is_marked(file):
            raise BadCampaign(
                f"{file}: does not say which texts it holds. Give files in {titles([Kind.DOCUMENTS])}, or a folder. "
                f"{LAYOUTS}"
            )
    aligned = align([read_marked_file(file, limits=limits) for file in files], name=name, test_suites=test_suites)
    campaign = aligned.campaign(without_systems=without_systems)
    if pair not in (None, f"{campaign.source_language}-{campaign.target_language}"):
        raise BadCampaign(
            f"{listed([str(file) for file in files])}: not for the language pair {pair}, but for "
            f"{campaign.source_language or 'an unknown language'}-{campaign.target_language or 'an unknown language'}."
        )
    return campaign


def _files_in(folder: Path) -> tuple[list[Path], list[str]]:
    """The marked-up files of a folder, and the names of what else is there; none where it has one of the layouts."""
    try:
        if is_own_layout(folder):
            return [], []
        there = [path for path in list_given(folder) if not is_beside(path)]
        if any(parse_wmt_name(path.name) for path in there):
            return [], []
        marked = [path for path in there if path.is_file() and _is_marked(path)]
    except OSError as error:
        raise BadCampaign(f"{folder}: cannot be listed ({error}). Check its permissions.") from error
    return marked, [printable(path.name) for path in there if path not in marked]


def _is_marked(path: Path) -> bool:
    contents = opened(path)
    contents.close()
    return reader_of(contents.head).kind is Kind.DOCUMENTS
