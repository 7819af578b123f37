"""PostgreSQL databases for one test after the other: emptied where that is safe, for making one is dear."""

from __future__ import annotations

import uuid

import psycopg
from sqlalchemy import Engine, make_url

from models.database.session import reading
from models.schema.base import Base

# All tables, columns and indexes, the checks and keys, and the revision: what a test could change besides rows.
SHAPE = """
SELECT md5(string_agg(part, ',' ORDER BY part)) FROM (
    SELECT attrelid::regclass || attname || atttypid || attnotnull || attstorage::text || attisdropped AS part
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT conrelid::regclass || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT indexrelid::regclass || pg_get_indexdef(indexrelid) FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT tgrelid::regclass || tgname FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT unnest(setconfig) FROM pg_db_role_setting
    UNION ALL SELECT version_num FROM alembic_version
    UNION ALL SELECT oldest FROM compatibility
) AS parts
"""
KEPT = ("compatibility",)
"""Tables whose rows come with the tables."""

WATCHING = "databases of tests"
"""What connections call themselves that stay while tests use a database, and do nothing."""

OTHERS = "FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
CUT = f"SELECT pg_terminate_backend(pid, 5000) {OTHERS}"
USED = f"SELECT count(*) {OTHERS}"
FIRST_IDS = """
SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL
"""


class Databases:
    """Databases of one server with the schema of this release, copied from a template and used again."""

    def __init__(self, server: str, template: str) -> None:
        self.server = server
        self.template = template
        self._free: list[str] = []
        self._watching: dict[str, psycopg.Connection] = {}
        """One for each database until it is dropped: a new connection would look up every table again, 25 ms a test."""
        self._shape = self._look(template)

    def take(self) -> str:
        """The name of a database without rows that nobody else is connected to."""
        while self._free:
            name = self._free.pop()
            if self._connection(name).execute(USED, (name,)).fetchone() == (0,):
                return name
            self._drop(name)
        return copy(self.server, self.template)

    def give_back(self, name: str) -> None:
        """Empty a database for the next test; drop it where more than rows was changed."""
        connection = self._connection(name)
        connection.execute(CUT, (name,))
        if connection.execute(SHAPE).fetchone() == self._shape:
            tables = [table for table in reversed(Base.metadata.sorted_tables) if table.name not in KEPT]
            rows = "; ".join(f'DELETE FROM "{table.name}"' for table in tables)
            connection.execute(f"BEGIN; {rows}; {FIRST_IDS}; COMMIT")
            self._free.append(name)
        else:
            self._drop(name)

    def drop_all(self) -> None:
        """Drop what waits to be used again."""
        for name in [*self._watching]:
            self._drop(name)
        self._free.clear()

    def _connection(self, name: str) -> psycopg.Connection:
        """One that works: tests cut connections, and statements fail."""
        known = self._watching.pop(name, None)
        if known is not None:
            try:
                known.execute("SELECT 1")
            except psycopg.Error:
                known.close()
                known = None
        if known is None:
            known = psycopg.connect(self.url(name), autocommit=True, prepare_threshold=None, application_name=WATCHING)
        self._watching[name] = known
        return known

    def _drop(self, name: str) -> None:
        if name in self._watching:
            self._watching.pop(name).close()
        drop(self.server, name)

    def url(self, name: str) -> str:
        """The URL of a database."""
        return with_database(self.server, name)

    def _look(self, name: str) -> tuple[object, ...] | None:
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            return connection.execute(SHAPE).fetchone()


def copy(server: str, template: str) -> str:
    """Make a database like another one; its name."""
    name = f"steelyard_{uuid.uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    return name


def drop(server: str, name: str) -> None:
    """Drop a database, whoever is connected to it."""
    execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def execute(server: str, statement: str) -> None:
    """Execute one statement outside any transaction."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)


def with_database(server: str, name: str) -> str:
    """The URL of another database on the same server."""
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def waits_for_a_lock(engine: Engine) -> bool:
    """Whether anybody waits for a lock in PostgreSQL."""
    with reading(engine) as connection:
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        return bool(connection.exec_driver_sql(waiting).scalar_one())
