"""The categories that the tokenizer `intl` goes by are those of Unicode 17, whatever is installed."""

import pytest
import regex

from steelyard.tokenizers.rules import international_kinds
from steelyard.tokenizers.unicode_categories import NUMBERS, PUNCTUATION, SYMBOLS
from tests.library.tokenizers.unicode_categories import NEW_IN_17


def characters(ranges: str) -> str:
    pairs = [[int(end, 16) for end in each.split("-")] for each in ranges.split()]
    return "".join(chr(code) for first, last in pairs for code in range(first, last + 1))


@pytest.mark.parametrize(
    ("category", "ranges", "count"), [("N", NUMBERS, 2247), ("P", PUNCTUATION, 860), ("S", SYMBOLS, 8760)]
)
def test_they_are_unicodes(category: str, ranges: str, count: int) -> None:
    if not regex.match(r"\p{S}", NEW_IN_17):
        pytest.skip("the installed package regex knows an older Unicode")
    known = characters(ranges)
    assert regex.fullmatch(rf"\p{{{category}}}+", known)
    assert len(known) == count
    # A later version has more of them, and all of these.
    assert len(regex.findall(rf"\p{{{category}}}", "".join(map(chr, range(0x110000))))) >= count


def test_all_of_them_are_distinguished() -> None:
    kinds = international_kinds()
    assert len({int(kinds[ord(text[0])]) for text in map(characters, (NUMBERS, PUNCTUATION, SYMBOLS))}) == 3
