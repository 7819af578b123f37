"""What a metric says about itself, and the sentence for each way in which that is wrong."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

from steelyard.conformance import check, subjects
from steelyard.conformance.campaign import generated_campaigns
from steelyard.conformance.declarations import (
    a_perfect_text_scores_best,
    bad_values_are_refused,
    it_can_be_written_and_read,
    it_says_what_it_is,
    the_signature_names_every_parameter,
)
from steelyard.conformance.subject import PromiseBroken, Subject
from steelyard.errors import BrokenMetric
from steelyard.metrics.parameters import parameter
from tests.library.conformance.test_check import Sound, changed, score, statistics

WRONG = [
    *(
        (
            changed(name=name), it_says_what_it_is,
            f'"{name}" cannot be a name: give lower case letters, digits, "_" and "-".',
        )
        for name in ("Sound", "so:und", "so|und", "so und", "so=und", "so@und", "so\nund", "")
    ),
    (changed(source=""), it_says_what_it_is, "It has no source."),
    (changed(title=""), it_says_what_it_is, "It has no title."),
    *((changed(cost=cost), it_says_what_it_is, "Its cost is not above 0.") for cost in (0.0, -1.0, math.nan)),
    (changed(columns=("a", "b", "a")), it_says_what_it_is, "Its columns are not distinct: a, b, a."),
    (changed(columns=()), it_says_what_it_is, "Its columns are not distinct: there are none."),
    (
        changed(__annotations__={"n": int}, n=parameter(1, "", parse=int)), it_says_what_it_is,
        "The parameter n has no description.",
    ),
    (changed(name="so:und"), it_can_be_written_and_read, "'so:und' is not NAME[:key=value]..."),
    (changed(name=" sound"), it_can_be_written_and_read, "' sound' is not NAME[:key=value]..."),
    (
        changed(__annotations__={"n": str}, n=parameter("x", "a letter", choices=("x",))),
        the_signature_names_every_parameter, "No other value is known for n: give one in `examples`.",
    ),
    (
        changed(specification=property(lambda self: "sound:case=lc")), it_can_be_written_and_read,
        "'sound:case=lc' does not parse back to an equal metric.",
    ),
    (
        changed(
            __annotations__={"n": float}, n=parameter(1.0, "a number", parse=float),
            score=lambda self, sums: self.n * Sound.score(self, sums),
        ),
        bad_values_are_refused, "With n='inf' the score is infinite.",
    ),
    (
        score(lambda s, sums: np.where(np.isnan(s), s, 100.0)), a_perfect_text_scores_best,
        "A perfect text scores 100.0000, a spoilt one 100.0000: that is not better.",
    ),
    (
        score(lambda s, sums: 200.0 - s), a_perfect_text_scores_best,
        "A perfect text scores 100.0000, a spoilt one 200.0000: that is not better.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "declaration", "told"), WRONG, ids=[told for *_, told in WRONG])
def test_what_is_wrong_is_said(metric, declaration, told, tmp_path):
    (sound,) = subjects(Sound, tmp_path)
    declaration(sound)
    with pytest.raises(PromiseBroken, match=f"^{re.escape(told)}$"):
        declaration(Subject(metric(), sound.context))


def test_a_metric_without_a_docstring(tmp_path):
    (sound,) = subjects(Sound, tmp_path)
    bare = dataclass(frozen=True)(type("Bare", (Sound,), {}))
    bare.__doc__ = None
    with pytest.raises(PromiseBroken, match=r"^It has no docstring\.$"):
        it_says_what_it_is(Subject(bare(), sound.context))


@pytest.mark.parametrize(("default", "given"), [(1, {}), ("a", {}), (1, {"n": "2"})])
def test_a_field_that_is_no_parameter_is_said_when_a_metric_is_made(default, given):
    metric = changed(__annotations__={"n": type(default)}, n=default)
    told = r"^sound: the field n is not made by steelyard\.metrics\.parameters\.$"
    with pytest.raises(BrokenMetric, match=told):
        metric(**given)
    with pytest.raises(BrokenMetric, match=told):
        metric.from_texts(given)


def test_without_time_a_campaign_is_shown_as_it_was_found(tmp_path, monkeypatch):
    (subject,) = subjects(statistics(lambda s, b: s + len(b)), tmp_path)
    shown = {each.promise: each.campaign for each in check(subject, campaigns=60) if each.fault}
    monkeypatch.setitem(check.__globals__, "PATIENCE", -1.0)
    whole = {each.promise: each.campaign for each in check(subject, campaigns=60) if each.fault}
    assert shown.keys() == whole.keys() != set()
    found = list(generated_campaigns(60))
    for promise, campaign in whole.items():
        assert any(campaign.systems == each.systems and campaign.references == each.references for each in found)
        assert len(str(campaign)) > len(str(shown[promise]))


def test_no_campaigns_are_none():
    assert list(generated_campaigns(0)) == []
    assert list(generated_campaigns(1)) == list(generated_campaigns(5))[:1]
