"""Work of editions that no running worker produces: older work restarts in this edition, newer work waits."""

from __future__ import annotations

import logging

from sqlalchemy import Engine, select

from models.database.session import reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.comparisons import end_comparisons
from models.queue.lease import cancel_idle
from models.queue.workers import read_pools
from models.schema.queue import Evaluation, Reduction, Trials
from models.schema.states import OPEN, LeaseState
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION, edition_name

log = logging.getLogger(__name__)

TOGETHER = 500
"""Evaluations restarted in one transaction."""

ASK_AGAIN = "The workers of the release that began this comparison are gone. Compare again."


class Editions:
    """Handles work of other editions; remembers which warnings were logged."""

    def __init__(self) -> None:
        self._said: dict[int, int] = {}

    def run_once(self, engine: Engine, settings: Settings) -> int:
        """Restart evaluations that no worker can finish; their number."""
        with reading(engine) as connection:
            found = select(Evaluation.edition, Evaluation.id).where(
                Evaluation.state.in_(OPEN), Evaluation.edition != EDITION
            )
            others: dict[int, list[int]] = {}
            for row in connection.execute(found.order_by(Evaluation.id)):
                others.setdefault(row.edition, []).append(row.id)
            living = read_pools(connection, settings.silent_seconds)
            trials = select(Trials.edition, Trials.comparison_id).where(
                Trials.state == LeaseState.PENDING, Trials.edition < EDITION, Trials.edition.not_in(living)
            )
            comparisons = {row.comparison_id for row in connection.execute(trials)}
        self._notify({edition: len(rows) for edition, rows in others.items() if edition not in living})
        for edition, rows in others.items():
            if edition < EDITION and edition not in living:
                for begin in range(0, len(rows), TOGETHER):
                    _restart(engine, settings, edition, rows[begin : begin + TOGETHER])
        if comparisons:
            with writing(engine) as connection:
                end_comparisons(connection, comparisons, ASK_AGAIN)
        return sum(len(rows) for edition, rows in others.items() if edition < EDITION and edition not in living)

    def _notify(self, waiting: dict[int, int]) -> None:
        newer = {edition: amount for edition, amount in waiting.items() if edition > EDITION}
        for edition, amount in newer.items():
            if edition not in self._said:
                log.warning(
                    "%d evaluations wait for a worker of edition %s: this release produces edition %s. "
                    "Start a worker of the release and with the Python that queued them.",
                    amount, edition_name(edition), edition_name(EDITION),
                )  # fmt: skip
        self._said = newer


def _restart(engine: Engine, settings: Settings, edition: int, evaluations: list[int]) -> None:
    from scheduler.admin import queue_again

    with writing(engine, durable=True) as connection:
        reductions = set(
            connection.scalars(
                select(Evaluation.reduction_id).where(
                    Evaluation.id.in_(evaluations), Evaluation.edition == edition, Evaluation.reduction_id.is_not(None)
                )
            )
        )
        # End them first, so that their tasks are no longer needed.
        held = cancel_evaluations(connection, evaluations)
        queue_again(connection, settings, held)
        cancel_idle(connection, Reduction, Reduction.id.in_(reductions))
    if held:
        log.warning(
            "Restarting %d evaluations of edition %s, which no running worker produces, in edition %s",
            len(held), edition_name(edition), edition_name(EDITION),
        )  # fmt: skip
