"""`steelyard submission`: what teams and organisers declare about submissions."""

from __future__ import annotations

import click

from cli.campaigns.changes import changing
from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.stored import settings_for
from cli.terminal.prompts import confirm
from steelyard.commands.errors import UsageError
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number

submission = noun(
    "submission",
    "Change what is declared about a submission, or withdraw it. `steelyard submit` creates one, `steelyard status` "
    "and `steelyard leaderboard` show them.",
)


@submission.command(
    "update",
    help="Change the declaration of a submission, withdraw it, or undo the withdrawal. Teams can do this until the "
    "deadline, organisers at any time.",
    example="steelyard submission update 17 --primary --constrained",
)
@click.argument("number", type=Value(whole_number), metavar="NUMBER", help="of the submission")
@option("--primary", is_flag=True, help="the team's ranked submission")
@option("--contrastive", is_flag=True, help="not ranked")
@option(
    "--constrained/--unconstrained",
    default=None,
    help="whether only the data that the campaign allows were used",
)
@option("--description", metavar="TEXT", help="a description by the team")
@option("--withdraw", is_flag=True, help="remove it from all leaderboards")
@option("--reinstate", is_flag=True, help="undo the withdrawal")
@yes_option()
@database_option()
def update(
    number: int,
    primary: bool,
    contrastive: bool,
    constrained: bool | None,
    description: str | None,
    withdraw: bool,
    reinstate: bool,
    yes: bool,
    database: str | None,
) -> int:
    """Change the declaration and print it."""
    from campaigns import declarations
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.declarations import DeclarationUpdate, declare_submission
    from models.schema.roles import DeclaredKind

    if (primary and contrastive) or (withdraw and reinstate):
        raise UsageError("Give one of --primary and --contrastive, and one of --withdraw and --reinstate.")
    kind = DeclaredKind.PRIMARY if primary else DeclaredKind.CONTRASTIVE if contrastive else None
    saying = DeclarationUpdate(kind=kind, constrained=constrained, description=description)
    says_something = saying != DeclarationUpdate()
    if not (says_something or withdraw or reinstate):
        raise UsageError("Say what: --primary, --contrastive, --constrained, --description, --withdraw or --reinstate.")
    if withdraw:
        confirm(f"Withdraw submission {number}?", yes=yes)
    settings = settings_for(database)
    with changing(database) as connection:
        if reinstate:
            said = declarations.reinstate(connection, settings, COMMAND_LINE, number)
        if says_something:
            said = declare_submission(connection, COMMAND_LINE, number, saying)
        if withdraw:
            said = declarations.withdraw(connection, COMMAND_LINE, number)
    words = ["withdrawn" if said.withdrawn_at is not None else "stands", said.kind or "undeclared"]
    if said.constrained is not None:
        words.append("constrained" if said.constrained else "unconstrained")
    print(f"Submission {said.submission_id} ({said.team}/{said.system}): {', '.join(words)}.")
    return 0
