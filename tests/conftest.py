"""What all tests share."""

import gc
import os
import re
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from sqlalchemy import Connection, Engine, event

from models.schema.base import Base
from steelyard.metrics.metric import EDITION
from tests.compiled import share_compiled

pytest_plugins = ["tests.servers", "tests.rabbitmq", "tests.service.fixtures"]

# How long an example takes says more about what else the machine does than about our code.
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Which small fault is found is all that `make mutants` asks: the smallest example would take minutes.
settings.register_profile(
    "unshrunk", settings.get_profile("patient"), phases=[Phase.explicit, Phase.reuse, Phase.generate]
)
settings.load_profile("patient")

# Rows that tests write themselves belong to this release, where they do not say.
for table in Base.metadata.tables.values():
    if "edition" in table.columns:
        table.columns["edition"].default.arg = EDITION  # type: ignore[union-attr]

KIND_OF_DATABASE = re.compile(r"(?<=[\[-])(sqlite|postgres)(?=[\]-])")

DATA = Path(os.environ.get("STEELYARD_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no cycles while tests are collected, and never again among them: hardly anything of it is garbage.

    It is a seventh of what collecting costs, which each process of `make test` does for itself.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all but a few cases of a test that is marked `few` to `make test-thorough`, and of two databases one.

    They are drawn by their names, so that every process and every machine runs the same ones. `models`, the
    room with the statements, is always tested on both kinds of database.
    """
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if marked := item.get_closest_marker("few"):
            cases[item.nodeid.partition("[")[0], marked.args[0]].append(item)
        elif "database_url" in getattr(item, "fixturenames", ()) and not item.nodeid.startswith("tests/models/"):
            cases[KIND_OF_DATABASE.sub("", item.nodeid), 1].append(item)
    for (_, number), of_one in cases.items():
        drawn = sorted(of_one, key=lambda item: (zlib.crc32(item.nodeid.encode()), item.nodeid))
        for item in drawn[number:]:
            item.add_marker("thorough")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """A folder with WMT campaigns, one folder each; see docs/how-to/testing.md. They are not ours to ship."""
    if not (DATA / "wmt22.en-cs" / "source.txt").exists():
        pytest.skip(f"no real data at {DATA} (STEELYARD_TEST_DATA names another place)")
    return DATA


@pytest.fixture
def rows_backwards() -> Iterator[None]:
    """Let SQLite return rows that no statement orders in reverse: a missing order is seen."""

    def reverse(connection: object, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA reverse_unordered_selects = ON")

    event.listen(Engine, "connect", reverse)
    yield
    event.remove(Engine, "connect", reverse)


@pytest.fixture(autouse=True)
def _no_connection_is_left_open() -> Iterator[None]:
    """Close what pools keep open: tests make engines freely, and from Python 3.13 on a forgotten one is a warning."""
    engines: list[Engine] = []

    def remember(connection: Connection) -> None:
        engines.append(connection.engine)
        share_compiled(connection)

    event.listen(Engine, "engine_connect", remember)
    yield
    event.remove(Engine, "engine_connect", remember)
    for engine in engines:
        engine.dispose()
