"""Ingests test sets and submissions: atomically, and each only once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, select, update

from models.database.session import writing
from models.database.upsert import insert_ignore
from models.schema.campaigns import Campaign
from models.schema.corpus import Document, Protocol, Reference, Submission, System, TestSet
from models.schema.states import QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_submissions
from scheduler.errors import BadIngest
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.ingest.texts import (
    NewText,
    checked_name,
    digest,
    segment_count,
    store_missing_texts,
    store_texts,
)
from steelyard.text.names import folded
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric


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
    resample: ResamplingUnit = ResamplingUnit.SEGMENT
    """What replicates draw and randomization tests exchange."""
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


def store_campaign(connection: Connection, name: str) -> int:
    """The id of the campaign of this name, created if necessary.

    Raises
    ------
    BadIngest
        If another campaign has a confusable name.
    """
    row = {"name": checked_name(name, 200, "campaign"), "folded_name": folded(name)}
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
        checked_name(submission.system, 200, "system")
        checked_name(submission.team, 100, "team", empty=True)
        checked_name(submission.run, 100, "run", empty=True)
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
    outputs = [(each.team, each.system, each.run) for each in new]
    return _store_rows(connection, campaign_id, test_set_id, outputs, store_texts(connection, given))


def store_systems_without_texts(
    connection: Connection, campaign_id: int, test_set_id: int, systems: Sequence[str]
) -> list[int]:
    """Store submissions of which there are only scores; their ids in the same order."""
    content, segments = connection.execute(
        select(TestSet.content_hash, TestSet.segments).where(TestSet.id == test_set_id)
    ).one()
    for system in systems:
        checked_name(system, 200, "system")
    hashes = [digest(json.dumps(["no text", content, system])) for system in systems]
    texts = store_missing_texts(connection, hashes, segments)
    return _store_rows(connection, campaign_id, test_set_id, [("", system, "") for system in systems], texts)


def _store_rows(
    connection: Connection,
    campaign_id: int,
    test_set_id: int,
    outputs: Sequence[tuple[str, str, str]],
    texts: Sequence[int],
) -> list[int]:
    """Store the submissions of outputs (team, system, run) with these texts."""
    # Sorted, like texts: two transactions with different orders would deadlock.
    insert_ignore(
        connection, System, [{"team": team, "name": name} for team, name in sorted({each[:2] for each in outputs})]
    )
    names = {system for _, system, _ in outputs}
    systems = {
        (row.team, row.name): row.id
        for row in connection.execute(select(System.id, System.team, System.name).where(System.name.in_(names)))
    }
    keys = [(systems[team, system], run, text) for (team, system, run), text in zip(outputs, texts, strict=True)]
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
    textless = not labels and not any(metric.reads_texts for metric in new.metrics)
    if unknown or not (new.references or textless) or len(set(new.references)) < len(new.references):
        raise BadIngest(
            f"References {', '.join(new.references) or '(none)'} cannot be used: the test set has "
            f"{', '.join(sorted(labels))}. Name at least one of them, each once."
            if labels
            else "The test set has no texts, only scores that were made elsewhere: no metric can be computed."
        )
    if not new.metrics or new.replicates < 0 or not 0 <= new.seed < 2**63:
        raise BadIngest("A protocol needs at least one metric, 0 or more replicates, and a seed from 0 to 2^63 - 1.")
    reading = [metric.specification for metric in new.metrics if "source" in metric.inputs]
    if source is None and reading:
        raise BadIngest(
            f"{listed(reading)} reads the source, and the test set has none. Add the source, or leave the metric out."
        )
    documents = select(Document.name).where(Document.test_set_id == test_set_id).limit(1)
    if new.resample == ResamplingUnit.DOCUMENT and connection.scalar(documents) is None:
        raise BadIngest(
            "The test set names no documents, so they cannot be resampled. Resample segments, or add the test set with "
            "its documents."
        )
    row = {
        "test_set_id": test_set_id,
        "reference_labels": list(new.references),
        "metrics": [metric.specification for metric in new.metrics],
        "replicates": new.replicates,
        "seed": new.seed,
        "resample": new.resample,
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
    described = [list(new.references), [metric.specification for metric in new.metrics], new.replicates, new.seed]
    # A protocol that resamples segments is described as before documents could be.
    return described if new.resample == ResamplingUnit.SEGMENT else [*described, new.resample]
