"""SemPOS against its definition by counters and fractions, and against worked examples."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadParameter, MissingLayer
from steelyard.metrics.alignment.sempos import TYPES, SemPOS
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from tests.library.campaigns import Campaign, joined, read_campaign
from tests.library.metrics.alignment.sempos_definition import row, score

VARIANTS = ["cap-macro", "cap-micro", "thesis-19"]
PML = "{http://ufal.mff.cuni.cz/pdt/pml/}"
# "v" and "n" resemble lemmas, a lemma may hold slashes, and the last three are in none of the 19 columns.
ITEMS = st.builds(
    "{}/{}".format,
    st.sampled_from(["jít", "Jít", "v", "km/h", "/", "#PersPron", "Ž_Y"]),
    st.sampled_from(["v", "n.denot", "n.denot.neg", "adv.pron.indef", "???", "-", "", "x", "N.denot", "n"]),
)
lines = st.lists(ITEMS, max_size=8).map(" ".join)


@st.composite
def layered_campaigns(draw):
    """Layers alone: SemPOS does not look at the texts."""
    segments = draw(st.integers(1, 4))
    text = st.lists(lines, min_size=segments, max_size=segments)
    return Campaign(
        {f"R{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
        {f"S{i}": draw(text) for i in range(draw(st.integers(1, 3)))},
    )


def layered_batch(campaign, variable=False):
    """The words are as many as the lines, and missing where a reference's layer is empty, if `variable`."""
    references, systems = campaign.references.values(), campaign.systems.values()
    layer = [joined(text) for text in (*references, *systems)]
    texts = [joined(["word" if line or not variable else "" for line in text]) for text in (*references, *systems)]
    return Segments(
        references=texts[: len(references)],
        hypotheses=texts[len(references) :],
        variable_references=variable,
        layers={"sempos": layer},
    )


def one(hypothesis, *references):
    return layered_batch(Campaign({str(i): [line] for i, line in enumerate(references)}, {"S": [hypothesis]}))


def expected_rows(campaign, variable=False, fold=True):
    return [
        [
            row(line, [each for each in of_segment if each or not variable], fold)
            for line, *of_segment in zip(text, *campaign.references.values(), strict=True)
        ]
        for text in campaign.systems.values()
    ]


@settings(max_examples=200, deadline=None)
@given(layered_campaigns(), st.sampled_from(["lc", "mixed"]), st.booleans())
def test_equals_the_definition(campaign, case, variable):
    if variable:
        campaign.references["always"] = ["být/v"] * len(campaign.systems["S0"])
    statistics = SemPOS(case=case).segment_statistics(layered_batch(campaign, variable))
    assert statistics.tolist() == expected_rows(campaign, variable, case == "lc")
    for variant in VARIANTS:
        metric = SemPOS(variant=variant)
        by_hand = [[float(score(each, variant)) for each in system] for system in statistics.tolist()]
        assert metric.segment_score(statistics) == pytest.approx(np.array(by_hand), rel=1e-12)
        sums = statistics.sum(axis=1)
        assert metric.score(sums) == pytest.approx(np.array([float(score(each, variant)) for each in sums]), rel=1e-12)


def test_equals_the_definition_on_real_texts_with_types_made_up(real_data):
    """Each word is a t-lemma, and its length chooses the type; some words have none."""
    campaign = read_campaign(real_data / "wmt22.en-cs")
    names = [*TYPES, "???", "x"]

    def annotated(text):
        return [" ".join(f"{word}/{names[len(word) % len(names)]}" for word in line.split()) for line in text]

    campaign.references = {label: annotated(text) for label, text in campaign.references.items()}
    campaign.systems = {name: annotated(text) for name, text in list(campaign.systems.items())[:3]}
    statistics = SemPOS().segment_statistics(layered_batch(campaign))
    assert statistics.tolist() == expected_rows(campaign)
    assert (statistics.sum(axis=(0, 1)) > 0).all(), "a column was never used"


def zone_layer(path, selector):
    """The `sempos` layer of one zone of a Treex document."""
    segments = []
    for zone in ET.parse(path).iter(f"{PML}zone"):
        if zone.get("selector", "") == selector:
            pairs = [(node.findtext(f"{PML}t_lemma"), node.findtext(f"{PML}gram/{PML}sempos")) for node in zone.iter()]
            segments.append(" ".join(f"{t_lemma}/{sempos}" for t_lemma, sempos in pairs if t_lemma and sempos))
    return segments


def test_the_samples_have_the_scores_worked_out_by_hand(real_data):
    path = real_data.parent / "samples" / "sample.treex"
    if not path.exists():
        pytest.skip(f"no layered samples at {path.parent}")
    segments = layered_batch(Campaign({"ref": zone_layer(path, "ref")}, {"cand": zone_layer(path, "cand")}))
    statistics = SemPOS().segment_statistics(segments)[0]
    macro, micro = SemPOS(), SemPOS(variant="cap-micro")
    assert macro.segment_score(statistics) == pytest.approx([100, 60, 75])
    assert micro.segment_score(statistics) == pytest.approx([100, 66.6667, 83.3333], abs=1e-4)
    sums = statistics.sum(axis=0)
    assert macro.score(sums) == pytest.approx(80.2083, abs=1e-4)
    assert micro.score(sums) == pytest.approx(82.3529, abs=1e-4)
    counts = dict(zip(macro.columns, sums.tolist(), strict=True))
    assert {name: (counts[f"clip_{name}"], counts[f"ref_{name}"]) for name in TYPES if counts[f"ref_{name}"]} == {
        "adj.denot": (2, 3), "adj.quant.def": (1, 1), "adv.denot.ngrad.nneg": (1, 1), "adv.pron.indef": (0, 1),
        "n.denot": (4, 4), "n.pron.def.pers": (2, 2), "n.pron.indef": (1, 1), "v": (3, 4),
    }  # fmt: skip
    assert macro.details(sums) == {"types": 8}


@pytest.mark.parametrize(
    ("hypothesis", "references", "macro", "micro"),
    [
        ("jít/v pes/n.denot", ["pes/n.denot jít/v"], 100, 100),  # order does not count
        ("jít/n.denot", ["jít/v"], 0, 0),  # the same lemma of another type
        ("pes/n.denot pes/n.denot", ["pes/n.denot pes/n.denot pes/n.denot jít/v"], Fraction(100, 3), 50),
        ("pes/n.denot " * 5, ["pes/n.denot jít/v"], 50, 50),  # clipped
        ("jít/v", [""], 100, 100),
        ("", ["jít/v"], 0, 0),
        ("", ["#Neg/??? a/-"], 100, 100),
        ("a/-", ["a/- jít/v"], 0, 0),
        # For verbs the second reference serves better, for nouns the first.
        ("jít/v pes/n.denot", ["běžet/v pes/n.denot", "jít/v kočka/n.denot"], 100, 100),
        # On ties the first that has the type at all, even where it has more words of it.
        ("", ["pes/n.denot", "jít/v běžet/v", "běžet/v"], 0, 0),
        ("a/x b/y", ["a/x b/x"], 50, 50),  # types beyond the 19 share a column, but do not match one another
    ],
)
def test_single_segments(hypothesis, references, macro, micro):
    statistics = SemPOS().segment_statistics(one(hypothesis.strip(), *references))
    assert SemPOS().score(statistics[0, 0]) == pytest.approx(float(macro))
    assert SemPOS(variant="cap-micro").score(statistics[0, 0]) == pytest.approx(float(micro))


def test_the_first_reference_on_ties():
    statistics = SemPOS().segment_statistics(one("", "pes/n.denot", "jít/v běžet/v", "běžet/v"))[0, 0]
    columns = SemPOS().columns
    assert statistics[columns.index("ref_v")] == 2
    assert statistics[columns.index("ref_n.denot")] == 1


def test_the_mean_is_taken_of_sums_not_of_segments():
    layer = [b"a/v b/v c/v\nd/v", b"a/v b/v\nx/v"]
    (measured,) = score_systems(
        Segments(references=[b"x\nx"], hypotheses=[b"x\nx"], layers={"sempos": layer}), [SemPOS()], segment_scores=True
    )
    assert measured.scores == pytest.approx([50])
    assert measured.segment_scores == pytest.approx(np.array([[200 / 3, 0]]))


def test_the_thesis_counts_all_19_types():
    statistics = SemPOS().segment_statistics(one("jít/v pes/n.denot", "jít/v pes/n.denot"))[0, 0]
    thesis = SemPOS(variant="thesis-19")
    assert thesis.score(statistics) == pytest.approx(200 / 19)
    assert thesis.score(np.zeros(40)) == 0


def test_words_of_other_types_are_reported():
    sums = SemPOS().segment_statistics(one("a/x", "a/x b/y jít/v"))[0, 0]
    assert SemPOS().details(sums) == {"types": 2, "words of other types": 2}
    assert SemPOS().score(sums) == pytest.approx(25)


def test_variants_share_their_statistics():
    segments = one("jít/v", "jít/v")
    first, *others = (SemPOS(variant=variant).segment_statistics(segments) for variant in VARIANTS)
    assert all(other is first for other in others)


def test_without_the_layer():
    with pytest.raises(MissingLayer, match=r'lack the layer "sempos" .*Layers found: "lemma"'):
        SemPOS().segment_statistics(Segments(references=[b"a"], hypotheses=[b"a"], layers={"lemma": [b"a", b"a"]}))


def test_long_and_repetitive_segments():
    layer = [b"a/v " * 100_000 + b"b/n.denot", b"a/v b/v " * 100_000]
    segments = Segments(references=[b"x"], hypotheses=[b"x", b"x"], layers={"sempos": [layer[0], *layer]})
    assert SemPOS().score(SemPOS().segment_statistics(segments)[:, 0]) == pytest.approx([100, 50])


def test_what_it_says_of_itself():
    metric = SemPOS.from_texts({"variant": "cap-micro"})
    assert (SemPOS().title, metric.title) == ("SemPOS", "SemPOS[cap-micro]")
    assert metric.signature(2).startswith("nrefs:2|case:lc|version:")
    assert metric.signature(2).endswith("|variant:cap-micro")
    assert parse_metric("sempos") == SemPOS()
    assert len(TYPES) == len(set(TYPES)) == 19
    with pytest.raises(BadParameter, match="must be one of cap-macro, cap-micro, thesis-19"):
        SemPOS.from_texts({"variant": "union"})
