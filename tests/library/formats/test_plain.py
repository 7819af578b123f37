"""The reader for plain text: what it keeps, what it mends and says, what it refuses and why."""

import gzip
import io
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.input.contents import Unreadable, WrongFormat
from steelyard.formats.input.windows import CHECKED_AT_ONCE, NotUtf8
from steelyard.formats.plain import DifferentLengths, Text, check_same_length, read_lines
from steelyard.text.limits import OverLimit, TextLimits

# Whatever can stand in a line: no line feed; no NUL, which is refused; no carriage return at the end, which
# belongs to the line end; no byte-order mark at the start of the text, which is dropped.
LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\0")).map(lambda line: line.rstrip("\r"))
).filter(lambda lines: not (lines and lines[0].startswith("\ufeff")))


@given(LINES)
@example(["one\u2028still one", "two\u0085still two", "three\rstill three\x0b\x0c\x1c", "", "\u2029", ""])
@example([""])
@example(["", ""])
@example(["x" * (CHECKED_AT_ONCE - 1), "é" * CHECKED_AT_ONCE, "y"])
def test_any_lines_survive_writing_and_reading(lines):
    text = read_lines("".join(line + "\n" for line in lines).encode(), limits=TextLimits(1 << 30, 1 << 30))
    assert [line.decode() for line in text.lines()] == lines
    assert text.segments == len(lines)
    assert text.bytes == "\n".join(lines).encode()


@given(st.text(st.sampled_from("\r\n\ufeff\u2028aé"), max_size=12))
@example("a\r\r\nb\r\r")
@example("\r")
@example("\ufeff\ufeff\r\n")
@example("a\n\r")
def test_a_canonical_text_stays_as_it_is_when_written_and_read_again(content):
    text = read_lines(content.encode())
    again = read_lines(text.bytes + b"\n" if text.segments else b"")
    assert (again.bytes, again.segments) == (text.bytes, text.segments)
    assert not any("CR LF" in notice or "byte-order" in notice for notice in again.notices)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
@given(lines=st.lists(st.text(st.sampled_from("aé€😀\r"), max_size=9)))
def test_the_longest_line_decides_whether_a_text_is_refused(lines, limit):
    data = "".join(line + "x\n" for line in lines).encode()
    longest = max((len(line) + 1 for line in lines), default=0)
    limits = TextLimits(segment_characters=limit)
    if longest <= limit:
        assert read_lines(data, limits=limits).segments == len(lines)
    else:
        too_long = next(number for number, line in enumerate(lines, 1) if len(line) + 1 > limit)
        with pytest.raises(OverLimit, match=rf"^text, line {too_long}: more than {limit} characters\. Cut"):
            read_lines(data, limits=limits)


def test_an_orderly_file_gives_no_notice(tmp_path):
    path = tmp_path / "orderly.txt"
    path.write_bytes("první\n\ntřetí\n".encode())
    assert read_lines(path) == Text(name=str(path), bytes="první\n\ntřetí".encode(), segments=3)
    assert read_lines(str(path)) == read_lines(path)


def test_no_bytes_are_no_segment_and_a_line_feed_is_one():
    assert read_lines(b"") == Text("text", b"", 0)
    assert read_lines(b"\n") == Text("text", b"", 1)
    assert (read_lines(b"").lines(), read_lines(b"\n").lines()) == ([], [b""])


def test_a_byte_order_mark_is_dropped_and_reported():
    text = read_lines(b"\xef\xbb\xbfone\ntwo\n", name="ref.txt")
    assert text.bytes == b"one\ntwo"
    assert text.notices == ("ref.txt: starts with a byte-order mark, which was left out.",)


def test_windows_line_ends_are_turned_and_counted():
    text = read_lines(b"one\r\ntwo\nthree\r\n", name="ref.txt")
    assert (text.bytes, text.segments) == (b"one\ntwo\nthree", 3)
    assert text.notices == ("ref.txt: 2 lines ended in CR LF (Windows); read as LF.",)


def test_a_carriage_return_inside_a_line_stays_and_is_reported():
    text = read_lines(b"one\rstill one\ntwo\n", name="ref.txt")
    assert (text.bytes, text.segments) == (b"one\rstill one\ntwo", 2)
    assert text.notices == ("ref.txt: 1 carriage return inside lines kept as text, not taken as line ends.",)


def test_a_missing_final_newline_is_reported():
    text = read_lines(b"one\ntwo", name="ref.txt")
    assert (text.bytes, text.segments) == (b"one\ntwo", 2)
    assert text.notices == ("ref.txt: the last line has no line end; it counts as a segment all the same.",)


@pytest.mark.parametrize("start", ['<?xml version="1.0"?>', "<refset setid='x'>", "\n <!DOCTYPE mteval>", "<tstset "])
def test_markup_is_read_as_text_with_a_notice(start):
    text = read_lines(f"{start}\n<seg>a</seg>\n".encode(), name="ref.sgm")
    assert text.notices == (
        "ref.sgm: looks like SGML or XML, but is read as plain text: every line counts as a segment.",
    )


def test_text_that_only_begins_with_an_angle_bracket_is_no_markup():
    assert read_lines(b"<b>Refset</b> and <refsetting>\n").notices == ()
    assert read_lines(b"<refsetting> is a word\n").notices == ()


@pytest.mark.parametrize(
    ("data", "place", "found"),
    [
        (b"ok\nna\xefve\n", "line 2, byte 3", "bytes ef)"),
        (b"\xff\n", "line 1, byte 1", "bytes ff)"),
        (b"a\nb\nc\xe2\x82", "line 3, byte 2", "bytes e2 82)"),
        (b"a\n\xed\xa0\x80\n", "line 2, byte 1", "bytes ed)"),
        (b"x" * 2_000_000 + b"\nb\xc3\n", "line 2, byte 2", "bytes c3)"),
    ],
)
def test_broken_utf8_is_refused_with_its_place_and_bytes(data, place, found):
    with pytest.raises(NotUtf8) as raised:
        read_lines(data, name="out.txt", limits=TextLimits(segment_characters=3_000_000))
    message = str(raised.value)
    assert message.startswith(f"out.txt, {place}: not UTF-8 (")
    assert found in message
    assert "Save the file as UTF-8." in message
    assert "`iconv -f ENCODING -t UTF-8 OLD > NEW`" in message
    assert "WINDOWS" not in message, "of what language it is, nobody has said"


def test_a_nul_byte_is_refused_with_its_place():
    with pytest.raises(WrongFormat, match=r"^out\.txt, line 2, byte 4: a NUL byte, .* Remove it;.*UTF-16"):
        read_lines(b"one\ntwo\0\n", name="out.txt")


@pytest.mark.parametrize(
    ("data", "what", "advice"),
    [
        ("text".encode("utf-16"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff" + "text".encode("utf-16-be"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
        ("text".encode("utf-32"), "UTF-32 text", "iconv -f UTF-32 -t UTF-8"),
        (gzip.compress(gzip.compress(b"rest", mtime=0), mtime=0), "packed with gzip twice", "gunzip"),
        (gzip.compress(b"PK\x03\x04rest", mtime=0), "a zip archive", "saved as plain text"),
        (b"%PDF-1.7 rest", "a PDF document", "Save its text"),
        (b"pst0\x04rest", "a document in Perl's storage format (.streex)", "with Treex"),
        (b"\xfd7zXZ\0rest", "an xz archive", "unxz"),
        (b"\x28\xb5\x2f\xfdrest", "a zstd archive", "unzstd"),
        (b"PK\x03\x04rest", "a zip archive", "saved as plain text"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_its_remedy(tmp_path, data, what, advice):
    path = tmp_path / "out.txt"
    path.write_bytes(data)
    with pytest.raises(WrongFormat) as raised:
        read_lines(path)
    assert str(raised.value).startswith(f"{path}: is {what}, not UTF-8 text. ")
    assert advice in str(raised.value)


def test_limits_are_named_when_a_text_is_beyond_them(tmp_path):
    path = tmp_path / "out.txt"
    path.write_bytes(b"123456\n")
    small = TextLimits(file_bytes=6, segments=1)
    for source in (path, path.read_bytes()):
        with pytest.raises(OverLimit, match=r"larger than 6 bytes\. Split the file\.$"):
            read_lines(source, limits=small)
    named = replace(small, file_bytes_setting="MOST")
    with pytest.raises(OverLimit, match=r"Split the file, or raise the limit with MOST\.$"):
        read_lines(path, limits=named)
    assert read_lines(b"12345\n", limits=small).segments == 1
    with pytest.raises(OverLimit, match=r"^text: 2 lines, the limit is 1\. Split the file, or raise"):
        read_lines(b"1\n2\n", limits=small)


def test_an_endless_line_is_refused_without_being_decoded():
    with pytest.raises(OverLimit, match=r"^text, line 2: more than 10 characters\..*without|lack line feeds"):
        read_lines(b"ok\n" + b"\xff" * 100, limits=TextLimits(segment_characters=10))


def test_standard_input_is_read_by_its_sign(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("jedna\ndvě".encode())))
    text = read_lines("-")
    assert (text.name, text.bytes, text.segments) == ("standard input", "jedna\ndvě".encode(), 2)
    assert text.notices[0].startswith("standard input: the last line")


def test_a_pipe_is_read_up_to_its_limit():
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n" * 10)
    os.close(writing)
    try:
        with pytest.raises(OverLimit, match="larger than 40 bytes"):
            read_lines(f"/dev/fd/{reading}", limits=TextLimits(file_bytes=40))
    finally:
        os.close(reading)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(Unreadable, match=r"nowhere\.txt: there is no such file\. Check the path\.") as raised:
        read_lines(tmp_path / "nowhere.txt")
    assert isinstance(raised.value.__cause__, FileNotFoundError)
    with pytest.raises(Unreadable, match=r": is a folder\. Give a text file with one segment per line\."):
        read_lines(tmp_path)
    with pytest.raises(Unreadable, match=r": cannot be read \(embedded null byte\)\. Check the path"):
        read_lines("a\0b", name="a?b")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(Unreadable, match=r"loop: cannot be read \(.*\)\. Check the path and its permissions"):
        read_lines(tmp_path / "loop")


def test_equal_lengths_pass():
    check_same_length(read_lines(b"a\nb\n"), [read_lines(b"c\n\n"), read_lines(b"\n\n")])
    check_same_length(read_lines(b""), [])


def test_different_lengths_are_explained_file_by_file():
    first = read_lines(b"a\nb\nc\n", name="source.txt")
    others = [
        read_lines(b"a\nb\nc\n", name="good.txt"),
        read_lines(b"a\nb\nc\n\n", name="blank.txt"),
        read_lines("a\nb\u2028c\n".encode(), name="separator.txt"),
        read_lines(b"a\rb\rc\n", name="mac.txt"),
        read_lines(b"", name="empty.txt"),
        read_lines(b"a\nb\nc\nd\ne\n", name="long.txt"),
    ]
    with pytest.raises(DifferentLengths) as raised:
        check_same_length(first, others)
    assert str(raised.value).splitlines() == [
        "These files must have one line per segment, so as many as source.txt, which has 3 lines:",
        "  source.txt: 3 lines",
        "  good.txt: 3 lines",
        "  blank.txt: 4 lines, 1 more (its last line is blank; 1 blank line in all)",
        "  separator.txt: 2 lines, 1 fewer (1 times U+2028 inside lines, which is no line end)",
        "  mac.txt: 1 line, 2 fewer (2 times lone carriage return inside lines, which is no line end)",
        "  empty.txt: 0 lines, 3 fewer",
        "  long.txt: 5 lines, 2 more",
        "Make line i of every file belong to segment i. A line ends at a line feed only; a segment without "
        "translation is an empty line.",
    ]


def test_errors_have_one_base():
    for kind in (Unreadable, WrongFormat, NotUtf8, OverLimit, DifferentLengths):
        assert issubclass(kind, BadText)
        assert str(kind()) == kind.__doc__


def test_real_texts_are_read_to_the_byte(real_data):
    files = sorted(real_data.glob("wmt2*/**/*.txt"))
    assert len(files) > 30
    for path in files:
        data = path.read_bytes()
        text = read_lines(path)
        assert text.bytes + b"\n" == data
        assert text.segments == data.count(b"\n")
        assert text.notices == ()
