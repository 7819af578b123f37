"""Logarithm, exponential and power are correctly rounded: `decimal`, which knows as many digits as one likes, tells."""

import math
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.numerics import deterministic
from tests.library.kernels.numerics import elementary_tables

MANY = Context(prec=60, Emin=-999999, Emax=999999)
LN2 = MANY.ln(Decimal(2))
POSITIVE = st.floats(min_value=5e-324, allow_infinity=False)
NEAR_ONE = st.floats(0.99, 1.01)


def log(value):
    return float(MANY.ln(Decimal(value)))


def log2(value):
    # Of a power of two all 60 digits are 9 or 0.
    return float(
        MANY.plus(Context(prec=65).divide(Context(prec=70).ln(Decimal(value)), Context(prec=70).ln(Decimal(2))))
    )


def exp(value):
    return float(MANY.exp(Decimal(value)))


def power(value, exponent):
    return float(MANY.power(Decimal(value), Decimal(exponent)))


def same(ours, values, theirs):
    found = ours(np.array(values, np.float64)).tolist()
    assert [each.hex() for each in found] == [theirs(value).hex() for value in values]


@given(values=st.lists(POSITIVE | NEAR_ONE, max_size=9))
def test_logarithms(values):
    same(deterministic.log, values, log)
    same(deterministic.log2, values, log2)


@given(st.lists(st.floats(-750, 709) | st.floats(-1, 1), max_size=9))
def test_exponentials(values):
    same(deterministic.exp, values, exp)


@given(st.lists(st.floats(min_value=1e-300, max_value=1e30) | NEAR_ONE, max_size=9), st.floats(1e-3, 9))
def test_powers(values, exponent):
    same(lambda each: deterministic.power(each, exponent), values, lambda value: power(value, exponent))


@given(st.lists(st.integers(1, 2**19), max_size=9), st.sampled_from([0.5, 2.0, 3.0, 1.5]))
def test_powers_in_the_middle_of_two_doubles(values, exponent):
    """The third power of a number of 18 digits has 54: then the even double is the nearest."""
    same(lambda each: deterministic.power(each, exponent), values, lambda value: power(value, exponent))
    assert deterministic.power(np.array([2.0**18 - 1]), 3.0).tolist() == [float((2**18 - 1) ** 3)]


def test_many_numbers():
    """Of so many every path through the kernel is taken, also where the quick way leaves the last digit open."""
    numbers = np.random.default_rng(1)
    shares, ordinary = numbers.random(20_000), numbers.uniform(0, 200, 20_000)
    same(deterministic.log, [*shares, *ordinary], log)
    same(deterministic.log2, [*shares[:5000], *ordinary[:5000], *(2.0**e for e in range(-1074, 1024))], log2)
    same(deterministic.exp, [*(-ordinary), *numbers.standard_normal(20_000)], exp)
    same(lambda each: deterministic.power(each, 0.83), shares, lambda value: power(value, 0.83))


@pytest.mark.parametrize(
    ("ours", "value", "rounded"),
    [
        # Lefèvre and Muller 2001: 64 equal digits behind those of a double, and 58.
        (deterministic.log, "0x1.62a88613629b6p+678", log),
        (deterministic.exp, "0x1.9e9cbbfd6080bp-31", exp),
        # The largest and smallest arguments, and those about which all is 1.
        *(
            (deterministic.exp, text, exp)
            for text in ("0x1.62e42fefa39efp+9", "-0x1.74910d52d3051p+9", "0x1p-53", "-0x1p-54")
        ),
        *(
            (deterministic.exp, text, exp)
            for text in ("-0x1.0000000000001p-54", "0x1.fffffffffffffp-54", "-0x1.6232bdd7abcd2p+9")
        ),
        *((deterministic.log, text, log) for text in ("0x1.0000000000001p+0", "0x1.fffffffffffffp-1", "0x1p-1074")),
    ],
)
def test_hard_cases(ours, value, rounded):
    number = float.fromhex(value)
    assert ours(np.array([number]))[0].hex() == rounded(number).hex()


def test_beyond_the_numbers():
    nan, inf = math.nan, math.inf
    given_values = np.array([0.0, -0.0, -1.0, inf, nan, 1.0])
    for ours in (deterministic.log, deterministic.log2):
        np.testing.assert_array_equal(ours(given_values), [-inf, -inf, nan, inf, nan, 0.0])
    given_values = np.array([inf, -inf, nan, 0.0, 709.79, -745.14, 1e300, -1e300])
    np.testing.assert_array_equal(deterministic.exp(given_values), [inf, 0.0, nan, 1.0, inf, 0.0, inf, 0.0])
    given_values = np.array([0.0, 1.0, inf, -1.0, nan, 1e300, 1e-300])
    np.testing.assert_array_equal(deterministic.power(given_values, 2.0), [0.0, 1.0, inf, nan, nan, inf, 0.0])
    np.testing.assert_array_equal(deterministic.power(given_values[:3], -2.0), [inf, 1.0, 0.0])
    np.testing.assert_array_equal(deterministic.power(given_values[:3], 0.0), [1.0, 1.0, 1.0])


def test_any_shape_and_order():
    values = np.arange(1.0, 25.0).reshape(2, 3, 4)
    for given_values in (values, values.T, values[:, ::2], values[0, 0, 0], values[:0]):
        assert deterministic.log(given_values).shape == given_values.shape
        assert deterministic.log(given_values).tolist() == np.vectorize(log, otypes=[float])(given_values).tolist()
    assert deterministic.power(values.T, 0.5).tolist() == np.sqrt(values.T).tolist()


def test_the_tables_are_what_they_say():
    assert elementary_tables.HEADER.read_text("utf-8") == elementary_tables.made()
