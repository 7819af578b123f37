"""Promises that every metric in the registry keeps; a new metric is found by itself."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metrics import METRICS, parse_metric
from metrics.batch import Batch
from metrics.measure import measure
from metrics.text.blocks import BLOCK
from tests.metrics.campaigns import Campaign, campaigns, joined

every_metric = pytest.mark.parametrize("metric", [metric() for metric in METRICS], ids=lambda m: m.name)
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ODD_SEGMENTS = [
    "",
    "word",
    "one two three",
    "long " * 3_000,
    "x" * 20_000,
    "Zur Zeit: 3,5 % (ca. 1.000-2.000)…",
    "first\u2028second\u2029third\u0085fourth\x0cfifth",
    "نص عربي mixed with עברית and 漢字かな交じり文",
    "e\u0301 = é, but not to a machine",
    "\u200b\u00a0\u3000\t",
    "🙂🙃 🙂",
    "word",
]


def batch_of(campaign: Campaign) -> Batch:
    return Batch(
        [joined(lines) for lines in campaign.references.values()],
        [joined(lines) for lines in campaign.systems.values()],
    )


def odd_batch() -> Batch:
    return Batch(
        [joined(ODD_SEGMENTS), joined(ODD_SEGMENTS[::-1])],
        [joined([*ODD_SEGMENTS[1:], ""]), joined(ODD_SEGMENTS)],
    )


@every_metric
@relaxed
@given(campaign=campaigns())
def test_statistics_have_the_promised_shape_and_lie_on_the_grid(metric, campaign):
    statistics = metric.segment_statistics(batch_of(campaign))
    segments = len(next(iter(campaign.systems.values())))
    assert statistics.shape == (len(campaign.systems), segments, len(metric.columns))
    assert statistics.dtype == np.float64
    assert np.array_equal(statistics * 2**24, np.rint(statistics * 2**24))


@every_metric
@relaxed
@given(campaign=campaigns())
def test_systems_scored_together_or_apart_have_the_same_statistics(metric, campaign):
    together = metric.segment_statistics(batch_of(campaign))
    for position, (name, lines) in enumerate(campaign.systems.items()):
        apart = metric.segment_statistics(batch_of(Campaign(campaign.references, {name: lines})))
        assert np.array_equal(together[position], apart[0])


@every_metric
@relaxed
@given(campaign=campaigns(), order=st.randoms(use_true_random=False))
def test_a_segment_does_not_know_its_neighbours(metric, campaign, order):
    positions = list(range(len(next(iter(campaign.systems.values())))))
    order.shuffle(positions)
    shuffled = Campaign(
        {label: [lines[i] for i in positions] for label, lines in campaign.references.items()},
        {name: [lines[i] for i in positions] for name, lines in campaign.systems.items()},
    )
    before = metric.segment_statistics(batch_of(campaign))
    assert np.array_equal(metric.segment_statistics(batch_of(shuffled)), before[:, positions])


@every_metric
@pytest.mark.parametrize("shard_size", [1, BLOCK, 2 * BLOCK, 10 * BLOCK])
def test_any_split_into_shards_gives_the_same_bits(metric, shard_size):
    rows = 3 * BLOCK + 17
    lines = [ODD_SEGMENTS[i % 3] + f" {i % 7} {i % 5} tail" for i in range(rows)]
    systems = [joined(lines[1:] + lines[:1]), joined(lines), joined(lines[2:] + lines[:2])]
    references = [joined(lines), joined(lines[::-1])]
    whole = measure(references, systems, [metric], replicates=40, shard_size=rows)[0]
    split = measure(references, systems, [metric], replicates=40, shard_size=shard_size, segment_scores=True)[0]
    assert whole.sums.tobytes() == split.sums.tobytes()
    assert whole.scores.tobytes() == split.scores.tobytes()
    assert whole.replicate_scores.tobytes() == split.replicate_scores.tobytes()
    assert len(set(whole.replicate_scores[0])) > 1, "replicates that do not differ would prove nothing"


@every_metric
def test_replicates_are_scored_in_one_call(metric):
    statistics = metric.segment_statistics(odd_batch())
    sums = np.stack([statistics.sum(axis=1), statistics[:, ::2].sum(axis=1), 2 * statistics.sum(axis=1)])
    together = metric.score(sums)
    assert together.shape == sums.shape[:-1]
    for index in np.ndindex(together.shape):
        assert np.array_equal(metric.score(sums[index]), together[index], equal_nan=True)


@every_metric
def test_odd_segments_are_scored(metric):
    statistics = metric.segment_statistics(odd_batch())
    assert np.isfinite(statistics).all()
    scores = metric.segment_score(statistics)
    assert scores.shape == statistics.shape[:2]
    # The second system equals the first reference.
    perfect = metric.score(metric.segment_statistics(odd_batch()).sum(axis=1))[1]
    worst = metric.score(metric.segment_statistics(odd_batch()).sum(axis=1))[0]
    assert perfect > worst if metric.higher_is_better else perfect < worst


@every_metric
@pytest.mark.parametrize(("reference", "hypothesis"), [("", ""), ("word", ""), ("", "word"), ("word", "word")])
def test_empty_and_one_token_segments_have_a_finite_or_undefined_score(metric, reference, hypothesis):
    batch = Batch([joined([reference])], [joined([hypothesis])])
    score = metric.segment_score(metric.segment_statistics(batch))
    assert score.shape == (1, 1)
    assert not np.isinf(score).any()


@every_metric
def test_a_perfect_text_gets_the_perfect_score(metric):
    text = joined(["one two three four five six", "seven eight nine ten eleven twelve thirteen"])
    score = metric.score(metric.segment_statistics(Batch([text], [text])).sum(axis=1))
    assert score[0] == pytest.approx(metric.scale if metric.higher_is_better else 0.0)


@every_metric
@relaxed
@given(campaign=campaigns())
def test_a_reference_that_is_lacking_counts_for_nothing(metric, campaign):
    name, lines = next(iter(campaign.references.items()))
    lines = [line if line.strip() else "something" for line in lines]
    campaign.references = {name: lines}
    alone = batch_of(campaign)
    more = Batch([*alone.references, joined([""] * len(lines))], alone.systems, variable_references=True)
    expected = metric.segment_score(metric.segment_statistics(alone))
    assert np.array_equal(metric.segment_score(metric.segment_statistics(more)), expected, equal_nan=True)
    expected = metric.score(metric.segment_statistics(alone).sum(axis=1))
    assert np.array_equal(metric.score(metric.segment_statistics(more).sum(axis=1)), expected, equal_nan=True)


@every_metric
def test_the_signature_names_every_parameter(metric):
    """Changing any parameter changes the signature, and nothing else needs to be known to score again."""
    for field in metric.parameters():
        other = other_value(metric, field)
        changed = dataclasses.replace(metric, **{field.name: other})
        assert changed.signature(1) != metric.signature(1), f"{field.name} is not in the signature"
        assert parse_metric(changed.specification) == changed
    assert metric.signature(1) != metric.signature(2)
    assert "|bs:1000|seed:7|" in metric.signature(1, 1000, 7)
    assert parse_metric(metric.specification) == metric


def other_value(metric, field):
    """Some value of the parameter that is not the present one."""
    now = getattr(metric, field.name)
    candidates = [*field.metadata["choices"], "yes", "no", "1", "2", "3", "0.5", "1-2", "none"]
    for text in candidates:
        try:
            value = field.metadata["parse"](text)
        except ValueError:
            continue
        if value != now:
            return value
    raise AssertionError(f"no other value found for {field.name}")


@every_metric
def test_it_says_what_it_is(metric):
    assert metric.source
    assert type(metric).__doc__
    assert metric.cost > 0
    assert len(set(metric.columns)) == len(metric.columns)
    assert all(field.metadata["describe"] for field in metric.parameters())


def test_the_registry_names_each_metric_once():
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert type(parse_metric(metric.name)) is metric
