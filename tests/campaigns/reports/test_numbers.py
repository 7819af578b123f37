"""Numbers for people."""

import math

from hypothesis import given
from hypothesis import strategies as st

from campaigns.reports.numbers import digits, ends, number, p_value, rank_range


def test_examples():
    assert [number(value, 1, sign=True) for value in (1.25, -1.25, 0.04, -0.04, None, math.nan)] == [
        *("+1.2", "−1.2", "0.0", "0.0", "n/a", "n/a"),
    ]
    assert [p_value(p) for p in (1.0, 0.0455, 0.001, 0.0001, None, math.nan)] == [
        *("1.000", "0.045", "0.001", "< 0.001", "n/a", "n/a"),
    ]
    assert ends((-1.0, 2.5)) == "[−1.0, 2.5]"
    assert ends(None) == ""
    assert (rank_range(2, 4), rank_range(3, 3)) == ("2–4", "3")
    assert (digits(100.0), digits(math.inf)) == (1, 3)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_signs_are_right_and_nought_has_none(value):
    text = number(value, 2, sign=True)
    rounded = float(text.replace("−", "-"))
    assert abs(rounded - value) <= 0.005 * (1 + 1e-6) + 1e-9 * abs(value)
    assert text[0] == ("+" if rounded > 0 else "−" if rounded < 0 else "0")
