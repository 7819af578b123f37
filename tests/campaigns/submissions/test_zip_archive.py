"""The one text of a zip archive, within limits."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from campaigns.submissions import zip_archive
from campaigns.submissions.zip_archive import is_zip, unzip_single_text
from steelyard.formats.input.contents import WrongFormat
from steelyard.text.limits import OverLimit, TextLimits

TEXT = b"".join(b"line %d\n" % number for number in range(200))


def archive(path: Path, *members: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> Path:
    with zipfile.ZipFile(path, "w", kind) as made:
        made.comment = comment
        for name, content in members:
            made.writestr(name, content)
    return path


def unzipped(path: Path, **limits: int) -> bytes:
    target = io.BytesIO()
    unzip_single_text(path, target, "out.zip", TextLimits(**limits))
    return target.getvalue()


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"c", b"\0" * 65535])
def test_the_text_comes_out_whatever_is_around_it(tmp_path: Path, kind: int, comment: bytes) -> None:
    path = archive(
        *(tmp_path / "a.zip", ("folder/", b""), ("folder/text.txt", TEXT), ("__MACOSX/folder/._text.txt", b"x")),
        kind=kind,
        comment=comment,
    )
    assert is_zip(path)
    assert unzipped(path) == TEXT


def test_what_is_no_archive_is_distinguished(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"PK\x03")
    assert not is_zip(tmp_path / "text")


@pytest.mark.parametrize("members", [(), (("a", b"a"), ("b", b"b")), (("folder/", b""),)])
def test_it_must_be_one(tmp_path: Path, members: tuple[tuple[str, bytes], ...]) -> None:
    number = sum(not name.endswith("/") for name, _ in members)
    with pytest.raises(WrongFormat, match=f"archive with {number} files instead of one"):
        unzipped(archive(tmp_path / "a.zip", *members))


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_to_compress_are_refused(tmp_path: Path, kind: int) -> None:
    with pytest.raises(WrongFormat, match="unsupported compression"):
        unzipped(archive(tmp_path / "a.zip", ("a", TEXT), kind=kind))


def test_a_password_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT))
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(WrongFormat, match="with a password"):
        unzipped(path)


def test_exactly_the_limit_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "READ_AT_ONCE", 100)
    path = archive(tmp_path / "a.zip", ("a", TEXT))
    assert unzipped(path, file_bytes=len(TEXT)) == TEXT
    with pytest.raises(OverLimit, match="larger than"):
        unzipped(path, file_bytes=len(TEXT) - 1)


def test_no_text_shrinks_that_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "ALWAYS_ALLOWED", 1000)
    path = archive(tmp_path / "a.zip", ("a", b"\n" * 100_000))
    expansion = -(-100_000 // path.stat().st_size)
    assert len(unzipped(path, expansion=expansion)) == 100_000
    with pytest.raises(OverLimit, match="expands to more than"):
        unzipped(path, expansion=expansion - 1)
    monkeypatch.setattr(zip_archive, "ALWAYS_ALLOWED", 100_000)
    assert len(unzipped(path, expansion=1)) == 100_000


def test_a_long_list_of_members_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "a.zip", ("a" * 100, TEXT))
    listed = 46 + 100
    monkeypatch.setattr(zip_archive, "MAX_INDEX_BYTES", listed)
    assert unzipped(path) == TEXT
    monkeypatch.setattr(zip_archive, "MAX_INDEX_BYTES", listed - 1)
    with pytest.raises(WrongFormat, match="too many files"):
        unzipped(path)


@pytest.mark.parametrize("cut", [1, 22, 23, 100, 300])
def test_a_broken_one_is_said_to_be_broken(tmp_path: Path, cut: int) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(WrongFormat, match=r"truncated|damaged"):
        unzipped(path)


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT), kind=zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[content.index(b"line 7")] ^= 1
    path.write_bytes(content)
    with pytest.raises(WrongFormat, match="damaged"):
        unzipped(path)


def test_whatever_bit_is_flipped_the_text_or_a_refusal_comes_out(tmp_path: Path) -> None:
    """In what is compressed it may be no stream at all, in the lists anything."""
    path, text = archive(tmp_path / "a.zip", ("a", TEXT[:300])), TEXT[:300]
    content, refused = path.read_bytes(), 0
    for place in range(len(content)):
        for bit in range(8):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            try:
                assert unzipped(path) == text, (place, bit)
            except (WrongFormat, OverLimit):
                refused += 1
    assert refused > 4 * len(content)


def test_zip64_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT))
    content = path.read_bytes()
    end = content.rindex(b"PK\x05\x06")
    path.write_bytes(content[:end] + b"PK\x06\x07" + bytes(16) + content[end:])
    with pytest.raises(WrongFormat, match="zip64"):
        unzipped(path)
