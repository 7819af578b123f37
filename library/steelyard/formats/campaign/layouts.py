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
    "or in sources, references and system-outputs below it; or, of many pairs, sources/PAIR.txt, "
    "references/PAIR.NAME.txt, documents/PAIR.docs and system-outputs/PAIR/SYSTEM.txt. "
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
    spelt: list[str] = field(default_factory=list)
    """How files of the pair spell it otherwise."""
    lines_of_pairs: bool = False
    """Whether it is one of many pairs in `steelyard.formats.campaign.pair_folders`' layout."""

    @property
    def pair(self) -> str:
        """The language pair, as far as it is said."""
        return f"{self.meta.source_language or ''}-{self.meta.target_language or ''}"


def own_layout(folder: Path) -> CampaignPaths:
    """The files of a folder in the project's own layout.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    CampaignPaths

    Raises
    ------
    OSError
        Where a folder cannot be listed.
    BadCampaignFile
        For a `meta.json` that cannot be understood.
    """
    meta_path = folder / "meta.json"
    meta = read_meta(meta_path) if meta_path.exists() else Meta()
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


def wmt_layout(folder: Path) -> list[CampaignPaths]:
    """The files of each test set in a folder whose file names say what they are, as WMT's do.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of CampaignPaths
        By name of the test set and pair, sorted; empty where no file has such a name.

    Raises
    ------
    OSError
        Where a folder cannot be listed.
    """
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
    found = []
    for test_set, pair in sorted({(name.test_set, name.pair) for name, _ in files}):
        mine = [(name, path) for name, path in files if (name.test_set, name.pair) == (test_set, pair)]
        first = mine[0][0]
        found.append(
            CampaignPaths(
                name=f"{test_set}.{pair}",
                meta=Meta(source_language=first.source_language, target_language=first.target_language),
                sources=[path for name, path in mine if name.kind == "src"],
                references=[(system_name(path), path) for name, path in mine if name.kind == "ref"],
                systems=[(system_name(path), path) for name, path in mine if name.kind == "hyp"],
                unused=unused,
            )
        )
    return found


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
