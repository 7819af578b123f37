"""Tokenizers of other distributions join the registry, and broken ones harm nobody else."""

import sys

import pytest

from steelyard import BLEU
from steelyard.errors import BadParameter, BrokenTokenizer
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.plugins.entry_points import forget
from steelyard.tokenizers.registry import TOKENIZERS, prepared_text, resolve_tokenizer, tokenizer_called

HALVES = """
from dataclasses import dataclass
from steelyard.tokenizers.tokenizer import Tokenizer
@dataclass(frozen=True)
class Halves(Tokenizer):
    def means(self, tokenizer):
        return tokenizer.partition("@")[0] == self.name
    def pin(self, tokenizer, files):
        return f"{self.name}@7"
    def cut(self, text, tokenizer, files):
        return text.replace(b"-", b" ")
T = Halves("halves", "words in halves")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that lays a distribution on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def lay(source):
        (tmp_path / "module_of_halves.py").write_text(source)
        info = tmp_path / "halves-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[steelyard.tokenizers]\nhalves = module_of_halves:T\n")
        forget()

    yield lay
    sys.modules.pop("module_of_halves", None)
    forget()


def test_one_of_another_distribution_is_used_and_signed(install):
    install(HALVES)
    (bleu,), _ = resolve([parse_metric("bleu:tok=halves")], RunContext("cs"))
    assert bleu.specification == "bleu:tok=halves@7"
    assert parse_metric(bleu.specification) == bleu
    assert "|tok:halves|" in bleu.signature(1)
    assert bleu.signature(1).endswith("dict:7")
    assert bleu.corpus_score(["a-b-c-d"], [["a b c d"]]).score == pytest.approx(100)


BROKEN = {
    "import error": "import there_is_no_such_module",
    "no tokenizer": "T = 5",
    "another name": HALVES.replace('"halves",', '"others",'),
    "ends the process": "import os; os._exit(1)",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_a_broken_one_is_an_error_for_those_who_ask(install, source):
    install(source)
    with pytest.raises(BrokenTokenizer, match="halves"):
        parse_metric("bleu:tok=halves")
    assert BLEU().tok == "13a"
    assert prepared_text(b"a.", "13a").split() == [b"a", b"."]


def test_a_name_that_nobody_offers_is_refused_with_those_that_there_are():
    for name in ("moses", "", "13a@1"):
        with pytest.raises(BadParameter, match="13a, none"):
            tokenizer_called(name)
        with pytest.raises(BadParameter):
            resolve_tokenizer(name, "cs")


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
def test_names_and_descriptions(tokenizer):
    assert TOKENIZERS[tokenizer.name] is tokenizer
    assert tokenizer.means(tokenizer.name)
    assert tokenizer.describe
    assert [each.name for each in TOKENIZERS.values() if each.means(tokenizer.name)] == [tokenizer.name]
