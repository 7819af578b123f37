"""The documents of a stored test set, for resampling by document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from models.errors import UnreadableRow
from models.schema.column_types import known
from models.schema.corpus import Document
from models.schema.states import ResamplingUnit
from steelyard.resampling.documents import Documents

if TYPE_CHECKING:
    from sqlalchemy import Connection


def resampled_documents(
    connection: Connection, test_set_id: int, segments: int, unit: ResamplingUnit
) -> Documents | None:
    """The documents that a protocol's replicates draw; None where they draw segments.

    Documents of one name are one document, as for `steelyard score --resample document`, wherever its pieces are.

    Raises
    ------
    UnreadableRow
        If the documents do not cover the test set, or the unit is unknown to this release.
    """
    if known(unit, "What a protocol resamples") == ResamplingUnit.SEGMENT:
        return None
    names: list[str] = []
    pieces = select(Document.first_segment, Document.segments, Document.name).where(Document.test_set_id == test_set_id)
    for first, count, name in connection.execute(pieces.order_by(Document.first_segment)):
        if first != len(names):
            break
        names += [name] * count
    if len(names) != segments:
        raise UnreadableRow(
            f"A protocol resamples the documents of test set {test_set_id}, and these cover {len(names)} of its "
            f"{segments} segments."
        )
    return Documents.from_names(names)
