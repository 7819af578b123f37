"""`steelyard submit`: submit a system's output to a campaign."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note, tell
from steelyard.commands.options import format_option, input_format_option, level_option, option, width_option
from steelyard.commands.parsing import Command, Value
from steelyard.commands.values import whole_number
from steelyard.tables.rendering import render
from steelyard_client.commands.backend import backend, brings_workers, finish_submissions, is_database
from steelyard_client.commands.submissions.submit_output import checked_table, rendered
from steelyard_client.commands.urgency import class_option, due_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.commands.urgency import Due
    from steelyard_client.documents.submissions.submissions import (
        SubmissionCreatedResponse,
        SubmissionWithScoresResponse,
    )


@click.command(
    "submit",
    cls=Command,
    help="Submit a system's output for a test set of a campaign, within the quotas of its team (`steelyard quota`). "
    "The output is checked, then scored by all metrics and references of the campaign. Submitting the same output "
    "again costs nothing. A folder or zip of outputs named after their language pairs (en-cs.txt, eng-deu.txt, or "
    "en-cs/SYSTEM.txt) is submitted pair by pair, and so are JSON Lines for all pairs, as in WMT25 and WMT26; what is "
    "refused is named. The command shows the scores that the phase discloses, and the ranks where the leaderboard is "
    "visible. Exit status 1 if a quota is used up, the campaign is closed for submissions, or an output cannot be "
    "scored.",
    example="steelyard submit output.txt --campaign wmt24 --team lab --system baseline --primary",
)
@click.argument(
    "file",
    metavar="FILE",
    help="the output, in any format that `score` reads; FILE:PART names a layer or zone; - reads standard input; or a "
    "folder, zip or JSON Lines of outputs for several pairs",
)
@option("--campaign", required=True, metavar="NAME", help="the campaign")
@option("--team", default="", metavar="NAME", help="the submitting team; optional for members of a single team")
@option("--system", required=True, metavar="NAME", help="the system of the team")
@option("--test-set", default="", metavar="NAME", help="the test set, NAME or NAME@VERSION, if there are several")
@option("--run", default="", metavar="NAME", help="which of several runs it is")
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
    "--origin",
    type=click.Choice(["baseline", "online"]),
    help="submit it as a baseline, or as an online system, of no team; for organisers, whatever the phase",
)
@option(
    "--override",
    is_flag=True,
    help="accept it outside the campaign's phases; for organisers, recorded in the audit log",
)
@class_option("interactive", "; for organisers")
@due_option("; for organisers")
@option("--preview", is_flag=True, help="say which outputs fit and what the checks find, and store nothing")
@option(
    "--wait/--no-wait",
    default=True,
    help="wait for the scores, or only print the numbers to follow with `steelyard status`",
)
@option(
    "--processes",
    type=Value(whole_number),
    metavar="N",
    help="worker processes of this command, on a database without a broker (default: all cores)",
)
@level_option()
@width_option(1, " in all formats for people")
@format_option()
@backend()
def submit(
    client: Client,
    *,
    file: str,
    campaign: str,
    input_format: str | None,
    key: str | None,
    primary: bool,
    contrastive: bool,
    queue_class: str,
    due: Due | None,
    preview: bool,
    wait: bool,
    processes: int | None,
    level: float,
    width: int,
    format: str,  # noqa: A002 - the option's name
    **declared: Any,
) -> int:
    """Submit one output or those of a folder; with --wait show the scores; the exit status."""
    from steelyard_client.commands.submissions.submit_one import Order, check_one, submit_one
    from steelyard_client.commands.submissions.submit_pairs import are_many, check_all, left_out_lines, submit_all

    if primary and contrastive:
        raise UsageError("Give --primary or --contrastive, not both.")
    if processes is not None and not is_database(client):
        raise UsageError("--processes is for a database: a server has its own workers.")
    fields = declared | {
        "kind": "primary" if primary else "contrastive" if contrastive else "",
        "input_format": input_format or "",
        # What everybody has by default is not asked for, so that everybody may.
        "queue_class": "" if queue_class == "interactive" else queue_class,
        "due_at": None if due is None else _deadline(client, campaign, due),
    }
    order = Order(campaign, fields, key, quiet=format != "text")
    many = are_many(client, order, file)
    if preview:
        checked = check_all(client, order, file) if many else check_one(client, order, file)
        print("Nothing is stored: this is what would be.", file=sys.stderr if order.quiet else sys.stdout, flush=True)
        print(render([checked_table(checked)], format, "Checked outputs"), end="", flush=True)
        if checked.missing:
            note([f"No output for {', '.join(checked.missing)}."])
        note(left_out_lines(checked.left_out))
        for refusal in checked.refused:
            tell([f"steelyard: refused: {refusal.file}: {' '.join([refusal.reason, *refusal.details])}"])
        return 1 if checked.refused else 0
    refused: dict[str, str] = {}
    if many:
        stored, refused = submit_all(client, order, file)
    else:
        stored = [submit_one(client, order, file)]
    shown: Sequence[SubmissionCreatedResponse | SubmissionWithScoresResponse] = stored
    if wait:
        finish_submissions(client, stored, processes)
        scored = [client.read_submission(each.id, level=level) for each in stored]
        shown = scored
    elif brings_workers(client) and any(each.queued for each in stored):
        note(["`steelyard up`, or the next command that brings workers to this database, works on it"])
    print(rendered(shown, refused if many else None, format, width), end="", flush=True)
    for shown_name, reason in refused.items():
        tell([f"steelyard: refused: {shown_name}: {reason}"])
    return 1 if (wait and _told_failures(scored)) or refused else 0


def _deadline(client: Client, campaign: str, due: Due) -> datetime:
    """The deadline, by the clock of the server."""
    now = client.read_campaign(campaign).at.timestamp() if due.from_now else 0.0
    return datetime.fromtimestamp(due.at(now), UTC)


def _told_failures(submissions: Sequence[SubmissionWithScoresResponse]) -> bool:
    """Say why scores are missing; whether any are."""
    evaluations = [evaluation for submission in submissions for evaluation in submission.evaluations]
    for evaluation in evaluations:
        if evaluation.state == "failed":
            print(f"steelyard: {evaluation.reason}", file=sys.stderr)
    if cancelled := sum(evaluation.state == "cancelled" for evaluation in evaluations):
        print(f"steelyard: {cancelled} evaluation(s) were cancelled.", file=sys.stderr)
    return any(evaluation.state != "done" for evaluation in evaluations)
