"""`steelyard leaderboard`: what the database holds, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import CommandError
from cli.options import level, whole_number
from cli.stored import add_database_option, add_sort_option, read_boards, read_settings, require_schema

if TYPE_CHECKING:
    import argparse


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`leaderboard`."""
    parser = verbs.add_parser("leaderboard", help="show the systems in the database, ranked")
    parser.add_argument("name", nargs="?", metavar="NAME", help="only this test set, or this campaign")
    parser.add_argument("--references", metavar="A,B", help="only the leaderboard against exactly these references")
    add_sort_option(parser)
    parser.add_argument("--level", type=level, default=0.95, metavar="P", help="level of the intervals (default: 0.95)")
    parser.add_argument("-f", "--format", choices=("text", "json", "tsv"), default="text")
    parser.add_argument(
        "-w", "--width", type=whole_number, default=1, help="digits after the point in text (default: 1)"
    )
    add_database_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and print."""
    from cli.board import as_json, as_text, as_tsv
    from models.boards import list_boards
    from models.session import make_engine, reading

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    labels = options.references.split(",") if options.references else None
    with reading(engine) as connection:
        listed = list_boards(connection, name=options.name, references=labels)
        if not listed:
            there = sorted({f"{each.name} ({','.join(each.references)})" for each in list_boards(connection)})
            known = f"There are: {'; '.join(there)}." if there else "Nothing was evaluated here yet."
            raise CommandError(f"There is no such leaderboard. {known}")
    boards = read_boards(engine, listed, options.level, options.sort)
    engine.dispose()
    if options.format == "json":
        print(as_json(boards), end="")
    elif options.format == "tsv":
        print(as_tsv(boards), end="")
    else:
        print("\n".join(as_text(board, options.width) for board in boards), end="")
    return 0
