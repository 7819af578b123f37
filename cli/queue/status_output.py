"""The state of the queue as text and as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from datetime import datetime
from io import StringIO
from typing import TYPE_CHECKING, Any

from cli.queue.status_failures import shown_failures
from cli.terminal.folding_tables import add_row, folding_table
from steelyard.metrics.metric import edition_name
from steelyard.tables.formatting import duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from models.queue_status.campaign_progress import CampaignProgress
    from models.queue_status.evaluation_filters import EvaluationSummary
    from models.queue_status.overview import Overview, RunningTask, WorkerOverview

UNLIMITED = 100_000
"""Width where the output is not a terminal: every row is one line, for grep and cut."""

MOST_ROWS = 20
"""Rows of a table of workers, teams or campaigns; JSON has all."""

BAR = 20
"""Width of a bar."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status to show."""

    overview: Overview
    led: bool
    """Whether a scheduler, or a command with its own workers, dispatches work."""
    database: str
    embedded: bool
    """Whether commands bring their own workers."""
    failures_only: bool = False

    @property
    def open(self) -> int:
        """The number of selected evaluations that are open."""
        return self.overview.open

    def text(self) -> str:
        """Plain text, each row in one line."""
        return as_text(self)

    def sections(self) -> list[RenderableType]:
        """A live view, with bars and in few lines."""
        return sections(self, live=True)

    def json(self, *, indent: int | None = None) -> str:
        """One object, ended by a newline; docs/how-to/queue.md describes it."""
        return as_json(self, indent=indent)


def print_text(status: Status) -> None:
    """On standard output: as wide as a terminal, elsewhere one line for each row."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(*sections(status, live=False), sep="\n")
    else:
        sys.stdout.write(as_text(status))


def as_text(status: Status, width: int = UNLIMITED) -> str:
    """Plain text."""
    from rich.console import Console

    output = StringIO()
    console = Console(file=output, width=width, color_system=None, highlight=False, legacy_windows=False)
    console.print(*sections(status, live=False), sep="\n")
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def sections(status: Status, *, live: bool) -> list[RenderableType]:
    """All parts of the status, the most important first; a `live` view has bars and fewer lines."""
    from rich.columns import Columns

    overview = status.overview
    if status.failures_only:
        return list(shown_failures(overview)) or ["No evaluation has failed.\n"]
    found: list[RenderableType] = [_headline(status)]
    if overview.asked:
        found += ["", _asked(overview.asked)]
    if overview.campaigns:
        found += ["", _campaigns(overview.campaigns, live)]
    found += ["", Columns([_queues(overview), _work(overview)], padding=(0, 4))] if live else ["", _queues(overview)]
    if not live and any(work.waiting or work.sent or work.running for work in overview.work):
        found += ["", _work(overview)]
    if overview.learned:
        found += ["", _learned(overview)]
    if [team for team in overview.teams if team.team]:
        found += ["", _teams(overview)]
    if overview.comparisons:
        found += ["", _comparisons(overview)]
    if overview.workers or overview.astray:
        found += ["", _workers(overview)]
    if failures := list(shown_failures(overview)):
        found += ["", *failures]
    return found


def _headline(status: Status) -> Table:
    from rich.table import Table
    from rich.text import Text

    overview = status.overview
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    beating = [worker for worker in overview.workers if worker.beating]
    silent = len(overview.workers) - len(beating)
    workers = f"{_count(len(beating), 'worker')} with {_count(overview.processes, 'process', 'processes')}"
    lines = {
        "Time": f"{datetime.fromtimestamp(overview.at):%Y-%m-%d %H:%M:%S}",
        "Database": status.database,
        "Scheduler": "at work" if status.led else "none at work",
        "Workers": (workers if beating else "none alive") + (f", {silent} silent" if silent else ""),
        "Last minute": f"{_count(overview.throughput.shards, 'shard')}, {overview.throughput.hypotheses:,} hypotheses",
        "Evaluations": ", ".join(f"{amount:,} {state}" for state, amount in overview.evaluations.items() if amount)
        or "none",
    }
    if overview.waiting or any(queue.in_flight for queue in overview.queues):
        left = overview.seconds_left
        lines["Time left"] = _left(left)
    if advice := _advice(status):
        lines["What to do"] = advice
    for name, line in lines.items():
        grid.add_row(name, Text(line))
    return grid


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "cannot be estimated"
    # An estimate of 0 s would say that nothing is left, which is not true yet.
    return f"about {duration(seconds)}" if seconds >= 1.0 else "less than 1 s"


def _advice(status: Status) -> str:
    """What to do where open work cannot proceed, or ""."""
    overview = status.overview
    if not overview.open and not overview.waiting:
        return ""
    if status.embedded:
        if not status.led:
            return "No worker processes the open work. Start `steelyard up`, or evaluate something."
        return ""
    missing = []
    if not status.led:
        missing.append("`steelyard scheduler`")
    if not any(worker.beating and not worker.queue for worker in overview.workers):
        missing.append("`steelyard worker`")
    if overview.unserved and not missing:
        wait = " and ".join(
            f"{_count(amount, 'evaluation')} of edition {edition_name(edition)}"
            for edition, amount in overview.unserved.items()
        )
        return f"No worker can compute {wait}. Start a `steelyard worker` of the release and Python that queued it."
    return f"No worker processes the open work. Start {' and '.join(missing)}." if missing else ""


def _asked(evaluations: Sequence[EvaluationSummary]) -> Table:
    table = folding_table("Evaluation", "System", "Of", "State", "Shards left", right=(0, 4))
    for each in evaluations:
        # The reasons of failures are shown below.
        state = f"{each.state}: {each.reason}" if each.reason and each.state == "cancelled" else each.state
        add_row(table, str(each.id), each.called, each.measured, state, str(each.remaining))
    return table


def _campaigns(campaigns: Sequence[CampaignProgress], live: bool) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    names = ["Campaign", "Progress", "Evaluations", "Shards", "Failed", "Cancelled"]
    table = folding_table(*names, right=(2, 3, 4, 5) if live else (1, 2, 3, 4, 5))
    for each in campaigns[:MOST_ROWS]:
        ended = each.total - each.open
        done, total = (each.shards_done, each.shards) if each.shards else (ended, each.total)
        share = done / total if total else 1.0
        cells: list[RenderableType] = [Text(each.name)]
        # Rounded down: 100 % means all.
        cells.append(ProgressBar(total=max(total, 1), completed=done, width=BAR) if live else f"{int(100 * share)} %")
        cells += [f"{ended:,}/{each.total:,}", f"{each.shards_done:,}/{each.shards:,}"]
        cells += [f"{each.evaluations[state]:,}" for state in each.evaluations if state in {"failed", "cancelled"}]
        table.add_row(*cells)
    _tell_more(table, len(campaigns))
    return table


def _queues(overview: Overview) -> Table:
    table = folding_table("Queue", "Waiting", "In flight", "Oldest", right=(1, 2, 3))
    for each in overview.queues:
        oldest = "-" if each.oldest_seconds is None else duration(each.oldest_seconds)
        add_row(table, each.queue_class.queue, f"{each.waiting:,}", f"{each.in_flight:,}", oldest)
    return table


def _work(overview: Overview) -> Table:
    table = folding_table("Work", "Waiting", "Sent", "Running", right=(1, 2, 3))
    for each in overview.work:
        add_row(table, each.kind, f"{each.waiting:,}", f"{each.sent:,}", f"{each.running:,}")
    return table


def _learned(overview: Overview) -> Table:
    table = folding_table("Learned metric", "Waiting", "Running", "Texts scored", "Workers", right=(1, 2, 3))
    for each in overview.learned[:MOST_ROWS]:
        able = str(each.workers) if each.workers else "none has it: `steelyard worker --queue learned`"
        scored = f"{each.scored:,}/{each.contents:,}"
        add_row(table, each.metric, f"{each.waiting:,}", f"{each.running:,}", scored, able)
    _tell_more(table, len(overview.learned))
    return table


def _teams(overview: Overview) -> Table:
    table = folding_table("Team", "Waiting", "In flight", right=(1, 2))
    for each in sorted(overview.teams, key=lambda team: (-team.waiting, team.team))[:MOST_ROWS]:
        add_row(table, each.team or "(none)", f"{each.waiting:,}", f"{each.in_flight:,}")
    _tell_more(table, len(overview.teams))
    return table


def _comparisons(overview: Overview) -> Table:
    table = folding_table("Comparison", "Test set", "Tests", "Trials", "Tasks left", right=(0, 2, 3, 4))
    for each in overview.comparisons[:MOST_ROWS]:
        add_row(table, str(each.id), each.test_set, f"{each.tests:,}", f"{each.trials:,}", f"{each.tasks_left:,}")
    _tell_more(table, len(overview.comparisons))
    return table


def _workers(overview: Overview) -> Table:
    table = folding_table("Worker", "Release", "Processes", "Last beat", "Works on", right=(2, 3))
    for each in overview.workers[:MOST_ROWS]:
        beat = f"{duration(each.beat_seconds)} ago" + ("" if each.beating else ", silent")
        processes = f"{each.queue}, {each.device}" if each.queue else str(each.processes)
        add_row(table, _called(each), each.version, processes, beat, _listed(each.holds))
    if overview.astray:
        add_row(table, "(gone)", "", "", "", _listed(overview.astray))
    _tell_more(table, len(overview.workers))
    return table


def _called(worker: WorkerOverview) -> str:
    return f"{worker.host}, process {worker.pid}"


def _listed(held: Iterable[RunningTask]) -> str:
    from models.queue.kinds.registry import IN_WORKERS

    singular = {kind.name: kind.title.lower() for kind in IN_WORKERS}
    parts = []
    for each in held:
        since = "" if each.seconds is None else f" for {duration(each.seconds)}"
        attempt = f", attempt {each.attempt}" if each.attempt > 1 else ""
        parts.append(f"{singular[each.kind]} {each.id}{since}{attempt}")
    return "; ".join(parts) or "-"


def _tell_more(table: Table, rows: int) -> None:
    if rows > MOST_ROWS:
        add_row(table, f"and {rows - MOST_ROWS:,} more")


def _count(amount: int, one: str, more: str = "") -> str:
    return f"{amount:,} {one if amount == 1 else more or one + 's'}"


def as_json(status: Status, *, indent: int | None = None) -> str:
    """One object, ended by a newline; docs/how-to/queue.md describes it."""
    overview = status.overview
    found: dict[str, Any] = {
        "at": overview.at,
        "scheduler": status.led,
        "queues": [
            {
                "class": each.queue_class.queue,
                "waiting": each.waiting,
                "in_flight": each.in_flight,
                "oldest_seconds": each.oldest_seconds,
            }
            for each in overview.queues
        ],
        "work": [asdict(each) for each in overview.work],
        "teams": [asdict(each) for each in overview.teams],
        "workers": [asdict(each) for each in overview.workers],
        "astray": [asdict(each) for each in overview.astray],
        "comparisons": [asdict(each) for each in overview.comparisons],
        "last_minute": asdict(overview.throughput),
        "seconds_left": overview.seconds_left,
        "evaluations": overview.evaluations,
        "unserved": overview.unserved,
        "learned": [asdict(each) for each in overview.learned],
        "campaigns": [asdict(each) for each in overview.campaigns],
        "asked": [_evaluation(each) for each in overview.asked],
        "failures": [_evaluation(each) for each in overview.failures],
    }
    return json.dumps(found, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def _evaluation(each: EvaluationSummary) -> dict[str, Any]:
    return {
        "evaluation": each.id,
        "state": each.state,
        "campaign": each.campaign,
        "test_set": each.test_set,
        "references": list(each.references),
        "team": each.system_team,
        "system": each.system,
        "run": each.run,
        "shards_left": each.remaining,
        "reason": each.reason,
        "fault": each.fault,
        "ended_seconds": each.ended_seconds,
    }
