"""Training: what is read, what comes out, and that it comes out again."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import BadText, BadVectors
from steelyard.metrics.embeddings.training import Sentences, Training, train
from steelyard.metrics.embeddings.vectors import store
from steelyard.tokenizers import registry as tokenizers
from tests.library.tokenizers.models import NAMES

ROOT = Path(__file__).parents[4]
PAIRS = [("north", "south"), ("red", "green"), ("bread", "cheese")]


def some_text(lines=3_000):
    """The words of a pair stand in the same company."""
    draw = random.Random(1)
    company = [[f"of{number}x{k}" for k in range(6)] for number in range(len(PAIRS))]
    text = []
    for _ in range(lines):
        number = draw.randrange(len(PAIRS))
        text.append(
            " ".join([*draw.choices(company[number], k=3), draw.choice(PAIRS[number]), draw.choice(company[number])])
        )
    return "\n".join(text) + "\n"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(some_text())
    return path


def vectors_of(files, folder, **options):
    sentences = Sentences(files, Training(**{"size": 20, "window": 3, **options}))
    entries, origin = train(sentences)
    folder.mkdir()
    return store(entries, folder, "text", origin)


def cosines(vectors):
    rows = {
        word: i for i, word in zip(vectors.places.tolist(), vectors.vocabulary.tobytes().decode().split(), strict=False)
    }
    unit = vectors.values / np.linalg.norm(vectors.values, axis=1, keepdims=True)
    return {pair: float(unit[rows[pair[0]]] @ unit[rows[pair[1]]]) for pair in [*PAIRS, ("north", "red")]}


@pytest.mark.parametrize("model", ["cbow", "skip-gram"])
def test_words_in_the_same_company_become_similar(model, text, tmp_path):
    vectors = vectors_of([text], tmp_path / "made", model=model, epochs=12)
    assert vectors.values.shape == (24, 20)
    trained = vectors.about["origin"]["trained"]
    assert (trained["model"], trained["size"], trained["epochs"], trained["seed"]) == (model, 20, 12, 1)
    assert trained["gensim"]
    found = cosines(vectors)
    apart = found.pop(("north", "red"))
    assert min(found.values()) > apart + 0.1


def test_both_models_differ_and_so_do_seeds(text, tmp_path):
    runs = [{"model": "cbow"}, {"model": "skip-gram"}, {"seed": 2}]
    values = [vectors_of([text], tmp_path / str(i), **run).values for i, run in enumerate(runs)]
    assert not np.array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])


PROGRAM = """
import sys
from pathlib import Path
from steelyard.metrics.embeddings.training import Sentences, Training, train
from steelyard.metrics.embeddings.vectors import store
entries, origin = train(Sentences([Path(sys.argv[1])], Training(size=20, epochs=2)))
store(entries, Path(sys.argv[2]), "text", origin)
"""


def test_one_worker_gives_the_same_bits_in_every_process(text, tmp_path):
    """Whatever PYTHONHASHSEED is."""
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT}/library"}
        subprocess.run([sys.executable, "-c", PROGRAM, str(text), str(tmp_path / seed)], env=environment, check=True)
    for file in ("vectors.npy", "words.txt", "starts.npy", "places.npy", "about.json"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


def test_gzipped_text_and_several_files_are_read_as_one(text, tmp_path):
    whole = text.read_bytes()
    middle = whole.index(b"\n", len(whole) // 2) + 1
    (tmp_path / "a.gz").write_bytes(gzip.compress(whole[:middle], mtime=0))
    (tmp_path / "b").write_bytes(whole[middle:])
    parts = Sentences([tmp_path / "a.gz", tmp_path / "b"], Training())
    assert list(parts) == list(Sentences([text], Training()))


def test_words_are_those_of_the_metrics(tmp_path):
    path = tmp_path / "text"
    path.write_bytes('Říp, 5.5 &amp; "Hora"\r\n\n  \nΣΑΣ\u2028x \n'.encode() + b"last")
    assert list(Sentences([path], Training())) == [
        ["říp", ",", "5.5", "&", '"', "hora", '"'], ["σας", "x"], ["last"],
    ]  # fmt: skip
    assert next(iter(Sentences([path], Training(case="mixed", tok="none")))) == ["Říp,", "5.5", "&amp;", '"Hora"']
    for tok in set(tokenizers.TOKENIZERS).difference(NAMES):
        assert len(list(Sentences([path], Training(tok=tok)))) == 3


def test_long_lines_are_cut_and_large_texts_read_in_parts(tmp_path):
    path = tmp_path / "text"
    path.write_text("a " * 25_000 + "\n" + "b c\n" * 600_000)
    lengths = [len(sentence) for sentence in Sentences([path], Training())]
    assert lengths[:3] == [10_000, 10_000, 5_000]
    assert lengths[3:] == [2] * 600_000


def test_progress_goes_from_nothing_to_all(text, tmp_path):
    heard = []
    sentences = Sentences([text, text], Training(size=4, epochs=2), lambda *where: heard.append(where))
    train(sentences)
    assert heard == sorted(heard)
    assert heard[-1] == (6 * text.stat().st_size, 6 * text.stat().st_size)
    assert len(heard) == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no word occurs 5 times"),
        (b"a b c\n", "no word occurs 5 times.*--min-count"),
        (b"fine\n\xff broken\n", 'not UTF-8 .*, in the line ".* broken"'),
        (gzip.compress(b"a b c\n" * 1000, mtime=0)[:-12], "the archive is broken or cut off"),
    ],
)
def test_text_that_cannot_be_used(content, message, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises((BadText, BadVectors), match=message) as caught:
        train(Sentences([path], Training()))
    assert str(path) in str(caught.value)


def test_endless_lines_and_missing_files(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a" * ((1 << 24) + 1))
    with pytest.raises(BadText, match="a line is longer than 16,777,216 bytes"):
        list(Sentences([path], Training()))
    with pytest.raises(BadText, match="missing: cannot be read"):
        Sentences([tmp_path / "missing"], Training())


def test_text_that_breaks_while_it_is_read_again_is_noticed(tmp_path):
    """gensim reads in a thread whose death it would not notice."""
    path = tmp_path / "text"
    path.write_text(some_text(200))
    sentences = Sentences([path], Training(size=4))
    sentences.on_progress = lambda done, every: path.write_bytes(b"\xff\n") if sentences.rounds == 1 else None
    with pytest.raises(BadText, match="not UTF-8"):
        train(sentences)
