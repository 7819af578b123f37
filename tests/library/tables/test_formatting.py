"""Numbers, times and durations for people."""

import math

from hypothesis import given
from hypothesis import strategies as st

from steelyard.tables.formatting import PLAIN, TYPESET, date, date_time, digits, duration, p_value, percentage


def test_examples():
    assert [TYPESET.number(value, 1, sign=True) for value in (1.25, -1.25, 0.04, -0.04, None, math.nan)] == [
        *("+1.2", "−1.2", "0.0", "0.0", "n/a", "n/a"),
    ]
    assert (PLAIN.number(-1.25), PLAIN.number(-0.04)) == ("-1.2", "0.0")
    assert [p_value(p) for p in (1.0, 0.0455, 0.001, 0.00005, 0.00004, None, math.nan)] == [
        *("1.0000", "0.0455", "0.0010", "0.0001", "<0.0001", "n/a", "n/a"),
    ]
    assert TYPESET.interval((-1.0, 2.5)) == "[−1.0, 2.5]"
    assert TYPESET.interval(None) == ""
    assert PLAIN.estimate(1.25, (1.0, 2.5), 2, sign=True, end_places=1) == "+1.25 [+1.0, +2.5]"
    assert PLAIN.estimate(math.nan, (1.0, 2.5)) == "n/a"
    assert (TYPESET.rank_range(2, 4), TYPESET.rank_range(3, 3), PLAIN.rank_range(2, 4)) == ("2–4", "3", "2-4")
    assert (digits(100.0), digits(math.inf), digits(100.0, 2), digits(math.inf, 5)) == (1, 3, 2, 5)
    assert (digits(1.0), digits(1.0, 6)) == (4, 6)
    assert (percentage(0.95), percentage(0.999)) == ("95 %", "99.9 %")


def test_times_are_in_their_zone():
    assert date_time(1_796_562_000, "Europe/Prague") == "6 December 2026, 14:00 (Europe/Prague)"
    assert date_time(1_796_562_000, "Nowhere/Nothing") == "6 December 2026, 13:00 (UTC)"
    assert date(1_796_562_000) == "2026-12-06"


def test_durations_have_two_units():
    told = [duration(each) for each in (-5, 0, 0.4, 0.96, 59.6, 61, 3600, 7500, 86400, 180000, 30 * 86400 + 3600)]
    assert told == [
        *("0 s", "0 s", "0.4 s", "1 s", "1 min", "1 min 1 s", "1 h", "2 h 5 min", "1 day", "2 days 2 h", "30 days"),
    ]


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9))
def test_signs_are_right_and_nought_has_none(value):
    text = TYPESET.number(value, 2, sign=True)
    rounded = float(text.replace("−", "-"))
    assert abs(rounded - value) <= 0.005 * (1 + 1e-6) + 1e-9 * abs(value)
    assert text[0] == ("+" if rounded > 0 else "−" if rounded < 0 else "0")
