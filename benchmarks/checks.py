"""How long checking an output takes (docs/reference/checks.md), in a process that is alone or busy.

    python -m benchmarks.checks [DIR ...] [--segments 10000] [--busy 1]

DIR is a campaign folder (source.txt, refs/, systems/); the first system of each is looked at, beside a generated
campaign of so many segments. `--busy` processes that only count run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.harness.generated import write_campaign
from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.formats.plain import Text, read_lines

ROUNDS = 5


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--busy", type=int, default=1, help="processes that take a core each meanwhile")
    options = parser.parse_args()
    others = [multiprocessing.Process(target=_count, daemon=True) for _ in range(options.busy)]
    for other in others:
        other.start()
    print(f"{options.busy} busy process(es) beside it; seconds of wall clock (of a processor), medians of {ROUNDS}.\n")
    print("| campaign | segments | output | against the source | against source and references | findings |")
    print("|---|---|---|---|---|---|")
    with TemporaryDirectory() as folder:
        generated = write_campaign(Path(folder) / "generated", 1, options.segments)
        for campaign in (generated, *options.folders):
            _report(campaign)
    for other in others:
        other.terminate()


def _report(folder: Path) -> None:
    meta = folder / "meta.json"
    known = json.loads(meta.read_text(encoding="utf-8")) if meta.exists() else {}
    source = read_lines(folder / "source.txt")
    references = [read_lines(path).bytes for path in sorted((folder / "refs").glob("*.txt"))]
    output = read_lines(next(iter(sorted((folder / "systems").glob("*.txt")))))
    languages = known.get("source_language", "en"), known.get("target_language", "cs")
    standards = (
        CheckContext(source.segments, source.bytes, (), *languages),
        CheckContext(source.segments, source.bytes, references, *languages),
    )
    lines = output.lines()
    half = len(lines) // 2
    outputs = {
        "the first one that the process looks at": lines,
        "as it is": lines,
        "a line lost": [*lines[:half], *lines[half + 1 :], b"."],
        "shuffled": random.Random(1).sample(lines, len(lines)),
        "one line for all": [lines[0]] * len(lines),
    }
    for name, changed in outputs.items():
        text = Text(name, b"\n".join(changed), len(changed))
        times, findings = [], []
        for standard in standards:
            wall, processor = [], []
            for _ in range(1 if name.startswith("the first") else ROUNDS):
                begin, begin_processor = time.perf_counter(), time.process_time()
                findings = check_output(text, standard)
                wall.append(time.perf_counter() - begin)
                processor.append(time.process_time() - begin_processor)
            times.append(f"{median(wall):.2f} ({median(processor):.2f})")
        codes = ", ".join(each.code for each in findings) or "none"
        cells = (folder.name, f"{source.segments:,}", name, *times, codes)
        print(f"| {' | '.join(cells)} |", flush=True)


def _count() -> None:
    while True:
        pass


if __name__ == "__main__":
    sys.exit(main())
