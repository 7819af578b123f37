"""Meteor on real data: against annotated samples, published figures of Meteor 1.5, simplemma and NLTK."""

from __future__ import annotations

import pytest

from steelyard.formats.detection import read_text
from steelyard.metrics.alignment.meteor import Meteor
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments

EXACT = Meteor(modules=("exact",), params="orig")


def resolved(metric, language, layers=()):
    (pinned,), notices = resolve([metric], RunContext(language, frozenset(layers)))
    return pinned, notices


def read(path, change=bytes):
    return change(path.read_bytes().removesuffix(b"\n"))


def lowered(text):
    return text.decode().lower().encode()


ANNOTATED = {
    ("orig", "exact"): (0.711429, 0.646377, 0.792254, 0.730004),
    ("orig", "exact,lemma"): (0.998542, 0.646377, 0.792254, 0.831937),
    ("2007", "exact"): (0.661698, 0.600558, 0.702077, 0.654488),
    ("2007", "exact,lemma"): (0.944316, 0.600558, 0.702077, 0.747554),
}


FILES = {
    "conllu": (("sample.conllu", None), ("sample_cand.conllu", None)),
    "tectomt": (("sample.tmt", "TCzechA"), ("sample_cand.tmt", None)),
    "treex": (("sample.treex.gz", "cs_ref"), ("sample_cand.treex", None)),
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
@pytest.mark.parametrize(("params", "modules"), ANNOTATED)
def test_annotated_samples(real_data, params, modules, files):
    """Figures worked out from the annotation by hand."""
    folder = real_data.parent / "samples"
    if not folder.exists():
        pytest.skip(f"no annotated samples at {folder}")
    texts = [read_text(folder / name, part=part) for name, part in files]
    metric, _ = resolved(Meteor.from_texts({"modules": modules, "params": params}), "cs", ["lemma"])
    assert metric.layers == (("lemma",) if "lemma" in modules else ())
    layers = {"lemma": [text.layers["lemma"] for text in texts]}
    (found,) = score_systems(
        Segments(references=[texts[0].bytes], hypotheses=[texts[1].bytes], layers=layers), [metric], segment_scores=True
    )
    got = [*found.segment_scores[0], found.scores[0]]
    assert [value / 100 for value in got] == pytest.approx(ANNOTATED[params, modules], abs=6e-7)


CAMPAIGNS = {"wmt22.en-cs": ("B", "Online-W", 25387, 0.71510), "wmt22.de-en": ("A", "PROMT", 24362, 0.62406)}


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_equals_meteor_1_5_where_perfect_segments_are_treated_alike(real_data, campaign):
    """Matches, and the corpus score to what the two kinds of linking differ; Meteor 1.5 forgives perfect segments."""
    label, system, matches, expected = CAMPAIGNS[campaign]
    folder = real_data / campaign
    reference, hypothesis = read(folder / "refs" / f"{label}.txt"), read(folder / "systems" / f"{system}.txt")
    (found,) = EXACT.segment_statistics(Segments(references=[reference], hypotheses=[hypothesis]))
    linked, chunks, hypothesis_length, reference_length, limited = found.T
    assert linked.sum() == matches
    assert not limited.any()
    perfect = (linked == hypothesis_length) & (linked == reference_length) & (chunks == 1)
    assert perfect.sum() > 10
    found[perfect, 1] = 0
    assert EXACT.score(found.sum(axis=0)) / 100 == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_no_search_is_cut_short_on_real_data(real_data, campaign):
    folder = real_data / campaign
    references, systems = ([read(path) for path in sorted((folder / kind).iterdir())] for kind in ("refs", "systems"))
    found = Meteor(modules=("exact",)).segment_statistics(Segments(references=references, hypotheses=systems))
    assert not found[..., -1].any()


@pytest.mark.parametrize(("campaign", "language", "lemmas"), [("en-cs", "cs", 1732), ("de-en", "en", 1059)])
def test_links_by_simplemma_on_real_data(real_data, campaign, language, lemmas):
    """Measured elsewhere on lowercased text; in natural case simplemma takes a few words for others."""
    label, system, matches, _ = CAMPAIGNS[f"wmt22.{campaign}"]
    folder = real_data / f"wmt22.{campaign}"
    paths = folder / "refs" / f"{label}.txt", folder / "systems" / f"{system}.txt"
    metric, _ = resolved(Meteor(modules=("exact", "lemma")), language)
    reference, hypothesis = (read(path, lowered) for path in paths)
    lowercased = metric.segment_statistics(Segments(references=[reference], hypotheses=[hypothesis])).sum(axis=1)[0]
    assert lowercased[:2].tolist() == [matches, lemmas]
    reference, hypothesis = map(read, paths)
    natural = metric.segment_statistics(Segments(references=[reference], hypotheses=[hypothesis])).sum(axis=1)[0]
    assert natural[0] == matches
    assert 0 < abs(natural[1] - lemmas) < 0.01 * lemmas


class NoWordNet:
    @staticmethod
    def synsets(word):
        return []


class NoStemmer:
    @staticmethod
    def stem(word):
        return word


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_equals_nltk_where_no_linked_word_is_repeated(real_data, campaign):
    """Elsewhere NLTK takes the last of equal words, whatever crosses."""
    from nltk.translate.meteor_score import single_meteor_score

    label, system, *_ = CAMPAIGNS[campaign]
    folder = real_data / campaign
    texts = read(folder / "refs" / f"{label}.txt", lowered), read(folder / "systems" / f"{system}.txt", lowered)
    metric = Meteor(modules=("exact",), params="orig", tok="none")
    ours = metric.segment_score(metric.segment_statistics(Segments(references=texts[:1], hypotheses=texts[1:]))[0])
    compared = 0
    for mine, reference, hypothesis in zip(ours, *(text.decode().split("\n") for text in texts), strict=True):
        own, others = hypothesis.split(), reference.split()
        if any(own.count(word) + others.count(word) > 2 for word in {*own} & {*others}):
            continue
        expected = single_meteor_score(others, own, stemmer=NoStemmer, wordnet=NoWordNet)
        assert mine == pytest.approx(100 * expected, rel=1e-12)
        compared += 1
    assert compared > 700
