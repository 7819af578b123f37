"""Normal forms are those of Python, however long a run of marks is."""

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.text.normalization import _MARKS, LONG, is_mark, normalized

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
# Marks of many classes, some that decompose into several or are starters by themselves, and what they compose with.
MARKS = "\u0301\u0307\u0323\u0344\u0f71\u0f72\u0f73\u0f75\u0f81\u0338\u3099\u309a\uff9e\uff9f\u05b0\u1dce\U0001d165"
LETTERS = "aeẛgsṩ\u1e9bか각\u1100\u1161\u11a8\U0001d157ཀ \nｶ"


@pytest.mark.parametrize("form", FORMS)
@given(
    st.lists(
        st.text(st.sampled_from(LETTERS) | st.characters(codec="utf-8"), max_size=3)
        | st.text(st.sampled_from(MARKS), min_size=LONG - 2, max_size=2 * LONG),
        max_size=4,
    ).map("".join)
)
@example("a" + "\u0301\u0323" * LONG + "か" + "\u3099" * 3 * LONG)
@example("\u0f73" * 3 * LONG)
@example("\uff9e\u0301" * LONG)
def test_forms_are_those_of_python(form, text):
    assert normalized(form, text) == unicodedata.normalize(form, text)


def test_all_marks_are_known():
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if code not in _MARKS and (unicodedata.combining(character) or unicodedata.decomposition(character)):
            assert not is_mark(character, "NFD"), hex(code)
            assert not is_mark(character, "NFKD"), hex(code)


def test_a_mebibyte_of_marks_is_no_work():
    """Python's own way takes minutes for it."""
    text = "a" + "\u0301\u0323" * (1 << 18)
    assert normalized("NFC", text) == "\u1ea1" + "\u0323" * ((1 << 18) - 1) + "\u0301" * (1 << 18)
