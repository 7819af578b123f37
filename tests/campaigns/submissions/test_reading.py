"""Uploaded outputs as they are read in the sandbox: the text, or why it cannot be scored."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.sandbox.limits import UNLIMITED
from campaigns.submissions.reading import ALWAYS_ACCEPTED_BYTES, ExpectedOutput, read_uploaded_output
from models.corpus.test_sets import DocumentSegments, StoredTestSet
from steelyard.checks.finding import Finding, Severity
from steelyard.formats.plain import Text


def long_text(size: int, segments: int) -> bytes:
    """So many bytes in lines that are about as long."""
    each, rest = divmod(size - segments + 1, segments)
    return b"\n".join([*[b"a" * each] * (segments - 1), b"a" * (each + rest)])


def read_sent(
    content: bytes,
    place: Path,
    *,
    segments: int = 2,
    metrics: tuple[str, ...] = (),
    documents: Mapping[str, DocumentSegments] | None = None,
    input_format: str = "",
    segment_seconds: float = UNLIMITED.segment_seconds,
) -> Text | list[Finding]:
    """What is read of a file that was sent for a test set."""
    place.mkdir()
    (place / "sent").write_bytes(content)
    test_set = StoredTestSet(1, "news", "1", segments)
    expected = ExpectedOutput("mast", "cs", test_set, documents or {}, metrics, input_format=input_format)
    limits = replace(UNLIMITED, segment_seconds=segment_seconds)
    return read_uploaded_output(place / "sent", place, "mast.txt", limits, expected)


def packed(content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("whatever.txt", content)
    return target.getvalue()


def test_a_zip_of_one_text_is_read_as_the_text(tmp_path: Path) -> None:
    plain = read_sent(b"kocka\npes\n", tmp_path / "plain")
    found = read_sent(packed(b"kocka\npes\n"), tmp_path / "zip")
    assert isinstance(plain, Text)
    assert isinstance(found, Text)
    assert (found.name, bytes(found.bytes), found.segments) == ("mast.txt", bytes(plain.bytes), 2)


def test_a_text_that_no_translation_is_as_long_as_is_too_large(tmp_path: Path) -> None:
    """As much as is accepted for any test set, and beyond that by the number of its segments."""
    for number, (size, segments) in enumerate(((ALWAYS_ACCEPTED_BYTES, 32), (ALWAYS_ACCEPTED_BYTES + 1, 2049))):
        taken = read_sent(long_text(size, segments), tmp_path / str(number), segments=segments)
        assert isinstance(taken, Text)
        assert taken.size == size
    assert read_sent(long_text(ALWAYS_ACCEPTED_BYTES + 1, 32), tmp_path / "longer", segments=32) == [
        Finding(
            "size",
            Severity.FATAL,
            "mast.txt: 16,777,217 bytes of text. No translation of the test set is that long. Check whether the file "
            "is the right one or text was repeated.",
        )
    ]


@pytest.mark.parametrize(
    ("content", "more", "code", "says"),
    [
        (b"kocka\n\xff\n", {}, "encoding", "mast.txt, line 2"),
        (packed(b"kocka\n\xff\n"), {}, "encoding", "mast.txt, line 2"),
        (b"PK\x03\x04 no zip", {}, "format", "mast.txt: is a truncated zip archive. Copy or create it again."),
        (
            b"short\n" + b"a b " * 20_000,
            {"metrics": ("character",), "segment_seconds": 1.0},
            "size",
            "mast.txt, line 2: ",
        ),
        (
            b'<dataset id="x"><doc id="d9"><hyp system="mast"><p><seg id="1">k</seg></p></hyp></doc></dataset>',
            {"documents": {"d1": DocumentSegments([0, 1], ["1", "2"])}},
            "ids",
            "mast.txt",
        ),
    ],
)
def test_what_cannot_be_read_is_a_finding(
    content: bytes, more: dict[str, object], code: str, says: str, tmp_path: Path
) -> None:
    found = read_sent(content, tmp_path / "place", **more)  # type: ignore[arg-type]
    assert isinstance(found, list)
    assert (found[0].code, found[0].severity) == (code, Severity.FATAL)
    assert found[0].message.startswith(says)
    assert str(tmp_path) not in found[0].message
