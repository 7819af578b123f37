"""Settling: metrics get what they depend on, once and for all."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import pytest

from metrics.bleu import BLEU
from metrics.bleu_modif import BLEUModif
from metrics.errors import BadVectors, MissingLayer, MissingResource
from metrics.parameters import parameter
from metrics.per import PER
from metrics.resources import Resources
from metrics.surroundings import Surroundings, settle
from tests.metrics.vocabularies import stored


@dataclass(frozen=True)
class Layered(PER):
    """A metric for these tests: it wants lemmas, and to know the language."""

    name: ClassVar[str] = "layered"

    lang: str = parameter("auto", "language", ours=True)

    @property
    def layers(self):
        return ("lemma",)

    def settled(self, surroundings):
        if self.lang != "auto":
            return self, []
        return dataclasses.replace(self, lang=surroundings.language or "none"), [f"{self.name}: the language is set."]


def test_metrics_that_depend_on_nothing_stay_as_they_are():
    assert settle([BLEU(), PER()], Surroundings()) == ([BLEU(), PER()], [])


def test_what_a_metric_takes_is_pinned_and_said():
    surroundings = Surroundings("cs", frozenset({"lemma"}))
    settled, notices = settle([PER(), Layered()], surroundings)
    assert settled == [PER(), Layered(lang="cs")]
    assert notices == ["layered: the language is set."]
    assert settle(settled, Surroundings("de", frozenset({"lemma"}))) == (settled, [])


def test_a_layer_that_lacks_is_said_with_those_there_are():
    with pytest.raises(MissingLayer, match=r'layered needs the layer "lemma".*Layers found: none.*CoNLL-U'):
        settle([Layered()], Surroundings("cs"))
    with pytest.raises(MissingLayer, match=r'Layers found: "sempos"'):
        settle([Layered()], Surroundings("cs", frozenset({"sempos"})))
    texts = {"a.tmt": ("lemma", "sempos"), "b.txt": (), "c.txt": ()}
    with pytest.raises(MissingLayer, match=r'Layers found: "lemma" .*"sempos" .*Texts without it: b\.txt, c\.txt\.'):
        settle([Layered()], Surroundings("cs", texts=texts))


def test_vectors_are_pinned_by_their_content(tmp_path):
    resources = stored({"a": [1.0]}, tmp_path)
    (settled,), _ = settle([BLEUModif(vectors="toy")], Surroundings(resources=resources))
    assert settled == BLEUModif(vectors=resources.pinned("toy", "vectors"))
    assert settle([settled], Surroundings(resources=resources)) == ([settled], [])
    with pytest.raises(MissingResource):
        settle([settled], Surroundings())


def test_vectors_that_are_none_are_noticed_before_anything_is_scored(tmp_path):
    (tmp_path / "poem.txt").write_text("no vectors at all\n")
    with pytest.raises(BadVectors, match="is not the header of a word2vec file"):
        settle([BLEUModif(vectors="poem")], Surroundings(resources=Resources(files={"poem": tmp_path / "poem.txt"})))
