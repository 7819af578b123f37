"""One id from the request of a team to the scores, in the logs of all processes, in SQL and in a collector's spans."""

from __future__ import annotations

import json
import os
import signal

import pytest
from sqlalchemy import select

from models.database.session import make_engine, reading
from models.schema.queue import Evaluation, Reduction, Shard
from runtime.tracing import trace_id
from tests.acceptance.commands import running, steelyard_here, wait_for
from tests.collector import Collector
from tests.servers import free_port

pytestmark = pytest.mark.faults


def lines(log):
    return [json.loads(each) for each in log.read_text().splitlines() if each.startswith("{")]


def test_one_id_from_the_request_to_the_scores(tmp_path, postgres_url, redis_url):
    (tmp_path / "test" / "refs").mkdir(parents=True)
    words = "".join(f"the tug pulls {number} ships\n" for number in range(700))
    for name in ("test/source.txt", "test/refs/A.txt", "tug.txt"):
        (tmp_path / name).write_text(words)
    port = free_port()
    # Shards of a block each.
    settings = {
        "STEELYARD_DATABASE_URL": postgres_url,
        "STEELYARD_BROKER_URL": redis_url,
        "STEELYARD_LOG_FORMAT": "json",
        "STEELYARD_LOG_LEVEL": "debug",
        "STEELYARD_WEB_PORT": str(port),
        "STEELYARD_LARGEST_SHARD_BYTES": str(1 << 20),
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }

    def asked(*arguments, **more):
        ran = steelyard_here(*arguments, cwd=tmp_path, **more)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    with (
        Collector() as collector,
        running("serve", cwd=tmp_path, **settings, STEELYARD_TRACES_URL=collector.url) as web,
        running("scheduler", cwd=tmp_path, **settings, STEELYARD_TRACES_URL=collector.url),
        running("worker", "--concurrency", "1", cwd=tmp_path, **settings, STEELYARD_TRACES_URL=collector.url),
    ):
        wait_for(lambda: "Steelyard is at" in (tmp_path / "serve.log").read_text())
        database = ("--database", postgres_url)
        asked("user", "create", "ann@example.org", "--name", "Ann", "--role", "administrator", "--verified", *database)
        scopes = [word for scope in ("read", "submit", "organise") for word in ("--scope", scope)]
        token = asked("token", "create", "ann@example.org", *scopes, *database).strip()
        server = {"STEELYARD_TOKEN": token, "STEELYARD_SERVER": f"http://127.0.0.1:{port}"}
        asked("campaign", "create", "wmt", "--title", "WMT", **server)
        asked("testset", "create", "wmt", "news", "test", "-m", "bleu", **server)
        asked("team", "create", "harbour", **server)
        asked("team", "join", "harbour", "wmt", **server)
        asked("submit", "tug.txt", "--campaign", "wmt", "--team", "harbour", "--system", "tug", **server)

        engine = make_engine(postgres_url, pooled=False)
        with reading(engine) as connection:
            (stored,) = connection.scalars(select(Evaluation.trace))
            shards = connection.scalars(select(Shard.trace)).all()
            reductions = connection.scalars(select(Reduction.trace)).all()
        ours = trace_id(stored)
        assert ours
        assert len(shards) == 3
        assert {trace_id(each) for each in (*shards, *reductions)} == {ours}

        def spans():
            return [each for each in collector.spans if each.trace_id == ours]

        # A span arrives once it has ended, the request's perhaps after those of its work.
        wait_for(lambda: sum(each.name in {"Shard", "Reduction"} for each in spans()) == 4)
        wait_for(lambda: any(not each.parent for each in spans()))
        wait_for(lambda: all(each.parent in {one.span_id for one in spans()} for each in spans() if each.parent))
        os.killpg(web.pid, signal.SIGTERM)
        web.wait(60)

    found = {each.span_id: each for each in spans()}
    (root,) = (each for each in found.values() if not each.parent)
    assert (root.name, root.service) == ("POST /api/v1/campaigns/{name}/submissions", "steelyard-web")
    assert root.attributes["http.response.status_code"] == 201
    # Every span leads to the request.
    assert all(each.parent in found for each in found.values() if each is not root)
    by_service = {}
    for each in found.values():
        by_service.setdefault(each.service, []).append(each.name)
    assert sorted(by_service["steelyard-worker"]) == sorted(
        ["Shard"] * 3 + ["Reduction"] + ["run", "complete"] * 4,
    )
    assert set(by_service["steelyard-scheduler"]) == {"send"}
    assert set(by_service["steelyard-web"]) == {root.name, "enqueue"}

    said = {role: [each for each in lines(tmp_path / f"{role}.log") if each.get("trace_id") == ours]
            for role in ("serve", "scheduler", "worker")}  # fmt: skip
    assert any(each.get("route") == "/api/v1/campaigns/{name}/submissions" for each in said["serve"])
    assert any("Sending" in each["message"] for each in said["scheduler"])
    done = [each["message"] for each in said["worker"] if each["message"].endswith("is done")]
    assert sorted(each.split()[0] for each in done) == ["Reduction", "Shard", "Shard", "Shard"]
