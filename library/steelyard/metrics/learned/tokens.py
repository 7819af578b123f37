"""Texts as the tokens of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadModel
from steelyard.metrics.learned.folder import read_json
from steelyard.metrics.learned.packages import package

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Tokens:
    """What a model reads of one text."""

    ids: tuple[int, ...]
    """With the special tokens round them."""
    truncated: bool
    """The text has more than the model can read at once."""


class TextTokenizer:
    """The tokenizer of a model's folder.

    Parameters
    ----------
    folder : Path
        It has tokenizer.json, or BERT's vocab.txt.
    longest : int
        Tokens that are read, special ones included.

    Attributes
    ----------
    begin, end : int
        The special tokens round a text.

    Raises
    ------
    BadModel, MissingResource
    """

    def __init__(self, folder: Path, longest: int) -> None:
        self._tokenizer = _tokenizer(folder)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        special = self._tokenizer.encode("").ids
        if len(special) != 2:
            raise BadModel(f"{folder}: the tokenizer must put one special token before a text and one behind it.")
        self.begin, self.end = special

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of texts, cut off where a text has too many.

        Parameters
        ----------
        texts : list of str

        Returns
        -------
        list of Tokens
        """
        found = self._tokenizer.encode_batch(list(texts))
        return [Tokens(tuple(each.ids), bool(each.overflowing)) for each in found]


def stated_length(folder: Path, window: int) -> int:
    """The most tokens that the tokenizer's configuration allows, and no more than the encoder can read.

    Parameters
    ----------
    folder : Path
    window : int

    Returns
    -------
    int
    """
    path = folder / "tokenizer_config.json"
    stated = read_json(path).get("model_max_length") if path.is_file() else None
    return min(window, int(stated)) if isinstance(stated, (int, float)) and stated > 2 else window


def tokenizer_file(folder: Path) -> Path:
    """The file of a model's tokenizer, which must be whole.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Path

    Raises
    ------
    BadModel
        Where there is none, or one that is not whole.

    """
    if (folder / "tokenizer.json").is_file():
        read_json(folder / "tokenizer.json")
        return folder / "tokenizer.json"
    if (folder / "vocab.txt").is_file():
        return folder / "vocab.txt"
    raise BadModel(f"{folder}: the model lacks tokenizer.json (or, for BERT, vocab.txt).")


def _tokenizer(folder: Path) -> Any:
    tokenizers = package("tokenizers")
    path = tokenizer_file(folder)
    try:
        if path.name == "tokenizer.json":
            return tokenizers.Tokenizer.from_file(str(path))
        config = read_json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
        lowercase = bool(config.get("do_lower_case", True))
        return tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)._tokenizer
    except Exception as error:  # of no class of its own
        raise BadModel(f"{folder}: the tokenizer cannot be read ({error}).") from error
