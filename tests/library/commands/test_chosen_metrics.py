"""Metrics from -m, -lc, -tok and -l, before texts are read."""

from types import SimpleNamespace

import pytest

from steelyard.commands.chosen_metrics import asked_for, checked_tokenizer, chosen_metrics, resolved_metrics
from steelyard.commands.errors import UsageError
from steelyard.errors import BadParameter
from steelyard.metrics.resources import Resources


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


def resolved(tmp_path, given, language, *layers):
    """Specifications, for texts of which each has some layers."""
    texts = [SimpleNamespace(name=f"text {number}", layers=dict.fromkeys(each)) for number, each in enumerate(layers)]
    metrics = resolved_metrics(given, chosen_metrics(given), Resources(tmp_path / "none"), language, texts or [
        SimpleNamespace(name="text", layers={})
    ])  # fmt: skip
    return [metric.specification for metric in metrics]


def test_the_language_of_the_option_goes_before_that_of_the_files(tmp_path):
    assert resolved(tmp_path, options("bleu", language_pair="cs-zh"), "en") == ["bleu:tok=zh"]
    assert resolved(tmp_path, options("bleu", language_pair="zh-en"), "zh") == ["bleu"]
    assert resolved(tmp_path, options("bleu:tok=auto"), "zh") == ["bleu:tok=zh"]


def test_what_the_language_does_not_suit_is_said(tmp_path, capsys):
    assert resolved(tmp_path, options("bleu:tok=13a", language_pair="en-zh"), "") == ["bleu"]
    said = capsys.readouterr()
    assert said.out == ""
    assert "13a" in said.err


def test_a_layer_counts_where_every_text_has_it(tmp_path):
    meteor = options("meteor", language_pair="en-cs")
    both, one = (resolved(tmp_path, meteor, "", ["lemma"], second)[0] for second in (["lemma", "sempos"], []))
    assert both != one
    assert "layer" in both
    assert "layer" not in one


@pytest.mark.parametrize("pair", ["en", "en-", "-cs", "-", "en_cs"])
def test_half_a_language_pair_is_refused(pair):
    with pytest.raises(UsageError) as raised:
        chosen_metrics(options(language_pair=pair))
    assert str(raised.value) == f'-l {pair}: a language pair is written SRC-TRG, e.g. "en-cs".'


def test_a_tokenizer_must_be_one():
    assert [checked_tokenizer(name) for name in ("auto", "13a")] == ["auto", "13a"]
    assert asked_for(options("bleu", tokenize="auto")) == ["bleu:tok=auto"]
    with pytest.raises(UsageError, match=r'^There is no tokenizer "14a"\. Tokenizers: auto, '):
        checked_tokenizer("14a")
