"""Exported campaigns as files here: what is left out is said, and what a folder has is sent."""

from __future__ import annotations

import gzip
import io
import json
import stat
import zipfile
from pathlib import Path

import pytest

from cli.main import main
from steelyard.commands.errors import CommandError
from steelyard_client.commands.campaigns.exported import (
    name_of_campaign,
    read_campaign_file,
    read_campaign_files,
    write_folder,
    write_zip,
)


def zipped(**described: object) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("sources/en-cs.txt", "a\n")
        archive.writestr("names.json", json.dumps({"left_out": [], "pairs": {}, **described}))
    return content.getvalue()


def test_all_that_is_left_out_is_said(tmp_path: Path) -> None:
    pairs = {"en-cs": {"left_out": ["mast: no scores", "keel: withdrawn"]}, "en-is": {"left_out": ["A: hidden"]}}
    said = write_folder(tmp_path / "new", zipped(left_out=["talks", "news"], pairs=pairs))
    begin = "is left out: it has no texts, or none that you may see."
    assert said[:2] == [f"talks {begin}", f"news {begin}"]
    assert said[2:] == [
        "en-cs: left out: mast: no scores", "en-cs: left out: keel: withdrawn", "en-is: left out: A: hidden",
    ]  # fmt: skip
    assert (tmp_path / "new" / "sources" / "en-cs.txt").read_text() == "a\n"


def test_what_is_written_is_for_nobody_else_even_where_it_was(tmp_path: Path) -> None:
    folder, file = tmp_path / "there", tmp_path / "there.zip"
    folder.mkdir(mode=0o755)
    file.touch(mode=0o644)
    write_folder(folder, zipped())
    write_zip(file, zipped())
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, file)] == [0o700, 0o600]
    for taken in (folder, file):
        with pytest.raises(CommandError, match="not an empty folder"):
            write_folder(taken, zipped())


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(read_campaign_file(path))) as archive:
        return archive.namelist()


def test_a_folder_is_sent_with_what_is_of_pairs(tmp_path: Path) -> None:
    for name in ("en-cs.jsonl.gz", "en-is.xml", "en-de/x.sgm", "notes.txt", "more.jsonl.bz2"):
        file = tmp_path / "campaign" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    assert names_in(tmp_path / "campaign") == ["en-cs.jsonl.gz", "en-de/x.sgm", "en-is.xml"]
    for name in ("sources/en-cs.txt", "metric-scores/en-cs/bleu.seg.score", "human/en-cs.esa.csv"):
        file = tmp_path / "campaign" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x")
    # Files that say their pairs themselves are those of campaigns without such folders.
    assert names_in(tmp_path / "campaign") == [
        *("sources/en-cs.txt", "metric-scores/en-cs/bleu.seg.score", "human/en-cs.esa.csv"),
    ]
    packed = tmp_path / "packed.zip"
    packed.write_bytes(zipped())
    assert read_campaign_file(packed) == packed.read_bytes()


def test_a_folder_in_the_own_layout_is_sent_whole(tmp_path: Path) -> None:
    there = ("year/docs.tsv", "year/refs/A.txt", "year/systems/mast/1.txt", "year/.git/x.txt")
    for name in there:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    assert names_in(tmp_path) == list(there[:3])
    assert names_in(tmp_path / "year") == ["docs.tsv", "refs/A.txt", "systems/mast/1.txt"]


def test_what_is_no_campaign_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(CommandError, match="has none of the folders sources, references"):
        read_campaign_file(tmp_path)
    with pytest.raises(CommandError, match="no such file or folder"):
        read_campaign_file(tmp_path / "none")


def test_a_test_file_and_those_of_systems_are_sent_as_a_folder_is(tmp_path: Path) -> None:
    test, tug = tmp_path / "wmt26.jsonl", tmp_path / "out" / "tug.jsonl.gz"
    tug.parent.mkdir()
    test.write_text(json.dumps({"doc_id": "en-cs_#_news_#_a", "src_text": "One"}) + "\n")
    tug.write_bytes(gzip.compress(json.dumps({"doc_id": "en-cs_#_news_#_a", "hypothesis": "Jeden"}).encode()))
    for given in ([test, tug], [test]):
        with zipfile.ZipFile(io.BytesIO(read_campaign_files(given))) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == {
                each.name: each.read_bytes() for each in given
            }
        assert name_of_campaign(given) == "wmt26"
    assert (name_of_campaign([tmp_path / "bay.zip"]), name_of_campaign([tug.parent])) == ("bay", "out")
    for given, said in (
        ([tug], "none is a test file"),
        ([test, tug.parent], "out: is a folder: give it alone"),
        ([test, tmp_path / "none.jsonl"], r"none\.jsonl: there is no such file"),
        ([test, tug, tmp_path / "tug.jsonl.gz"], r"called tug\.jsonl\.gz"),
    ):
        (tmp_path / "tug.jsonl.gz").write_bytes(tug.read_bytes())
        with pytest.raises(CommandError, match=said):
            read_campaign_files(given)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--test-set", "news"], "--test-set are for --layout mt-metrics-eval"),
        (["-o", "folder"], "--test-set are for --layout mt-metrics-eval"),
        (["file.zip", "--layout", "mt-metrics-eval"], "name it with -o DIR"),
        (["file.zip", "--layout", "mt-metrics-eval", "-o", "folder"], "name it with -o DIR"),
    ],
)
def test_options_of_the_other_layout_are_refused(
    sqlite_url: str, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["campaign", "export", "wmt", *words, "--database", sqlite_url]) == 2
    assert said in capsys.readouterr().err
