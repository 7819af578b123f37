"""A small SentencePiece model, made once for all tests of a process."""

import contextlib
import io
import os
import tempfile
from functools import cache
from pathlib import Path

from steelyard.metrics.resources import Resources
from steelyard.tokenizers.registry import TOKENIZERS
from steelyard.tokenizers.sentencepiece import SentencePiece

DEMO = Path(__file__).parents[3] / "demo" / "harbour"
NAMES = [name for name, each in TOKENIZERS.items() if isinstance(each, SentencePiece)]
_scratch = tempfile.TemporaryDirectory()


@cache
def small_model(kind: str = "unigram") -> Path:
    """Its file."""
    return trained_model(DEMO / "refs" / "A.txt", kind, kind=kind, pieces=120)


def trained_model(text: Path, name: str, *, kind: str, pieces: int) -> Path:
    """The file of a model that is trained on a text."""
    import sentencepiece

    prefix = Path(_scratch.name) / name
    with contextlib.redirect_stderr(io.StringIO()):
        sentencepiece.SentencePieceTrainer.train(
            input=os.fspath(text), model_prefix=os.fspath(prefix), vocab_size=pieces, model_type=kind,
            hard_vocab_limit=False, minloglevel=2, num_threads=1,
        )  # fmt: skip
    return prefix.with_suffix(".model")


def files() -> Resources:
    """The model under each name that a tokenizer asks for."""
    return Resources(files=dict.fromkeys(NAMES, small_model()))
