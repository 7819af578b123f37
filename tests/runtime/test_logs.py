"""What is written about work: fields, one object in each line, no secrets, no texts."""

import json
import logging
import re
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from models.database.session import make_engine, reading
from models.queue.kinds.shards import SHARD
from models.schema.queue import Evaluation, Shard
from runtime.logs import LONGEST_LINE, JsonLines, TextLines, bind, fields, log_context, redact_exception
from runtime.redaction import redacted
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.handlers import do

log = logging.getLogger("tests.logs")

TEXTS = ("the cat sat", "on the mat")


class Lines(logging.Handler):
    """Keeps the lines of a format, as they are made: in the context of who logs."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.formatter = formatter
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    @property
    def objects(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture(params=["json"])
def lines(request: pytest.FixtureRequest) -> Iterator[Lines]:
    handler = Lines(JsonLines({"role": "test"}) if request.param == "json" else TextLines())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    root.setLevel(level)


def test_every_line_is_about_the_work_at_hand(lines: Lines) -> None:
    log.info("before")
    with log_context(task_id="t", shard=7):
        bind(evaluations=(1, 2), attempt=2)
        log.info("in the shard", extra=fields(seconds=1.5))
        with log_context(task_id="t", reduction=3):
            log.warning("in the reduction")
        log.info("in the shard again")
    before, shard, reduction, again = lines.objects
    assert set(before) == {"time", "level", "logger", "message", "pid", "role"}
    assert before["role"] == "test"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(before["time"]))
    expected = {"task_id": "t", "shard": 7, "evaluations": [1, 2], "attempt": 2}
    assert {name: shard[name] for name in (*expected, "seconds", "level")} == {
        **expected,
        "seconds": 1.5,
        "level": "info",
    }
    assert (reduction["reduction"], reduction["level"]) == (3, "warning")
    assert not {"shard", "evaluations", "attempt"} & set(reduction)
    assert {name: again[name] for name in expected} == expected
    assert "seconds" not in again


@pytest.mark.parametrize("lines", ["text"], indirect=True)
def test_people_read_the_same(lines: Lines) -> None:
    with log_context(shard=7):
        bind(evaluations=(1, 2, 3, 9), attempt=None)
        log.info("two\nlines", extra=fields(seconds=1.5))
    (line,) = lines.lines
    assert line.endswith(r" INFO tests.logs: two\nlines [shard=7 evaluations=1-3,9 seconds=1.500]")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("at postgresql://me:pa:s/s@w0rd@db/steelyard now", "at postgresql://me:***@db/steelyard now"),
        ("redis://:hunter2@redis:6379/0", "redis://:***@redis:6379/0"),
        ("amqp://guest:guest@mq// and redis://r:1/0", "amqp://guest:***@mq// and redis://r:1/0"),
        ("host=db password=hunter2 dbname=x", "host=db password=*** dbname=x"),
        ("?user=me&password=hunter2&sslmode=on", "?user=me&password=***&sslmode=on"),
        ("redis://redis:6379/0 is away", "redis://redis:6379/0 is away"),
    ],
)
def test_passwords_are_masked(lines: Lines, said: str, told: str) -> None:
    assert redacted(said) == told
    try:
        raise ConnectionError(said)
    except ConnectionError:
        log.exception("it said: %s", said, extra=fields(address=said))
    (line,) = lines.objects
    assert line["message"] == f"it said: {told}"
    assert line["address"] == told
    assert str(line["exception"]).endswith(f"ConnectionError: {told}")
    assert "hunter2" not in lines.lines[0]
    assert "w0rd" not in lines.lines[0]


def test_a_line_is_one_line_that_a_pipe_carries_whole(lines: Lines) -> None:
    def deep(depth: int) -> None:
        if depth:
            deep(depth - 1)
        raise ValueError("ü\n" * 3000)

    try:
        deep(40)
    except ValueError:
        with log_context(evaluations=tuple(range(1_000_000, 1_001_000))):
            log.exception("x" * 5000, extra=fields(metrics=("bleu",)))
    (line,) = lines.lines
    assert "\n" not in line
    assert len(line.encode()) <= LONGEST_LINE
    (found,) = lines.objects
    assert found["evaluations_count"] == 1000
    assert found["metrics"] == ["bleu"]
    assert str(found["exception"]).endswith("ü")


def test_an_exception_that_may_quote_a_text_tells_its_kind_and_place(lines: Lines) -> None:
    try:
        try:
            raise ValueError(TEXTS[0])
        except ValueError as error:
            raise RuntimeError(TEXTS[1]) from error
    except RuntimeError:
        log.warning("it failed", exc_info=True, extra=redact_exception())
    (found,) = lines.objects
    assert "test_logs.py" in str(found["exception"])
    assert re.search(r"ValueError\n\n.*RuntimeError$", str(found["exception"]), re.DOTALL)
    assert not [text for text in TEXTS if text in lines.lines[0]]


@pytest.mark.parametrize("how", ["while it was handled", "from another", "from none"])
def test_a_redacted_chain_names_what_python_would_name(lines: Lines, how: str) -> None:
    """Whoever reads the line sees what came before, without any message."""
    other = KeyError(TEXTS[0])
    try:
        try:
            raise ValueError(TEXTS[0])
        except ValueError:
            if how == "while it was handled":
                raise RuntimeError(TEXTS[1])  # noqa: B904 - that is what is tried
            raise RuntimeError(TEXTS[1]) from (other if how == "from another" else None)
    except RuntimeError:
        log.warning("it failed", exc_info=True, extra=redact_exception())
    said = str(lines.objects[0]["exception"])
    names = [name for name in ("KeyError", "ValueError", "RuntimeError") if name in said.replace("\n", " ").split()]
    assert (
        names
        == {
            "while it was handled": ["ValueError", "RuntimeError"],
            "from another": ["KeyError", "RuntimeError"],
            "from none": ["RuntimeError"],
        }[how]
    )
    assert not [text for text in TEXTS if text in lines.lines[0]]


@pytest.mark.parametrize("before", range(950, 1001, 5))
def test_a_password_that_is_cut_off_is_hidden_too(lines: Lines, before: int) -> None:
    """A long message is cut after passwords are hidden: without its end, one could not be told any more."""
    log.warning("%s postgresql://me:hunter2-hunter2-hunter2@host/name", "x" * before)
    assert "hunter" not in lines.lines[0]
    assert len(str(lines.objects[0]["message"])) <= 1000


def test_what_the_database_refuses_is_not_quoted(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with pytest.raises(Exception, match="no such table") as caught, reading(engine) as connection:
        connection.exec_driver_sql("SELECT * FROM nowhere WHERE a = ?", (TEXTS[0],))
    assert TEXTS[0] not in str(caught.value)


def test_a_shard_is_logged_in_one_line(sqlite_url: str, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    context = WorkerContext(one_block_shards(sqlite_url))
    job = queue_job(context.engine, context.settings, segments=300, systems=2, metrics=["bleu", "ter"])
    with reading(context.engine) as connection:
        shards = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
    assert len(shards) == 2
    # The first fails once, and says what is in the text.
    from steelyard.metrics.ngram.bleu import BLEU

    count = BLEU.segment_statistics

    def fail(self: BLEU, segments: object) -> object:
        raise ValueError(f"cannot do {segments.hypotheses[0]!r}")  # type: ignore[attr-defined]

    monkeypatch.setattr(BLEU, "segment_statistics", fail)
    do(context, SHARD, shards[0], "first")
    monkeypatch.setattr(BLEU, "segment_statistics", count)
    for shard in shards:
        do(context, SHARD, shard, "second")
    of_work = [line for line in lines.objects if str(line["logger"]).startswith("worker.")]
    (failed,) = [line for line in of_work if line["level"] == "warning"]
    assert {name: failed[name] for name in ("task_id", "shard", "attempt", "error")} == {
        "task_id": "first",
        "shard": shards[0],
        "attempt": 1,
        "error": "ValueError",
    }
    assert "ValueError" in str(failed["exception"])
    with reading(context.engine) as connection:
        texts = connection.exec_driver_sql("SELECT content FROM text_block").scalars().all()
        protocol = connection.scalar(select(Evaluation.protocol_id).limit(1))
    words = [line.decode() for text in texts for line in bytes(text).split(b"\n") if line.count(b" ") > 3]
    assert words
    assert not [word for word in words if any(word in line for line in lines.lines)]
    done = [line for line in of_work if line["message"] in {f"Shard {shard} is done" for shard in shards}]
    first, second = done
    common = {
        "protocol": protocol,
        "evaluations": job.all_evaluations,
        "systems": 2,
        "metrics": ["bleu", "ter"],
        "level": "info",
    }
    for line, shard, attempt, segments in ((first, shards[0], 2, 256), (second, shards[1], 1, 44)):
        known = {**common, "task_id": "second", "shard": shard, "attempt": attempt, "segments": segments}
        assert {name: line[name] for name in known} == known
        assert 0 < float(str(line["kernel_seconds"])) <= float(str(line["seconds"]))
    claims = [
        line for line in of_work if line["level"] == "debug" and line["message"] == f"Shard {shards[0]} is claimed"
    ]
    assert [line["attempt"] for line in claims] == [1, 2]
    (reduced,) = [line for line in of_work if "is done" in str(line["message"]) and "reduction" in line]
    assert reduced["evaluations"] == job.all_evaluations
    assert "shard" not in reduced
    counters = context.counters
    assert counters.total("steelyard_worker_done", "shards") == 2
    assert counters.total("steelyard_worker_failures", "shards") == 1
    assert counters.total("steelyard_worker_retries", "shards") == 1
    assert counters.total("steelyard_worker_hypotheses") == 600
    assert counters.buckets("steelyard_shard_seconds")[0][-1] == 2
    context.close()
