"""What tasks do, from claim to outcome: whatever happens is written to the database."""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial, wraps
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from metrics.errors import BadParameter, KernelsNotBuilt, MetricsError, MissingResource, UnknownMetric
from metrics.resources import Resources
from metrics.stopwatch import Stopwatch
from models.corpus.protocols import Measurement, read_measurement
from models.database.compatibility import living_workers
from models.database.error_kinds import trouble_of
from models.database.migrate import REVISION
from models.errors import MissingObject, ModelsError, UnreachableStore
from models.queue.comparisons import ClaimedTrials, claim_trials, complete_trials, release_trials
from models.queue.corpus_statistics import (
    ClaimedPreparation,
    claim_preparation,
    complete_merge,
    complete_part,
    release_preparation,
)
from models.queue.evaluation_end import lock_evaluations
from models.queue.lease import hand_on, refusals
from models.queue.log_fields import attempt_of
from models.queue.reductions import ClaimedReduction, claim_reduction, complete_reduction, release_reduction
from models.queue.shards import (
    ClaimedShard,
    Completion,
    ShardRow,
    ShardTiming,
    claim_shard,
    complete_shard,
    release_shard,
)
from models.queue.state_chunks import store_chapter
from models.schema.base import BLOCK_SEGMENTS
from models.schema.queue import Evaluation, Leased, Preparation, Reduction, Shard, Trials
from models.schema.states import EvaluationState
from models.storage.blobs import find_lost, forget_objects, read_placed
from runtime.logs import about, fields, note, unsaid
from runtime.redaction import redacted
from worker.computing.corpus_statistics import counting_work, merging_work, read_states
from worker.computing.offload import place_results
from worker.computing.randomization import count_trials
from worker.computing.reducer import reduce_evaluations
from worker.computing.scoring import ShardTexts, known_metric, read_shard, score_texts, shard_metrics, shard_timing
from worker.context import Station
from worker.counters import DONE, DROPPED, FAILURES, HYPOTHESES, KERNEL_SECONDS, RETRIES, SHARD_SECONDS, kind_of
from worker.errors import WorkerError
from worker.memory_limit import out_of_memory
from worker.preemption import LONGEST_SECONDS, GivingWay

Claimed = TypeVar("Claimed")


@dataclass(frozen=True, slots=True)
class _Size:
    """What the log says of a shard that is done."""

    kernel_seconds: float
    segments: int
    systems: int
    metrics: tuple[str, ...]


log = logging.getLogger(__name__)

HAND_ON_SECONDS = 1.0
"""What this release cannot do is not sent again for so long, or it would come back at once."""


def new_owner(task_id: str) -> str:
    """A fencing token that also tells which task holds it."""
    return f"{task_id}:{uuid.uuid4().hex[:16]}"


def outliving(what: str) -> Callable[[Callable[[Station, int, str], None]], Callable[[Station, int, str], None]]:
    """Let a task end in order whose database has failed."""

    def decorate(task: Callable[[Station, int, str], None]) -> Callable[[Station, int, str], None]:
        @wraps(task)
        def run(station: Station, key: int, task_id: str) -> None:
            with about(task_id=task_id, **{what.lower(): key}), station.outlived(f"{what} {key}"):
                task(station, key, task_id)

        return run

    return decorate


@outliving("Shard")
def do_shard(station: Station, shard_id: int, task_id: str) -> None:
    """Claim, score and hand in a shard, and reduce what became complete with it."""
    owner = new_owner(task_id)
    claim = _claim(station, claim_shard, Shard, shard_id, owner)
    if claim is None:
        return
    note(protocol=claim.protocol_id, evaluations=claim.evaluations)
    begun = time.monotonic()
    try:
        rows, timing, size = _score(
            station, claim, GivingWay(station, shard_id, _others(station, task_id), LONGEST_SECONDS)
        )
        # Durable: a result that a crash of the database takes back would be missed only when the lease is over.
        completion: Completion = station.write(
            lambda connection: complete_shard(connection, claim, rows, timing), durable=True
        )
    except Exception as error:
        _give_up(station, release_shard, Shard, shard_id, owner, error)
        return
    if not completion.accepted:
        _dropped(station, Shard)
        log.warning("Shard %s had been taken over by another worker: its result is dropped", shard_id)
        return
    seconds = time.monotonic() - begun
    _done(station, Shard)
    station.tally.observe(SHARD_SECONDS.name, seconds)
    station.tally.observe(KERNEL_SECONDS.name, timing.kernel_seconds)
    station.tally.count(HYPOTHESES.name, amount=size.segments * len(claim.evaluations))
    log.info("Shard %s is done", shard_id, extra=fields(seconds=seconds, **asdict(size)))
    if completion.reduction is not None and not station.leaving.heard:
        do_reduction(station, completion.reduction, task_id)


def _others(station: Station, task_id: str) -> dict[type[Leased], Callable[[int], None]]:
    """How to do work that is more urgent, in the same task."""
    return {
        Preparation: lambda key: do_preparation(station, key, task_id),
        Shard: lambda key: do_shard(station, key, task_id),
    }


@outliving("Reduction")
def do_reduction(station: Station, reduction_id: int, task_id: str) -> None:
    """Claim a reduction, add up and score its evaluations, and end them."""
    owner = new_owner(task_id)
    claim = _claim(station, claim_reduction, Reduction, reduction_id, owner)
    if claim is None:
        return
    note(protocol=claim.protocol_id, evaluations=claim.evaluations)
    try:
        _reduce(station, claim)
    except Exception as error:
        _give_up(station, release_reduction, Reduction, reduction_id, owner, error)
        if isinstance(error, MissingObject):
            _forget_lost(station, claim.evaluations)


@outliving("Preparation")
def do_preparation(station: Station, preparation_id: int, task_id: str) -> None:
    """Claim a preparation, count or merge, and hand it in; merge where this was the last part."""
    owner = new_owner(task_id)
    claim = _claim(station, claim_preparation, Preparation, preparation_id, owner)
    if claim is None:
        return
    note(state=claim.prepared_state_id)
    try:
        merge = _prepare(station, claim)
    except Exception as error:
        _give_up(station, release_preparation, Preparation, preparation_id, owner, error)
        return
    if merge is not None and not station.leaving.heard:
        do_preparation(station, merge, task_id)


@outliving("Trials")
def do_trials(station: Station, trials_id: int, task_id: str) -> None:
    """Claim some trials, make them, and hand in how many were as large."""
    owner = new_owner(task_id)
    claim = _claim(station, claim_trials, Trials, trials_id, owner)
    if claim is None:
        return
    runs = {evaluation for system in claim.contest.systems for evaluation in system}
    note(comparison=claim.comparison_id, protocol=claim.contest.protocol_id, evaluations=sorted(runs))
    try:
        _randomize(station, claim)
    except Exception as error:
        _give_up(station, release_trials, Trials, trials_id, owner, error)


def describe(error: Exception) -> tuple[str, bool]:
    """What to tell the user, and whether trying again is pointless."""
    if isinstance(error, MetricsError):
        return str(error), not isinstance(error, KernelsNotBuilt | MissingResource)
    if isinstance(error, ModelsError | WorkerError):
        return str(error), False
    return f"{type(error).__name__}: {error}", False


def _claim(
    station: Station, claim: Callable[..., Claimed | None], table: type[Leased], key: int, owner: str
) -> Claimed | None:
    settings = station.settings

    def attempt(connection: Connection) -> tuple[Claimed, int | None] | None:
        claimed = claim(
            connection,
            key,
            owner=owner,
            worker=station.worker,
            lease_seconds=settings.lease_seconds,
            max_attempts=settings.max_attempts,
            edition=station.edition,
        )
        return None if claimed is None else (claimed, attempt_of(connection, table, key))

    found = station.write(attempt)
    if found is None:
        log.debug("%s %s is not to be had: somebody else has it, or nobody needs it", table.__name__, key)
        return None
    claimed, number = found
    note(attempt=number)
    if number is not None and number > 1:
        station.tally.count(RETRIES.name, kind_of(table))
    log.debug("%s %s is claimed", table.__name__, key)
    return claimed


def _done(station: Station, table: type[Leased]) -> None:
    station.tally.count(DONE.name, kind_of(table))


def _dropped(station: Station, table: type[Leased]) -> None:
    station.tally.count(DROPPED.name, kind_of(table))


def _give_up(
    station: Station, release: Callable[..., bool], table: type[Leased], key: int, owner: str, error: Exception
) -> None:
    if trouble_of(error) is not None:
        # Not the fault of the work.
        raise error
    reason, permanent = describe(error)
    # A store's driver may quote its address.
    reason = redacted(reason)
    if isinstance(error, UnknownMetric | BadParameter):
        refused_by = _hand_on(station, table, key, owner, reason)
        if refused_by is None:
            return
        reason = (
            f"{reason} No living worker can do it (tried by: {'; '.join(sorted(refused_by))}). Install what brings it "
            "where the workers run, a newer release or the metric's own package, start them again, and use "
            "`steelyard retry`."
        )
    if isinstance(error, MemoryError):
        # What was computed so far still hangs on the frames.
        traceback.clear_frames(error.__traceback__)
        reason = out_of_memory(error, station.settings, station.processes)
    station.tally.count(FAILURES.name, kind_of(table))
    # Others may quote a text; whoever may read that finds it with the evaluation.
    told = (
        reason if isinstance(error, (KernelsNotBuilt, MissingResource, UnreachableStore, MemoryError, OSError)) else ""
    )
    log.warning(
        "%s %s failed: %s",
        table.__name__,
        key,
        told or f"{type(error).__name__} (`steelyard status --failed` tells more)",
        exc_info=not permanent,
        extra={**fields(error=type(error).__name__), **(unsaid() if not told else {})},
    )
    settings = station.settings
    station.write(
        lambda connection: release(
            connection,
            key,
            owner,
            reason,
            max_attempts=settings.max_attempts,
            delay_seconds=settings.retry_seconds,
            permanent=permanent,
        )
    )


def _hand_on(station: Station, table: type[Leased], key: int, owner: str, reason: str) -> set[str] | None:
    """Leave work to workers of other releases: what this one does not know they may.

    Where each release that lives has refused it, nothing is done, and it is these.
    """
    own = f"version {station.version}, revision {REVISION}"

    def hand(connection: Connection) -> set[str] | None:
        refused_by = {own, *refusals(connection, table, key, owner)}
        living = {
            f"version {each.version}, revision {each.revision}"
            for each in living_workers(connection, station.settings.silent_seconds)
            if each.edition == station.edition
        }
        if living <= refused_by:
            return refused_by
        hand_on(connection, table, key, owner, reason, HAND_ON_SECONDS, refused_by)
        return None

    refused_by = station.write(hand)
    if refused_by is None:
        log.warning("%s %s is left to workers of another release: %s", table.__name__, key, reason)
    return refused_by


def _score(
    station: Station, claim: ClaimedShard, between: Callable[[], None]
) -> tuple[list[ShardRow], ShardTiming, _Size]:
    def read(connection: Connection) -> tuple[Measurement, ShardTexts]:
        measurement = read_measurement(connection, claim.protocol_id)
        specifications = list(shard_metrics(claim, measurement).values())
        blocks = claim.first_block, claim.last_block
        states = read_states(connection, claim.protocol_id, specifications, blocks, station.edition)
        return measurement, replace(read_shard(connection, claim, measurement), states=states)

    measurement, shard = station.read(read)
    settings, watch = station.settings, Stopwatch()
    rows = score_texts(claim, measurement, shard, Resources(settings.resource_folder), watch, between)
    metrics = tuple(shard_metrics(claim, measurement).values())
    timing = shard_timing(watch, [known_metric(each) for each in metrics])
    last = min(claim.last_block * BLOCK_SEGMENTS, measurement.segments)
    size = _Size(timing.kernel_seconds, last - claim.first_block * BLOCK_SEGMENTS, len(claim.evaluations), metrics)
    return place_results(rows, settings.statistics_url, settings.statistics_bytes), timing, size


def _reduce(station: Station, claim: ClaimedReduction) -> None:
    def reduce(connection: Connection) -> list[dict[str, Any]]:
        measurement = read_measurement(connection, claim.protocol_id)
        return reduce_evaluations(connection, measurement, claim.evaluations)

    scores = station.read(reduce)
    if station.write(lambda connection: complete_reduction(connection, claim, scores), durable=True):
        _done(station, Reduction)
        log.info("Reduction %s is done", claim.reduction_id)
    else:
        _dropped(station, Reduction)
        log.warning("Reduction %s had been taken over: its result is dropped", claim.reduction_id)


def _forget_lost(station: Station, evaluations: Sequence[int]) -> None:
    """Drop, of those that failed, what refers to objects that are gone, so that it is measured when they are retried.

    Whoever queues them again holds their rows and could not ask a store for so long.
    """

    def read(connection: Connection) -> set[str]:
        failed = select(Evaluation.id).where(Evaluation.id.in_(evaluations), Evaluation.state == EvaluationState.FAILED)
        return set().union(*read_placed(connection, list(connection.scalars(failed))).values())

    lost = find_lost(sorted(station.read(read)))

    def forget(connection: Connection) -> int:
        held = lock_evaluations(connection, evaluations, [EvaluationState.FAILED])
        return forget_objects(connection, held, lost)

    if lost:
        station.write(forget, durable=True)


def _prepare(station: Station, claim: ClaimedPreparation) -> int | None:
    """The preparation that merges, where this one was the last part."""
    if claim.merges:
        accepted, merge = _merge(station, claim), None
    else:
        resources = Resources(station.settings.resource_folder)
        part = station.read(lambda connection: counting_work(connection, claim, resources))()
        counted = station.write(lambda connection: complete_part(connection, claim, part), durable=True)
        accepted, merge = counted.accepted, counted.merge
    if accepted:
        _done(station, Preparation)
        log.info("Preparation %s is done", claim.preparation_id)
    else:
        _dropped(station, Preparation)
        log.warning("Preparation %s had been taken over: its result is dropped", claim.preparation_id)
    return merge


def _merge(station: Station, claim: ClaimedPreparation) -> bool:
    """Whether it was still ours to merge."""
    state = station.read(lambda connection: merging_work(connection, claim))()
    if len(state.runs) == 1:
        blob = state.chapters.whole(0)
        return station.write(lambda connection: complete_merge(connection, claim, blob), durable=True)
    # Each in a transaction of its own: all of them would keep others waiting for seconds.
    for chapter, (first_block, last_block) in enumerate(state.runs):
        store = partial(
            store_chapter,
            claim=claim,
            first_block=first_block,
            last_block=last_block,
            blob=state.chapters.whole(chapter),
        )
        if not station.write(store):
            return False
    return station.write(lambda connection: complete_merge(connection, claim, b""), durable=True)


def _randomize(station: Station, claim: ClaimedTrials) -> None:
    counts = station.patiently(lambda: count_trials(station.engine, claim.contest, claim.first_trial, claim.last_trial))
    if station.write(lambda connection: complete_trials(connection, claim, counts), durable=True):
        _done(station, Trials)
        log.info("Trials %s are done", claim.trials_id)
    else:
        _dropped(station, Trials)
        log.warning("Trials %s had been taken over: their result is dropped", claim.trials_id)
