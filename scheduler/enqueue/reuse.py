"""Reuses statistics: copies stored ones to new evaluations instead of computing them again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from models.corpus.protocols import ProtocolContent
from models.queue.reuse import (
    CachedStatistics,
    CopyPlan,
    Drawn,
    copy_statistics,
    drawn_by,
    find_cached_statistics,
)
from models.storage.blobs import read_stored_objects
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from worker.computing.signature import stored_signature


def reuse_statistics(
    connection: Connection,
    protocol: ProtocolContent,
    texts: Mapping[int, int],
    missing: Mapping[int, Sequence[int]],
    failed: Collection[int] = (),
) -> set[int]:
    """Copy statistics of finished evaluations with the same texts and references; the evaluations that got some.

    They may belong to any campaign, system, test set, number of replicates, seed or unit of resampling, as long as this
    release would write the same signature. Evaluations in progress are not considered.

    Parameters
    ----------
    texts : Mapping[int, int]
        The system output of each evaluation.
    missing : Mapping[int, Sequence[int]]
        The positions of metrics without any statistics, by evaluation.
    failed : Collection[int]
        Evaluations that get no statistics from an object store: a missing object may be why they failed.
    """
    specifications = {protocol.metrics[metric] for metrics in missing.values() for metric in metrics}
    if not specifications:
        return set()
    wanted = {texts[evaluation] for evaluation, metrics in missing.items() if metrics}
    found = _chosen(protocol, find_cached_statistics(connection, protocol, wanted, specifications, EDITION))
    placed = read_stored_objects(connection, {each.evaluation_id for each in found.values()}) if failed else {}
    copies = [
        CopyPlan(source, evaluation, metric, _same_replicates(source, protocol))
        for evaluation, metrics in missing.items()
        for metric in metrics
        if (source := found.get((texts[evaluation], protocol.metrics[metric])))
        if evaluation not in failed or (source.evaluation_id, source.metric) not in placed
    ]
    copy_statistics(connection, copies)
    return {copy.evaluation_id for copy in copies}


def _chosen(protocol: ProtocolContent, measured: Sequence[CachedStatistics]) -> dict[tuple[int, str], CachedStatistics]:
    """The cached statistics for each text and metric, preferably with the same replicates."""
    signatures: dict[tuple[str, Drawn, int | None], str | None] = {}
    chosen: dict[tuple[int, str], CachedStatistics] = {}
    for each in measured:
        way = each.specification, each.drawn, each.source_text
        if way not in signatures:
            metric = parse_metric(each.specification)
            # The references are the same, and so is their number in the signature.
            its_protocol = replace(
                protocol, replicates=each.drawn.replicates, seed=each.drawn.seed, resample=each.drawn.resample
            )
            of_another_source = "source" in metric.inputs and each.source_text != protocol.source_text
            signatures[way] = None if of_another_source else stored_signature(metric, its_protocol)
        if each.signature == signatures[way]:
            key = each.text_id, each.specification
            if key not in chosen or _same_replicates(each, protocol):
                chosen[key] = each
    return chosen


def _same_replicates(source: CachedStatistics, protocol: ProtocolContent) -> bool:
    return source.drawn == drawn_by(protocol.replicates, protocol.seed, protocol.resample, protocol.test_set_id)
