"""Layers on the way through the database, by the clock since they wait for the disk: from intake to report."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import select

from analysis.leaderboard.significance import ranked_by_bootstrap
from benchmarks.harness.evaluating import THREE
from benchmarks.overhead import resolved
from benchmarks.single_layers.limits import Layer
from benchmarks.single_layers.number_layers import REPLICATES
from campaigns.reports.campaign import render_report
from cli.stored import read_boards
from models.database import migrate
from models.database.session import make_engine, reading
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.results.boards import list_boards
from models.schema.queue import Reduction, Shard
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from worker.context import WorkerContext
from worker.handlers import do

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Engine

    from benchmarks.harness.campaign import Campaign
    from scheduler.ingest.campaigns import IngestResult

Result = TypeVar("Result")


class Stored:
    """One campaign on its way through a database of its own."""

    def __init__(self, campaign: Campaign, url: str) -> None:
        self.campaign = campaign
        self.settings = Settings(database_url=url)
        migrate.upgrade(url)
        self.engine: Engine = make_engine(url)
        self.context = WorkerContext(self.settings)
        self.spent: dict[str, float] = {}

    def timed(self, name: str, work: Callable[[], Result]) -> Result:
        """What the work gives; its time is added to what was spent on this."""
        start = time.perf_counter()
        result = work()
        self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - start
        return result

    def take_in(self) -> IngestResult:
        """Store and queue the campaign, all of it for one process."""
        reference, *outputs = self.campaign.texts()
        named = zip(self.campaign.systems, outputs, strict=True)
        return ingest_campaign(
            self.engine,
            self.settings,
            campaign="layers",
            test_set=NewTestSet(self.campaign.name, {"A": reference}),
            submissions=[NewSubmission(path.stem, text) for path, text in named],
            protocols=[NewProtocol(["A"], resolved(self.campaign, list(THREE)), REPLICATES)],
            processes=1,
        )

    def work_off(self) -> float:
        """Do all shards, then what is to be reduced; the kernels' seconds of the shards."""
        # Otherwise the last shard would go on and reduce.
        self.context.shutting_down.set_once("reduced apart")
        for shard in self._keys(Shard):
            self.timed("shards", lambda shard=shard: do(self.context, SHARD, shard, "layers"))
        for reduction in self._keys(Reduction):
            self.timed("reducing", lambda key=reduction: do(self.context, REDUCTION, key, "layers"))
        with reading(self.engine) as connection:
            return sum(connection.scalars(select(Shard.kernel_seconds)))

    def show(self, intake: IngestResult) -> None:
        """Rank, and write the report."""
        with reading(self.engine) as connection:
            listed = list_boards(connection, protocols=intake.protocols, campaign_id=intake.campaign_id)
        boards = self.timed(
            "boards",
            lambda: [ranked_by_bootstrap(each) for each in read_boards(self.engine, listed, 0.95, None)],
        )
        with reading(self.engine) as connection:
            self.timed("report", lambda: render_report(connection, boards, title=self.campaign.name))

    def _keys(self, table: type[Shard] | type[Reduction]) -> list[int]:
        with reading(self.engine) as connection:
            return list(connection.scalars(select(table.id).order_by(table.id)))


def stored_layers(campaign: Campaign, folder: Path, rounds: int) -> list[Layer]:
    """The best of some rounds, each in an empty SQLite file after the first, which imports what there is."""
    best: dict[str, float] = {}
    for number in range(rounds + 1):
        run = Stored(campaign, f"sqlite:///{folder}/layers{number}.db")
        intake = run.timed("intake", run.take_in)
        run.spent["kernels"] = run.work_off()
        run.spent["shards"] -= run.spent["kernels"]
        run.show(intake)
        shards = len(run._keys(Shard))
        run.context.close()
        run.engine.dispose()
        if number:
            best = {name: min(seconds, best.get(name, seconds)) for name, seconds in run.spent.items()}
    size = sum(map(len, campaign.texts()))
    return [
        Layer("intake: stored and queued", best["intake"], size, "B", "disk", "bytes"),
        # A claim and a completion.
        Layer("shards, without kernels", best["shards"], 2 * shards, "", "commit", "commits"),
        Layer("reducing", best["reducing"], 2, "", "commit", "commits"),
        Layer("boards, all pairs tested", best["boards"]),
        Layer("report", best["report"]),
    ]
