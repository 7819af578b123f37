"""Pairs of hypothesis and reference that come near the limits of TER's search.

The seeds in SEEDS were looked for: each kind holds pairs that tell a search with some limit one off, or another
choice among equal alignments, from the right one, and that sacreBLEU needs little time for.
"""

import random

Pair = tuple[list[int], list[int]]


def strange(count: int) -> list[int]:
    """Words that no reference has."""
    return list(range(1000, 1000 + count))


def common_runs(draw: random.Random) -> Pair:
    """No word twice, and some runs in common, anywhere."""
    reference, hypothesis = list(range(draw.randrange(40, 130))), strange(draw.randrange(30, 130))
    for _ in range(draw.randrange(1, 5)):
        length, start, target = draw.randrange(1, 40), draw.randrange(len(reference)), draw.randrange(len(hypothesis))
        run = reference[start : start + length][: len(hypothesis) - target]
        hypothesis[target : target + len(run)] = run
    return hypothesis, reference


def along_the_edge(draw: random.Random) -> Pair:
    """Words in common on the last columns of the beam, or on the first beyond."""
    reference, hypothesis = list(range(draw.randrange(40, 130))), strange(draw.randrange(30, 130))
    slope, side = len(reference) / len(hypothesis), draw.choice([-27, -26, -25, -24, 22, 23, 24, 25])
    for row in range(draw.randrange(len(hypothesis)), len(hypothesis)):
        column = int(row * slope) + side
        if 0 <= column < len(reference) and draw.random() < 0.9:
            hypothesis[row] = reference[column]
    return hypothesis, reference


def displaced(draw: random.Random) -> Pair:
    """One long run in common at some distance from the diagonal, with up to three words moved."""
    reference, hypothesis = list(range(draw.randrange(40, 130))), strange(draw.randrange(30, 130))
    offset = draw.randrange(-60, 60)
    for row in range(len(hypothesis)):
        if 0 <= row + offset < len(reference):
            hypothesis[row] = reference[row + offset]
    for _ in range(draw.randrange(4)):
        word = hypothesis.pop(draw.randrange(len(hypothesis)))
        hypothesis.insert(draw.randrange(len(hypothesis) + 1), word)
    return hypothesis, reference


def few_letters(draw: random.Random) -> Pair:
    """Two to four different words, in blocks that were moved: many shifts, many equal alignments."""
    types = draw.randrange(2, 5)
    reference = [draw.randrange(types) for _ in range(draw.randrange(14, 30))]
    hypothesis = list(reference)
    for _ in range(4):
        start, length = draw.randrange(len(hypothesis)), draw.randrange(1, 8)
        block = hypothesis[start : start + length]
        del hypothesis[start : start + length]
        target = draw.randrange(len(hypothesis) + 1)
        hypothesis[target:target] = block
    return hypothesis, reference


def few_words(draw: random.Random) -> Pair:
    """A reference more than 50 times as long, without repetitions: the beam grows with the ratio of lengths."""
    count = draw.randrange(2, 7)
    reference = list(range(draw.randrange(51, 60) * count))
    return draw.sample(reference, count), reference


def few_words_repeated(draw: random.Random) -> Pair:
    """The same, with repetitions."""
    count, types = draw.randrange(2, 9), draw.choice([8, 20, 40])
    reference = [draw.randrange(types) for _ in range(draw.randrange(51, 54) * count)]
    return [draw.choice(reference) for _ in range(count)], reference


def random_words(draw: random.Random) -> Pair:
    """Both long, little in common but for one run."""
    reference = [draw.randrange(400) for _ in range(draw.randrange(40, 100))]
    hypothesis = [draw.randrange(400) for _ in range(draw.randrange(40, 100))]
    start = draw.randrange(len(reference))
    hypothesis[: len(reference) - start] = reference[start : start + len(hypothesis)]
    return hypothesis, reference


SEEDS = {
    common_runs: [1, 2, 30, 45, 113, 123, 187, 230, 473, 1388],
    along_the_edge: [1, 5, 29, 48, 81, 144, 224, 512],
    displaced: [29, 37, 120, 625, 1149, 1817],
    few_letters: [4, 289, 431, 649, 1244],
    few_words: [61, 85, 126, 1239, 1421, 2297],
    few_words_repeated: [51, 149, 172, 183, 1289, 2671],
    random_words: [55, 71, 289, 2602, 2686],
}


def pair(kind, seed: int) -> Pair:
    return kind(random.Random(f"{kind.__name__} {seed}"))
