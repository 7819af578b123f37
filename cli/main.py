"""Entry point: reads the words of the command line, runs the verb, turns every error into one line and a status."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from cli import check_metric, database, embeddings, evaluate, leaderboard, metrics_list, processes, score
from cli.errors import explained

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
Steelyard weighs machine translations against references.

  steelyard demo                     a small campaign from start to leaderboard
  steelyard score REF -i SYSTEM      score files at once, without a database
  steelyard evaluate DIR             score a folder of systems and keep the results
  steelyard leaderboard              show what is kept
"""
EPILOGUE = (
    "Exit status: 0 fine, 1 something is wrong with data or input, 2 wrong usage. `steelyard VERB --help` tells more."
)


class ShowVersion(argparse.Action):
    """Prints the version; looks it up only then, so that help need not load the metrics."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Called by argparse."""
        from metrics.base import VERSION

        print(f"steelyard {VERSION}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="steelyard",
        description=DESCRIPTION,
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and end")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for group in (score, evaluate, leaderboard, metrics_list, check_metric, embeddings, database, processes):
        group.add_verbs(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    # One thread for matrix products: the parallel work is done by processes, and idle threads only spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("steelyard: interrupted.", file=sys.stderr)
        return 130
    except Exception as error:
        explanation = explained(error)
        if explanation is None:
            raise
        message, status = explanation
        print(f"steelyard: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
