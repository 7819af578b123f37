"""Synonyms from each kind of file, and what is said of files that are none."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import pytest

from steelyard.errors import MissingResource
from steelyard.metrics.alignment.synonyms import synonym_groups

WORDNET = Path("/usr/share/wordnet")
MYTHES = Path("/usr/share/mythes/th_cs_CZ_v2.dat")

NOUNS = """  1 This line stands for the licence.
bank n 2 2 @ ~ 2 1 00000011 00000022
river_bank n 1 1 @ 1 0 00000022
shore n 1 1 @ 1 1 00000022
treasury n 1 2 @ ~ 1 0 00000011
"""
VERBS = "bank v 1 1 @ 1 0 00000011\nlean v 1 1 @ 1 0 00000011\n"
THESAURUS = """UTF-8
bank|2
(noun)|shore|river bank|slope (generic term)
noun|treasury (coll.)|(old) exchequer|loss (antonym)
Geld|1
-|Kohle (ugs.)|Zahlungsmittel (Oberbegriff)|Kies (ugs., fig.) (Hauptform)
"""


def pairs(groups):
    return {
        frozenset(pair) for pair in combinations(groups, 2) if set(groups[pair[0]]) & set(groups[pair[1]])
    }  # fmt: skip


def expected(*texts):
    return {frozenset(text.split()) for text in texts}


def written(path, text, encoding="utf-8"):
    path.write_text(text, encoding)
    return path


def test_group_file(tmp_path):
    path = written(tmp_path / "groups.txt", "\ufeff# comment\nBank shore\n\nbank\ttreasury\u00a0bank\r\nÁČ áč ač\n")
    groups = synonym_groups(path)
    assert pairs(groups) == expected("bank shore", "bank treasury", "áč ač")
    assert set(groups) == {"bank", "shore", "treasury", "áč", "ač"}


def test_wordnet(tmp_path):
    written(tmp_path / "index.noun", NOUNS)
    written(tmp_path / "index.verb", VERBS)
    # A verb and a noun at the same offset are in different files.
    assert pairs(synonym_groups(tmp_path)) == expected("bank shore", "bank treasury", "bank lean")


@pytest.mark.parametrize(("name", "encoding"), [("UTF-8", "utf-8"), ("ISO8859-2", "iso8859-2")])
def test_mythes(tmp_path, name, encoding):
    path = written(tmp_path / "th.dat", THESAURUS.replace("UTF-8", name).replace("Kohle", "Kočka"), encoding)
    assert pairs(synonym_groups(path)) == expected(
        "bank shore", "bank treasury", "bank exchequer", "treasury exchequer", "geld kočka", "geld kies", "kočka kies"
    )


def test_blank_lines_between_entries_of_a_thesaurus_are_none_and_count(tmp_path):
    path = written(tmp_path / "th.dat", THESAURUS.replace("Geld|1", "\n \nGeld|1"))
    assert expected("geld kies") <= pairs(synonym_groups(path))
    written(path, THESAURUS.replace("Geld|1", "\n \nGeld"))
    with pytest.raises(MissingResource, match=r'th\.dat, line 7: an entry of a thesaurus begins "WORD\|MEANINGS"\.$'):
        synonym_groups(path)


def test_a_changed_file_is_read_again(tmp_path):
    path = written(tmp_path / "groups", "a b\n")
    assert set(synonym_groups(path)) == {"a", "b"}
    written(path, "a b c\n")
    assert set(synonym_groups(path)) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"big, large\n", r'line 1: "big," ends with ","'),
        (b"ok fine\ngood; well\n", r'line 2: "good;" ends with ";"'),
        (b"\xff\xfe a b\n", "is not utf-8"),
        (b"UTF-8\nbank|1\nnoun|shore\nwhat\n", r'line 4: an entry of a thesaurus begins "WORD\|MEANINGS"'),
        (b"KLINGON-1\nbank|1\nnoun|shore\n", 'line 1: there is no encoding "KLINGON-1"'),
        (b"UTF-8\nb\xffnk|1\nnoun|shore\n", "is not utf-8"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, message):
    path = tmp_path / "synonyms"
    path.write_bytes(content)
    with pytest.raises(MissingResource, match=message):
        synonym_groups(path)


def test_folders_that_are_not_wordnet(tmp_path):
    with pytest.raises(MissingResource, match="has none of WordNet's index files"):
        synonym_groups(tmp_path)
    written(tmp_path / "index.adv", "well r many 1\n")
    with pytest.raises(MissingResource, match=r"index\.adv, line 1: is not a line of a WordNet index"):
        synonym_groups(tmp_path)
    with pytest.raises(MissingResource, match="cannot be read"):
        synonym_groups(tmp_path / "nowhere")


def test_the_wordnet_of_debian():
    need(WORDNET, "wordnet-base")
    groups = synonym_groups(WORDNET)
    assert frozenset(("car", "automobile")) in pairs({word: groups[word] for word in ("car", "automobile", "cat")})
    assert len(groups) > 80_000


def test_the_czech_thesaurus_of_debian():
    need(MYTHES, "mythes-cs")
    groups = synonym_groups(MYTHES)
    assert set(groups["jestliže"]) & set(groups["pokud"])
    assert len(groups) > 30_000


def need(path, package):
    """Skip where a Debian package is not installed, but not in CI, which installs it."""
    if not path.exists() and not os.environ.get("CI"):
        pytest.skip(f"the Debian package {package} is not installed")


@pytest.mark.parametrize("first", ["UTF-8", "bank"])
def test_a_group_of_one_word_is_no_encoding_of_a_thesaurus(tmp_path, first):
    """A thesaurus has its first entry in the second line."""
    groups = synonym_groups(written(tmp_path / "groups.txt", f"{first}\nshore coast\nbank|2 x\n"))
    assert pairs(groups) == expected("shore coast", "bank|2 x")
