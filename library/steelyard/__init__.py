"""Metrics for machine translation: text in, numbers out. `from steelyard import BLEU`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.compat import (
        corpus_bleu,
        corpus_chrf,
        corpus_ter,
        raw_corpus_bleu,
        sentence_bleu,
        sentence_chrf,
        sentence_ter,
    )
    from steelyard.evaluation import Comparison, Evaluation, evaluate
    from steelyard.metrics.alignment.fmeasure import FMeasure
    from steelyard.metrics.alignment.gtm import GTM
    from steelyard.metrics.alignment.meteor import Meteor
    from steelyard.metrics.alignment.sempos import SemPOS
    from steelyard.metrics.alignment.tbleu import TBLEU
    from steelyard.metrics.edit.character import CharacTER
    from steelyard.metrics.edit.per import PER
    from steelyard.metrics.edit.ter import TER
    from steelyard.metrics.edit.wer import WER
    from steelyard.metrics.embeddings.bleu_modif import BLEUModif
    from steelyard.metrics.embeddings.wer_modif import WERModif
    from steelyard.metrics.learned.bertscore import BERTScore
    from steelyard.metrics.learned.comet import COMET
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.ngram.bleu import BLEU
    from steelyard.metrics.ngram.chrf import CHRF, ChrF
    from steelyard.metrics.ngram.lebleu import LeBLEU
    from steelyard.metrics.ngram.nist import NIST
    from steelyard.metrics.ngram.ribes import RIBES
    from steelyard.metrics.registry import parse_metric
    from steelyard.metrics.score import Score
    from steelyard.metrics.segment_metric import SegmentMetric

__all__ = [
    "BLEU",
    "CHRF",
    "COMET",
    "GTM",
    "NIST",
    "PER",
    "RIBES",
    "TBLEU",
    "TER",
    "WER",
    "BERTScore",
    "BLEUModif",
    "CharacTER",
    "ChrF",
    "Comparison",
    "Evaluation",
    "FMeasure",
    "LeBLEU",
    "Meteor",
    "Metric",
    "Score",
    "SegmentMetric",
    "SemPOS",
    "WERModif",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "evaluate",
    "parse_metric",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
]

# Imported when they are asked for: NumPy and the kernels take longer than all else that `import steelyard` does.
_MODULES = {
    "BERTScore": "metrics.learned.bertscore",
    "BLEU": "metrics.ngram.bleu",
    "BLEUModif": "metrics.embeddings.bleu_modif",
    "CharacTER": "metrics.edit.character",
    "CHRF": "metrics.ngram.chrf",
    "ChrF": "metrics.ngram.chrf",
    "COMET": "metrics.learned.comet",
    "FMeasure": "metrics.alignment.fmeasure",
    "GTM": "metrics.alignment.gtm",
    "LeBLEU": "metrics.ngram.lebleu",
    "Meteor": "metrics.alignment.meteor",
    "Metric": "metrics.metric",
    "NIST": "metrics.ngram.nist",
    "PER": "metrics.edit.per",
    "RIBES": "metrics.ngram.ribes",
    "SemPOS": "metrics.alignment.sempos",
    "TBLEU": "metrics.alignment.tbleu",
    "TER": "metrics.edit.ter",
    "WER": "metrics.edit.wer",
    "WERModif": "metrics.embeddings.wer_modif",
    "corpus_bleu": "compat",
    "corpus_chrf": "compat",
    "corpus_ter": "compat",
    "raw_corpus_bleu": "compat",
    "sentence_bleu": "compat",
    "sentence_chrf": "compat",
    "sentence_ter": "compat",
    "Comparison": "evaluation",
    "Evaluation": "evaluation",
    "Score": "metrics.score",
    "SegmentMetric": "metrics.segment_metric",
    "evaluate": "evaluation",
    "parse_metric": "metrics.registry",
}

_SUBMODULES = ("compat", "metrics")
"""Found without an import of their own, as sacreBLEU's are."""


def __getattr__(name: str) -> object:
    """Import the module of a public name at its first use."""
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
