"""One call of every kernel with arguments that it takes, for tests that spoil them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard.kernels import bindings
from steelyard.kernels.characters.lowercase import lowercased
from steelyard.kernels.characters.nfc import is_nfc
from steelyard.kernels.characters.utf8 import validate_utf8
from steelyard.kernels.numerics.elementary import of_each, power_of_each
from steelyard.kernels.ranking.exchanged_calibration import bits_of_trials, exchanged_calibration
from steelyard.kernels.ranking.exchanged_wins import bits_of_segments, exchanged_half_wins, exchanged_sums
from steelyard.kernels.ranking.kendall import tau_b
from steelyard.kernels.ranking.pairs import LANES, Steps, calibrate_drawn, pair_kinds
from steelyard.kernels.ranking.rank_sums import rank_sums
from steelyard.kernels.resampling.bootstrap_pairs import bootstrap_pairs
from steelyard.kernels.text.tokenize_13a import tokenize_13a
from steelyard.kernels.text.vocabulary import find_words
from steelyard.metrics.registry import all_metrics, parse_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import replicate_sums

REFERENCES = [b"the cat sat on the mat\na b &amp; c d\nx y", b"The cat's mat\na b c\ny x"]
SYSTEMS = [b"a cat sat on mats\na b d c\nx", b"the mat sat\nb a\nx y z", b"one\n\nx y"]
NAMES = [
    "bleu:tok=intl",
    "chrf++:case=lc",
    "ter",
    "wer",
    "per",
    "gtm",
    "tbleu",
    "lebleu",
    "character",
    "nist",
    "chrf:eff=no",
]
NAMES += ["bleu", "meteor:modules=exact:lemmas=none", "bleu_modif:vectors=toy"]


def everything_called(folder: Path) -> dict[str, tuple[Any, ...]]:
    """By the name of the kernel what it was given, as it was before the call."""
    calls: dict[str, tuple[Any, ...]] = {}
    plain = bindings.Kernel.__call__

    def remembering(function: bindings.Kernel, *given: Any) -> int:
        copies = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in given)
        # Those with the most arrays say the most: some may be None.
        filled = [
            sum(isinstance(each, np.ndarray) and each.size > 0 for each in of)
            for of in (copies, calls.get(function.name, ()))
        ]
        if function.name not in calls or filled[0] > filled[1]:
            calls[function.name] = copies
        return plain(function, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bindings.Kernel, "__call__", remembering)
        call_metrics(folder)
        call_others()
    return calls


def arrays(given: tuple[Any, ...]) -> int:
    """How many arrays there are, empty ones aside."""
    return sum(isinstance(each, np.ndarray) and each.size > 0 for each in given)


def call_metrics(folder: Path) -> None:
    """Through the metrics."""
    words = sorted({word for text in (*REFERENCES, *SYSTEMS) for word in text.decode().split()})
    files = {}
    for metric in all_metrics():
        files |= metric.example_resources(folder, words)
    resources = Resources(files=files)
    resolved, _ = resolve(parse_metrics(NAMES), RunContext("en", frozenset(), resources))
    score_systems(
        Segments(references=REFERENCES, hypotheses=SYSTEMS),
        resolved,
        replicates=3,
        segment_scores=True,
        resources=resources,
    )
    long = [b"\n".join(text.split(b"\n") * 100) for text in (*REFERENCES, *SYSTEMS)]
    score_systems(Segments(references=long[:2], hypotheses=long[2:]), parse_metrics(["nist", "bleu"]), shard_size=1)


def call_others() -> None:
    """Kernels that no metric of the list needs."""
    from steelyard.kernels.alignment.gtm import taken_runs
    from steelyard.metrics.segments import Segments

    segments = Segments(references=REFERENCES, hypotheses=SYSTEMS)
    taken_runs(segments.words("none", "mixed"), segments.reference_mask, len(SYSTEMS))
    lowercased("ÄB".encode())
    is_nfc(b"ab")
    validate_utf8(b"ab")
    tokenize_13a(b"a.b")
    for name in ("exp", "log", "log2"):
        of_each(name, np.ones(3))
    power_of_each(np.ones(3), 2.0)
    ranks = np.arange(4, dtype=np.int32)
    tau_b(ranks, ranks[::-1])
    scores = np.arange(12.0).reshape(4, 3)
    pair_kinds(scores, scores[::-1])
    rank_sums(scores, scores[::-1])
    bootstrap_pairs(np.arange(4.0), scores**2, np.array([[0, 1], [2, 3]]))
    swapped = np.ones((4, 3, 16), np.bool_)
    moved = exchanged_sums(np.stack([scores, scores]), swapped, bits_of_segments(np.eye(2, 3, dtype=np.uint8)))
    counts, one_pair = np.zeros((2, 1, 2, 16), np.int32), np.array([[0, 1]])
    exchanged_half_wins(moved[..., 0].copy(), moved, one_pair, np.array([0, 1]), np.array([2, 3]), counts)
    exchanged_calibration(
        scores, scores, scores[::-1], np.ones(3, np.int64), bits_of_trials(np.moveaxis(swapped, -1, 0))
    )
    find_words(b"b\nc\n", 2, np.frombuffer(b"a\nb\n", np.uint8), np.array([0, 2, 4]))
    replicate_sums(np.full((3, 70), 9, np.uint8), np.tile([[1.0, 2.0, 3.0]], (70, 1)))
    marks = np.zeros(3, np.uint8)
    steps = Steps(np.zeros(3), np.zeros(3, np.int32), marks, marks)
    worth, lanes = np.ones((2, LANES), np.int64), np.zeros((3, LANES), np.int64)
    calibrate_drawn(steps, worth, 0, lanes[0], lanes[1], lanes[2])
