"""Ingests test sets and submissions: atomically, and each only once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, insert, select, update

from models.corpus.campaign_protocols import lock_campaign
from models.database.session import writing
from models.database.upsert import insert_ignore
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Document, Protocol, Reference, Submission, System, TestSet
from models.schema.states import QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_submissions
from scheduler.errors import BadIngest
from scheduler.ingest.texts import NewText, digest, segment_count, store_texts, text_hash
from steelyard.text.names import folded
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric


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

    @property
    def texts(self) -> dict[str, NewText]:
        """The references with their layers, by label."""
        return {label: NewText(text, self.layers.get(label, {})) for label, text in self.references.items()}


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A system's hypotheses to be stored."""

    system: str
    text: bytes | Text
    team: str = ""
    layers: Mapping[str, bytes] = field(default_factory=dict)
    """Linguistic layers of the text by name, with the same number of lines."""
    run: str = ""
    """Which of several runs of the system this is; "" for a single run."""


@dataclass(frozen=True, slots=True)
class NewProtocol:
    """A protocol to be stored: references by label, in order."""

    references: Sequence[str]
    metrics: Sequence[Metric]
    replicates: int = 1000
    seed: int = 12345
    sweep: bool = False
    """Whether the metrics are one metric with many values of a parameter."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The ids of what was stored or existed already."""

    test_set_id: int
    campaign_id: int
    submissions: tuple[int, ...]
    """In the given order."""
    protocols: tuple[int, ...]
    """In the given order."""
    evaluations: tuple[tuple[int, ...], ...]
    """For each protocol, the evaluations in the order of the submissions."""
    measured_before: tuple[tuple[int, ...], ...]
    """For each of them, the number of the protocol's metrics whose statistics were reused."""

    @property
    def all_evaluations(self) -> list[int]:
        """The evaluations of all protocols."""
        return [evaluation for of_protocol in self.evaluations for evaluation in of_protocol]


def ingest_campaign(
    engine: Engine,
    settings: Settings,
    *,
    campaign: str,
    test_set: NewTestSet,
    submissions: Sequence[NewSubmission],
    protocols: Sequence[NewProtocol],
    queue_class: QueueClass = QueueClass.CAMPAIGN,
    team: str = "",
    processes: int | None = None,
    due_at: float | None = None,
) -> IngestResult:
    """Store a whole campaign in one transaction and enqueue its evaluations.

    Parameters
    ----------
    team : str
        The team charged for the work.
    processes : int | None
        The number of pool processes to spread the work over.
    due_at : float | None
        The requested time of completion, by the database's clock.

    Raises
    ------
    BadIngest
        If the data is inconsistent; then nothing is stored.
    """
    with writing(engine, durable=True) as connection:
        campaign_id = store_campaign(connection, campaign)
        stored = store_test_set(connection, campaign_id, test_set)
        submitted = store_submissions(connection, campaign_id, stored, submissions)
        measured = store_protocols(connection, stored, protocols)
        # All transactions use one order, as for protocols, so that they cannot deadlock.
        queued = {
            protocol: enqueue_submissions(
                connection,
                settings,
                protocol,
                submitted,
                queue_class=queue_class,
                team=team,
                processes=processes,
                due_at=due_at,
            )
            for protocol in sorted(set(measured))
        }
    return IngestResult(
        stored,
        campaign_id,
        tuple(submitted),
        tuple(measured),
        tuple(queued[protocol].evaluations for protocol in measured),
        tuple(queued[protocol].measured_before for protocol in measured),
    )


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
        segments=texts[0].segments,
        variable_references=new.variable_references,
    )
    test_set_id = connection.execute(inserted.returning(TestSet.id)).scalar_one()
    labelled = enumerate(zip(new.references, ids, strict=False))
    connection.execute(
        insert(Reference),
        [
            {"test_set_id": test_set_id, "label": label, "position": position, "text_id": text_id}
            for position, (label, text_id) in labelled
        ],
    )
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
    lacking = select(Document.first_segment, Document.segments).where(
        Document.test_set_id == test_set_id, Document.segment_ids.is_(None)
    )
    for first, count in connection.execute(lacking).all():
        connection.execute(
            update(Document)
            .where(Document.test_set_id == test_set_id, Document.first_segment == first)
            .values(segment_ids=list(new.segment_ids[first : first + count]))
        )


def store_campaign(connection: Connection, name: str) -> int:
    """The id of the campaign of this name, created if necessary.

    Raises
    ------
    BadIngest
        If another campaign has a confusable name.
    """
    row = {"name": _checked(name, 200, "campaign"), "folded_name": folded(name)}
    insert_ignore(connection, Campaign, [row])
    found = connection.execute(select(Campaign.id).where(Campaign.name == name)).scalar_one_or_none()
    if found is None:
        other = connection.scalar(select(Campaign.name).where(Campaign.folded_name == folded(name)))
        raise BadIngest(
            f'There is a campaign "{other}", which looks like "{name}". Use that name, or a clearly different one.'
        )
    return found


def store_submissions(
    connection: Connection, campaign_id: int, test_set_id: int, new: Sequence[NewSubmission]
) -> list[int]:
    """Store submissions; their ids in the same order. Existing ones are found, not stored twice.

    Raises
    ------
    BadIngest
        If a text has the wrong number of lines, or a system is given twice.
    """
    segments = connection.execute(select(TestSet.segments).where(TestSet.id == test_set_id)).scalar_one()
    named: set[tuple[str, str, str]] = set()
    for submission in new:
        _checked(submission.system, 200, "system")
        _checked(submission.team, 100, "team", empty=True)
        _checked(submission.run, 100, "run", empty=True)
        if (submission.team, submission.system, submission.run) in named:
            run = f", run {submission.run!r}," if submission.run else ""
            raise BadIngest(
                f"The system {submission.system!r}{run} is given twice. Give each system a name of its own."
            )
        named.add((submission.team, submission.system, submission.run))
        if segment_count(submission.text) != segments:
            raise BadIngest(
                f"The text of system {submission.system!r} has {segment_count(submission.text)} lines, "
                f"but the test set has {segments} segments. Give one line per segment, in its order."
            )
    given = [NewText(submission.text, submission.layers) for submission in new]
    for submission, text in zip(new, given, strict=True):
        text.check(f"The text of system {submission.system!r}")
    texts = store_texts(connection, given)
    # Sorted, like texts: two transactions with different orders would deadlock.
    insert_ignore(
        connection, System, [{"team": team, "name": name} for team, name in sorted({each[:2] for each in named})]
    )
    names = {each.system for each in new}
    systems = {
        (row.team, row.name): row.id
        for row in connection.execute(select(System.id, System.team, System.name).where(System.name.in_(names)))
    }
    keys = [(systems[each.team, each.system], each.run, text) for each, text in zip(new, texts, strict=True)]
    common = {"campaign_id": campaign_id, "test_set_id": test_set_id}
    rows = [{**common, "system_id": system, "run": run, "text_id": text} for system, run, text in sorted(keys)]
    insert_ignore(connection, Submission, rows)
    stored = connection.execute(
        select(Submission.id, Submission.system_id, Submission.run, Submission.text_id).where(
            Submission.campaign_id == campaign_id,
            Submission.test_set_id == test_set_id,
            Submission.system_id.in_([system for system, _, _ in keys]),
        )
    )
    ids = {(row.system_id, row.run, row.text_id): row.id for row in stored}
    return [ids[key] for key in keys]


def store_protocols(connection: Connection, test_set_id: int, new: Sequence[NewProtocol]) -> list[int]:
    """Store protocols, or find identical ones; their ids in the same order.

    Raises
    ------
    BadIngest
        If the data is inconsistent.
    """
    # Sorted, like texts: two transactions with different orders would deadlock. Single references come first, since
    # leaderboards are shown in the order of their protocols.
    order = sorted(range(len(new)), key=lambda number: (len(new[number].references), _described(new[number])))
    ids = {number: store_protocol(connection, test_set_id, new[number]) for number in order}
    return [ids[number] for number in range(len(new))]


def store_protocol(connection: Connection, test_set_id: int, new: NewProtocol) -> int:
    """Store a protocol, or find the identical one; its id.

    Raises
    ------
    BadIngest
        If the data is inconsistent.
    """
    content, source = connection.execute(
        select(TestSet.content_hash, TestSet.source_text_id).where(TestSet.id == test_set_id)
    ).one()
    labels = set(connection.scalars(select(Reference.label).where(Reference.test_set_id == test_set_id)))
    unknown = [label for label in new.references if label not in labels]
    if unknown or not new.references or len(set(new.references)) < len(new.references):
        raise BadIngest(
            f"References {', '.join(new.references) or '(none)'} cannot be used: the test set has "
            f"{', '.join(sorted(labels))}. Name at least one of them, each once."
        )
    if not new.metrics or new.replicates < 0 or not 0 <= new.seed < 2**63:
        raise BadIngest("A protocol needs at least one metric, 0 or more replicates, and a seed from 0 to 2^63 - 1.")
    reading = [metric.specification for metric in new.metrics if "source" in metric.inputs]
    if source is None and reading:
        raise BadIngest(
            f"{listed(reading)} reads the source, and the test set has none. Add the source, or leave the metric out."
        )
    row = {
        "test_set_id": test_set_id,
        "reference_labels": list(new.references),
        "metrics": [metric.specification for metric in new.metrics],
        "replicates": new.replicates,
        "seed": new.seed,
        "content_hash": digest(json.dumps([content, *_described(new)])),
        "sweep": new.sweep,
    }
    insert_ignore(connection, Protocol, [row])
    known = connection.execute(
        select(Protocol.id, Protocol.sweep).where(Protocol.content_hash == row["content_hash"])
    ).one()
    if known.sweep and not new.sweep:
        # The same protocol is now requested as a leaderboard.
        connection.execute(update(Protocol).where(Protocol.id == known.id).values(sweep=False))
    return int(known.id)


def _described(new: NewProtocol) -> list[Any]:
    """Everything that results depend on, besides the test set."""
    return [list(new.references), [metric.specification for metric in new.metrics], new.replicates, new.seed]


def test_set_hash(new: NewTestSet) -> str:
    """SHA-256 of everything in a test set that scores or documents depend on; not of its name, nor of segment ids."""
    described = [
        [[label, text.sha256] for label, text in new.texts.items()],
        None if new.source is None else text_hash(new.source),
        new.source_language,
        new.target_language,
        new.variable_references,
        # Without a test suite, a document is described as before test suites existed.
        [[name, domain, suite] if suite else [name, domain] for name, domain, suite in new.documents],
    ]
    return digest(json.dumps(described))


def _check_test_set(new: NewTestSet) -> None:
    _checked(new.name, 200, "test set")
    if not new.references:
        raise BadIngest(f"The test set {new.name!r} has no reference. Give at least one.")
    counts = {f"reference {label!r}": segment_count(text) for label, text in new.references.items()}
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
        _checked(label, 100, "reference")
        text.check(f"Reference {label!r} of test set {new.name!r}")
    for name, domain, suite in dict.fromkeys(map(tuple, new.documents)):
        _checked(name, 500, "document")
        _checked(domain, 100, "domain", empty=True)
        _checked(suite, 200, "test suite", empty=True)
    if strangers := sorted(new.layers.keys() - new.references.keys()):
        raise BadIngest(
            f"The test set {new.name!r} has layers of references that do not exist: {', '.join(strangers)}."
        )


def _checked(name: str, longest: int, what: str, *, empty: bool = False) -> str:
    if (not name and not empty) or len(name) > longest or "\0" in name:
        raise BadIngest(f"{name[:50]!r} cannot be the name of a {what}: give 1 to {longest} characters.")
    return name
