"""WER_modif against its definition, gensim and WER."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.metrics.edit.wer import WER
from steelyard.metrics.embeddings.wer_modif import WERModif
from steelyard.metrics.segments import Segments
from tests.library.campaigns import campaigns, joined, read_campaign
from tests.library.metrics.embeddings.vector_definition import distance
from tests.library.vocabularies import batch_with, letters, some_vectors, stored, trained

SMALL = {"cat": [1, 0], "dog": [0.6, 0.8], "sat": [0, 1], "lay": [0.28, 0.96], "not": [-1, 0], "nil": [0, 0]}


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return stored(SMALL, tmp_path_factory.mktemp("toy"))


def row(hypothesis, references, resources, **parameters):
    segments = Segments(
        references=[text.encode() for text in references], hypotheses=[hypothesis.encode()], resources=resources
    )
    return WERModif(vectors="toy", **parameters).segment_statistics(segments)[0, 0].tolist()


def test_the_example_of_the_docs(toy):
    """docs/reference/metrics/wer_modif.md."""
    found = row("the dog lay there", ["the cat sat"], toy)
    assert found[0] == pytest.approx(0.4 + 0.04 + 1, abs=1e-7)
    assert found[1:] == [3, 4, 2, 3, 1]
    metric = WERModif(vectors="toy")
    assert metric.score(np.array(found)) == pytest.approx(48, abs=1e-5)
    assert metric.details(np.array(found)) == {"unknown words": 50.0, "unknown reference words": 100 / 3}


@pytest.mark.parametrize(
    ("hypothesis", "references", "clamp", "dist", "length"),
    [
        ("x", ["x"], True, 0, 1),  # unknown, but equal
        ("x", ["y"], True, 1, 1),
        ("cat", ["y"], True, 1, 1),
        ("not", ["cat"], True, 1, 1),  # the cosine is -1
        ("not", ["cat"], False, 2, 1),
        ("not", ["dog"], False, 1.6, 1),
        ("not not", ["dog"], False, 2.6, 1),
        ("nil", ["cat"], True, 1, 1),  # a vector without direction
        ("nil", ["nil"], True, 0, 1),
        ("dog", ["cat", "sat"], True, 0.2, 1),  # the nearest reference
        ("dog", ["dog x", "x y dog"], True, 1, 2),
        ("x y", ["y", "x q"], True, 1, 1),  # the shorter one on ties
        ("x y", ["x q", "y"], True, 1, 1),
        ("", ["cat sat"], True, 2, 2),
        ("cat sat", [""], True, 2, 0),
        ("", [""], True, 0, 0),
    ],
)
def test_single_distances(toy, hypothesis, references, clamp, dist, length):
    found = row(hypothesis, references, toy, clamp=clamp)
    assert found[0] == pytest.approx(dist, abs=1e-7)
    assert found[1] == length


def test_composed_and_decomposed_letters_are_the_same(tmp_path):
    """In references and in outputs, of known words and of unknown ones; vectors have composed ones."""
    resources = stored({"\u00e9": [1, 0], "o": [0.6, 0.8]}, tmp_path)
    found = {
        tuple(row(hypothesis, [reference], resources, tok=tok))
        for hypothesis in ("\u00e9 o \u00fc", "e\u0301 o u\u0308", "e\u0301 o \u00fc")
        for reference in ("o \u00e9 \u00fc", "o e\u0301 u\u0308", "o \u00e9 u\u0308")
        for tok in ("13a", "none")
    }
    assert [each[:3] for each in found] == [(pytest.approx(0.8, abs=1e-7), 3, 3)]


def test_without_reference_words_the_score_is_100_or_0():
    metric = WERModif(vectors="toy")
    assert metric.score(np.array([[2.0, 0, 2, 0, 0, 0], [0.0, 0, 0, 0, 0, 0]])).tolist() == [100, 0]


@settings(max_examples=100, deadline=None)
@given(campaigns(), st.booleans())
def test_without_known_words_it_is_wer(campaign, variable):
    if variable:
        campaign.references["always"] = ["a b the"] * len(next(iter(campaign.systems.values())))
    with tempfile.TemporaryDirectory() as folder:
        resources = stored({"nowhere": [1.0]}, folder)
        texts = [[joined(lines) for lines in each.values()] for each in (campaign.references, campaign.systems)]
        segments = Segments(references=texts[0], hypotheses=texts[1], variable_references=variable, resources=resources)
        metric, plain = WERModif(vectors="toy"), WER(case="lc")
        statistics, expected = metric.segment_statistics(segments), plain.segment_statistics(segments.nfc)
        assert np.array_equal(statistics[..., :2], expected)
        assert np.array_equal(WERModif(vectors="toy", clamp=False).segment_statistics(segments)[..., :2], expected)
        assert metric.score(statistics).tobytes() == plain.score(expected).tobytes()


def test_without_known_words_it_is_wer_on_real_text(real_data, tmp_path):
    campaign = read_campaign(real_data / "wmt22.en-cs")
    texts = [[joined(lines) for lines in each.values()] for each in (campaign.references, campaign.systems)]
    segments = Segments(references=texts[0], hypotheses=texts[1], resources=stored({"nowhere": [1.0]}, tmp_path))
    expected = WER(case="lc").segment_statistics(segments)
    assert np.array_equal(WERModif(vectors="toy").segment_statistics(segments)[..., :2], expected)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(letters, min_size=2, max_size=2), min_size=1, max_size=3),
    st.lists(st.lists(letters, min_size=2, max_size=2), min_size=1, max_size=2),
    st.booleans(),
)
def test_equals_the_definition(references, systems, clamp):
    vectors = some_vectors(5)
    with tempfile.TemporaryDirectory() as folder:
        segments = batch_with(stored(vectors, folder), references, systems)
        statistics = WERModif(vectors="toy", tok="none", clamp=clamp).segment_statistics(segments)
    for s, system in enumerate(systems):
        for i, words in enumerate(system):
            found = [(distance(words, text[i], vectors, clamp), len(text[i])) for text in references]
            assert statistics[s, i, 0] == pytest.approx(min(found)[0], abs=1e-6)
            assert any(
                statistics[s, i, 1] == length and statistics[s, i, 0] == pytest.approx(dist, abs=1e-6)
                for dist, length in found
            )
    assert np.array_equal(statistics * 2**24, np.rint(statistics * 2**24))


def test_equals_gensim_on_real_text(real_data, tmp_path):
    """A table of costs from gensim's similarity, and the distance by the full table."""
    campaign = read_campaign(real_data / "wmt22.en-cs")
    resources, keyed = trained(campaign, tmp_path)
    vectors = {word: keyed[word].tolist() for word in keyed.index_to_key}
    rows = range(0, 2000, 37)
    reference = [campaign.references["B"][i] for i in rows]
    system = [campaign.systems["Online-W"][i] for i in rows]
    segments = Segments(references=[joined(reference)], hypotheses=[joined(system)], resources=resources)
    words = segments.words("13a", "lc")
    types = words.lines.decode().split("\n")
    texts = [[types[w] for w in words.ids[a:b]] for a, b in zip(words.starts, words.starts[1:], strict=False)]
    for clamp in (True, False):
        found = WERModif(vectors="toy", clamp=clamp).segment_statistics(segments)[0, :, 0]
        expected = [levenshtein(keyed, texts[len(rows) + i], texts[i], clamp) for i in range(len(rows))]
        assert found == pytest.approx(expected, abs=2e-5)
    one, other = next((a, b) for a in vectors for b in vectors if a != b)
    assert distance([one], [other], vectors, False) == pytest.approx(1 - keyed.similarity(one, other), abs=1e-5)


def levenshtein(keyed, hypothesis, reference, clamp):
    last = list(range(len(reference) + 1))
    for word in hypothesis:
        row = [last[0] + 1]
        for j, other in enumerate(reference):
            price = 0.0 if word == other else 1.0
            if price and word in keyed and other in keyed:
                price = 1 - float(keyed.similarity(word, other))
            row.append(min(last[j] + (min(price, 1) if clamp else price), last[j + 1] + 1, row[j] + 1))
        last = row
    return last[-1]


def test_titles():
    assert WERModif().title == "WER_modif"
    assert WERModif(clamp=False).title == "WER_modif[unclamped]"
