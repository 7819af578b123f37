"""Metrics for machine translation: text in, numbers out. Usable alone: `from metrics import BLEU`."""

from __future__ import annotations

from metrics.base import Metric
from metrics.bleu import BLEU
from metrics.bleu_modif import BLEUModif
from metrics.character import CharacTER
from metrics.chrf import ChrF
from metrics.fmeasure import FMeasure
from metrics.gtm import GTM
from metrics.lebleu import LeBLEU
from metrics.meteor import Meteor
from metrics.nist import NIST
from metrics.per import PER
from metrics.registry import parse_metric
from metrics.sempos import SemPOS
from metrics.tbleu import TBLEU
from metrics.ter import TER
from metrics.wer import WER
from metrics.wer_modif import WERModif

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
