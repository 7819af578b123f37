"""Promises that every tokenizer in the registry keeps; a new one is found by itself."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.kernels.characters.lowercase import lowercased
from steelyard.kernels.text.words import words
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.run_context import RunContext
from steelyard.tokenizers.registry import TOKENIZERS, dictionary_of, prepared_text, resolve_tokenizer, signed, words_of
from tests.library.tokenizers.models import files

every_tokenizer = pytest.mark.parametrize("name", TOKENIZERS)
lines = st.lists(
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=30), min_size=1, max_size=4
)
relaxed = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = {
    "one letter": "a" * 3000,
    "punctuation": "." * 3000,
    "marks": "a" + "\u0301\u0323" * 1500,
    "entities": "&amp;" * 600,
    "white space of all kinds": "\u2028\u0085\x0b\x0c\x1c \u00a0\u3000" * 300,
    "every plane": "A\u4e00\uac00\u3042\U0001f642\U00020000\U000e0001\U0010ffff" * 99,
    "null": "\0" * 3000,
}


def texts_of(found):
    """The words themselves, row by row."""
    types = found.lines.split(b"\n")
    return [[types[each] for each in found.ids[a:b]] for a, b in zip(found.starts, found.starts[1:], strict=False)]


@every_tokenizer
@relaxed
@given(given=lines)
def test_lines_are_cut_as_they_are_alone_and_always_alike(name, given):
    text = "\n".join(given).encode()
    cut = prepared_text(text, name, files())
    assert cut.decode().count("\n") == len(given) - 1
    assert cut.split(b"\n") == [prepared_text(line.encode(), name, files()) for line in given]
    assert prepared_text(text, name, files()) == cut


@every_tokenizer
@relaxed
@given(given=lines)
def test_words_are_those_of_the_cut_text(name, given):
    text = "\n".join(given).encode()
    cut = words(prepared_text(text, name, files()), len(given))
    assert texts_of(words_of(text, len(given), name, files())) == texts_of(cut)


@every_tokenizer
@relaxed
@given(given=lines)
def test_lowercasing_afterwards_is_promised_only_where_it_is_the_same(name, given):
    text = "\n".join(given).encode()
    if TOKENIZERS[name].lowercases_afterwards(text):
        cut = prepared_text(lowercased(text), name, files())
        assert [line.split() for line in lowercased(prepared_text(text, name, files())).split(b"\n")] == [
            line.split() for line in cut.split(b"\n")
        ]


@every_tokenizer
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_cut(name, text):
    assert prepared_text(text.encode(), name, files()).count(b"\n") == 0
    prepared_text(f"{text}\n{text}".encode(), name, files()).decode()


@every_tokenizer
def test_what_is_pinned_says_it_all(name):
    pinned = resolve_tokenizer(name, "", files())
    assert resolve_tokenizer(pinned, "cs", files()) == pinned
    assert TOKENIZERS[name].means(pinned)
    assert not [other for other, each in TOKENIZERS.items() if other != name and each.means(pinned)]
    assert prepared_text(b"It's 5.", pinned, files()) == prepared_text(b"It's 5.", name, files())


@every_tokenizer
def test_the_signature_names_it(name):
    (bleu,), _ = resolve([parse_metric(f"bleu:tok={name}")], RunContext("cs", resources=files()))
    assert parse_metric(bleu.specification) == bleu
    fields = dict(field.split(":", 1) for field in bleu.signature(1).split("|"))
    assert (fields["tok"], fields.get("dict", "")) == (signed(bleu.tok), dictionary_of(bleu.tok))


def test_text_without_rules_stays():
    """What `none` promises beside: cutting what was cut changes nothing."""
    assert prepared_text(b" a  b\n", "none") == b" a  b\n"
