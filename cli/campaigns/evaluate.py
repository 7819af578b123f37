"""`steelyard evaluate` and `steelyard demo`: a campaign of system outputs through the whole pipeline."""

from __future__ import annotations

import json
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import by_option, processes_option
from cli.stored import (
    check_sort,
    note_without_workers,
    read_boards,
    read_settings,
    require_schema,
    shown_database,
)
from steelyard.commands.chosen_metrics import asked_for, chosen_metrics, resolved_metrics
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note, tell
from steelyard.commands.options import (
    many,
    metric_options,
    option,
    resample_option,
    resampling_options,
    together,
    width_option,
)
from steelyard.commands.parsing import Value
from steelyard.commands.writing import make_folder
from steelyard.formats.file_names import text_endings
from steelyard.formats.reader import Kind
from steelyard.formats.registry import titles
from steelyard_client.commands.backend import database_option
from steelyard_client.commands.urgency import class_option, due_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Engine

    from analysis.leaderboard.board import Board
    from models.queue_status.progress import Progress
    from runtime.settings import Settings
    from scheduler.ingest.campaigns import IngestResult
    from steelyard.commands.options import Decorator
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text
    from steelyard.meta_evaluation.human.judgments import Judged
    from steelyard.metrics.metric import Metric

    Wait = Callable[[Sequence[int], Callable[[Progress], None]], Progress]

DEMO_OUTPUT = Path("steelyard-demo")


def scoring_options() -> Decorator:
    """What `evaluate` and `demo` have in common."""
    return together(
        metric_options(),
        resampling_options(default=1000),
        resample_option(),
        many(
            "--references", metavar="A,B...",
            help="which references to score against, e.g. A B A,B (default: each alone, then all together)",
        ),
        by_option(),
        many(
            "--leave-out", metavar="SYSTEM...",
            help="leave these systems out of the report's charts of metrics, such as those whose output is a reference",
        ),
        option("--output", type=Value(Path), metavar="DIR", help="where the report goes (default: NAME-report)"),
        processes_option(),
        width_option(1),
        database_option(),
    )  # fmt: skip


@click.command(
    "evaluate",
    cls=ServerCommand,
    help="Score all systems of a campaign, store everything in the leaderboard database, print the leaderboards and "
    "write a report. A folder holds source.txt, refs/LABEL.txt and systems/SYSTEM.txt (or systems/SYSTEM/RUN.txt for "
    "several runs of a system), WMT's files such as generaltest2022.en-cs.hyp.SYSTEM.cs, or files in "
    f"{titles([Kind.DOCUMENTS])}; such files can be given one by one, too. In refs and systems any format of single "
    f"texts will do, by the endings {', '.join(text_endings())}, each also packed with gzip. A folder of many language "
    "pairs (sources/PAIR.txt, references/PAIR.NAME.txt, documents/PAIR.docs, system-outputs/PAIR/SYSTEM.txt), or of "
    "several such folders, is a campaign with a test set for each pair; so is one with WMT25's or WMT26's JSON Lines "
    "(a test file, and one for each system), or WMT's XML of several pairs; and a zip of any of them. Every system is "
    "scored against each reference alone and against all together.",
    example="steelyard evaluate newstest2024 --name wmt24 -m bleu chrf",
)
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="DIR|FILE...",
    help="the campaign: one folder, a zip of one, marked-up files, or a test file and systems in WMT's JSON Lines",
)
@many(
    "--pair",
    metavar="SRC-TRG...",
    help="only these language pairs, in any spelling (en-cs, eng-ces, en-cs_CZ), or test sets of these names (default: "
    "all of the folder)",
)
@option("--name", help="name of campaign and test set in the database (default: that of the folder or of the test set)")
@option("--test-suites", is_flag=True, help="include the documents that WMT's XML marks as test suites")
@class_option("campaign")
@due_option()
@option(
    "--check",
    is_flag=True,
    help="first check the outputs for problems such as shifted lines; takes longer than the cheap metrics",
)
@scoring_options()
@collected
def evaluate(options: Options) -> int:
    """Score a campaign and print its leaderboards; the exit status."""
    return run(options)


@click.command(
    "demo",
    cls=ServerCommand,
    help=f"Evaluate the small campaign that comes with the project; database and report go into {DEMO_OUTPUT}/.",
    example="steelyard demo -m bleu chrf",
)
@scoring_options()
@collected
def demo(options: Options) -> int:
    """Evaluate the shipped campaign; database and report go into `DEMO_OUTPUT`."""
    from campaigns.demo import demo_folder

    folder = demo_folder()
    output = options.output or DEMO_OUTPUT
    make_folder(output)
    given = vars(options) | {
        "paths": [str(folder)],
        "output": output,
        "database": options.database or f"sqlite:///{output / 'steelyard.db'}",
    }
    others = {"pair": (), "name": None, "test_suites": False, "queue_class": "campaign", "due": None, "check": False}
    status = run(Options(**others, **given))
    print("\nThe story to find in it:")
    for sentence in json.loads((folder / "meta.json").read_text(encoding="utf-8"))["story"]:
        print(textwrap.fill(sentence, 100, initial_indent="- ", subsequent_indent="  "))
    return status


@dataclass(frozen=True)
class GivenTestSet:
    """A test set as it was read, with how it is to be scored."""

    name: str
    folder: CampaignFolder
    selections: list[list[str]]
    """The references to score against."""
    metrics: list[Metric]
    judgments: dict[str, Judged]


def run(options: Options) -> int:
    """Unpack the campaign where it is a zip, and evaluate it; the exit status."""
    from steelyard.formats.campaign.zips import unpacked_paths
    from steelyard.text.limits import STORING_LIMITS

    with unpacked_paths(options.paths, STORING_LIMITS) as paths:
        return _evaluated(Options(**{**vars(options), "paths": paths}))


def _evaluated(options: Options) -> int:
    """Read the campaign, store and queue it, wait for the scores and print them; the exit status."""
    from analysis.leaderboard.board import position_of_metric
    from analysis.leaderboard.significance import ranked_by_bootstrap
    from cli.campaigns.evaluated import loading_the_report, show_matrix, shown_boards, write_boards, write_reports
    from cli.terminal.progress import shown_progress
    from models.results.boards import list_boards
    from scheduler.embedded.wait import read_with_retries, with_retries
    from steelyard.formats.campaign.campaigns import read_test_sets
    from steelyard.text.limits import STORING_LIMITS

    settings = read_settings(options)
    chosen = chosen_metrics(options)
    specifications = asked_for(options)
    check_sort(specifications, options.by)
    name = checked_name(options.name) if options.name else None
    limits = replace(
        STORING_LIMITS,
        systems=settings.most_systems,
        file_bytes=settings.most_bytes,
        file_bytes_setting="STEELYARD_MOST_BYTES",
    )
    campaign = read_test_sets(
        options.paths,
        pairs=options.pair,
        name=name,
        test_suites=options.test_suites,
        limits=limits,
    )
    name = checked_name(campaign.name)
    note(campaign.notices)
    test_sets = [given_test_set(options, settings, chosen, each) for each in campaign.test_sets]
    sort = position_of_metric(specifications, options.by) or 0
    require_schema(settings, create=True)
    with working(settings, options.processes or None) as (engine, wait):
        intakes = [store(options, settings, name, each, engine) for each in test_sets]
        with shown_progress() as on_progress:
            evaluations = [evaluation for intake in intakes for evaluation in intake.all_evaluations]
            progress = wait(evaluations, loading_the_report(on_progress))
        boards: list[list[Board]] = []
        for intake, test_set in zip(intakes, test_sets, strict=True):
            listed = read_with_retries(
                engine, partial(list_boards, protocols=intake.protocols, campaign_id=intake.campaign_id)
            )
            # Looked up by the specification in the command: the pinned one differs from it.
            by = options.by and test_set.metrics[sort].specification
            read = with_retries(partial(read_boards, engine, listed, options.level, by))
            boards.append([ranked_by_bootstrap(board) for board in read])
        home = options.output or Path(f"{name}-report")
        if len(test_sets) == 1:
            print(shown_boards(boards[0], "text", options.width))
        else:
            print(show_matrix([each.name for each in test_sets], boards, options.width), end="")
        folders = [each.folder for each in test_sets]
        processes = options.processes or settings.processes
        written = with_retries(
            partial(write_reports, settings.database_url, home, name, boards, folders, options.leave_out, processes)
        )
        written += write_boards(home, [board for some in boards for board in some])
        print("Database: " + shown_database(settings))
        print("Written:  " + "\n          ".join(str(path) for path in written), flush=True)
    return without_scores(progress)


def given_test_set(
    options: Options, settings: Settings, chosen: Sequence[Metric], folder: CampaignFolder
) -> GivenTestSet:
    """A test set with its metrics, references and judgments. Raises CommandError and MetricsError."""
    from steelyard.meta_evaluation.human.beside_texts import judgments_beside

    selections = reference_selections(options.references, list(folder.references))
    if options.check:
        from cli.campaigns.noticed import folder_warnings

        tell(folder_warnings(folder))
    texts = folder.texts(sorted({label for selection in selections for label in selection}))
    metrics = pinned_metrics(options, settings, chosen, folder.target_language or "", texts)
    if options.resample == "document":
        from cli.campaigns.noticed import notices_of_documents

        note(notices_of_documents(folder))
    return GivenTestSet(checked_name(folder.name), folder, selections, metrics, judgments_beside(folder))


def store(options: Options, settings: Settings, campaign: str, test_set: GivenTestSet, engine: Engine) -> IngestResult:
    """Store a test set with its outputs and judgments, and queue its evaluations. A retry stores nothing twice."""
    from cli.campaigns.judgment_files import store_campaign_judgments
    from cli.campaigns.measured_before import measured_before
    from scheduler.embedded.wait import with_retries

    intake = with_retries(partial(ingest_test_set, options, settings, campaign, test_set, engine))
    note(measured_before(test_set.selections, len(test_set.metrics), intake.measured_before))
    of = intake.campaign_id, intake.test_set_id
    note(with_retries(partial(store_campaign_judgments, engine, *of, test_set.judgments, test_set.folder)))
    return intake


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
    options: Options, settings: Settings, metrics: Sequence[Metric], language: str, texts: Sequence[Text]
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


def ingest_test_set(
    options: Options, settings: Settings, campaign: str, test_set: GivenTestSet, engine: Engine
) -> IngestResult:
    """Store a test set with its outputs and queue their evaluations, in one transaction."""
    from models.database.session import reading
    from models.schema.base import database_time
    from models.schema.states import QueueClass, ResamplingUnit
    from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
    from scheduler.ingest.test_sets import NewTestSet

    folder = test_set.folder
    due_at = None
    if options.due is not None:
        with reading(engine) as connection:
            due_at = options.due.at(database_time(connection))
    return ingest_campaign(
        engine,
        settings,
        campaign=campaign,
        test_set=NewTestSet.from_folder(test_set.name, folder),
        submissions=[
            NewSubmission(system, text, layers=text.layers, run=run)
            for system, runs in {**{name: {"": text} for name, text in folder.systems.items()}, **folder.runs}.items()
            for run, text in runs.items()
        ],
        protocols=[
            NewProtocol(labels, test_set.metrics, options.confidence, options.seed, ResamplingUnit(options.resample))
            for labels in test_set.selections
        ],
        queue_class=QueueClass[options.queue_class.upper()],
        processes=options.processes or None,
        due_at=due_at,
    )
