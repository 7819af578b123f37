"""Cold: whole commands from start to exit, against the sacreBLEU command.

python -m benchmarks.cold DIR [--reference LABEL] [--rounds 5]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.timing import HEADER, Pair, whole_process

BIN = Path(sys.executable).parent


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--reference", help="label of the reference (default: the first)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    references = sorted((options.folder / "refs").iterdir())
    reference = str(next((path for path in references if path.stem == options.reference), references[0]))
    systems = [str(path) for path in sorted((options.folder / "systems").iterdir())]
    one = systems[:1]
    workloads = [
        ("BLEU", one, ["bleu"], [], []),
        ("chrF", one, ["chrf"], [], []),
        ("TER", one, ["ter"], [], []),
        ("three + 1,000 replicates", one, ["bleu", "chrf", "ter"], ["--confidence", "1000"], ["--confidence"]),
        ("three + 1,000 paired", systems, ["bleu", "chrf", "ter"], ["--paired", "bootstrap"],
         ["--paired-bs", "--paired-bs-n", "1000", "-f", "text"]),
    ]  # fmt: skip
    print(HEADER)
    peaks = []
    for name, files, metrics, our_options, their_options in workloads:
        mine = [str(BIN / "steelyard"), "score", reference, "-i", *files, "-m", *metrics, *our_options]
        other = [str(BIN / "sacrebleu"), reference, "-i", *files, "-m", *metrics, *their_options]
        pair = Pair()
        whole_process(mine)
        for turn in range(options.rounds if len(files) == 1 else 1):
            for command, times in ((mine, pair.ours), (other, pair.theirs))[:: 1 if turn % 2 else -1]:
                seconds, memory = whole_process(command)
                times.append(seconds)
                peaks.append((name, command is mine, memory))
        print(pair.row(f"{name}, {len(files)} system(s)", "sacreBLEU"), flush=True)
    for name, is_ours, memory in {(n, o): (n, o, m) for n, o, m in peaks}.values():
        print(f"peak memory, {name}, {'ours' if is_ours else 'sacreBLEU'}: {memory:.0f} MiB")
    helps, _ = whole_process([str(BIN / "steelyard"), "--help"])
    print(f"steelyard --help: {helps:.3f} CPU s")


if __name__ == "__main__":
    main()
