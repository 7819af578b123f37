"""Pieces of words by a SentencePiece model, as spBLEU has them; the model is a resource of the tokenizer's name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from steelyard.errors import MissingResource
from steelyard.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.tokenizers.tokenizer import Files

WHAT = "SentencePiece models"
LONGEST_LINE = 100_000
"""Characters that a model is given at once; longer lines are cut in parts of so many."""


@dataclass(frozen=True)
class SentencePiece(Tokenizer):
    """A tokenizer that asks for a model: `flores200@3f2a9c01b7de` is pinned by the model's content."""

    def means(self, tokenizer: str) -> bool:
        """Whether this is its name, alone or with the hash of any model."""
        return tokenizer.partition("@")[0] == self.name

    def pin(self, tokenizer: str, files: Files) -> str:
        """The name with the hash of the model that is called so. Raises MissingResource."""
        pinned = files.pinned(tokenizer, WHAT)
        _model(files.path(pinned, WHAT), pinned)
        return pinned

    def cut(self, text: bytes, tokenizer: str, files: Files) -> bytes:
        """Lines of UTF-8 with blanks between the pieces. Raises MissingResource."""
        pinned = files.pinned(tokenizer, WHAT)
        encode = _model(files.path(pinned, WHAT), pinned).encode_as_pieces
        lines = text.decode().split("\n")
        cut = {line: " ".join(_pieces(encode, line)) for line in dict.fromkeys(lines)}
        return "\n".join([cut[line] for line in lines]).encode()


def _pieces(encode: Any, line: str) -> list[str]:
    if len(line) <= LONGEST_LINE:
        return list(encode(line))
    return [piece for at in range(0, len(line), LONGEST_LINE) for piece in encode(line[at : at + LONGEST_LINE])]


@lru_cache(maxsize=8)
def _model(path: Path, pinned: str) -> Any:
    """The model at this place, whose content `pinned` names."""
    try:
        import sentencepiece
    except ImportError as error:
        raise MissingResource(
            f"The tokenizer {pinned.partition('@')[0]} needs the package sentencepiece, which cannot be used here "
            f'({str(error)[:200]}). Install the extra "spm": pip install "steelyard[spm]".'
        ) from error
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise MissingResource(
            f"{path}: is no SentencePiece model. Give the file NAME.model that training wrote, or that was published."
        ) from error
