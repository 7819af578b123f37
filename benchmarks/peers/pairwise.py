"""Utilities for minimum Bayes risk decoding: every candidate against every other, and a loop over sacreBLEU.

    python -m benchmarks.peers.pairwise [DIR] [--rounds 5]

DIR is a campaign folder. Candidates of a segment are the outputs of its systems and mixtures of them.
"""

from __future__ import annotations

import random

import numpy as np
import sacrebleu.metrics

import steelyard
from benchmarks.harness.campaign import arguments, campaigns
from benchmarks.harness.timing import in_turn

CANDIDATES = 64
KINDS = {"CHRF": {}, "BLEU": {"effective_order": True}, "TER": {}}


def candidates(outputs: list[str], count: int) -> list[str]:
    """Outputs of one segment, and mixtures of the words of two of them."""
    generator, found = random.Random(1), list(dict.fromkeys(outputs))
    while len(found) < count:
        one, other = (generator.choice(outputs).split() for _ in range(2))
        cut = generator.randrange(1 + min(len(one), len(other)))
        found.append(" ".join([*one[:cut], *other[cut:]]))
    return found[:count]


def main() -> None:
    """Print a table of milliseconds."""
    options = arguments(__doc__).parse_args()
    campaign = campaigns(options)[0]
    outputs = [text.decode().split("\n")[0] for text in campaign.texts()[1:]]
    texts = candidates(outputs, CANDIDATES)
    print(f"{CANDIDATES} × {CANDIDATES} candidates of {campaign.title}")
    for name, parameters in KINDS.items():
        ours, theirs = getattr(steelyard, name)(**parameters), getattr(sacrebleu.metrics, name)(**parameters)
        pair, mine, others = in_turn(
            lambda ours=ours: ours.pairwise(texts, texts),
            lambda theirs=theirs: [[theirs.sentence_score(a, [b]).score for b in texts] for a in texts],
            options.rounds,
        )
        assert np.allclose(mine, others, rtol=0, atol=1e-9)
        print(f"{name:5}{1000 * pair.least_ours:8.1f} ms{1000 * min(pair.theirs):10.0f} ms   {pair.ratio:.0f}×")


if __name__ == "__main__":
    main()
