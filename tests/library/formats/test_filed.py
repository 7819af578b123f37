"""Texts that stay in their files are those that are held, and say so when their file changes."""

import gzip
import hashlib
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.formats.campaign.folder import read_campaign
from steelyard.formats.detection import read_text
from steelyard.formats.filed import ChangedFile, FiledText
from steelyard.formats.input import windows
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.plain import read_lines
from steelyard.text.blocks import BLOCK
from steelyard.text.limits import STORING_LIMITS, OverLimit, TextLimits

ANY = TextLimits(held_bytes=-1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(st.sampled_from("\r\n\ufeff\u2028aé"), max_size=30), st.integers(0, 3), st.booleans())
def test_a_text_is_the_same_in_its_file_as_in_memory(tmp_path, content, many, packed):
    data = (content + f"{content}\n" * 300 * many).encode()
    path = tmp_path / "text.txt"
    path.write_bytes(gzip.compress(data) if packed else data)
    held, filed = read_lines(data, name="F"), read_text(path, name="F", limits=ANY)
    assert isinstance(filed, FiledText)
    assert filed.bytes == held.bytes
    for what in ("name", "segments", "notices", "size", "sha256", "layers", "unit", "ids", "language"):
        assert getattr(filed, what) == getattr(held, what)
    if held.segments:
        assert filed.sha256 == hashlib.sha256(held.bytes + b"\n").hexdigest()
        for blocks in (1, 2):
            runs = list(filed.runs(blocks))
            assert runs == list(held.runs(blocks))
            assert [run.count(b"\n") + 1 for run in runs[:-1]] == [blocks * BLOCK] * (len(runs) - 1)


def test_windows_that_end_anywhere_give_the_same_text(tmp_path, monkeypatch):
    data = "".join(f"{'é' * (number % 50)}\r\n" for number in range(60_000)).encode()
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    monkeypatch.setattr(windows, "CHECKED_AT_ONCE", 7)
    filed = read_text(path, limits=ANY)
    assert len(data) > 2 << 20, "one part of the file holds it all"
    assert b"\n".join(filed.runs(3)) == data.replace(b"\r\n", b"\n")[:-1]
    assert filed.notices == (f"{path}: 60,000 lines ended in CR LF (Windows); read as LF.",)


def test_faults_far_behind_are_placed(tmp_path):
    path = tmp_path / "text.txt"
    many = b"ano\n" * 600_000
    for fault, kind, where in ((b"x\xff\n", NotUtf8, "byte 2: not UTF-8"), (b"y" * 11, OverLimit, "more than 10 char")):
        path.write_bytes(many + fault)
        with pytest.raises(kind, match=rf"line 600001.*{where}"):
            read_text(path, limits=TextLimits(held_bytes=0, segment_characters=10))


def test_a_file_that_changes_is_noticed(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"one\ntwo\n")
    text = read_text(path, limits=ANY)
    path.write_bytes(b"one\ntoo\n")
    with pytest.raises(ChangedFile, match=r"text\.txt: changed while it was read\. Try again"):
        list(text.runs(1))


def test_another_process_reads_the_same_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"one\r\ntwo\n")
    text = read_text(path, name="F", limits=ANY)
    sent = pickle.dumps(text)
    again = pickle.loads(sent)
    assert isinstance(again, FiledText)
    assert b"two" not in sent
    for what in ("bytes", "name", "segments", "notices", "size", "sha256", "layers", "unit", "ids", "language"):
        assert getattr(again, what) == getattr(text, what)
    path.write_bytes(b"one\r\ntoo\n")
    with pytest.raises(ChangedFile, match=r"^F: changed while it was read"):
        _ = again.bytes


def test_only_large_plain_files_stay_where_they_are(tmp_path):
    for name, content in (("refs/A.txt", "a\n\nb\n"), ("systems/s.txt", "a\nbb\nc\n"), ("source.txt", "1\n2\n3\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    campaign = read_campaign(tmp_path, limits=TextLimits(held_bytes=6))
    texts = [campaign.source, campaign.references["A"], campaign.systems["s"]]
    assert [isinstance(text, FiledText) for text in texts] == [False, False, True]
    assert any("empty in 1 line (2)" in notice for notice in campaign.notices)
    everything = read_campaign(tmp_path, limits=ANY)
    assert isinstance(everything.references["A"], FiledText)
    assert everything.notices == campaign.notices
    assert not any(isinstance(text, FiledText) for text in read_campaign(tmp_path, limits=STORING_LIMITS).texts("A"))
