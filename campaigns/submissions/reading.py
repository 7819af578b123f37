"""Reads an output that somebody has sent: in a process of the sandbox, without the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.checks.diagnose import refusal
from campaigns.submissions.segment_lengths import check_segments
from campaigns.submissions.upload_file import opened
from metrics.errors import MetricsError
from metrics.text.limits import OverLimit
from scheduler.errors import SchedulerError
from scheduler.ingest.outputs import lined_up, read_output

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from campaigns.checks.finding import Finding
    from campaigns.sandbox.limits import Limits
    from metrics.text.plain import Text
    from models.corpus.test_sets import KnownTestSet

ALWAYS_TAKEN = 16 << 20
"""Bytes of a text of whatever test set."""
LONGEST = 8 << 10
"""Bytes for each segment, beyond that: what the references have must not be told."""


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """What an output is to be."""

    system: str
    language: str
    """Of the test set."""
    test_set: KnownTestSet
    places: Mapping[str, Sequence[int]]
    """The segments of each document."""
    metrics: Collection[str]
    """The specifications of all that it will be measured by."""


def read_sent(path: Path, folder: Path, name: str, limits: Limits, expected: ExpectedOutput) -> Text | list[Finding]:
    """The text of a file with one line for each segment; or why it cannot be scored.

    `name` is what messages call the file. What is unpacked goes to `folder`, where a large text stays.
    """
    try:
        with opened(path, folder, name, limits.text) as contents:
            output = read_output(
                contents,
                system=expected.system,
                limits=limits.text,
                markup_limits=limits.markup,
                language=expected.language,
            )
        text = lined_up(output, expected.test_set, expected.places)
        check_segments(text, expected.metrics, limits.segment_seconds)
        if text.size > max(ALWAYS_TAKEN, LONGEST * expected.test_set.segments):
            # It would cost the memory and the time of everybody.
            raise OverLimit(
                f"{text.name}: {text.size:,} bytes of text. No translation of the test set is that long: look whether "
                "something was joined or repeated."
            )
    except (MetricsError, SchedulerError) as error:
        return refusal(error)
    return text
