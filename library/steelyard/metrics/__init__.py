"""Metrics for machine translation: text in, numbers out. Usable alone: `from steelyard import BLEU`."""

from __future__ import annotations

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
from steelyard.metrics.metric import Metric
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.ngram.chrf import ChrF
from steelyard.metrics.ngram.lebleu import LeBLEU
from steelyard.metrics.ngram.nist import NIST
from steelyard.metrics.registry import parse_metric

METRICS: tuple[type[Metric], ...] = (
    BLEU,
    NIST,
    ChrF,
    TER,
    WER,
    PER,
    FMeasure,
    GTM,
    TBLEU,
    Meteor,
    SemPOS,
    BLEUModif,
    WERModif,
    LeBLEU,
    CharacTER,
)
"""Every metric of the house. Adding one: its file, a line here, its test, its page."""

__all__ = [
    "BLEU",
    "GTM",
    "METRICS",
    "NIST",
    "PER",
    "TBLEU",
    "TER",
    "WER",
    "BLEUModif",
    "CharacTER",
    "ChrF",
    "FMeasure",
    "LeBLEU",
    "Meteor",
    "Metric",
    "SemPOS",
    "WERModif",
    "parse_metric",
]
