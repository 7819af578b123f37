"""Tables for LaTeX show what they were given, whatever it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.tables.latex import booktabs, escaped
from tests.cli.latex_reader import shown, tables


@given(st.text(st.sampled_from("\\{}$&%#_^~<>|`'-?![]*ab1 .↓±čع"), max_size=12))
def test_text_is_shown_as_it_is(text):
    # Two single quotes are how LaTeX writes a double one.
    assert shown(escaped(text)).replace("''", '"') == text.replace("''", '"')


@pytest.mark.parametrize("pair", ["--", "''", "?`", "!`", "``"])
def test_no_two_characters_become_one(pair):
    assert pair not in escaped(pair * 3)


def test_minus_signs_of_numbers_alone():
    assert escaped("-1.5 [-2.0, +0.2]") == "$-$1.5 [$-$2.0, $+$0.2]"
    assert escaped("system-1") == "system-1"
    assert escaped("12.0 ± 0.3") == "12.0 $\\pm$ 0.3"


def test_a_row_that_begins_with_a_bracket_is_no_argument_of_the_line_before():
    source = booktabs([["a", "b"], ["[1cm]", "1"], ["*", "2"]], "lr", "100 % of_it")
    assert tables(source) == [("100 % of_it", [["a", "b"], ["[1cm]", "1"], ["*", "2"]])]
    assert "\n[" not in source
    assert "\n*" not in source
