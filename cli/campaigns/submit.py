"""`steelyard submit`: submit one system's output to a stored campaign."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import class_option, due_option, processes_option
from cli.server import on_server
from cli.stored import read_settings, require_schema
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note, tell
from steelyard.commands.options import input_format_option, level_option, option, width_option
from steelyard_client.commands.backend import database_option, server_option

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.submissions.submit import SubmissionInput, SubmitResult
    from models.queue_status.progress import Progress
    from runtime.settings import Settings


@click.command(
    "submit",
    cls=ServerCommand,
    help="Submit a system's output for a test set of a campaign, within the quotas of its team (`steelyard quota`). It "
    "is scored by all metrics and references of the campaign, as `steelyard evaluate` set them up. Submitting the same "
    "output again costs nothing. A folder or zip of outputs named after their language pairs (en-cs.txt, eng-deu.txt, "
    "or en-cs/SYSTEM.txt) is submitted pair by pair; what is refused is named. Exit status 1 if a quota is used up, "
    "the campaign is closed for submissions, or an output cannot be scored.",
    example="steelyard submit output.txt --campaign wmt24 --team lab --system baseline --primary",
)
@click.argument(
    "file",
    metavar="FILE",
    help="its output in any format that `score` reads; FILE:PART names a layer or zone; - reads standard input; or a "
    "folder or zip of outputs for several pairs",
)
@option("--campaign", required=True, metavar="NAME", help="the campaign")
@option("--team", metavar="NAME", help="the submitting team; optional on a server for members of a single team")
@option("--system", required=True, metavar="NAME", help="the system of the team")
@option("--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION, if there are several")
@option("--run", "run_name", default="", metavar="NAME", help="which of several runs it is")
@input_format_option("the file")
@option(
    "--key",
    metavar="KEY",
    help="idempotency key: a repeated request does nothing; other content with the same key is rejected",
)
@option(
    "--primary", is_flag=True, help="rank this submission of the team; the previous primary one becomes contrastive"
)
@option("--contrastive", is_flag=True, help="do not rank it; it is for comparison")
@option(
    "--constrained/--unconstrained",
    default=None,
    help="whether only data that the campaign allows were used for it",
)
@option("--description", default="", metavar="TEXT", help="what the team says about it")
@option(
    "--override",
    is_flag=True,
    help="accept it outside the campaign's phases; for organisers, recorded in the audit log",
)
@class_option("interactive")
@due_option()
@option(
    "--wait/--no-wait",
    default=True,
    help="wait for the scores, or only print the numbers to follow with `steelyard status`",
)
@processes_option()
@level_option()
@width_option(1)
@database_option()
@server_option()
@collected
def submit(options: Options) -> int:
    """Submit to the database or to a server; the exit status."""
    if options.primary and options.contrastive:
        raise UsageError("Give --primary or --contrastive, not both.")
    options.declared = "primary" if options.primary else "contrastive" if options.contrastive else ""
    from cli.campaigns.submit_pairs import are_many, submit_all
    from cli.campaigns.submit_server import run as run_on_server

    submit_one = run_on_server if on_server(options) else run
    return submit_all(options, submit_one) if are_many(options.file) else submit_one(options)


def run(options: Options) -> int:
    """Read, check, store and queue the output; with --wait print the scores; the exit status."""
    from campaigns.submissions import submit
    from cli.campaigns.submit_output import receipt_text
    from models.database.session import make_engine
    from models.schema.states import QueueClass

    if not options.team:
        raise UsageError("--team is required with --database.")
    settings = read_settings(options)
    require_schema(settings, create=False)
    # Workers are forked later and must not inherit a connection.
    engine = make_engine(settings.database_url, pooled=False)
    attempt = _examined(engine, _attempt(options, engine))
    note(attempt.text.notices)
    submitted = submit.submit(engine, settings, attempt, processes=options.processes or None)
    ahead = submit.submissions_ahead(engine, submitted, QueueClass(attempt.queue_class)) if submitted.queued else 0
    print(receipt_text(attempt, submitted, ahead), end="", flush=True)
    if not options.wait:
        if settings.embedded and submitted.queued:
            note(["`steelyard up`, or the next command that brings workers to this database, works on it"])
        return 0
    return _shown(options, engine, submitted, _worked_off(options, settings, engine, submitted))


def _attempt(options: Options, engine: Engine) -> SubmissionInput:
    """The output and its declaration from the options. Raises NotFound, BadText and BadIngest."""
    from campaigns.submissions.submit import SubmissionInput
    from models.corpus.campaign_protocols import find_test_set_protocols
    from models.corpus.test_sets import document_segments
    from models.database.session import reading
    from models.schema.roles import DeclaredKind
    from models.schema.states import QueueClass
    from scheduler.ingest.outputs import align_to_test_set, read_output
    from steelyard.commands.scoring.inputs import input_file

    with reading(engine) as connection:
        measures = find_test_set_protocols(connection, options.campaign, options.test_set)
    file = input_file(options.file)
    output = read_output(
        file.path, system=options.system, part=file.part, input_format=options.input_format,
        language=measures.target_language,
    )  # fmt: skip
    with reading(engine) as connection:
        text = align_to_test_set(output, measures.test_set, document_segments(connection, measures.test_set.id))
        due_at = None if options.due is None else options.due.at(connection)
    return SubmissionInput(
        campaign=options.campaign,
        team=options.team,
        system=options.system,
        text=text,
        test_set=f"{measures.test_set.name}@{measures.test_set.version}",
        run=options.run_name,
        request_key=options.key,
        queue_class=QueueClass[options.queue_class.upper()],
        due_at=due_at,
        declared=DeclaredKind(options.declared),
        constrained=options.constrained,
        description=options.description,
        enforce_rules=not options.override,
    )


def _examined(engine: Engine, attempt: SubmissionInput) -> SubmissionInput:
    """The submission with the findings on its text, which are printed. Raises CommandError for fatal ones."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.checks.visible_context import read_check_context
    from campaigns.permissions import read_access_by_id
    from cli.campaigns.noticed import finding_lines
    from models.corpus.campaign_protocols import find_test_set_protocols
    from models.database.session import reading
    from steelyard.checks.check import check_output
    from steelyard.checks.finding import Severity

    with reading(engine) as connection:
        measures = find_test_set_protocols(connection, attempt.campaign, attempt.test_set)
        standard = read_check_context(
            connection,
            read_access_by_id(connection, COMMAND_LINE, measures.campaign_id),
            measures.test_set.id,
            attempt.text,
            team=attempt.team,
            system=attempt.system,
            run=attempt.run,
        )
    findings = check_output(attempt.text, standard)
    fatal = [each.message for each in findings if each.severity is Severity.FATAL]
    if fatal:
        raise CommandError(f"{attempt.text.name}: {' '.join(fatal)}")
    tell(finding_lines(findings))
    return replace(attempt, findings=[each.as_row() for each in findings])


def _worked_off(options: Options, settings: Settings, engine: Engine, submitted: SubmitResult) -> Progress:
    """Wait until all evaluations have ended, with own workers where there is no broker; their progress."""
    from cli.campaigns.evaluate import working
    from cli.terminal.progress import shown_progress
    from models.queue_status.progress import read_progress
    from scheduler.embedded.wait import read_with_retries

    progress = read_with_retries(engine, lambda connection: read_progress(connection, submitted.evaluations))
    if not progress.open:
        return progress
    with working(settings, options.processes or None) as (_, until_done), shown_progress() as on_progress:
        return until_done(submitted.evaluations, on_progress)


def _shown(options: Options, engine: Engine, submitted: SubmitResult, progress: Progress) -> int:
    """Print the scores, or the reasons for missing ones; the exit status."""
    from cli.campaigns.submit_output import scores_as_text
    from models.queue_status.progress import failure_reasons
    from models.results.boards import list_boards
    from scheduler.embedded.wait import read_with_retries

    def read(connection: Connection) -> tuple[str, list[str]]:
        listed = list_boards(connection, protocols=submitted.protocols, campaign_id=submitted.measures.campaign_id)
        shown = scores_as_text(connection, listed, submitted.submission, options.level, options.width)
        return shown, failure_reasons(connection, submitted.evaluations)

    shown, reasons = read_with_retries(engine, read)
    print(shown, end="")
    for reason in reasons:
        print(f"steelyard: {reason}", file=sys.stderr)
    if progress.cancelled:
        print(f"steelyard: {progress.cancelled} evaluation(s) were cancelled.", file=sys.stderr)
    return 1 if progress.failed or progress.cancelled else 0
