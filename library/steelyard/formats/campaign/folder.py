"""Reads a campaign folder: source, references and system outputs that belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.campaign.description import SegmentDocument, read_documents
from steelyard.formats.campaign.layouts import LAYOUTS, BadCampaign, CampaignPaths, find_files
from steelyard.formats.campaign.pairing import check_pairing
from steelyard.formats.detection import read_text
from steelyard.formats.file_names import system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.plain import Text, check_same_length
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of
from steelyard.text.blocks import BLOCK
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits, check_systems
from steelyard.text.names import fault_of_name, folded, printable
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
    paths = find_files(Path(folder), pair)
    _check_completeness(folder, paths, without_systems)
    _check_names(folder, paths)
    check_systems(len(paths.systems) + len(paths.runs), folder, limits)
    return paths


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
    notices = [notice for text in texts.values() for notice in text.notices]
    segments = next(iter(references.values())).segments
    notices += against_meta(folder, paths, segments)
    notices += _empty_reference_lines(references, paths.meta.variable_references)
    documents = None
    if paths.documents is not None:
        documents, about_documents = read_documents(paths.documents, segments, limits)
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
    )


def _check_completeness(folder: str | os.PathLike[str], paths: CampaignPaths, without_systems: bool) -> None:
    wanted = {"references": bool(paths.references), "systems": without_systems or bool(_systems(paths))}
    missing = [what for what, found in wanted.items() if not found]
    if missing:
        unused = f" Files it does not know: {listed(paths.unused)}." if paths.unused else ""
        raise BadCampaign(f"{folder}: no {' and no '.join(missing)}.{unused} {LAYOUTS}")


def _check_names(folder: str | os.PathLike[str], paths: CampaignPaths) -> None:
    problems = []
    if fault := fault_of_name(paths.name):
        problems.append(
            f"the campaign cannot be called {printable(paths.name)!r}: {fault}. "
            'Rename the folder, or give "name" in meta.json.'
        )
    if len(paths.sources) > 1:
        problems.append(f"{listed(_shown(paths.sources))}: two sources. Remove one.")
    problems += _faults_of_names("reference", paths.references) + _faults_of_names("system", _systems(paths))
    for system in dict.fromkeys(system for system, _, _ in paths.runs):
        problems += _faults_of_names("run", [(run, path) for name, run, path in paths.runs if name == system])
    _raise_if_any(folder, problems)


def _faults_of_names(what: str, files: Sequence[tuple[str, Path]]) -> list[str]:
    problems = []
    same: dict[str, list[tuple[str, Path]]] = {}
    for name, path in files:
        if fault := fault_of_name(name):
            problems.append(f"{printable(str(path))}: not usable as the name of a {what}: {fault}. Rename it.")
        same.setdefault(folded(name), []).append((name, path))
    for twins in same.values():
        if len(twins) > 1:
            names = [repr(name) for name in sorted({name for name, _ in twins})]
            alike = f"the name {names[0]}" if len(names) == 1 else f"too similar names ({listed(names)})"
            problems.append(
                f"{listed(_shown([path for _, path in twins]))}: {alike} for two {what}s. Rename or remove one."
            )
    return problems


def _systems(paths: CampaignPaths) -> list[tuple[str, Path]]:
    """All systems with the file of each, or the folder of its runs."""
    folders = dict.fromkeys((name, path.parent) for name, _, path in paths.runs)
    return [*paths.systems, *folders]


def _read_all(folder: str | os.PathLike[str], paths: CampaignPaths, limits: TextLimits) -> dict[Path, Text]:
    texts: dict[Path, Text] = {}
    problems: list[BadText] = []
    for role, path in text_files(paths):
        try:
            contents = opened(path, limits=limits)
            part = paths.meta.parts.get(role) if reader_of(contents.head).kind is Kind.SIDES else None
            texts[path] = read_text(contents, part=part, limits=limits)
            if not texts[path].segments:
                problems.append(BadCampaign(f"{path}: is empty. Give one line per segment, or remove the file."))
        except BadText as error:
            problems.append(_with_place_for_part(error, role))
    if len(problems) == 1:
        raise problems[0]
    _raise_if_any(folder, [str(problem) for problem in problems])
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
        ("system", meta.systems, _systems(paths)),
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
    _raise_if_any(folder, problems)
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


def _shown(paths: list[Path]) -> list[str]:
    return [printable(str(path)) for path in paths]


def _raise_if_any(folder: str | os.PathLike[str], problems: list[str]) -> None:
    if len(problems) == 1:
        raise BadCampaign(f"{folder}: {problems[0]}" if str(folder) not in problems[0] else problems[0])
    if problems:
        rows = "\n".join(f"  - {problem}" for problem in problems)
        raise BadCampaign(f"{folder}: {number_of(len(problems), 'problem')}:\n{rows}")


__all__ = [
    "BadCampaign",
    "CampaignFolder",
    "SegmentDocument",
    "read_campaign",
    "system_name",
]
