"""Human judgments, stored once and read back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, literal, select, update

from models.errors import ModelsError, NotFound
from models.schema.base import Base
from models.schema.column_types import readable
from models.schema.corpus import TestSet
from models.schema.human import ErrorSpan, HumanSegmentScore, HumanSystemScore, Judgments, Rating
from models.schema.states import JudgmentKind


class BadJudgments(ModelsError):
    """These judgments cannot be stored."""


class SystemRow(NamedTuple):
    """Human scores of a system; as the table HumanSystemScore."""

    system: str
    score: float
    raw: float | None = None
    segments: int | None = None
    judgments: int | None = None
    wins: int | None = None


class SegmentRow(NamedTuple):
    """Human scores of one segment of a system; as the table HumanSegmentScore."""

    system: str
    segment: int
    score: float
    raw: float | None = None
    judgments: int | None = None


class RatingRow(NamedTuple):
    """One judgment; as the table Rating."""

    annotator: str
    system: str
    segment: int
    value: float
    label: str = ""
    wave: int = 0
    seconds: float | None = None


class SpanRow(NamedTuple):
    """An error that an annotator marked; as the table ErrorSpan."""

    annotator: str
    system: str
    segment: int
    begins: int
    """In code points."""
    ends: int
    severity: str
    category: str
    missing: bool
    in_source: bool
    wave: int = 0


@dataclass(frozen=True, slots=True)
class NewJudgments:
    """Judgments to be stored. The order of the rows has no meaning."""

    name: str
    kind: JudgmentKind
    method: Mapping[str, Any]
    systems: Sequence[SystemRow]
    segments: Sequence[SegmentRow] = ()
    ratings: Sequence[RatingRow] = ()
    spans: Sequence[SpanRow] = ()


@dataclass(frozen=True, slots=True)
class StoredJudgments:
    """Stored judgments of a test set in a campaign."""

    id: int
    name: str
    version: int
    kind: JudgmentKind
    method: Mapping[str, Any]
    created_at: float
    """By the database's clock, in seconds since 1970."""

    @property
    def title(self) -> str:
        """Name and version, as read_judgments understands them."""
        return f"{self.name}@{self.version}"


def store_judgments(
    connection: Connection, campaign_id: int, test_set_id: int, new: NewJudgments
) -> tuple[StoredJudgments, bool]:
    """Store judgments of a test set in a campaign; the stored judgments, and whether they are new.

    Equal content under the same name is stored once; different content becomes the next version.

    Raises
    ------
    BadJudgments
        If the judgments are inconsistent.
    NotFound
        If the test set does not exist.
    """
    # Two imports of the same name would choose the same version: the second one waits here.
    test_set = connection.execute(select(TestSet.segments).where(TestSet.id == test_set_id).with_for_update())
    segments = test_set.scalar_one_or_none()
    if segments is None:
        raise NotFound(f"There is no test set {test_set_id}.")
    _check(new, segments)
    systems, judged, spans = sorted(new.systems), sorted(new.segments), sorted(new.spans)
    ratings = sorted(new.ratings, key=lambda each: (each[:6], each.seconds is None, each.seconds))
    content: list[Any] = [new.kind.value, dict(sorted(new.method.items())), systems, judged]
    if spans or any(each.wave or each.seconds is not None for each in ratings):
        content += [ratings, spans]
    else:
        # As before there were spans, waves and times: the same tables are the same import.
        content.append([each[:5] for each in ratings])
    content_hash = sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()
    known = _known(connection, campaign_id, test_set_id, new.name)
    for stored, stored_hash in known:
        if stored_hash == content_hash:
            return stored, False
    row = insert(Judgments).values(
        campaign_id=campaign_id,
        test_set_id=test_set_id,
        name=new.name,
        version=max((stored.version for stored, _ in known), default=0) + 1,
        kind=new.kind.value,
        method=dict(new.method),
        content_hash=content_hash,
    )
    stored = _stored(connection.execute(row.returning(Judgments)).one())
    _insert(connection, HumanSystemScore, stored.id, SystemRow._fields, systems)
    _insert(connection, HumanSegmentScore, stored.id, SegmentRow._fields, judged)
    numbered = [(number, *rating) for number, rating in enumerate(ratings)]
    _insert(connection, Rating, stored.id, ("number", *RatingRow._fields), numbered)
    marked = [(number, *span) for number, span in enumerate(spans)]
    _insert(connection, ErrorSpan, stored.id, ("number", *SpanRow._fields), marked)
    return stored, True


def copy_judgments(
    connection: Connection, campaign_id: int, old_test_set_id: int, new_test_set_id: int
) -> list[StoredJudgments]:
    """Copy a campaign's judgments to another test set with the same source and segments; the new judgments.

    Outputs were judged against the source or as translations, so other references do not invalidate the judgments.
    Names and versions are kept; existing judgments stay.
    """
    there = {(each.name, each.version) for each in list_judgments(connection, campaign_id, new_test_set_id)}
    rows = connection.execute(select(Judgments).where(*_of(campaign_id, old_test_set_id)).order_by(Judgments.id))
    carried = []
    for row in rows.all():
        if (row.name, row.version) in there:
            continue
        values = {name: value for name, value in row._asdict().items() if name != "id"}
        new = insert(Judgments).values(**{**values, "test_set_id": new_test_set_id}).returning(Judgments)
        stored = _stored(connection.execute(new).one())
        carried.append(stored)
        for table in (HumanSystemScore, HumanSegmentScore, Rating, ErrorSpan):
            others = [column for column in table.__table__.columns if column.name != "judgments_id"]
            chosen = select(literal(stored.id), *others).where(table.__table__.c.judgments_id == row.id)
            connection.execute(insert(table).from_select(["judgments_id", *(each.name for each in others)], chosen))
    return carried


def delete_judgments(connection: Connection, judgments: int) -> None:
    """Delete one version of judgments, with everything that belongs to it."""
    connection.execute(delete(Judgments).where(Judgments.id == judgments))


def list_judgments(connection: Connection, campaign_id: int, test_set_id: int) -> list[StoredJudgments]:
    """All versions of all judgments of a test set in a campaign, by name, the newest of each first."""
    return list_judgments_of(connection, campaign_id, [test_set_id])[test_set_id]


def list_judgments_of(
    connection: Connection, campaign_id: int, test_set_ids: Collection[int]
) -> dict[int, list[StoredJudgments]]:
    """Test set -> what `list_judgments` lists of it, for all of them in one statement."""
    found: dict[int, list[StoredJudgments]] = {test_set_id: [] for test_set_id in test_set_ids}
    for row in connection.execute(
        select(Judgments)
        .where(Judgments.campaign_id == campaign_id, Judgments.test_set_id.in_(test_set_ids))
        .order_by(Judgments.name, Judgments.version.desc())
    ):
        found[row.test_set_id].append(_stored(row))
    return found


def find_judgments(
    connection: Connection, campaign_id: int, test_set_id: int, name: str | None = None
) -> StoredJudgments:
    """The judgments with this name: the newest version, or that of `NAME@VERSION`.

    Without a name, the only judgments.

    Raises
    ------
    NotFound
        If it does not exist, listing what exists.
    """
    known = list_judgments(connection, campaign_id, test_set_id)
    newest: dict[str, StoredJudgments] = {}
    for stored in known:
        newest.setdefault(stored.name, stored)
    if not known:
        raise NotFound("The test set has no human judgments. Import some: `steelyard judgments import FILE`.")
    there = ", ".join(newest if name is None else (stored.title for stored in known))
    if name is None:
        if len(newest) > 1:
            raise NotFound(
                f"The test set has several human judgments: {there}. Choose one, e.g. --human {next(iter(newest))}."
            )
        return next(iter(newest.values()))
    for stored in (*newest.values(), *known):
        if name in (stored.name, stored.title):
            return stored
    raise NotFound(f"There are no human judgments {name!r} of this test set. There are: {there}.")


def read_systems(connection: Connection, judgments: int) -> list[SystemRow]:
    """Scores of systems, best first."""
    table = HumanSystemScore
    columns = (table.system, table.score, table.raw, table.segments, table.judgments, table.wins)
    rows = connection.execute(select(*columns).where(table.judgments_id == judgments))
    return sorted((SystemRow(*row) for row in rows), key=lambda row: (-row.score, row.system))


def read_segments(
    connection: Connection,
    judgments: int,
    first: int = 0,
    most: int | None = None,
    *,
    segments: Collection[int] | None = None,
    systems: Collection[str] = (),
) -> list[SegmentRow]:
    """Scores of segments, by system and segment: all, or at most so many from the `first` one.

    With `segments` those of some segments of some systems.
    """
    table = HumanSegmentScore
    columns = (table.system, table.segment, table.score, table.raw, table.judgments)
    rows = select(*columns).where(table.judgments_id == judgments)
    if segments is not None:
        rows = rows.where(table.segment.in_(segments), table.system.in_(systems))
    if most is None:
        return sorted(SegmentRow(*row) for row in connection.execute(rows))
    page = rows.order_by(table.system, table.segment).offset(first).limit(most)
    return [SegmentRow(*row) for row in connection.execute(page)]


def read_ratings(connection: Connection, judgments: int) -> list[RatingRow]:
    """The individual judgments, in their stored order."""
    columns = (
        *(Rating.annotator, Rating.system, Rating.segment, Rating.value, Rating.label, Rating.wave, Rating.seconds),
    )
    rows = connection.execute(select(*columns).where(Rating.judgments_id == judgments).order_by(Rating.number))
    return [RatingRow(*row) for row in rows]


def read_spans(
    connection: Connection, judgments: int, segments: Collection[int] | None = None, systems: Collection[str] = ()
) -> list[SpanRow]:
    """The errors that annotators marked, in their stored order: all, or in some segments of some systems."""
    wanted = select(*(getattr(ErrorSpan, name) for name in SpanRow._fields)).where(ErrorSpan.judgments_id == judgments)
    if segments is not None:
        wanted = wanted.where(ErrorSpan.segment.in_(segments), ErrorSpan.system.in_(systems))
    return [SpanRow(*row) for row in connection.execute(wanted.order_by(ErrorSpan.number))]


def rename_judgments(connection: Connection, campaign_id: int, test_set_id: int, name: str, to: str) -> None:
    """Give all versions of judgments another name.

    Raises
    ------
    NotFound
        If there are none.
    BadJudgments
        For a bad name, and one that others have.
    """
    check_name(to)
    known = {each.name for each in list_judgments(connection, campaign_id, test_set_id)}
    if name not in known:
        raise NotFound(
            f"There are no human judgments {name!r} of this test set. There are: {', '.join(sorted(known))}."
        )
    if to in known:
        raise BadJudgments(f"There are human judgments {to!r} of this test set already. Choose another name.")
    chosen = (*_of(campaign_id, test_set_id), Judgments.name == name)
    connection.execute(update(Judgments).where(*chosen).values(name=to))


def list_annotators(connection: Connection, judgments: int) -> list[str]:
    """Names of the annotators, sorted; empty where only scores are stored."""
    return sorted(connection.scalars(select(Rating.annotator).where(Rating.judgments_id == judgments).distinct()))


def _of(campaign_id: int, test_set_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return Judgments.campaign_id == campaign_id, Judgments.test_set_id == test_set_id


def _known(connection: Connection, campaign_id: int, test_set_id: int, name: str) -> list[tuple[StoredJudgments, str]]:
    rows = connection.execute(select(Judgments).where(*_of(campaign_id, test_set_id), Judgments.name == name))
    return [(_stored(row), row.content_hash) for row in rows]


def _stored(row: Row[Any]) -> StoredJudgments:
    return StoredJudgments(row.id, row.name, row.version, row.kind, readable(row.method, {}), row.created_at)


def _insert(
    connection: Connection, table: type[Base], judgments: int, fields: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows with these fields and the id of their import."""
    columns = ("judgments_id", *fields)
    if connection.dialect.name == "postgresql" and rows:
        # There may be hundreds of thousands of rows: COPY is many times faster.
        driver: Any = connection.connection.driver_connection
        with (
            driver.cursor() as cursor,
            cursor.copy(f"COPY {table.__tablename__} ({', '.join(columns)}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row((judgments, *row))
        return
    if rows:
        # Without a dictionary for each row.
        marks = ", ".join("?" for _ in columns)
        statement = f"INSERT INTO {table.__tablename__} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our names
        connection.exec_driver_sql(statement, [(judgments, *row) for row in rows])


def check_name(name: str) -> None:
    """Raise BadJudgments for what cannot be the name of judgments."""
    if not name or len(name) > 100 or "@" in name or not name.isprintable():
        raise BadJudgments(f"{name[:50]!r} cannot be the name of judgments: give 1 to 100 characters, without @.")


def _check(new: NewJudgments, segments: int) -> None:
    """Raise BadJudgments for inconsistencies that no reader should have let through."""
    check_name(new.name)
    if not new.systems and not new.segments:
        raise BadJudgments(f"The judgments {new.name!r} hold no score.")
    systems = [row.system for row in new.systems]
    segments_judged = [(row.system, row.segment) for row in new.segments]
    if len(set(systems)) < len(systems) or len(set(segments_judged)) < len(segments_judged):
        raise BadJudgments(f"The judgments {new.name!r} give one system or segment two scores.")
    for segment in (row.segment for rows in (new.segments, new.ratings, new.spans) for row in rows):
        if not 0 <= segment < segments:
            raise BadJudgments(f"{new.name!r} judges segment {segment}, the test set has {segments}.")
