"""The whole command line, with the server's verbs whether or not this distribution is installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cli.verbs import VERBS
from steelyard.commands.main import main as main_of_library

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    return main_of_library(arguments, lambda: VERBS)


if __name__ == "__main__":
    sys.exit(main())
