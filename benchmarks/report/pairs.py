"""The table of a comparison with peers, row by row, with its chart and its figures."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from benchmarks.harness.alone import progress
from benchmarks.report.section import Chart, Line, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.harness.campaign import Campaign
    from benchmarks.harness.timing import Pair


class PairTable:
    """Pairs measured on one campaign.

    Figures of the first campaign are named `WORKLOAD.ratio`, those of others `CAMPAIGN:WORKLOAD.ratio`.
    """

    def __init__(self, section: str, campaign: Campaign, *, first: bool, unit: str = "CPU s") -> None:
        self.section = section
        self.campaign = campaign
        self.unit = unit
        self.rows: list[list[str]] = []
        self.more_columns: list[str] = []
        self.figures: dict[str, float] = {}
        self.left_out: dict[str, str] = {}
        """Peer -> why it was not compared."""
        self.later = not first
        self._prefix = f"{campaign.name}:" if self.later else ""
        self._bars: dict[str, list[tuple[str, Pair]]] = {}

    def add(
        self,
        key: str,
        workload: str,
        peer: str,
        pair: Pair,
        *,
        systems: int,
        equal: str,
        segments: int = 0,
        more: Sequence[str] = (),
    ) -> None:
        """A row; `segments` where not all were used. `equal` says how far scores may differ."""
        ours, theirs = statistics.median(pair.ours), statistics.median(pair.theirs)
        segments = (segments or self.campaign.segments) * systems
        spread = f"{shown(min(pair.ratios))} to {shown(max(pair.ratios))}"
        name = f"{workload}, {systems} system{'s' if systems > 1 else ''}"
        self.rows.append(
            [
                name, f"{ours:.4f}", f"{segments / ours:,.0f}", f"{theirs:.3f} ({peer})", f"{segments / theirs:,.0f}",
                f"**{shown(pair.ratio)}×** ({spread})", str(len(pair.ours)), equal, *more,
            ]
        )  # fmt: skip
        self._bars.setdefault(peer, []).append((name, pair))
        for what, value in (("ratio", pair.ratio), ("ours", ours), ("theirs", theirs), ("least", pair.least_ours)):
            self.figures[f"{self._prefix}{key}.{what}"] = value
        progress(f"{self.campaign.name}: {name}: {shown(pair.ratio)} times as fast as {peer}")

    def put(self, key: str, value: float) -> None:
        """Another figure of this campaign."""
        self.figures[self._prefix + key] = value

    def parts(self, title: str) -> list[str | Table | Chart]:
        """The table, what was left out, the chart."""
        reasons = [f"{peer} was left out: {why}." for peer, why in self.left_out.items()]
        return [self.table, *([" ".join(reasons)] if reasons else []), *([self.chart(title)] if self.rows else [])]

    @property
    def table(self) -> Table:
        """All rows."""
        header = [
            "workload", f"ours, {self.unit}", "segments/s", f"peer, {self.unit}", "segments/s",
            "ratio (least to most)", "turns", "scores equal to", *self.more_columns,
        ]  # fmt: skip
        return Table(header, self.rows, self.campaign.title)

    def chart(self, title: str) -> Chart:
        """How many times faster, by workload and peer."""
        lines = [
            Line(
                peer,
                [name for name, _ in bars],
                [pair.ratio for _, pair in bars],
                [min(pair.ratios) for _, pair in bars],
                [max(pair.ratios) for _, pair in bars],
            )
            for peer, bars in self._bars.items()
        ]
        name = f"{self.section}-{self.campaign.name}".replace(".", "-")
        return Chart("ratios", name, title, [f"times as fast as the peer ({self.unit})"], lines)


def shown(ratio: float) -> str:
    """With one decimal, where it is below 100."""
    return f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:,.0f}"
