"""Versions of imported metrics: stored, listed, chosen for leaderboards, and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.score_imports.columns import (
    change_columns,
    current_measures,
    current_metrics,
    rank_by_instead,
    with_column,
    without_column,
)
from campaigns.test_sets.stored import find_campaign_test_set, list_campaign_test_sets
from models.schema.imported import ImportedScore, ScoreImport
from models.storage.arrays import pack
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import Imported, written_name
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from campaigns.score_imports.scored import ScoredSystems
    from campaigns.score_imports.targets import Target
    from runtime.settings import Settings
    from steelyard.metrics.metric import Metric

MAX_VERSION = 30


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A file that scores came from."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ImportedColumn:
    """A metric of a test set that was imported, or was there with the very same scores."""

    test_set: str
    name: str
    version: str
    level: str
    higher_is_better: bool
    systems: int
    """With at least one score."""
    new: bool


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """A stored version of a metric's scores."""

    test_set: str
    name: str
    version: str
    shown: bool
    """Whether it is the version on leaderboards."""
    level: str
    higher_is_better: bool
    systems: int
    sha256: str
    """Of all its scores."""
    files: Sequence[ScoreFile]
    notices: Sequence[str]
    actor: str
    """Who imported it."""
    at: float


def store_version(
    connection: Connection,
    access: CampaignAccess,
    target: Target,
    scored: ScoredSystems,
    version: str,
    files: Sequence[ScoreFile],
    notices: Sequence[str],
) -> tuple[ImportedColumn, Imported]:
    """Store the scores of a metric as a version of it; the very same ones are found, not stored twice.

    Raises
    ------
    BadRequest
        For scores that are too large, and a bad name of a version.
    Conflict
        If the version exists with other scores.
    """
    table, content, title = scored.table, scored.content_hash, target.test_set.title
    rows = connection.execute(
        select(ScoreImport.version, ScoreImport.content_hash)
        .where(*_of(access, target.id), ScoreImport.name == table.name)
        .order_by(ScoreImport.id)
    ).all()
    same = next((row.version for row in rows if row.content_hash == content and version in ("", row.version)), None)
    number = _new_version(table.name, version, {row.version for row in rows}, title) if same is None else same
    metric = Imported.from_texts(
        {
            "metric": written_name(table.name),
            "ver": written_name(number),
            "sha256": content[:12],
            "level": table.level,
            "better": "higher" if table.higher_is_better else "lower",
            "segments": str(target.test_set.segments if table.level == "system" else 0),
        }
    )
    if same is None:
        values = {
            "campaign_id": access.campaign_id,
            "test_set_id": target.id,
            "name": table.name,
            "version": number,
            "specification": metric.specification,
            "content_hash": content,
            "level": table.level,
            "higher_is_better": table.higher_is_better,
            "systems": scored.systems,
            "files": [{"name": each.name, "sha256": each.sha256} for each in files],
            "notices": list(notices),
            "account_id": access.principal.account_id,
            "actor": (access.principal.email or "nobody")[:300],
        }
        import_id = connection.execute(insert(ScoreImport).values(values).returning(ScoreImport.id)).scalar_one()
        scores = [
            {"import_id": import_id, "submission_id": target.submissions[system], "blob": pack(statistics)}
            for system, statistics in scored.statistics(metric, target.test_set.segments)
        ]
        if scores:
            connection.execute(insert(ImportedScore), scores)
    better = table.higher_is_better
    return ImportedColumn(title, table.name, number, table.level, better, scored.systems, same is None), metric


def _of(access: CampaignAccess, test_set_id: int) -> tuple[ColumnElement[bool], ...]:
    return ScoreImport.campaign_id == access.campaign_id, ScoreImport.test_set_id == test_set_id


def _new_version(name: str, wanted: str, there: set[str], test_set: str) -> str:
    if not wanted:
        return next(str(number) for number in range(1, len(there) + 2) if str(number) not in there)
    if len(wanted) > MAX_VERSION or not wanted.isprintable() or not wanted.strip():
        raise BadRequest(f"{wanted[:50]!r} cannot be a version: give 1 to {MAX_VERSION} printable characters.")
    if wanted in there:
        raise Conflict(
            f"{name}@{wanted} of {test_set} was imported with other scores. Give these another version, or delete "
            "that one first."
        )
    return wanted


def list_versions(connection: Connection, access: CampaignAccess) -> list[ImportedVersion]:
    """The imported metrics of a campaign on the visible test sets, in their order, then by name and time."""
    found = []
    metrics = current_metrics(connection, access.campaign_id)
    imports: dict[int, list[Any]] = {}
    for row in connection.execute(
        select(ScoreImport)
        .where(ScoreImport.campaign_id == access.campaign_id)
        .order_by(ScoreImport.name, ScoreImport.created_at, ScoreImport.id)
    ):
        imports.setdefault(row.test_set_id, []).append(row)
    for test_set in list_campaign_test_sets(connection, access):
        shown = metrics.get(test_set.id, ())
        found += [
            ImportedVersion(
                test_set=test_set.title,
                name=row.name,
                version=row.version,
                shown=row.specification in shown,
                level=row.level,
                higher_is_better=row.higher_is_better,
                systems=row.systems,
                sha256=row.content_hash,
                files=tuple(ScoreFile(each["name"], each["sha256"]) for each in row.files),
                notices=tuple(row.notices),
                actor=row.actor,
                at=row.created_at,
            )
            for row in imports.get(test_set.id, ())
        ]
    return found


def chosen_versions(
    connection: Connection, access: CampaignAccess, wanted: str, test_set: str = ""
) -> list[ImportedVersion]:
    """Return a version, NAME@VERSION, or all versions of a metric, NAME, of all test sets or of one.

    Raises
    ------
    NotFound
        If there is no such version, listing what there is.
    """
    titles = {each.id: each.title for each in list_campaign_test_sets(connection, access)}
    chosen = {
        (row.name, row.version, titles.get(row.test_set_id)) for row in _found(connection, access, wanted, test_set)
    }
    known = list_versions(connection, access)
    return [each for each in known if (each.name, each.version, each.test_set) in chosen]


def choose_version(
    connection: Connection, settings: Settings, access: CampaignAccess, wanted: str, test_set: str = ""
) -> list[ImportedVersion]:
    """Show a version, NAME@VERSION, on the leaderboards of a locked campaign instead of the others of its metric.

    Of all test sets that have it, or of one. Returns the versions after the change.

    Raises
    ------
    NotFound
        If there is no such version.
    """
    for row in _found(connection, access, wanted, test_set):
        chosen: Metric = parse_metric(row.specification)
        before = _shown(connection, access, row)
        change_columns(connection, settings, access, row.test_set_id, partial(_choosing, chosen))
        for each in before:
            rank_by_instead(connection, access, each, row.specification)
    access.principal.audit(
        connection, "scores.choose", f"{wanted} of campaign {access.name}", campaign_id=access.campaign_id
    )
    return list_versions(connection, access)


def delete_version(
    connection: Connection, settings: Settings, access: CampaignAccess, wanted: str, test_set: str = ""
) -> list[ImportedVersion]:
    """Delete a version, NAME@VERSION, or all versions of a metric, NAME, with its column, in a locked campaign.

    AutoRanks made of the column are removed, too. Returns what was deleted.

    Raises
    ------
    NotFound
        If there is no such version.
    """
    gone = chosen_versions(connection, access, wanted, test_set)
    rows = _found(connection, access, wanted, test_set)
    for row in rows:
        column = parse_metric(row.specification)
        change_columns(connection, settings, access, row.test_set_id, partial(_deleting, column))
        rank_by_instead(connection, access, row.specification, "")
    connection.execute(delete(ScoreImport).where(ScoreImport.id.in_([row.id for row in rows])))
    access.principal.audit(
        connection, "scores.delete", f"{wanted} of campaign {access.name}", campaign_id=access.campaign_id
    )
    return gone


def _choosing(column: Metric, metrics: list[Metric]) -> list[Metric]:
    return with_column(metrics, column)


def _deleting(column: Metric, metrics: list[Metric]) -> list[Metric]:
    return without_column(metrics, column) if column in metrics else metrics


def _found(connection: Connection, access: CampaignAccess, wanted: str, test_set: str) -> Sequence[Any]:
    name, _, version = wanted.partition("@")
    chosen = select(ScoreImport).where(ScoreImport.campaign_id == access.campaign_id, ScoreImport.name == name)
    if version:
        chosen = chosen.where(ScoreImport.version == version)
    if test_set:
        chosen = chosen.where(ScoreImport.test_set_id == find_campaign_test_set(connection, access, test_set).id)
    rows = connection.execute(chosen.order_by(ScoreImport.id)).all()
    if not rows:
        known = dict.fromkeys(f"{each.name}@{each.version}" for each in list_versions(connection, access))
        there = f"There are: {listed(list(known), 20)}." if known else "There are none."
        raise NotFound(f"The campaign has no imported scores {wanted[:150]!r}. {there}")
    return rows


def _shown(connection: Connection, access: CampaignAccess, row: Any) -> list[str]:
    """The columns of other versions of a metric on the leaderboards of its test set."""
    return [
        each
        for measure in current_measures(connection, access.campaign_id, row.test_set_id)
        for each in measure.metrics
        if each.startswith("imported:") and each != row.specification
        if getattr(parse_metric(each), "metric", "") == written_name(row.name)
    ]
