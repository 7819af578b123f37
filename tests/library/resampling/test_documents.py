"""Resampling by document, against slow definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import evaluate
from steelyard.errors import BadParameter
from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.metrics.registry import parse_metrics
from steelyard.metrics.score_systems import resampled_run, score_systems
from steelyard.metrics.segments import Segments
from steelyard.resampling.documents import Documents, few_documents
from steelyard.resampling.paired import paired_randomization
from steelyard.resampling.randomization import sign_flips

NAMES = st.lists(st.sampled_from("abcde"), min_size=1, max_size=40)


@given(NAMES, st.integers(1, 3), st.data())
def test_sums_of_documents_are_those_of_their_segments(names, columns, data):
    documents = Documents.from_names(names)
    assert (len(documents), documents.count) == (len(names), len(set(names)))
    statistics = np.random.default_rng(len(names)).integers(-9, 9, (2, len(names), columns)).astype(float)
    order = list(dict.fromkeys(names))
    slow = np.stack([statistics[:, [name == each for name in names]].sum(axis=1) for each in order], axis=1)
    assert (documents.added_up(statistics) == slow).all()
    cut = data.draw(st.integers(0, len(names)))
    parts = documents.added_up(statistics[:, :cut]) + documents.added_up(statistics[:, cut:], cut)
    assert (parts == slow).all(), "runs add up to the whole"


@settings(max_examples=20)
@given(NAMES, st.integers(0, 2**64 - 1))
def test_a_replicate_draws_documents_with_all_their_segments(names, seed):
    documents = Documents.from_names(names)
    statistics = np.random.default_rng(3).integers(0, 9, (1, len(names), 2)).astype(float)
    (sums,) = resampled_run([statistics], len(names), seed, 7, 0, documents)
    counts = resampling_counts(documents.count, seed, 7, 0, documents.count).astype(float)
    slow = counts[:, documents.of_segment] @ statistics[0]
    assert (sums[0] == slow).all()


def texts(segments=600, systems=3):
    random = np.random.default_rng(8)
    words = np.array(["the", "a", "cat", "dog", "tug", "sits", "runs", "there", "here", "now"])
    lines = [[" ".join(random.choice(words, 6)) for _ in range(segments)] for _ in range(systems + 1)]
    return Segments.from_lines(references=[lines[0]], hypotheses=lines[1:]), [
        f"d{n // 7 % 90}" for n in range(segments)
    ]


METRICS = ["bleu", "chrf", "ter", "nist"]


@pytest.mark.parametrize("shard_size", [256, 512, 10_000])
def test_the_same_bits_however_shards_are_cut(shard_size):
    segments, names = texts()
    documents = Documents.from_names(names)
    metrics = parse_metrics(METRICS)
    whole = score_systems(segments, metrics, replicates=50, seed=4, documents=documents, keep_statistics=True)
    cut = score_systems(
        segments, metrics, replicates=50, seed=4, documents=documents, shard_size=shard_size, keep_statistics=True
    )
    for one, other in zip(whole, cut, strict=True):
        assert (one.replicate_scores == other.replicate_scores).all()
        assert (one.statistics == other.statistics).all()
        assert one.statistics.shape[1] == documents.count
    plain = score_systems(segments, metrics, replicates=50, seed=4)
    assert all((one.scores == other.scores).all() for one, other in zip(whole, plain, strict=True))
    assert not any(
        np.array_equal(one.replicate_scores, other.replicate_scores) for one, other in zip(whole, plain, strict=True)
    )


def test_a_document_for_each_segment_is_resampling_segments():
    segments, _ = texts()
    metrics = parse_metrics(METRICS)
    documents = Documents.from_names(range(len(segments)))
    one = score_systems(segments, metrics, replicates=30, documents=documents)
    other = score_systems(segments, metrics, replicates=30)
    for a, b in zip(one, other, strict=True):
        assert (a.replicate_scores == b.replicate_scores).all()


def test_documents_change_places_as_a_whole():
    segments, names = texts(segments=60, systems=2)
    documents = Documents.from_names(names)
    (result,) = score_systems(segments, parse_metrics(["wer"]), documents=documents, keep_statistics=True)
    (found,) = paired_randomization([result], 0, trials=200, seed=9)
    flips = sign_flips(documents.count, 9, 0, 200).astype(bool)[:, documents.of_segment]
    (plain,) = score_systems(segments, parse_metrics(["wer"]), keep_statistics=True)
    one, other = plain.statistics
    mixed_a = np.where(flips[..., None], other, one).sum(axis=1)
    mixed_b = np.where(flips[..., None], one, other).sum(axis=1)
    differences = plain.metric.score(mixed_b) - plain.metric.score(mixed_a)
    real = abs(plain.scores[1] - plain.scores[0])
    assert found.p == (1 + (np.abs(differences) >= real * (1 - 1e-9)).sum()) / 201


def test_documents_of_other_texts_are_refused():
    segments, names = texts()
    with pytest.raises(BadParameter, match="given for 599 segments, and there are 600"):
        score_systems(segments, parse_metrics(["bleu"]), documents=Documents.from_names(names[1:]))
    with pytest.raises(BadParameter, match="known for 600 segments, and there are 601"):
        Documents.from_names(names).added_up(np.zeros((1, 601, 1)))


def test_few_documents():
    assert "only 19 documents" in few_documents(Documents.from_names(range(19)))
    assert not few_documents(Documents.from_names(range(20)))


def test_signature_and_python():
    lines = ["the cat sat", "on the mat", "a dog ran", "it rained"]
    given = {"ours": ["a cat sat", "on a mat", "the dog ran", "it rained"], "theirs": lines[::-1]}
    found = evaluate(given, references=[lines], metrics=["bleu"], bootstrap=20, documents=["x", "x", "y", "z"])
    assert found["ours"]["bleu"].signature.startswith("nrefs:1|bs:20|seed:12345|resample:document|case:mixed")
    plain = evaluate(given, references=[lines], metrics=["bleu"], bootstrap=20)
    assert "resample" not in plain["ours"]["bleu"].signature
    assert found["ours"]["bleu"].score == plain["ours"]["bleu"].score
    assert found.compare("ours", "theirs", test="randomization", trials=50)[0].p >= 1 / 51
