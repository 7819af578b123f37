"""Entry point: reads the words of the command line and runs the verb."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cli.errors import exit_status
from cli.parser import Parser
from cli.server.server import add_server_option, chosen_run
from cli.terminal.collecting import collect_rarely
from cli.terminal.safe_path import import_nothing_from_the_current_folder
from cli.terminal.threads import compute_in_one_thread
from cli.verbs import add_verbs

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
Steelyard weighs machine translations against references.

  steelyard demo                     a small campaign from start to leaderboard
  steelyard score REF -i SYSTEM      score files at once, without a database
  steelyard evaluate DIR             score a folder of systems and keep the results
  steelyard diagnose FILE            say what is odd about an output
  steelyard submit FILE              hand in one output for a stored campaign
  steelyard leaderboard              show what is kept, ranked
  steelyard compare                  test which of its systems differ
  steelyard correlate                compare metrics with human judgments
  steelyard status                   show what waits, who works, and what failed
  steelyard campaign                 found campaigns with phases, test sets and teams
  steelyard nightly                  measure systems every night, find what gets worse
  steelyard up                       pages, API, scheduler and workers of one machine
"""
EPILOGUE = (
    "Exit status: 0 fine, 1 something is wrong with data or input, 2 wrong usage, whatever the data are. "
    "`steelyard VERB --help` tells more."
)


class ShowVersion(argparse.Action):
    """Prints the version; looks it up only then, so that help need not load the metrics."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Called by argparse."""
        from metrics.base import VERSION

        print(f"steelyard {VERSION}")
        parser.exit()


def parser(verb: str = "") -> argparse.ArgumentParser:
    """The command line: all of it, or what matters where this verb is its first word."""
    top: argparse.ArgumentParser = Parser(
        prog="steelyard",
        description=DESCRIPTION,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and end")
    add_server_option(top, verb=False)
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    add_verbs(verbs, verb)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    verb = words[0] if words else ""
    collect_rarely(verb)
    compute_in_one_thread()
    import_nothing_from_the_current_folder()
    options = parser(verb).parse_args(words)
    return exit_status("steelyard", lambda: chosen_run(options)(options))


if __name__ == "__main__":
    sys.exit(main())
