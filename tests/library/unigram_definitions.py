"""WER, PER and F-measure once more, straight from their definitions: for comparison."""

from collections import Counter

from rapidfuzz.distance import Levenshtein

from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined


def batch_of(campaign, variable=False):
    references, systems = campaign.references.values(), campaign.systems.values()
    return Segments(
        references=[joined(lines) for lines in references],
        hypotheses=[joined(lines) for lines in systems],
        variable_references=variable,
    )


def one_segment(hypothesis, references):
    return Segments(references=[reference.encode() for reference in references], hypotheses=[hypothesis.encode()])


def overlap(hypothesis, reference):
    return (Counter(hypothesis) & Counter(reference)).total()


def wer_row(hypothesis, references):
    return min((Levenshtein.distance(hypothesis, reference), len(reference)) for reference in references)


def per_row(hypothesis, references):
    return min(
        (max(len(hypothesis), len(reference)) - overlap(hypothesis, reference), len(reference))
        for reference in references
    )


def fmeasure_row(hypothesis, references):
    missed, length = min((-overlap(hypothesis, reference), len(reference)) for reference in references)
    return -missed, len(hypothesis), length


def error_rate(edits, length):
    if length:
        return 100 * edits / length
    return 100 if edits else 0


def fmeasure(match, hypothesis, reference, p=1, r=1):
    if not match:
        return 0
    precision, recall = match / hypothesis, match / reference
    return 100 * (p + r) / (p / precision + r / recall)


def rows(row, campaign, tokenize=str.split, variable=False):
    """`row` of every segment of every system: lists (systems, segments, k)."""
    return [
        [
            list(row(tokenize(line), [tokenize(one) for one in of_segment if one or not variable]))
            for line, *of_segment in zip(lines, *campaign.references.values(), strict=True)
        ]
        for lines in campaign.systems.values()
    ]
