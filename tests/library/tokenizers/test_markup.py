"""No text that has to be looked at is passed over."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard import BLEU
from steelyard.kernels.text.words import words
from steelyard.metrics.segments import Segments
from steelyard.tokenizers.registry import lowercases_afterwards
from steelyard.tokenizers.rules import ENTITIES, MOST_SIGNS, may_have_markup, unescaped

NAMES = [
    "<skipped>",
    *(entity.decode() for entity, _ in ENTITIES),
    "<lt;",
    "&skipped>",
    "<s\u212aipped>",
    "&AmP;",
    "ΑΣ",
]
MARKUP = [("<", "skipped>"), ("&", "quot;"), ("&", "amp;"), ("&", "lt;"), ("&", "gt;")]
PIECES = st.sampled_from([*NAMES, "&", "<", "a", "Σ", "Ρ", "\u212a", "é", " ", "x" * 50, "A.B 1"])


@given(st.lists(PIECES, max_size=20).map("".join), st.integers(0, 70))
@example("<s\u212aipped>", 0)
@example("&amp", 60)
@example("x" * 63 + "Σ", 0)
@example("x" * 60 + "&QUOT;", 0)
def test_markup_and_sigmas_are_found(text, cut):
    text = text[cut:]
    lowercased = text.replace("Σ", "").lower()
    has = any(sign + name in lowercased for sign, name in MARKUP)
    found = may_have_markup(text.encode())
    assert found or not has
    assert has or "&" in text or "<" in text or not found
    assert lowercases_afterwards(text.encode(), "13a") == (not found and "Σ" not in text)


def test_signs_without_end_count_as_markup():
    """Each would be looked at alone, in a text that somebody has made for that."""
    assert not may_have_markup(b"< & " * (MOST_SIGNS - 1))
    assert may_have_markup(b"& " * MOST_SIGNS)
    assert may_have_markup(b"< " * MOST_SIGNS)


@given(st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join))
@example("<s\u212aipped>a")
@example("ΑΣ-ΑΣ. ΑΣ1")
def test_lowercased_tokens_are_those_of_the_lowercased_text(text):
    expected = words(unescaped(text.lower().encode()), 1, mteval_13a=True)
    found = Segments(references=[text.encode()], hypotheses=[]).words("13a", "lc")
    assert (found.ids.tolist(), found.lines) == (expected.ids.tolist(), expected.lines)


@pytest.mark.parametrize("short", [0, 1 << 20])
def test_few_words_are_lowercased_before_they_are_cut_and_many_afterwards(
    monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    """Which of the two it is decides speed alone."""
    hypotheses, references = (
        ["The CAT, The Dog. THE cat", "ÉTÉ Α.Β a.B 1"],
        ["the cat, the DOG. the cat", "été α.β A.b 1"],
    )
    monkeypatch.setattr("steelyard.metrics.segments.SHORT_TEXT", short)
    assert BLEU(lowercase=True).corpus_score(hypotheses, [references]).score == pytest.approx(100)
    found = Segments.from_lines(references=[references], hypotheses=[hypotheses]).words("13a", "lc")
    assert sorted(found.lines.decode().split()) == sorted(
        ["the", "cat", ",", "dog", ".", "été", "α", "β", "a", "b", "1"]
    )
