"""`steelyard campaign declare`: organisers change the declaration of a submission at any time."""

from __future__ import annotations

import argparse

from cli.options import whole_number
from cli.stored import add_database_option, read_settings
from steelyard.commands.errors import UsageError


def add_submission_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`declare`."""
    declare = verbs.add_parser(
        "declare",
        help="change the declaration of a submission, withdraw it, or undo the withdrawal",
        description="Teams can do this until the deadline, organisers at any time.",
    )
    declare.add_argument("submission", type=whole_number, metavar="NUMBER")
    kind = declare.add_mutually_exclusive_group()
    kind.add_argument(
        "--primary", action="store_const", const="primary", dest="kind", help="the team's ranked submission"
    )
    kind.add_argument("--contrastive", action="store_const", const="contrastive", dest="kind", help="not ranked")
    declare.add_argument(
        "--constrained", action=argparse.BooleanOptionalAction, default=None,
        help="whether only the data that the campaign allows were used",
    )  # fmt: skip
    declare.add_argument("--description", metavar="TEXT")
    standing = declare.add_mutually_exclusive_group()
    standing.add_argument("--withdraw", action="store_true", help="remove it from all leaderboards")
    standing.add_argument("--reinstate", action="store_true", help="undo the withdrawal")
    add_database_option(declare)
    declare.set_defaults(run=run_declare)


def run_declare(options: argparse.Namespace) -> int:
    """Change the declaration and print it."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.declarations import DeclarationUpdate, declare_submission, reinstate, withdraw
    from cli.campaigns.changes import changing
    from models.schema.roles import DeclaredKind

    saying = DeclarationUpdate(
        kind=DeclaredKind(options.kind) if options.kind else None,
        constrained=options.constrained,
        description=options.description,
    )
    says_something = saying != DeclarationUpdate()
    if not says_something and not options.withdraw and not options.reinstate:
        raise UsageError("Say what: --primary, --contrastive, --constrained, --description, --withdraw or --reinstate.")
    settings = read_settings(options)
    with changing(options) as connection:
        if options.reinstate:
            said = reinstate(connection, settings, COMMAND_LINE, options.submission)
        if says_something:
            said = declare_submission(connection, COMMAND_LINE, options.submission, saying)
        if options.withdraw:
            said = withdraw(connection, COMMAND_LINE, options.submission)
    words = ["withdrawn" if said.withdrawn_at is not None else "stands", said.kind or "undeclared"]
    if said.constrained is not None:
        words.append("constrained" if said.constrained else "unconstrained")
    print(f"Submission {said.submission_id} ({said.team}/{said.system}): {', '.join(words)}.")
    return 0
