"""Which older encoding a text may be in."""

import pickle

import pytest

from steelyard.formats.input.encodings import advice, likely_encodings
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.plain import read_lines

TEXTS = {
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy. Šťastný žák.",
    "pl": "Zażółć gęślą jaźń, ŚWIĘTY.",
    "hu": "Árvíztűrő tükörfúrógép, őszi.",
    "de": "Größe, Maß, Übung und Ähre.",
    "ru": "Съешь ещё этих мягких французских булок.",
    "uk": "Їжак з’їв ґрунт, єдиний.",
    "el": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "tr": "Pijamalı hasta yağız şoföre çabucak güvendi.",
    "ja": "これは日本語のテキストです。",
    "zh": "这是一个中文句子。",
}
CASES = [
    *(("cs", "ISO-8859-2"), ("cs", "WINDOWS-1250"), ("pl", "ISO-8859-2"), ("pl", "WINDOWS-1250")),
    *(("hu", "ISO-8859-2"), ("de", "WINDOWS-1252"), ("ru", "KOI8-R"), ("ru", "WINDOWS-1251"), ("uk", "KOI8-U")),
    *(("el", "ISO-8859-7"), ("tr", "ISO-8859-9"), ("ja", "SHIFT_JIS"), ("ja", "EUC-JP"), ("zh", "GB18030")),
]


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_the_encoding_is_among_those_that_are_named(language: str, encoding: str) -> None:
    data = TEXTS[language].encode(encoding, "ignore")
    found = likely_encodings(data, language)
    assert encoding in found
    assert likely_encodings(data, f"{language.upper()}_XX") == found
    told = advice(data, f"{language}-XX")
    assert f"it may be in {found[0]}" in told
    # What is advised gives the text back: letters that are wrong would pass as UTF-8 afterwards.
    assert {data.decode(each) for each in found} == {data.decode(encoding)}


def test_czech_is_never_advised_to_become_western() -> None:
    for encoding in ("ISO-8859-2", "WINDOWS-1250"):
        data = TEXTS["cs"].encode(encoding)
        assert "1252" not in advice(data, "cs")
        assert "1252" not in advice(data, ""), "without a language nothing is guessed"


def test_what_fits_nothing_is_not_guessed() -> None:
    assert likely_encodings(TEXTS["ru"].encode("KOI8-R"), "de") == []
    assert likely_encodings(b"\xe9", "fr") == [], "too little"
    assert likely_encodings(b"plain", "cs") == []
    assert likely_encodings(b"\xff" * 40, "ja") == [], "no character at all"
    assert "find out which" in advice(TEXTS["ru"].encode("KOI8-R"), "cs")


def test_an_error_can_be_given_the_language_later_and_be_sent_to_another_process() -> None:
    with pytest.raises(NotUtf8) as raised:
        read_lines(TEXTS["cs"].encode("ISO-8859-2"), name="out.txt")
    assert "ENCODING" in str(raised.value)
    told = raised.value.in_language("cs")
    assert "it may be in ISO-8859-2" in str(told)
    assert str(pickle.loads(pickle.dumps(told))) == str(told)
