"""Finds the files of a campaign in a folder: the project's own layout, and WMT's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.campaign.description import Meta, read_meta
from steelyard.formats.file_names import WmtName, is_text, parse_wmt_name, system_name, text_endings
from steelyard.formats.input.given_files import list_given
from steelyard.text.names import printable
from steelyard.text.normalization import normalized
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from pathlib import Path

_OWN_FOLDERS = ("refs", "systems")
_WMT_FOLDERS = ("sources", "references", "system-outputs")
# Read by people or by other commands.
_BESIDE = ("readme", "license", "automatic-scores.tsv")

LAYOUTS = (
    "A campaign folder has refs/LABEL.txt and systems/SYSTEM.txt, or systems/SYSTEM/RUN.txt for several runs of a "
    "system (and, where there are, source.txt, docs.tsv, human.*.tsv, meta.json), or WMT's files such as "
    "generaltest2022.en-cs.{src.en,ref.A.cs,hyp.SYSTEM.cs}, in the folder itself "
    "or in sources, references and system-outputs below it. "
    f"Names end in {', '.join(text_endings())}, and all may end in .gz."
)


class BadCampaign(BadText):
    """A campaign folder is not complete, or its files do not fit together."""


@dataclass(slots=True)
class CampaignPaths:
    """Where the parts of a campaign lie; nothing of it is read yet but `meta.json`."""

    name: str
    meta: Meta
    sources: list[Path] = field(default_factory=list)
    references: list[tuple[str, Path]] = field(default_factory=list)
    systems: list[tuple[str, Path]] = field(default_factory=list)
    runs: list[tuple[str, str, Path]] = field(default_factory=list)
    """System, run and file, of systems with a folder of their own."""
    documents: Path | None = None
    human: list[Path] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    """Files that nothing was made of, relative to the folder."""


def find_files(folder: Path, pair: str | None) -> CampaignPaths:
    """Recognise the layout of a folder and sort its files.

    Parameters
    ----------
    folder : Path
    pair : str or None
        Chooses among several language pairs of a WMT folder: `en-cs`, or `generaltest2022.en-cs`.

    Returns
    -------
    CampaignPaths

    Raises
    ------
    BadCampaign
        When the folder is missing, has neither layout, or several pairs.
    """
    if not folder.exists():
        raise BadCampaign(f"{folder}: there is no such folder. Check the path.")
    if not folder.is_dir():
        raise BadCampaign(f"{folder}: is a file, not a folder. {LAYOUTS}")
    try:
        if is_own_layout(folder):
            return _own_layout(folder, pair)
        return _wmt_layout(folder, pair)
    except OSError as error:
        raise BadCampaign(f"{folder}: cannot be listed ({error}). Check its permissions.") from error


def _own_layout(folder: Path, pair: str | None) -> CampaignPaths:
    meta_path = folder / "meta.json"
    meta = read_meta(meta_path) if meta_path.exists() else Meta()
    if pair is not None and pair != f"{meta.source_language}-{meta.target_language}":
        raise BadCampaign(
            f"{folder}: is not known to be for the language pair {pair}: "
            f"{meta_path} says {meta.source_language or 'nothing'}-{meta.target_language or 'nothing'}. "
            "Name source_language and target_language there, or choose no pair."
        )
    paths = CampaignPaths(name=meta.name or folder.resolve().name, meta=meta)
    for path in list_given(folder):
        if path.is_dir() and path.name in _OWN_FOLDERS:
            found = paths.references if path.name == "refs" else paths.systems
            for file in list_given(path):
                if path.name == "systems" and file.is_dir() and (runs := _runs(file)):
                    paths.runs += runs
                    paths.unused += _unused_beside(f"{path.name}/{file.name}", file, [run for _, _, run in runs])
                elif _is_text_file(file):
                    found.append((system_name(file), file))
                elif not is_beside(file):
                    paths.unused.append(f"{path.name}/{printable(file.name)}")
        elif is_text(path.name) and system_name(path) == "source":
            paths.sources.append(path)
        elif path.name == "docs.tsv":
            paths.documents = path
        elif path.name.startswith("human.") and path.name.endswith(".tsv"):
            paths.human.append(path)
        elif path != meta_path and not is_beside(path):
            paths.unused.append(printable(path.name))
    return paths


def _runs(folder: Path) -> list[tuple[str, str, Path]]:
    """The runs of the system that a folder below `systems` is named after; none where it holds no texts."""
    if folder.name.startswith("."):
        return []
    name = normalized("NFC", folder.name)
    return [(name, system_name(file), file) for file in list_given(folder) if _is_text_file(file)]


def _unused_beside(place: str, folder: Path, used: list[Path]) -> list[str]:
    there = [file for file in list_given(folder) if file not in used and not is_beside(file)]
    return [printable(f"{place}/{file.name}") for file in there]


def _is_text_file(path: Path) -> bool:
    return is_text(path.name) and not path.name.startswith(".") and not path.is_dir()


def _wmt_layout(folder: Path, pair: str | None) -> CampaignPaths:
    files: list[tuple[WmtName, Path]] = []
    unused = []
    for place in (folder, *(folder / name for name in _WMT_FOLDERS)):
        for path in list_given(place) if place.is_dir() else ():
            if path.is_dir():
                if place != folder or path.name not in _WMT_FOLDERS:
                    unused.append(printable(str(path.relative_to(folder))))
            elif (name := parse_wmt_name(path.name)) is not None:
                files.append((name, path))
            elif not is_beside(path):
                unused.append(printable(str(path.relative_to(folder))))
    if not files:
        found = f"found: {listed(unused)}" if unused else "it is empty"
        raise BadCampaign(f"{folder}: no campaign in this folder ({found}). {LAYOUTS}")
    chosen = _chosen_pair(folder, sorted({(name.test_set, name.pair) for name, _ in files}), pair)
    mine = [(name, path) for name, path in files if (name.test_set, name.pair) == chosen]
    first = mine[0][0]
    return CampaignPaths(
        name=".".join(chosen),
        meta=Meta(source_language=first.source_language, target_language=first.target_language),
        sources=[path for name, path in mine if name.kind == "src"],
        references=[(system_name(path), path) for name, path in mine if name.kind == "ref"],
        systems=[(system_name(path), path) for name, path in mine if name.kind == "hyp"],
        unused=unused,
    )


def _chosen_pair(folder: Path, found: list[tuple[str, str]], pair: str | None) -> tuple[str, str]:
    fitting = [(test_set, p) for test_set, p in found if pair is None or pair in (p, f"{test_set}.{p}")]
    if len(fitting) == 1:
        return fitting[0]
    there = listed([".".join(one) for one in (fitting or found)], shown=40)
    if not fitting:
        raise BadCampaign(f"{folder}: has no files for the pair {pair}. Choose one of these: {there}.")
    example = fitting[0][1] if len({p for _, p in fitting}) > 1 else ".".join(fitting[0])
    raise BadCampaign(
        f"{folder}: holds several test sets: {there}. Choose one with the parameter pair, e.g. {example}."
    )


def is_own_layout(folder: Path) -> bool:
    """Whether a folder has the project's own layout.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bool
    """
    return any((folder / name).is_dir() for name in _OWN_FOLDERS)


def is_beside(path: Path) -> bool:
    """Whether a file is there for people or for other commands.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    return path.name.lower().startswith(_BESIDE)
