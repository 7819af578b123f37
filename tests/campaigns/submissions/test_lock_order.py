"""What is submitted again locks its evaluations in the order in which everybody does: by their numbers."""

import threading
import time

from sqlalchemy import Engine, select, text

from campaigns.submissions.submit import submit
from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import fail_evaluations, lock_evaluations
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from tests.campaigns.quotas.quotas import CAMPAIGN, SEGMENTS, attempt
from tests.scheduler.jobs import one_block_shards, queue_job

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def test_the_holder_of_the_first_evaluation_gets_the_others_too(postgres_url: str) -> None:
    engine, settings = make_engine(postgres_url), one_block_shards(postgres_url)
    # The first protocol is another campaign's, and comes to this one after the second.
    job = {"segments": SEGMENTS, "systems": 1, "replicates": 5}
    queue_job(engine, settings, campaign="other", metrics=["bleu"], **job)
    queue_job(engine, settings, campaign=CAMPAIGN, metrics=["chrf"], **job)
    submit(engine, settings, attempt(1))
    queue_job(engine, settings, campaign=CAMPAIGN, metrics=["bleu"], **job)
    again = submit(engine, settings, attempt(1))
    evaluation_of = dict(zip(again.protocols, again.evaluations, strict=True))
    by_protocol = [evaluation_of[each] for each in sorted(evaluation_of)]
    first, second = sorted(by_protocol)
    assert by_protocol == [second, first], "the order of the protocols is another one"
    with writing(engine) as connection:
        fail_evaluations(connection, by_protocol, "The disk is full.")
    errors: list[BaseException] = []

    def submit_output() -> None:
        try:
            submit(engine, settings, attempt(1))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=submit_output)
    with writing(engine) as connection:
        assert lock_evaluations(connection, [first], [EvaluationState.FAILED]) == [first]
        thread.start()
        until = time.monotonic() + 120
        while not _waiting(engine):
            assert thread.is_alive(), errors
            assert time.monotonic() < until
            time.sleep(0.01)
            # PostgreSQL ends what stays idle in a transaction, which on a busy machine is soon.
            connection.execute(text("SELECT 1"))
        # Were it held by the one that waits for the first, both would wait for ever.
        free = select(Evaluation.id).where(Evaluation.id == second).with_for_update(nowait=True)
        assert connection.execute(free).scalar_one() == second
    thread.join(120)
    assert not errors
    with reading(engine) as connection:
        states = connection.scalars(select(Evaluation.state).where(Evaluation.id.in_(by_protocol))).all()
    assert states == [EvaluationState.QUEUED] * 2
    engine.dispose()


def _waiting(engine: Engine) -> int:
    """A look in a transaction of its own: PostgreSQL shows one transaction the same connections until its end."""
    with reading(engine) as connection:
        return int(connection.execute(text(WAITING)).scalar_one())
