"""Where every metric of the library is: it is imported when somebody asks for it."""

from __future__ import annotations

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


def built_in_class(name: str) -> Any:
    """The library's metric of a name, imported now.

    Parameters
    ----------
    name : str
        A key of `PLACES`.

    Returns
    -------
    type of Metric
        Any to type checkers, for metrics know this file: `steelyard.metrics.registry` has it typed.

    """
    module, _, of_class = PLACES[name].partition(":")
    return getattr(import_module(module), of_class)
