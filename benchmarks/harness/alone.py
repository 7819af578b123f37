"""The command line of one benchmark: `python -m benchmarks.NAME` prints what it found."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness.campaign import arguments

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from benchmarks.report.section import Section


def alone(
    description: str | None,
    section: Callable[[argparse.Namespace], Section],
    add_options: Callable[[argparse.ArgumentParser], None] | None = None,
) -> None:
    """Run it with the options of the command line; `--json FILE` is for `python -m benchmarks`."""
    parser = arguments(description)
    if add_options:
        add_options(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write tables and figures there, print nothing")
    options = parser.parse_args()
    # Whoever ends it must not leave its processes behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = section(options)
    if options.json:
        options.json.write_text(json.dumps(found.as_json()))
    else:
        print(found.markdown())


def progress(text: str) -> None:
    """Say on the error stream what was just done."""
    print(text, file=sys.stderr, flush=True)
