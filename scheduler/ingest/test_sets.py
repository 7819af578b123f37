"""Stores test sets, each content once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, insert, select, update

from models.corpus.campaign_protocols import lock_campaign
from models.schema.campaigns import CampaignTestSet
from models.schema.corpus import Document, Reference, TestSet
from scheduler.errors import BadIngest
from scheduler.ingest.texts import NewText, checked_name, digest, segment_count, store_texts, text_hash

if TYPE_CHECKING:
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text


@dataclass(frozen=True, slots=True)
class NewTestSet:
    """A test set to be stored. Texts are UTF-8 lines joined by newlines, without a final one, or stay in files."""

    __test__ = False

    name: str
    references: Mapping[str, bytes | Text]
    source: bytes | Text | None = None
    source_language: str = ""
    target_language: str = ""
    documents: Sequence[tuple[str, str, str]] = ()
    """The (name, domain, test suite) of each segment's document; empty without documents."""
    segment_ids: Sequence[str] = ()
    """The id of each segment in its document; empty where they are not known."""
    variable_references: bool = False
    """Whether an empty line in a reference means that the segment has no such reference."""
    version: str | None = None
    """The version; None takes the first free number if the campaign has the name with different content."""
    layers: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    """Linguistic layers of references, by label and then by name, with the same number of lines."""
    segments: int = 0
    """The number of segments of a test set without any text, for scores that come without texts; else 0."""

    @classmethod
    def from_folder(cls, name: str, folder: CampaignFolder) -> Self:
        """What was read of a campaign, or of files of a test set, under a name."""
        return cls(
            name,
            folder.references,
            layers={label: text.layers for label, text in folder.references.items()},
            source=folder.source,
            source_language=folder.source_language or "",
            target_language=folder.target_language or "",
            documents=folder.documents or (),
            segment_ids=folder.segment_ids or (),
            variable_references=folder.variable_references,
        )

    @property
    def texts(self) -> dict[str, NewText]:
        """The references with their layers, by label."""
        return {label: NewText(text, self.layers.get(label, {})) for label, text in self.references.items()}


def store_test_set(connection: Connection, campaign_id: int, new: NewTestSet) -> int:
    """Store a test set for a campaign, or find the one with the same content; its id.

    If the campaign has this content already, it keeps its name for it.

    Raises
    ------
    BadIngest
        If the data is inconsistent.
    """
    _check_test_set(new)
    content = test_set_hash(new)
    there = (
        select(TestSet.id)
        .join(CampaignTestSet, CampaignTestSet.test_set_id == TestSet.id)
        .where(TestSet.content_hash == content, CampaignTestSet.campaign_id == campaign_id)
    )
    if (known := connection.scalar(there)) is not None:
        _add_segment_ids(connection, known, new)
        return known
    # Before any text: a transaction that waits for a text may hold the campaign.
    lock_campaign(connection, campaign_id)
    test_set_id = _store_content(connection, new, content)
    link_test_set(connection, campaign_id, test_set_id, new.name, new.version)
    return test_set_id


def link_test_set(
    connection: Connection, campaign_id: int, test_set_id: int, name: str, version: str | None = None
) -> None:
    """Add a stored test set to a campaign (which must be locked) under a name; an existing entry is unchanged.

    Without a version, it gets the first number that is free for this name in the campaign.

    Raises
    ------
    BadIngest
        If the data is inconsistent.
    """
    rows = connection.execute(select(CampaignTestSet).where(CampaignTestSet.campaign_id == campaign_id)).all()
    if any(row.test_set_id == test_set_id for row in rows):
        return
    versions = {row.version for row in rows if row.name == name}
    if version is None:
        version = next(str(number) for number in range(1, len(versions) + 2) if str(number) not in versions)
    if version in versions:
        raise BadIngest(
            f"Test set {name!r} already exists in version {version!r} with different content. Test sets never "
            "change: give the new content a new version."
        )
    link = {"name": name, "version": version, "position": max((row.position + 1 for row in rows), default=0)}
    connection.execute(insert(CampaignTestSet).values(campaign_id=campaign_id, test_set_id=test_set_id, **link))


def _store_content(connection: Connection, new: NewTestSet, content: str) -> int:
    texts = [*new.texts.values(), *([] if new.source is None else [NewText(new.source)])]
    ids = store_texts(connection, texts)
    known = connection.scalar(select(TestSet.id).where(TestSet.content_hash == content))
    if known is not None:
        _add_segment_ids(connection, known, new)
        return known
    inserted = insert(TestSet).values(
        content_hash=content,
        source_language=new.source_language,
        target_language=new.target_language,
        source_text_id=None if new.source is None else ids[-1],
        segments=texts[0].segments if texts else new.segments,
        variable_references=new.variable_references,
    )
    test_set_id = connection.execute(inserted.returning(TestSet.id)).scalar_one()
    references = [
        {"test_set_id": test_set_id, "label": label, "position": position, "text_id": text_id}
        for position, (label, text_id) in enumerate(zip(new.references, ids, strict=False))
    ]
    if references:
        connection.execute(insert(Reference), references)
    documents = []
    for (name, domain, suite), run in groupby(enumerate(new.documents), key=lambda item: tuple(item[1])):
        numbers = [number for number, _ in run]
        documents.append(
            {
                "test_set_id": test_set_id,
                "first_segment": numbers[0],
                "segments": len(numbers),
                "name": name,
                "domain": domain,
                "test_suite": suite,
                "segment_ids": [new.segment_ids[number] for number in numbers] if new.segment_ids else None,
            }
        )
    if documents:
        connection.execute(insert(Document), documents)
    return test_set_id


def _add_segment_ids(connection: Connection, test_set_id: int, new: NewTestSet) -> None:
    """Give a stored test set the segment ids that it was stored without; ids that it has stay."""
    if not new.segment_ids:
        return
    missing = select(Document.first_segment, Document.segments).where(
        Document.test_set_id == test_set_id, Document.segment_ids.is_(None)
    )
    for first, count in connection.execute(missing).all():
        connection.execute(
            update(Document)
            .where(Document.test_set_id == test_set_id, Document.first_segment == first)
            .values(segment_ids=list(new.segment_ids[first : first + count]))
        )


def test_set_hash(new: NewTestSet) -> str:
    """SHA-256 of everything in a test set that scores or documents depend on; not of its name, nor of segment ids."""
    described: list[Any] = [
        [[label, text.sha256] for label, text in new.texts.items()],
        None if new.source is None else text_hash(new.source),
        new.source_language,
        new.target_language,
        new.variable_references,
        # Without a test suite, a document is described as before test suites existed.
        [[name, domain, suite] if suite else [name, domain] for name, domain, suite in new.documents],
    ]
    if new.segments:
        described.append(new.segments)
    return digest(json.dumps(described))


def _check_test_set(new: NewTestSet) -> None:
    checked_name(new.name, 200, "test set")
    if not new.references and not new.segments:
        raise BadIngest(f"The test set {new.name!r} has no reference. Give at least one.")
    counts = {f"reference {label!r}": segment_count(text) for label, text in new.references.items()}
    if new.segments:
        counts["test set"] = new.segments
    if new.source is not None:
        counts["source"] = segment_count(new.source)
    if new.documents:
        counts["document list"] = len(new.documents)
    if new.segment_ids:
        counts["segment ids"] = len(new.segment_ids)
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{what}: {count}" for what, count in counts.items())
        raise BadIngest(f"The texts of test set {new.name!r} have different numbers of segments ({listed}).")
    for label, text in new.texts.items():
        checked_name(label, 100, "reference")
        text.check(f"Reference {label!r} of test set {new.name!r}")
    for name, domain, suite in dict.fromkeys(map(tuple, new.documents)):
        checked_name(name, 500, "document")
        checked_name(domain, 100, "domain", empty=True)
        checked_name(suite, 200, "test suite", empty=True)
    if strangers := sorted(new.layers.keys() - new.references.keys()):
        raise BadIngest(
            f"The test set {new.name!r} has layers of references that do not exist: {', '.join(strangers)}."
        )
