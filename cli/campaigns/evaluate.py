"""`steelyard evaluate` and `steelyard demo`: a campaign of system outputs through the whole pipeline."""

from __future__ import annotations

import json
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli.options import add_metric_options, add_resampling_options, add_width_option, whole_number
from cli.stored import (
    add_database_option,
    add_sort_option,
    check_sort,
    note_without_workers,
    read_boards,
    read_settings,
    require_schema,
    shown_database,
)
from cli.terminal.due import due_time
from cli.terminal.writing import make_folder, write_file
from steelyard.commands.chosen_metrics import asked_for, chosen_metrics, resolved_metrics
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note, tell
from steelyard.formats.file_names import text_endings
from steelyard.formats.reader import Kind
from steelyard.formats.registry import titles

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Engine

    from analysis.leaderboard.board import Board
    from models.queue_status.progress import Progress
    from runtime.settings import Settings
    from scheduler.ingest.campaigns import IngestResult
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric

    Wait = Callable[[Sequence[int], Callable[[Progress], None]], Progress]

DEMO_OUTPUT = Path("steelyard-demo")


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`evaluate` and `demo`."""
    parser = verbs.add_parser(
        "evaluate",
        help="score a campaign of systems and keep the results",
        description="Score all systems of a campaign, store everything in the leaderboard database, print the "
        "leaderboards and write a report. A folder holds source.txt, refs/LABEL.txt and systems/SYSTEM.txt (or "
        "systems/SYSTEM/RUN.txt for several runs of a system), WMT's files such as "
        f"generaltest2022.en-cs.hyp.SYSTEM.cs, or files in {titles([Kind.DOCUMENTS])}; such files can be given one by "
        "one, too. In refs and systems any format of single texts will do, by the endings "
        f"{', '.join(text_endings())}, each also packed with gzip. Every system is scored against each reference alone "
        "and against all together.",
    )
    parser.add_argument("paths", nargs="+", metavar="DIR|FILE", help="the campaign: one folder, or marked-up files")
    parser.add_argument("--pair", metavar="SRC-TRG", help="which language pair, where a WMT folder has several")
    parser.add_argument(
        "--name", help="name of campaign and test set in the database (default: that of the folder or of the test set)"
    )
    parser.add_argument(
        "--test-suites", action="store_true", help="include the documents that WMT's XML marks as test suites"
    )
    parser.add_argument(
        "--class", dest="queue_class", choices=["interactive", "campaign", "nightly"], default="campaign",
        help="priority class in the queue (default: campaign)",
    )  # fmt: skip
    parser.add_argument(
        "--due", type=due_time, metavar="TIME",
        help="deadline of the evaluation: 2h, 90m or 3d from now, or a time with its zone, e.g. 2026-11-30T18:00+01:00",
    )  # fmt: skip
    parser.add_argument(
        "--check", action="store_true",
        help="first check the outputs for problems such as shifted lines; takes longer than the cheap metrics",
    )  # fmt: skip
    _add_common(parser)
    parser.set_defaults(run=run)
    demo = verbs.add_parser(
        "demo",
        help="evaluate the small campaign that comes with the project",
        description=f"Evaluates the demo campaign; database and report go into {DEMO_OUTPUT}/.",
    )
    _add_common(demo)
    demo.set_defaults(
        run=run_demo,
        paths=[],
        pair=None,
        name=None,
        test_suites=False,
        queue_class="campaign",
        due=None,
        check=False,
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    add_metric_options(parser)
    add_resampling_options(parser, default=1000)
    parser.add_argument(
        "--references", nargs="+", metavar="A,B",
        help="which references to score against, e.g. A B A,B (default: each alone, then all together)",
    )  # fmt: skip
    add_sort_option(parser)
    parser.add_argument(
        "--leave-out", nargs="+", action="extend", default=[], metavar="SYSTEM",
        help="leave these systems out of the report's charts of metrics, as those whose output is a reference",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="DIR", help="where the report goes (default: NAME-report)")
    parser.add_argument("--processes", type=whole_number, metavar="N", help="worker processes (default: all cores)")
    add_width_option(parser, 1)
    add_database_option(parser)


def run_demo(options: argparse.Namespace) -> int:
    """Evaluate the shipped campaign; database and report go into `DEMO_OUTPUT`."""
    folder = demo_folder()
    options.paths = [str(folder)]
    options.output = options.output or DEMO_OUTPUT
    make_folder(options.output)
    options.database = options.database or f"sqlite:///{options.output / 'steelyard.db'}"
    status = run(options)
    print("\nThe story to find in it:")
    for sentence in json.loads((folder / "meta.json").read_text(encoding="utf-8"))["story"]:
        print(textwrap.fill(sentence, 100, initial_indent="- ", subsequent_indent="  "))
    return status


def demo_folder() -> Path:
    """The folder of the demo campaign: in the repository, or in this package once installed. Raises CommandError."""
    here = Path(__file__).parents[1]
    for parent in (here.parent / "demo", here / "demo"):
        folders = sorted(path for path in parent.glob("*/") if (path / "refs").is_dir())
        if folders:
            return folders[0]
    raise CommandError("The demo campaign is missing from this installation.")


def run(options: argparse.Namespace) -> int:
    """Read the campaign, store and queue it, wait for the scores and print them; the exit status."""
    from analysis.leaderboard.board import position_of_metric
    from analysis.leaderboard.significance import ranked_by_bootstrap
    from cli.campaigns.judgments import read_campaign_judgments, store_campaign_judgments
    from cli.campaigns.measured_before import measured_before
    from cli.leaderboards.board import as_text
    from cli.terminal.progress import shown_progress
    from models.results.boards import list_boards
    from scheduler.embedded.wait import read_with_retries, with_retries
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.text.limits import STORING_LIMITS

    settings = read_settings(options)
    chosen = chosen_metrics(options)
    specifications = asked_for(options)
    check_sort(specifications, options.sort)
    name = checked_name(options.name) if options.name else None
    folder = read_any_campaign(
        options.paths,
        pair=options.pair,
        name=name,
        test_suites=options.test_suites,
        limits=replace(STORING_LIMITS, systems=settings.most_systems),
    )
    selections = reference_selections(options.references, list(folder.references))
    name = checked_name(folder.name)
    note(folder.notices)
    if options.check:
        from cli.campaigns.noticed import folder_warnings

        tell(folder_warnings(folder))
    judgments = read_campaign_judgments(folder)
    texts = folder.texts(sorted({label for selection in selections for label in selection}))
    metrics = pinned_metrics(options, settings, chosen, folder.target_language or "", texts)
    # Looked up by the specification in the command: the pinned one differs from it.
    sort = options.sort and metrics[position_of_metric(specifications, options.sort) or 0].specification
    require_schema(settings, create=True)
    with working(settings, options.processes or None) as (engine, wait):
        # A retry stores nothing twice.
        intake = with_retries(lambda: ingest_folder(options, settings, name, folder, metrics, selections, engine))
        note(measured_before(selections, len(metrics), intake.measured_before))
        of = intake.campaign_id, intake.test_set_id
        note(with_retries(lambda: store_campaign_judgments(engine, *of, judgments, folder)))
        with shown_progress() as on_progress:
            progress = wait(intake.all_evaluations, _loading_the_report(on_progress))
        listed = read_with_retries(
            engine,
            lambda connection: list_boards(connection, protocols=intake.protocols, campaign_id=intake.campaign_id),
        )
        read = with_retries(lambda: read_boards(engine, listed, options.level, sort))
        boards = [ranked_by_bootstrap(board) for board in read]
        print("\n".join(as_text(board, options.width) for board in boards))
        home = options.output or Path(f"{name}-report")
        written = with_retries(lambda: write_report(engine, home, name, boards, folder, options.leave_out))
        print("Database: " + shown_database(settings))
        print("Written:  " + "\n          ".join(str(path) for path in written), flush=True)
    return without_scores(progress)


def _loading_the_report(on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
    """`on_progress`, whose first call also imports what the report needs: the workers have started by then."""

    def tell(progress: Progress) -> None:
        on_progress(progress)
        import campaigns.reports.campaign  # noqa: F401
        from campaigns.reports.template import load_templates

        load_templates()

    return tell


def without_scores(progress: Progress) -> int:
    """The exit status: 1 where evaluations ended without scores; then prints how many."""
    from steelyard.text.wording import number_of

    ways = {"failed": progress.failed, "cancelled": progress.cancelled}
    lost = [f"{number_of(count, 'evaluation')} {way}" for way, count in ways.items() if count]
    if not lost:
        return 0
    print(f"steelyard: Without scores: {' and '.join(lost)}; the leaderboard says why.", file=sys.stderr)
    return 1


def pinned_metrics(
    options: argparse.Namespace, settings: Settings, metrics: Sequence[Metric], language: str, texts: Sequence[Text]
) -> list[Metric]:
    """The metrics with everything pinned that they take from the campaign and from resources.

    Files given by --resource are registered first, because workers find them by name in the resource folder.
    """
    from steelyard.metrics.resources import Resources

    resources = Resources(settings.resource_folder)
    for resource, file in options.resource:
        resources.register(resource, "file", file)
    return resolved_metrics(options, metrics, resources, language, texts)


def reference_selections(asked: Sequence[str] | None, labels: Sequence[str]) -> list[list[str]]:
    """The lists of references to score against: each alone, then all together, unless something else is asked for."""
    if not asked:
        return [[label] for label in labels] + ([list(labels)] if len(labels) > 1 else [])
    selections = [text.split(",") for text in asked]
    for label in (label for selection in selections for label in selection):
        if label not in labels:
            raise CommandError(f'There is no reference "{label}". References: {", ".join(labels)}.')
    return selections


def checked_name(name: str) -> str:
    """The name, if it is valid for campaigns, test sets and folders. Raises CommandError."""
    from steelyard.text.names import fault_of_name

    fault = fault_of_name(name)
    if fault:
        raise CommandError(f'"{name}" cannot be the name of a campaign: {fault}. Choose one with --name.')
    return name


@contextmanager
def working(settings: Settings, concurrency: int | None) -> Iterator[tuple[Engine, Wait]]:
    """An engine to queue evaluations with, and a function that waits until they are done.

    With the in-memory broker this command starts its own workers, or waits for another command that already works on
    this database; with any other broker it waits for workers that run elsewhere.
    """
    if settings.embedded:
        from models.queue_status.progress import read_progress
        from scheduler.embedded.shared import SharedEmbedded

        with SharedEmbedded(settings, concurrency, lambda message: note([message])) as embedded:

            def work(evaluations: Sequence[int], on_progress: Callable[[Progress], None]) -> Progress:
                progress = embedded.run_until(lambda connection: read_progress(connection, evaluations), on_progress)
                # The workers stop while we show the results.
                embedded.finish()
                return progress

            yield embedded.engine, work
        return
    from models.database.session import make_engine
    from scheduler.embedded.wait import wait_until_done

    engine = make_engine(settings.database_url)
    note_without_workers(settings)
    yield engine, partial(wait_until_done, engine, settings)
    engine.dispose()


def ingest_folder(
    options: argparse.Namespace,
    settings: Settings,
    name: str,
    folder: CampaignFolder,
    metrics: Sequence[Metric],
    selections: Sequence[Sequence[str]],
    engine: Engine,
) -> IngestResult:
    """Store a campaign folder and queue its evaluations, in one transaction."""
    from models.database.session import reading
    from models.schema.states import QueueClass
    from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
    from scheduler.ingest.test_sets import NewTestSet

    due_at = None
    if options.due is not None:
        with reading(engine) as connection:
            due_at = options.due.at(connection)
    return ingest_campaign(
        engine,
        settings,
        campaign=name,
        test_set=NewTestSet(
            name,
            folder.references,
            layers={label: text.layers for label, text in folder.references.items()},
            source=folder.source,
            source_language=folder.source_language or "",
            target_language=folder.target_language or "",
            documents=folder.documents or (),
            segment_ids=folder.segment_ids or (),
            variable_references=folder.variable_references,
        ),
        submissions=[
            NewSubmission(system, text, layers=text.layers, run=run)
            for system, runs in {**{name: {"": text} for name, text in folder.systems.items()}, **folder.runs}.items()
            for run, text in runs.items()
        ],
        protocols=[NewProtocol(labels, metrics, options.confidence, options.seed) for labels in selections],
        queue_class=QueueClass[options.queue_class.upper()],
        processes=options.processes or None,
        due_at=due_at,
    )


def write_report(
    engine: Engine,
    folder: Path,
    name: str,
    boards: Sequence[Board],
    campaign: CampaignFolder,
    without: Sequence[str] = (),
) -> list[Path]:
    """Write the leaderboards as HTML, JSON and TSV; the paths of the files."""
    from campaigns.reports.campaign import render_report
    from cli.leaderboards.board import as_json, as_tsv
    from models.database.session import reading

    with reading(engine) as connection:
        page = render_report(connection, boards, title=name, notices=campaign.notices, without=without)
    make_folder(folder)
    contents = {
        "report.html": page,
        "leaderboard.json": as_json(boards),
        "leaderboard.tsv": as_tsv(boards),
    }
    for name, content in contents.items():
        write_file(folder / name, content)
    return [folder / name for name in contents]
