"""Reads an uploaded output in a process of the sandbox, without the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.checks.unreadable_files import fatal_findings
from campaigns.submissions.segment_lengths import check_segments
from campaigns.submissions.upload_file import open_text
from scheduler.errors import SchedulerError
from scheduler.ingest.outputs import align_to_test_set, read_output
from steelyard.errors import MetricsError
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from campaigns.sandbox.limits import Limits
    from models.corpus.test_sets import DocumentSegments, StoredTestSet
    from steelyard.checks.finding import Finding
    from steelyard.formats.plain import Text

ALWAYS_ACCEPTED_BYTES = 16 << 20
"""Bytes of text that are accepted for any test set."""
MAX_BYTES_PER_SEGMENT = 8 << 10
"""Beyond that. Independent of the references' lengths, which must not be revealed."""


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """What an output must match."""

    system: str
    language: str
    """Of the test set."""
    test_set: StoredTestSet
    documents: Mapping[str, DocumentSegments]
    """By name."""
    metrics: Collection[str]
    """The specifications of all metrics that will score it."""
    pair: str = ""
    """The language pair of the test set; empty where it is not known."""
    input_format: str = ""
    """The format of the file; detected if empty."""
    part: str = ""
    """The layer or zone of the file that is the output."""


def read_uploaded_output(
    path: Path, folder: Path, name: str, limits: Limits, expected: ExpectedOutput
) -> Text | list[Finding]:
    """Read a file with one line for each segment; its text, or the findings for which it cannot be scored.

    `name` is the file's name in messages. Unpacked content goes to `folder`, where a large text stays.
    """
    try:
        with open_text(path, folder, name, limits.text) as contents:
            output = read_output(
                contents,
                system=expected.system,
                part=expected.part or None,
                input_format=expected.input_format or None,
                limits=limits.text,
                markup_limits=limits.markup,
                language=expected.language,
            )
        text = align_to_test_set(output, expected.test_set, expected.documents, expected.pair)
        check_segments(text, expected.metrics, limits.segment_seconds)
        if text.size > max(ALWAYS_ACCEPTED_BYTES, MAX_BYTES_PER_SEGMENT * expected.test_set.segments):
            # It would cost memory and time of all users.
            raise OverLimit(
                f"{text.name}: {text.size:,} bytes of text. No translation of the test set is that long. Check whether "
                "the file is the right one or text was repeated."
            )
    except (MetricsError, SchedulerError) as error:
        return fatal_findings(error)
    return text
