"""`steelyard submission`: submissions, and what teams and organisers declare about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard.tables.formatting import date_time
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard_client.commands.backend import backend
from steelyard_client.commands.campaigns.output import CAMPAIGN
from steelyard_client.commands.submissions.evaluations import cancel, recompute, retry

if TYPE_CHECKING:
    from steelyard_client import Client
    from steelyard_client.documents.submissions.submissions import (
        ScoreResponse,
        SubmissionResponse,
        SubmissionWithScoresResponse,
    )

KINDS = ("primary", "contrastive", "late", "withdrawn")

submission = Noun(
    "submission",
    help="List and show submissions, change what is declared about them, or withdraw them; cancel or repeat their "
    "evaluations. `steelyard submit` creates them.",
)
NUMBER = click.argument("number", type=Value(whole_number), metavar="NUMBER", help="of the submission")


@submission.command(
    "list",
    help="List the submissions of your teams, for organisers those of all teams, newest first.",
    example="steelyard submission list wmt26 --team harbour",
)
@CAMPAIGN
@option("--team", default="", metavar="NAME", help="only those of this team")
@option("--test-set", default="", metavar="NAME", help="only those for this test set")
@option("--kind", type=click.Choice(KINDS), help="only those of this kind")
@format_option()
@backend()
def list_(client: Client, campaign: str, team: str, test_set: str, kind: str | None, format: str) -> int:  # noqa: A002
    """Print submissions."""
    columns = [
        Column("id", "Submission", Kind.ID),
        Column("test_set", "Test set", Kind.NAME),
        Column("team", "Team", missing="-"),
        Column("system", "System", Kind.NAME),
        Column("run", "Run", missing="-"),
        Column("declared", "Declared", missing="-"),
        Column("state", "State"),
        Column("created_at", "Submitted", Kind.DATE),
    ]
    rows = [
        [
            *(each.id, each.test_set, each.team or None, each.system, each.run or None, _declared(each) or None),
            *(_state(each), each.created_at.timestamp()),
        ]
        for each in client.list_campaign_submissions(campaign, team=team, test_set=test_set, kind=kind or "")
    ]
    table = Table(columns, rows, empty="There are no such submissions.")
    print(render([table], format, f"Submissions to {campaign}"), end="")
    return 0


@submission.command(
    "show",
    help="Show a submission: what is declared, how far it is, what was found in it, and its scores as the phase "
    "discloses them.",
    example="steelyard submission show 17",
)
@NUMBER
@format_option()
@backend()
def show(client: Client, number: int, format: str) -> int:  # noqa: A002
    """Print a submission."""
    known = client.read_submission(number)
    tables = [_facts(known), *_scores(known)]
    if known.findings:
        columns = [Column("severity", "Severity"), Column("message", "Finding", Kind.NAME)]
        rows = [[each.severity, each.message] for each in known.findings]
        tables.append(Table(columns, rows, "Findings", key="findings"))
    print(render(tables, format, f"Submission {number}"), end="")
    return 0


@submission.command(
    "update",
    help="Change the declaration of a submission. Teams can do this until the deadline, organisers at any time.",
    example="steelyard submission update 17 --primary --constrained",
)
@NUMBER
@option("--primary", is_flag=True, help="the team's ranked submission")
@option("--contrastive", is_flag=True, help="not ranked")
@option(
    "--constrained/--unconstrained",
    default=None,
    help="whether only the data that the campaign allows were used",
)
@option("--description", metavar="TEXT", help="a description by the team")
@backend()
def update(
    client: Client, number: int, primary: bool, contrastive: bool, constrained: bool | None, description: str | None
) -> int:
    """Change the declaration and print it."""
    from steelyard_client.documents.submissions.submissions import SubmissionUpdate

    if primary and contrastive:
        raise UsageError("Give one of --primary and --contrastive.")
    kind = "primary" if primary else "contrastive" if contrastive else None
    given: dict[str, Any] = {"kind": kind, "constrained": constrained, "description": description}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise UsageError("Say what: --primary, --contrastive, --constrained, --unconstrained or --description.")
    return _tell(client.update_submission(number, SubmissionUpdate(**given)))


@submission.command(
    "withdraw",
    help="Withdraw a submission: it leaves all leaderboards. Teams can do this until the deadline, organisers at any "
    "time.",
    example="steelyard submission withdraw 17 --yes",
)
@NUMBER
@yes_option()
@backend()
def withdraw(client: Client, number: int, yes: bool) -> int:
    """Withdraw a submission."""
    confirm(f"Withdraw submission {number}?", yes=yes)
    return _tell(client.withdraw_submission(number))


@submission.command(
    "delete",
    help="Delete a submission with its output and scores, as organisers do; teams withdraw theirs.",
    example="steelyard submission delete 17",
)
@NUMBER
@yes_option()
@backend()
def delete(client: Client, number: int, yes: bool) -> int:
    """Delete a submission."""
    from steelyard_client.commands.deleting import delete_after_question

    return delete_after_question(lambda dry: client.delete_submission(number, dry_run=dry), yes=yes)


@submission.command(
    "reinstate", help="Undo the withdrawal of a submission.", example="steelyard submission reinstate 17"
)
@NUMBER
@backend()
def reinstate(client: Client, number: int) -> int:
    """Undo the withdrawal."""
    return _tell(client.reinstate_submission(number))


for command in (cancel, retry, recompute):
    submission.add_command(command)


def _tell(said: SubmissionResponse) -> int:
    words = ["withdrawn" if said.withdrawn_at is not None else "stands", _declared(said) or "undeclared"]
    print(f"Submission {said.id} ({said.team}/{said.system}): {', '.join(words)}.")
    return 0


def _declared(known: SubmissionResponse) -> str:
    parts = [str(known.kind)] if known.kind else []
    if known.constrained is not None:
        parts.append("constrained" if known.constrained else "unconstrained")
    return ", ".join(parts)


def _state(known: SubmissionResponse) -> str:
    return "withdrawn" if known.withdrawn_at is not None else str(known.progress.state)


def _facts(known: SubmissionWithScoresResponse) -> Table:
    late = f", {known.late_seconds:.0f} s late" if known.late_seconds else ""
    rows = [
        ["Submission", str(known.id)],
        ["Campaign", known.campaign],
        ["Test set", known.test_set],
        ["System", "/".join(part for part in (known.team, known.system, known.run) if part)],
        ["Submitted", date_time(known.created_at.timestamp()) + late],
        ["Phase", known.phase or "-"],
        ["Declared", _declared(known) or "-"],
        ["Description", known.description or "-"],
        ["State", _state(known)],
    ]
    rows += [[f"Failed: {', '.join(each.references)}", each.reason] for each in known.evaluations if each.reason]
    return Table([Column("field", "Field", Kind.NAME), Column("value", "Value")], rows, key="submission")


def _scores(known: SubmissionWithScoresResponse) -> list[Table]:
    columns = [Column("metric", "Metric", Kind.NAME), Column("score", "Score", Kind.ESTIMATE, places=2, missing="-")]
    tables = []
    for feedback in known.feedback:
        rows = [[each.title, _estimate(each)] for each in feedback.scores]
        against = f"Against {', '.join(feedback.references)}"
        tables.append(Table(columns, rows, against, key=against, notes=[feedback.words] if feedback.words else []))
    return tables


def _estimate(score: ScoreResponse) -> Estimate | None:
    if score.score is None:
        return None
    return Estimate(score.score, None if score.low is None or score.high is None else (score.low, score.high))
