"""BLEU_modif against its definition, gensim and BLEU."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadParameter, MissingResource
from steelyard.kernels.embeddings import similarities as kernel
from steelyard.metrics.embeddings.bleu_modif import BLEUModif
from steelyard.metrics.embeddings.wer_modif import WERModif
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined, read_campaign
from tests.library.metrics.embeddings.vector_definition import best_similarity, match, ngrams
from tests.library.vocabularies import batch_with, letters, some_vectors, stored, trained

SMALL = {"cat": [1, 0], "dog": [0.6, 0.8], "sat": [0, 1], "lay": [0.28, 0.96], "not": [-1, 0]}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return stored(SMALL, tmp_path_factory.mktemp("toy"))


def row(hypothesis, references, resources, **parameters):
    segments = Segments(
        references=[text.encode() for text in references], hypotheses=[hypothesis.encode()], resources=resources
    )
    return BLEUModif(vectors="toy", **parameters).segment_statistics(segments)[0, 0]


def test_the_example_of_the_docs(toy):
    """docs/reference/metrics/bleu_modif.md."""
    found = row("the dog lay", ["the cat sat"], toy)
    # dog: 0.6 to cat, 0.8 to sat; lay: 0.28 and 0.96.
    assert found[2] == pytest.approx(1 + 0.8 + 0.96, abs=1e-7)
    # the dog = (0.6, 0.8) to cat sat = (1, 1); dog lay = (0.88, 1.76) to cat sat.
    assert found[3] == pytest.approx(1.4 / 2**0.5 + 2.64 / (0.88**2 + 1.76**2) ** 0.5 / 2**0.5, abs=1e-7)
    assert found[4] == pytest.approx(2.64 / (0.88**2 + 1.76**2) ** 0.5 / 2**0.5, abs=1e-7)
    assert found[5] == 0
    assert found[6:].tolist() == [3, 2, 1, 0, 1, 3, 1]
    metric = BLEUModif(vectors="toy")
    shares = {"unknown words": 100 / 3, "unknown reference words": 100 / 3}
    assert shares.items() <= metric.details(found).items()
    assert not shares.keys() & metric.details(np.zeros(13)).keys()
    # Each side by its own words: one of two, and one of the four of both references.
    uneven = metric.details(row("the dog", ["the cat sat", "cat"], toy))
    assert (uneven["unknown words"], uneven["unknown reference words"]) == (50, 25)


@pytest.mark.parametrize(
    ("hypothesis", "references", "gamma", "unigrams"),
    [
        ("x", ["x"], 1.0, 1),  # unknown, but equal
        ("x", ["y"], 0.0, 0),
        ("cat x", ["cat"], 0.0, 1),
        ("dog", ["cat"], 0.6, 0.6),  # "at least", not "more than"
        ("dog", ["cat"], 0.6001, 0),
        ("not", ["cat"], 0.0, 0),  # a negative similarity never counts
        ("dog dog dog", ["cat"], 0.1, 1.8),  # nothing is clipped
        ("dog lay", ["cat x y", "sat"], 0.1, 0.8 + 0.96),  # references are pooled
        ("dog", ["the dog", "cat"], 0.1, 1),
        ("DOG", ["cat"], 0.1, 0.6),  # it is lowercased
    ],
)
def test_single_matches(toy, hypothesis, references, gamma, unigrams):
    assert row(hypothesis, references, toy, gamma=gamma)[2] == pytest.approx(unigrams, abs=1e-7)


def test_unknown_words_are_left_out_of_the_mean(toy):
    assert row("x cat", ["y cat"], toy)[3] == 1
    assert row("x y", ["y x"], toy)[3] == 0
    assert row("cat sat", ["sat cat"], toy, gamma=1.0)[3] == 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(letters, min_size=2, max_size=2), min_size=1, max_size=3),
    st.lists(st.lists(letters, min_size=2, max_size=2), min_size=1, max_size=2),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    st.sampled_from([(1, 2, 3, 4), (2,), (1, 3, 5)]),
)
def test_equals_the_definition(references, systems, gamma, order):
    vectors = some_vectors(5)
    with tempfile.TemporaryDirectory() as folder:
        segments = batch_with(stored(vectors, folder), references, systems)
        metric = BLEUModif(vectors="toy", tok="none", gamma=gamma, order=order)
        statistics = metric.segment_statistics(segments)
    plain = BLEU(tok="none", case="lc", order=order).segment_statistics(segments)
    for s, system in enumerate(systems):
        for i, words in enumerate(system):
            of_segment = [text[i] for text in references]
            expected = [match(words, of_segment, vectors, n, gamma) for n in order]
            assert statistics[s, i, 2 : 2 + len(order)] == pytest.approx(expected, abs=1e-6)
            unknown = sum(word not in vectors for word in words)
            theirs = [word for text in of_segment for word in text]
            assert statistics[s, i, -3:].tolist() == [unknown, len(theirs), sum(w not in vectors for w in theirs)]
    lengths_and_totals = [0, 1, *range(2 + len(order), 2 + 2 * len(order))]
    assert np.array_equal(statistics[..., lengths_and_totals], plain[..., lengths_and_totals])
    assert np.array_equal(statistics * 2**24, np.rint(statistics * 2**24))


def test_equals_gensim_on_real_text(real_data, tmp_path):
    """gensim's n_similarity, for every n-gram of some segments with every n-gram of the reference."""
    campaign = read_campaign(real_data / "wmt22.en-cs")
    resources, keyed = trained(campaign, tmp_path)
    rows = range(0, 400, 9)
    references = [[campaign.references["B"][i] for i in rows]]
    systems = [[campaign.systems[name][i] for i in rows] for name in sorted(campaign.systems)[:2]]
    segments = Segments(
        references=[joined(text) for text in references],
        hypotheses=[joined(text) for text in systems],
        resources=resources,
    )
    found = BLEUModif(vectors="toy", gamma=0.0).segment_statistics(segments)
    words = segments.words("13a", "lc")
    types = words.lines.decode().split("\n")
    texts = [[types[w] for w in words.ids[a:b]] for a, b in zip(words.starts, words.starts[1:], strict=False)]
    similar = np.vectorize(lambda a, b: similarity(keyed, a, b), otypes=[float], signature=None)
    compared = 0
    for i in range(len(rows)):
        for s in range(2):
            hypothesis, reference = texts[(1 + s) * len(rows) + i], texts[i]
            for n in (1, 2, 3, 4):
                own, theirs = (as_objects(ngrams(words, n)) for words in (hypothesis, reference))
                compared += len(own) * len(theirs)
                best = similar(own[:, None], theirs).max(axis=1, initial=0) if len(own) and len(theirs) else np.zeros(0)
                assert found[s, i, 1 + n] == pytest.approx(best.sum(), abs=2e-5)
    assert compared > 50_000


def as_objects(items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


def similarity(keyed, one, other):
    if one == other:
        return 1.0
    sides = [[word for word in words if word in keyed] for words in (one, other)]
    return float(keyed.n_similarity(*sides)) if all(sides) else 0.0


def test_without_known_words_it_is_bleu_without_clipping(toy):
    """With distinct words, that is BLEU itself."""
    reference, hypothesis = "a b c d e f g h", "b c d e x g h a"
    found = row(hypothesis, [reference], toy)
    expected = BLEU().segment_statistics(Segments(references=[reference.encode()], hypotheses=[hypothesis.encode()]))[
        0, 0
    ]
    assert found[:10].tolist() == expected.tolist()
    metric = BLEUModif(vectors="toy")
    assert metric.score(found) == BLEU().score(expected)
    assert metric.segment_score(found) == BLEU().segment_score(expected)


def test_any_sharding_and_grouping_gives_the_same_bits_on_real_text(real_data, tmp_path):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    resources, _ = trained(campaign, tmp_path)
    references = [joined(lines[:700]) for lines in campaign.references.values()]
    systems = [joined(campaign.systems[name][:700]) for name in sorted(campaign.systems)[:4]]
    metrics = [BLEUModif(vectors="toy"), BLEUModif(vectors="toy", gamma=0.6), WERModif(vectors="toy", clamp=False)]
    whole = score_systems(
        Segments(references=references, hypotheses=systems), metrics, replicates=20, resources=resources
    )
    split = score_systems(
        Segments(references=references, hypotheses=systems), metrics, replicates=20, resources=resources, shard_size=256
    )
    for one, other in zip(whole, split, strict=True):
        assert one.sums.tobytes() == other.sums.tobytes()
        assert one.replicate_scores.tobytes() == other.replicate_scores.tobytes()
    for position in (3, 0):
        alone = score_systems(
            Segments(references=references, hypotheses=[systems[position]]), metrics, resources=resources
        )
        for one, other in zip(whole, alone, strict=True):
            assert one.sums[position].tobytes() == other.sums[0].tobytes()
    assert len({each.scores[0] for each in whole}) == 3


def test_one_comparison_serves_both_metrics_and_every_gamma(toy, monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return kernel.similarities(*arguments)

    monkeypatch.setattr("steelyard.metrics.embeddings.embedding_metric.similarities", counted)
    segments = Segments(references=[b"the cat sat"], hypotheses=[b"the dog lay"], resources=toy)
    sums = [BLEUModif(vectors="toy", gamma=g).segment_statistics(segments)[0, 0, 2] for g in (0.0, 0.5, 0.9, 1.0)]
    assert sums == sorted(sums, reverse=True)
    assert sums[0] > sums[2] > sums[3] == 1
    WERModif(vectors="toy").segment_statistics(segments)
    WERModif(vectors="toy", clamp=False).segment_statistics(segments)
    assert len(calls) == 1
    BLEUModif(vectors="toy", case="mixed").segment_statistics(segments)
    assert len(calls) == 2


def test_vectors_must_be_named(toy):
    """They are never guessed, not even where there is only one choice."""
    with pytest.raises(MissingResource, match=r"bleu_modif:vectors=NAME.*steelyard vectors create"):
        resolve([BLEUModif()], RunContext(resources=toy))
    with pytest.raises(MissingResource, match=r"wer_modif needs word vectors"):
        WERModif().segment_statistics(Segments(references=[b"a"], hypotheses=[b"b"], resources=toy))
    with pytest.raises(MissingResource, match=r'no vectors called "news".*known here: toy'):
        resolve([BLEUModif(vectors="news")], RunContext(resources=toy))


def test_settling_names_the_content(toy):
    (resolved,), notices = resolve([BLEUModif(vectors="toy")], RunContext(resources=toy))
    assert resolved.vectors == toy.pinned("toy", "vectors") != "toy"
    assert f"|vectors:{resolved.vectors}|gamma:0.1" in resolved.signature(1)
    assert parse_metric(resolved.specification) == resolved
    assert notices == []
    segments = Segments(references=[b"cat"], hypotheses=[b"dog"], resources=toy)
    assert resolved.segment_statistics(segments)[0, 0, 2] == pytest.approx(0.6, abs=1e-7)
    other = BLEUModif(vectors="toy@0123456789ab")
    with pytest.raises(MissingResource, match="toy has other content"):
        resolve([other], RunContext(resources=toy))
    with pytest.raises(MissingResource, match="The vectors toy@0123456789ab are not in this run"):
        other.segment_statistics(segments)
    with pytest.raises(MissingResource):
        resolved.segment_statistics(Segments(references=[b"cat"], hypotheses=[b"dog"], resources=Resources()))


def test_decomposed_letters_are_found_composed(tmp_path):
    resources = stored({"é": [1, 0], "o": [1, 1]}, tmp_path)
    segments = Segments(references=[b"o"], hypotheses=["e\u0301 é e\u0301o éo".encode()], resources=resources)
    found = BLEUModif(vectors="toy", tok="none", order=(1,)).segment_statistics(segments)[0, 0]
    assert found[2] == pytest.approx(2 / 2**0.5, abs=1e-7)
    assert found[-3] == 2


@pytest.mark.parametrize(
    "text",
    ["gamma=-0.1", "gamma=1.1", "gamma=nan", "vectors=", "vectors=a b", "vectors=../x", "vectors=a@b", "vectors=é"],
)
def test_parameters_that_are_not_allowed(text):
    with pytest.raises(BadParameter, match="bleu_modif: "):
        parse_metric(f"bleu_modif:{text}")


def test_titles():
    assert BLEUModif().title == "BLEU_modif"
    assert BLEUModif(gamma=0.05).title == "BLEU_modif[gamma=0.05]"
    assert BLEUModif(gamma=0.3, order=(1, 2)).title == "BLEU_modif[1-2][gamma=0.3]"
    assert best_similarity(("a",), [["a"]], {}) == 1
