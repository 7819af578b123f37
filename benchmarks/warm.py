"""Warm: from text files to scores inside a long-lived process, against sacreBLEU's own classes.

    python -m benchmarks.warm [DIR ...] [--reference LABEL] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project. Scores are
compared; a ratio only counts where they are equal to 1e-9.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.timing import HEADER, in_turn
from metrics.measure import measure
from metrics.registry import parse_metric
from metrics.resampling.paired import paired_bootstrap
from metrics.text.plain import read_lines

DEMO = Path(__file__).parents[1] / "demo"


def ours(references: list[Path], systems: list[Path], names: list[str], replicates: int = 0) -> list[list[float]]:
    """Scores by metric and system."""
    texts = [read_lines(path).bytes for path in [*references, *systems]]
    metrics = [parse_metric(name) for name in names]
    split = len(references)
    measurements = measure(texts[:split], texts[split:], metrics, replicates=replicates)
    if replicates and len(systems) > 1:
        paired_bootstrap(measurements)
    return [measurement.scores.tolist() for measurement in measurements]


def sacrebleu(references: list[Path], systems: list[Path], names: list[str], replicates: int = 0) -> list[list[float]]:
    """The same by sacreBLEU: references prepared once for all systems, as its own command does."""
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    def read(path: Path) -> list[str]:
        return path.read_bytes().decode().removesuffix("\n").split("\n")

    known: dict[str, Any] = {
        "bleu": BLEU,
        "chrf": CHRF,
        "chrf++": lambda **kw: CHRF(word_order=2, **kw),
        "ter": TER,
    }
    texts = [read(path) for path in references]
    metrics = {name: known[name](references=texts) for name in names}
    outputs = [read(path) for path in systems]
    if replicates and len(systems) > 1:
        named = [(str(i), output) for i, output in enumerate(outputs)]
        _, found = PairedTest(named, metrics, None, test_type="bs", n_samples=replicates)()
        return [[result.score for result in found[key]] for key in found if key != "System"]
    bootstrap = replicates or 1
    return [
        [metric.corpus_score(output, None, n_bootstrap=bootstrap).score for output in outputs]
        for metric in metrics.values()
    ]


def main() -> None:
    """Print a Markdown table for each campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="a workload whose name begins so")
    options = parser.parse_args()
    for folder in options.folders or [next(path for path in DEMO.iterdir() if path.is_dir())]:
        references = sorted((folder / "refs").iterdir())
        references = [path for path in references if path.stem == options.reference] or references[:1]
        systems = sorted((folder / "systems").iterdir())
        count = len(systems)
        workloads = [
            ("BLEU", ["bleu"], systems, 0),
            ("chrF", ["chrf"], systems, 0),
            ("chrF++", ["chrf++"], systems, 0),
            ("TER", ["ter"], systems, 0),
            ("three", ["bleu", "chrf", "ter"], systems, 0),
            ("three + 1,000 paired replicates", ["bleu", "chrf", "ter"], systems, 1000),
            ("one system, three + 1,000 replicates", ["bleu", "chrf", "ter"], systems[:1], 1000),
        ]
        print(
            f"\n{folder.name}: {read_lines(systems[0]).segments} segments, {count} systems, "
            f"reference {references[0].stem}\n"
        )
        print(HEADER)
        for name, metrics, outputs, replicates in workloads:
            if options.only and not name.startswith(options.only):
                continue
            arguments = (references, outputs, metrics, replicates)
            pair, mine, others = in_turn(
                lambda a=arguments: ours(*a), lambda a=arguments: sacrebleu(*a), options.rounds
            )
            for got, expected in zip(mine, others, strict=True):
                for a, b in zip(got, expected, strict=True):
                    assert abs(a - b) <= 1e-9 * abs(b), f"{name}: {a} is not sacreBLEU's {b}"
            print(pair.row(f"{name}, {len(outputs)} system(s)", "sacreBLEU"), flush=True)


if __name__ == "__main__":
    main()
