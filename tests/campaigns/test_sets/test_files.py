"""Test sets that are uploaded: what is said of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.errors import BadRequest
from campaigns.sandbox.limits import limits_of
from campaigns.test_sets.files import InputTestSet, NamedContent, read_reference_files, read_test_set_files
from runtime.service_settings import WebSettings
from steelyard.errors import BadText

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


PLAIN = NamedContent("A.txt", b"kocka\npes")
WITH_OUTPUT = MARKED.replace(
    b"</doc>", b'<hyp system="mast" language="de"><p><seg id="1">die Katz</seg></p></hyp></doc>'
)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (InputTestSet([]), "A test set needs at least one reference."),
        (
            InputTestSet([NamedContent(f"{number}.txt", b"a") for number in range(51)]),
            "A test set can have at most 50 references.",
        ),
        (InputTestSet([PLAIN], source_language="Czech!"), "'Czech!' is not a language code such as cs or pt-BR."),
        (InputTestSet([PLAIN], target_language="c"), "'c' is not a language code such as cs or pt-BR."),
        (
            InputTestSet([NamedContent("our/A.txt", b"a"), NamedContent("theirs\\A.txt.gz", b"b")]),
            "Two references are called 'A'. Rename one of the files.",
        ),
        (
            InputTestSet([NamedContent("A.txt", b"die Katze"), NamedContent("port.xml", MARKED)]),
            "Some of these files have segment ids and others do not. Use the same format for all.",
        ),
        (
            InputTestSet([NamedContent("port.xml", MARKED)], source=NamedContent("src.txt", b"the cat")),
            "Some of these files have segment ids and others do not. Use the same format for all.",
        ),
        (
            InputTestSet([NamedContent("port.xml", WITH_OUTPUT)]),
            "These files also contain system outputs. Upload only source and references.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_no_test_set_are_refused(given: InputTestSet, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest) as refused:
        read_test_set_files(given, tmp_path / "place", limits_of(WebSettings()))
    assert str(refused.value) == says


@pytest.mark.parametrize("name", ["a\tb.txt", " .txt", "x" * 101 + ".txt"])
def test_the_label_of_a_reference_is_a_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest) as refused:
        read_test_set_files(InputTestSet([NamedContent(name, b"a")]), tmp_path / "place", limits_of(WebSettings()))
    label = name.removesuffix(".txt")
    assert str(refused.value).startswith(f"{label[:50]!r} cannot be the label of a reference: ")
    assert str(refused.value).endswith(". Rename the file.")


def test_fifty_references_are_taken_in_the_order_of_their_files(tmp_path: Path) -> None:
    given = InputTestSet([NamedContent(f"r{number:02}.txt", b"a") for number in range(50)])
    found = read_test_set_files(given, tmp_path / "place", limits_of(WebSettings()))
    assert list(found.references) == [f"r{number:02}" for number in range(50)]


def test_what_is_wrong_with_a_file_names_it_and_no_folder_of_the_server(tmp_path: Path) -> None:
    given = InputTestSet(
        [PLAIN, NamedContent("B.txt", b"kocka\n\xff")],
        documents=NamedContent("x.tsv", b"doc_id\tdomain\nd\tnews\n"),
    )
    with pytest.raises(BadText) as refused:
        read_test_set_files(given, tmp_path / "place", limits_of(WebSettings()))
    assert str(tmp_path) not in str(refused.value)
    assert "refs/B.txt, line 2" in str(refused.value)


def test_corrected_references_are_read_by_their_labels_each_once() -> None:
    files = [NamedContent("our/A.txt", b"kocka\npes"), NamedContent("B.txt", b"cica\nfena")]
    found = read_reference_files(files, limits_of(WebSettings()))
    assert {label: bytes(text.bytes) for label, text in found.items()} == {"A": b"kocka\npes", "B": b"cica\nfena"}
    with pytest.raises(BadRequest) as refused:
        read_reference_files([*files, NamedContent("A.txt.gz", b"x")], limits_of(WebSettings()))
    assert str(refused.value) == "There are two files for the reference 'A'. Upload only one."
    with pytest.raises(BadText, match=r"^B\.txt, line 2"):
        read_reference_files([NamedContent("our/B.txt", b"a\n\xff")], limits_of(WebSettings()))
