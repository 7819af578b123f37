"""Judgments that lie beside the texts of a test set, in files `human.*.tsv`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.input.contents import opened
from steelyard.meta_evaluation.human.assessment_formats.reading import LIMITS
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.meta_evaluation.human.table import BadTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.meta_evaluation.human.judgments import Judged


def judgments_name(file: str) -> str:
    """Judgments named after their file: `human.sys.tsv` human, `human.mqm.seg.tsv` mqm, `da.csv.gz` da.

    Parameters
    ----------
    file : str

    Returns
    -------
    str

    Raises
    ------
    BadTable
        Where that is no name of judgments.
    """
    words = file.split(".")
    while len(words) > 1 and words[-1].lower() in ("gz", "tsv", "csv", "txt"):
        words.pop()
    if len(words) > 1 and words[-1] in ("seg", "sys"):
        words.pop()
    if len(words) > 1 and words[0] == "human":
        words.pop(0)
    name = ".".join(words)
    if not name or len(name) > 100 or "@" in name:
        raise BadTable(f"{file!r}: judgments cannot be called {name!r}: 1 to 100 characters, without @.")
    return name


def judgments_beside(folder: CampaignFolder, shown: Callable[[Path], str] = str) -> dict[str, Judged]:
    """The judgments in the files `human.*.tsv`, by name.

    `human.seg.tsv` and `human.sys.tsv` belong together, and so do `human.NAME.seg.tsv` and `human.NAME.sys.tsv`. Call
    it before anything is stored: unreadable judgments reject the whole campaign.

    Parameters
    ----------
    folder : CampaignFolder
    shown : callable
        How messages call a file.

    Returns
    -------
    dict of str to Judged

    Raises
    ------
    BadText
        Naming files and lines.
    """
    documents: dict[str, list[int]] = {}
    for segment, document in enumerate(folder.documents or ()):
        documents.setdefault(document.doc_id, []).append(segment)
    files: dict[str, list[Path]] = {}
    for path in folder.human:
        files.setdefault(judgments_name(path.name), []).append(path)
    how = Reading(folder.segments, documents)
    return {
        name: read_judgments([opened(path, name=shown(path), limits=LIMITS) for path in paths], how)
        for name, paths in sorted(files.items())
    }
