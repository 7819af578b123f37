"""Promises that every metric in the registry keeps, with each of its examples; a new metric is found by itself."""

import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from steelyard.conformance import DECLARATIONS, PROMISES, subjects
from steelyard.conformance.campaign import ODD_SEGMENTS, Campaign, odd_campaign
from steelyard.conformance.promises import shards_add_up
from steelyard.errors import BadParameter
from steelyard.metrics.registry import all_metrics, parse_metric
from steelyard.text.blocks import BLOCK
from tests.library.campaigns import campaigns

EXAMPLES = [(metric, example) for metric in all_metrics() for example in metric.examples]
every_example = pytest.mark.parametrize(
    ("metric", "example"), EXAMPLES, ids=[":".join(filter(None, (m.name, e))) for m, e in EXAMPLES]
)
relaxed = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUICK = [promise for promise in PROMISES if promise is not shards_add_up]
scratch = tempfile.TemporaryDirectory()


@cache
def subjects_of(metric, example):
    """With layers, and without where the metric can do without; their resources last as long as the tests."""
    return subjects(metric, Path(scratch.name), examples=[example])


@every_example
@relaxed
@given(campaign=campaigns())
def test_it_keeps_its_promises(metric, example, campaign):
    # All of them with each campaign: drawing one costs more than most promises.
    for subject in subjects_of(metric, example):
        for promise in QUICK:
            try:
                promise(subject, campaign)
            except Exception as error:
                error.add_note(f"The promise is {promise.__name__}.")
                raise


@every_example
@pytest.mark.parametrize("promise", QUICK, ids=lambda promise: promise.__name__)
def test_it_keeps_its_promises_for_odd_segments(metric, example, promise):
    for subject in subjects_of(metric, example):
        promise(subject, odd_campaign())


@every_example
@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration.__name__)
def test_it_is_what_it_says(metric, example, declaration):
    for subject in subjects_of(metric, example):
        declaration(subject)


def long_campaign():
    rows = 3 * BLOCK + 17
    lines = [f"{ODD_SEGMENTS[i % 3]} {i % 7} {i % 5} and the usual tail" for i in range(rows)]
    return Campaign(
        {"R0": lines, "R1": lines[::-1]},
        {"S0": lines[1:] + lines[:1], "S1": lines, "S2": lines[2:] + lines[:2]},
    )


def assert_same_bits(one, other):
    assert one.sums.tobytes() == other.sums.tobytes()
    assert one.scores.tobytes() == other.scores.tobytes()
    assert one.replicate_scores.tobytes() == other.replicate_scores.tobytes()
    assert len(set(one.replicate_scores[0])) > 1, "replicates that do not differ would prove nothing"


@every_example
@pytest.mark.parametrize("shard_size", [1, BLOCK, 2 * BLOCK, 10 * BLOCK])
def test_any_split_into_shards_gives_the_same_bits(metric, example, shard_size):
    campaign = long_campaign()
    for subject in subjects_of(metric, example):
        assert_same_bits(subject.measured(campaign, campaign.segments), subject.measured(campaign, shard_size))


@every_example
def test_a_shard_that_is_worked_on_in_slices_gives_the_same_bits(metric, example, monkeypatch):
    campaign = long_campaign()
    for subject in subjects_of(metric, example):
        assert_same_bits(*(_measured_in_slices(subject, campaign, rows, monkeypatch) for rows in (1 << 30, 1 << 9)))


def _measured_in_slices(subject, campaign, rows, monkeypatch):
    monkeypatch.setattr("steelyard.metrics.preparation.slicing.SLICE_ROWS", rows)
    return subject.measured(campaign, campaign.segments)


def test_the_registry_names_each_metric_once():
    names = [metric.name for metric in all_metrics()]
    assert len(set(names)) == len(names)
    for metric in all_metrics():
        if "" in metric.examples:
            assert type(parse_metric(metric.name)) is metric


def one_parameter_apart(metric):
    """Each example, and each with the value that another one has for one parameter."""
    examples = [dict(each.split("=", 1) for each in example.split(":") if each) for example in metric.examples]
    values = [pair for example in examples for pair in example.items()]
    found = [*examples, *({**example, key: value} for example in examples for key, value in values)]
    return list(dict.fromkeys(":".join("=".join(each) for each in example.items()) for example in found))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("metric", all_metrics(), ids=lambda metric: metric.name)
def test_metrics_that_share_a_batch_get_what_they_get_alone(metric, backwards):
    """What one has prepared of the texts, another one takes only where it is the same: not with another case, say."""
    campaign = Campaign(
        {"R0": ["The Cat sat, on a mat.", "It is &quot;old&quot;", "a b c d e"], "R1": ["the cat", "", "a b c D e"]},
        {"S0": ["the cat sat on A mat .", "it IS old", "c d e a b"], "S1": ["The cats", "x", "A B c d e"]},
    )
    groups = {}
    for example in one_parameter_apart(metric):
        try:
            made = subjects_of(metric, example)
        except BadParameter:  # values that do not go together
            continue
        for subject in made:
            groups.setdefault((tuple(sorted(subject.metric.layers)), subject.metric.corpus_statistics), []).append(
                subject
            )
    for group in groups.values():
        segments = group[0].segments(campaign)
        for subject in reversed(group) if backwards else group:
            found = subject.metric.segment_statistics(segments)
            assert found.tobytes() == subject.statistics(campaign).tobytes(), f"{subject.metric} after others"
