"""The documents of what is scored, for resampling by document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.scoring.inputs import Inputs
    from steelyard.commands.scoring.score_options import ScoreOptions
    from steelyard.resampling.documents import Documents


def documents_of(options: ScoreOptions, inputs: Inputs) -> Documents | None:
    """The documents to resample; None where segments are.

    Raises UsageError where nothing says them, and BadText for a file that does not fit.

    Parameters
    ----------
    options : ScoreOptions
    inputs : Inputs

    Returns
    -------
    Documents or None
    """
    if options.resample == "segment":
        return None
    from steelyard.resampling.documents import Documents, few_documents

    segments = inputs.references[0].segments
    if options.documents:
        names: Sequence[str] = names_of_documents(options.documents, segments)
    elif inputs.segment_ids is not None:
        names = [document for document, _ in inputs.segment_ids]
    else:
        raise UsageError(
            "--resample document needs to know the documents: add --documents FILE, or give files with ids."
        )
    found = Documents.from_names(names)
    note([warning] if (warning := few_documents(found)) else [])
    return found


def names_of_documents(path: str, segments: int) -> list[str]:
    """The document of each segment, from a table with a header (docs.tsv) or from lines of domain and document.

    Parameters
    ----------
    path : str
    segments : int

    Returns
    -------
    list of str
    """
    from steelyard.formats.campaign.description import read_documents
    from steelyard.formats.campaign.pair_folders import read_docs
    from steelyard.formats.plain import read_lines

    table = read_lines(path)
    first = next(iter(table.lines()), b"")
    if {b"segment", b"doc_id"} <= {*first.split(b"\t")}:
        documents, _, notices = read_documents(table, segments)
    else:
        documents, notices = read_docs(table, segments)
    note(notices)
    return [each.doc_id for each in documents]
