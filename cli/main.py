"""Entry point: parses the command line and runs the verb."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from cli.errors import exit_status
from cli.parser import Parser
from cli.server import add_server_option, chosen_run
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
  steelyard check FILE               check an output for problems
  steelyard submit FILE              submit one output to a stored campaign
  steelyard leaderboard              show stored systems, ranked
  steelyard compare                  test which systems differ significantly
  steelyard correlate                compare metrics with human judgments
  steelyard status                   show queue, workers and failures
  steelyard campaign                 create campaigns with phases, test sets and teams
  steelyard nightly                  score systems every night and find regressions
  steelyard up                       pages, API, scheduler and workers of one machine
"""
EPILOGUE = (
    "Exit status: 0 success, 1 a problem with data or input, 2 wrong usage. `steelyard VERB --help` shows details."
)


class ShowVersion(argparse.Action):
    """Prints the version; imports it only then, so that help need not load the metrics."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Called by argparse."""
        from steelyard.metrics.metric import VERSION

        print(f"steelyard {VERSION}")
        parser.exit()


def parser(verb: str = "") -> argparse.ArgumentParser:
    """The parser of the command line, with all verbs or with the file that has this verb alone."""
    top: argparse.ArgumentParser = Parser(
        prog="steelyard",
        description=DESCRIPTION,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and exit")
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
