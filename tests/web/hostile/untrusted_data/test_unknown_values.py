"""A value that this release does not know, in any column that holds one of a few words, JSON or a specification.

All such columns are found by reflection. Each is edited in one row: lists show all other rows, what belongs to another
campaign is as it was, what belongs to the row is as it was or says what is wrong, and the scheduler goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from sqlite3 import connect
from typing import Any

import pytest
from sqlalchemy import JSON, CheckConstraint, insert

from campaigns.submissions.declarations import write_findings
from cli.main import main
from models.database.session import make_engine, writing
from models.schema.base import Base, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.queue import Worker
from scheduler.maintenance import repair
from scheduler.nightly.plan import correct_plans, plan_due
from scheduler.recovery import sweep
from steelyard.checks.finding import Finding, Severity
from tests.web.hostile.world import OPEN, PRIVATE, Template, World

OTHERS = {
    "campaign": ("time_zone", "ranked_by"),
    "quota": ("time_zone",),
    "schedule": ("time_zone", "cron", "correction"),
    "score": ("specification",),
    "evaluation": ("queue_class",),
    "shard": ("queue_class",),
}
"""Columns with names of time zones, metrics, classes and the like."""
NO_ROWS = {
    *("confirmation", "delivery", "document", "nightly_run_step", "corpus_count", "corpus_statistics", "trials"),
    *("learned_column", "learned_shard", "score_import", "metrics_task_part"),
}
"""Tables of which the world has no rows, or none that anybody looks at."""


def unknown(table: str) -> dict[str, str]:
    """A value that nobody knows for each column of a table that holds one of a few."""
    columns = Base.metadata.tables[table].columns
    words = {each.name: "party" for each in columns if isinstance(each.type, EnumText)}
    broken = {each.name: "{broken" for each in columns if isinstance(each.type, JsonOf)}
    return words | broken | dict.fromkeys(OTHERS.get(table, ()), "Europe/Atlantis")


EDITS = [
    *((table, unknown(table)) for table in sorted(set(Base.metadata.tables) - NO_ROWS) if unknown(table)),
    # JSON of the right shape that says something unknown.
    ("protocol", {"metrics": '["party"]'}),
    ("protocol", {"reference_labels": '["party"]'}),
    ("submission_findings", {"findings": '[{"code": 7}]'}),
    ("nightly_run", {"verdict": '{"version": 7}'}),
    ("schedule", {"source": '{"kind": 7}', "baseline": '{"kind": "party"}', "test_sets": '[{"party": 7}]'}),
    ("api_token", {"scopes": '["party"]'}),
    ("comparison", {"systems": "[[]]", "tests": "[[7]]"}),
    ("shard", {"metrics": "[7]", "metric_seconds": "[7, 7]"}),
]
"""A table, and what somebody writes into its newest row."""

LISTS = (
    *(
        "/",
        "/account",
        "/account/tokens",
        "/accounts",
        "/teams",
        "/teams/harbour",
        "/invitations",
        "/audit",
        "/nightly",
    ),
    *("/queue", "/about", "/metrics", "/api/v1/campaigns", "/api/v1/accounts", "/api/v1/teams", "/api/v1/tokens"),
    *("/api/v1/teams/harbour", "/api/v1/invitations", "/api/v1/audit", "/api/v1/nightly", "/api/v1/me"),
)
"""Of the whole site."""
OF_CAMPAIGNS = (
    *("", "/leaderboard", "/submissions", "/segments", "/metrics", "/compare", "/manage", "/invitations", "/audit"),
    "/systems",
)
OF_CAMPAIGNS_API = (
    *("", "/submissions", "/leaderboards", "/test-sets", "/teams", "/members", "/quotas", "/audit", "/human-scores"),
    *("/systems", "/correlations", "/corrections", "/export"),
)
WHOLE = ("campaign", "phase")
"""Without these nothing of their campaign can be shown."""
COMMANDS = ("status", "campaign list", "team list", "quota list", "schedule list", "leaderboard")


def addresses() -> dict[str, str]:
    """Address -> the campaign that it is about; "" for lists of the site."""
    found = dict.fromkeys(LISTS, "")
    for campaign in (OPEN, PRIVATE):
        found |= {f"/campaigns/{campaign}{each}": campaign for each in OF_CAMPAIGNS}
        found |= {f"/api/v1/campaigns/{campaign}{each}": campaign for each in OF_CAMPAIGNS_API}
    return found


ADDRESSES = addresses()


@pytest.fixture(scope="module")
def stage(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A world that every test edits and puts back, with what an administrator sees there."""
    if not world_template.url.startswith("sqlite"):
        pytest.skip("PostgreSQL checks every row that is written, whoever writes it")
    with ExitStack() as stack:
        world = world_template.copy(tmp_path_factory.mktemp("edited"), stack)
        found = Finding("empty", Severity.NOTE, "Segment 1 is empty.", (1,), 1).as_row()
        with writing(world.service.engine) as connection:
            write_findings(connection, world.submissions[PRIVATE, "harbour", "keel"], [found])
            # Alive as long as the tests run.
            alive = {"version": "1", "concurrency": 1, "beat_at": now() + 86_400}
            connection.execute(insert(Worker).values(id="w", host="h", pid=1, **alive))
        clients = world.browser("administrator"), world.program("administrator")

        def look(address: str) -> tuple[int, str]:
            answer = clients[address.startswith("/api/")].get(address)
            return answer.status_code, "" if address.endswith("/export") else answer.text

        yield world, look, {address: look(address) for address in ADDRESSES}


def test_no_column_is_read_in_another_way() -> None:
    checked = re.compile(r"(\w+) IN \(")
    for table in Base.metadata.sorted_tables:
        words = {
            name
            for each in table.constraints
            if isinstance(each, CheckConstraint)
            for name in checked.findall(str(each.sqltext))
        }
        for column in table.columns:
            # Confirmations are found by their purpose, which nobody reads.
            if column.name in words - {"purpose"}:
                assert isinstance(column.type, EnumText), column
            assert not isinstance(column.type, JSON), f"{column}: say its shape"


def edit(world: World, table: str, values: dict[str, Any]) -> dict[str, Any]:
    """Change the newest row as somebody does with the database's own shell; what was there."""
    file = world.service.settings.database_url.removeprefix("sqlite:///")
    newest = f"WHERE _rowid_ = (SELECT max(_rowid_) FROM {table})"
    with closing(connect(file)) as database, database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        before = database.execute(f"SELECT {', '.join(values)} FROM {table} {newest}").fetchone()
        assert before, "the world has no such row"
        changes = ", ".join(f"{column} = ?" for column in values)
        database.execute(f"UPDATE {table} SET {changes} {newest}", tuple(values.values()))
    return dict(zip(values, before, strict=True))


@pytest.mark.parametrize(("table", "values"), EDITS)
def test_one_row_spoils_no_list(
    stage: Any, table: str, values: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    world, look, before = stage
    kept = edit(world, table, values)
    url = world.service.settings.database_url
    try:
        spoilt, wrong = set(), []
        for address, campaign in ADDRESSES.items():
            status, text = look(address)
            if status == before[address][0]:
                continue
            clear = status == 500 and ("in the database" in text or "cannot be read" in text)
            if not clear or not campaign or (table not in WHOLE and "/leaderboard" not in address):
                wrong.append(f"{address}: {status}, not {before[address][0]}")
            spoilt.add(campaign)
        assert not wrong
        assert len(spoilt) <= 1
        for command in COMMANDS:
            assert main([*command.split(), "--database", url]) in (0, 1), command
            assert "Traceback" not in capsys.readouterr().err
        engine = make_engine(url)
        settings = world.service.settings
        sweep(engine, settings)
        repair(engine, settings)
        plan_due(engine)
        correct_plans(engine)
    finally:
        edit(world, table, kept)
