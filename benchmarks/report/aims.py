"""What Steelyard aims at, and whether it is met: computed from the figures that the benchmarks kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.report.section import Table

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Aim:
    """A bound on one figure. Those in `×` are to be reached from below, all others must not be passed."""

    what: str
    figure: str
    """SECTION.NAME, as sections name it."""
    bound: float
    unit: str
    """`×`, `s`, `ms`, `MiB`, `%`, another word or nothing. Figures are in seconds and MiB, shares from 0 to 1."""
    stretch: float | None = None
    """What would be better still."""
    at_least: bool | None = None
    """Whether more is better (default: for `×`)."""

    @property
    def section(self) -> str:
        """That measures it."""
        return self.figure.partition(".")[0]

    @property
    def more_is_better(self) -> bool:
        """Whether the bound is to be reached from below."""
        return self.unit == "×" if self.at_least is None else self.at_least

    def reached(self, value: float, bound: float) -> bool:
        """Whether the figure is on the right side."""
        return value >= bound if self.more_is_better else value <= bound

    def row(self, figures: Mapping[str, float]) -> list[str]:
        """Of the table."""
        bound = f"{'≥' if self.more_is_better else '≤'} {_with_unit(self.bound, self.unit, exact=True)}"
        stretch = "" if self.stretch is None else _with_unit(self.stretch, self.unit, exact=True)
        value = figures.get(self.figure)
        if value is None:
            return [self.what, bound, stretch, "", f"`{self.section}`", "open"]
        verdict = "met" if self.reached(value, self.bound) else "**missed**"
        if self.stretch is not None and self.reached(value, self.stretch):
            verdict = "met, and the stretch"
        return [self.what, bound, stretch, _with_unit(value, self.unit), f"`{self.section}`", verdict]


THREE = "BLEU + chrF + TER"
AIMS = (
    Aim("`steelyard evaluate`, 10 systems, from start to report: times as fast as `sacrebleu --paired-bs`, wall",
        "headline.evaluate.ratio", 30, "×"),
    Aim("the same in a process that has done it before", "headline.again.ratio", 30, "×"),
    Aim(f"100 systems × 2,000, {THREE}, all pairs, from start to report, wall", "headline.hundred.wall", 5, "s", 2),
    Aim(f"one system × 1,000,000, {THREE}: the largest process", "headline.million.peak", 512, "MiB", 200),
    Aim("one submission, idle, embedded: accepted to scored, median", "latency.embedded.median", 0.5, "s", 0.25),
    Aim("the same, 95th percentile", "latency.embedded.p95", 1.0, "s"),
    Aim("one submission, idle, Redis and PostgreSQL: median", "latency.servers.median", 0.5, "s", 0.25),
    Aim("the same, 95th percentile", "latency.servers.p95", 1.0, "s"),
    Aim("idle, Redis and PostgreSQL: statements a second", "idle.servers.statements", 10, ""),
    Aim("the same: the scheduler's CPU in a second", "idle.servers.scheduler.cpu", 0.005, "ms"),
    Aim("the same: PostgreSQL's CPU in a second", "idle.servers.PostgreSQL.cpu", 0.005, "ms"),
    Aim("idle, embedded: the command's CPU in a second", "idle.embedded.the command.cpu", 0.010, "ms"),
    Aim("all metrics with 1,000 paired replicates, 10 systems, warm, CPU", "together.replicates", 1.2, "s"),
    Aim("BLEU, 10 systems, warm: sacreBLEU", "warm.bleu.ratio", 100, "×"),
    Aim("chrF, 10 systems, warm: sacreBLEU", "warm.chrf.ratio", 200, "×"),
    Aim("TER, 10 systems, warm: sacreBLEU", "warm.ter.ratio", 600, "×"),
    Aim("TER, 9 systems of de-en, warm: sacreBLEU", "warm.wmt22.de-en:ter.ratio", 1200, "×"),
    Aim(f"{THREE} with 1,000 paired replicates, 10 systems, warm: sacreBLEU", "warm.paired.ratio", 90, "×", 240),
    Aim("the same, CPU", "warm.paired.ours", 0.40, "s", 0.15),
    Aim("NIST, 1 system, warm: NLTK", "warm.nist-one.ratio", 60, "×", 150),
    Aim("Meteor's exact module, 1 system, warm: NLTK", "warm.meteor-one.ratio", 25, "×", 60),
    Aim("the same: METEOR 1.5, less its start", "warm.meteor-program.ratio", 25, "×", 60),
    Aim("WER and PER together, 10 systems, warm: a loop over rapidfuzz for WER alone", "warm.wer.ratio", 1, "×", 4),
    Aim("BLEU, 1 system, cold: the sacreBLEU command", "cold.bleu.ratio", 1, "×", 2),
    Aim("BLEU of words apart, 1 system, cold: multi-bleu.perl", "cold.multi-bleu.ratio", 1, "×"),
    Aim("BLEU + NIST, 1 system, cold: mteval-v13a.pl", "cold.mteval.ratio", 10, "×"),
    Aim(f"{THREE} with 1,000 replicates, 1 system, cold: the sacreBLEU command", "cold.three.ratio", 4, "×", 10),
    Aim(f"1,000 more replicates, 1 system, {THREE}, CPU", "replicates.one.thousand", 0.030, "ms", 0.008),
    Aim("GTM, 10 systems, warm", "together.gtm.rate", 20_000, "segments/s", at_least=True),
    Aim("tBLEU, per system of 10, warm, CPU", "together.tbleu.system", 0.045, "ms"),
    Aim("BLEU_modif + WER_modif, 300 dimensions, per system of 10, warm, CPU", "together.modifs.system", 0.030, "ms"),
    Aim("queued to scored: exponent in segments, or of the last doubling", "growth.segments.work.larger", 1.15, ""),
    Aim("queued to scored: exponent in systems, or of the last doubling", "growth.systems.work.larger", 1.15, ""),
    Aim("queued to scored: exponent in the stated cost of metrics", "growth.metrics.work", 1.15, ""),
    Aim("queued to scored: exponent in replicates, or of the last doubling", "growth.replicates.work.larger", 1.15, ""),
    Aim("two worker processes against one, from queued to scored", "growth.workers.speedup", 1.8, "×", 1.95),
    Aim("kernel time over all time of worker processes, queued campaign", "layers.kernels.share", 0.85, "%", 0.95,
        at_least=True),
)  # fmt: skip


def aims_table(figures: Mapping[str, float]) -> Table:
    """All aims beside what was measured; `figures` by SECTION.NAME."""
    header = ["aim", "bound", "stretch", "measured", "by `python -m benchmarks`", ""]
    return Table(header, [aim.row(figures) for aim in AIMS])


def _with_unit(value: float, unit: str, *, exact: bool = False) -> str:
    if unit == "%":
        return f"{100 * value:.0f} %" if exact else f"{100 * value:.1f} %"
    if unit == "ms":
        return f"{1000 * value:g} ms" if exact else f"{1000 * value:.1f} ms"
    if exact:
        shown = f"{value:,g}"
    else:
        shown = (
            f"{value:,.{1 if value >= 10 else 2}f}"
            if unit == "×"
            else f"{value:,.0f}"
            if value >= 1000 or unit == "MiB"
            else f"{value:.4g}"
        )
    return shown + (unit if unit == "×" else f" {unit}" if unit else "")
