"""Test sets that are uploaded: what is said of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.sandbox.limits import limits_of
from campaigns.test_sets.files import InputTestSet, NamedContent, read_test_set_files
from runtime.service_settings import WebSettings

MARKED = b"""<dataset id="port"><doc id="d1" origlang="en"><src lang="en"><p><seg id="1">the cat</seg></p></src>
<ref lang="de" translator="A"><p><seg id="1">die Katze</seg></p></ref></doc></dataset>"""


def test_notices_name_files_and_no_folder_of_the_server(tmp_path: Path) -> None:
    given = InputTestSet(references=[NamedContent("A.txt", b"one\r\ntwo")], source=NamedContent("src.txt", b"a\nb"))
    found = read_test_set_files(given, tmp_path / "place", limits_of(WebSettings())).notices
    assert {notice.partition(": ")[0] for notice in found} == {"refs/A.txt", "source.txt"}
    assert not any(str(tmp_path) in notice for notice in found)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("", "", ("en", "de")),
        ("en-GB", "", ("en-GB", "de")),
        ("", "de-AT", ("en", "de-AT")),
        ("sv", "fi", ("sv", "fi")),
    ],
)
def test_languages_that_are_said_go_before_those_of_the_file(
    source: str, target: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    given = InputTestSet([NamedContent("port.xml", MARKED)], source_language=source, target_language=target)
    found = read_test_set_files(given, tmp_path / "place", limits_of(WebSettings()))
    assert (found.source_language, found.target_language) == expected
