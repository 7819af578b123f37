"""Progress: states of submissions, one look for all who watch, events until the end."""

import json
import threading
from typing import Any

import pytest
from sqlalchemy import event, insert, select, update

from campaigns.submissions.progress import LOOK_SECONDS, ProgressWatcher
from models.database.session import reading, writing
from models.queue_status.submission_progress import read_submission_progress, submission_state
from models.schema.base import now
from models.schema.queue import Evaluation, Shard, Worker
from models.schema.states import EvaluationState
from tests.service.port import SEGMENTS, Port, output

QUEUED, RUNNING, REDUCING, DONE, FAILED, CANCELLED = EvaluationState


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([QUEUED, QUEUED], QUEUED),
        ([QUEUED, RUNNING], RUNNING),
        ([QUEUED, DONE], RUNNING),
        ([RUNNING, FAILED], RUNNING),
        ([REDUCING, QUEUED], RUNNING),
        ([REDUCING, DONE], REDUCING),
        ([DONE, DONE], DONE),
        ([DONE, CANCELLED], CANCELLED),
        ([DONE, FAILED, CANCELLED], FAILED),
        ([], DONE),
    ],
)
def test_the_state_of_a_submission_follows_from_its_evaluations(
    states: list[EvaluationState], expected: EvaluationState
) -> None:
    assert submission_state(states) == expected
    assert submission_state(states[::-1]) == expected


def test_what_is_before_a_submission_is_counted_and_estimated(port_anywhere: Port) -> None:
    port = port_anywhere
    mary, zoe = port.program("mary"), port.program("zoe")
    for client, seed in ((mary, 1), (zoe, 2), (mary, 3)):
        port.submit(client, output(seed))
    with writing(port.service.engine) as connection:
        connection.execute(update(Shard).values(cost=3.0))
        assert read_submission_progress(connection, [4], 5.0)[4].seconds_left is None
        connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=2))
    with reading(port.service.engine) as connection:
        shards = {
            number: len(connection.scalars(select(Shard.id).where(Shard.queue_class == queue_class)).all())
            for number, queue_class in ((1, 1), (2, 0))
        }
        progress = read_submission_progress(connection, [1, 2, 3, 4], 5.0)
    # That of the organisers is less urgent: it waits for all three.
    assert {number: each.ahead for number, each in progress.items()} == {1: 0, 2: 0, 3: 1, 4: 2}
    each = shards[2] // 3
    assert [progress[number].seconds_left for number in (2, 3, 4)] == [1.5 * each, 3.0 * each, 4.5 * each]
    assert (progress[2].segments, progress[2].segments_done) == (SEGMENTS, 0)


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(event, id, data) of each."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if lines:
            found.append((lines["event"], lines["id"], json.loads(lines["data"])))
    return found


def test_events_tell_of_every_change_until_the_end(port: Port) -> None:
    mary = port.program("mary")
    port.submit(mary)
    worker = threading.Timer(1.0, port.work_off)
    worker.start()
    answer = mary.get("/api/v1/submissions/2/events")
    worker.join()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    told = events_of(answer.text)
    assert (told[0][0], told[0][2]["state"]) == ("progress", "queued")
    assert (told[-1][0], told[-1][2]["state"], told[-1][2]["ended"]) == ("end", "done", True)
    assert [name for name, _, _ in told].count("end") == 1
    assert len({number for _, number, _ in told}) == len(told)
    # Whoever comes again hears of the end alone.
    again = mary.get("/api/v1/submissions/2/events", headers={"Last-Event-ID": told[0][1]})
    assert [name for name, _, _ in events_of(again.text)] == ["end"]


def test_nobody_else_watches_a_submission(port: Port) -> None:
    port.submit(port.program("mary"))
    for client in (port.program("zoe"), port.service.client()):
        answer = client.get("/api/v1/submissions/2/events")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.fixture
def watching(port: Port) -> ProgressWatcher:
    for seed in (1, 2):
        port.submit(port.program("mary"), output(seed))
    return ProgressWatcher(port.service.engine, port.service.settings)


def test_one_look_serves_all_who_watch(port: Port, watching: ProgressWatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("campaigns.submissions.progress.time.monotonic", lambda: clock[0])
    statements: list[str] = []
    event.listen(port.service.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    with watching.watched(2), watching.watched(3), watching.watched(2):
        assert watching.look(2) is not None
        once = len(statements)
        assert once > 0
        assert [watching.look(number) is not None for number in (2, 3, 2)] == [True] * 3
        assert len(statements) == once
        with writing(port.service.engine) as connection:
            connection.execute(update(Evaluation).values(state=RUNNING, started_at=now()))
        assert watching.look(3).state == QUEUED
        clock[0] += LOOK_SECONDS
        assert watching.look(2).state == RUNNING
        assert watching.look(3).state == RUNNING
    assert watching._watched.total() == 0
    assert watching._seen == {}
