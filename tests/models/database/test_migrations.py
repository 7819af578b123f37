"""The migrations make exactly the tables that the code describes, on both databases."""

from pathlib import Path

import alembic
import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint, inspect, select, text

from models.database import creation, migrate
from models.database.session import make_engine, reading, writing
from models.errors import Unreachable
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.shards import SHARD
from models.results.leaderboard import read_leaderboard
from models.schema.base import Base
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.handlers import do


def tables(url: str) -> set[str]:
    engine = make_engine(url, pooled=False)
    with engine.connect() as connection:
        return set(inspect(connection).get_table_names())


def test_the_folder_of_migrations_does_not_hide_the_library() -> None:
    assert alembic.__file__ is not None
    assert "site-packages" in alembic.__file__
    assert not (Path(migrate.__file__).parents[2] / "alembic" / "__init__.py").exists()


def test_the_newest_revision_is_written_down() -> None:
    scripts = ScriptDirectory.from_config(migrate.configuration())
    assert scripts.get_heads() == [migrate.REVISION]
    for script in scripts.walk_revisions():
        assert Path(script.path).name.startswith(script.revision), "files are named by date"


def test_up_and_down_again(empty_database_url: str) -> None:
    assert migrate.current_revision(empty_database_url) is None
    assert migrate.current_revision(empty_database_url) != migrate.REVISION
    migrate.upgrade(empty_database_url)
    assert migrate.current_revision(empty_database_url) == migrate.REVISION
    assert tables(empty_database_url) == {*Base.metadata.tables, "alembic_version"}
    migrate.upgrade(empty_database_url)
    migrate.downgrade(empty_database_url, "base")
    assert tables(empty_database_url) == {"alembic_version"}
    assert migrate.current_revision(empty_database_url) is None
    migrate.upgrade(empty_database_url)
    assert tables(empty_database_url) == {*Base.metadata.tables, "alembic_version"}


def test_a_finished_campaign_survives_all_revisions(database_url: str) -> None:
    context = WorkerContext(one_block_shards(database_url))
    job = queue_job(context.engine, context.settings, segments=300, metrics=["bleu", "nist"])
    for kind in (CORPUS_COUNT, SHARD):
        table = kind.table
        with reading(context.engine) as connection:
            keys = list(connection.scalars(select(table.id)))
        for key in keys:
            do(context, kind, key, "task")
    context.close()

    def amounts(names: set[str]) -> dict[str, int]:
        with reading(make_engine(database_url, pooled=False)) as connection:
            return {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in names}

    def scores() -> list[list[float | None]]:
        with reading(make_engine(database_url, pooled=False)) as connection:
            return [[each.score for each in row.scores] for row in read_leaderboard(connection, job.protocols[0])]

    before, shown = amounts(tables(database_url)), scores()
    assert len(shown) == 3
    assert None not in [score for row in shown for score in row]
    migrate.downgrade(database_url, "20261121")
    kept = tables(database_url)
    assert len(before) > len(kept)
    assert amounts(kept) == {name: before[name] for name in kept}
    migrate.upgrade(database_url)
    assert amounts(kept) == {name: before[name] for name in kept}
    assert scores() == shown


INDEXES = text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table")


def shape(url: str) -> dict[str, dict[str, object]]:
    """What the database says of every table, and the rows that come with tables."""
    engine = make_engine(url, pooled=False)
    found: dict[str, dict[str, object]] = {}
    with reading(engine) as connection:
        seen = inspect(connection)
        for table in seen.get_table_names():
            lists = {
                "columns": seen.get_columns(table),
                "indexes": connection.execute(INDEXES, {"table": table}).all(),
                "foreign keys": seen.get_foreign_keys(table),
                "unique": seen.get_unique_constraints(table),
                "checks": seen.get_check_constraints(table),
            }
            found[table] = {what: sorted(map(repr, each)) for what, each in lists.items()}
            found[table]["key"] = seen.get_pk_constraint(table)
            found[table]["rows"] = connection.execute(text(f'SELECT * FROM "{table}"')).all()
    return found


def test_constraints_and_indexes_have_the_same_names_on_both_databases(database_url: str) -> None:
    def names() -> set[str]:
        engine = make_engine(database_url, pooled=False)
        with reading(engine) as connection:
            seen = inspect(connection)
            return {
                str(each["name"])
                for table in Base.metadata.tables
                for each in (
                    *seen.get_indexes(table),
                    *seen.get_foreign_keys(table),
                    *seen.get_check_constraints(table),
                )
            }

    expected = {
        str(each.name)
        for table in Base.metadata.tables.values()
        for each in (*table.indexes, *table.constraints)
        if not isinstance(each, PrimaryKeyConstraint | UniqueConstraint)
    }
    assert names() >= expected


def test_the_statements_that_create_tables_are_those_of_today() -> None:
    again = "python -m models.database.creation"
    assert creation.TABLES.read_text(encoding="utf-8") == creation.statements(), again


def test_what_is_created_at_once_is_what_all_migrations_make(tmp_path: Path) -> None:
    created, migrated = f"sqlite:///{tmp_path / 'created.db'}", f"sqlite:///{tmp_path / 'migrated.db'}"
    migrate.create(created)
    migrate.upgrade(migrated)
    assert len(shape(created)) == len(Base.metadata.tables) + 1
    assert shape(created) == shape(migrated)
    assert migrate.current_revision(created) == migrate.REVISION
    migrate.downgrade(created, "base")
    assert tables(created) == {"alembic_version"}


def test_only_an_empty_database_is_created(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    migrate.upgrade(url, "20261121")
    migrate.create(url)
    assert migrate.current_revision(url) == migrate.REVISION


def test_autogenerate_finds_nothing(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = make_engine(empty_database_url, pooled=False)
    with writing(engine) as connection:
        command.check(migrate.configuration(connection))


def test_autogenerate_would_find_a_missing_column(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE worker DROP COLUMN version"))
        with pytest.raises(Exception, match="version"):
            command.check(migrate.configuration(connection))


def test_a_migration_that_fails_leaves_nothing_behind(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise RuntimeError("the disk is full")

    # The last table of the migration.
    create = alembic.op.create_table
    monkeypatch.setattr(
        "alembic.op.create_table",
        lambda name, *args, **options: fail() if name == "statistics" else create(name, *args, **options),
    )
    with pytest.raises(RuntimeError, match="the disk is full"):
        migrate.upgrade(empty_database_url)
    assert tables(empty_database_url) == set()


def test_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="unable to open database file"):
        migrate.upgrade(f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    with pytest.raises(Unreachable) as error:
        migrate.current_revision("postgresql://me:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(error.value)


def test_blobs_are_not_compressed_twice(postgres_url: str) -> None:
    engine = make_engine(postgres_url, pooled=False)
    with engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT c.relname, a.attstorage::text "
                "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
                "WHERE (c.relname, a.attname) IN (('statistics', 'blob'), ('replicate_part', 'blob'), "
                "('score', 'replicate_scores'), ('score', 'sums'), ('corpus_statistics', 'blob'), "
                "('corpus_count', 'part'))"
            )
        ).all()
    assert [storage for _, storage in rows] == ["e"] * 6


def test_texts_are_compressed_by_what_is_unpacked_fastest(postgres_url: str) -> None:
    engine = make_engine(postgres_url, pooled=False)
    compressed = text(
        "SELECT attcompression::text FROM pg_attribute WHERE attname = 'content' "
        "AND attrelid IN ('text_block'::regclass, 'layer_block'::regclass)"
    )
    known = text("SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
    with engine.connect() as connection:
        assert list(connection.scalars(compressed)) == ["l" if connection.scalar(known) else ""] * 2
