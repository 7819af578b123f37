"""What campaigns in JSON Lines of documents make of odd names and texts."""

import json
import unicodedata
from pathlib import Path
from typing import Any

from steelyard.formats.campaign.campaigns import has_campaign, read_test_sets
from tests.library.formats.test_document_rows import NEWS, TALK, document, lines, output, read

DECOMPOSED = unicodedata.normalize("NFD", "Člun")


def test_names_of_systems_are_in_nfc_wherever_they_stand(tmp_path: Path) -> None:
    """A system would be two, one of which lacks what the other has."""
    rows = [document("en-cs_CZ" + NEWS, "One", "Jedna", tgt_text={DECOMPOSED: "Jeden"})]
    lines(tmp_path / "c" / "test.jsonl", [*rows, document("en-cs_CZ" + TALK, "Two", "Dva")])
    lines(tmp_path / "c" / f"{DECOMPOSED}.jsonl", [output("en-cs_CZ" + TALK, "Dva!")])
    (found,) = read(tmp_path / "c").test_sets
    assert {name: text.lines() for name, text in found.systems.items()} == {"Člun": [b"Jeden", b"Dva!"]}


def test_an_empty_output_has_one_paragraph_as_every_text(tmp_path: Path) -> None:
    """It is no reason to take the first paragraph of the others for the whole."""
    lines(tmp_path / "c" / "test.jsonl", [document("en-cs_CZ" + NEWS, "One\n\ntwo", "Jedna\n\ndvě")])
    lines(tmp_path / "c" / "tug.jsonl", [output("en-cs_CZ" + NEWS, "")])
    campaign = read(tmp_path / "c")
    assert campaign.test_sets[0].source.lines() == [b"One two"]
    assert campaign.test_sets[0].systems["tug"].lines() == [b""]
    assert campaign.notices == [
        "en-cs_CZ: not cut into paragraphs, whose numbers differ: quay.com.1 (source 2; tug 1)."
    ]


def test_a_reference_that_is_missing_has_no_number_of_paragraphs(tmp_path: Path) -> None:
    both = {"refA": {"ref": "Jedna\n\ndvě"}, "refB": "Jedno"}
    rows = [
        document("en-cs_CZ" + NEWS, "One\n\ntwo", None) | {"refs": both},
        document("en-cs_CZ" + TALK, "Three\n\nfour", "Tři"),
    ]
    lines(tmp_path / "c" / "test.jsonl", rows)
    lines(tmp_path / "c" / "tug.jsonl", [output("en-cs_CZ" + each, "Dva\n\ntři") for each in (NEWS, TALK)])
    assert read(tmp_path / "c").notices == [
        "en-cs_CZ: not cut into paragraphs, whose numbers differ: quay.com.1 (source 2; refB 1), "
        "deck_2 (source 2; refA 1)."
    ]


def test_a_long_first_line_is_known_by_the_keys_that_it_has(tmp_path: Path) -> None:
    """What is cut off cannot be read, and may be anything: notes of another program are no part of the campaign."""
    lines(tmp_path / "c" / "test.jsonl", [document("en-cs_CZ" + NEWS, "One", "Jedna")])
    lines(tmp_path / "c" / "tug.jsonl", [output("en-cs_CZ" + NEWS, "Dva")])
    lines(tmp_path / "c" / "notes.jsonl", [{"note": "x" * 200_000}])
    assert read(tmp_path / "c").notices == [f"{tmp_path / 'c'}: not used: notes.jsonl."]
    lines(tmp_path / "d" / "notes.jsonl", [{"doc_id": "d", "note": "x" * 200_000}])
    assert not has_campaign(tmp_path / "d")


def test_documents_of_test_suites_are_left_out_whatever_their_ids_say(tmp_path: Path) -> None:
    def row(number: int, **more: Any) -> dict[str, Any]:
        return {**document(f"doc{number}", f"Source {number}", "Cíl"), "src_lang": "en", "tgt_lang": "cs", **more}

    rows = [row(1), row(2, collection_id="general"), row(3, collection_id="traps"), row(4, collection_id=None)]
    lines(tmp_path / "c" / "test.jsonl", rows)
    lines(tmp_path / "c" / "tug.jsonl", [output(f"doc{number}", "Cíl") for number in (1, 2, 4)])
    for there, suites in (((1, 2, 4), False), ((1, 2, 3, 4), True)):
        if suites:
            path = tmp_path / "c" / "tug.jsonl"
            path.write_text(path.read_text() + json.dumps(output("doc3", "Cíl")) + "\n")
        (found,) = read_test_sets([tmp_path / "c"], test_suites=suites).test_sets
        assert [each.decode() for each in found.source.lines()] == [f"Source {number}" for number in there]
        assert [each.test_suite for each in found.documents] == ["traps" if number == 3 else "" for number in there]
