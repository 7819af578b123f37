"""NIST against mteval-v13a's figures, NLTK and its definition, and its counts however they are made."""

import contextlib
import csv
import dataclasses
import itertools
import math
import random
from collections import defaultdict

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from steelyard import NIST
from steelyard.commands.scoring.inputs import GivenSystem, read_inputs
from steelyard.errors import BadState, MissingState, TooLarge
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.needed_statistics import states_of
from steelyard.metrics.ngram import ngram_table
from steelyard.metrics.ngram.information_weights import NgramInformation
from steelyard.metrics.ngram.ngram_table import NgramTable
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns, joined, read_campaign
from tests.library.metrics.ngram.nist_definition import information, row, score

PLAIN = NgramInformation(5, "none", "mixed")


def scored(references, systems, specification="nist:tok=none"):
    """Of lists of lines."""
    texts = Segments.from_lines(references=references, hypotheses=systems)
    return score_systems(texts, [parse_metric(specification)])[0]


def tokens(text: bytes) -> list[list[str]]:
    """The words of each line, as our tokenizer has them: for those who want token lists."""
    words = Segments(references=[text], hypotheses=[]).words("13a", "mixed")
    lines = words.lines.decode().split("\n")
    rows = zip(words.starts[:-1].tolist(), words.starts[1:].tolist(), strict=True)
    return [[lines[number] for number in words.ids[begin:end]] for begin, end in rows]


@settings(max_examples=150, deadline=None)
@given(campaigns(), st.sampled_from([(1, 2, 3, 4, 5), (2, 4), (1,), (3, 16)]))
def test_equals_the_definition(campaign, order):
    references, systems = list(campaign.references.values()), list(campaign.systems.values())
    found = score_systems(
        Segments(references=[joined(lines) for lines in references], hypotheses=[joined(lines) for lines in systems]),
        [NIST(tok="none", order=order)],
    )[0]
    weights = information([line.split() for lines in references for line in lines], order[-1])
    for position, lines in enumerate(systems):
        rows = [
            row(line.split(), [reference.split() for reference in of_segment], weights, order)
            for line, *of_segment in zip(lines, *references, strict=True)
        ]
        assert found.scores[position] == pytest.approx(score(rows, len(references), order), rel=1e-6, abs=1e-6)
        sums = np.array(rows).sum(axis=0)
        ours = found.sums[position]
        assert ours[0] == sums[0]
        assert ours[1] + ours[2] / 720_720 == pytest.approx(sums[1] / len(references))
        # Each segment is rounded once, to 2^-24.
        assert ours[3:] == pytest.approx(sums[2:], rel=0, abs=len(rows) * 2**-25 + 1e-12)


def western(text: bytes, lowercased: bool) -> bytes:
    """As mteval-v13a reads it: it folds the letters A to Z only."""
    return text.lower() if lowercased else text


def international(text: bytes, lowercased: bool) -> bytes:
    """The rules of mteval's --international-tokenization, which sees a blank behind the end of a segment."""
    lines = (text.decode().lower() if lowercased else text.decode()).split("\n")
    for pattern, spaced in ((r"(\P{N})(\p{P})", r"\1 \2 "), (r"(\p{P})(\P{N})", r" \1 \2"), (r"(\p{S})", r" \1 ")):
        lines = [regex.sub(pattern, spaced, f" {line} ") for line in lines]
    return joined(lines)


def test_equals_mteval(real_data):
    """Every figure, from each of the three syntaxes of its files."""
    folder = real_data / "mteval"
    expected = defaultdict(dict)
    with (folder / "expected_mteval.tsv").open() as file:
        for line in csv.DictReader(file, delimiter="\t"):
            way = (line["refs"], line["case"] == "insensitive", line["tokenizer"])
            expected[way][line["system"]] = line["NIST"]
    compared = 0
    for suffix, reference_suffix in (("sgm", "sgm"), ("xml", "xml"), ("wrapped.sgm", "sgm")):
        for labels, file in (("B", "refB"), ("B,C", "ref")):
            inputs = read_inputs(
                [str(folder / f"wmt22.en-cs.{file}.{reference_suffix}")],
                [GivenSystem([str(folder / f"wmt22.en-cs.tst.{suffix}")])],
                variable_references=False,
            )
            for lowercased in (False, True):
                for tok, prepared, ours in (("13a", western, "13a"), ("intl", international, "none")):
                    texts = [
                        [prepared(text.bytes, lowercased) for text in side]
                        for side in (inputs.references, inputs.outputs)
                    ]
                    scores = score_systems(Segments(references=texts[0], hypotheses=texts[1]), [NIST(tok=ours)])[
                        0
                    ].scores
                    figures = {name: f"{score:.4f}" for name, score in zip(inputs.names, scores, strict=True)}
                    assert figures == expected[labels, lowercased, tok]
                    compared += len(figures)
    assert compared == 3 * sum(map(len, expected.values())) == 3 * 80


def test_equals_nltk_on_real_data(real_data):
    """For one reference; with several NLTK takes the best one of each segment."""
    campaign = read_campaign(real_data / "wmt22.en-cs")
    texts = [joined(campaign.references["B"]), *(joined(lines) for lines in list(campaign.systems.values())[:3])]
    reference, *systems = map(tokens, texts)
    found = score_systems(Segments(references=texts[:1], hypotheses=texts[1:]), [NIST(), NIST(order=(1, 2, 3))])
    for measured, n in zip(found, (5, 3), strict=True):
        expected = [corpus_nist([[one] for one in reference], system, n) for system in systems]
        assert measured.scores == pytest.approx(expected, rel=1e-8)


def test_the_worked_example_of_the_docs():
    """docs/reference/metrics/nist.md."""
    references = ["the cat sat on the mat", "the dog sat"]
    weights = information([line.split() for line in references], 2)
    assert weights["the",] == math.log2(9 / 3)
    assert weights["the", "cat"] == math.log2(3)
    assert weights["cat", "sat"] == 0
    found = scored([references], [["the cat sat", "the dog ran off"]], "nist:tok=none:order=1-2")
    unigrams = 2 * math.log2(3) + 2 * math.log2(9) + math.log2(4.5)
    assert found.sums[0] == pytest.approx([7, 9, 0, unigrams, 2 * math.log2(3), 7, 5], abs=1e-6)
    penalty = math.exp(math.log(0.5) * (math.log(7 / 9) / math.log(2 / 3)) ** 2)
    assert found.scores[0] == pytest.approx(penalty * (unigrams / 7 + 2 * math.log2(3) / 5), abs=1e-6)
    assert round(float(found.scores[0]), 3) == 1.764


def test_the_penalty_is_a_half_at_two_thirds_of_the_length():
    reference = [["a b c d e f"]]
    short, full = scored(reference, [["a b c d"]]), scored(reference, [["a b c d e f"]])
    assert short.scores[0] == pytest.approx(0.5 * full.scores[0], rel=1e-6)
    assert scored(reference, [[""]]).scores[0] == 0
    assert scored([[""]], [["a"]]).scores[0] == 0
    assert scored([[""]], [[""]]).scores[0] == 0


def test_only_chosen_orders_count():
    references, systems = [["a b c d a c"]], [["a b c a"]]
    some, every = scored(references, systems, "nist:tok=none:order=2,4"), scored(references, systems)
    assert some.metric.columns == ("hyp_len", "ref_len", "ref_len_rest", "info_2", "info_4", "total_2", "total_4")
    assert some.sums[0].tolist() == [every.sums[0][every.metric.columns.index(name)] for name in some.metric.columns]
    assert some.metric.title == "NIST[2,4]"


def test_weights_stay_when_segments_are_resampled():
    """A replicate is a sum of rows: its score is what the formula gives for the rows drawn, with the same weights."""
    draw = random.Random(3)
    references = [[" ".join(draw.choices("abcdef", k=6)) for _ in range(40)]]
    systems = [[" ".join(draw.choices("abcdef", k=6)) for _ in range(40)]]
    found = score_systems(
        Segments.from_lines(references=references, hypotheses=systems), [NIST(tok="none")], replicates=20
    )[0]
    weights = information([line.split() for line in references[0]], 5)
    pairs = zip(systems[0], references[0], strict=True)
    rows = [row(hypothesis.split(), [reference.split()], weights, (1, 2, 3, 4, 5)) for hypothesis, reference in pairs]
    for drawn, replicate in zip(resampling_counts(40, 12345, 20, 0, 40), found.replicate_scores[0], strict=True):
        sample = [each for each, times in zip(rows, drawn, strict=True) for _ in range(times)]
        assert replicate == pytest.approx(score(sample, 1, (1, 2, 3, 4, 5)), rel=1e-6)
    assert len(set(found.replicate_scores[0])) > 1


@settings(max_examples=100, deadline=None)
@given(campaigns(max_segments=12), st.integers(1, 6), st.randoms(use_true_random=False))
def test_any_cut_gives_the_same_state(campaign, deepest, draw):
    """To the byte: whatever shards count, in whatever order, with whatever systems beside them."""
    way = NgramInformation(deepest, "none", "mixed")
    references, systems = list(campaign.references.values()), list(campaign.systems.values())
    whole = way.merge([way.count(Segments(references=[joined(lines) for lines in references], hypotheses=[]))])
    segments = len(references[0])
    cuts = sorted({0, segments, *(draw.randrange(segments) for _ in range(3))})
    parts = [
        way.count(
            Segments.from_lines(
                references=[lines[begin:end] for lines in references],
                hypotheses=[lines[begin:end] for lines in systems],
            )
        )
        for begin, end in itertools.pairwise(cuts)
    ]
    draw.shuffle(parts)
    assert way.merge(parts) == whole
    draw.shuffle(references)
    assert way.merge([way.count(Segments(references=[joined(lines) for lines in references], hypotheses=[]))]) == whole


def test_shards_score_the_same():
    """Whether the references are counted as a whole or in parts."""
    draw = random.Random(5)
    texts = [
        joined(" ".join(f"w{int(draw.paretovariate(0.7)) % 300}" for _ in range(5)) for _ in range(1500)) for _ in "ab"
    ]
    segments = Segments(references=texts[:1], hypotheses=texts[1:])
    whole, found = (
        score_systems(segments, [NIST()], replicates=10, segment_scores=True, shard_size=size)[0]
        for size in (10**6, 256)
    )
    for name in ("sums", "scores", "replicate_scores", "segment_scores"):
        assert np.array_equal(getattr(found, name), getattr(whole, name))


@settings(max_examples=100, deadline=None)
@given(campaigns())
def test_the_state_says_what_each_ngram_says(campaign):
    """Walked from the root it has every n-gram that says something, with its information."""
    references = list(campaign.references.values())
    state = PLAIN.read(
        PLAIN.merge([PLAIN.count(Segments(references=[joined(lines) for lines in references], hypotheses=[]))])
    )
    types = state.lines.decode().split("\n")[:-1]
    assert types == sorted(types, key=str.encode)
    found = {}

    def walk(node, gram):
        found[gram] = float(state.bits[node])
        for child in range(state.first_child[node], state.first_child[node + 1]):
            walk(child, (*gram, types[state.words[child]]))

    for number, word in enumerate(types):
        walk(number, (word,))
    weights = information([line.split() for lines in references for line in lines], 5)
    assert {gram: bits for gram, bits in weights.items() if bits or len(gram) == 1}.items() <= found.items()
    assert all(weights[gram] == bits for gram, bits in found.items())


def test_most_long_ngrams_are_left_out():
    draw = random.Random(1)
    lines = [" ".join(f"w{draw.randrange(2000)}" for _ in range(20)) for _ in range(300)]
    part = PLAIN.count(Segments(references=[joined(lines)], hypotheses=[]))
    state = PLAIN.merge([part])
    assert len(state) < len(part) / 2


def test_without_its_state_it_cannot_be_scored():
    with pytest.raises(MissingState, match=r"ngram-information:order<=5:tok=13a:case=mixed was not counted"):
        NIST().segment_statistics(Segments(references=[b"a"], hypotheses=[b"a"]))
    other = states_of([NIST()], Segments(references=[b"b"], hypotheses=[]))
    with pytest.raises(BadState, match="other references"):
        NIST().segment_statistics(Segments(references=[b"a"], hypotheses=[b"a"], states=other))
    assert NIST(order=(2, 5)).corpus_statistics == NIST().corpus_statistics
    assert NIST(order=(2, 4)).corpus_statistics.key != NIST().corpus_statistics.key


def test_damaged_states_are_refused():
    part = PLAIN.count(Segments(references=[b"a b a\nc"], hypotheses=[]))
    for blob, message in (
        (b"", "no table of n-grams"),
        (b"pickle" + part, "no table of n-grams"),
        (part[:4] + b"\x09\x00" + part[6:], "format 9"),
        *((part[:size], "cut off|no table") for size in range(len(part))),
        (part + b"\0", "cut off"),
        (part.replace(b"a\nb\n", b"a\nbb"), "contradicts itself"),
        # Of six n-grams, each with a byte of children, word and count.
        *((part[: -6 * k] + b"\xff" * 6 + part[len(part) - 6 * (k - 1) :], "contradicts itself") for k in (2, 3)),
        (part[:-6] + bytes(6), "contradicts itself"),
    ):
        with pytest.raises(BadState, match=message):
            PLAIN.read(blob)
        with pytest.raises(BadState):
            PLAIN.merge([part, blob])
    with pytest.raises(BadState, match="different depths"):
        PLAIN.merge([part, NgramInformation(4, "none", "mixed").count(Segments(references=[b"a"], hypotheses=[]))])
    with pytest.raises(BadState, match="not in order"):
        PLAIN.merge([part.replace(b"a\nb\n", b"b\na\n")])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "a b a", "c a b"]), max_size=4), st.data())
def test_whatever_the_bytes_are_they_are_read_or_refused(lines, data):
    part = bytearray(PLAIN.count(Segments(references=[joined(lines)], hypotheses=[])))
    for _ in range(data.draw(st.integers(1, 4))):
        part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    for use in (PLAIN.read, lambda blob: PLAIN.merge([blob, blob])):
        with contextlib.suppress(BadState, TooLarge):
            use(bytes(part))


def test_references_have_a_limit(monkeypatch):
    """Parts are not read beyond the one that is too much."""
    lines = ["a b a", "c"] * 300
    texts = Segments.from_lines(references=[lines], hypotheses=[lines])
    parts = [PLAIN.count(each) for each in texts.without_hypotheses.cut(60)]
    read = []

    def listened():
        for part in parts:
            read.append(part)
            yield part

    monkeypatch.setattr(ngram_table, "MOST_WORDS", 1200)
    assert PLAIN.read(PLAIN.merge(listened())).types == 3
    monkeypatch.setattr(ngram_table, "MOST_WORDS", 599)
    read.clear()
    for count in (
        lambda: PLAIN.merge(listened()),
        lambda: PLAIN.count(texts),
        lambda: score_systems(texts, [NIST()]),
        lambda: score_systems(texts, [NIST()], shard_size=256),
    ):
        with pytest.raises(TooLarge, match=r"words or more, but NIST counts the n-grams of up to 599"):
            count()
    assert len(read) == 5


def test_counts_that_no_text_has_are_refused():
    table = NgramTable.from_bytes(PLAIN.count(Segments(references=[b"a b a\nc"], hypotheses=[])))
    with pytest.raises(TooLarge):
        PLAIN.read(dataclasses.replace(table, counts=table.counts + np.uint32(2**32 - 3)).to_bytes())
