"""All metrics together against the sum of each alone: what they share is done once per shard.

    python -m benchmarks.together [DIR ...] [--reference LABEL] [--rounds 5] [-m METRIC ...] [--resource NAME=FILE ...]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project. Without -m it
takes every metric of the house that runs on plain text with its defaults. CPU seconds of one warm process, from texts
in memory to corpus scores, everything in turn within each round, medians; the scores must be the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.warm import DEMO
from cli.options import named_file
from metrics import METRICS, Metric, parse_metric
from metrics.errors import MetricsError
from metrics.measure import Measurement, measure
from metrics.resources import Resources
from metrics.surroundings import Surroundings, settle
from metrics.text.plain import read_lines


def chosen(specifications: list[str], surroundings: Surroundings) -> list[Metric]:
    """The metrics asked for, or all that can be settled; says which are left out, and why."""
    if specifications:
        return settle([parse_metric(each) for each in specifications], surroundings)[0]
    metrics = []
    for metric in METRICS:
        try:
            metrics += settle([metric()], surroundings)[0]
        except MetricsError as error:
            print(f"left out: {error}")
    return metrics


def main() -> None:
    """Print a Markdown table for each campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-m", "--metrics", nargs="+", default=[], metavar="METRIC")
    parser.add_argument("--resource", nargs="+", type=named_file, default=[], metavar="NAME=FILE")
    options = parser.parse_args()
    resources = Resources(files=dict(options.resource))
    for folder in options.folders or [next(path for path in DEMO.iterdir() if path.is_dir())]:
        files = sorted((folder / "refs").iterdir())
        reference = next((path for path in files if path.stem == options.reference), files[0])
        texts = [read_lines(path).bytes for path in [reference, *sorted((folder / "systems").iterdir())]]
        _, _, target = folder.name.rpartition("-")
        metrics = chosen(options.metrics, Surroundings(target if len(target) == 2 else "", resources=resources))

        def run(wanted: list[Metric], texts: list[bytes] = texts) -> tuple[float, list[Measurement]]:
            start = time.process_time()
            found = measure(texts[:1], texts[1:], wanted, resources=resources)
            return time.process_time() - start, found

        alone: list[list[float]] = [[] for _ in metrics]
        together = []
        _, expected = run(metrics)
        for _ in range(options.rounds):
            for metric, times, same in zip(metrics, alone, expected, strict=True):
                seconds, (found,) = run([metric])
                times.append(seconds)
                assert found.scores.tobytes() == same.scores.tobytes(), metric.specification
            together.append(run(metrics)[0])
        segments = texts[0].count(b"\n") + 1
        print(f"\n{folder.name}: {segments} segments, {len(texts) - 1} systems, reference {reference.stem}\n")
        print("| metric | CPU s |\n|---|---|")
        for metric, times in zip(metrics, alone, strict=True):
            print(f"| `{metric.specification}` | {statistics.median(times):.4f} |")
        total, shared = statistics.median(map(sum, zip(*alone, strict=True))), statistics.median(together)
        print(f"| sum of these | {total:.4f} |")
        print(f"| all together | **{shared:.4f}** ({100 * shared / total:.0f} % of the sum) |")


if __name__ == "__main__":
    main()
