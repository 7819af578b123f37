"""Warm: from text files to scores inside a long-lived process, against what users pick beside ours.

    python -m benchmarks.warm [DIR ...] [--reference LABEL] [--rounds 5] [--only WORD]

Both sides start from the same bytes and are run in turn, one core each. Scores are compared; a ratio only counts
because they are equal.
"""

from __future__ import annotations

import os
import tempfile
import time
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.harness.alone import alone
from benchmarks.harness.campaign import Campaign, campaigns
from benchmarks.harness.timing import Pair, in_turn, turns, whole_process
from benchmarks.peers import libraries as peers
from benchmarks.peers import programs
from benchmarks.peers.sacre import sacrebleu
from benchmarks.report.pairs import PairTable
from benchmarks.report.section import Section
from benchmarks.together import trained
from steelyard import BLEUModif
from steelyard.formats.plain import read_lines
from steelyard.metrics.embeddings.vectors import open_vectors
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.paired import paired_bootstrap, paired_randomization

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

SEEDS = count(1)
THREE = "BLEU + chrF + TER"
METEOR = "meteor:modules=exact:params=orig:tok=none"
"""As NLTK has it."""
METEOR_TOLERANCE = 0.2
"""Points by which METEOR 1.5 may differ (docs/reference/metrics/meteor.md says why)."""


def ours(reference: Path, systems: list[Path], names: list[str], replicates: int = 0, trials: int = 0) -> list[float]:
    """Scores by metric, then by system."""
    texts = [read_lines(path).bytes for path in [reference, *systems]]
    metrics = [parse_metric(name) for name in names]
    # What is drawn may be kept for the next time, so each time something else is.
    seed = next(SEEDS)
    measurements = score_systems(
        Segments(references=texts[:1], hypotheses=texts[1:]),
        metrics,
        replicates=replicates,
        seed=seed,
        keep_statistics=trials > 0,
    )
    if trials:
        paired_randomization(measurements, trials=trials, seed=seed)
    elif replicates and len(systems) > 1:
        paired_bootstrap(measurements)
    return [score for measurement in measurements for score in measurement.scores.tolist()]


def our_segments(reference: Path, systems: list[Path]) -> list[float]:
    """Meteor of each segment of each system, 0 to 1."""
    texts = [read_lines(path).bytes for path in [reference, *systems]]
    scores = score_systems(
        Segments(references=texts[:1], hypotheses=texts[1:]), [parse_metric(METEOR)], segment_scores=True
    )[0].segment_scores
    assert scores is not None
    return (scores / 100).ravel().tolist()


def against_sacrebleu(campaign: Campaign, row: Row) -> None:
    """BLEU, chrF, chrF++ and TER, alone and together, with replicates."""
    three = ["bleu", "chrf", "ter"]
    every, one = campaign.systems, campaign.systems[:1]
    for key, name, metrics, systems, replicates, trials in (
        ("bleu", "BLEU", ["bleu"], every, 0, 0),
        ("chrf", "chrF", ["chrf"], every, 0, 0),
        ("chrf++", "chrF++", ["chrf++"], every, 0, 0),
        ("ter", "TER", ["ter"], every, 0, 0),
        ("three", THREE, three, every, 0, 0),
        ("paired", f"{THREE} + 1,000 paired replicates", three, every, 1000, 0),
        ("replicates-one", f"{THREE} + 1,000 replicates", three, one, 1000, 0),
        ("trials", f"{THREE} + 10,000 trials against the first", three, every, 0, 10_000),
    ):
        given = (campaign.reference, systems, metrics, replicates, trials)
        if trials and row.table.later:
            # A minute for a campaign is enough.
            continue
        row(key, name, "sacreBLEU", partial(ours, *given), partial(sacrebleu, *given), 1e-9, len(systems))


def against_loops(campaign: Campaign, row: Row) -> None:
    """NIST, Meteor, WER and PER."""
    for suffix, systems in (("-one", campaign.systems[:1]), ("", campaign.systems)):
        given, number = (campaign.reference, systems), len(systems)
        nist = partial(ours, *given, ["nist"])
        row(f"nist{suffix}", "NIST", "NLTK", nist, partial(peers.nltk_nist, *given), 1e-8, number)
        rates = partial(ours, *given, ["wer:tok=none", "per:tok=none"])
        name = "WER + PER (peer: WER)"
        row(f"wer{suffix}", name, "rapidfuzz", rates, partial(peers.rapidfuzz_wer, *given), 1e-12, number)
        row(f"wer-jiwer{suffix}", name, "jiwer", rates, partial(peers.jiwer_wer, *given), 1e-12, number)
        alike = peers.unrepeated(*given)
        name = f"Meteor exact ({sum(alike):,} of {len(alike):,} segments alike)"
        meteor = partial(our_segments, *given)
        row(f"meteor{suffix}", name, "NLTK", meteor, partial(peers.nltk_meteor, *given), 1e-9, number, alike)


def against_meteor(campaign: Campaign, row: Row) -> None:
    """Meteor's exact module of one system against METEOR 1.5: its process, less one that scores a single segment."""
    name, one = "METEOR 1.5", campaign.systems[0]
    program = programs.find(name)
    if program.missing:
        row.table.left_out[name] = program.missing
    if program.missing or not row.wanted("Meteor exact", name):
        return
    pair, mine = Pair(), partial(ours, campaign.reference, [one], [METEOR])
    with tempfile.TemporaryDirectory() as folder:
        short = [Path(folder) / side for side in ("reference", "system")]
        for file, whole in zip(short, (campaign.reference, one), strict=True):
            file.write_bytes(whole.read_bytes().partition(b"\n")[0] + b"\n")
        for _ in turns(row.rounds):
            began = time.process_time()
            for _ in range(row.repeat):
                (found,) = mine()
            pair.ours.append((time.process_time() - began) / row.repeat)
            whole, start = (
                whole_process(programs.meteor_command(program.path, *files))
                for files in ((campaign.reference, one), short)
            )
            pair.theirs.append(whole.cpu - start.cpu)
    # It forgives the penalty in perfect segments, and looks for the fewest chunks by a beam.
    assert abs(found - programs.meteor_score(whole.output)) <= METEOR_TOLERANCE, (found, whole.output)
    row.table.add("meteor-program", "Meteor exact", name, pair, systems=1, equal=f"{METEOR_TOLERANCE} of 100")


def against_gensim(campaign: Campaign, row: Row, segments: int = 20) -> None:
    """BLEU_modif of one system, some segments spread over the text: gensim takes minutes for all."""
    from gensim.models import KeyedVectors

    texts = [path.read_bytes().split(b"\n") for path in (campaign.reference, campaign.systems[0])]
    step = max(1, len(texts[0]) // segments)
    reference, system = (b"\n".join(each[::step][:segments]) for each in texts)
    with tempfile.TemporaryDirectory() as folder:
        resources = Resources(files={"own": trained(campaign, Path(folder))})
        vectors = open_vectors(resources.files["own"])
        keyed = KeyedVectors(vectors.values.shape[1])
        keyed.add_vectors(vectors.vocabulary.tobytes().decode().split("\n")[:-1], vectors.values[vectors.places])
        metric = BLEUModif(vectors="own", gamma=0.0)

        def sums() -> list[float]:
            found = metric.segment_statistics(
                Segments(references=[reference], hypotheses=[system], resources=resources)
            ).sum(axis=1)
            return [float(each) for each in found[0, 2:6]]

        words = [tokens(text, metric.tok, metric.case) for text in (reference, system)]
        theirs = partial(peers.gensim_sums, keyed, *words)
        row(
            "bleu_modif",
            f"BLEU_modif, {len(words[0])} segments",
            "gensim",
            sums,
            theirs,
            1e-5,
            1,
            segments=len(words[0]),
        )


def tokens(text: bytes, tokenizer: str, case: str) -> list[list[str]]:
    """The words of each line."""
    words = Segments(references=[text], hypotheses=[]).words(tokenizer, case)
    types = words.lines.decode().split("\n")
    starts = words.starts.tolist()
    return [[types[word] for word in words.ids[begin:end].tolist()] for begin, end in pairwise(starts)]


class Row:
    """Times two ways to do the same, compares what they found and adds a row to the table."""

    def __init__(self, table: PairTable, options: argparse.Namespace) -> None:
        self.table = table
        self.rounds = 1 if options.quick else options.rounds
        self.repeat = 1 if options.quick else 10
        self.only = getattr(options, "only", "").lower()
        self.installed = peers.imported()

    def wanted(self, workload: str, peer: str) -> bool:
        """Whether the command line asks for it."""
        return self.only in f"{workload} {peer}".lower()

    def __call__(
        self,
        key: str,
        workload: str,
        peer: str,
        mine: Callable[[], list[float]],
        theirs: Callable[[], list[float]],
        tolerance: float,
        systems: int,
        alike: list[bool] | None = None,
        segments: int = 0,
    ) -> None:
        """`alike` says which figures must be equal, if not all; `tolerance` is relative."""
        if not self.wanted(workload, peer):
            return
        if peer not in self.installed:
            self.table.left_out[peer] = "it is not installed"
            return
        pair, found, expected = in_turn(mine, theirs, self.rounds, self.repeat)
        for position, (a, b) in enumerate(zip(found, expected, strict=False)):
            if alike is None or alike[position]:
                assert abs(a - b) <= tolerance * max(abs(b), 1e-3), f"{workload}: {a} is not the {b} of {peer}"
        self.table.add(key, workload, peer, pair, systems=systems, equal=shown_tolerance(tolerance), segments=segments)


def shown_tolerance(relative: float) -> str:
    """As 1e-9."""
    return f"{relative:.0e}".replace("e-0", "e-")


def section(options: argparse.Namespace) -> Section:
    """A table and a chart for each campaign."""
    parts, figures = [], {}
    for number, campaign in enumerate(campaigns(options)):
        table = PairTable("warm", campaign, first=number == 0)
        row = Row(table, options)
        against_sacrebleu(campaign, row)
        against_loops(campaign, row)
        against_meteor(campaign, row)
        if row.only in "bleu_modif gensim" and "gensim" in row.installed:
            against_gensim(campaign, row, segments=4 if options.quick else 20)
        parts += table.parts(f"Warm, {campaign.name}: ratio to peers")
        figures |= table.figures
    return Section("warm", parts, figures)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of this benchmark alone."""
    parser.add_argument("--only", default="", help="a word in the name of the workload or of the peer")


if __name__ == "__main__":
    alone(__doc__, section, add_options)
