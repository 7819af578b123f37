"""What the processes of the sandbox share: imported once, where they are forked from."""

from __future__ import annotations

from campaigns.checks.diagnose import diagnose
from campaigns.checks.standard import Standard
from metrics.text.plain import Text

SEGMENTS = 200
_LINE = b"The harbour master weighs every boat that comes in before it is told where it may lie, number "


def warm_up() -> None:
    """Load libraries and models by a look at an output that was made up. Takes about a second, once."""
    lines = b"\n".join(_LINE + str(number).encode() for number in range(SEGMENTS))
    standard = Standard(segments=SEGMENTS, source=lines, references=[lines], source_language="de", target_language="en")
    diagnose(Text("made up", lines, SEGMENTS), standard)


# The one thing that whoever forks lets us do: processes that are made later have it all.
warm_up()
