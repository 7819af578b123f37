"""A test set that was read here, as the files that a server takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.tables.delimited import as_tsv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text


@dataclass(frozen=True)
class TestSetFiles:
    """Plain texts, and the table of documents."""

    __test__ = False

    references: dict[str, bytes]
    """By file name, which says the label."""
    source: bytes | None
    documents: bytes | None
    source_language: str
    target_language: str
    variable_references: bool
    notices: Sequence[str]


def read_test_set(paths: Sequence[str], pair: str | None, name: str) -> TestSetFiles:
    """Read a folder as `steelyard evaluate` does, without systems, or marked-up files. Raises MetricsError."""
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.text.limits import STORING_LIMITS

    folder = read_any_campaign(list(paths), pair=pair, name=name, limits=STORING_LIMITS, without_systems=True)
    notices = list(folder.notices)
    if folder.systems or folder.runs:
        notices.append("System outputs in the folder are ignored; submit them with `steelyard submit`.")
    return TestSetFiles(
        references={f"{label}.txt": _lines(text) for label, text in folder.references.items()},
        source=None if folder.source is None else _lines(folder.source),
        documents=None if folder.documents is None else _table(folder),
        source_language=folder.source_language or "",
        target_language=folder.target_language or "",
        variable_references=folder.variable_references,
        notices=notices,
    )


def _lines(text: Text) -> bytes:
    """The text as a file, whose last line ends, too."""
    return text.bytes + b"\n" if text.segments else b""


def _table(folder: CampaignFolder) -> bytes:
    columns = ["segment", "doc_id", "domain", "test_suite"]
    rows: list[list[str | int]] = [[number, *document] for number, document in enumerate(folder.documents or ())]
    if folder.segment_ids is not None:
        columns.append("segment_id")
        for row, segment_id in zip(rows, folder.segment_ids, strict=True):
            row.append(segment_id)
    return as_tsv(columns, rows).encode()
