"""What `evaluate` shows and writes: reports, boards, and a matrix of many test sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from steelyard.commands.writing import make_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlalchemy import Engine

    from analysis.leaderboard.board import Board
    from models.queue_status.progress import Progress
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.ranking.rank_matrix import RankedScore

MANY_REPORTS = 8
"""Fewer are written by the command itself: a process takes as long to start as it takes to write some."""


LOADED_MEANWHILE = (
    "campaigns.leaderboards.stored",
    "campaigns.reports.campaign",
    "steelyard_client.commands.leaderboards.tables",
)
"""What tables and report need, imported while others work."""


def loading_the_report(on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """`on_progress`, whose first call also imports what tables and report need: workers have their tasks by then."""

    def tell(progress: Progress) -> None:
        on_progress(progress)
        for module in LOADED_MEANWHILE:
            import_module(module)
        import_module("campaigns.reports.template").load_templates()

    return tell


def shown_boards(boards: Sequence[Board], form: str, width: int = 1) -> str:
    """Leaderboards with all their systems, in a format of tables."""
    from campaigns.leaderboards.stored import stored_document
    from steelyard_client.commands.leaderboards.tables import rendered

    documents = [stored_document(board, every=bool(board.not_ranked)) for board in boards]
    return rendered(documents, form, width)


def show_matrix(test_sets: Sequence[str], boards: Sequence[Sequence[Board]], width: int) -> str:
    """Scores and ranks of all systems on all test sets, by the metric that ranks, against all references together."""
    from steelyard.ranking.rank_matrix import rank_matrix
    from steelyard.tables.formatting import digits
    from steelyard.tables.rank_matrix import tables_of
    from steelyard.tables.rendering import render

    # The last selection of references has all of them, unless something else was asked for.
    shown = {name: some[-1] for name, some in zip(test_sets, boards, strict=True) if some}
    matrix = rank_matrix({name: ranked_scores(board) for name, board in shown.items()})
    first = next(iter(shown.values()))
    scale = next((row.scores[first.sorted_by].scale for row in first.rows if row.scores), 100.0)
    title = first.titles[first.sorted_by].removesuffix(" ↓")
    tables = tables_of(matrix, title, digits(scale, width), higher_is_better=first.higher_is_better(first.sorted_by))
    return render(tables, "text") + "\n"


def ranked_scores(board: Board) -> dict[str, RankedScore]:
    """The systems of a board with their scores and ranks by the metric that sorts it."""
    from steelyard.ranking.rank_matrix import RankedScore

    found = {}
    for number, row in enumerate(board.rows):
        score = row.scores[board.sorted_by] if row.scores else None
        if score is None or score.score is None or math.isnan(score.score):
            continue
        tested = board.rank_of(number, board.sorted_by)
        low, high, cluster = (tested.low, tested.high, tested.cluster) if tested else (None, None, None)
        found[board.name(row)] = RankedScore(score.score, score.rank if row.ranked else None, low, high, cluster)
    return found


@dataclass(frozen=True)
class Report:
    """A report to be written: the leaderboards of one test set."""

    path: Path
    title: str
    boards: Sequence[Board]
    notices: Sequence[str]
    without: Sequence[str]

    def write(self, engine: Engine) -> None:
        """Render it from the database, and write it."""
        from campaigns.reports.campaign import render_report
        from models.database.session import reading

        with reading(engine) as connection:
            page = render_report(connection, self.boards, title=self.title, notices=self.notices, without=self.without)
        write_file(self.path, page)


def write_reports(
    url: str,
    home: Path,
    name: str,
    boards: Sequence[Sequence[Board]],
    folders: Sequence[CampaignFolder],
    without: Sequence[str] = (),
    processes: int = 1,
) -> list[Path]:
    """Write a report of each test set; the paths of the files: report.html, or one called after each test set.

    Many are shared by so many processes.
    """
    make_folder(home)
    alone = len(folders) == 1
    reports = [
        Report(
            home / ("report.html" if alone else f"{folder.name}.html"),
            name if alone else f"{name}: {folder.name}",
            some,
            folder.notices,
            without,
        )
        for some, folder in zip(boards, folders, strict=True)
    ]
    if processes > 1 and len(reports) >= MANY_REPORTS:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        # Not forked: this process has threads and an open database.
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            list(pool.map(partial(_write_with, url), reports))
    else:
        for report in reports:
            _write_with(url, report)
    return [report.path for report in reports]


def _write_with(url: str, report: Report) -> None:
    """Write a report, also in a process of a pool."""
    from models.database.session import make_engine

    report.write(make_engine(url, pooled=False))


def write_boards(home: Path, boards: Sequence[Board]) -> list[Path]:
    """Write all boards as JSON and TSV; the paths of the files."""
    contents = {"leaderboard.json": shown_boards(boards, "json"), "leaderboard.tsv": shown_boards(boards, "tsv")}
    for name, content in contents.items():
        write_file(home / name, content)
    return [home / name for name in contents]
