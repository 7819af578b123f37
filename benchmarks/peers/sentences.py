"""What one sentence costs, beside sacreBLEU: the loops that researchers write.

   python -m benchmarks.peers.sentences [DIR] [--rounds 5]

DIR is a campaign folder. Each turn scores 100 other sentences, so that nobody's cache of tokenized lines helps.
"""

from __future__ import annotations

import logging
import math
from statistics import median
from time import process_time
from typing import Any

import sacrebleu.metrics

import steelyard
from benchmarks.harness.campaign import arguments, campaigns

AT_ONCE = 100
KINDS = (
    ("BLEU", {"effective_order": True}),
    ("BLEU", {"effective_order": True, "tokenize": "intl"}),
    ("BLEU", {"effective_order": True, "lowercase": True}),
    ("CHRF", {}),
    ("CHRF", {"word_order": 2}),
    ("TER", {}),
)


def main() -> None:
    """Print a table of microseconds of CPU."""
    options = arguments(__doc__).parse_args()
    logging.disable()
    campaign = campaigns(options)[0]
    reference, output = (text.decode().split("\n") for text in campaign.texts()[:2])
    pairs = list(zip(output, reference, strict=True))
    print(f"sentences of {campaign.title}, microseconds of CPU each, median of {options.rounds} turns")
    for name, parameters in KINDS:
        ours, theirs = (getattr(module, name)(**parameters) for module in (steelyard, sacrebleu.metrics))
        took: tuple[list[float], list[float]] = ([], [])
        for turn in range(options.rounds):
            some = [pairs[(turn * AT_ONCE + place) % len(pairs)] for place in range(AT_ONCE)]
            found = [_scores(metric, some, seconds) for metric, seconds in zip((ours, theirs), took, strict=True)]
            assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(*found, strict=True))
        mine, others = (1e6 * median(each) / AT_ONCE for each in took)
        ratio = median(other / own for own, other in zip(*took, strict=True))
        shown = " ".join(f"{key}={value}" for key, value in parameters.items())
        print(f"{name:5}{shown:38}{mine:8.0f}{others:8.0f}   {ratio:.1f}×")


def _scores(metric: Any, pairs: list[tuple[str, str]], seconds: list[float]) -> list[float]:
    begin = process_time()
    found = [metric.sentence_score(hypothesis, [reference]).score for hypothesis, reference in pairs]
    seconds.append(process_time() - begin)
    return found


if __name__ == "__main__":
    main()
