"""Test sets that are uploaded: what is said of their files."""

from __future__ import annotations

from pathlib import Path

from campaigns.sandbox.limits import limits_of
from campaigns.test_sets.files import InputTestSet, NamedContent, read_test_set_files
from runtime.service_settings import WebSettings


def test_notices_name_files_and_no_folder_of_the_server(tmp_path: Path) -> None:
    given = InputTestSet(references=[NamedContent("A.txt", b"one\r\ntwo")], source=NamedContent("src.txt", b"a\nb"))
    found = read_test_set_files(given, tmp_path / "place", limits_of(WebSettings())).notices
    assert {notice.partition(": ")[0] for notice in found} == {"refs/A.txt", "source.txt"}
    assert not any(str(tmp_path) in notice for notice in found)
