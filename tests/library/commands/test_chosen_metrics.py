"""Metrics from -m, -lc, -tok and -l, before texts are read."""

from types import SimpleNamespace

import pytest

from steelyard.commands.chosen_metrics import asked_for, chosen_metrics
from steelyard.errors import BadParameter


def options(*metrics, lowercase=False, tokenize=None, language_pair=None):
    return SimpleNamespace(
        metrics=metrics or None, lowercase=lowercase, tokenize=tokenize, language_pair=language_pair
    )  # fmt: skip


def test_what_is_asked_for_has_the_defaults_of_the_other_options():
    given = options("bleu", "chrf:case=mixed", "bleu:tok=none", lowercase=True, tokenize="char")
    assert asked_for(given) == ["bleu:case=lc:tok=char", "chrf", "bleu:case=lc:tok=none"]
    assert [metric.specification for metric in chosen_metrics(given)] == asked_for(given)
    assert asked_for(options()) == ["bleu", "chrf", "ter"]


def test_the_target_language_chooses_a_tokenizer_but_is_not_what_was_asked_for():
    given = options("bleu", language_pair="en-ja")
    assert asked_for(given) == ["bleu"]
    assert [metric.specification for metric in chosen_metrics(given)] == ["bleu:tok=auto"]


@pytest.mark.parametrize("made", [asked_for, chosen_metrics])
def test_two_that_are_the_same_by_the_defaults_are_one(made):
    with pytest.raises(BadParameter, match="named twice"):
        made(options("bleu", "bleu:case=lc", lowercase=True))
    assert len(made(options("bleu", "bleu:case=mixed", lowercase=True))) == 2
    assert len(made(options("bleu", "bleu:case=lc"))) == 2
