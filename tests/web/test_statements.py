"""What looks at the queue and at a campaign asks, and how the database finds it: tables that grow are not read whole.

In a database where very much was done before and little is going on, each statement of the scheduler, its metrics and
the pages is caught on its way, and planned again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import JSON, Engine, Integer, String, cast, insert, literal, select, update

from models.database.session import reading, writing
from models.queue_status.submission_progress import read_submission_progress
from models.queue_status.work import SIGNS_OF_WORK
from models.schema.base import now
from models.schema.campaigns import Campaign, QuotaAccount, UsageLogEntry
from models.schema.corpus import Protocol, Submission, System, TestSet, Text
from models.schema.queue import (
    Comparison,
    CorpusCount,
    CorpusStatistics,
    Evaluation,
    Reduction,
    Shard,
    ShardEvaluation,
    Trials,
    Worker,
)
from models.schema.results import Score, Statistics
from models.schema.states import LeaseState
from runtime.settings import Settings
from scheduler.completion_accounting import settle_ended
from scheduler.dispatch import dispatch, new_accounting
from scheduler.editions import Editions
from scheduler.lost_messages import recover_lost_messages
from scheduler.maintenance import Maintenance
from scheduler.recovery import sweep
from scheduler.telemetry import SchedulerMetrics, new_counters
from tests.databases import copy, drop
from tests.scheduler.test_dispatch import App
from tests.service.port import ADDRESS, Port, output
from tests.service.service import Service
from tests.statements import Statement, caught

MANY = 20_000
"""Rows of each table of what was done before."""
FEW = 1_000
"""Rows that a statement may read of such a table: all that is going on has not as many."""
FIRST = 1_000_000
"""The ids before are for what the test does."""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """A small campaign that takes submissions beside a large one that is over."""
    if request.param == "sqlite":
        file = tmp_path_factory.mktemp("statements") / "steelyard.db"
        file.write_bytes(request.getfixturevalue("sqlite_template").read_bytes())
        url, give_back = f"sqlite:///{file}", lambda: None
    else:
        # Dropped in the end: deleting so many rows takes seconds.
        databases = request.getfixturevalue("postgres_databases")
        name = copy(databases.server, databases.template)
        url, give_back = databases.url(name), lambda: drop(databases.server, name)
    with ExitStack() as stack:
        stack.callback(give_back)
        service = Service.start(url, stack)
        stack.callback(service.engine.dispose)
        port = Port.opened(service)
        for who, seed in (("mary", 1), ("zoe", 2)):
            port.submit(port.program(who), output(seed))
        fill(service.engine)
        with writing(service.engine) as connection:
            connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=2))
        yield port


def fill(engine: Engine) -> None:
    """Add what was done before."""
    numbers = select(literal(FIRST, Integer).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < FIRST + MANY - 1))
    n = numbers.c.n
    long_ago = now() - 100_000.0 - n
    with writing(engine) as connection:

        def add(table: Any, **values: Any) -> None:
            rows = select(*(value if hasattr(value, "label") else literal(value) for value in values.values()))
            connection.execute(insert(table).from_select(list(values), rows.select_from(numbers)))

        test_set = connection.scalar(
            insert(TestSet)
            .values(
                content_hash="x",
                source_language="",
                target_language="",
                segments=256,
                variable_references=False,
            )
            .returning(TestSet.id)
        )
        campaign = connection.scalar(insert(Campaign).values(name="old").returning(Campaign.id))
        protocol = connection.scalar(
            insert(Protocol)
            .values(
                test_set_id=test_set, reference_labels=["A"], metrics=["bleu"], replicates=0, seed=1, content_hash="p"
            )
            .returning(Protocol.id)
        )
        name = literal("old").concat(cast(n, String))
        ended = {"attempts": 1, "created_at": long_ago, "claimed_at": long_ago, "ended_at": long_ago}
        ended |= {"state": LeaseState.DONE, "queue_class": 1, "team": "old"}
        add(Text, id=n, sha256=name, segments=256, bytes=1)
        add(System, id=n, name=name, team="")
        add(Submission, id=n, campaign_id=campaign, test_set_id=test_set, system_id=n, text_id=n, created_at=long_ago)
        add(Reduction, id=n, protocol_id=protocol, **ended)
        of_evaluation = {"state": "done", "reduction_id": n, "finished_at": long_ago, "created_at": long_ago}
        add(Evaluation, id=n, submission_id=n, protocol_id=protocol, **of_evaluation)
        add(Shard, id=n, protocol_id=protocol, first_block=0, last_block=1, cost=1.0, **ended)
        add(ShardEvaluation, shard_id=n, evaluation_id=n)
        score = {"specification": "bleu", "title": "BLEU", "signature": "s", "columns": literal([], JSON), "sums": b""}
        score |= {"higher_is_better": True, "scale": 100.0, "score": 1.0, "replicate_scores": b""}
        add(Score, evaluation_id=n, metric=0, **score)
        add(Statistics, evaluation_id=n, metric=0, first_block=0, last_block=1, blob=b"")
        state = {"key": "k", "metric": "nist", "reference_texts": literal([1], JSON), "segments": 256, "blob": b""}
        add(CorpusStatistics, id=n, content_hash=name, variable_references=False, **state)
        add(CorpusCount, id=n, corpus_statistics_id=n, first_block=0, last_block=1, merges=True, **ended)
        of_comparison = {
            "systems": literal([], JSON),
            "tests": literal([], JSON),
            "trials": 1,
            "seed": 1,
            "state": "done",
        }
        add(
            Comparison,
            id=n,
            protocol_id=protocol,
            remaining=0,
            content_hash=name,
            created_at=long_ago,
            finished_at=long_ago,
            **of_comparison,
        )
        add(Trials, id=n, comparison_id=n, first_trial=0, last_trial=1, **ended)
        account = connection.scalar(
            insert(QuotaAccount).values(campaign_id=campaign, team="old").returning(QuotaAccount.id)
        )
        add(UsageLogEntry, submission_id=n, account_id=account, created_at=long_ago, queued_at=long_ago)
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM ANALYZE")


def excesses(engine: Engine, statement: Statement) -> list[str]:
    """What a statement reads too much of."""
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection:
        explained = "EXPLAIN QUERY PLAN " if sqlite else "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "
        rows = connection.exec_driver_sql(explained + statement[0], statement[1]).all()
        connection.rollback()
        if not sqlite:
            plan = rows[0][0]
            return list(_read_by(plan[0]["Plan"] if isinstance(plan, list) else json.loads(plan)[0]["Plan"]))
        large = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
        partial = set(
            connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'")
            .scalars()
        )  # fmt: skip
    found = []
    for row in rows:
        scan = re.fullmatch(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?.*", row[3])
        if scan and scan[1] in large & GROWING and scan[2] not in partial:
            found.append(row[3])
    return found


GROWING = {
    *("text", "text_block", "system", "submission", "reduction", "evaluation", "shard", "shard_evaluation", "score"),
    *("statistics", "corpus_statistics", "corpus_count", "comparison", "trials", "usage_log_entry"),
}


def _read_by(plan: dict[str, Any]) -> Iterator[str]:
    read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
    read *= plan["Actual Loops"]
    if plan.get("Relation Name") in GROWING and read > FEW:
        yield f"{plan['Node Type']} on {plan['Relation Name']} reads {read} rows"
    for part in plan.get("Plans", ()):
        yield from _read_by(part)


def check(engine: Engine, act: Callable[[], object], most: int) -> None:
    """Do something, at most so many statements, none of which reads what is of no concern."""
    with caught() as statements:
        act()
    assert statements, "nothing was asked"
    wrong = {statement[0]: found for statement in statements if (found := excesses(engine, statement))}
    assert not wrong, "\n\n".join(f"{statement}\n{found}" for statement, found in wrong.items())
    repeated = Counter(statement for statement, _ in statements).most_common(3)
    assert len(statements) <= most, (len(statements), repeated)


def test_what_the_scheduler_asks(port: Port) -> None:
    engine = port.service.engine
    settings = Settings(database_url=port.service.settings.database_url, broker_url="memory://localhost/")
    accounts, app = new_accounting(settings), App()

    def look() -> None:
        with reading(engine) as connection:
            for sign in SIGNS_OF_WORK:
                connection.execute(select(sign))

    check(engine, look, len(SIGNS_OF_WORK))
    check(engine, lambda: dispatch(engine, app, settings, accounts), 12)
    check(engine, lambda: dispatch(engine, app, settings, accounts), 12)
    assert app.sent
    with writing(engine) as connection:
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(state=LeaseState.PENDING))
    check(engine, lambda: sweep(engine, settings), 60)
    check(engine, lambda: settle_ended(engine, accounts), 12)
    check(engine, lambda: Editions().run_once(engine, settings), 6)
    check(engine, lambda: recover_lost_messages(engine, app, settings), 12)
    metrics = SchedulerMetrics(settings, new_counters(), lambda: True)
    check(engine, lambda: list(metrics.collect()), 6)


def test_what_is_deleted_and_mended_now_and_then(port: Port) -> None:
    settings = Settings(database_url=port.service.settings.database_url)
    check(port.service.engine, Maintenance(port.service.engine, settings).run_once, 60)


def test_what_those_ask_who_watch(port: Port) -> None:
    engine = port.service.engine

    def look(submissions: list[int]) -> Callable[[], object]:
        def read() -> object:
            with reading(engine) as connection:
                return read_submission_progress(connection, submissions, 1e9)

        return read

    check(engine, look([1]), 7)
    check(engine, look([1, 2, 3]), 7)


PAGES = {
    "/": 25,
    "/campaigns/port%201": 40,
    "/campaigns/port%201/leaderboard": 40,
    "/campaigns/port%201/submissions": 40,
    "/submissions/2": 40,
    "/queue": 40,
    f"{ADDRESS}/leaderboard": 40,
    "/api/v1/submissions/2": 30,
    "/api/v1/campaigns": 25,
}


@pytest.mark.parametrize("path", PAGES)
def test_what_pages_ask(port: Port, path: str) -> None:
    # The queue is for organisers.
    for who in ("ann",) if path == "/queue" else ("ann", "mary"):
        browser = port.browser(who)
        assert browser.get(path).status_code == 200
        check(port.service.engine, lambda browser=browser: browser.get(path), PAGES[path])  # type: ignore[misc]
