"""What is passed without being decoded is in NFC, and stays so whatever is beside it."""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.kernels.bindings import kernel
from steelyard.kernels.characters.nfc import is_nfc

LETTERS = [*"aéžЖйαάבا中あが한ｗ😀„—\u2000\u0340\u0301\u0323\u1161\u11a8\u3099\u0653각가ẛ̣", "e\u0301", "x" * 14, "\n"]


@given(st.lists(st.sampled_from(LETTERS) | st.characters(codec="utf-8"), max_size=30).map("".join))
@example("x" * 15 + "\u2126")
@example("x" * 14 + "가\u11a8")
@example("か\u3099")
@example("")
def test_forms_are_detected_as_by_python(text):
    assert is_nfc(text.encode()) == unicodedata.is_normalized("NFC", text)


def test_letters_that_need_no_look_at_their_neighbours():
    # What composes with the character before it: the latter parts of decompositions, and of Korean syllables.
    decompositions = [unicodedata.decomposition(chr(code)) for code in range(0x110000)]
    latter = {int(part, 16) for each in decompositions if each[:1] != "<" for part in each.split()[1:]}
    latter |= {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    passed = 0
    for code in range(0x110000):
        letter = chr(code)
        if not 0xD800 <= code < 0xE000 and kernel("nfc_surely")(letter.encode()):
            passed += 1
            assert unicodedata.normalize("NFC", letter) == letter, hex(code)
            assert unicodedata.combining(letter) == 0, hex(code)
            assert code not in latter, hex(code)
    assert passed > 40_000
