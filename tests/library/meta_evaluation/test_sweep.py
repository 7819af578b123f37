"""Values of a parameter, and the metrics made of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import BLEU, TBLEU
from steelyard.errors import BadParameter, UnknownMetric
from steelyard.meta_evaluation.sweep import evenly, published_values, sweep
from steelyard.metrics.registry import parse_metric


def test_the_values_of_the_papers():
    assert published_values("tbleu", "eps") == [f"{number / 20:g}" for number in range(1, 21)]
    assert published_values("bleu_modif", "gamma") == ["0", *(f"0.{number}" for number in range(1, 10))]
    assert published_values("chrf", "beta") is None


@given(st.integers(-50, 50), st.integers(1, 40), st.integers(2, 60))
def test_values_at_equal_distances_are_exact_decimals(first, hundredths, steps):
    last = first + hundredths * (steps - 1) / 100
    values = evenly(str(first), f"{last:.2f}", steps)
    assert values == [f"{(100 * first + hundredths * step) / 100:g}" for step in range(steps)]


@pytest.mark.parametrize(
    ("first", "last", "steps"), [("a", "1", 3), ("0", "1", 1), ("0", "nan", 3), ("0", "inf", 3), ("0", "1", 101)]
)
def test_values_that_there_are_not(first, last, steps):
    with pytest.raises(BadParameter, match="give two numbers, and 2 to 100 steps"):
        evenly(first, last, steps)


def test_a_metric_for_each_value_and_what_it_is_compared_with():
    found = sweep("tbleu", "eps", ["0", "0.50"], {"order": "1,2", "case": "lc"})
    assert found.values == ("0", "0.5")
    assert found.metrics == (TBLEU(order=(1, 2), case="lc", eps=0.0), TBLEU(order=(1, 2), case="lc", eps=0.5))
    assert found.rivals == (TBLEU(order=(1, 2), case="lc"), BLEU(order=(1, 2), case="lc"))
    assert found.every == (*found.metrics, *found.rivals)


def test_a_rival_that_is_among_the_values_is_measured_once():
    found = sweep("tbleu", "eps", ["0.05", "0.1"], {})
    assert found.rivals == (TBLEU(), BLEU())
    assert found.every == (*found.metrics, BLEU())


def test_a_metric_that_varies_no_other():
    found = sweep("chrf", "beta", ["1", "2", "3"], {"nw": "2"})
    assert found.rivals == (parse_metric("chrf++"),)


def test_rivals_of_choice():
    rivals = [parse_metric("chrf"), parse_metric("ter")]
    assert sweep("bleu", "order", ["1", "1,2"], {}, rivals).rivals == tuple(rivals)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tbleu", "epsilon", ["0", "1"], {}), 'no parameter "epsilon"'),
        (("tbleu", "eps", ["0", "2"], {}), "from 0 to 1"),
        (("tbleu", "eps", ["0.1", "0.10"], {}), "eps=0.1 is given twice"),
        (("tbleu", "eps", ["0.1"], {}), "give 2 to 100"),
        (("tbleu", "eps", [f"0.{number:03d}" for number in range(101)], {}), "give 2 to 100"),
        (("tbleu", "eps", ["0", "1"], {"eps": "0.5"}), "tried and fixed"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(BadParameter, match=message):
        sweep(*arguments)


def test_an_unknown_metric():
    with pytest.raises(UnknownMetric):
        sweep("blue", "eps", ["0", "1"], {})
