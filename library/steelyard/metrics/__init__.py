"""The contract of metrics, what they share, and the metrics by family.

`from steelyard.metrics import BLEU, CHRF, TER` works as in sacreBLEU.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.metrics.edit.ter import TER
    from steelyard.metrics.ngram.bleu import BLEU
    from steelyard.metrics.ngram.chrf import CHRF
    from steelyard.metrics.score import BLEUScore, CHRFScore, TERScore

__all__ = ["BLEU", "CHRF", "TER", "BLEUScore", "CHRFScore", "TERScore"]

_MODULES = {
    "BLEU": "ngram.bleu",
    "CHRF": "ngram.chrf",
    "TER": "edit.ter",
    "BLEUScore": "score",
    "CHRFScore": "score",
    "TERScore": "score",
}


def __getattr__(name: str) -> object:
    """Import the module of a name at its first use: the modules themselves import this package."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
