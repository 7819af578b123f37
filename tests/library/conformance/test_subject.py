"""What a metric is given to be exercised: examples, made-up layers, resources."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from steelyard import WER
from steelyard.conformance import PROMISES, Campaign, generated_campaigns, subjects
from steelyard.errors import BadParameter, MissingLayer, MissingResource
from steelyard.kernels.edit.edit_distance import edit_distances
from steelyard.metrics.parameters import parameter

CAMPAIGN = Campaign({"R": ["the  cats sat\u3000on", ""]}, {"S": ["the cats\tstood on", "a"]})


@dataclass(frozen=True)
class LemmaRate(WER):
    """WER of lemmas where there are some, else of words."""

    name: ClassVar[str] = "lemmarate"
    examples: ClassVar[tuple[str, ...]] = ("", "case=lc")
    lemmas: str = parameter("auto", "where they come from", choices=("auto", "layer", "none"), ours=True)

    @property
    def layers(self):
        return ("lemma",) if self.lemmas == "layer" else ()

    def resolve(self, context):
        return replace(self, lemmas="layer" if "lemma" in context.layers else "none"), []

    def edits(self, segments):
        words = segments.layer("lemma", self.case) if self.layers else segments.words(self.tok, self.case)
        return edit_distances(words, segments.reference_mask, len(segments.hypotheses))


@dataclass(frozen=True)
class ListRate(WER):
    """WER plus one for every hypothesis if its list has a word."""

    name: ClassVar[str] = "listrate"
    examples: ClassVar[tuple[str, ...]] = ("list=toy", "list=toy:case=lc")
    list: str = parameter("", "a resource", ours=True)

    @classmethod
    def example_resources(cls, folder, words):
        (folder / "toy.txt").write_text("\n".join(words))
        return {"toy": folder / "toy.txt"}

    def resolve(self, context):
        if not self.list:
            raise BadParameter("listrate: name a list.")
        return replace(self, list=context.resources.pinned(self.list, "lists")), []

    def edits(self, segments):
        listed = segments.resources.path(self.list, "lists").read_text().split("\n")
        return super().edits(segments) + ("cat" in listed)


def test_a_metric_is_exercised_with_layers_and_without(tmp_path):
    found = subjects(LemmaRate, tmp_path)
    assert [subject.metric.specification for subject in found] == [
        "lemmarate:lemmas=layer",
        "lemmarate:lemmas=none",
        "lemmarate:case=lc:lemmas=layer",
        "lemmarate:case=lc:lemmas=none",
    ]
    with_layer, without, *_ = found
    texts, layers = with_layer.texts(CAMPAIGN)
    # One blank between words, and one lemma for each.
    assert texts == [b"the cats sat on\n", b"the cats stood on\na"]
    lemmas = [[line.split(" ") for line in text.decode().split("\n")] for text in layers["lemma"]]
    words = [[line.split(" ") for line in text.decode().split("\n")] for text in texts]
    assert [[len(line) for line in text] for text in lemmas] == [[len(line) for line in text] for text in words]
    assert lemmas[0][0][1] == lemmas[1][0][1], "equal words have equal lemmas"
    assert without.texts(CAMPAIGN) == ([b"the  cats sat\xe3\x80\x80on\n", b"the cats\tstood on\na"], {})


def test_a_metric_that_needs_a_layer_is_exercised_only_with_it(tmp_path):
    @dataclass(frozen=True)
    class Needy(LemmaRate):
        """Needs lemmas."""

        examples: ClassVar[tuple[str, ...]] = ("",)

        def resolve(self, context):
            return replace(self, lemmas="layer"), []

    (subject,) = subjects(Needy, tmp_path)
    assert subject.metric.layers == ("lemma",)


def test_sempos_items_are_a_lemma_and_a_type(tmp_path):
    @dataclass(frozen=True)
    class Nodes(WER):
        """WER of nodes."""

        name: ClassVar[str] = "nodes"
        layers = ("sempos",)

    subject, _ = subjects(Nodes, tmp_path)
    _, layers = subject.texts(next(iter(generated_campaigns(1))))
    items = {item for text in layers["sempos"] for item in text.decode().split()}
    assert len(items) > 5
    assert all(item.rpartition("/")[0] and item.rpartition("/")[2] for item in items)


@pytest.mark.parametrize("metric", [LemmaRate, ListRate])
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_such_metrics_keep_the_promises(metric, promise, tmp_path):
    for subject in subjects(metric, tmp_path):
        for campaign in list(generated_campaigns(12))[-3:]:
            promise(subject, campaign)


def test_resources_are_made_for_the_examples_unless_given(tmp_path):
    toy, _ = subjects(ListRate, tmp_path / "toy")
    assert "cat" in toy.context.resources.files["toy"].read_text().split("\n")
    (tmp_path / "mine.txt").write_text("dog")
    mine, _ = subjects(ListRate, tmp_path / "toy", {"toy": tmp_path / "mine.txt"})
    assert mine.metric.list != toy.metric.list
    assert (toy.statistics(CAMPAIGN) - mine.statistics(CAMPAIGN))[..., 0].tolist() == [[1, 1]]


def test_what_cannot_be_resolved_is_an_error(tmp_path):
    with pytest.raises(BadParameter, match="name a list"):
        subjects(ListRate, tmp_path, examples=[""])
    with pytest.raises(MissingResource, match="no lists called"):
        subjects(ListRate, tmp_path, examples=["list=other"])

    @dataclass(frozen=True)
    class Strange(WER):
        """Needs what nobody has."""

        layers = ("dreams",)

    with pytest.raises(MissingLayer, match=r'needs the layer "dreams" \(that no format has\)'):
        subjects(Strange, tmp_path)
