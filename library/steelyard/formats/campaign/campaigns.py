"""Reads a campaign from whatever holds one: a folder in one of the layouts, or marked-up files.

Marked-up files (mteval's SGML and XML, WMT's XML) say themselves which texts, documents and segments they hold.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.formats.campaign.alignment import align
from steelyard.formats.campaign.document_row_files import document_files, has_test_file
from steelyard.formats.campaign.document_rows import read_document_campaign
from steelyard.formats.campaign.file_checks import usable
from steelyard.formats.campaign.folder import (
    CampaignFolder,
    against_meta,
    campaign_files,
    read_by_position,
    text_files,
)
from steelyard.formats.campaign.layouts import LAYOUTS, BadCampaign, is_beside, is_own_layout
from steelyard.formats.campaign.pair_folders import has_pairs
from steelyard.formats.campaign.test_sets import find_test_sets, has_test_sets
from steelyard.formats.detection import read_marked_file
from steelyard.formats.file_names import parse_wmt_name, system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.input.given_files import list_given
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.plain import Text
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of, titles
from steelyard.text.language_pairs import pairs_called
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.normalization import normalized
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Sequence

    from steelyard.formats.campaign.layouts import CampaignPaths
    from steelyard.formats.markup.documents import MarkedFile


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

    Parameters
    ----------
    paths : sequence of path
    pair : str, optional
        Chooses among several language pairs of a WMT folder, and is checked elsewhere.
    name : str, optional
        What the campaign is called instead of what its files or its folder say.
    test_suites : bool
        Whether documents of test suites count, too.
    limits : TextLimits
    markup_limits : MarkupLimits
    without_systems : bool
        Whether it may be a test set alone.

    Returns
    -------
    CampaignFolder

    Raises
    ------
    BadText
        Naming files, lines and what to do.
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
        files = campaign_files(folder, pair, limits, without_systems)
        campaign = _read(folder, files, limits, markup_limits, without_systems)
        return dataclasses.replace(campaign, name=name or campaign.name)
    campaign = _marked(marked, pair, name, test_suites, markup_limits, without_systems=without_systems)
    unused = (f"{folder}: not used: {listed(others)}.",) if others else ()
    return dataclasses.replace(campaign, notices=(*campaign.notices, *unused))


@dataclasses.dataclass(frozen=True)
class Campaign:
    """A campaign of one or more test sets, as a rule one for each language pair."""

    name: str
    test_sets: tuple[CampaignFolder, ...]

    @property
    def notices(self) -> list[str]:
        """What was odd, each said once."""
        return list(dict.fromkeys(notice for each in self.test_sets for notice in each.notices))


def read_test_sets(
    paths: Sequence[str | os.PathLike[str]],
    *,
    pairs: Sequence[str] = (),
    name: str | None = None,
    test_suites: bool = False,
    limits: TextLimits = DEFAULT_LIMITS,
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
    without_systems: bool = False,
    read_elsewhere: Collection[str] = (),
) -> Campaign:
    """Read all test sets of a campaign from one folder, or from marked-up files.

    Parameters
    ----------
    paths : sequence of path
    pairs : sequence of str
        Only test sets of these language pairs, in any spelling, or of these names; empty for all.
    name : str, optional
        What the campaign is called instead of what its files or its folder say.
    test_suites : bool
        Whether documents of test suites count, too.
    limits : TextLimits
        Of each test set.
    markup_limits : MarkupLimits
    without_systems : bool
        Whether there may be test sets alone.
    read_elsewhere : collection of str
        Names of folders beside the texts that the caller reads: they are not said to be unused.

    Returns
    -------
    Campaign
        A single test set has the name of the campaign, unless it is one of the pairs of a folder of many.

    Raises
    ------
    BadText
        Naming files, lines and what to do.
    """
    folder = Path(paths[0])
    several = Campaign(name or normalized("NFC", folder.resolve().name), ())
    files = [Path(path) for path in paths]
    if not folder.is_dir() and has_test_file(files):
        rows = read_document_campaign(
            folder.parent, pairs, given=files, test_suites=test_suites, limits=limits, without_systems=without_systems
        )
        return Campaign(name or normalized("NFC", system_name(folder)), tuple(rows))
    marked = _files_in(folder)[0] if len(paths) == 1 and folder.is_dir() else []
    if len(paths) > 1 or not folder.is_dir() or marked:
        files = marked or files
        by_pair = _by_pair(files, markup_limits) if len(files) > 1 else {}
        if len(by_pair) > 1:
            read = [
                _aligned(by_pair[pair], pair, test_suites, without_systems)
                for pair in pairs_called(pairs, sorted(by_pair), str(folder))
            ]
            return dataclasses.replace(several, test_sets=tuple(read))
        one = read_any_campaign(
            paths, pair=_only(pairs), name=name, test_suites=test_suites, limits=limits, markup_limits=markup_limits,
            without_systems=without_systems,
        )  # fmt: skip
        return Campaign(one.name, (one,))
    # WMT25's systems/ lie beside its test file; the project's own layout has references of their own.
    if not (folder / "refs").is_dir() and not has_pairs(folder) and document_files(folder):
        rows = read_document_campaign(
            folder, pairs, test_suites=test_suites, limits=limits, without_systems=without_systems,
            read_elsewhere=read_elsewhere,
        )  # fmt: skip
        return dataclasses.replace(several, test_sets=tuple(rows))
    found = find_test_sets(folder, pairs, read_elsewhere)
    read = [
        _read(folder, usable(folder, each, limits, without_systems), limits, markup_limits, without_systems)
        for each in found
    ]
    if not test_suites:
        read = [
            _without_test_suites(each) if files.lines_of_pairs else each
            for files, each in zip(found, read, strict=True)
        ]
    if len(read) == 1 and not found[0].lines_of_pairs:
        called = name or read[0].name
        return Campaign(called, (dataclasses.replace(read[0], name=called),))
    return dataclasses.replace(several, test_sets=tuple(read))


def has_campaign(folder: Path) -> bool:
    """Whether a folder has one of the layouts, or marked-up files.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bool
    """
    return bool(has_test_sets(folder) or document_files(folder) or _files_in(folder)[0])


def _by_pair(files: Sequence[Path], limits: MarkupLimits) -> dict[str, list[MarkedFile]]:
    """Marked-up files by the language pair that they name; none unless each names one, or a source for all of them."""
    if not all(file.is_file() and _kind(file).has_ids for file in files):
        return {}
    read = [read_marked_file(file, label=system_name(file), limits=limits) for file in files]
    pairs = {
        f"{one.source_language}-{one.target_language}" for one in read if one.source_language and one.target_language
    }
    found: dict[str, list[MarkedFile]] = {}
    for pair in sorted(pairs):
        mine = [one for one in read if pair in (f"{one.source_language}-{one.target_language}", _sourced(one, pair))]
        found[pair] = mine
    return found if all(any(one in some for some in found.values()) for one in read) else {}


def _sourced(file: MarkedFile, pair: str) -> str:
    """The pair, where a file of no target language has its source."""
    shared = not file.target_language and file.source_language and pair.startswith(f"{file.source_language}-")
    return pair if shared else ""


def _aligned(files: Sequence[MarkedFile], pair: str, test_suites: bool, without_systems: bool) -> CampaignFolder:
    return align(files, name=pair, test_suites=test_suites).campaign(without_systems=without_systems)


def _only(pairs: Sequence[str]) -> str | None:
    if len(pairs) > 1:
        raise BadCampaign(f"These files are one test set: choose one language pair, not {listed(list(pairs))}.")
    return pairs[0] if pairs else None


def _read(
    folder: Path, files: CampaignPaths, limits: TextLimits, markup_limits: MarkupLimits, without_systems: bool
) -> CampaignFolder:
    """One test set of a folder, by what its files are."""
    if not files.lines_of_pairs and any(_kind(path).has_ids for _, path in text_files(files)):
        return _by_ids(folder, files, markup_limits, without_systems)
    return read_by_position(folder, files, limits)


def _without_test_suites(test_set: CampaignFolder) -> CampaignFolder:
    """A test set whose lines are matched by position, without those of documents of test suites."""
    documents = test_set.documents or ()
    kept = [number for number, each in enumerate(documents) if not each.test_suite]
    every = [test_set.source, *test_set.references.values(), *test_set.systems.values()]
    if len(kept) in (0, len(documents)) or test_set.runs or any(text is not None and text.layers for text in every):
        return test_set

    def cut(text: Text) -> Text:
        lines = text.lines()
        return Text(text.name, b"\n".join(lines[number] for number in kept), len(kept), notices=text.notices)

    suites = len({each.doc_id for each in documents if each.test_suite})
    return dataclasses.replace(
        test_set,
        source=cut(test_set.source) if test_set.source else None,
        references={label: cut(text) for label, text in test_set.references.items()},
        systems={name: cut(text) for name, text in test_set.systems.items()},
        documents=tuple(documents[number] for number in kept),
        segment_ids=test_set.segment_ids and tuple(test_set.segment_ids[number] for number in kept),
        notices=(*test_set.notices, f"{test_set.name}: {number_of(suites, 'document')} of test suites left out."),
    )


def _by_ids(folder: Path, paths: CampaignPaths, limits: MarkupLimits, without_systems: bool) -> CampaignFolder:
    """A folder in one of the layouts whose files have ids for their segments."""
    if others := [path for _, path in text_files(paths) if not _kind(path).has_ids]:
        raise BadCampaign(
            f"{others[0]}: is matched by position, but other files of this folder have ids for their segments. Give "
            "all in formats with ids, or all in others."
        )
    if paths.runs:
        raise BadCampaign(f"{paths.runs[0][2]}: has ids, and runs are matched by position. Give plain text for runs.")
    given = [
        *((Role.SOURCE, "", path) for path in paths.sources),
        *((Role.REFERENCE, label, path) for label, path in paths.references),
        *((Role.SYSTEM, name, path) for name, path in paths.systems),
    ]
    read = [read_marked_file(path, role=role, label=label, limits=limits) for role, label, path in given]
    campaign = align(read, name=paths.name).campaign(without_systems=without_systems)
    notices = [*campaign.notices, *against_meta(folder, paths, campaign.segments)]
    unused = [*paths.unused, *([paths.documents.name] if paths.documents else [])]
    return dataclasses.replace(
        campaign,
        source_language=paths.meta.source_language or campaign.source_language,
        target_language=paths.meta.target_language or campaign.target_language,
        variable_references=paths.meta.variable_references or campaign.variable_references,
        human=tuple(paths.human),
        notices=(*notices, *([f"{folder}: not used: {listed(unused)}."] if unused else ())),
    )


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
        if file.exists() and not _kind(file).has_ids:
            raise BadCampaign(
                f"{file}: does not say which texts it holds. Give files in {titles([Kind.DOCUMENTS, Kind.IDS])}, or a "
                f"folder. {LAYOUTS}"
            )
    read = [read_marked_file(file, label=system_name(file), limits=limits) for file in files]
    aligned = align(read, name=name, test_suites=test_suites)
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
        if is_own_layout(folder) or has_pairs(folder):
            return [], []
        there = [path for path in list_given(folder) if not is_beside(path)]
        if any(parse_wmt_name(path.name) for path in there):
            return [], []
        marked = [path for path in there if path.is_file() and _kind(path) is Kind.DOCUMENTS]
    except OSError as error:
        raise BadCampaign(f"{folder}: cannot be listed ({error}). Check its permissions.") from error
    return marked, [printable(path.name) for path in there if path not in marked]


def _kind(path: Path) -> Kind:
    contents = opened(path)
    contents.close()
    return reader_of(contents.head).kind
