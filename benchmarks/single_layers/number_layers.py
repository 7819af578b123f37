"""Layers from statistics to p-values, and to what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness.evaluating import THREE
from benchmarks.single_layers.limits import Layer, fastest
from models.storage.arrays import pack, unpack
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import resampled_run, score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_bootstrap

if TYPE_CHECKING:
    from benchmarks.harness.campaign import Campaign

REPLICATES = 1000


def number_layers(campaign: Campaign) -> list[Layer]:
    """From statistics to p-values, and to what is stored."""
    texts = campaign.texts()
    metrics = [parse_metric(name) for name in THREE]
    found = score_systems(
        Segments(references=texts[:1], hypotheses=texts[1:]), metrics, replicates=REPLICATES, keep_statistics=True
    )
    tables = [each.statistics for each in found if each.statistics is not None]
    segments, systems = campaign.segments, len(campaign.systems)
    columns = systems * sum(len(metric.columns) for metric in metrics)
    seeds = iter(range(10**9))
    first = tables[0][:1, :, :1]
    draws = fastest(lambda: resampled_run([first], segments, next(seeds), REPLICATES, 0))
    # The draws are remembered.
    sums = fastest(lambda: resampled_run(tables, segments, 1, REPLICATES, 0))
    flops = 2.0 * REPLICATES * segments * columns
    replicate_sums = resampled_run(tables, segments, 1, REPLICATES, 0)
    scores = fastest(lambda: [metric.score(each) for metric, each in zip(metrics, replicate_sums, strict=True)])
    pairs = systems * (systems - 1) // 2
    tests = fastest(lambda: paired_bootstrap(found, None))
    matrices = [system for table in tables for system in table]
    blobs = [pack(matrix) for matrix in matrices]
    size = sum(matrix.nbytes for matrix in matrices)
    return [
        Layer("draws of 1,000 replicates", draws, REPLICATES * segments, "B", "random", "draws"),
        Layer("sums of 1,000 replicates", sums, flops, "flop", "dgemm", "flop of a product"),
        Layer("formulas of 1,000 replicates", scores, systems * len(metrics) * REPLICATES, "", "", "scores"),
        Layer("paired tests, all pairs", tests, pairs * len(metrics), "", "", "tests"),
        Layer("statistics packed", fastest(lambda: [pack(each) for each in matrices]), size, "B", "copy", "bytes"),
        Layer("statistics unpacked", fastest(lambda: [unpack(each) for each in blobs]), size, "B", "copy", "bytes"),
    ]
