"""Cold: whole commands from start to exit, against the commands of sacreBLEU and the scripts in Perl.

    python -m benchmarks.cold [DIR ...] [--reference LABEL] [--rounds 5]

CPU seconds of the process, start-up included, and its peak of memory. The scripts in Perl take part where the machine
has them (benchmarks/peers/programs.py says where they are looked for).
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.alone import alone
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.timing import Finished, Pair, turns, whole_process
from benchmarks.peers import programs
from benchmarks.peers.sacre import printed_scores
from benchmarks.report.pairs import PairTable
from benchmarks.report.section import Chart, Line, Section

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

BIN = Path(sys.executable).parent
OURS = [sys.executable, "-m", "cli.main"]
THREE = ["bleu", "chrf", "ter"]
DIGITS = 12
"""Behind the point, in what sacreBLEU prints."""


@dataclass(frozen=True)
class Workload:
    """The same work by two commands; `theirs_scores` reads what the peer printed."""

    key: str
    name: str
    peer: str
    ours: list[str]
    theirs: list[str]
    systems: int
    tolerance: float
    """Absolute, by the digits that the peer prints."""
    theirs_scores: Callable[[str], list[float]]
    stdin: Path | None = None
    """Of the peer."""


def against_sacrebleu(campaign: Campaign) -> list[Workload]:
    """Its command, one system and all."""
    reference, systems = str(campaign.reference), [str(path) for path in campaign.systems]
    found = []
    for key, name, files, metrics, mine, theirs in (
        ("bleu", "BLEU", systems[:1], ["bleu"], [], []),
        ("chrf", "chrF", systems[:1], ["chrf"], [], []),
        ("ter", "TER", systems[:1], ["ter"], [], []),
        ("three", "the three + 1,000 replicates", systems[:1], THREE, ["--confidence", "1000"], ["--confidence"]),
        ("paired", "the three + 1,000 paired replicates", systems, THREE, ["--paired", "bootstrap"], ["--paired-bs"]),
    ):
        shape = ["-f", "json" if len(files) == 1 else "text", "-w", str(DIGITS)]
        found.append(
            Workload(
                key, name, "sacreBLEU",
                [*OURS, "score", reference, "-i", *files, "-m", *metrics, *mine, "-f", "json"],
                [str(BIN / "sacrebleu"), reference, "-i", *files, "-m", *metrics, *theirs, *shape],
                len(files), 2 * 10.0**-DIGITS, printed_scores,
            )
        )  # fmt: skip
    return found


def against_perl(campaign: Campaign, folder: Path, table: PairTable) -> list[Workload]:
    """Those of the scripts that are there; the table names the others."""
    found = []
    system, scripts = campaign.systems[0], {name: programs.find(name) for name in ("multi-bleu", "mteval-v13a")}
    table.left_out |= {name: script.missing for name, script in scripts.items() if script.missing}
    if path := scripts["multi-bleu"].path:
        reference, output = (programs.write_words(file, folder) for file in (campaign.reference, system))
        ours = [*OURS, "score", str(reference), "-i", str(output), "-m", "bleu:tok=none", "-f", "json"]
        theirs = ["perl", path, str(reference)]
        name = "BLEU of words apart"
        read = programs.multi_bleu_score
        found.append(Workload("multi-bleu", name, "multi-bleu.perl", ours, theirs, 1, 0.005, read, output))
    if path := scripts["mteval-v13a"].path:
        ours = [*OURS, "score", str(campaign.reference), "-i", str(system), "-m", "bleu", "nist", "-f", "json"]
        theirs = ["perl", path, "-c", *programs.write_sgml(campaign, system, folder)]
        read = programs.mteval_scores
        found.append(Workload("mteval", "BLEU + NIST", "mteval-v13a.pl", ours, theirs, 1, 0.0051, read))
    return found


def compare(table: PairTable, work: Workload, rounds: int) -> tuple[float, float]:
    """Run both in turn and add the row; the peaks of memory in MiB."""
    pair, peaks = Pair(), {True: 0.0, False: 0.0}
    mine = whole_process(work.ours)
    for turn in turns(rounds):
        for is_ours in (True, False)[:: 1 if turn % 2 else -1]:
            run = whole_process(work.ours) if is_ours else whole_process(work.theirs, work.stdin)
            (pair.ours if is_ours else pair.theirs).append(run.cpu)
            peaks[is_ours] = max(peaks[is_ours], run.peak)
            if not is_ours:
                check(work, mine, work.theirs_scores(run.output))
    equal = f"{work.tolerance:.0e}".replace("e-0", "e-")
    memory = [f"{peaks[side]:.0f}" for side in (True, False)]
    table.add(work.key, work.name, work.peer, pair, systems=work.systems, equal=equal, more=memory)
    table.put(f"{work.key}.peak", peaks[True])
    table.put(f"{work.key}.peer_peak", peaks[False])
    return peaks[True], peaks[False]


def check(work: Workload, mine: Finished, theirs: list[float]) -> None:
    """A ratio only counts because scores are equal."""
    ours = [score["score"] for system in json.loads(mine.output)["systems"] for score in system["scores"]]
    for a, b in zip(ours, theirs, strict=True):
        assert abs(a - b) <= work.tolerance, f"{work.name}: {a} is not the {b} of {work.peer}"


def section(options: argparse.Namespace) -> Section:
    """A table of the first campaign, with charts of time and memory."""
    campaign = campaigns(options)[0]
    table = PairTable("cold", campaign, first=True)
    table.more_columns = ["ours, MiB", "peer, MiB"]
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for work in [*against_sacrebleu(campaign), *against_perl(campaign, Path(folder), table)]:
            rounds = 1 if options.quick else options.rounds
            peaks.append((f"{work.name}, {work.systems}", compare(table, work, rounds)))
    names = [name for name, _ in peaks]
    lines = [Line(who, names, [of_both[side] for _, of_both in peaks]) for side, who in enumerate(("ours", "peer"))]
    memory = Chart("beside", "cold-memory", "Peak memory of whole commands", ["MiB"], lines)
    start = min(whole_process([*OURS, "--help"]).cpu for _ in range(1 if options.quick else options.rounds))
    text = f"`steelyard --help` takes {start:.3f} s of CPU."
    return Section("cold", [*table.parts("Cold: ratio to peers"), text, memory], table.figures | {"help": start})


if __name__ == "__main__":
    alone(__doc__, section)
