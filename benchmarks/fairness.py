"""Who waits how long: an interactive submission while a large campaign runs, and ten teams with different tasks.

    python -m benchmarks.fairness [DIR] [--reference LABEL] [--rounds 5] [--seconds 60] [-m METRIC ...]

DIR is a campaign folder (source.txt, refs/, systems/); without one, a campaign is generated. On the embedded default,
or with Redis and PostgreSQL where STEELYARD_BROKER_URL and STEELYARD_DATABASE_URL name them
(`python -m benchmarks.harness.servers` starts both). A submission is one system's output of 2,000 segments, each time
another text, timed from queued to scored by the database's clock: with nothing else to do, then while 5,000 shards of a
campaign wait, then again with nothing else to do. Then ten teams have work for longer than it is looked at, in tasks of
different sizes; what counts is the time that workers spend on each.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from benchmarks.harness.campaign import Campaign, arguments, campaigns
from benchmarks.harness.generated import write_campaign
from benchmarks.harness.installation import Installation, installation
from benchmarks.harness.machine import load
from benchmarks.overhead import METRICS, resolved, submit
from models.database.session import reading, writing
from models.queue_status.progress import read_progress
from models.schema.base import database_time, now
from models.schema.queue import CorpusCount, Evaluation, Shard
from models.schema.states import LeaseState, QueueClass
from scheduler.embedded.wait import wait_until

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

SHARDS = 5000
TEAMS = 10
SETTLING_SECONDS = 3.0
SMALLEST, LARGEST = 0.2, 2.0
"""Estimated seconds of the tasks of the first and of the last team."""


def interactive(place: Installation, campaign: Campaign, metrics: list[Metric], first: int, copies: int) -> float:
    """Seconds from queued to scored of one submission."""
    evaluations = submit(
        place,
        campaign,
        metrics,
        copies=copies,
        first=first,
        systems=1,
        queue_class=QueueClass.INTERACTIVE,
        team=f"interactive {first}",
    )
    wait_until(place.engine, place.settings, lambda connection: read_progress(connection, evaluations))
    with reading(place.engine) as connection:
        row = connection.execute(
            select(Evaluation.created_at, Evaluation.finished_at).where(Evaluation.id == evaluations[0])
        ).one()
    return float(row.finished_at - row.created_at)


def flood(
    place: Installation,
    campaign: Campaign,
    metrics: list[Metric],
    *,
    shards: int,
    seconds: float,
    team: str,
    first: int,
) -> int:
    """Queue at least so many shards of about so long for a team, by protocols that differ in their seeds; how many."""
    queued, seed = 0, 0
    while queued < shards:
        seeds = tuple(range(seed + 1, seed + 11))
        submit(
            place, campaign, metrics, copies=20, first=first, seeds=seeds, team=team, shard_seconds=seconds, systems=10
        )
        seed += len(seeds)
        with writing(place.engine) as connection:
            # All begin together, when everything is there.
            later = update(Shard).where(Shard.team == team).values(state=LeaseState.CANCELLED)
            queued = connection.execute(later).rowcount
    return queued


def begin_all(place: Installation) -> None:
    """Let the workers have what was queued, once they have nothing else to do."""
    waiting = select(func.count()).select_from(CorpusCount).where(CorpusCount.ended_at.is_(None))
    while True:
        with reading(place.engine) as connection:
            if not connection.scalar(waiting):
                break
        time.sleep(0.1)
    time.sleep(SETTLING_SECONDS)
    with writing(place.engine) as connection:
        held = (Shard.state == LeaseState.CANCELLED) & Shard.ended_at.is_(None)
        connection.execute(update(Shard).where(held).values(state=LeaseState.PENDING))
    time.sleep(SETTLING_SECONDS)


def give_up(place: Installation) -> None:
    """Leave what is still to be done alone, and wait until nothing runs."""
    with writing(place.engine) as connection:
        waiting = Shard.state.in_([LeaseState.PENDING, LeaseState.ENQUEUED])
        connection.execute(update(Shard).where(waiting).values(state=LeaseState.CANCELLED, ended_at=now()))
    running = select(func.count()).select_from(Shard).where(Shard.state == LeaseState.RUNNING)
    while True:
        with reading(place.engine) as connection:
            if not connection.scalar(running):
                return
        time.sleep(0.1)


def waits(place: Installation, campaign: Campaign, metrics: list[Metric], rounds: int) -> None:
    """The table of interactive submissions."""
    copies = -(-2000 // len(campaign.texts()[0].split(b"\n")))
    # The first one has processes read what they keep, and teaches what metrics cost.
    for first in range(100, 103):
        interactive(place, campaign, metrics, first, copies)
    idle = [interactive(place, campaign, metrics, first, copies) for first in range(200, 200 + rounds)]
    shards = flood(
        place, campaign, metrics, shards=SHARDS, seconds=place.settings.shard_seconds, team="campaign", first=5
    )
    begin_all(place)
    busy = []
    for first in range(300, 300 + rounds):
        busy.append(interactive(place, campaign, metrics, first, copies))
        # Not always at the same point of a task.
        time.sleep(0.37)
    with reading(place.engine) as connection:
        took = connection.scalars(
            select(Shard.ended_at - Shard.claimed_at).where(Shard.team == "campaign", Shard.state == LeaseState.DONE)
        ).all()
    give_up(place)
    # Other work on the machine may have come or gone meanwhile.
    idle += [interactive(place, campaign, metrics, first, copies) for first in range(250, 250 + rounds)]
    print("| interactive submission | median, s | least | most |\n|---|---|---|---|")
    for name, seconds in (("nothing else to do", idle), (f"while {shards:,} shards wait", busy)):
        print(f"| {name} | {statistics.median(seconds):.2f} | {min(seconds):.2f} | {max(seconds):.2f} |")
    ratio = statistics.median(busy) / statistics.median(idle)
    print(f"\n**{ratio:.1f} times as long**; {len(took)} tasks of the campaign took {statistics.median(took):.2f} s "
          f"in the median. Load {load()}.\n", flush=True)  # fmt: skip


def shares(place: Installation, campaign: Campaign, metrics: list[Metric], seconds: float) -> None:
    """The table of teams."""
    copies = -(-2000 // len(campaign.texts()[0].split(b"\n")))
    # Learn what metrics cost here.
    for first in range(500, 503):
        interactive(place, campaign, metrics, first, copies)
    for number in range(TEAMS):
        size = SMALLEST * (LARGEST / SMALLEST) ** (number / (TEAMS - 1))
        # Twice as much for each as it could get if it were alone.
        flood(
            place, campaign, metrics, shards=round(2 * seconds / size / TEAMS * place.processes) + 1, seconds=size,
            team=f"team {number + 1}", first=400 + number,
        )  # fmt: skip
    begin_all(place)
    with reading(place.engine) as connection:
        begin = database_time(connection)
    time.sleep(seconds)
    with reading(place.engine) as connection:
        end = database_time(connection)
        rows = connection.execute(
            select(Shard.team, Shard.claimed_at, Shard.ended_at).where(
                Shard.team.startswith("team "),
                Shard.claimed_at < end,
                func.coalesce(Shard.ended_at, end) > begin,
                Shard.state.in_([LeaseState.RUNNING, LeaseState.DONE]),
            )
        ).all()
        left = dict(
            connection.execute(
                select(Shard.team, func.count()).where(Shard.state == LeaseState.PENDING).group_by(Shard.team)
            ).all()
        )
    give_up(place)
    names = [f"team {number + 1}" for number in range(TEAMS)]
    spent = {
        name: [min(row.ended_at or end, end) - max(row.claimed_at, begin) for row in rows if row.team == name]
        for name in names
    }
    got = {name: sum(spent[name]) for name in names}
    share = sum(got.values()) / TEAMS
    print("| team | tasks | median task, s | seconds of work | of its share | tasks left |\n|---|---|---|---|---|---|")
    for name in names:
        median = statistics.median(spent[name]) if spent[name] else 0.0
        shown = f"{got[name]:.1f} | {got[name] / share:.0%} | {left.get(name, 0)}"
        print(f"| {name} | {len(spent[name])} | {median:.2f} | {shown} |")
    print(
        f"\nIn {end - begin:.0f} s the least share is **{min(got.values()) / share:.0%}**. Load {load()}.", flush=True
    )


def main() -> None:
    """Print both tables."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=["waits", "shares"])
    parser.add_argument("-m", "--metrics", nargs="+", default=list(METRICS), metavar="METRIC")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.folders:
            options.folders = [write_campaign(Path(folder) / "generated", 10, 2000)]
        (campaign,) = campaigns(options)
        metrics = resolved(campaign, options.metrics)
        with installation(options.processes) as place:
            where = "embedded" if place.settings.embedded else "Redis and PostgreSQL"
            print(f"{campaign.title}, {len(metrics)} metrics, {options.processes} processes, {where}\n", flush=True)

            def script() -> None:
                if options.only != "shares":
                    waits(place, campaign, metrics, options.rounds)
                if options.only != "waits":
                    shares(place, campaign, metrics, options.seconds)

            place.during(script)


if __name__ == "__main__":
    main()
