"""Every format may be packed with gzip; what is damaged, or made to do harm, is refused."""

import gzip
import io
import os
import sys
import zlib
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.detection import looks_like, read_file, read_text
from steelyard.formats.input.contents import Contents, WrongFormat
from steelyard.formats.input.gzip_members import ALWAYS_ALLOWED, MOST_MEMBERS, BadGzip
from steelyard.formats.plain import read_lines
from steelyard.text.limits import OverLimit, TextLimits
from tests.library.formats.layered_documents import TCZECH, Meaning, Sentence, Style, Word, write, write_conllu
from tests.library.formats.test_mteval import SOURCE, XML

SENTENCES = [Sentence("s1", (0,), (Word("loď", "loď", -1),), (Meaning("loď", "n.denot", -1),))]
DOCUMENTS = {
    "plain": "jedna\n\nčtyři\n",
    "mteval": SOURCE,
    "mteval in XML": XML,
    "wmt-xml": '<dataset id="s"><doc id="d" origlang="en"><src lang="en"><seg id="1">a</seg></src></doc></dataset>',
    "conllu": write_conllu(SENTENCES),
    "tectomt": write(SENTENCES, Style(kind=TCZECH)),
    "treex": write(SENTENCES, Style()),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_format_may_be_packed_and_is_distinguished_from_its_content(kind, tmp_path):
    data = DOCUMENTS[kind].encode()
    assert looks_like(data) == kind.split()[0]
    # The name says nothing.
    path = tmp_path / "text.dat"
    path.write_bytes(gzip.compress(data))
    assert read_file(path, name="F") == read_file(data, name="F")
    path.write_bytes(gzip.compress(gzip.compress(data)))
    with pytest.raises(WrongFormat, match="packed with gzip twice"):
        read_file(path)


@pytest.mark.parametrize("kind", ["plain", "treex", "conllu"])
def test_a_format_can_be_named(kind):
    for data in (DOCUMENTS[kind].encode(), gzip.compress(DOCUMENTS[kind].encode())):
        assert read_text(data, format="plain").unit == "line"
    for other in ("mteval", "wmt-xml", "treex", "conllu"):
        if other != kind:
            with pytest.raises(BadText, match=r"^text"):
                read_file(DOCUMENTS[kind].encode(), format=other)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.integers(0, 9), st.integers(0, 600))
def test_members_follow_one_another_and_zeros_may_follow_them(parts, level, zeros):
    packed = b"".join(gzip.compress(part, level) for part in parts) + bytes(zeros)
    assert Contents(packed).read(TextLimits()) == b"".join(parts)


@given(st.integers(1, 4), st.data())
def test_a_file_that_was_cut_off_is_refused(members, data):
    packed = gzip.compress(bytes(range(200)), mtime=0) * members
    length = len(packed) // members
    kept = data.draw(st.integers(2, len(packed) - 1).filter(lambda kept: kept % length))
    # A piece of the next member's first byte alone is no gzip.
    with pytest.raises(BadGzip, match=r"^F: (?:the gzip data ends too early, after|something that is not gzip)"):
        read_lines(packed[:kept], name="F")


def test_damage_and_garbage_are_named():
    packed = gzip.compress(b"one\ntwo\n")
    wrong_sum = packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]
    with pytest.raises(BadGzip, match=r"^F: damaged gzip data, within .* incorrect data check"):
        read_lines(wrong_sum, name="F")
    with pytest.raises(BadGzip, match=r"^F: something that is not gzip follows the gzip data"):
        read_lines(packed + b"one more line\n", name="F")
    with pytest.raises(BadGzip, match="damaged gzip data"):
        read_lines(b"\x1f\x8bno gzip at all", name="F")


@given(st.binary(max_size=100), st.integers(0, 100), st.binary(max_size=3))
def test_whatever_is_changed_the_file_is_read_or_refused(data, at, change):
    packed = gzip.compress(data)
    message = "F"
    try:
        read_text(packed[:at] + change + packed[at + len(change) :], name="F")
    except BadText as error:
        message = str(error)
    assert message.startswith("F")


def bomb(size, byte=b"a"):
    """So many times the byte, or the bytes, packed to a thousandth."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(byte * (1 << 20)) for _ in range(size >> 20)]
    return b"".join(parts) + packer.flush()


def test_a_bomb_is_refused_long_before_it_is_unpacked():
    packed = bomb(128 << 20, b"a\n")
    with pytest.raises(OverLimit, match=r"^F: unpacks to more than 100 times its size"):
        read_lines(packed, name="F")
    with pytest.raises(OverLimit, match=r"^F, unpacked: larger than 3,000,000 bytes"):
        read_lines(packed, name="F", limits=TextLimits(file_bytes=3_000_000))
    contents = Contents(packed)
    sizes = []
    with pytest.raises(OverLimit, match="100 times"):
        sizes += [len(part) for part in contents.parts(TextLimits())]
    # What was unpacked for the look at the beginning, and then part by part.
    assert sum(sizes) <= ALWAYS_ALLOWED + 100 * len(packed)


def test_short_texts_may_be_one_line_many_times():
    lines = b"ano\n" * 1_000_000
    assert read_lines(gzip.compress(lines)).segments == 1_000_000


def test_tiny_members_end_in_time():
    empty = gzip.compress(b"")
    assert Contents(empty * 1000 + gzip.compress(b"a")).read(TextLimits()) == b"a"
    with pytest.raises(OverLimit, match="more than 100,000 gzip members"):
        Contents(empty * (MOST_MEMBERS + 1))


def test_standard_input_and_pipes_are_unpacked_and_distinguished(monkeypatch):
    packed = gzip.compress(DOCUMENTS["treex"].encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(packed)))
    text = read_text("-")
    assert (text.name, text.bytes) == ("standard input", "loď".encode())
    for data in (packed, DOCUMENTS["conllu"].encode(), b"a\n" * 20_000):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        try:
            assert read_text(f"/dev/fd/{reading}").bytes == read_text(data).bytes
        finally:
            os.close(reading)


def test_the_limit_on_a_packed_file_counts_before_and_after():
    data = os.urandom(3000)
    packed = gzip.compress(data)
    for limit, what in ((1000, "F: larger than 1,000 bytes"), (2999, "F: ")):
        with pytest.raises(OverLimit, match=what):
            Contents(packed, name="F", limits=TextLimits(file_bytes=limit))
    assert Contents(packed, limits=TextLimits(file_bytes=len(packed))).read(TextLimits()) == data
    with pytest.raises(OverLimit, match="larger than 2,000 bytes"):
        Contents(packed).read(TextLimits(file_bytes=2000))
