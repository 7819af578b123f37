"""Nothing but its own texts changes a bit of a segment's score: not neighbours, order, shards, systems, batches."""

import random

import numpy as np
import pytest

from steelyard.conformance import PROMISES, Subject
from steelyard.conformance.campaign import Campaign, odd_campaign
from steelyard.conformance.declarations import DECLARATIONS, a_perfect_text_scores_best
from steelyard.conformance.promises import shards_add_up
from steelyard.metrics.learned import engine
from steelyard.metrics.run_context import RunContext
from tests.library.metrics.learned.with_extra import GOLDEN, needs_extra, resolved, resources_of

pytestmark = needs_extra
METRICS = {
    "bertscore-bert": ["bertscore:model=bertscore-bert", "bertscore:model=bertscore-bert:layer=1:idf=yes"],
    "bertscore-xlm-roberta": ["bertscore:model=bertscore-xlm-roberta:layer=2"],
    **{
        f"comet-{name}": [f"comet:model=comet-{name}"]
        for name in ("regression", "regression-xlmr", "referenceless", "unified")
    },
}
# A random model knows hardly a word, and what its head says means nothing.
MEANT = [each for each in DECLARATIONS if each is not a_perfect_text_scores_best]
every_metric = pytest.mark.parametrize("specification", [each for some in METRICS.values() for each in some])


def subject_of(specification):
    resources = resources_of(*METRICS)
    return Subject(resolved(specification, resources), RunContext("en", frozenset(), resources))


def long_campaign(rows=100):
    chosen = random.Random(3)
    words = ["the", "a", "cat", "cats", "sat", "on", "mat", ",", ".", "die", "Katze", "x", "y", "z", "5"]

    def text():
        return " ".join(chosen.choices(words, k=chosen.choice([0, 1, 2, 3, 5, 8, 13, 30, 50])))

    def side():
        return [text() for _ in range(rows)]

    return Campaign({"R0": side(), "R1": side()}, {"S0": side(), "S1": side(), "S2": side()}, side())


@every_metric
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_it_keeps_its_promises(specification, promise):
    promise(subject_of(specification), odd_campaign())
    if promise is not shards_add_up:
        promise(subject_of(specification), long_campaign(12))


@every_metric
@pytest.mark.parametrize("declaration", MEANT, ids=lambda declaration: declaration.__name__)
def test_it_is_what_it_says(specification, declaration):
    declaration(subject_of(specification))


@every_metric
def test_batches_of_any_size_give_the_same_bits(specification, monkeypatch):
    campaign, found = long_campaign(), []
    for tokens in (1, 64, 256, 4096):
        monkeypatch.setitem(engine.TOKENS_AT_ONCE, "cpu", tokens)
        found.append(statistics_of_a_fresh_model(specification, campaign))
    assert len({each.tobytes() for each in found}) == 1
    assert len(np.unique(found[0][..., 0])) > 150


@every_metric
def test_any_number_of_threads_gives_the_same_bits(specification, monkeypatch):
    campaign, found = long_campaign(), []
    for threads in (1, 2, 3):
        monkeypatch.setattr(engine, "usable_cores", lambda threads=threads: threads)
        found.append(statistics_of_a_fresh_model(specification, campaign))
    assert len({each.tobytes() for each in found}) == 1


@every_metric
def test_a_device_without_memory_gets_smaller_batches_and_the_same_bits(specification, monkeypatch):
    campaign = long_campaign(60)
    expected = statistics_of_a_fresh_model(specification, campaign)
    run, refused = engine.Model.run, []

    def small_device(self, inputs):
        if "ids" in inputs and inputs["ids"].size > 40:
            refused.append(inputs["ids"].shape)
            raise engine.OutOfMemory
        return run(self, inputs)

    monkeypatch.setattr(engine.Model, "run", small_device)
    assert statistics_of_a_fresh_model(specification, campaign).tobytes() == expected.tobytes()
    # Once it is known, no large batch is tried again.
    assert 1 <= len(refused) <= 8


def test_a_single_text_that_does_not_fit_is_an_error(monkeypatch):
    def no_device(self, inputs):
        raise engine.OutOfMemory

    monkeypatch.setattr(engine.Model, "run", no_device)
    with pytest.raises(engine.OutOfMemory):
        statistics_of_a_fresh_model("bertscore:model=bertscore-bert", long_campaign(3))


def statistics_of_a_fresh_model(specification, campaign):
    """A model is kept by its process: here it is to be opened again."""
    from steelyard.metrics.learned import bertscore, comet

    bertscore._loaded.cache_clear()
    comet._opened.cache_clear()
    try:
        return subject_of(specification).statistics(campaign)
    finally:
        bertscore._loaded.cache_clear()
        comet._opened.cache_clear()


def test_golden_models_are_small():
    assert sum(file.stat().st_size for file in GOLDEN.rglob("*")) < 1_000_000
