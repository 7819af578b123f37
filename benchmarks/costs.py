"""What each metric costs: CPU microseconds per segment and system, as `Metric.cost` states for the size of shards.

    python -m benchmarks.costs [DIR] [--reference LABEL] [-m METRIC ...] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project. Texts are cut
into words each time; all systems are scored together, and once more the first one alone.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from metrics import METRICS
from metrics.batch import Batch
from metrics.registry import parse_metric
from metrics.text.plain import read_lines

DEMO = Path(__file__).parents[1] / "demo" / "harbour"


def seconds(name: str, references: list[bytes], systems: list[bytes], rounds: int) -> float:
    """CPU seconds of the statistics of all segments, the median of some rounds after a first one."""
    metric = parse_metric(name)
    spent = []
    for _ in range(rounds + 1):
        start = time.process_time()
        metric.segment_statistics(Batch(references, systems))
        spent.append(time.process_time() - start)
    return statistics.median(spent[1:])


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEMO, metavar="DIR")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("-m", "--metrics", nargs="+", default=[metric.name for metric in METRICS], metavar="METRIC")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    labels = {path.stem: path for path in sorted((options.folder / "refs").iterdir())}
    reference = read_lines(labels[options.reference or next(iter(labels))])
    systems = [read_lines(path).bytes for path in sorted((options.folder / "systems").iterdir())]
    print(f"| {options.folder.name} | together ({len(systems)}) | alone | stated |\n|---|---|---|---|")
    for name in options.metrics:
        figures = [
            seconds(name, [reference.bytes], outputs, options.rounds) / reference.segments / len(outputs) * 1e6
            for outputs in (systems, systems[:1])
        ]
        print(f"| {name} | {figures[0]:.1f} | {figures[1]:.1f} | {parse_metric(name).cost:.1f} |", flush=True)


if __name__ == "__main__":
    main()
