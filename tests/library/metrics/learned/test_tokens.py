"""How models with a list of words alone, as the first ones of BERT, cut a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.metrics.learned.tokens import TextTokenizer
from tests.library.metrics.learned.with_extra import needs_extra

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "cat", "##s", "cafe", "Caf\u00e9"]


@needs_extra
@pytest.mark.parametrize(
    ("config", "lowercase"),
    [(None, True), ({}, True), ({"model_max_length": 9}, True), ({"do_lower_case": True}, True),
     ({"do_lower_case": False}, False)],
)  # fmt: skip
def test_letters_are_small_unless_the_configuration_says_otherwise(tmp_path: Path, config, lowercase: bool) -> None:
    """As transformers do; small letters lose their accents."""
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS), "utf-8")
    if config is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = TextTokenizer(tmp_path, 6)
    assert (tokenizer.begin, tokenizer.end) == (2, 3)
    short, long = tokenizer.tokens(["The cats Caf\u00e9", "the cat the cat the"])
    words = ["the", "cat", "##s", "cafe"] if lowercase else ["The", "cat", "##s", "Caf\u00e9"]
    assert short.ids == (2, *map(WORDS.index, words), 3)
    assert (short.truncated, long.truncated) == (False, True)
    assert long.ids == (2, 5, 7, 5, 7, 3)
