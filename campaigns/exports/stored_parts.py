"""Judgments, imported scores and protocols of a campaign as tables of its export, for organisers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from analysis.meta_evaluation.human_ranking import numbered_annotators
from campaigns.exports.archive import safe_name
from campaigns.measures import protocols_on
from models.corpus.judgments import (
    RatingRow,
    SegmentRow,
    SpanRow,
    SystemRow,
    list_judgments_of,
    read_ratings,
    read_segments,
    read_spans,
    read_systems,
)
from models.schema.imported import ImportedScore, ScoreImport
from models.storage.arrays import unpack
from steelyard.tables.delimited import as_tsv

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess

PROTOCOLS = ("test_set", "references", "metrics", "replicates", "seed", "resample")
JUDGMENTS = ("test_set", "name", "version", "kind", "method", "folder")
IMPORTS = ("test_set", "name", "version", "specification", "content_hash", "level", "higher_is_better", "systems")
JUDGED: Mapping[str, type[Any]] = {
    "systems": SystemRow,
    "segments": SegmentRow,
    "ratings": RatingRow,
    "spans": SpanRow,
}
"""The tables of each import of judgments."""


def protocol_table(connection: Connection, access: CampaignAccess, names: Mapping[int, str]) -> str:
    """Return what is measured on each test set, in the order in which it was added."""
    rows = [
        (
            names[each.test_set_id],
            json.dumps(each.references, ensure_ascii=False),
            json.dumps(each.metrics, ensure_ascii=False),
            *(each.replicates, each.seed, each.resample.value),
        )
        for each in protocols_on(connection, access.campaign_id)
        if each.test_set_id in names
    ]
    return as_tsv(PROTOCOLS, rows)


def judgment_tables(connection: Connection, access: CampaignAccess, names: Mapping[int, str]) -> dict[str, str]:
    """Return all versions of all judgments: their table, and four for each. Annotators are numbered."""
    tables: dict[str, str] = {}
    rows = []
    for test_set, stored in list_judgments_of(connection, access.campaign_id, names).items():
        for each in sorted(stored, key=lambda one: (one.name, one.version)):
            folder = f"judgments/{safe_name(str(each.id), each.name, str(each.version))}"
            method = json.dumps(dict(each.method), ensure_ascii=False, sort_keys=True)
            rows.append((names[test_set], each.name, each.version, each.kind.value, method, folder))
            ratings, spans = read_ratings(connection, each.id), read_spans(connection, each.id)
            called = numbered_annotators([*(one.annotator for one in ratings), *(one.annotator for one in spans)])
            parts: dict[str, Sequence[Any]] = {
                "systems": read_systems(connection, each.id),
                "segments": read_segments(connection, each.id),
                "ratings": [one._replace(annotator=called[one.annotator]) for one in ratings],
                "spans": [one._replace(annotator=called[one.annotator]) for one in spans],
            }
            for part, found in parts.items():
                tables[f"{folder}/{part}.tsv"] = as_tsv(JUDGED[part]._fields, found)
    return {"judgments.tsv": as_tsv(JUDGMENTS, rows), **tables}


def import_tables(connection: Connection, access: CampaignAccess, names: Mapping[int, str]) -> dict[str, str]:
    """Return all versions of scores that were made elsewhere: their table, and their statistics for each."""
    tables: dict[str, str] = {}
    rows = []
    known = select(ScoreImport).where(ScoreImport.campaign_id == access.campaign_id, ScoreImport.test_set_id.in_(names))
    for each in connection.execute(known.order_by(ScoreImport.id)).all():
        file = f"imported/{safe_name(str(each.id), each.name, each.version)}.tsv"
        about = [getattr(each, column) for column in IMPORTS[1:]]
        rows.append(
            (names[each.test_set_id], *about, json.dumps(list(each.files)), json.dumps(list(each.notices)), file)
        )
        scores = select(ImportedScore.submission_id, ImportedScore.blob).where(ImportedScore.import_id == each.id)
        tables[file] = as_tsv(("submission", "segment", "statistics"), _statistics(connection.execute(
            scores.order_by(ImportedScore.submission_id)
        )))  # fmt: skip
    return {"imported.tsv": as_tsv((*IMPORTS, "files", "notices", "file"), rows), **tables}


def _statistics(scores: Iterable[Any]) -> Iterable[tuple[int, int, str]]:
    """The statistics of each segment that has some, all digits."""
    for each in scores:
        for segment, row in enumerate(unpack(each.blob).tolist()):
            yield each.submission_id, segment, " ".join(map(repr, row))
