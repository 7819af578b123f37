"""Tokenizers by a SentencePiece model: sacreBLEU's pieces with the same model, which is known by its content."""

import json
import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU as SacreBLEU
from sacrebleu.tokenizers.tokenizer_spm import TokenizerSPM
from sentencepiece import SentencePieceProcessor

from cli.main import main
from steelyard import BLEU, evaluate
from steelyard.errors import BadParameter, MissingResource
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources, content_digest
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.segments import Segments
from steelyard.tokenizers import sentencepiece as ours
from steelyard.tokenizers.registry import prepared_text, resolve_tokenizer, separates_words
from tests.library.tokenizers.models import DEMO, NAMES, files, small_model, trained_model


def theirs(model=None):
    """sacreBLEU's, whose own would load a model from the net."""
    tokenizer = TokenizerSPM.__new__(TokenizerSPM)
    tokenizer.name = "flores200"
    tokenizer.sp = SentencePieceProcessor(model_file=str(model or small_model()))
    return tokenizer


def lines_of(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(lines=st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n")), min_size=1))
def test_same_pieces_as_sacrebleu(kind, lines):
    here = Resources(files={"spm": small_model(kind)})
    cut = prepared_text("\n".join(lines).encode(), "spm", here).decode().split("\n")
    tokenizer = theirs(small_model(kind))
    assert [line.split() for line in cut] == [tokenizer(line).split() for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_bleu_is_sacrebleus_and_names_the_model(name):
    (bleu,), notices = resolve([parse_metric(f"bleu:tok={name}")], RunContext("th", resources=files()))
    digest = content_digest(small_model())
    assert (bleu.specification, notices) == (f"bleu:tok={name}@{digest}", [])
    assert f"|tok:{name}|" in bleu.signature(1)
    assert bleu.signature(1).endswith(f"dict:{digest}")
    references, output = lines_of(DEMO / "refs" / "A.txt"), lines_of(DEMO / "systems" / "anchor.txt")
    segments = Segments.from_lines(references=[references], hypotheses=[output]).with_resources(files())
    found = bleu.score(bleu.segment_statistics(segments).sum(axis=1))[0]
    metric = SacreBLEU()
    metric.tokenizer = theirs()
    assert found == pytest.approx(metric.corpus_score(output, [references]).score, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_python_takes_a_model_where_the_metric_is_made(name):
    references, output = lines_of(DEMO / "refs" / "A.txt"), lines_of(DEMO / "systems" / "anchor.txt")
    metric = SacreBLEU()
    metric.tokenizer = theirs()
    expected = metric.corpus_score(output, [references])
    bleu = BLEU(tokenize=name, resources={name: str(small_model())})
    found = bleu.corpus_score(output, [references])
    assert (found.score, found.counts, found.totals) == (
        pytest.approx(expected.score, abs=1e-9), expected.counts, expected.totals,
    )  # fmt: skip
    assert bleu.get_signature() == found.signature
    assert found.signature.endswith(f"dict:{content_digest(small_model())}")
    half = len(output) // 2
    parts = [bleu.accumulator(), bleu.accumulator()]
    parts[0].update(output[:half], [references[:half]])
    parts[1].update(output[half:], [references[half:]])
    assert pickle.loads(pickle.dumps(parts[0] + parts[1])).compute().score == found.score
    one = bleu.sentence_score(output[0], references[:1]).score
    assert bleu.pairwise(output[:1], references[:2])[0, 0] == one
    evaluated = evaluate({"ours": output}, references=[references], metrics=[bleu, "chrf"])
    assert evaluated["ours"][evaluated.metrics[0]].score == found.score
    same = evaluate({"ours": output}, references=[references], metrics=[f"bleu:tok={name}"], resources=bleu.resources)
    assert same["ours"][same.metrics[0]].score == found.score


def test_what_is_wrong_with_a_model_is_raised_in_python(tmp_path):
    with pytest.raises(MissingResource, match='no SentencePiece models called "spm"'):
        BLEU(tokenize="spm").corpus_score(["a"], [["a"]])
    with pytest.raises(MissingResource, match=r"gone.model: cannot be read"):
        BLEU(tokenize="spm", resources={"spm": tmp_path / "gone.model"}).corpus_score(["a"], [["a"]])
    with pytest.raises(BadParameter, match="resources must be files by name"):
        BLEU(tokenize="spm", resources=str(small_model()))
    both = [BLEU(tokenize="spm", resources={"spm": small_model(kind)}) for kind in ("unigram", "bpe")]
    with pytest.raises(BadParameter, match='The resource "spm" is'):
        evaluate({"ours": ["a"]}, references=[["a"]], metrics=both)
    folders = [BLEU(order=order, resources=Resources(tmp_path / str(order))) for order in (1, 2)]
    with pytest.raises(BadParameter, match="one folder"):
        evaluate({"ours": ["a"]}, references=[["a"]], metrics=folders)


def test_the_command_takes_a_model(tmp_path, capsys):
    arguments = ["score", str(DEMO / "refs/A.txt"), "-i", str(DEMO / "systems/anchor.txt"), "-m", "bleu", "-f", "json"]
    assert main([*arguments, "-tok", "flores200", "--resource", f"flores200={small_model()}"]) == 0
    ((score,),) = [system["scores"] for system in json.loads(capsys.readouterr().out)["systems"]]
    assert f"dict:{content_digest(small_model())}" in score["signature"]
    assert main([*arguments, "-tok", "flores200"]) == 1
    assert 'no SentencePiece models called "flores200"' in capsys.readouterr().err
    (tmp_path / "no.model").write_bytes(b"nothing")
    assert main([*arguments, "-tok", "spm", "--resource", f"spm={tmp_path / 'no.model'}"]) == 1
    assert "is no SentencePiece model" in capsys.readouterr().err


def test_a_model_of_other_content_is_refused():
    pinned = resolve_tokenizer("spm", "cs", files())
    assert resolve_tokenizer(pinned, "cs", files()) == pinned
    assert prepared_text(b"a", pinned, files()) == prepared_text(b"a", "spm", files())
    other = Resources(files={"spm": small_model("bpe")})
    with pytest.raises(MissingResource, match="other content"):
        prepared_text(b"a", pinned, other)
    with pytest.raises(MissingResource, match="no resources are given"):
        prepared_text(b"a", "spm")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    ours._model.cache_clear()
    with pytest.raises(MissingResource, match=r"steelyard\[spm\]"):
        resolve_tokenizer("spm", "cs", files())


def test_long_lines_are_cut_in_parts(monkeypatch):
    monkeypatch.setattr(ours, "LONGEST_LINE", 10)
    line = b"a boat in the harbour " * 9
    assert prepared_text(line, "spm", files()).replace(b" ", b"").replace("▁".encode(), b"") == line.replace(b" ", b"")


def test_pieces_suit_every_language():
    assert separates_words("flores200@0123456789ab", "th")
    assert separates_words("flores200", "ja")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_bleu_is_sacrebleus_on_real_data(real_data, capsys, kind):
    """With models of 2,000 pieces, trained on a reference of WMT22's English to Czech."""
    folder = real_data / "wmt22.en-cs"
    model = trained_model(folder / "refs" / "B.txt", f"wmt22-{kind}", kind=kind, pieces=2000)
    references = [folder / "refs" / f"{label}.txt" for label in "BC"]
    systems = [folder / "systems" / f"{name}.txt" for name in ("Online-W", "CUNI-Transformer", "Online-G")]
    words = ["score", *references, "-i", *systems, "-m", "bleu", "-tok", "flores200", "-f", "json"]
    assert main([*map(str, words), "--resource", f"flores200={model}"]) == 0
    found = json.loads(capsys.readouterr().out)["systems"]
    metric = SacreBLEU()
    metric.tokenizer = theirs(model)
    streams = [path.read_text("utf-8").split("\n")[:-1] for path in references]
    for path, each in zip(systems, found, strict=True):
        expected = metric.corpus_score(path.read_text("utf-8").split("\n")[:-1], streams).score
        assert each["scores"][0]["score"] == pytest.approx(expected, abs=1e-9)
