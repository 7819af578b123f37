"""Export of a campaign as one zip, as far as it is visible: TSV and JSON, texts as lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, select

from campaigns.accounts.principal import Principal
from campaigns.corrections.corrections import list_corrections
from campaigns.exports.archive import safe_name, zipped
from campaigns.exports.manifest import with_manifest
from campaigns.exports.stored_parts import import_tables, judgment_tables, protocol_table
from campaigns.exports.systems import system_table
from campaigns.fields.times import local_isoformat
from campaigns.participants import campaign_members
from campaigns.permissions import CampaignAccess, read_access
from campaigns.terms import terms_versions
from campaigns.test_sets.stored import list_campaign_test_sets
from campaigns.texts import lines_of
from campaigns.visibility import read_visible_submissions
from models.database.session import reading
from models.schema.accounts import Account, AuditEntry
from models.schema.column_types import readable
from models.schema.corpus import Document, Protocol, Reference, Submission, TestSet
from models.schema.queue import Evaluation
from models.schema.results import Score
from steelyard.tables.delimited import as_tsv


@dataclass
class _Contents:
    """The contents of the zip."""

    tables: dict[str, str] = field(default_factory=dict)
    """Name of a file -> its content."""
    texts: list[tuple[str, int]] = field(default_factory=list)
    """Names of files with the ids of the texts that they hold."""


def export_campaign(engine: Engine, principal: Principal, campaign: str) -> Iterator[bytes]:
    """Yield the zip, part by part. Organisers get everything, others what they may see on pages.

    Permissions are read before anything is returned.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    with reading(engine) as connection:
        access = read_access(connection, principal, campaign)
        contents = _collect(connection, access)
    return zipped(with_manifest(_files(engine, contents)))


def _files(engine: Engine, contents: _Contents) -> Iterator[tuple[str, Iterable[bytes]]]:
    for name, table in contents.tables.items():
        yield name, [table.encode()]
    for name, text in contents.texts:
        yield name, lines_of(engine, text)


def _collect(connection: Connection, access: CampaignAccess) -> _Contents:
    contents = _Contents()
    contents.tables["campaign.json"] = (
        json.dumps(_campaign_document(connection, access), ensure_ascii=False, indent=1) + "\n"
    )
    names = _add_test_sets(connection, access, contents)
    submissions = _add_submissions(connection, access, contents, names)
    _add_scores(connection, access, contents, submissions)
    contents.tables["systems.tsv"] = system_table(connection, access)
    corrections = [asdict(each) for each in list_corrections(connection, access)]
    contents.tables["corrections.tsv"] = _table(
        ("id", "test_set", "old_version", "new_version", "made_at", "reason"), corrections
    )
    contents.tables["protocols.tsv"] = protocol_table(connection, access, names)
    if access.organises:
        contents.tables |= judgment_tables(connection, access, names)
        contents.tables |= import_tables(connection, access, names)
        _add_people(connection, access, contents)
    return contents


def _campaign_document(connection: Connection, access: CampaignAccess) -> dict[str, Any]:
    return {
        "name": access.name,
        "title": access.title,
        "description": access.description,
        "time_zone": access.time_zone,
        "visibility": access.visibility,
        "joining": access.joining,
        "anonymous": access.anonymous,
        "verified_only": access.verified_only,
        "ranked_by": access.ranked_by,
        "human_rule": access.human_rule,
        "human_judgments": access.human_judgments,
        "embeddable": access.embeddable,
        "terms": terms_versions(connection, access),
        "frozen_at": access.frozen_at,
        "exported_at": local_isoformat(access.at, access.time_zone),
        "phases": [
            {
                **{name: value for name, value in asdict(phase).items() if name != "id"},
                "starts": local_isoformat(phase.starts_at, access.time_zone),
                "ends": None if phase.ends_at is None else local_isoformat(phase.ends_at, access.time_zone),
            }
            for phase in access.phases
        ],
    }


def _add_test_sets(connection: Connection, access: CampaignAccess, contents: _Contents) -> dict[int, str]:
    """Add the test sets with their visible texts; returns id -> title."""
    rows, names = [], {}
    for known in list_campaign_test_sets(connection, access):
        names[known.id] = known.title
        folder = f"test-sets/{safe_name(str(known.id), known.name, known.version)}"
        source, variable = connection.execute(
            select(TestSet.source_text_id, TestSet.variable_references).where(TestSet.id == known.id)
        ).one()
        if source is not None and access.sees_source(known.id):
            contents.texts.append((f"{folder}/source.txt", source))
        if access.sees_references(known.id):
            labelled = connection.execute(
                select(Reference.label, Reference.text_id)
                .where(Reference.test_set_id == known.id)
                .order_by(Reference.position)
            )
            for place, each in enumerate(labelled):
                contents.texts.append((f"{folder}/refs/{safe_name(str(place), each.label)}.txt", each.text_id))
        if access.sees_source(known.id):
            documents = connection.execute(
                select(Document).where(Document.test_set_id == known.id).order_by(Document.first_segment)
            )
            segments = [
                {
                    "segment": each.first_segment + number,
                    "doc_id": each.name,
                    "domain": each.domain,
                    "test_suite": each.test_suite,
                    **({"segment_id": each.segment_ids[number]} if each.segment_ids else {}),
                }
                for each in documents
                for number in range(each.segments)
            ]
            if segments:
                contents.tables[f"{folder}/docs.tsv"] = _table(tuple(segments[0]), segments)
        rows.append(
            {
                **asdict(known),
                "references": ",".join(known.references),
                "variable_references": "yes" if variable else "",
                "folder": folder,
            }
        )
    columns = ("id", "name", "version", "segments", "source_language", "target_language", "references")
    contents.tables["test-sets.tsv"] = _table(
        (*columns, "phase", "released_at", "replaced_by", "folder", "variable_references"), rows
    )
    return names


def _add_submissions(
    connection: Connection, access: CampaignAccess, contents: _Contents, names: dict[int, str]
) -> frozenset[int]:
    """Add visible submissions with visible outputs; returns those whose scores are visible."""
    rows, scored = [], set()
    for each in read_visible_submissions(connection, access):
        row = {name: getattr(each.row, name) for name in ("kind", "constrained", "late_seconds")}
        if each.own:
            # The description and the times of a submission are for its team and the organisers.
            row |= {name: getattr(each.row, name) for name in ("description", "phase", "created_at", "withdrawn_at")}
        row |= {"id": each.id, "team": each.team, "system": each.system, "run": each.run, "output": ""}
        row["test_set"] = names.get(each.test_set_id, "")
        if each.output:
            row["output"] = f"outputs/{safe_name(str(each.id), each.team, each.system, each.run)}.txt"
            contents.texts.append((row["output"], each.text_id))
        if each.scores:
            scored.add(each.id)
        rows.append(row)
    columns = ("id", "test_set", "team", "system", "run", "kind", "constrained", "description", "phase")
    contents.tables["submissions.tsv"] = _table(
        (*columns, "late_seconds", "created_at", "withdrawn_at", "output"), rows
    )
    return frozenset(scored)


def _add_scores(
    connection: Connection, access: CampaignAccess, contents: _Contents, submissions: frozenset[int]
) -> None:
    rows = connection.execute(
        select(
            *(Evaluation.submission_id, Protocol.id, Protocol.reference_labels, Score.specification, Score.signature),
            *(Score.score, Protocol.replicates, Protocol.seed, Evaluation.edition),
        )
        .join(Evaluation, Evaluation.id == Score.evaluation_id)
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .where(Submission.campaign_id == access.campaign_id, Protocol.sweep.is_(False))
        .order_by(Evaluation.submission_id, Protocol.id, Score.metric)
    )
    shown = [
        {
            "submission": row.submission_id,
            "references": ",".join(row.reference_labels),
            "metric": row.specification,
            "score": row.score,
            "replicates": row.replicates,
            "seed": row.seed,
            "signature": row.signature,
            "edition": row.edition,
        }
        for row in rows
        if row.submission_id in submissions
    ]
    columns = ("submission", "references", "metric", "score", "replicates", "seed", "signature", "edition")
    contents.tables["scores.tsv"] = _table(columns, shown)


def _add_people(connection: Connection, access: CampaignAccess, contents: _Contents) -> None:
    """Add what only organisers get."""
    teams = [each._asdict() for each in access.teams.values()]
    contents.tables["teams.tsv"] = _table(("name", "publication_name", "number"), teams)
    members = [asdict(each) for each in campaign_members(connection, access.campaign_id)]
    contents.tables["members.tsv"] = _table(("email", "name", "role"), members)
    entries = connection.execute(
        select(AuditEntry.at, AuditEntry.actor, Account.name, AuditEntry.action, AuditEntry.subject, AuditEntry.details)
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .where(AuditEntry.campaign_id == access.campaign_id)
        .order_by(AuditEntry.id)
    )
    rows = [
        {
            **each._asdict(),
            "details": json.dumps(readable(each.details, {"unreadable": "in the database"}), ensure_ascii=False),
        }
        for each in entries
    ]
    contents.tables["audit.tsv"] = _table(("at", "actor", "name", "action", "subject", "details"), rows)


def _table(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    return as_tsv(columns, ([row.get(column) for column in columns] for row in rows))
