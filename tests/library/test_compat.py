"""sacreBLEU's functions are its classes: every argument reaches the metric, from both kinds of functions."""

from typing import Any

import pytest

import steelyard
from steelyard import BLEU, CHRF, TER

HYPOTHESES = ["The Cat sat , on mat .", "two-fold dogs"]
REFERENCES = [["the cat sat on the mat.", "Two - fold dogs"], ["a cat, sitting on a mat", "twofold dogs bark"]]
# Of the function, of the class, and an argument of each with a value that is not the usual one.
BLEU_ARGUMENTS = [
    ({"smooth_method": "floor"}, {"smooth_method": "floor"}),
    ({"smooth_method": "floor", "smooth_value": 0.5}, {"smooth_method": "floor", "smooth_value": 0.5}),
    ({"lowercase": True}, {"lowercase": True}),
    ({"tokenize": "char"}, {"tokenize": "char"}),
]
CHRF_ARGUMENTS = [
    ({"char_order": 3}, {"char_order": 3}),
    ({"word_order": 2}, {"word_order": 2}),
    ({"beta": 3}, {"beta": 3}),
    ({"remove_whitespace": False}, {"whitespace": True}),
    ({"eps_smoothing": True}, {"eps_smoothing": True}),
]
TER_ARGUMENTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({name: True, **more}, {name: True, **more})
    for name, more in (
        *(("normalized", {}), ("no_punct", {}), ("case_sensitive", {})),
        *(("asian_support", {}), ("asian_support", {"normalized": True})),
    )
]
GIVEN = [
    *(("bleu", BLEU, *each) for each in [({}, {}), *BLEU_ARGUMENTS]),
    *(("chrf", CHRF, *each) for each in [({}, {}), *CHRF_ARGUMENTS]),
    *(("ter", TER, *each) for each in [({}, {}), *TER_ARGUMENTS]),
]


@pytest.mark.parametrize(("name", "metric", "given", "asked"), GIVEN)
def test_every_argument_reaches_the_metric(name, metric, given, asked):
    whole = getattr(steelyard, f"corpus_{name}")(HYPOTHESES, REFERENCES, **given)
    wanted = metric(**asked).corpus_score(HYPOTHESES, REFERENCES)
    assert (whole.score, whole.signature) == (wanted.score, wanted.signature)
    references = [each[0] for each in REFERENCES]
    one = getattr(steelyard, f"sentence_{name}")(HYPOTHESES[0], references, **given)
    asked = {"effective_order": True, **asked} if name == "bleu" else asked
    wanted = metric(**asked).sentence_score(HYPOTHESES[0], references)
    assert (one.score, one.signature) == (wanted.score, wanted.signature)


@pytest.mark.parametrize("effective", [True, False])
def test_effective_orders_are_asked_for(effective):
    whole = steelyard.corpus_bleu(["dogs bark"], [["dogs bark"]], use_effective_order=effective)
    one = steelyard.sentence_bleu("dogs bark", ["dogs bark"], use_effective_order=effective)
    wanted = BLEU(effective_order=effective).corpus_score(["dogs bark"], [["dogs bark"]])
    assert whole.score == one.score == wanted.score
    assert (wanted.score > 99) == effective
    assert (whole.signature, one.signature) == (wanted.signature, wanted.signature)
    raw = steelyard.raw_corpus_bleu(HYPOTHESES, REFERENCES, smooth_value=0.3)
    wanted = BLEU(tokenize="none", smooth_method="floor", smooth_value=0.3, effective_order=True)
    assert raw.score == wanted.corpus_score(HYPOTHESES, REFERENCES).score
