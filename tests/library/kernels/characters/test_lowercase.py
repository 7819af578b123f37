"""Small letters are Python's."""

from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.kernels.characters.lowercase import ALL, FEW, SPECIAL, lowercase_table, lowercased

# Letters whose small form takes fewer or more bytes, or several characters, or depends on the neighbours.
LETTERS = [*"aAZ@[`{ÀßŽĲǅȺȾΑΩЖԱḀẞΩKÅⱢꞍꞪＡ𐐀𞤀中😀\u2028\n ", "İ", "Σ", "ΑΣ", "ABCDEFGHIJKLMNOPQRST"]


def test_every_letter_has_the_small_one_that_python_has():
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    few, every = lowercase_table(FEW).tolist(), lowercase_table(ALL).tolist()
    assert few == every[:FEW]
    for code in codes:
        small = chr(code).lower()
        if code >= ALL or code == 0:
            assert small == chr(code)
        elif chr(code) in SPECIAL:
            assert every[code] == 0
        else:
            assert chr(every[code]) == small
    text = "".join(chr(code) for code in codes if chr(code) not in SPECIAL)
    assert lowercased(text.encode()) == text.lower().encode()


@given(st.lists(st.sampled_from(LETTERS[:-4]) | st.sampled_from(LETTERS), max_size=60).map("".join) | st.text())
@example("")
@example("\0")
@example("x" * 15 + "Ž" + "Ⱥ" * 40)
@example("K" * 100)
@example("\U0001ffff\U00020000\U0010ffff" * 5)
def test_a_lowercased_text_is_what_python_makes_of_it(text):
    assert lowercased(text.encode()) == text.lower().encode()


def test_real_texts_are_lowercased_as_python_does(real_data):
    for path in sorted(real_data.glob("wmt2*/refs/*.txt")):
        text = path.read_bytes()
        assert lowercased(text) == text.decode().lower().encode()
