"""A metrics task of WMT's size: metrics ranked over many language pairs, with all permutation tests.

    python -m benchmarks.metrics_task [--pairs 31] [--metrics 15] [--systems 20] [--segments 1000] [--processes 2]

Pairs are computed side by side, as workers compute them: each by one process with one thread. What counts for a machine
that is shared are the processor's seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores
from steelyard.meta_evaluation.metrics_task import TRIALS, rank_metrics
from steelyard.meta_evaluation.task_results import STATISTICS, TaskResult, compare_in_task

SEED = 12345


def main() -> None:
    """Measure it, and print what it took."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.metrics_task", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("pairs", 31), ("metrics", 15), ("systems", 20), ("segments", 1000), ("processes", 2)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    asked = parser.parse_args()
    # One thread for each process: they share the machine.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    tasks = [
        (pair, statistic, asked.metrics, asked.systems, asked.segments)
        for pair in range(asked.pairs)
        for statistic in STATISTICS
    ]
    begin = time.perf_counter()
    with ProcessPoolExecutor(asked.processes, get_context("spawn")) as pool:
        found = list(pool.map(_compared, tasks))
    seconds = {statistic: sum(took for result, took in found if result.task.statistic == statistic)
               for statistic in STATISTICS}  # fmt: skip
    ranked = rank_metrics([result for result, _ in found], trials=TRIALS, seed=SEED)
    wall = time.perf_counter() - begin
    print(f"{asked.pairs} pairs, {asked.metrics} metrics, {asked.systems} systems, {asked.segments} segments")
    print(f"{wall:.0f} s with {asked.processes} processes; processor: {sum(seconds.values()):.0f} s, of which")
    for statistic, took in seconds.items():
        print(f"  {statistic}: {took:.0f} s, {took / asked.pairs:.1f} s a pair")
    print(f"{len({row.rank for row in ranked.metrics})} groups of metrics")


def _compared(task: tuple[int, str, int, int, int]) -> tuple[TaskResult, float]:
    pair, statistic, metrics, systems, segments = task
    begin = time.process_time()
    judged = _judged(pair, metrics, systems, segments)
    return compare_in_task(judged, f"pair-{pair}", statistic, trials=TRIALS, seed=SEED), time.process_time() - begin


def _judged(seed: int, metrics: int, systems: int, segments: int) -> JudgedScores:
    """People's scores from 0 to 100, and metrics that follow them more or less closely."""
    draw = np.random.default_rng(seed)
    difficulty = 10 * draw.normal(size=segments)
    human = 80 - np.arange(systems)[:, None] + difficulty + 12 * draw.normal(size=(systems, segments))
    human = np.rint(np.clip(human, 0, 100))
    scores = {f"metric-{k:02}": human / 10 + (0.5 + 0.2 * k) * draw.normal(size=human.shape) for k in range(metrics)}
    return JudgedScores(
        systems=tuple(f"system-{k}" for k in range(systems)),
        metrics=[
            JudgedMetric(name, name, True, each.mean(axis=1), np.zeros((0, systems)), each)
            for name, each in scores.items()
        ],
        human_systems=human.mean(axis=1),
        human_segments=human,
        human_raw=np.full_like(human, np.nan),
        comparisons=np.zeros((0, 3), np.intp),
        seed=1,
        replicates=0,
    )


if __name__ == "__main__":
    main()
