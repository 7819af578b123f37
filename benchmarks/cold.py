"""Cold: whole commands from start to exit, against the sacreBLEU command.

    python -m benchmarks.cold [DIR ...] [--reference LABEL] [--rounds 5]

DIR is a campaign folder (source.txt, refs/, systems/); without one, the demo campaign of the project.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.campaign import Campaign, arguments, campaigns
from benchmarks.timing import HEADER, Pair, whole_process

BIN = Path(sys.executable).parent


def report(campaign: Campaign, rounds: int) -> None:
    """Print the Markdown table, then the peaks of memory."""
    reference, systems = str(campaign.reference), [str(path) for path in campaign.systems]
    one = systems[:1]
    workloads = [
        ("BLEU", one, ["bleu"], [], []),
        ("chrF", one, ["chrf"], [], []),
        ("TER", one, ["ter"], [], []),
        ("three + 1,000 replicates", one, ["bleu", "chrf", "ter"], ["--confidence", "1000"], ["--confidence"]),
        ("three + 1,000 paired", systems, ["bleu", "chrf", "ter"], ["--paired", "bootstrap"],
         ["--paired-bs", "--paired-bs-n", "1000", "-f", "text"]),
    ]  # fmt: skip
    print(f"\n{campaign.title}\n\n{HEADER}")
    peaks = []
    for name, files, metrics, our_options, their_options in workloads:
        mine = [str(BIN / "steelyard"), "score", reference, "-i", *files, "-m", *metrics, *our_options]
        other = [str(BIN / "sacrebleu"), reference, "-i", *files, "-m", *metrics, *their_options]
        pair = Pair()
        whole_process(mine)
        for turn in range(rounds if len(files) == 1 else 1):
            for command, times in ((mine, pair.ours), (other, pair.theirs))[:: 1 if turn % 2 else -1]:
                seconds, memory = whole_process(command)
                times.append(seconds)
                peaks.append((name, command is mine, memory))
        print(pair.row(f"{name}, {len(files)} system(s)", "sacreBLEU"), flush=True)
    for name, is_ours, memory in {(n, o): (n, o, m) for n, o, m in peaks}.values():
        print(f"peak memory, {name}, {'ours' if is_ours else 'sacreBLEU'}: {memory:.0f} MiB")


def main() -> None:
    """Print a Markdown table for each campaign."""
    options = arguments(__doc__).parse_args()
    for campaign in campaigns(options):
        report(campaign, options.rounds)
    helps, _ = whole_process([str(BIN / "steelyard"), "--help"])
    print(f"steelyard --help: {helps:.3f} CPU s")


if __name__ == "__main__":
    main()
