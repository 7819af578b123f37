"""tercom's rules against sacreBLEU's, token by token."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from steelyard.tokenizers.tercom import tercom_text
from tests.library.campaigns import read_campaign

VARIANTS = list(itertools.product([False, True], repeat=3))
each_variant = pytest.mark.parametrize(("norm", "punct", "asian"), VARIANTS)
PIECES = [
    "a", "it's", "'s", "5", "5's", ".", ",", "-", "...", "3.5", "1,000", "10-20", " ", "  ", "\t", "\u00a0", "\u3000",
    "\x1c", "&quot;", "&amp;lt;", "&amp;", "&", ";", "!", "(", ")", "/", "[", "]", "`", "{", "~", "<skipped>", "'",
    "漢字", "かな", "カナ", "ㇰ", "。", "、", "（", "）", "・", "㈱", "㌔", "㐀", "ｱ", "｡", "\u3f22", "\u3f23", "é", "🙂",
]  # fmt: skip
line = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20),
)


def wanted(text: str, norm: bool, punct: bool, asian: bool) -> list[list[str]]:
    tokenizer = TercomTokenizer(norm, no_punct=not punct, asian_support=asian, case_sensitive=True)
    return [tokenizer(line.rstrip()).split() for line in text.split("\n")]


def found(text: str, norm: bool, punct: bool, asian: bool) -> list[list[str]]:
    return [line.split() for line in tercom_text(text, norm=norm, punct=punct, asian=asian).split("\n")]


@each_variant
@settings(max_examples=200, deadline=None)
@given(lines=st.lists(line, min_size=1, max_size=4))
@example(["it's\u00a0", "it's\u00a0so", "'s", "the dog's (the cat's) toy's.", ""])
@example([".5-6,7.", "a.b,c", "x .y", "かな", " かな漢字カナ"])
def test_same_tokens_as_sacrebleu_on_anything(norm, punct, asian, lines):
    text = "\n".join(lines)
    assert found(text, norm, punct, asian) == wanted(text, norm, punct, asian)


@each_variant
def test_same_tokens_as_sacrebleu_on_real_data(real_data, norm, punct, asian):
    for name in ("wmt22.en-cs", "wmt22.de-en"):
        campaign = read_campaign(real_data / name)
        sides = [*campaign.references.values(), *campaign.systems.values()][:3]
        text = "\n".join(line for lines in sides for line in lines)
        assert found(text, norm, punct, asian) == wanted(text, norm, punct, asian)


def test_worked_example():
    text = "the dog's &quot;3.5-inch&quot; bone, e.g. this one's."
    assert tercom_text(text, norm=True, punct=True, asian=False).split() == (
        ["the", "dog", "'s", '"', "3.5", "-", "inch", '"', "bone", ",", "e", ".", "g", ".", "this", "one's", "."]
    )
    assert tercom_text("「はい」と、彼。", norm=False, punct=False, asian=True) == "はいと彼"
