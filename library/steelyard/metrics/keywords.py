"""The keywords that metrics take, for type checkers and editors; `make keywords` writes this file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

from steelyard.metrics.resources import Resources
from steelyard.metrics.smoothing import Smoothing


class MetricKeywords(TypedDict, total=False):
    """What every metric takes beside its parameters: see `steelyard.metrics.metric.MetricType`."""

    references: Sequence[Sequence[str | None]] | None
    trg_lang: str | None
    force: bool | None
    resources: Resources | Mapping[str, str | Path] | None


class BERTScoreKeywords(MetricKeywords, total=False):
    """Of `steelyard.BERTScore`."""

    model: str | None
    engine: str | None
    device: str | None
    layer: int | None
    idf: bool | None


class BLEUKeywords(MetricKeywords, total=False):
    """Of `steelyard.BLEU`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    eff: bool | None
    effective_order: bool | None
    tok: str | None
    tokenize: str | None
    smooth: str | Smoothing | None
    smooth_method: str | None
    smooth_value: float | None
    order: str | int | Iterable[int] | None
    max_ngram_order: int | None


class BLEUModifKeywords(MetricKeywords, total=False):
    """Of `steelyard.BLEUModif`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    eff: bool | None
    effective_order: bool | None
    tok: str | None
    tokenize: str | None
    smooth: str | Smoothing | None
    smooth_method: str | None
    smooth_value: float | None
    order: str | int | Iterable[int] | None
    max_ngram_order: int | None
    vectors: str | None
    gamma: float | None


class COMETKeywords(MetricKeywords, total=False):
    """Of `steelyard.COMET`."""

    model: str | None
    engine: str | None
    device: str | None
    reads: Literal["auto", "source", "reference", "source+reference"] | None


class CharacTERKeywords(MetricKeywords, total=False):
    """Of `steelyard.CharacTER`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None


class ChrFKeywords(MetricKeywords, total=False):
    """Of `steelyard.ChrF`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    eff: bool | None
    eps_smoothing: bool | None
    nc: int | None
    char_order: int | None
    nw: int | None
    word_order: int | None
    space: bool | None
    whitespace: bool | None
    beta: float | None


class FMeasureKeywords(MetricKeywords, total=False):
    """Of `steelyard.FMeasure`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    p: float | None
    r: float | None


class GTMKeywords(MetricKeywords, total=False):
    """Of `steelyard.GTM`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    e: float | None


class LeBLEUKeywords(MetricKeywords, total=False):
    """Of `steelyard.LeBLEU`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    order: int | None
    max_ngram_order: int | None
    threshold: float | None


class MeteorKeywords(MetricKeywords, total=False):
    """Of `steelyard.Meteor`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    modules: str | Iterable[str] | None
    params: Literal["orig", "2007"] | None
    lemmas: str | None
    stems: str | None
    synonyms: str | None
    lang: str | None
    steps: int | None


class NISTKeywords(MetricKeywords, total=False):
    """Of `steelyard.NIST`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    order: str | int | Iterable[int] | None
    max_ngram_order: int | None


class PERKeywords(MetricKeywords, total=False):
    """Of `steelyard.PER`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None


class ProgramKeywords(MetricKeywords, total=False):
    """Of `steelyard.Program`."""

    run: str | None
    release: str | None
    reads: Literal["source", "reference", "source+reference"] | None
    better: Literal["higher", "lower"] | None


class RIBESKeywords(MetricKeywords, total=False):
    """Of `steelyard.RIBES`."""

    alpha: float | None
    beta: float | None
    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None


class SemPOSKeywords(MetricKeywords, total=False):
    """Of `steelyard.SemPOS`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    variant: Literal["cap-macro", "cap-micro", "thesis-19"] | None


class TBLEUKeywords(MetricKeywords, total=False):
    """Of `steelyard.TBLEU`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    eff: bool | None
    effective_order: bool | None
    tok: str | None
    tokenize: str | None
    smooth: str | Smoothing | None
    smooth_method: str | None
    smooth_value: float | None
    order: str | int | Iterable[int] | None
    max_ngram_order: int | None
    eps: float | None


class TERKeywords(MetricKeywords, total=False):
    """Of `steelyard.TER`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    norm: bool | None
    normalized: bool | None
    punct: bool | None
    no_punct: bool | None
    asian: bool | None
    asian_support: bool | None


class WERKeywords(MetricKeywords, total=False):
    """Of `steelyard.WER`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None


class WERModifKeywords(MetricKeywords, total=False):
    """Of `steelyard.WERModif`."""

    case: Literal["mixed", "lc"] | None
    lowercase: bool | None
    case_sensitive: bool | None
    tok: str | None
    tokenize: str | None
    vectors: str | None
    clamp: bool | None
