"""Adds the kind of task of which it is given the code, and uses it; a program, since kinds are added for good."""

# ruff: noqa: E402 - what reads the kinds is imported once they are complete.

import json
import sys
from pathlib import Path
from types import ModuleType

url, blocks = sys.argv[1], json.loads(sys.argv[2])

import models.schema.queue

exec(blocks["models/schema/queue.py"], vars(models.schema.queue))
added = sys.modules["models.queue.kinds.text_lengths"] = ModuleType("models.queue.kinds.text_lengths")
exec(blocks["models/queue/kinds/text_lengths.py"], vars(added))

# The line goes where it stood, before anybody has read it.
import models.queue.task_kind

source = Path("models/queue/kinds/registry.py").read_text()
line = source[source.index("KINDS") : source.index("\n)\n") + 2]
new = blocks["models/queue/kinds/registry.py"].strip()
assert new.replace("    TEXT_LENGTH,\n", "") == line, "the docs show another line than there is"
kinds = sys.modules["models.queue.kinds.registry"] = ModuleType("models.queue.kinds.registry")
vars(kinds)["TEXT_LENGTH"] = added.TEXT_LENGTH
exec(source.replace(line, new), vars(kinds))

import worker.runners
from models.schema.corpus import TextBlock

vars(worker.runners).update(ClaimedText=added.ClaimedText, TextBlock=TextBlock, select=__import__("sqlalchemy").select)
exec(blocks["worker/runners.py"], vars(worker.runners))

from sqlalchemy import insert, select, update

from models.database.session import make_engine, reading, writing
from models.queue.retention import prune_finished
from models.queue.task_kind import claim
from models.queue_status.overview import read_overview
from models.schema.corpus import Text
from models.schema.queue import TextLength, Worker
from scheduler.dispatch import dispatch
from scheduler.recovery import sweep
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.context import WorkerContext
from worker.handlers import do
from worker.messaging.celery_tasks import register_tasks
from worker.processes.dead_processes import release_lost
from worker.telemetry import DONE, FAILURES

engine, settings = make_engine(url), one_block_shards(url, retry_seconds=0.0)
TextLength.__table__.create(engine)
queue_job(engine, settings, segments=3, systems=1)
kind, found = added.TEXT_LENGTH, {}
with writing(engine) as connection:
    text = connection.scalars(select(Text.id).order_by(Text.id)).first()
    keys = [
        connection.scalar(insert(TextLength).values(text_id=text, edition=EDITION).returning(TextLength.id))
        for _ in range(3)
    ]
    connection.execute(insert(Worker).values(id="w", host="h", pid=1, version="1", concurrency=9, edition=EDITION))
    found["words"] = sum(
        len(block.split()) for block in connection.scalars(select(TextBlock.content).where(TextBlock.text_id == text))
    )


class App:
    """What the scheduler sends, and what a worker knows."""

    def __init__(self):
        self.sent, self.known = [], []

    def task(self, _function, name, **_):
        self.known.append(name)

    def send(self, message):
        self.sent.append([message.kind.message, *message.keys])


def row(key):
    with reading(engine) as connection:
        columns = select(TextLength.state, TextLength.words, TextLength.error)
        return list(connection.execute(columns.where(TextLength.id == key)).one())


context, app = WorkerContext(settings), App()
register_tasks(app, context)
dispatch(engine, app, settings)
found["known"] = app.known
found["sent"] = [each for each in app.sent if each[0] == "count_words"]
do(context, kind, keys[0], "task")
do(context, kind, keys[0], "late")
found["done"] = row(keys[0])

# One that a silent worker has, one whose process died, and one that always fails.
with writing(engine) as connection:
    claim(connection, kind, keys[1], kind.policy(settings), owner="t:1", worker="gone")
with reading(engine) as connection:
    shown = read_overview(connection, silent_seconds=5.0)
found["shown"] = [[each.waiting, each.sent, each.running] for each in shown.work if each.kind == "text_lengths"]
found["astray"] = [each.kind for each in shown.astray]
sweep(engine, settings)
found["reclaimed"] = row(keys[1])
with writing(engine) as connection:
    claim(connection, kind, keys[1], kind.policy(settings), owner="t:1", worker="w")
release_lost(context, "count_words", "t", [keys[1]], "its process died.")
found["lost"] = row(keys[1])


def fail(*_):
    raise ValueError("no such thing")


vars(kind)["runner"] = fail
for _ in range(settings.max_attempts):
    do(context, kind, keys[2], "task")
found["failed"] = row(keys[2])
found["counted"] = [context.counters.total(each.name, "text_lengths") for each in (DONE, FAILURES)]
with writing(engine) as connection:
    connection.execute(update(TextLength).values(ended_at=TextLength.ended_at - 100.0))
    found["deleted"] = prune_finished(connection, 50.0, 10)["text_lengths"]
print(json.dumps(found))
