"""The shipped campaign: complete, tidy, and with the story that it promises."""

import json
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

from steelyard.formats.campaign.folder import read_campaign

FOLDER = Path(__file__).parents[1] / "demo" / "harbour"


@pytest.fixture(scope="module")
def campaign():
    return read_campaign(FOLDER)


def lines(text):
    return [line.decode() for line in text.lines()]


def paired(campaign, baseline, system):
    """Scores of both systems and the p-value of their difference, by the peer's paired bootstrap."""
    references = [lines(text) for text in campaign.references.values()]
    metrics = {
        "BLEU": BLEU(references=references),
        "chrF2": CHRF(references=references),
        "TER": TER(references=references),
    }
    systems = [(name, lines(campaign.systems[name])) for name in (baseline, system)]
    _, results = PairedTest(systems, metrics, None, test_type="bs", n_samples=1000)()
    return {name: (*(float(one.score) for one in results[name]), results[name][1].p_value) for name in metrics}


def test_it_is_a_complete_campaign(campaign):
    assert (campaign.name, campaign.segments) == ("harbour", 120)
    assert (campaign.source_language, campaign.target_language) == ("cs", "en")
    assert campaign.source is not None
    assert list(campaign.references) == ["A", "B"]
    assert list(campaign.systems) == ["anchor", "buoy", "cable", "dinghy", "ebb"]
    assert campaign.notices == ()
    assert {entry.domain for entry in campaign.documents} == {"news", "dialogue", "manual"}
    assert len({entry.doc_id for entry in campaign.documents}) == 10


def test_its_texts_are_tidy(campaign):
    for text in (campaign.source, *campaign.references.values(), *campaign.systems.values()):
        for number, line in enumerate(lines(text), start=1):
            assert line == " ".join(line.split()), f"{text.name}, line {number}: stray white space"
            assert line[-1] in '.?!"“:', f"{text.name}, line {number}: does not end like a sentence"
        assert len(set(lines(text))) == text.segments, f"{text.name}: a line twice"


def test_one_system_is_a_copy_and_only_that_one(campaign):
    systems = {name: text.bytes for name, text in campaign.systems.items()}
    assert systems["dinghy"] == systems["cable"]
    texts = {*systems.values(), *(text.bytes for text in campaign.references.values()), campaign.source.bytes}
    assert len(texts) == 4 + 2 + 1


def test_the_story_names_every_system(campaign):
    story = " ".join(json.loads((FOLDER / "meta.json").read_text(encoding="utf-8"))["story"])
    assert all(name in story for name in campaign.systems)


@pytest.mark.parametrize("other", ["buoy", "cable", "ebb"])
def test_anchor_is_clearly_better(campaign, other):
    results = paired(campaign, other, "anchor")
    for name in ("BLEU", "chrF2"):
        theirs, its, p = results[name]
        assert its > theirs + 5
        assert p < 0.01
    theirs, its, p = results["TER"]
    assert its < theirs - 5
    assert p < 0.01


def test_buoy_and_cable_are_tied(campaign):
    results = paired(campaign, "buoy", "cable")
    for name, (buoy, cable, p) in results.items():
        assert abs(buoy - cable) < 0.3, name
        assert p > 0.2, name
    different = [a != b for a, b in zip(*(lines(campaign.systems[name]) for name in ("buoy", "cable")), strict=True)]
    assert sum(different) > 0.9 * campaign.segments


@pytest.mark.parametrize("other", ["buoy", "cable"])
def test_ebb_is_clearly_the_worst(campaign, other):
    results = paired(campaign, other, "ebb")
    for name, sign in (("BLEU", 1), ("chrF2", 1), ("TER", -1)):
        theirs, its, p = results[name]
        assert sign * its < sign * theirs - 10
        assert p < 0.01
