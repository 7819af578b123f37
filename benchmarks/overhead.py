"""How long tasks take, and how much of a worker's time is not spent on metrics.

    python -m benchmarks.overhead [DIR] [--reference LABEL] [--copies 10] [--rounds 2] [-m METRIC ...]

DIR is a campaign folder (source.txt, refs/, systems/). Its texts are
repeated so many times, in each round beginning with another segment, so that nothing was measured before: in the first
round shards are cut by what metrics state to cost, then by what was learned. On the embedded default, or with Redis and
PostgreSQL where STEELYARD_BROKER_URL and STEELYARD_DATABASE_URL name them; `python -m benchmarks.harness.servers`
starts both.

A worker's time is that of all its processes from the first claim to the last one, while work waits for each of them;
overhead is the share of it in which no metric, table or replicate was computed.
"""

from __future__ import annotations

import math
import os
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from benchmarks.harness.campaign import Campaign, arguments, campaigns
from benchmarks.harness.installation import Installation, installation
from benchmarks.harness.machine import load
from models.database.session import reading
from models.queue_status.progress import read_progress
from models.schema.queue import Evaluation, Shard
from models.schema.states import QueueClass
from scheduler.embedded.wait import wait_until
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import Resources
from steelyard.metrics.run_context import RunContext

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

METRICS = ("bleu", "nist", "chrf", "ter", "wer", "per", "fmeasure", "gtm", "tbleu", "meteor", "lebleu", "character")
"""Those that need neither vectors nor layers."""


def turned(text: bytes, copies: int, first: int) -> bytes:
    """The text so many times over, beginning with another segment."""
    lines = text.split(b"\n")
    first %= len(lines)
    return b"\n".join((lines[first:] + lines[:first]) * copies)


def resolved(campaign: Campaign, specifications: list[str]) -> list[Metric]:
    """The metrics as `evaluate` would pin them."""
    metrics = [parse_metric(each) for each in specifications]
    return list(resolve(metrics, RunContext(campaign.language, frozenset(), Resources()))[0])


def submit(
    place: Installation,
    campaign: Campaign,
    metrics: list[Metric],
    *,
    copies: int,
    first: int,
    systems: int | None = None,
    seeds: tuple[int, ...] = (1,),
    queue_class: QueueClass = QueueClass.CAMPAIGN,
    team: str = "",
    shard_seconds: float | None = None,
) -> list[int]:
    """Queue a campaign once for each seed; its evaluations."""
    reference, *outputs = (turned(text, copies, first) for text in campaign.texts())
    settings = place.settings
    if shard_seconds is not None:
        settings = settings.model_copy(update={"shard_seconds": shard_seconds})
    intake = ingest_campaign(
        place.engine,
        settings,
        campaign=f"{campaign.name} {team}",
        test_set=NewTestSet(campaign.name, {"A": reference}),
        submissions=[NewSubmission(f"{team}{number}", text, team) for number, text in enumerate(outputs[:systems])],
        protocols=[NewProtocol(["A"], metrics, seed=seed) for seed in seeds],
        queue_class=queue_class,
        team=team,
        processes=place.processes,
    )
    return intake.all_evaluations


@dataclass(frozen=True)
class Round:
    """What became of a campaign that was queued and evaluated."""

    took: list[float]
    """Seconds of each task, in order."""
    within: float
    """Share of the tasks' time in which no metric, table or replicate was computed."""
    overhead: float
    """The same of the whole time of the worker's processes; NaN where there was a single task."""
    off: float
    """By what factor costs were estimated wrong, the median."""

    def row(self, number: int) -> str:
        """Of the table."""
        took = self.took
        quartiles = " | ".join(f"{took[min(len(took) - 1, len(took) * part // 4)]:.2f}" for part in range(5))
        shown = "n/a" if math.isnan(self.overhead) else f"{self.overhead:.1%}"
        shares = f"{self.off:.2f} | {self.within:.1%} | **{shown}**"
        return f"| {number + 1} | {len(took)} | {quartiles} | {shares} | {load()} |"


def one_round(place: Installation, campaign: Campaign, metrics: list[Metric], copies: int, number: int) -> Round:
    """Evaluate the campaign, its texts so many times over."""
    evaluations: list[int] = []

    def script() -> None:
        evaluations.extend(submit(place, campaign, metrics, copies=copies, first=17 * number))
        wait_until(place.engine, place.settings, lambda connection: read_progress(connection, evaluations))

    place.during(script)
    with reading(place.engine) as connection:
        protocols = select(Evaluation.protocol_id).where(Evaluation.id.in_(evaluations))
        rows = connection.execute(
            select(Shard.claimed_at, Shard.ended_at, Shard.kernel_seconds, Shard.cost).where(
                Shard.protocol_id.in_(protocols)
            )
        ).all()
    took = sorted(row.ended_at - row.claimed_at for row in rows)
    first, last = min(row.claimed_at for row in rows), max(row.claimed_at for row in rows)
    # What was done before the last claim, of shards that were not ended by then in proportion.
    kernel = sum(
        row.kernel_seconds * (min(row.ended_at, last) - row.claimed_at) / (row.ended_at - row.claimed_at)
        for row in rows
    )
    whole = place.processes * (last - first)
    return Round(
        took,
        within=1 - sum(row.kernel_seconds for row in rows) / sum(took),
        overhead=1 - kernel / whole if whole else math.nan,
        off=statistics.median(
            max(row.ended_at - row.claimed_at, row.cost) / min(row.ended_at - row.claimed_at, row.cost) for row in rows
        ),
    )


def main() -> None:
    """Run the rounds and print a Markdown table."""
    parser = arguments(__doc__)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("-m", "--metrics", nargs="+", default=list(METRICS), metavar="METRIC")
    parser.set_defaults(rounds=2)
    options = parser.parse_args()
    campaign = campaigns(options)[0]
    metrics = resolved(campaign, options.metrics)
    print(f"{campaign.title}, {options.copies} copies, {len(metrics)} metrics, {options.processes} processes\n")
    print("| round | tasks | shortest, s | quarter | median | three quarters | longest | estimate off by a factor "
          "| overhead in tasks | with gaps | load |\n|---|---|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    with installation(options.processes) as place:
        for number in range(options.rounds):
            print(one_round(place, campaign, metrics, options.copies, number).row(number), flush=True)


if __name__ == "__main__":
    main()
