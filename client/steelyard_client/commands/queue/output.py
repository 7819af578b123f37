"""The state of the queue as text and as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from steelyard.tables.formatting import duration
from steelyard_client.commands.queue.failures import shown_failures
from steelyard_client.commands.queue.folding_tables import add_row, folding_table
from steelyard_client.commands.submissions.evaluations import called, measured
from steelyard_client.vocabulary import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from steelyard_client.documents.submissions.evaluations import SelectedEvaluation
    from steelyard_client.documents.submissions.queue import (
        CampaignProgressResponse,
        QueueResponse,
        RunningTaskResponse,
        WorkerResponse,
    )

UNLIMITED = 100_000
"""Width where the output is not a terminal: every row is one line, for grep and cut."""

MOST_ROWS = 20
"""Rows of a table of workers, teams or campaigns; JSON has all."""

ENDED = frozenset({EvaluationState.DONE, EvaluationState.FAILED, EvaluationState.CANCELLED})

BAR = 20
"""Width of a bar."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status to show."""

    queue: QueueResponse
    failures_only: bool = False

    @property
    def open(self) -> int:
        """The number of selected evaluations that are open."""
        return open_ones(self.queue.evaluations)

    def text(self) -> str:
        """Plain text, each row in one line."""
        return as_text(self)

    def show(self) -> None:
        """Print it: as wide as a terminal, elsewhere one line for each row."""
        from rich.console import Console

        if sys.stdout.isatty():
            Console(highlight=False).print(*sections(self, live=False), sep="\n")
        else:
            sys.stdout.write(self.text())

    def sections(self) -> list[RenderableType]:
        """A live view, with bars and in few lines."""
        return sections(self, live=True)

    def json(self, *, indent: int | None = None) -> str:
        """One object, ended by a newline; docs/how-to/queue.md describes it."""
        return as_json(self, indent=indent)


def open_ones(evaluations: Mapping[EvaluationState, int]) -> int:
    """How many can still change."""
    return sum(count for state, count in evaluations.items() if state not in ENDED)


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

    queue = status.queue
    if status.failures_only:
        return list(shown_failures(queue)) or ["No evaluation has failed.\n"]
    found: list[RenderableType] = [_headline(status)]
    if queue.asked:
        found += ["", _asked(queue.asked)]
    if queue.campaigns:
        found += ["", _campaigns(queue.campaigns, live)]
    found += ["", Columns([_queues(queue), _work(queue)], padding=(0, 4))] if live else ["", _queues(queue)]
    if not live and any(work.waiting or work.sent or work.running for work in queue.work):
        found += ["", _work(queue)]
    if queue.learned:
        found += ["", _learned(queue)]
    if [team for team in queue.teams if team.team]:
        found += ["", _teams(queue)]
    if queue.comparisons:
        found += ["", _comparisons(queue)]
    if queue.workers or queue.astray:
        found += ["", _workers(queue)]
    if failures := list(shown_failures(queue)):
        found += ["", *failures]
    return found


def _headline(status: Status) -> Table:
    from rich.table import Table
    from rich.text import Text

    queue = status.queue
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    beating = [worker for worker in queue.workers if worker.beating]
    silent = len(queue.workers) - len(beating)
    processes = sum(worker.processes for worker in beating)
    workers = f"{_count(len(beating), 'worker')} with {_count(processes, 'process', 'processes')}"
    lines = {
        "Time": f"{queue.at.astimezone():%Y-%m-%d %H:%M:%S}",
        "Scheduler": "at work" if status.queue.scheduler else "none at work",
        "Workers": (workers if beating else "none alive") + (f", {silent} silent" if silent else ""),
        "Last minute": f"{_count(queue.last_minute.shards, 'shard')}, {queue.last_minute.hypotheses:,} hypotheses",
        "Evaluations": ", ".join(f"{amount:,} {state}" for state, amount in queue.evaluations.items() if amount)
        or "none",
    }
    if any(each.waiting or each.in_flight for each in queue.queues):
        left = queue.seconds_left
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
    queue = status.queue
    if not status.open and not any(each.waiting for each in queue.queues):
        return ""
    if status.queue.embedded:
        if not status.queue.scheduler:
            return "No worker processes the open work. Start `steelyard up`, or evaluate something."
        return ""
    missing = []
    if not status.queue.scheduler:
        missing.append("`steelyard scheduler`")
    if not any(worker.beating and not worker.queue for worker in queue.workers):
        missing.append("`steelyard worker`")
    if queue.unserved and not missing:
        from steelyard.metrics.metric import edition_name

        wait = " and ".join(
            f"{_count(amount, 'evaluation')} of edition {edition_name(edition)}"
            for edition, amount in queue.unserved.items()
        )
        return f"No worker can compute {wait}. Start a `steelyard worker` of the release and Python that queued it."
    return f"No worker processes the open work. Start {' and '.join(missing)}." if missing else ""


def _asked(evaluations: Sequence[SelectedEvaluation]) -> Table:
    table = folding_table("Evaluation", "System", "Of", "State", "Shards left", right=(0, 4))
    for each in evaluations:
        # The reasons of failures are shown below.
        state = f"{each.state}: {each.reason}" if each.reason and each.state == "cancelled" else each.state
        add_row(table, str(each.id), called(each), measured(each), state, str(each.shards_left))
    return table


def _campaigns(campaigns: Sequence[CampaignProgressResponse], live: bool) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    names = ["Campaign", "Progress", "Evaluations", "Shards", "Failed", "Cancelled"]
    table = folding_table(*names, right=(2, 3, 4, 5) if live else (1, 2, 3, 4, 5))
    for each in campaigns[:MOST_ROWS]:
        every = sum(each.evaluations.values())
        ended = every - open_ones(each.evaluations)
        done, total = (each.shards_done, each.shards) if each.shards else (ended, every)
        share = done / total if total else 1.0
        cells: list[RenderableType] = [Text(each.title)]
        # Rounded down: 100 % means all.
        cells.append(ProgressBar(total=max(total, 1), completed=done, width=BAR) if live else f"{int(100 * share)} %")
        cells += [f"{ended:,}/{every:,}", f"{each.shards_done:,}/{each.shards:,}"]
        cells += [f"{each.evaluations[state]:,}" for state in each.evaluations if state in {"failed", "cancelled"}]
        table.add_row(*cells)
    _tell_more(table, len(campaigns))
    return table


def _queues(queue: QueueResponse) -> Table:
    table = folding_table("Queue", "Waiting", "In flight", "Oldest", right=(1, 2, 3))
    for each in queue.queues:
        oldest = "-" if each.oldest_seconds is None else duration(each.oldest_seconds)
        add_row(table, each.queue_class, f"{each.waiting:,}", f"{each.in_flight:,}", oldest)
    return table


def _work(queue: QueueResponse) -> Table:
    table = folding_table("Work", "Waiting", "Sent", "Running", right=(1, 2, 3))
    for each in queue.work:
        add_row(table, each.kind, f"{each.waiting:,}", f"{each.sent:,}", f"{each.running:,}")
    return table


def _learned(queue: QueueResponse) -> Table:
    table = folding_table("Learned metric", "Waiting", "Running", "Texts scored", "Workers", right=(1, 2, 3))
    for each in queue.learned[:MOST_ROWS]:
        able = str(each.workers) if each.workers else "none has it: `steelyard worker --queue learned`"
        scored = f"{each.scored:,}/{each.contents:,}"
        add_row(table, each.metric, f"{each.waiting:,}", f"{each.running:,}", scored, able)
    _tell_more(table, len(queue.learned))
    return table


def _teams(queue: QueueResponse) -> Table:
    table = folding_table("Team", "Waiting", "In flight", right=(1, 2))
    for each in sorted(queue.teams, key=lambda team: (-team.waiting, team.team))[:MOST_ROWS]:
        add_row(table, each.team or "(none)", f"{each.waiting:,}", f"{each.in_flight:,}")
    _tell_more(table, len(queue.teams))
    return table


def _comparisons(queue: QueueResponse) -> Table:
    table = folding_table("Comparison", "Test set", "Tests", "Trials", "Tasks left", right=(0, 2, 3, 4))
    for each in queue.comparisons[:MOST_ROWS]:
        add_row(table, str(each.id), each.test_set, f"{each.tests:,}", f"{each.trials:,}", f"{each.tasks_left:,}")
    _tell_more(table, len(queue.comparisons))
    return table


def _workers(queue: QueueResponse) -> Table:
    table = folding_table("Worker", "Release", "Processes", "Last beat", "Works on", right=(2, 3))
    for each in queue.workers[:MOST_ROWS]:
        beat = f"{duration(each.beat_seconds)} ago" + ("" if each.beating else ", silent")
        processes = f"{each.queue}, {each.device}" if each.queue else str(each.processes)
        add_row(table, _called(each), each.version, processes, beat, _listed(each.holds))
    if queue.astray:
        add_row(table, "(gone)", "", "", "", _listed(queue.astray))
    _tell_more(table, len(queue.workers))
    return table


def _called(worker: WorkerResponse) -> str:
    return f"{worker.host}, process {worker.pid}"


def _listed(held: Iterable[RunningTaskResponse]) -> str:
    parts = []
    for each in held:
        since = "" if each.seconds is None else f" for {duration(each.seconds)}"
        attempt = f", attempt {each.attempt}" if each.attempt > 1 else ""
        parts.append(f"{each.title} {each.id}{since}{attempt}")
    return "; ".join(parts) or "-"


def _tell_more(table: Table, rows: int) -> None:
    if rows > MOST_ROWS:
        add_row(table, f"and {rows - MOST_ROWS:,} more")


def _count(amount: int, one: str, more: str = "") -> str:
    return f"{amount:,} {one if amount == 1 else more or one + 's'}"


def as_json(status: Status, *, indent: int | None = None) -> str:
    """One object, ended by a newline; docs/how-to/queue.md describes it."""
    found = status.queue.model_dump(mode="json")
    return json.dumps(found, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"
