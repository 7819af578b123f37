"""`steelyard db`: the tables of the leaderboard database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.stored import add_database_option, read_settings

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`db`."""
    parser = verbs.add_parser("db", help="create and upgrade the tables of the database")
    parser.add_argument(
        "action", choices=("upgrade", "current"),
        help="upgrade: bring the tables to this version; current: say which version they have",
    )  # fmt: skip
    add_database_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Upgrade, or say what is there."""
    from models import migrate

    settings = read_settings(options)
    if options.action == "upgrade":
        migrate.upgrade(settings.database_url)
    current = migrate.current(settings.database_url)
    print(f"tables: {current or 'none'}" + (" (up to date)" if migrate.is_up_to_date(settings.database_url) else ""))
    return 0
