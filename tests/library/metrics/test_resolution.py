"""Settling: metrics get what they depend on, once and for all."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import pytest

from steelyard.errors import BadParameter, BadVectors, MissingLayer, MissingResource
from steelyard.metrics.edit.per import PER
from steelyard.metrics.embeddings.bleu_modif import BLEUModif
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.parameters import parameter
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext
from tests.library.vocabularies import stored


@dataclass(frozen=True)
class Layered(PER):
    """A metric for these tests: it wants lemmas, and to know the language."""

    name: ClassVar[str] = "layered"

    lang: str = parameter("auto", "language", ours=True)

    @property
    def layers(self):
        return ("lemma",)

    def resolve(self, context):
        if self.lang != "auto":
            return self, []
        return dataclasses.replace(self, lang=context.language or "none"), [f"{self.name}: the language is set."]


def test_metrics_that_depend_on_nothing_stay_as_they_are():
    assert resolve([BLEU(), PER()], RunContext()) == ([BLEU(), PER()], [])


def test_what_a_metric_takes_is_pinned_and_said():
    context = RunContext("cs", frozenset({"lemma"}))
    resolved, notices = resolve([PER(), Layered()], context)
    assert resolved == [PER(), Layered(lang="cs")]
    assert notices == ["layered: the language is set."]
    assert resolve(resolved, RunContext("de", frozenset({"lemma"}))) == (resolved, [])


def test_metrics_that_become_the_same_are_named_twice():
    asked = [BLEU(), BLEU(tok="auto")]
    assert resolve(asked, RunContext("zh"))[0] == [BLEU(), BLEU(tok="zh")]
    for each in (asked, asked[::-1]):
        with pytest.raises(BadParameter, match='The metric "bleu" is named twice'):
            resolve(each, RunContext("cs"))


def test_words_that_are_none_in_the_language_are_noticed_unless_the_texts_are_annotated():
    metrics, layers = [BLEU(tok="none"), PER(), BLEU(tok="zh")], frozenset({"lemma"})
    plain, annotated = (resolve(metrics, RunContext("zh", each))[1] for each in (frozenset(), layers))
    assert [notice.partition(":in zh")[0].split(": ")[0] for notice in plain] == ["bleu:tok=none", "per"]
    assert annotated == plain[1:], "blanks separate the words of annotated texts, which 13a would cut"
    assert resolve(metrics, RunContext("cs"))[1] == resolve(metrics, RunContext())[1] == []
    _, notices = resolve([Layered(tok="none"), PER()], RunContext("zh", layers))
    assert notices == ["layered: the language is set.", *plain[1:]], "what metrics say comes first"


@dataclass(frozen=True)
class Opened(PER):
    """A metric for these tests: it finds out where it is resolved that it wants lemmas."""

    name: ClassVar[str] = "opened"

    from_layer: bool = parameter(False, "whether it takes them", ours=True)

    @property
    def layers(self):
        return ("lemma",) if self.from_layer else ()

    def resolve(self, context):
        return dataclasses.replace(self, from_layer=True), []


def test_the_layers_of_the_resolved_metric_are_asked_for():
    with pytest.raises(MissingLayer, match='opened needs the layer "lemma"'):
        resolve([Opened()], RunContext("cs"))
    assert resolve([Opened()], RunContext("cs", frozenset({"lemma"})))[0] == [Opened(from_layer=True)]


def test_a_missing_layer_is_named_with_those_there_are():
    with pytest.raises(MissingLayer, match=r'layered needs the layer "lemma".*Layers found: none.*CoNLL-U'):
        resolve([Layered()], RunContext("cs"))
    with pytest.raises(MissingLayer, match=r'Layers found: "sempos"'):
        resolve([Layered()], RunContext("cs", frozenset({"sempos"})))
    texts = {"a.tmt": ("lemma", "sempos"), "b.txt": (), "c.txt": ()}
    with pytest.raises(MissingLayer, match=r'Layers found: "lemma" .*"sempos" .*Texts without it: b\.txt, c\.txt\.'):
        resolve([Layered()], RunContext("cs", texts=texts))


def test_vectors_are_pinned_by_their_content(tmp_path):
    resources = stored({"a": [1.0]}, tmp_path)
    (resolved,), _ = resolve([BLEUModif(vectors="toy")], RunContext(resources=resources))
    assert resolved == BLEUModif(vectors=resources.pinned("toy", "vectors"))
    assert resolve([resolved], RunContext(resources=resources)) == ([resolved], [])
    with pytest.raises(MissingResource):
        resolve([resolved], RunContext())


def test_vectors_that_are_none_are_noticed_before_anything_is_scored(tmp_path):
    (tmp_path / "poem.txt").write_text("no vectors at all\n")
    with pytest.raises(BadVectors, match="is not the header of a word2vec file"):
        resolve([BLEUModif(vectors="poem")], RunContext(resources=Resources(files={"poem": tmp_path / "poem.txt"})))
