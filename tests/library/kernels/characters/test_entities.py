"""No text that has to be looked at is passed over."""

from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.kernels.characters.entities import find_entities
from steelyard.kernels.text.words import words
from steelyard.metrics.segments import Segments
from steelyard.tokenizers.rules import ENTITIES, unescaped

NAMES = [
    "<skipped>",
    *(entity.decode() for entity, _ in ENTITIES),
    "<lt;",
    "&skipped>",
    "<s\u212aipped>",
    "&AmP;",
    "ΑΣ",
]
PIECES = st.sampled_from([*NAMES, "&", "<", "a", "Σ", "Ρ", "\u212a", "é", " ", "x" * 50, "A.B 1"])


@given(st.lists(PIECES, max_size=20).map("".join), st.integers(0, 70))
@example("<s\u212aipped>", 0)
@example("&amp", 60)
@example("x" * 63 + "Σ", 0)
@example("x" * 60 + "&QUOT;", 0)
def test_markup_and_sigmas_are_found(text, cut):
    text = text[cut:]
    found = find_entities(text.encode())
    folded = text.replace("Σ", "").lower()
    names = ("quot;", "amp;", "lt;", "gt;", "skipped>")
    has = any(sign + name in folded for sign in "&<" for name in names)
    assert found.sigma == ("Σ" in text)
    assert found.entities or not has
    assert has or "&" in text or "<" in text or not found.entities


@given(st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join))
@example("<s\u212aipped>a")
@example("ΑΣ-ΑΣ. ΑΣ1")
def test_lowercased_tokens_are_those_of_the_lowercased_text(text):
    expected = words(unescaped(text.lower().encode()), 1, mteval_13a=True)
    found = Segments(references=[text.encode()], hypotheses=[]).words("13a", "lc")
    assert (found.ids.tolist(), found.lines) == (expected.ids.tolist(), expected.lines)
