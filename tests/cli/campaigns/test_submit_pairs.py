"""What is sent and read of outputs for many language pairs in one file."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

from steelyard.commands.errors import CommandError, UsageError
from steelyard.text.limits import STORING_LIMITS
from steelyard_client.commands.submissions.submit_one import Order
from steelyard_client.commands.submissions.submit_pairs import are_many, check_all, submit_all
from steelyard_client.documents.submissions.submissions import SubmissionsCreatedResponse
from web.uploads.submit_pairs import read_pairs

PAIRS = ("en-cs", "en-de", "en-ja")


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    """JSON Lines with two documents of each pair."""
    path = tmp_path / "mast.jsonl"
    rows = [{"doc_id": f"{pair}_#_news_#_{name}", "hypothesis": pair * 9} for name in "ab" for pair in PAIRS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def parts(contents: list[bytes]) -> list[list[int]]:
    """The numbers of the lines that are not empty."""
    return [[number for number, line in enumerate(each.split(b"\n"), 1) if line] for each in contents]


def known(*pairs: str) -> list[SimpleNamespace]:
    """Test sets of language pairs."""
    return [
        SimpleNamespace(name=each, version="1", replaced_by=None, source_language=each[:2], target_language=each[3:])
        for each in pairs
    ]


@pytest.mark.parametrize(
    ("pairs", "test_set", "many"),
    [(PAIRS, "", True), (PAIRS[:2], "", True), (PAIRS[:1], "", False), (PAIRS, "en-cs", False)],
)
def test_documents_are_for_many_pairs_where_the_campaign_has_several(
    sent: Path, pairs: tuple[str, ...], test_set: str, many: bool
) -> None:
    """The only test set takes a file whole: what it says of other pairs is refused there, not left out."""
    client: Any = SimpleNamespace(list_test_sets=lambda _: known(*pairs))
    assert are_many(client, Order("bay", {"test_set": test_set}, None, True), str(sent)) is many


def test_each_document_is_sent_once(sent: Path) -> None:
    contents: list[bytes] = []

    def submit_output(_campaign: str, output: bytes, **given: Any) -> None:
        contents.append(output)
        assert given["name"] == "mast.jsonl"
        raise CommandError(given["test_set"])

    client: Any = SimpleNamespace(list_test_sets=lambda _: known(*PAIRS), submit_output=submit_output)
    stored, refused = submit_all(client, Order("bay", {"test_set": "", "queue_class": ""}, None, True), str(sent))
    assert (stored, list(refused.values())) == ([], list(PAIRS))
    assert parts(contents) == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(("key", "keys"), [("k", [f"k:{pair}" for pair in PAIRS]), (None, [None] * 3)])
def test_each_output_has_a_key_of_its_own(sent: Path, key: str | None, keys: list[str | None]) -> None:
    """Else the server would take all but the first for repetitions."""
    given: list[str | None] = []

    def submit_output(*_: Any, **fields: Any) -> None:
        given.append(fields["key"])
        raise CommandError("no")

    client: Any = SimpleNamespace(list_test_sets=lambda _: known(*PAIRS), submit_output=submit_output)
    submit_all(client, Order("bay", {"test_set": "", "queue_class": ""}, key, True), str(sent))
    assert given == keys


def test_the_server_reads_each_document_once(sent: Path, tmp_path: Path) -> None:
    found, refused, left_out = read_pairs(
        {"mast.jsonl": sent}, tmp_path / "place", STORING_LIMITS, {each: each for each in PAIRS}
    )
    assert not refused
    assert not left_out
    assert parts([each.path.read_bytes() for each in found.values()]) == [[1, 4], [2, 5], [3, 6]]


def test_a_preview_of_a_zip_and_of_a_folder_stores_nothing(sent: Path, tmp_path: Path) -> None:
    """Both are asked about with all that is said of the outputs, and a folder is packed as a zip would be."""
    asked: list[tuple[Any, dict[str, Any]]] = []

    def submit_outputs(_campaign: str, file: Any, **given: Any) -> SubmissionsCreatedResponse:
        asked.append((file, given))
        return SubmissionsCreatedResponse(stored=[], checked=[], refused=[], missing=[])

    fields = {"system": "mast", "team": "", "run": "b", "origin": "", "override": ""}
    client: Any = SimpleNamespace(submit_outputs=submit_outputs)
    order = Order("bay", {**fields, "test_set": "", "queue_class": ""}, None, True)
    (tmp_path / "notes.md").write_text("x")
    assert check_all(client, order, str(sent)).left_out == []
    assert check_all(client, order, str(tmp_path)).left_out == ["notes.md"]
    (file, first), (packed, second) = asked
    assert file == sent
    assert ZipFile(BytesIO(packed)).namelist() == ["mast.jsonl"]
    assert first == second == {**fields, "preview": True}
    with pytest.raises(UsageError, match="--test-set is for a single output"):
        check_all(client, Order("bay", {**fields, "test_set": "en-cs"}, None, True), str(sent))


def test_what_is_missing_and_what_is_no_output_is_said(
    sent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known_sets = known(*PAIRS, "en-is", "en-uk")

    def submit_output(_campaign: str, _output: bytes, **given: Any) -> None:
        raise CommandError(given["test_set"])

    client: Any = SimpleNamespace(list_test_sets=lambda _: known_sets, submit_output=submit_output)
    order = Order("bay", {"test_set": "", "queue_class": ""}, None, True)
    assert submit_all(client, order, str(sent))[0] == []
    assert capsys.readouterr().err == "note: No output for en-is, en-uk.\n"
    known_sets[3:] = []
    submit_all(client, order, str(sent))
    assert capsys.readouterr().err == ""
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.md").write_text("x")
    with pytest.raises(CommandError) as refused:
        submit_all(client, order, str(empty))
    assert str(refused.value) == f"{empty}: has no outputs. Name each after its language pair, such as en-cs.txt."


def test_a_fault_of_the_program_is_not_taken_for_a_refused_output(sent: Path) -> None:
    def submit_output(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    client: Any = SimpleNamespace(list_test_sets=lambda _: known(*PAIRS), submit_output=submit_output)
    with pytest.raises(ZeroDivisionError):
        submit_all(client, Order("bay", {"test_set": "", "queue_class": ""}, None, True), str(sent))
