"""sacreBLEU's own classes, from text files to scores."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.peers.libraries import lines

if TYPE_CHECKING:
    from pathlib import Path


def sacrebleu(
    reference: Path, systems: list[Path], names: list[str], replicates: int = 0, trials: int = 0
) -> list[float]:
    """Scores by metric, then by system; the reference is prepared once for all systems, as its own command does.

    With replicates there are intervals for one system, a paired bootstrap for several; with trials a paired
    randomization.
    """
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    known: dict[str, Any] = {
        "bleu": BLEU,
        "chrf": CHRF,
        "chrf++": lambda **kw: CHRF(word_order=2, **kw),
        "ter": TER,
    }
    metrics = {name: known[name](references=[lines(reference)]) for name in names}
    outputs = [lines(path) for path in systems]
    if trials or (replicates and len(systems) > 1):
        named = [(str(i), output) for i, output in enumerate(outputs)]
        _, found = PairedTest(named, metrics, None, "ar" if trials else "bs", trials or replicates)()
        return [result.score for key in found if key != "System" for result in found[key]]
    bootstrap = replicates or 1
    return [
        metric.corpus_score(output, None, n_bootstrap=bootstrap).score
        for metric in metrics.values()
        for output in outputs
    ]


def printed_scores(output: str) -> list[float]:
    """What its command printed of one system as JSON, or of several as a table: by system, then by metric."""
    if output.lstrip().startswith(("[", "{")):
        found = json.loads(output)
        return [each["score"] for each in (found if isinstance(found, list) else [found])]
    rows = [line for line in output.splitlines() if re.search(r"\d \(-?\d", line)]
    return [float(score) for row in rows for score in re.findall(r"(-?\d+\.\d+) \(", row)]
