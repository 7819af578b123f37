"""Where every metric of the library is: it is imported when somebody asks for it."""

from __future__ import annotations

from collections import ChainMap
from importlib import import_module
from typing import Any

PLACES = {
    "bleu": "steelyard.metrics.ngram.bleu:BLEU",
    "nist": "steelyard.metrics.ngram.nist:NIST",
    "chrf": "steelyard.metrics.ngram.chrf:ChrF",
    "ter": "steelyard.metrics.edit.ter:TER",
    "wer": "steelyard.metrics.edit.wer:WER",
    "per": "steelyard.metrics.edit.per:PER",
    "fmeasure": "steelyard.metrics.alignment.fmeasure:FMeasure",
    "gtm": "steelyard.metrics.alignment.gtm:GTM",
    "tbleu": "steelyard.metrics.alignment.tbleu:TBLEU",
    "meteor": "steelyard.metrics.alignment.meteor:Meteor",
    "sempos": "steelyard.metrics.alignment.sempos:SemPOS",
    "bleu_modif": "steelyard.metrics.embeddings.bleu_modif:BLEUModif",
    "wer_modif": "steelyard.metrics.embeddings.wer_modif:WERModif",
    "lebleu": "steelyard.metrics.ngram.lebleu:LeBLEU",
    "character": "steelyard.metrics.edit.character:CharacTER",
    "ribes": "steelyard.metrics.ngram.ribes:RIBES",
}
"""Module and class by name. Adding a metric: its file, a line here, its test, its page."""

LEARNED: dict[str, str] = {
    "bertscore": "steelyard.metrics.learned.bertscore:BERTScore",
    "comet": "steelyard.metrics.learned.comet:COMET",
    "program": "steelyard.metrics.programs.program:Program",
}
"""The same of metrics whose segments a registered program or model scores: they cannot be tried without one."""

WITHOUT_TEXTS = {
    "imported": "steelyard.metrics.without_texts.imported:Imported",
    "autorank": "steelyard.ranking.autorank_column:AutoRank",
}
"""Columns of leaderboards that are named as metrics are, and not computed from texts."""

BUILT_IN = ChainMap(PLACES, LEARNED, WITHOUT_TEXTS)
"""All that a specification may name without another distribution."""


def built_in_class(name: str) -> Any:
    """The library's metric of a name, imported now.

    Parameters
    ----------
    name : str
        A key of `BUILT_IN`.

    Returns
    -------
    type of Metric
        Any to type checkers, for metrics know this file: `steelyard.metrics.registry` has it typed.
    """
    module, _, of_class = BUILT_IN[name].partition(":")
    return getattr(import_module(module), of_class)
