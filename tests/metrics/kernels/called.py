"""One call of every kernel with arguments that it takes, for tests that spoil them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics import METRICS
from metrics.kernels import bindings
from metrics.kernels.composed import is_composed
from metrics.kernels.elementary import of_each, power_of_each
from metrics.kernels.kendall import tau_b
from metrics.kernels.lowered import lowered
from metrics.kernels.pairs import LANES, Steps, calibrate_drawn, calibrate_exchanged, pair_kinds
from metrics.kernels.rank_sums import rank_sums
from metrics.kernels.utf8 import look
from metrics.kernels.vocabulary import find_words
from metrics.kernels.word_index import WordIndex
from metrics.measure import measure
from metrics.registry import parse_metrics
from metrics.resampling.bootstrap import replicate_sums
from metrics.resources import Resources
from metrics.segments import Segments
from metrics.surroundings import Surroundings, settle

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
    for metric in METRICS:
        files |= metric.example_resources(folder, words)
    resources = Resources(files=files)
    settled, _ = settle(parse_metrics(NAMES), Surroundings("en", frozenset(), resources))
    measure(
        Segments(references=REFERENCES, hypotheses=SYSTEMS),
        settled,
        replicates=3,
        segment_scores=True,
        resources=resources,
    )
    long = [b"\n".join(text.split(b"\n") * 100) for text in (*REFERENCES, *SYSTEMS)]
    measure(Segments(references=long[:2], hypotheses=long[2:]), parse_metrics(["nist", "bleu"]), shard_size=1)


def call_others() -> None:
    """Kernels that no metric of the list needs."""
    from metrics.batch import Batch
    from metrics.kernels.gtm import taken_runs

    batch = Batch(Segments(references=REFERENCES, hypotheses=SYSTEMS))
    taken_runs(batch.words("none", "mixed"), batch.present, len(SYSTEMS))
    lowered("ÄB".encode())
    is_composed(b"ab")
    look(b"ab")
    for name in ("exp", "log", "log2"):
        of_each(name, np.ones(3))
    power_of_each(np.ones(3), 2.0)
    ranks = np.arange(4, dtype=np.int32)
    tau_b(ranks, ranks[::-1])
    scores = np.arange(12.0).reshape(4, 3)
    pair_kinds(scores, scores[::-1])
    rank_sums(scores, scores[::-1])
    index = WordIndex(b"a\nb\n")
    index.places(b"b\nc\n")
    find_words(b"b\nc\n", 2, np.frombuffer(b"a\nb\n", np.uint8), np.array([0, 2, 4]))
    replicate_sums(np.full((3, 70), 9, np.uint8), np.tile([[1.0, 2.0, 3.0]], (70, 1)))
    ones, marks = np.zeros(3, np.int32), np.zeros(3, np.uint8)
    steps = Steps(np.zeros(3), ones, ones, marks, marks, marks, marks)
    worth, lanes = np.ones((2, LANES), np.int64), np.zeros((4, LANES), np.int64)
    calibrate_drawn(steps, 2, worth, 0, lanes[0], lanes[1], lanes[2])
    calibrate_exchanged(steps, np.ones(4, np.int64), np.zeros(4, np.uint64), lanes[:2], lanes[2:])
