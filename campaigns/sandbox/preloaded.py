"""What the processes of the sandbox share: imported once in the fork server."""

from __future__ import annotations

import sys
import traceback
from multiprocessing import synchronize
from types import TracebackType

from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.formats.plain import Text

SEGMENTS = 200
_LINE = b"The harbour master weighs every boat that comes in before it is told where it may lie, number "


def warm_up() -> None:
    """Load libraries and models by checking a made-up output. Takes about a second, once."""
    lines = b"\n".join(_LINE + str(number).encode() for number in range(SEGMENTS))
    standard = CheckContext(
        segments=SEGMENTS, source=lines, references=[lines], source_language="de", target_language="en"
    )
    check_output(Text("made up", lines, SEGMENTS), standard)


def end_quietly(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an exception, unless the pool stopped while this process started: its locks are gone, it has no task."""
    raised_in = traceback.extract_tb(trace)[-1].filename if trace is not None else ""
    if not (isinstance(error, FileNotFoundError) and raised_in == synchronize.__file__):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = end_quietly

# The fork server can only import modules: this runs at import, and later processes inherit everything.
warm_up()
