"""`steelyard vectors` as users type it, and scoring with what it registers."""

import json
import random
import re

import numpy as np
import pytest

from cli.main import main

TEXT = "\n".join(
    " ".join(random.Random(i).choices(["north", "wind", "red", "boat", "at", "sea"], k=6)) for i in range(300)
)
WORD2VEC = "3 2\ncat 1 0\ndog 0.6 0.8\nsat 0 1\n"


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("STEELYARD_RESOURCE_FOLDER", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def files(tmp_path):
    for name, content in (("text", TEXT), ("toy.vec", WORD2VEC), ("ref", "the cat sat\n"), ("sys", "the dog sat\n")):
        (tmp_path / name).write_text(content)
    return {name: str(tmp_path / name) for name in ("text", "toy.vec", "ref", "sys")}


def run(capsys, *arguments):
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def scored(capsys, files, *arguments):
    status, out, _ = run(capsys, "score", files["ref"], "-i", files["sys"], "-f", "json", "-m", *arguments)
    assert status == 0
    return [(each["score"], each["signature"]) for each in json.loads(out)["systems"][0]["scores"]]


def test_train_list_and_score(files, capsys):
    arguments = ("vectors", "create", "news", "--input", files["text"], "--size", "8", "--epochs", "2")
    status, out, err = run(capsys, *arguments)
    assert status == 0
    assert re.fullmatch(r"news@[0-9a-f]{12}: 6 words, 8 dimensions, \d+\.\d s\n", out)
    assert err.splitlines() == ["round 1 of 3 read", "round 2 of 3 read", "round 3 of 3 read"]
    pinned = out.partition(":")[0]
    assert run(capsys, *arguments)[1].partition(":")[0] == pinned
    status, out, _ = run(capsys, "vectors", "list")
    assert status == 0
    assert out.splitlines()[2].split(maxsplit=3) == [pinned, "6", "8", "cbow trained on text"]
    ((_, signature),) = scored(capsys, files, "bleu_modif:vectors=news")
    assert f"|vectors:{pinned}|" in signature


@pytest.mark.parametrize(
    ("amount", "told"), [(3, "cbow trained on 0, 1, 2"), (4, "cbow trained on 0, 1, 2 and 1 more"), (6, "2 and 3 more")]
)
def test_three_of_the_texts_are_named_and_the_others_counted(amount, told, tmp_path, capsys):
    names = [tmp_path / str(number) for number in range(amount)]
    for path in names:
        path.write_text(TEXT)
    words = ("vectors", "create", "news", "--input", *map(str, names), "--size", "2", "--epochs", "1")
    assert run(capsys, *words)[0] == 0
    assert run(capsys, "vectors", "list")[1].splitlines()[2].endswith(told)


def test_import_and_score(files, capsys):
    status, out, _ = run(capsys, "vectors", "import", "toy", files["toy.vec"])
    assert status == 0
    assert re.match(r"toy@[0-9a-f]{12}: 3 words, 2 dimensions", out)
    assert "text file toy.vec" in run(capsys, "vectors", "list")[1]
    (wer, _), (bleu, _) = scored(capsys, files, "wer_modif:vectors=toy", "bleu_modif:vectors=toy:order=1")
    assert wer == pytest.approx(100 * 0.4 / 3, abs=1e-5)
    assert bleu == pytest.approx(100 * 2.8 / 3, abs=1e-5)
    ((named, _),) = scored(capsys, files, "wer_modif:vectors=mine", "--resource", f"mine={files['toy.vec']}")
    assert named == wer


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("e\u0301 o\u0301", "2 words brought into Unicode's NFC, in which words are looked up."),
        (
            "e\u0301 é",
            "1 word brought into Unicode's NFC, in which words are looked up; 1 of them left out, as the file has "
            "another vector of the same word.",
        ),
        ("é ó", ""),
    ],
)
def test_words_in_another_form_are_counted(words, line, tmp_path, capsys):
    (tmp_path / "toy.vec").write_text("2 1\n" + "".join(f"{word} 1\n" for word in words.split()))
    status, out, _ = run(capsys, "vectors", "import", "toy", str(tmp_path / "toy.vec"))
    assert status == 0
    assert out.split("\n")[1:-1] == [line] * bool(line)


def test_nothing_is_listed_where_nothing_is(capsys):
    status, out, _ = run(capsys, "vectors", "list")
    assert status == 0
    assert "None are registered" in out


def test_what_is_no_vectors_is_not_listed(files, store, tmp_path, capsys):
    from steelyard.metrics.resources import Resources

    Resources(store).register("groups", "synonyms", tmp_path / "text")
    assert "groups" not in run(capsys, "vectors", "list")[1]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["import", "toy", "{missing}"], 1, "missing: cannot be read"),
        (["import", "toy", "{text}"], 1, "is not the header"),
        (["import", "../toy", "{vec}"], 1, '"../toy" cannot be the name'),
        (["create", ".x", "--input", "{text}"], 1, '".x" cannot be the name'),
        (["create", "x", "--input", "{missing}"], 1, "missing: cannot be read"),
        (["create", "x", "--input", "{text}", "--min-count", "9999"], 1, "no word occurs 9999 times"),
        (["create", "x", "--input", "{text}", "--size", "5000"], 2, "--size must be from 1 to 4,096"),
        (["create", "x", "--input", "{text}", "--epochs", "0"], 2, "--epochs must be from 1"),
        (["create", "x", "--input", "{text}", "--tokenize", "latin"], 2, 'no tokenizer "latin"'),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(arguments, status, message, files, store, tmp_path, capsys):
    places = {"missing": tmp_path / "missing", "text": files["text"], "vec": files["toy.vec"]}
    filled = [each.format(**places) for each in arguments]
    found, out, err = run(capsys, "vectors", *filled)
    assert (found, out) == (status, "")
    assert message in err
    assert "Traceback" not in err
    assert not store.exists() or not list(store.iterdir())


def test_metrics_without_vectors_say_what_to_do(files, capsys):
    for metric in ("bleu_modif", "wer_modif"):
        status, out, err = run(capsys, "score", files["ref"], "-i", files["sys"], "-m", metric)
        assert (status, out) == (1, "")
        assert f"{metric}:vectors=NAME" in err
        assert "steelyard vectors create" in err
    status, _, err = run(capsys, "score", files["ref"], "-i", files["sys"], "-m", "bleu_modif:vectors=toy")
    assert status == 1
    assert 'no vectors called "toy"' in err


def test_a_terminal_gets_a_bar(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    status, out, _ = run(capsys, "vectors", "create", "news", "--input", files["text"], "--size", "4")
    assert status == 0
    assert "news@" in out
    assert np.isfinite(float(re.search(r"([\d.]+) s\n", out)[1]))
