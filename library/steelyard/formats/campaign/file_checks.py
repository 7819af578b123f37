"""Whether the files of a test set are complete and have usable names, before any of them is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.campaign.layouts import LAYOUTS, BadCampaign, CampaignPaths
from steelyard.text.limits import TextLimits, check_systems
from steelyard.text.names import fault_of_name, folded, printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path


def usable(
    folder: str | os.PathLike[str], paths: CampaignPaths, limits: TextLimits, without_systems: bool
) -> CampaignPaths:
    """The files of a test set, if they are complete and have usable names.

    Parameters
    ----------
    folder : path
    paths : CampaignPaths
    limits : TextLimits
    without_systems : bool

    Returns
    -------
    CampaignPaths
        The same.

    Raises
    ------
    BadCampaign, OverLimit
        As `campaign_files`.
    """
    _check_completeness(folder, paths, without_systems)
    _check_names(folder, paths)
    check_systems(len(paths.systems) + len(paths.runs), folder, limits)
    return paths


def _check_completeness(folder: str | os.PathLike[str], paths: CampaignPaths, without_systems: bool) -> None:
    wanted = {"references": bool(paths.references), "systems": without_systems or bool(systems_of(paths))}
    missing = [what for what, found in wanted.items() if not found]
    if missing:
        unused = f" Files it does not know: {listed(paths.unused)}." if paths.unused else ""
        of_pair = f"the language pair {paths.name} has " if paths.lines_of_pairs else ""
        raise BadCampaign(f"{folder}: {of_pair}no {' and no '.join(missing)}.{unused} {LAYOUTS}")


def _check_names(folder: str | os.PathLike[str], paths: CampaignPaths) -> None:
    problems = []
    if fault := fault_of_name(paths.name):
        problems.append(
            f"the campaign cannot be called {printable(paths.name)!r}: {fault}. "
            'Rename the folder, or give "name" in meta.json.'
        )
    if len(paths.sources) > 1:
        problems.append(f"{listed(_shown(paths.sources))}: two sources. Remove one.")
    problems += faults_of_names("reference", paths.references) + faults_of_names("system", systems_of(paths))
    for system in dict.fromkeys(system for system, _, _ in paths.runs):
        problems += faults_of_names("run", [(run, path) for name, run, path in paths.runs if name == system])
    raise_if_any(folder, problems)


def faults_of_names(what: str, files: Sequence[tuple[str, Path | str]]) -> list[str]:
    """What is wrong with names that are given to files, each alone and beside one another.

    Parameters
    ----------
    what : str
        What they are names of, in the singular.
    files : sequence of (str, Path or str)
        Each name, and the file that has it.

    Returns
    -------
    list of str
        A sentence each.
    """
    problems = []
    same: dict[str, list[tuple[str, Path | str]]] = {}
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


def systems_of(paths: CampaignPaths) -> list[tuple[str, Path]]:
    """All systems with the file of each, or the folder of its runs.

    Parameters
    ----------
    paths : CampaignPaths

    Returns
    -------
    list of (str, Path)
    """
    folders = dict.fromkeys((name, path.parent) for name, _, path in paths.runs)
    return [*paths.systems, *folders]


def _shown(paths: Sequence[Path | str]) -> list[str]:
    return [printable(str(path)) for path in paths]


def raise_if_any(folder: str | os.PathLike[str], problems: list[str]) -> None:
    """Raise BadCampaign with all problems at once; nothing for none.

    Parameters
    ----------
    folder : path
        For the message.
    problems : list of str
        A sentence each.

    Raises
    ------
    BadCampaign
    """
    if len(problems) == 1:
        raise BadCampaign(f"{folder}: {problems[0]}" if str(folder) not in problems[0] else problems[0])
    if problems:
        rows = "\n".join(f"  - {problem}" for problem in problems)
        raise BadCampaign(f"{folder}: {number_of(len(problems), 'problem')}:\n{rows}")
