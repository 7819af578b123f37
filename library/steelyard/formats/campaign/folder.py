"""Reads a campaign folder: source, references and system outputs that belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.campaign.description import SegmentDocument, read_documents
from steelyard.formats.campaign.file_checks import raise_if_any, systems_of, usable
from steelyard.formats.campaign.layouts import BadCampaign, CampaignPaths
from steelyard.formats.campaign.pair_folders import needs_objects, read_docs, read_objects, without_canary
from steelyard.formats.campaign.pairing import check_pairing
from steelyard.formats.campaign.test_sets import find_test_set
from steelyard.formats.detection import read_text
from steelyard.formats.file_names import system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.plain import Text, check_same_length, read_lines
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of
from steelyard.text.blocks import BLOCK
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of, ranges

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

RUN = 64
"""Blocks that are looked at together."""


@dataclass(frozen=True, slots=True)
class CampaignFolder:
    """All that a campaign folder holds; every text has the same number of segments, at least one."""

    name: str
    source: Text | None
    references: dict[str, Text]
    """By label, sorted."""
    systems: dict[str, Text]
    """By name, sorted; without those that have several runs."""
    documents: tuple[SegmentDocument, ...] | None
    """One (doc_id, domain, test_suite) per segment."""
    source_language: str | None
    target_language: str | None
    variable_references: bool
    """True: an empty line in a reference means that the segment lacks this reference."""
    human: tuple[Path, ...]
    """The files `human.*.tsv`; they are not read here."""
    notices: tuple[str, ...]
    """What was odd in the folder or in one of its texts, each a sentence."""
    runs: dict[str, dict[str, Text]] = field(default_factory=dict)
    """Of systems with a folder of their own: by system and by run, sorted."""
    segment_ids: tuple[str, ...] | None = None
    """The id of each segment in its document; None where the format names none."""
    spelt: tuple[str, ...] = ()
    """How files spell its language pair otherwise."""

    @property
    def segments(self) -> int:
        """Number of segments of every text."""
        return next(iter(self.references.values())).segments

    def texts(self, labels: Iterable[str]) -> list[Text]:
        """Some references, then all systems, then all runs.

        Parameters
        ----------
        labels : iterable of str
            Of the references.

        Returns
        -------
        list of Text
        """
        runs = [text for of_system in self.runs.values() for text in of_system.values()]
        return [*(self.references[label] for label in labels), *self.systems.values(), *runs]


def read_campaign(
    folder: str | os.PathLike[str],
    *,
    pair: str | None = None,
    limits: TextLimits = DEFAULT_LIMITS,
    without_systems: bool = False,
) -> CampaignFolder:
    """Read a campaign folder in the project's layout or in WMT's.

    Parameters
    ----------
    folder : path
    pair : str, optional
        Chooses among several test sets of a WMT folder: `en-cs`, or `generaltest2022.en-cs`.
    limits : TextLimits
    without_systems : bool
        Whether it may be a test set alone.

    Returns
    -------
    CampaignFolder

    Raises
    ------
    BadText
        As a rule BadCampaign with all that is wrong at once, naming files and lines.
    """
    return read_by_position(folder, campaign_files(folder, pair, limits, without_systems), limits)


def campaign_files(
    folder: str | os.PathLike[str], pair: str | None, limits: TextLimits, without_systems: bool
) -> CampaignPaths:
    """The files of a folder, complete and with usable names.

    Parameters
    ----------
    folder : path
    pair : str or None
    limits : TextLimits
    without_systems : bool

    Returns
    -------
    CampaignPaths

    Raises
    ------
    BadCampaign
        Where files are missing or have unusable names.
    OverLimit
        Where there are too many.
    """
    return usable(folder, find_test_set(Path(folder), pair), limits, without_systems)


def read_by_position(folder: str | os.PathLike[str], paths: CampaignPaths, limits: TextLimits) -> CampaignFolder:
    """Read files whose segments are matched by position.

    Parameters
    ----------
    folder : path
    paths : CampaignPaths
    limits : TextLimits

    Returns
    -------
    CampaignFolder

    Raises
    ------
    BadText
        As `read_campaign`.
    """
    texts = _read_all(folder, paths, limits)
    canary = ""
    if paths.lines_of_pairs:
        texts, canary = without_canary(texts)
    standard, *others = texts.values()
    check_same_length(standard, others)

    source = texts[paths.sources[0]] if paths.sources else None
    references = {label: texts[path] for label, path in sorted(paths.references)}
    systems = {name: texts[path] for name, path in sorted(paths.systems)}
    runs: dict[str, dict[str, Text]] = {}
    for name, run, path in sorted(paths.runs):
        runs.setdefault(name, {})[run] = texts[path]
    outputs = [*systems.values(), *(text for of_system in runs.values() for text in of_system.values())]
    check_pairing([*references.values(), *outputs])
    notices = [*([canary] if canary else []), *(notice for text in texts.values() for notice in text.notices)]
    segments = next(iter(references.values())).segments
    notices += against_meta(folder, paths, segments)
    notices += _empty_reference_lines(references, paths.meta.variable_references)
    documents = ids = None
    if paths.documents is not None:
        table = read_lines(paths.documents, limits=limits)
        if paths.lines_of_pairs:
            documents, about_documents = read_docs(table, segments)
        else:
            documents, ids, about_documents = read_documents(table, segments)
        notices += about_documents
    if paths.unused:
        notices.append(f"{folder}: not used: {listed(paths.unused)}.")
    return CampaignFolder(
        name=paths.name,
        source=source,
        references=references,
        systems=systems,
        documents=documents,
        source_language=paths.meta.source_language,
        target_language=_target_language(folder, paths, (*references.values(), *outputs)),
        variable_references=paths.meta.variable_references,
        human=tuple(paths.human),
        notices=tuple(notices),
        runs=runs,
        segment_ids=ids,
        spelt=tuple(paths.spelt),
    )


def _read_all(folder: str | os.PathLike[str], paths: CampaignPaths, limits: TextLimits) -> dict[Path, Text]:
    texts: dict[Path, Text] = {}
    problems: list[BadText] = []
    for role, path in text_files(paths):
        try:
            contents = opened(path, limits=limits)
            if paths.lines_of_pairs and needs_objects(path):
                texts[path] = read_objects(read_lines(contents, limits=limits), role)
                continue
            part = paths.meta.parts.get(role) if reader_of(contents.head).kind is Kind.SIDES else None
            texts[path] = read_text(contents, part=part, limits=limits)
            if not texts[path].segments:
                problems.append(BadCampaign(f"{path}: is empty. Give one line per segment, or remove the file."))
        except BadText as error:
            problems.append(_with_place_for_part(error, role))
    if len(problems) == 1:
        raise problems[0]
    raise_if_any(folder, [str(problem) for problem in problems])
    return texts


def _with_place_for_part(error: BadText, role: str) -> BadText:
    """In a folder it is `meta.json` that names layers and zones."""
    from steelyard.formats.treebanks.layered import NoSuchPart

    if not isinstance(error, NoSuchPart):
        return error
    return BadCampaign(f'{error} In a campaign folder: meta.json with {{"parts": {{"{role}": "..."}}}}.')


def text_files(paths: CampaignPaths) -> Iterator[tuple[str, Path]]:
    """The files of texts with their roles.

    Parameters
    ----------
    paths : CampaignPaths

    Yields
    ------
    role : str
    path : Path
        The source, or else the first reference, comes first: the others are measured by it.
    """
    for path in paths.sources:
        yield "source", path
    runs = [(f"{name}/{run}", path) for name, run, path in paths.runs]
    for role, files in (("references", paths.references), ("systems", paths.systems), ("systems", runs)):
        for _, path in sorted(files):
            yield role, path


def _target_language(folder: str | os.PathLike[str], paths: CampaignPaths, texts: Sequence[Text]) -> str | None:
    """What `meta.json`, or a WMT file name, says, or else what one of the texts does."""
    said = paths.meta.target_language
    for text in texts:
        if text.language and not said:
            said = text.language
        elif said and text.language and _main(said) != _main(text.language):
            raise BadCampaign(
                f"{folder}: the target language is {said}, but {text.name} is in {text.language}. Correct one of them."
            )
    return said


def _main(language: str) -> str:
    """The code without country or script."""
    return re.split("[-_]", language)[0].lower()


def against_meta(folder: str | os.PathLike[str], paths: CampaignPaths, segments: int) -> list[str]:
    """Notices on files that `meta.json` does not name.

    Parameters
    ----------
    folder : path
    paths : CampaignPaths
    segments : int

    Returns
    -------
    list of str

    Raises
    ------
    BadCampaign
        Where it promises more than there is.
    """
    meta, problems, notices = paths.meta, [], []
    if meta.segments is not None and meta.segments != segments:
        problems.append(
            f"meta.json says {number_of(meta.segments, 'segment')}, the files have "
            f"{number_of(segments, 'line')}. Complete the files, or correct meta.json."
        )
    for what, promised, files in (
        ("reference", meta.references, paths.references),
        ("system", meta.systems, systems_of(paths)),
    ):
        if promised is None:
            continue
        there = {name for name, _ in files}
        missing = [printable(name) for name in promised if name not in there]
        more = sorted(there.difference(promised))
        if missing:
            sentence = f"meta.json names {number_of(len(missing), what)} without a file: {listed(missing)}."
            # A missing reference changes every score, a missing system none.
            if what == "reference":
                problems.append(f"{sentence} Add the files, or correct meta.json.")
            else:
                notices.append(f"{folder}: {sentence}")
        if more:
            notices.append(f"{folder}: {number_of(len(more), what)} not named in meta.json, but used: {listed(more)}.")
    raise_if_any(folder, problems)
    return notices


def _empty_reference_lines(references: dict[str, Text], variable: bool) -> list[str]:
    """Check where references are missing; notices where it looks as if they were meant to be."""
    empty = {text.name: _empty_lines(text) for text in references.values()}
    if not variable:
        return [
            f"{name}: empty in {number_of(len(lines), 'line')} ({ranges(lines)}), scored as a "
            'translation without words. If it is missing there, say "variable_references": true in meta.json.'
            for name, lines in empty.items()
            if lines
        ]
    nowhere = sorted(set.intersection(*(set(lines) for lines in empty.values())))
    if nowhere:
        raise BadCampaign(
            f"{listed(list(empty))}: empty in every reference: {ranges(nowhere)} "
            f"({number_of(len(nowhere), 'line')}, counted from 1). Each segment needs at least one reference."
        )
    return []


def _empty_lines(text: Text) -> list[int]:
    empty, before = [], 0
    for run in text.runs(RUN):
        if not run or b"\n\n" in run or run.startswith(b"\n") or run.endswith(b"\n"):
            empty += [number for number, line in enumerate(run.split(b"\n"), start=before + 1) if not line]
        before += RUN * BLOCK
    return empty


__all__ = [
    "BadCampaign",
    "CampaignFolder",
    "SegmentDocument",
    "read_campaign",
    "system_name",
]
