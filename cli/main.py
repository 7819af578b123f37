"""The whole command line, with the verbs of client and server whether or not these distributions are installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cli.verbs import VERBS
from steelyard.commands.main import main as main_of_library
from steelyard_client.commands.verbs import VERBS as VERBS_OF_CLIENT

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    return main_of_library(arguments, lambda: VERBS_OF_CLIENT | VERBS)


if __name__ == "__main__":
    sys.exit(main())
