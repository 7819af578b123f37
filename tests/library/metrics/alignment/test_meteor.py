"""Meteor against NLTK, published figures, annotated samples and its formula."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.main import main
from steelyard.errors import BadParameter, BadText, MissingLayer, MissingResource
from steelyard.metrics.alignment.lemmas import pinned
from steelyard.metrics.alignment.meteor import Meteor
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.segments import Segments
from tests.library.campaigns import joined
from tests.library.metrics.alignment.meteor_definition import best_of_module, score

EXACT = Meteor(modules=("exact",), params="orig")
BARE = {"modules": "exact"}


def statistics(metric, hypothesis, *references, resources=None, **more):
    """Of one segment, by column."""
    texts = Segments(references=[text.encode() for text in references], hypotheses=[hypothesis.encode()], **more)
    found = metric.segment_statistics(texts.with_resources(resources=resources))
    return dict(zip(metric.columns, found[0, 0].tolist(), strict=True))


def resolved(metric, language="", layers=(), **files):
    (pinned,), notices = resolve([metric], RunContext(language, frozenset(layers), Resources(files=files)))
    return pinned, notices


def read(path, change=bytes):
    return change(path.read_bytes().removesuffix(b"\n"))


def lowered(text):
    return text.decode().lower().encode()


@pytest.mark.parametrize(
    ("hypothesis", "reference", "matches", "chunks"),
    [
        ("the cat sat on the mat", "the cat sat on the mat", 6, 1),
        ("on the mat sat a cat", "a cat sat on the mat", 6, 3),
        # Crosses count before chunks: "the" is not linked to keep "on the mat" and "the cat" together.
        ("on the mat sat the cat", "the cat sat on the mat", 6, 6),
        ("The cat", "the CAT", 2, 1),
        ("a b", "c d", 0, 0),
        ("", "a", 0, 0),
        ("a", "", 0, 0),
        ("a a a", "a", 1, 1),
    ],
)
@pytest.mark.parametrize("params", ["orig", "2007"])
def test_single_segments(hypothesis, reference, matches, chunks, params):
    metric = Meteor(modules=("exact",), params=params)
    found = statistics(metric, hypothesis, reference)
    lengths = len(hypothesis.split()), len(reference.split())
    assert list(found.values()) == [matches, chunks, *lengths, 0]
    expected = 100 * score(matches, *lengths, chunks, params)
    assert metric.score(np.array(list(found.values()))) == pytest.approx(expected, rel=1e-12)


def test_the_example_of_the_page():
    found = statistics(EXACT, "on the mat sat a cat", "a cat sat on the mat")
    assert EXACT.score(np.array(list(found.values()))) == pytest.approx(100 * (1 - 0.5 * (3 / 6) ** 3))


words = st.lists(st.sampled_from("abc"), max_size=5).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(words, st.lists(words, min_size=1, max_size=3), st.sampled_from(["orig", "2007"]), st.booleans())
def test_the_best_reference_counts(hypothesis, references, params, variable):
    if variable:
        references = [*references, "a"]
    rows = []
    for reference in references:
        if not variable or reference:
            own, others = hypothesis.split(), reference.split()
            matches, _, chunks = best_of_module([], own, others, str.__eq__)
            rows.append(
                (score(matches, len(own), len(others), chunks, params), [matches, chunks, len(own), len(others)])
            )
    metric = Meteor(modules=("exact",), params=params, tok="none")
    found = list(statistics(metric, hypothesis, *references, variable_references=variable).values())
    best = max(value for value, _ in rows)
    assert metric.score(np.array(found)) == pytest.approx(100 * best, rel=1e-12)
    assert found[:-1] in [row for value, row in rows if value == pytest.approx(best, rel=1e-12)]


def test_of_equally_good_references_the_first_counts():
    assert statistics(EXACT, "a b", "x y z", "x")["ref_len"] == 3
    assert statistics(EXACT, "a b", "x", "x y z")["ref_len"] == 1


def test_modules_run_in_the_order_given(tmp_path):
    table, groups = tmp_path / "table", tmp_path / "groups"
    table.write_text("cats\tcat\n", "utf-8")
    groups.write_text("cats dogs\n", "utf-8")
    counts = []
    for modules in ("exact,lemma,synonym", "synonym,lemma,exact", "lemma,exact", "exact,synonym"):
        metric = Meteor.from_texts({"modules": modules, "lemmas": "table", "synonyms": "groups"})
        metric, notices = resolved(metric, table=table, groups=groups)
        assert not notices
        resources = Resources(files={"table": table, "groups": groups})
        counts.append(statistics(metric, "cats sat", "dogs sat cats cat", resources=resources))
    exact_first, synonym_first, lemma_first, two = counts
    assert (exact_first["m_exact"], exact_first["m_lemma"], exact_first["m_synonym"]) == (2, 0, 0)
    assert (synonym_first["m_synonym"], synonym_first["m_lemma"], synonym_first["m_exact"]) == (1, 1, 0)
    assert (lemma_first["m_lemma"], lemma_first["m_exact"]) == (2, 0)
    assert list(two) == ["m_exact", "m_synonym", "chunks", "hyp_len", "ref_len", "limited"]


def test_synonyms_are_looked_up_by_form_and_by_lemma(tmp_path):
    table, groups = tmp_path / "table", tmp_path / "groups"
    table.write_text("kittens\tkitten\nflew\tfly\n", "utf-8")
    groups.write_text("# small animals\nkitten Kitty\nflew escaped\n", "utf-8")
    files = {"table": table, "groups": groups}
    links = {}
    for lemmas in ("table", "none"):
        metric, _ = resolved(Meteor(modules=("exact", "synonym"), lemmas=lemmas, synonyms="groups"), **files)
        found = statistics(metric, "Kittens flew", "a kitty escaped", resources=Resources(files=files))
        links[lemmas] = found["m_synonym"]
    assert links == {"table": 2, "none": 1}


def test_a_word_without_a_lemma_has_the_synonyms_of_its_form_alone(tmp_path):
    groups = tmp_path / "groups"
    groups.write_text("boat ship\nquay pier\nsail canvas\n", "utf-8")
    metric, _ = resolved(Meteor(modules=("synonym",), synonyms="groups"), "cs", ["lemma"], groups=groups)
    found = []
    for lemmas in ((b"_ _ _", b"_ _ _"), (b"x _ _", b"_ y _"), (b"_ _ canvas", b"_ sail _"), (b"_ _ quay", b"_ a _")):
        texts = {"layers": {"lemma": list(lemmas)}, "resources": Resources(files={"groups": groups})}
        found.append(statistics(metric, "boat a quay", "ship pier b", **texts)["m_synonym"])
    # The lemmas of the reference first: where "b" is canvas and "a" is sail, these are synonyms, too.
    assert found == [2, 2, 3, 2]


def test_lemmas_are_those_of_the_natural_case():
    metric, _ = resolved(Meteor(modules=("lemma",)), "de")
    # "Waren" are goods, "waren" is a form of "to be".
    assert statistics(metric, "Waren", "Ware")["m_lemma"] == 1
    assert statistics(metric, "waren", "Ware")["m_lemma"] == 0
    # Markup in capitals is markup only once it is lowercased; that segment is lemmatised in lower case, no other.
    found = metric.segment_statistics(
        Segments(references=[joined(["Ware", "Ware"])], hypotheses=[joined(["Waren &AMP; x", "Waren"])])
    )
    assert found[0, :, 0].tolist() == [0, 1]


def test_stems():
    metric, notices = resolved(Meteor(modules=("exact", "stem")), "en")
    assert not notices
    assert statistics(metric, "He Running relations", "she runs relational")["m_stem"] == 2
    assert f"|stems:{pinned('snowball')}|" in metric.signature(1)


def test_words_whose_case_is_kept_are_stemmed_and_looked_up_in_lowercase(tmp_path):
    metric, _ = resolved(Meteor(modules=("exact", "stem"), case="mixed"), "en")
    found = statistics(metric, "Running Sat", "runs sat")
    assert (found["m_exact"], found["m_stem"]) == (0, 2)
    table, groups = tmp_path / "table", tmp_path / "groups"
    table.write_text("Flew\tFly\n", "utf-8")
    groups.write_text("Cat kitten\nfly escape\n", "utf-8")
    files = {"table": table, "groups": groups}
    forms, _ = resolved(Meteor(modules=("synonym",), lemmas="none", synonyms="groups", case="mixed"), **files)
    assert statistics(forms, "CAT", "Kitten", resources=Resources(files=files))["m_synonym"] == 1
    for case, lemmas in (("mixed", 0), ("lc", 1)):
        modules = ("lemma", "synonym")
        metric, _ = resolved(Meteor(modules=modules, lemmas="table", synonyms="groups", case=case), **files)
        found = statistics(metric, "CAT Flew", "Kitten ESCAPE", resources=Resources(files=files))
        assert found["m_synonym"] == 2
        # Lemmas are compared with their case where that of words is kept.
        found = statistics(metric, "Flew", "fly", resources=Resources(files=files))
        assert found["m_lemma"] == lemmas


def test_words_are_those_of_the_texts_where_lemmas_come_with_them():
    for metric in (Meteor(lemmas="layer"), Meteor(lemmas="layer", tok="none")):
        assert metric.separates_words("zh")
    assert not Meteor().separates_words("zh")
    assert Meteor(tok="zh").separates_words("zh")
    assert Meteor().separates_words("cs")


def test_a_word_without_lemma_matches_none():
    metric, _ = resolved(Meteor(), "cs", ["lemma"])
    assert (metric.tok, metric.lemmas, metric.lang) == ("none", "layer", "none")
    found = statistics(metric, "p x 1.", "q y 1.", layers={"lemma": [b"l _ 1", b"l _ 1"]})
    assert (found["m_exact"], found["m_lemma"]) == (1, 1)
    with pytest.raises(BadText, match=r"segment 1 of text 2 \(references first\) has 2 words but 3 lemmas"):
        statistics(metric, "a b", "a b", layers={"lemma": [b"l l", b"l l l"]})
    with pytest.raises(MissingLayer, match='"lemma"'):
        statistics(metric, "a b", "a b")


def test_unresolved_it_does_without_what_is_not_there():
    assert Meteor().columns == ("m_exact", "chunks", "hyp_len", "ref_len", "limited")
    assert statistics(Meteor(), "the cats", "the cat")["m_exact"] == 1
    for parameters in ({"lemmas": "simplemma"}, {"synonyms": "groups"}, {"modules": ("stem",), "stems": "snowball"}):
        with pytest.raises(MissingResource, match=r"metrics\.resolution\.resolve"):
            statistics(Meteor(**parameters), "a", "a")
    with pytest.raises(MissingResource, match="none of the modules lemma"):
        statistics(Meteor(modules=("lemma",)), "a", "a")


@pytest.mark.parametrize(
    ("values", "language", "notice", "pins"),
    [
        ({}, "", "module lemma is skipped, since the language is not known", "lemmas:none|stems:none|synonyms:none"),
        ({}, "xx", 'simplemma does not know the language "xx"', "lemmas:none|stems:none|synonyms:none|lang:none"),
        ({}, "cs-CZ", "module synonym is skipped", f"lemmas:{pinned('simplemma')}|stems:none|synonyms:none|lang:cs-CZ"),
        ({"lang": "de"}, "cs", "module synonym is skipped", "lang:de|"),
        ({"lemmas": "none"}, "cs", "module lemma is skipped (lemmas=none)", "lemmas:none|"),
        ({"modules": "stem,exact"}, "xx", "Snowball does not know", "stems:none|"),
        ({"modules": "stem,exact", "stems": "none"}, "cs", "module stem is skipped (stems=none)", "stems:none|"),
    ],
)
def test_a_module_without_its_resource_is_skipped(values, language, notice, pins):
    metric, notices = resolved(Meteor.from_texts(values), language)
    assert notice in " ".join(notices)
    assert pins in metric.signature(1)
    again, _ = resolved(parse_metric(metric.specification), "fi")
    assert again == metric
    assert resolved(Meteor.from_texts(BARE), language)[1] == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lemmas": "simplemma", "lang": "xx"}, "lemmas=simplemma, but simplemma does not know"),
        ({"lemmas": "simplemma"}, "the language is not known"),
        ({"modules": "stem", "stems": "snowball", "lang": "zh"}, "stems=snowball, but Snowball does not know"),
        ({"lemmas": "simplemma-0.1", "lang": "cs"}, r"simplemma-0.1 is asked for, but simplemma-.* is installed"),
        ({"modules": "stem", "stems": "snowball-0.1", "lang": "cs"}, "snowball-0.1 is asked for"),
        ({"synonyms": "groups"}, 'no synonyms called "groups"'),
        ({"lemmas": "table"}, 'no lemmas called "table"'),
        ({"modules": "synonym"}, "No module is left"),
        ({"modules": "lemma,stem"}, "No module is left"),
    ],
)
def test_what_is_asked_for_must_be_there(values, message):
    with pytest.raises(MissingResource, match=message):
        resolved(Meteor.from_texts(values))


def test_lemmas_are_skipped_without_their_package(monkeypatch):
    monkeypatch.setattr("steelyard.metrics.alignment.lemmas.has_simplemma", lambda: False)
    metric, notices = resolved(Meteor(), "cs")
    assert "lemma is skipped, since simplemma is not installed (pip install 'steelyard[lemmas]')" in " ".join(notices)
    assert metric.lemmas == "none"
    with pytest.raises(MissingResource, match="lemmas=simplemma, but simplemma is not installed"):
        resolved(Meteor(lemmas="simplemma"), "cs")


def test_a_worker_with_another_version_refuses():
    for parameters in ({"lemmas": "simplemma-0.1"}, {"modules": ("stem",), "stems": "snowball-0.1"}):
        with pytest.raises(MissingResource, match=r"Install (simplemma|snowballstemmer)==0\.1 on every worker"):
            statistics(Meteor(**parameters, lang="cs"), "a", "a")


def test_layered_lemmas_must_be_in_every_text():
    with pytest.raises(MissingLayer):
        resolved(Meteor(lemmas="layer"), "cs")


def test_a_search_that_is_cut_short_is_reported():
    metric = Meteor(modules=("exact",), steps=1)
    found = metric.segment_statistics(Segments(references=[b"a b a c\na"], hypotheses=[b"c a b\na"]))[0]
    assert found[:, -1].tolist() == [1, 0]
    assert metric.details(found.sum(axis=0)) == {"limited": 1.0}
    assert EXACT.details(EXACT.segment_statistics(Segments(references=[b"a b a c"], hypotheses=[b"c a b"]))[0, 0]) == {}
    # Also where it was with a reference that then did not count.
    assert statistics(metric, "c a b", "c a b", "a b a c")["limited"] == 1


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("modules", "exact,exact"), ("modules", ""), ("modules", "exact,lema"), ("params", "2008"), ("steps", "-1"),
        ("lang", "klingon, spoken"), ("lemmas", "../table"), ("lemmas", ""), ("synonyms", "a b"), ("stems", "porter"),
    ],
)  # fmt: skip
def test_parameters_that_are_not_allowed(key, text):
    with pytest.raises(BadParameter, match=f"meteor: {key}"):
        Meteor.from_texts({key: text})


def test_score_names_resources_and_says_what_is_skipped(tmp_path: Path, capsys):
    for name, text in {"ref.txt": "the big cat\n", "sys.txt": "the large cats\n", "groups": "big large\n"}.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = [str(tmp_path / "ref.txt"), "-i", str(tmp_path / "sys.txt"), "-l", "cs-en", "-f", "json"]
    assert main(["score", *files, "-m", "meteor"]) == 0
    captured = capsys.readouterr()
    assert "note: meteor: the module synonym is skipped" in captured.err
    (without,) = json.loads(captured.out)["systems"][0]["scores"]
    assert without["title"] == "Meteor[exact+lemma]"
    synonyms = ["--resource", f"groups={tmp_path / 'groups'}"]
    assert main(["score", *files, "-m", "meteor:synonyms=groups", *synonyms]) == 0
    captured = capsys.readouterr()
    (scored,) = json.loads(captured.out)["systems"][0]["scores"]
    assert captured.err == ""
    assert "|synonyms:groups@" in scored["signature"]
    assert scored["score"] == pytest.approx(100 * score(3, 3, 3, 1, "2007"), rel=1e-12)
    assert without["score"] == pytest.approx(100 * score(2, 3, 3, 2, "2007"), rel=1e-12)


def test_what_it_says_of_itself():
    metric = Meteor.from_texts({"modules": "stem,exact", "params": "orig", "stems": "snowball-3.1.1", "lang": "en"})
    assert metric.title == "Meteor[stem+exact][orig]"
    assert metric.columns == ("m_stem", "m_exact", "chunks", "hyp_len", "ref_len", "limited")
    assert metric.signature(1).startswith("nrefs:1|case:lc|tok:13a|version:")
    assert parse_metric(metric.specification) == metric
