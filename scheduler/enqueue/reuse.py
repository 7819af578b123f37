"""What was measured before is not measured again: its statistics are copied under the new evaluations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from metrics import parse_metric
from metrics.base import EDITION
from models.corpus.protocols import ProtocolContent
from models.queue.reuse import CachedStatistics, CopyPlan, copy_statistics, find_cached_statistics
from models.storage.blobs import read_stored_objects
from worker.computing.signature import stored_signature


def reuse_statistics(
    connection: Connection,
    measurement: ProtocolContent,
    texts: Mapping[int, int],
    lacking: Mapping[int, Sequence[int]],
    failed: Collection[int] = (),
) -> set[int]:
    """Copy what finished evaluations have of the same texts against the same references; who got something.

    `texts` is the system output of each evaluation; `lacking` the positions of the metrics of which it has nothing
    yet. It does not matter for which campaign, system, test set, number of replicates or seed something was measured,
    as long as this release would have written the same signature. What is being measured right now is not waited for.
    Those that `failed` get nothing that lies in a store: they may have failed because it is gone from there.
    """
    specifications = {measurement.metrics[metric] for metrics in lacking.values() for metric in metrics}
    if not specifications:
        return set()
    wanted = {texts[evaluation] for evaluation, metrics in lacking.items() if metrics}
    found = _chosen(measurement, find_cached_statistics(connection, measurement, wanted, specifications, EDITION))
    placed = read_stored_objects(connection, {each.evaluation_id for each in found.values()}) if failed else {}
    copies = [
        CopyPlan(source, evaluation, metric, _same_replicates(source, measurement))
        for evaluation, metrics in lacking.items()
        for metric in metrics
        if (source := found.get((texts[evaluation], measurement.metrics[metric])))
        if evaluation not in failed or (source.evaluation_id, source.metric) not in placed
    ]
    copy_statistics(connection, copies)
    return {copy.evaluation_id for copy in copies}


def _chosen(
    measurement: ProtocolContent, measured: Sequence[CachedStatistics]
) -> dict[tuple[int, str], CachedStatistics]:
    """For each text and metric what this release would give as well, rather with the same replicates."""
    signatures: dict[tuple[str, int, int], str] = {}
    chosen: dict[tuple[int, str], CachedStatistics] = {}
    for each in measured:
        way = each.specification, each.replicates, each.seed
        if way not in signatures:
            # The references are the same, and so is how a signature counts them.
            its = replace(measurement, replicates=each.replicates, seed=each.seed)
            signatures[way] = stored_signature(parse_metric(each.specification), its)
        if each.signature == signatures[way]:
            key = each.text_id, each.specification
            if key not in chosen or _same_replicates(each, measurement):
                chosen[key] = each
    return chosen


def _same_replicates(source: CachedStatistics, measurement: ProtocolContent) -> bool:
    return (source.replicates, source.seed) == (measurement.replicates, measurement.seed)
