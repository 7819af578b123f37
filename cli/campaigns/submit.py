"""`steelyard submit`: submit one system's output to a stored campaign."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options import add_input_format_option, add_width_option, level, whole_number
from cli.server import add_server_option
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.due import due_time
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note, tell

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from campaigns.submissions.submit import SubmissionInput, SubmitResult
    from models.queue_status.progress import Progress
    from runtime.settings import Settings

CLASSES = ("interactive", "campaign", "nightly")


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`submit`."""
    parser = verbs.add_parser(
        "submit",
        help="submit one system's output to a stored campaign",
        description="Submit a system's output for a test set of a campaign, within the quotas of its team "
        "(`steelyard quota`). It is scored by all metrics and references of the campaign, as `steelyard evaluate` "
        "set them up. Submitting the same output again costs nothing. Exit status 1 if a quota is used up, the "
        "campaign is closed for submissions, or the output cannot be scored.",
    )
    parser.add_argument(
        "file", metavar="FILE",
        help="its output in any format that `score` reads; FILE:PART names a layer or zone; - reads standard input",
    )  # fmt: skip
    parser.add_argument("--campaign", required=True, metavar="NAME", help="the campaign")
    parser.add_argument(
        "--team", metavar="NAME", help="the submitting team; optional on a server for members of a single team"
    )
    parser.add_argument("--system", required=True, metavar="NAME", help="the system of the team")
    parser.add_argument("--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION, if there are several")
    parser.add_argument("--run", default="", metavar="NAME", dest="run_name", help="which of several runs it is")
    add_input_format_option(parser, "the file")
    parser.add_argument(
        "--key", metavar="KEY",
        help="idempotency key: a repeated request does nothing; other content with the same key is rejected",
    )  # fmt: skip
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--primary", action="store_const", const="primary", dest="declared", default="",
        help="rank this submission of the team; the previous primary one becomes contrastive",
    )  # fmt: skip
    kind.add_argument(
        "--contrastive",
        action="store_const",
        const="contrastive",
        dest="declared",
        help="do not rank it; it is for comparison",
    )
    data = parser.add_mutually_exclusive_group()
    data.add_argument(
        "--constrained", action="store_true", default=None, help="only data that the campaign allows were used for it"
    )
    data.add_argument(
        "--unconstrained", action="store_false", default=None, dest="constrained", help="other data were used, too"
    )
    parser.add_argument("--description", default="", metavar="TEXT", help="what the team says about it")
    parser.add_argument(
        "--override", action="store_true",
        help="accept it outside the campaign's phases; for organisers, recorded in the audit log",
    )  # fmt: skip
    parser.add_argument(
        "--class", choices=CLASSES, default="interactive", dest="queue_class", help="how urgent (default: %(default)s)"
    )
    parser.add_argument(
        "--due", type=due_time, metavar="TIME",
        help="deadline of the evaluation: 2h, 90m or 3d from now, or a time with its zone, e.g. 2026-11-30T18:00+01:00",
    )  # fmt: skip
    parser.add_argument(
        "--wait", action=argparse.BooleanOptionalAction, default=True,
        help="wait for the scores, or only print the numbers to follow with `steelyard status`",
    )  # fmt: skip
    parser.add_argument("--processes", type=whole_number, metavar="N", help="worker processes (default: all cores)")
    parser.add_argument("--level", type=level, default=0.95, metavar="P", help="level of the intervals (default: 0.95)")
    add_width_option(parser, 1)
    add_database_option(parser)
    add_server_option(parser)
    parser.set_defaults(run=run, run_on_server=run_on_server)


def run_on_server(options: argparse.Namespace) -> int:
    """The same command on a server; the exit status."""
    from cli.campaigns.submit_server import run

    return run(options)


def run(options: argparse.Namespace) -> int:
    """Read, check, store and queue the output; with --wait print the scores; the exit status."""
    from campaigns.submissions.submit import submissions_ahead, submit
    from cli.campaigns.submit_output import told
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
    submitted = submit(engine, settings, attempt, processes=options.processes or None)
    ahead = submissions_ahead(engine, submitted, QueueClass(attempt.queue_class)) if submitted.queued else 0
    print(told(attempt, submitted, ahead), end="", flush=True)
    if not options.wait:
        if settings.embedded and submitted.queued:
            note(["`steelyard up`, or the next command that brings workers to this database, works on it"])
        return 0
    return _shown(options, engine, submitted, _worked_off(options, settings, engine, submitted))


def _attempt(options: argparse.Namespace, engine: Engine) -> SubmissionInput:
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


def _worked_off(options: argparse.Namespace, settings: Settings, engine: Engine, submitted: SubmitResult) -> Progress:
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


def _shown(options: argparse.Namespace, engine: Engine, submitted: SubmitResult, progress: Progress) -> int:
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
