"""Lemmas and stems of single words."""

from __future__ import annotations

import time

import pytest
import simplemma

from steelyard.errors import MissingResource
from steelyard.metrics.alignment.lemmas import (
    _SNOWBALL,
    LONGEST_WORD,
    lemmatizes,
    pinned,
    simplemma_lemmas,
    snowball_stems,
    stems,
    table_lemmas,
)


@pytest.mark.parametrize(("language", "word"), [("cs", "Kočky"), ("de-AT", "Bücher"), ("en", "mice"), ("no", "biler")])
def test_lemmas_are_simplemmas(language, word):
    code = {"no": "nb"}.get(language, language[:2])
    found = simplemma_lemmas(pinned("simplemma"), language)(word)
    assert found == simplemma.lemmatize(word, code) != word


def test_languages():
    assert lemmatizes("cs_CZ")
    assert lemmatizes("hr")
    assert not lemmatizes("zh")
    assert stems("pt-BR")
    assert not stems("zh")
    for language in _SNOWBALL:
        assert stems(language)
        assert snowball_stems(pinned("snowball"), language)("word")


@pytest.mark.parametrize(
    ("language", "word", "stem"), [("en", "relational", "relat"), ("de", "häusern", "haus"), ("cs", "kočkami", "kočk")]
)
def test_stems(language, word, stem):
    """The first two are among the examples on Snowball's pages."""
    assert snowball_stems(pinned("snowball"), language)(word) == stem


def test_very_long_words_are_left_alone():
    lemma, stem = simplemma_lemmas("simplemma", "de"), snowball_stems("snowball", "de")
    start = time.process_time()
    for letters in ("x", "ing", "und", "ab-"):
        word = letters * 300_000
        assert lemma(word) == stem(word) == word
    assert time.process_time() - start < 1
    assert stem("ä" + "x" * (LONGEST_WORD - 3) + "en") != "ä" + "x" * (LONGEST_WORD - 3) + "en"


def test_table(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("\ufeff# forms\nPsa\tPES\r\npsa\tpes\n\npsa\tother\nkrále\tkrál\n", "utf-8")
    lemma = table_lemmas(path)
    found = [lemma(word) for word in ("Psa", "psa", "PSA", "Krále", "unknown", "Unknown")]
    assert found == ["PES", "pes", "pes", "král", "unknown", "Unknown"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"psa pes\n", "line 1: a lemma table has lines FORM, tab, LEMMA"),
        (b"a\tb\nc\td\te\n", "line 2: a lemma table"),
        (b"a\t\n", "line 1: a lemma table"),
        (b"a\tb\n\xff\tc\n", "is not UTF-8"),
    ],
)
def test_files_that_are_no_tables(tmp_path, content, message):
    path = tmp_path / "table.tsv"
    path.write_bytes(content)
    with pytest.raises(MissingResource, match=message):
        table_lemmas(path)
