"""Vectors as they are stored: written, mapped into memory, looked up, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.errors import BadVectors
from steelyard.kernels.text.words import words
from steelyard.metrics.embeddings.vectors import open_vectors, store
from steelyard.metrics.segments import Segments

LETTERS = st.characters(exclude_categories=["Cs", "Z", "Cc"])


def entries(vectors):
    return [(word if isinstance(word, bytes) else word.encode(), np.array(v, np.float32)) for word, v in vectors]


def expected_rows(vocabulary):
    """Of each word in NFC, the place of its vector: of the word that is spelled so, or else of the first other."""
    first = {}
    for place, word in enumerate(vocabulary):
        first.setdefault(unicodedata.normalize("NFC", word), place)
    return first | {word: place for place, word in enumerate(vocabulary) if word in first}


@settings(max_examples=100, deadline=None)
@example(["é", "0"], ["e\u0301"], 1)
@example(["e\u0301", "0", "é"], ["e\u0301", "é"], 1)
@example(["a\u0323\u0302", "\u1ea1\u0302", "0"], ["\u1ead"], 2)
@given(
    st.lists(
        st.text(LETTERS, min_size=1, max_size=5) | st.text("eao\u0301\u0323é", min_size=1, max_size=3),
        unique=True,
        min_size=1,
    ),
    st.lists(st.sampled_from(["a", "ab", "b", "ž", "é", "e\u0301", "漢", "🙂"]), max_size=8),
    st.integers(1, 9),
)
def test_every_word_is_found_and_no_other(vocabulary, text, size):
    numbers = np.random.default_rng(size).standard_normal((len(vocabulary), size)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        vectors = store(entries(zip(vocabulary, numbers, strict=True)), Path(folder), "test", {})
        expected = expected_rows(vocabulary)
        looked_up = words(" ".join([*text, *vocabulary]).encode(), 1)
        rows = vectors.rows(looked_up)
        types = looked_up.lines.decode().split("\n")[:-1]
        for word, row in zip(types, rows.tolist(), strict=True):
            place = expected.get(unicodedata.normalize("NFC", word))
            assert place is not None or row == -1
            if place is not None:
                assert vectors.values[row].tolist() == numbers[place].tolist()
        again = open_vectors(Path(folder))
        # What is left keeps the order of the file.
        assert np.array_equal(again.values, numbers[sorted(expected.values())])
        other = sum(unicodedata.normalize("NFC", word) != word for word in vocabulary)
        told = {"words": other, "left_out": len(vocabulary) - len(expected)} if other else None
        assert again.about.get("composed") == told


def test_a_word_that_lowercasing_took_apart_is_found(tmp_path):
    """No capital J with a caron is one character, and the small one is."""
    vectors = store(entries([("\u01f0", [1.0]), ("a", [2.0])]), tmp_path, "test", {})
    segments = Segments(references=["J\u030c \u01f0 o\u0301".encode()], hypotheses=[b"a"])
    assert vectors.rows(segments.nfc.words("13a", "lc")).tolist() == [0, 0, -1, 1]


def test_a_folder_of_an_earlier_release_gives_what_it_gave(tmp_path):
    """Its words are as their file had them; what was found in it is found."""
    new, old = tmp_path / "new", tmp_path / "old"
    new.mkdir()
    store(entries([("a", [1.0]), ("b", [2.0])]), new, "test", {})
    shutil.copytree(new, old)
    (old / "words.txt").write_bytes("e\u0301\n\u00e9\n".encode())
    np.save(old / "starts.npy", np.array([0, 4, 7], np.int64))
    vectors = open_vectors(old)
    assert vectors.rows(words("e\u0301 \u00e9 a".encode(), 1)).tolist() == [0, 1, -1]


def test_nothing_is_asked_of_no_words(tmp_path):
    vectors = store(entries([("a", [1.0])]), tmp_path, "test", {})
    assert vectors.rows(words(b"\n\n", 3)).tolist() == []


def test_many_words_keep_the_order_of_their_file(tmp_path):
    """More than are written at once."""
    vocabulary = [f"word{(7919 * i) % 10_007}" for i in range(10_007)]
    store(
        ((word.encode(), np.array([i, -i], np.float32)) for i, word in enumerate(vocabulary)),
        tmp_path,
        "test",
        {"x": 1},
    )
    assert np.load(tmp_path / "vectors.npy")[:, 0].tolist() == list(range(10_007))
    about = json.loads((tmp_path / "about.json").read_text())
    assert about == {"form": 1, "words": 10_007, "size": 2, "origin": {"x": 1}}
    vectors = open_vectors(tmp_path)
    assert vectors.rows(words(" ".join(vocabulary).encode(), 1)).tolist() == list(range(10_007))


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([], "there are no words"),
        ([("a", [1, 2]), ("b", [1])], r'test, word 2 \("b"\): 1 numbers'),
        ([("a", [])], "0 numbers"),
        ([("a", [0] * 4097)], "4,097 numbers. All must have as many, 1 to 4,096"),
        ([("a", [1, np.nan])], r'word 1 \("a"\): a number is not finite'),
        ([("a", [1, 2]), ("b", [np.inf, 1])], r"word 2 .*not finite"),
        ([("", [1])], "word 1: a word cannot be empty"),
        ([("a\nb", [1])], "word 1: a word cannot be empty or hold a line end"),
        ([(b"\xff", [1])], "word 1: not UTF-8"),
        ([("a", [1]), ("b", [1]), ("c", [3]), ("b", [2])], '"b" is word 2 and again word 4'),
    ],
)
def test_what_is_refused(vectors, message, tmp_path):
    with pytest.raises(BadVectors, match=message):
        store(entries(vectors), tmp_path, "test", {})


def corrupted(folder, file, change):
    path = folder / file
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("about.json", lambda old: b"{"),
        ("about.json", lambda old: b"[]"),
        ("about.json", lambda old: b"{}"),
        ("about.json", lambda old: old.replace(b'"form": 1', b'"form": 2')),
        ("about.json", lambda old: old.replace(b'"words": 3', b'"words": 4')),
        ("about.json", lambda old: old.replace(b'"size": 2', b'"size": 3')),
        ("vectors.npy", lambda old: old[:-4]),
        ("vectors.npy", lambda old: b""),
        ("vectors.npy", lambda old: old.replace(b"'fortran_order': False", b"'fortran_order': True ")),
        ("vectors.npy", lambda old: old.replace(b"<f4", b"<i4")),
        ("words.txt", lambda old: old + b"more\n"),
        ("words.txt", lambda old: b""),
        ("starts.npy", lambda old: old[:-16] + (1 << 40).to_bytes(8, "little") + old[-8:]),
        ("places.npy", lambda old: old[:-4] + (3).to_bytes(4, "little")),
        ("places.npy", lambda old: old[:-4] + b"\xff" * 4),
    ],
)
def test_a_folder_that_was_changed_is_refused(file, change, tmp_path):
    """Kernels follow what it says, so it must not lead them astray."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    for folder in (good, bad):
        folder.mkdir()
        store(entries([("a", [1, 2]), ("b", [3, 4]), ("c", [5, 6])]), folder, "test", {})
    corrupted(bad, file, change)
    other = tmp_path / "moved"  # not the folder that is still open
    bad.rename(other)
    with pytest.raises(BadVectors, match="does not hold word vectors"):
        open_vectors(other)
    open_vectors(good)


def test_a_folder_that_is_something_else_is_refused(tmp_path):
    with pytest.raises(BadVectors, match=re.escape(str(tmp_path))):
        open_vectors(tmp_path)
    with pytest.raises(BadVectors):
        open_vectors(tmp_path / "missing")


def test_memory_is_shared_and_only_looked_at(tmp_path):
    """The map is of the file itself, and no page of it becomes ours alone."""
    numbers = np.random.default_rng(1).standard_normal((5_000, 100)).astype(np.float32)
    vectors = store(entries((f"w{i}", row) for i, row in enumerate(numbers)), tmp_path, "test", {})
    assert vectors.values.sum() == pytest.approx(numbers.sum(), abs=1)
    with pytest.raises(ValueError, match="read-only"):
        vectors.values[0, 0] = 1
    maps = Path("/proc/self/smaps")
    if not maps.exists():
        pytest.skip("no /proc here")
    (own,) = re.findall(rf"{re.escape(str(tmp_path))}/vectors\.npy\n((?:\w+:.*\n)+)", maps.read_text())
    assert int(re.search(r"Rss: +(\d+) kB", own)[1]) > 1_000
    assert int(re.search(r"Anonymous: +(\d+) kB", own)[1]) == 0
