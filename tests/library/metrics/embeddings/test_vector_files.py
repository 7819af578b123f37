"""Word2vec's files and gensim's own, as gensim writes them; and broken ones."""

from __future__ import annotations

import gzip
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadVectors
from steelyard.metrics.embeddings import vector_files as embedding_files
from steelyard.metrics.embeddings.bleu_modif import BLEUModif
from steelyard.metrics.embeddings.vector_files import entries_of
from steelyard.metrics.embeddings.vectors import store, vectors_in
from steelyard.metrics.resources import Resources
from steelyard.metrics.segments import Segments

WORDS = ["cat", "dog", "žluťoučký", "-", "3.5", "a\u00a0b"]
NUMBERS = np.random.default_rng(1).standard_normal((6, 7)).astype(np.float32)
BINARY = b"2 2\ncat " + np.array([1, 2], "<f4").tobytes() + b"dog " + np.array([3, 4], "<f4").tobytes()


def keyed():
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(7)
    vectors.add_vectors(WORDS, NUMBERS)
    return vectors


def read(path, form="auto"):
    found, form = entries_of(path, form)
    found = list(found)
    return [word.decode() for word, _ in found], np.array([vector for _, vector in found]), form


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("auto", [False, True])
def test_what_gensim_writes_is_read(binary, packed, auto, tmp_path):
    path = tmp_path / ("file.gz" if packed else "file")
    keyed().save_word2vec_format(str(path), binary=binary)
    form = "binary" if binary else "text"
    words, numbers, found = read(path, "auto" if auto else form)
    assert (words, found) == (WORDS, form)
    assert np.array_equal(numbers, NUMBERS)


def test_a_newline_behind_each_binary_vector_is_read(tmp_path):
    """As the original word2vec writes it."""
    path = tmp_path / "file"
    path.write_bytes(BINARY.replace(b"dog ", b"\ndog ") + b"\n")
    words, numbers, _ = read(path)
    assert (words, numbers.tolist()) == (["cat", "dog"], [[1, 2], [3, 4]])


@pytest.mark.parametrize("at_once", [12, 13, 1000])
def test_words_up_to_the_longest_are_read_in_any_parts(monkeypatch, tmp_path, at_once):
    monkeypatch.setattr(embedding_files, "LONGEST_WORD", 10)
    monkeypatch.setattr(embedding_files, "READ_AT_ONCE", at_once)
    path = tmp_path / "file"
    vectors = [np.array([number, 2], "<f4").tobytes() for number in range(6)]
    words = [b"a", b"b" * 10, b"c" * 9, b"d" * 10, b"e", b"f" * 10]
    for newline in (b"", b"\n"):
        entries = [newline + word + b" " + vector for word, vector in zip(words, vectors, strict=True)]
        path.write_bytes(b"6 2\n" + b"".join(entries))
        found, numbers, _ = read(path, "binary")
        assert found == [word.decode() for word in words]
        assert numbers.tolist() == [[number, 2] for number in range(6)]
    path.write_bytes(b"2 2\n" + entries[0] + b"g" * 12 + b" " + vectors[1])
    with pytest.raises(BadVectors, match="word 2: longer than 10 bytes"):
        read(path, "binary")


def test_many_binary_vectors_are_read_in_parts(tmp_path):
    path = tmp_path / "file"
    numbers = np.arange(30_000 * 20, dtype="<f4").reshape(30_000, 20)
    lines = (f"w{i} ".encode() + row.tobytes() for i, row in enumerate(numbers))
    path.write_bytes(b"30000 20\n" + b"".join(lines))
    words, found, _ = read(path)
    assert words[::9999] == ["w0", "w9999", "w19998", "w29997"]
    assert np.array_equal(found, numbers)


@pytest.mark.parametrize("whole_model", [False, True])
def test_gensims_own_files_are_read_when_asked_for(whole_model, tmp_path):
    path = tmp_path / "file"
    if whole_model:
        from gensim.models import Word2Vec

        saved = Word2Vec([WORDS] * 3, vector_size=7, min_count=1, workers=1)
        saved.save(str(path))
        saved = saved.wv
    else:
        saved = keyed()
        saved.save(str(path))
    with pytest.raises(BadVectors, match=r"pickle.*runs code.*--format gensim"):
        entries_of(path)
    words, numbers, form = read(path, "gensim")
    assert (words, form) == (list(saved.index_to_key), "gensim")
    assert np.array_equal(numbers, saved.vectors)


class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit('the pickle was loaded')",))


def test_no_pickle_is_loaded_because_it_looks_like_one(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(Trap()))
    for form in ("auto", "text", "binary"):
        with pytest.raises(BadVectors):
            read(path, form)
    resources = Resources(files={"toy": path})
    with pytest.raises(BadVectors, match="pickle"):
        BLEUModif(vectors="toy").segment_statistics(Segments(references=[b"a"], hypotheses=[b"b"], resources=resources))


def test_gensim_files_of_something_else_are_refused(tmp_path):
    path = tmp_path / "file"
    from gensim.corpora import Dictionary

    Dictionary([["a"]]).save(str(path))
    with pytest.raises(BadVectors, match="holds no word vectors but Dictionary"):
        entries_of(path, "gensim")
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(BadVectors, match="gensim cannot load it"):
        entries_of(path, "gensim")
    path.write_bytes(b"nothing")
    with pytest.raises(BadVectors, match="gensim cannot load it"):
        entries_of(path, "gensim")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"line 1: .* is not the header"),
        (b"cat 1 2\n", r'line 1: "cat 1 2" is not the header'),
        (b"\x00\x01\x02", "is not the header"),
        (b"-1 2\ncat 1 2\n", "is not the header"),
        (b"0 2\n", "0 words with 2 dimensions"),
        (b"99999999999 2\ncat 1 2\n", "99999999999 words"),
        (b"1 99999\ncat 1 2\n", "99999 dimensions"),
        (b"1 " + b"9" * 100_000 + b"\n", "is not the header"),
        (b"1 0\ncat\n", "1 words with 0 dimensions"),
        (b"3 2\ncat 1 2\ndog 3 4\n", "ends after 2 of the 3 words"),
        (b"3 2\ncat 1 2\n\ndog 3 4\nlast 1 2\n", "ends after 1 of the 3 words"),
        (b"1 2\ncat 1 2\ndog 3 4\n", "line 3: more words than the 1 that line 1 says"),
        (b"2 2\ncat 1 2\ndog 3\n", "line 3: a word and 1 numbers, not 2"),
        (b"2 3\ncat 1 2\ndog 3 4\n", "line 2: a word and 2 numbers, not 3"),
        (b"2 2\ncat 1 2\ndog 3 x\n", "line 3: could not convert"),
        (b"2 2\ncat 1 2\ndog 3 nan\n", r'word 2 \("dog"\): a number is not finite'),
        (b"2 2\ncat 1 2\ndog 3 1e39\n", "not finite"),
        (b"2 2\ncat 1 2\ncat 3 4\n", '"cat" is word 1 and again word 2'),
        ("3 2\ne\u0301 1 2\n\u00e9 3 4\ne\u0301 5 6\n".encode(), '"é" is word 1 and again word 3'),
        (b"2 2\ncat 1 2\n\xff 3 4\n", "word 2: not UTF-8"),
        (b"2 2\ncat 1 2\n 3 4\n", "word 2: a word cannot be empty"),
        (BINARY[:-1], "ends after 1 of the 2 words"),
        (BINARY[:12], "ends after 0 of the 2 words"),
        (BINARY[:-12], "ends after 1 of the 2 words"),
        (BINARY + b"more", "more follows the 2 words"),
        (b"1 2\n" + b"\x01" * 200_000, "longer than 65,536 bytes"),
        (b"\x1f\x8b broken", "the archive is broken"),
        (gzip.compress(b"2 2\ncat 1 2\ndog 3 4\n", mtime=0)[:-9], "the archive is broken or cut off"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_with_the_place(content, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(BadVectors, match=message) as caught:
        store(entries_of(path)[0], made, str(path), {})
    assert str(path) in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(BadVectors, match="No such file"):
        entries_of(tmp_path / "missing")
    with pytest.raises(BadVectors, match="directory"):
        entries_of(tmp_path)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_changed_files_never_raise_anything_else(data):
    content = bytearray(data.draw(st.sampled_from([BINARY, b"2 2\ncat 1 2\ndog 3 4\n", gzip.compress(BINARY)])))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        if not content:
            break
    with tempfile.TemporaryDirectory() as folder:
        path, made = Path(folder) / "file", Path(folder) / "made"
        path.write_bytes(content)
        made.mkdir()
        try:
            vectors = store(entries_of(path)[0], made, "file", {})
        except BadVectors:
            return
        assert np.isfinite(vectors.values).all()


def test_a_file_named_for_one_run_scores_as_the_same_vectors_imported(tmp_path):
    path = tmp_path / "file.gz"
    keyed().save_word2vec_format(str(path), binary=True)
    (tmp_path / "made").mkdir()
    store(entries_of(path)[0], tmp_path / "made", "file", {})
    rows = [
        BLEUModif(vectors="toy").segment_statistics(
            Segments(references=[b"cat - 3.5"], hypotheses=[b"dog cat dog"], resources=Resources(files={"toy": each}))
        )
        for each in (path, tmp_path / "made")
    ]
    assert np.array_equal(*rows)
    assert rows[0][0, 0, 2] not in (0, 1, 2, 3)


def test_decomposed_words_of_a_file_are_found_and_composed_ones_as_before(tmp_path):
    """As a file of another program may have them, imported or named for one run."""
    text = "6 2\nkafe\u0301 1 2\nz\u030cluty\u0301 3 4\ncat 5 6\n\u00fa 7 8\nu\u0301 9 1\nkafé 2 5\n"
    composed = "4 2\nžlutý 3 4\ncat 5 6\nú 7 8\nkafé 2 5\n"
    given = Segments(references=["kafé žlutý cat ú".encode()], hypotheses=["cat u\u0301 žlutý kafe\u0301".encode()])
    rows = []
    for number, content in enumerate((text, composed)):
        path, folder = tmp_path / f"{number}.vec", tmp_path / f"made{number}"
        path.write_text(content)
        folder.mkdir()
        store(entries_of(path)[0], folder, "file", {})
        rows += [
            BLEUModif(vectors="toy").segment_statistics(
                Segments(
                    references=given.references, hypotheses=given.hypotheses, resources=Resources(files={"toy": each})
                )
            )
            for each in (path, folder)
        ]
    assert all(np.array_equal(rows[-1], each) for each in rows)


def test_what_an_earlier_release_converted_is_converted_again(tmp_path):
    """With its words as they were, a signature would give other numbers here than on another machine."""
    path = tmp_path / "toy.vec"
    path.write_text("2 2\nkafe\u0301 1 2\ncat 3 4\n")
    resources = Resources(tmp_path / "store")
    pinned = resources.register("toy", "vectors", path).pinned
    (tmp_path / "store" / ".vectors" / pinned.partition("@")[2]).mkdir(parents=True)
    vectors = vectors_in(resources, "toy")
    assert bytes(vectors.vocabulary).decode() == "cat\nkafé\n"
    assert vectors.about["composed"] == {"words": 1, "left_out": 0}


def test_what_is_composed_is_stored_as_it_was(tmp_path):
    """The hash of registered vectors covers all of it."""
    path = tmp_path / "toy.vec"
    path.write_text("2 2\nkafé 1 2\ncat 3 4\n")
    (tmp_path / "made").mkdir()
    store(entries_of(path)[0], tmp_path / "made", "file", {"imported": "text"})
    about = '{\n "form": 1,\n "origin": {\n  "imported": "text"\n },\n "size": 2,\n "words": 2\n}\n'
    assert (tmp_path / "made" / "about.json").read_text() == about
    assert (tmp_path / "made" / "words.txt").read_text() == "cat\nkafé\n"
