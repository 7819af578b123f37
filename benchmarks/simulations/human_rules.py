"""How often rules for human rankings say that one of two systems is better where neither is.

    python -m benchmarks.simulations.human_rules JUDGMENTS DOCUMENTS [--samples 5]

JUDGMENTS is a file that `steelyard rank --by human` reads, DOCUMENTS the list of its documents' domains. For every pair
of its systems, the judgments of the two are exchanged at random, so that neither is better: "by segment" at each
segment for itself, as all of these tests suppose, "by document" for all segments of a document together. "Opposite
domains" exchanges them by segment, too, and then gives one of the systems POINTS more in half of the domains, and as
many fewer in the others.
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from steelyard.meta_evaluation.human.assessment_formats.domains import read_domains
from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles
from steelyard.meta_evaluation.human.assessments import assessed_pairs
from steelyard.ranking.human_boards import parse_human_rule
from steelyard.ranking.human_rules import Trials, rank_by_humans

RULES = ("human", "human:wmt24", "human:wmt24:average=micro", "human:wmt25")
CASES = ("by segment", "by document", "opposite domains")
POINTS = 10.0


def main() -> None:
    """Print a table for each language pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgments")
    parser.add_argument("documents")
    parser.add_argument("--samples", type=int, default=5)
    options = parser.parse_args()
    files = AssessmentFiles()
    files.read([options.judgments])
    for judged in assessed_pairs(files.assessments, read_domains([options.documents], [""])):
        pairs = list(combinations(range(len(judged.systems)), 2))
        print(f"\n{judged.pair}: {len(pairs)} pairs of systems, {options.samples} samples of each\n")
        print(f"| rule | {' | '.join(CASES)} |")
        print(f"|---|{'---|' * len(CASES)}")
        random = np.random.default_rng(1)
        found = dict.fromkeys(((rule, case) for rule in RULES for case in CASES), 0)
        for first, second in pairs * options.samples:
            for case in CASES:
                scores = exchanged(judged, [first, second], case, random)
                for rule in RULES:
                    found[rule, case] += differ(judged, scores, rule)
        tests = len(pairs) * options.samples
        for rule in RULES:
            print(f"| `{rule}` | {' | '.join(f'{found[rule, case] / tests:.1%}' for case in CASES)} |", flush=True)


def exchanged(judged, systems, case: str, random):  # noqa: ANN001, ANN201
    """(2, 2, places): the judgments of two systems of which neither is better, and the same less the annotators."""
    # The annotators go with what they gave: their effects are the same whoever got it.
    scores, domains = np.stack([judged.scores[systems], judged.adjusted[systems]], axis=1), judged.domains
    groups = judged.documents if case == "by document" else range(scores.shape[2])
    chance = {group: random.random() < 0.5 for group in dict.fromkeys(groups)}
    swapped = np.array([chance[group] for group in groups])
    found = np.where(swapped, scores[::-1], scores)
    if case == "opposite domains":
        names = sorted(set(domains))
        for number, name in enumerate(names[: len(names) // 2 * 2]):
            found[0][:, np.array(domains) == name] += POINTS if number % 2 else -POINTS
    return found


def differ(judged, scores, specification: str) -> bool:  # noqa: ANN001
    """Whether one of the two wins."""
    rule = parse_human_rule(specification, Trials(trials=1000))
    found = rank_by_humans(
        scores[:, 0], judged.domains, rule=rule.name, average=rule.average, documents=judged.documents,
        adjusted=scores[:, 1], trials=rule.trials,
    )  # fmt: skip
    return any(each.wins for each in found.ranks)


if __name__ == "__main__":
    main()
