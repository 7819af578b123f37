"""A large installation's tables: a million finished shards with their statistics, and shards that wait."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from benchmarks.harness.generated import write_campaign
from models.database.session import writing
from models.schema.base import BLOCK_SEGMENTS
from models.schema.corpus import Protocol, Submission
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from runtime.settings import Settings

SYSTEMS = 20
SHARDS = 48
"""Of each evaluation, one block each: whole messages of two, three, four, six and eight."""
METRICS = ("bleu", "chrf", "ter")
TEAMS = 40

FIRST_IDS = {"text": 1000, "protocol": 100_000, "evaluation": 1_000_000, "reduction": 500_000_000}
"""Numbers that stand for one thing alone, and take the driver as many bytes as all others of a table."""

PROTOCOLS = """
INSERT INTO protocol (test_set_id, reference_labels, metrics, replicates, seed, content_hash, resample, sweep)
SELECT test_set_id, reference_labels, metrics, replicates, 100000 + n, md5(n::text), resample, sweep
FROM protocol, generate_series(1, {protocols}) n WHERE id = {protocol}
"""
EVALUATIONS = """
INSERT INTO evaluation (submission_id, protocol_id, queue_class, team, state, remaining, edition, created_at,
                        finished_at)
SELECT s.id, p.id, 1, 'team ' || lpad(mod(s.id, {teams})::text, 2, '0'),
       CASE WHEN p.seed <= 100000 + {done} THEN 'done' ELSE 'queued' END,
       CASE WHEN p.seed <= 100000 + {done} THEN 0 ELSE {shards} END, {edition},
       extract(epoch FROM now()) - 86400 * 31,
       CASE WHEN p.seed <= 100000 + {done} THEN extract(epoch FROM now()) - 86400 * 62 * random() END
FROM submission s, protocol p WHERE p.seed > 100000
"""
SHARD_ROWS = """
INSERT INTO shard (id, queue_class, team, state, attempts, not_before, edition, protocol_id, first_block, last_block,
                   cost, units, kernel_seconds, metric_seconds, created_at, claimed_at, ended_at)
SELECT e.id * {shards} + n, e.queue_class, e.team, CASE e.state WHEN 'done' THEN 'done' ELSE 'pending' END,
       CASE e.state WHEN 'done' THEN 1 ELSE 0 END, 0, e.edition, e.protocol_id, n, n + 1, {cost}, 256,
       CASE e.state WHEN 'done' THEN 1 END, CASE e.state WHEN 'done' THEN '[0.3, 0.3, 0.4]'::json END, e.created_at,
       e.finished_at - 1, e.finished_at
FROM evaluation e, generate_series(0, {shards} - 1) n WHERE e.protocol_id <> {protocol}
"""
LINKS = """
INSERT INTO shard_evaluation (shard_id, evaluation_id)
SELECT e.id * {shards} + n, e.id FROM evaluation e, generate_series(0, {shards} - 1) n
WHERE e.protocol_id <> {protocol}
"""
RESULTS = """
INSERT INTO statistics (evaluation_id, metric, first_block, last_block, blob)
SELECT e.id, m, n, n + 1, decode(repeat(md5(e.id::text), 8), 'hex')
FROM evaluation e, generate_series(0, {shards} - 1) n, generate_series(0, {metrics} - 1) m WHERE e.state = 'done'
"""


def fill(engine: Engine, settings: Settings, finished: int, waiting: int, cost: float = 1.0) -> None:
    """Store a generated campaign, and copy its evaluations until there are so many shards.

    Half of the finished ones ended so long ago that retention deletes them. `cost` is what a shard is estimated to
    take, in seconds.
    """
    with writing(engine, durable=True) as connection:
        for table, first in FIRST_IDS.items():
            connection.exec_driver_sql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {first})")
    with tempfile.TemporaryDirectory() as folder:
        campaign = write_campaign(Path(folder) / "campaign", SYSTEMS, SHARDS * BLOCK_SEGMENTS)
        texts = [file.read_bytes() for file in sorted((campaign / "systems").glob("*.txt"))]
        ingest_campaign(
            engine,
            settings,
            campaign="crowd",
            test_set=NewTestSet("crowd", {"A": (campaign / "refs" / "A.txt").read_bytes()}),
            submissions=[NewSubmission(f"S{number}", text) for number, text in enumerate(texts)],
            protocols=[NewProtocol(["A"], [parse_metric(each) for each in METRICS])],
        )
    of_each = SYSTEMS * SHARDS
    done, more = -(-finished // of_each), -(-waiting // of_each)
    with writing(engine, durable=True) as connection:
        (protocol,) = connection.scalars(select(Protocol.id)).all()
        assert connection.scalar(select(func.count()).select_from(Submission)) == SYSTEMS
        values = {
            "protocol": protocol, "protocols": done + more, "done": done, "shards": SHARDS, "teams": TEAMS,
            "edition": EDITION, "metrics": len(METRICS), "cost": cost,
        }  # fmt: skip
        # Its own evaluations are of no use here.
        for table in ("shard_evaluation", "shard", "evaluation"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
        for statement in (PROTOCOLS, EVALUATIONS, SHARD_ROWS, LINKS, RESULTS):
            connection.exec_driver_sql(statement.format(**values))
        connection.exec_driver_sql("SELECT setval(pg_get_serial_sequence('shard', 'id'), (SELECT max(id) FROM shard))")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
