"""Files are read in parts: wherever these are cut, text, notices and the place of what is wrong are the same."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import product

import pytest

from steelyard.errors import BadText
from steelyard.formats.input import gzip_members
from steelyard.formats.input.gzip_members import unpacked
from steelyard.formats.input.windows import Windows
from steelyard.formats.plain import Text
from steelyard.text.limits import TextLimits

MARK = b"\xef\xbb\xbf"
LIMITS = TextLimits(file_bytes=1000, segment_characters=100, segments=100)
SHORT = TextLimits(file_bytes=1000, segment_characters=2, segments=100)


class Parts:
    """Contents that come in these parts."""

    name = "f"

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    def parts(self, _limits: TextLimits) -> Iterator[bytes]:
        yield from self._parts


def read(parts: list[bytes], limits: TextLimits) -> tuple[object, ...]:
    """The text, its segments and notices; or what is wrong."""
    windows = Windows(Parts(parts), limits)  # type: ignore[arg-type]
    try:
        text = b"".join(windows)
    except BadText as error:
        return type(error).__name__, str(error)
    return text, windows.segments, windows.notices


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """The data byte by byte, and cut once at each place."""
    yield [data[at : at + 1] for at in range(len(data))]
    for at in range(1, len(data)):
        yield [data[:at], data[at:]]


def texts(pieces: tuple[bytes, ...], most: int) -> Iterator[bytes]:
    for size in range(1, most + 1):
        for chosen in product(pieces, repeat=size):
            yield b"".join(chosen)


def place(data: bytes, at: int) -> str:
    before = data[:at].split(b"\n")
    return f"f, line {len(before)}, byte {len(before[-1]) + 1}: "


@pytest.mark.parametrize("wrong", [b"\0", b"\xff", b""], ids=["NUL", "not UTF-8", "nothing wrong"])
def test_lines_marks_and_faults(wrong: bytes) -> None:
    pieces = (b"a", b"\n", b"\r", MARK, *([wrong] if wrong else []))
    for data in texts(pieces, 5):
        whole = read([data], LIMITS)
        if wrong and wrong in data:
            assert str(whole[1]).startswith(place(data, data.index(wrong))), data
        else:
            # Only marks at the very beginning are left out.
            body = re.sub(b"^(?:%s)+" % MARK, b"", data)
            text = re.sub(rb"\r*\n|\r+\Z", b"\n", body)
            text += b"" if not text or text.endswith(b"\n") else b"\n"
            assert whole[:2] == (text, text.count(b"\n")), data
        for parts in cuts(data):
            assert read(parts, LIMITS) == whole, parts


def test_lines_that_are_too_long() -> None:
    for data in texts((b"a", b"\n", "\u00e9".encode(), b"aa\n"), 6):
        lengths = [len(line) for line in data.decode().split("\n")]
        first = next((number for number, length in enumerate(lengths, 1) if length > 2), None)
        for parts in ([data], *cuts(data)):
            found = read(parts, SHORT)
            if first is None:
                assert isinstance(found[0], bytes), data
            else:
                assert found[0] == "OverLimit", data
                assert str(found[1]).startswith(f"f, line {first}: "), (parts, found)


@pytest.mark.parametrize("at_once", [1, 2, 7, 64])
def test_packed_texts(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Whatever is unpacked and taken at once: what zlib still holds back is read, too."""
    monkeypatch.setattr(gzip_members, "UNPACKED_AT_ONCE", at_once)
    for size in (0, 1, 2, 6, 7, 8, 63, 64, 65, 300):
        for line in (b"a", b"ab\n", bytes(range(256))):
            data = (line * (size + 1))[:size]
            one = gzip.compress(data)
            for packed, expected in ((one, data), (one + one + b"\0\0", data + data), (data, data)):
                for taken in (1, 3, 1 << 16):
                    monkeypatch.setattr(gzip_members, "TAKEN_AT_ONCE", taken)
                    for parts in ([packed], [packed[:1], packed[1:]], [packed[:-1], packed[-1:]]):
                        assert b"".join(unpacked(iter(parts), "f", LIMITS)) == expected


def test_what_is_cut_off_is_never_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gzip_members, "UNPACKED_AT_ONCE", 3)
    packed = gzip.compress(b"abc\n" * 5)
    for end in range(2, len(packed)):
        with pytest.raises(BadText, match="ends too early"):
            list(unpacked(iter([packed[:end]]), "f", LIMITS))


def test_the_hash_is_that_of_the_usual_file() -> None:
    for lines in ([], [b""], [b"", b""], [b"a"], [b"a", b""]):
        usual = b"".join(line + b"\n" for line in lines)
        text = Text("t", b"\n".join(lines), len(lines))
        assert (text.sha256, text.lines()) == (sha256(usual).hexdigest(), lines)
