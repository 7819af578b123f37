"""SemPOS once more, straight from its definition and with exact fractions: for comparison."""

from collections import Counter
from fractions import Fraction

from steelyard.metrics.alignment.sempos import TYPES

COLUMNS = [*TYPES, "other"]


def bags(line, fold=True):
    """For each column the words of one segment, counted: a word is t-lemma and type."""
    found = {column: Counter() for column in COLUMNS}
    for item in line.split(" ") if line else []:
        item = item.lower() if fold else item
        slash = item.rindex("/")
        t_lemma, sempos = item[:slash], item[slash + 1 :]
        if sempos not in ("", "-", "???"):
            found[sempos if sempos in TYPES else "other"][t_lemma, sempos] += 1
    return found


def row(hypothesis, references, fold=True):
    """Statistics of one segment: the clipped counts by column, then those of the reference."""
    output, others = bags(hypothesis, fold), [bags(reference, fold) for reference in references]
    clips, totals = [], []
    for column in COLUMNS:
        pairs = [
            (sum(min(count, output[column][word]) for word, count in bag[column].items()), bag[column].total())
            for bag in others
            if bag[column]
        ]
        # max() takes the first of the best.
        clip, total = max(pairs, key=lambda pair: Fraction(*pair), default=(0, 0))
        clips.append(clip)
        totals.append(total)
    return clips + totals


def score(sums, variant):
    pairs = list(zip(map(int, sums[: len(sums) // 2]), map(int, sums[len(sums) // 2 :]), strict=True))
    ratios = [Fraction(clip, total) for clip, total in pairs if total]
    if variant == "thesis-19":
        return 100 * sum((Fraction(clip, total) for clip, total in pairs[:19] if total), Fraction(0)) / 19
    if not ratios:
        return Fraction(100)
    if variant == "cap-micro":
        return 100 * Fraction(sum(clip for clip, _ in pairs), sum(total for _, total in pairs))
    return 100 * sum(ratios) / len(ratios)
