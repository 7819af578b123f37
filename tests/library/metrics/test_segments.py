"""The door through which texts come in: what is wrong with them is said at once, for every metric alike."""

from itertools import product

import numpy as np
import pytest

from steelyard import BLEU, TER, WER, ChrF
from steelyard.errors import BadParameter, BadText
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import all_metrics, parse_metric
from steelyard.metrics.score_systems import resampled_run, score_systems
from steelyard.metrics.segment_metric import SegmentMetric
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import drawn_segments, sums_of_tables

LINES = b"\n".join(b"a b c d e f %d" % number for number in range(512))


@pytest.mark.parametrize("shard_size", [1, 256, 512, 10_000])
@pytest.mark.parametrize("surplus", [b"\nextra", b"\nextra one\nextra two" * 300])
def test_surplus_lines_are_refused_whatever_the_shard(shard_size, surplus):
    count = 512 + surplus.count(b"\n")
    for references, hypotheses in (([LINES], [LINES, LINES + surplus]), ([LINES, LINES + surplus], [LINES])):
        with pytest.raises(BadText, match=rf"different numbers of lines: .* has 512, .* has {count}\."):
            score_systems(Segments(references=references, hypotheses=hypotheses), [BLEU()], shard_size=shard_size)


def test_the_texts_that_differ_are_named():
    with pytest.raises(BadText, match="reference 1 has 2, hypothesis 2 has 3"):
        Segments(references=[b"a\nb"], hypotheses=[b"a\nb", b"a\nb\nc", b"a\nb\nc"])
    with pytest.raises(BadText, match="reference 1 has 1, text 2 of the layer lemma has 2"):
        Segments(references=[b"a"], hypotheses=[b"a"], layers={"lemma": [b"a", b"a\nb"]})


@pytest.mark.parametrize(
    "specification", ["bleu:tok=intl", "chrf", "ter", "wer", "gtm", "tbleu", "lebleu", "character"]
)
def test_bytes_that_are_not_utf_8_are_refused_for_every_metric(specification):
    bad = b"a b\n\xc3\xa9 \xff c"
    with pytest.raises(BadText, match=r"hypothesis 2 is not UTF-8: segment 2, byte 4 is 0xff"):
        score_systems(Segments(references=[b"a\nb"], hypotheses=[b"a\nb", bad]), [parse_metric(specification)])
    with pytest.raises(BadText, match=r"reference 1 is not UTF-8: segment 2, byte 4 is 0xff"):
        Segments(references=[bad], hypotheses=[b"a\nb"])


@pytest.mark.parametrize("before", [b"", b"a" * 1000], ids=["short", "long"])
@pytest.mark.parametrize("bad", [b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82", b"\x80"])
def test_what_python_does_not_decode_is_not_utf_8(bad, before):
    with pytest.raises(BadText, match="not UTF-8: segment 1"):
        Segments(references=[b"a"], hypotheses=[before + bad])


def test_what_is_asked_for_first_does_not_change_what_comes_later():
    """Words by two tokenizers and items of two layers, in either case, in all orders, on one batch and on a new one."""
    texts = {"references": ["A a, B\n\u00c9 e\u0301".encode()], "hypotheses": [b"a A. b\nB", "e \u00e9\nA".encode()]}
    layers = {"lemma": [b"A a B", b"a A b", b"E"], "sempos": [b"N|A n|a", b"n|A N|a", b"V|X"]}
    layers = {name: [each + b"\nX x" for each in layer] for name, layer in layers.items()}
    asked = [("words", "13a"), ("words", "none"), ("layer", "lemma"), ("layer", "sempos")]

    def answers(segments, questions):
        found = {}
        for (what, name), case, composed in questions:
            prepared = segments.nfc if composed else segments
            words = getattr(prepared, what)(name, case)
            types = words.lines.split(b"\n")
            found[what, name, case, composed] = [types[number] for number in words.ids], words.starts.tolist()
        return found

    questions = list(product(asked, ("lc", "mixed"), (False, True)))
    alone = {}
    for each in questions:
        alone |= answers(Segments(**texts, layers=layers), [each])
    assert len({str(each) for each in alone.values()}) > len(asked) * 2, "case tells them apart"
    for one, other in product(questions, repeat=2):
        assert answers(Segments(**texts, layers=layers), [one, other]) == {
            key: alone[key] for key in ((*one[0], *one[1:]), (*other[0], *other[1:]))
        }


def test_lists_of_segments_and_texts_are_two_ways_in():
    references, hypotheses = [["a b c", "d e", ""]], [["a b", "d e", "f"], ["", "é", "x"]]
    lines = Segments.from_lines(references=references, hypotheses=hypotheses)
    texts = Segments.from_bytes(references=[b"a b c\nd e\n"], hypotheses=[b"a b\nd e\nf", "\né\nx".encode()])
    assert (lines.references, lines.hypotheses, len(lines)) == (texts.references, texts.hypotheses, 3)
    for metric in (BLEU(), ChrF(), TER(), WER()):
        one, other = (score_systems(each, [metric])[0].scores for each in (lines, texts))
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("references", "hypotheses", "reason"),
    [
        (["a", "b"], [["a", "b"]], "references is a list of segments"),
        ([["a", "b"]], ["a", "b"], "hypotheses is a list of segments"),
        ("a", [["a"]], "references is a list of segments"),
        ([["a"]], "a", "hypotheses is a list of segments"),
        ([[b"a"]], [["a"]], "Segment 1 of references.0. is of the type bytes"),
        ([["a", None]], [["a", "b"]], "Segment 2 of references.0. is of the type NoneType"),
        ([["a"]], [["a"], ["a\nb"]], "Segment 1 of hypotheses.1. has a line feed"),
        ([["a"]], [["a\ud800"]], "Segment 1 of hypotheses.0. has half a character at 2"),
        ([["a"]], [["a", "b"]], "reference 1 has 1, hypothesis 1 has 2"),
        ([[]], [[]], "references has a text without segments"),
        ([], [["a"]], "There is no reference"),
    ],
)
def test_lists_that_are_something_else_are_refused(references, hypotheses, reason):
    with pytest.raises(BadText, match=reason):
        Segments.from_lines(references=references, hypotheses=hypotheses)


@pytest.mark.parametrize(
    ("references", "hypotheses", "reason"),
    [
        (["a b"], ["a b"], "reference 1 is of the type str.*from_lines takes lists of strings"),
        ([b"a b"], ["a b"], "hypothesis 1 is of the type str"),
        ([b"a b"], [["a b"]], "hypothesis 1 is of the type list"),
        (b"a b", [b"a b"], r"references is a single text, but must be a list of texts: references=\[text\]"),
        ([b"a b"], b"a b", "hypotheses is a single text"),
        ([], [b"a"], "There is no reference"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(references, hypotheses, reason):
    with pytest.raises(BadText, match=reason):
        Segments(references=references, hypotheses=hypotheses)
    with pytest.raises(BadText, match=reason):
        Segments.from_bytes(references=references, hypotheses=hypotheses)


def test_references_and_hypotheses_cannot_be_given_without_saying_which():
    for make in (Segments, Segments.from_bytes, Segments.from_lines):
        with pytest.raises(TypeError):
            make([b"a"], [b"b"])
    with pytest.raises(TypeError):
        score_systems([b"a"], [b"b"], [BLEU()])
    with pytest.raises(BadText, match="must be Segments"):
        score_systems([b"a"], [BLEU()])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"replicates": -1}, "replicates must be at least 0"),
        ({"shard_size": 0}, "segments 1"),
        ({"replicates": 2, "seed": -1}, "must be from 0 to 2.64 - 1"),
        ({"seed": 2**64}, "must be from 0 to 2.64 - 1"),
    ],
)
def test_numbers_out_of_range_are_refused_before_anything_is_scored(given, reason):
    def scored(segments):
        raise AssertionError("a shard was scored")

    with pytest.raises(BadParameter, match=reason):
        score_systems(Segments(references=[b"a"], hypotheses=[b"a"]), [BLEU()], on_texts=scored, **given)


def test_nothing_to_score_is_refused():
    with pytest.raises(BadText, match="nothing to score"):
        score_systems(Segments(references=[b"a"], hypotheses=[]), [BLEU()])


def test_what_was_not_asked_for_is_not_kept():
    texts, told = Segments(references=[LINES], hypotheses=[LINES]), []
    (plain,) = score_systems(texts, [BLEU()], shard_size=256, on_shard=lambda *done: told.append(done))
    assert told == [(1, 2), (2, 2)]
    assert plain.segment_scores is plain.statistics is None
    assert plain.replicate_scores.shape == (1, 0)
    (asked,) = score_systems(texts, [BLEU()], shard_size=256, segment_scores=True, keep_statistics=True, replicates=2)
    assert (asked.segment_scores.shape, asked.statistics.shape[:2]) == ((1, 512), (1, 512))
    assert asked.replicate_scores.shape == (1, 2)


@pytest.mark.parametrize("shard_size", [256, 10_000])
@pytest.mark.parametrize("seed", [12345, 7])
def test_a_measurement_is_what_its_statistics_say(seed, shard_size):
    """Sums, scores of systems, of segments (by their own formula) and of the replicates that the seed draws."""
    lines = [" ".join("abcdefg"[: 2 + number % 5]) + f" {number % 11}" for number in range(600)]
    texts = Segments.from_lines(
        references=[lines], hypotheses=[lines[1:] + lines[:1], [line.replace("c", "x") for line in lines]]
    )
    metrics = [BLEU(), TER(), ChrF()]
    found = score_systems(
        texts, metrics, replicates=5, seed=seed, shard_size=shard_size, segment_scores=True, keep_statistics=True
    )
    counts = resampling_counts(600, seed, 5, 0, 600).astype(float)
    for metric, one in zip(metrics, found, strict=True):
        statistics = metric.segment_statistics(texts)
        assert one.metric is metric
        assert np.array_equal(one.statistics, statistics)
        assert np.array_equal(one.sums, statistics.sum(axis=1))
        assert np.array_equal(one.scores, metric.score(statistics.sum(axis=1)))
        assert np.array_equal(one.segment_scores, metric.segment_score(statistics))
        assert np.array_equal(one.replicate_scores, metric.score(counts @ statistics))
    assert not np.array_equal(found[0].segment_scores, BLEU().score(found[0].statistics)), "BLEU has two formulas"


@pytest.mark.parametrize(
    ("at_once", "pieces"),
    [
        (1, [(512, 768), (768, 1024), (1024, 1280), (1280, 1290)]),
        (256 * 20 * 2 + 19, [(512, 1024), (1024, 1290)]),
        (1 << 26, [(512, 1290)]),
    ],
)
def test_pieces_of_a_run_give_the_same_sums(monkeypatch, at_once, pieces):
    """They begin where blocks do, and have no more draws than fit in memory, or one block."""
    drawn = []

    def recorded(segments, seed, replicates, first, last):
        drawn.append((first, last))
        return drawn_segments(segments, seed, replicates, first, last)

    monkeypatch.setattr("steelyard.metrics.score_systems.LARGEST_COUNTS", at_once)
    monkeypatch.setattr("steelyard.metrics.score_systems.drawn_segments", recorded)
    draw = np.random.default_rng(1)
    statistics = [draw.integers(0, 50, (2, 256 * 3 + 10, columns)).astype(float) for columns in (2, 3)]
    segments = 256 * 5 + 10
    counts = resampling_counts(segments, 7, 20, 512, segments)
    found = resampled_run(statistics, segments, 7, 20, 512)
    for sums, expected in zip(found, sums_of_tables(counts, statistics), strict=True):
        assert sums.tobytes() == expected.tobytes()
    assert drawn == pieces
    assert [sums.shape for sums in resampled_run(statistics, segments, 7, 0, 512)] == [(2, 0, 2), (2, 0, 3)]


def test_segments_are_cut_with_source_and_layers():
    segments = Segments(
        references=[b"a\nb\nc", b"d\ne\nf"],
        hypotheses=[b"g\nh\ni"],
        source=b"j\nk\nl",
        layers={"lemma": [b"A\nB\nC", b"D\nE\nF", b"G\nH\nI"], "sempos": [b"1\n2\n3", b"4\n5\n6", b"7\n8\n9"]},
    )
    first, last = segments.cut(2)
    assert (len(first), first.references, first.hypotheses) == (2, [b"a\nb", b"d\ne"], [b"g\nh"])
    assert (first.source, last.source) == (b"j\nk", b"l")
    assert first.layers == {"lemma": [b"A\nB", b"D\nE", b"G\nH"], "sempos": [b"1\n2", b"4\n5", b"7\n8"]}
    assert (len(last), last.references, last.hypotheses) == (1, [b"c", b"f"], [b"i"])
    assert last.layers == {"lemma": [b"C", b"F", b"I"], "sempos": [b"3", b"6", b"9"]}
    alone = segments.without_hypotheses
    assert (alone.references, alone.hypotheses) == (segments.references, [])
    assert alone.layers == {name: layer[:2] for name, layer in segments.layers.items()}


class Copied(SegmentMetric):
    """How many words of a segment are those of its source."""

    name = "copied"
    source = "this test"
    inputs = frozenset({"source"})

    def score_segments(self, segments):
        sources = [set(line.split()) for line in segments.source.split(b"\n")]
        return np.array(
            [
                [len(words & set(line.split())) for words, line in zip(sources, text.split(b"\n"), strict=True)]
                for text in segments.hypotheses
            ],
            float,
        )


@pytest.mark.parametrize("shard_size", [1, 1000])
def test_a_metric_reads_the_source_of_its_own_segments(shard_size):
    lines = [f"w{number} w{number % 5}" for number in range(600)]
    hypothesis = [f"w{number}" for number in range(600)]
    given = {"references": [lines], "hypotheses": [hypothesis, list(reversed(hypothesis))]}
    segments = Segments.from_lines(**given, source=lines)
    (found,) = score_systems(segments, [Copied()], shard_size=shard_size, segment_scores=True)
    assert found.segment_scores[0].tolist() == [1] * 600
    assert found.scores[1] < 0.1
    with pytest.raises(BadText, match="reads the source"):
        score_systems(Segments.from_lines(**given), [Copied()])
    with pytest.raises(BadText, match="source has 599"):
        Segments.from_lines(**given, source=lines[1:])


def test_an_empty_line_is_a_missing_reference():
    """Blanks are a text, though one without words."""
    texts = {"references": [b"a\n\n \nb", b"\nb\nc\n"], "hypotheses": [b"a\nb\nc\nd"]}
    assert Segments(**texts, variable_references=True).reference_mask.tolist() == [[1, 0, 1, 1], [0, 1, 1, 0]]
    assert Segments(**texts).reference_mask.tolist() == [[1] * 4] * 2
    with pytest.raises(BadText, match="Segment 2 has no reference at all"):
        _ = Segments(references=[b"a\n"], hypotheses=[b"a\nb"], variable_references=True).reference_mask


def test_every_shard_size_gives_the_same_with_layers_and_missing_references():
    lines = [f"a b{number % 7} c{number % 3}" for number in range(600)]
    layer = "\n".join("x" for _ in lines).encode()
    texts = Segments(
        references=[
            "\n".join(lines).encode(),
            "\n".join(line if at % 2 else "" for at, line in enumerate(lines)).encode(),
        ],
        hypotheses=["\n".join(reversed(lines)).encode()],
        variable_references=True,
        layers={"lemma": [layer] * 3},
    )
    names = [metric() for metric in all_metrics() if metric.name in ("bleu", "nist", "chrf", "ter", "lebleu")]
    whole = score_systems(texts, names, replicates=3, segment_scores=True)
    for size in (1, 300):
        for one, other in zip(
            whole, score_systems(texts, names, replicates=3, segment_scores=True, shard_size=size), strict=True
        ):
            assert one.sums.tobytes() == other.sums.tobytes()
            assert one.replicate_scores.tobytes() == other.replicate_scores.tobytes()
            assert one.segment_scores.tobytes() == other.segment_scores.tobytes()
