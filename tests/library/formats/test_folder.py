"""The reader for campaign folders: both layouts, and every way in which a folder can be wrong."""

import json
import shutil

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.folder import read_campaign, system_name
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.plain import DifferentLengths
from steelyard.text.language_pairs import NoSuchPair
from steelyard.text.limits import TextLimits
from steelyard.text.names import fault_of_name
from tests.library.formats.campaign_folders import DOCS, refusal, small_campaign, write


@pytest.fixture
def folder(tmp_path):
    return small_campaign(tmp_path)


def test_the_smallest_folder_has_references_and_systems(folder):
    (folder / "source.txt").unlink()
    campaign = read_campaign(folder)
    assert (campaign.name, campaign.segments, campaign.source, campaign.documents) == (
        "harbour",
        3,
        None,
        None,
    )
    assert list(campaign.references) == ["A", "B"]
    assert list(campaign.systems) == ["barge", "tug"]
    assert campaign.systems["barge"].lines() == [b"A", b"", b"C"]
    assert (campaign.source_language, campaign.target_language) == (None, None)
    assert campaign.variable_references is False
    assert campaign.notices == ()


def test_a_folder_is_called_by_its_name_wherever_it_is_read_from(folder, monkeypatch):
    monkeypatch.chdir(folder / "systems")
    assert read_campaign("..").name == "harbour"
    monkeypatch.chdir(folder)
    assert read_campaign(".").name == "harbour"


def test_everything_that_a_folder_may_hold_is_found(folder):
    write(folder / "docs.tsv", DOCS)
    write(folder / "human.sys.tsv", "system\tscore\n")
    write(folder / "README.md", "read me\n")
    write(
        folder / "meta.json",
        json.dumps(
            {
                "name": "quay",
                "source_language": "cs",
                "target_language": "en",
                "segments": 3,
                "references": ["A", "B"],
                "systems": ["barge", "tug"],
                "story": "not for the reader",
            }
        ),
    )
    campaign = read_campaign(str(folder), pair="cs-en")
    assert campaign.name == "quay"
    assert campaign.source is not None
    assert campaign.source.lines() == [b"a", b"b", b"c"]
    assert (campaign.source_language, campaign.target_language) == ("cs", "en")
    assert campaign.documents == (("one", "news", ""), ("one", "news", ""), ("two", "travel", ""))
    assert campaign.human == (folder / "human.sys.tsv",)
    assert campaign.notices == ()


def test_files_without_a_place_are_named_in_a_notice(folder):
    write(folder / "notes.doc", "x")
    write(folder / "systems" / "tug.txt~", "x")
    write(folder / "systems" / ".hidden.txt", "x")
    (folder / "refs" / "old").mkdir()
    for place in ("", "refs", "systems"):
        write(folder / place / "README", "what people should know")
    assert read_campaign(folder).notices == (
        f"{folder}: not used: notes.doc, refs/old, systems/.hidden.txt, systems/tug.txt~.",
    )


def test_notices_of_the_texts_are_handed_on(folder):
    write(folder / "refs" / "A.txt", "\ufeffA1\r\nB1\nC1\n")
    first, second = read_campaign(folder).notices
    assert first == f"{folder}/refs/A.txt: starts with a byte-order mark, which was left out."
    assert second.startswith(f"{folder}/refs/A.txt: 1 line ended in CR LF")


def test_a_folder_that_is_not_there(tmp_path, folder):
    assert refusal(tmp_path / "gone") == f"{tmp_path}/gone: there is no such folder. Check the path."
    assert refusal(folder / "source.txt").startswith(
        f"{folder}/source.txt: is a file, not a folder. A campaign folder has refs/LABEL.txt"
    )


def test_a_folder_without_a_campaign(tmp_path):
    assert refusal(tmp_path).startswith(f"{tmp_path}: no campaign in this folder (it is empty). A campaign")
    write(tmp_path / "letter.txt", "x\n")
    assert "(found: letter.txt)" in refusal(tmp_path)


def test_missing_references_and_systems(folder):
    shutil.rmtree(folder / "refs")
    assert refusal(folder).startswith(f"{folder}: no references. A campaign folder has refs/LABEL.txt")
    (folder / "refs").mkdir()
    write(folder / "refs" / "A.ref", "x\n")
    for system in (folder / "systems").iterdir():
        system.unlink()
    assert refusal(folder).startswith(
        f"{folder}: no references and no systems. Files it does not know: refs/A.ref. A campaign"
    )


def test_all_files_of_the_wrong_length_are_listed(folder):
    write(folder / "refs" / "B.txt", "A2\nB2\nC2\n\n")
    write(folder / "systems" / "tug.txt", "A\nB\u2028C\n")
    message = refusal(folder, DifferentLengths)
    assert f"as many as {folder}/source.txt, which has 3 lines:" in message
    assert f"{folder}/refs/B.txt: 4 lines, 1 more (its last line is blank; 1 blank line in all)" in message
    assert f"{folder}/systems/tug.txt: 2 lines, 1 fewer (1 times U+2028 inside lines" in message
    assert f"{folder}/systems/barge.txt: 3 lines\n" in message


def test_all_unreadable_files_are_listed(folder):
    write(folder / "refs" / "A.txt", b"")
    only = refusal(folder)
    assert only == f"{folder}/refs/A.txt: is empty. Give one line per segment, or remove the file."
    write(folder / "systems" / "tug.txt", b"A\n\xff\nC\n")
    both = refusal(folder)
    assert both.splitlines()[0] == f"{folder}: 2 problems:"
    assert f"  - {only}" in both
    assert f"  - {folder}/systems/tug.txt, line 2, byte 1: not UTF-8" in both
    write(folder / "refs" / "A.txt", "A1\nB1\nC1\n")
    assert refusal(folder, NotUtf8).startswith(f"{folder}/systems/tug.txt, line 2, byte 1: not UTF-8")


def test_limits_hold_for_every_text(folder):
    write(folder / "systems" / "tug.txt", "A\nBBBB\nC\n")
    assert f"{folder}/systems/tug.txt, line 2: more than 3 characters" in refusal(
        folder, BadText, limits=TextLimits(segment_characters=3)
    )


@pytest.mark.parametrize(
    ("twin", "names"),
    [
        ("tug.TXT", "the name 'tug'"),
        ("Tug.txt", "too similar names ('Tug', 'tug')"),
        ("\uff54ug.txt", "too similar names ('tug', '\uff54ug')"),
    ],
)
def test_two_files_for_one_system(folder, twin, names):
    write(folder / "systems" / twin, "A\nB\nC\n")
    message = refusal(folder)
    assert f"{folder}/systems/tug.txt" in message
    assert f"{folder}/systems/{twin}" in message
    assert message.endswith(f"{names} for two systems. Rename or remove one.")


def test_two_files_for_one_reference_in_two_normal_forms(folder):
    write(folder / "refs" / "Zoe\u0308.txt", "A\nB\nC\n")
    assert list(read_campaign(folder).references) == ["A", "B", "Zo\u00eb"]
    write(folder / "refs" / "Zo\u00eb.txt", "A\nB\nC\n")
    assert refusal(folder).endswith("the name 'Zo\u00eb' for two references. Rename or remove one.")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "it is empty"),
        ("x" * 101, "it has 101 characters; 100 are allowed"),
        ("a\tb", r"it contains '\t'; allowed are letters, digits, space and # & '"),
        ("a\u202eb", r"it contains '\u202e'"),
        ("a/b", "it contains '/'"),
        ("a:b", "it contains ':'"),
        ("a\udcff", r"it contains '\udcff'"),
        ("-m", "it begins with a space, hyphen or dot"),
        ("a ", "or ends with a space"),
    ],
)
def test_names_that_cannot_be_used(name, fault):
    assert fault in fault_of_name(name)


@pytest.mark.parametrize("name", ["Online-A", "M2M100_1.2B-B4", "नमस्ते", "překladač č. 2", "GPT4 (5-shot)", "a+b@c"])
def test_names_that_can_be_used(name):
    assert fault_of_name(name) is None


def test_bad_names_are_all_listed_and_escaped(folder):
    write(folder / "systems" / "a\x1bb.txt", "A\nB\nC\n")
    write(folder / "refs" / "x:y.txt", "A\nB\nC\n")
    write(folder / "meta.json", '{"name": "a<b>"}')
    message = refusal(folder)
    assert message.splitlines()[0] == f"{folder}: 3 problems:"
    assert "the campaign cannot be called 'a<b>': it contains '<'" in message
    assert 'Rename the folder, or give "name" in meta.json.' in message
    assert f"{folder}/refs/x:y.txt: not usable as the name of a reference: it contains ':'" in message
    assert rf"{folder}/systems/a\x1bb.txt: not usable as the name of a system: it contains '\x1b'" in message
    assert "\x1b" not in message


def test_empty_reference_lines_are_missing_references_only_when_said(folder):
    write(folder / "refs" / "A.txt", "A1\n\n\n")
    assert read_campaign(folder).notices == (
        f"{folder}/refs/A.txt: empty in 2 lines (2-3), scored as a translation without words. If it is "
        'missing there, say "variable_references": true in meta.json.',
    )
    write(folder / "meta.json", '{"variable_references": true}')
    campaign = read_campaign(folder)
    assert campaign.variable_references is True
    assert campaign.notices == ()
    write(folder / "refs" / "B.txt", "A1\nB1\n\n")
    assert refusal(folder).endswith(
        "empty in every reference: 3 (1 line, counted from 1). Each segment needs at least one reference."
    )


@pytest.mark.parametrize("nested", [False, True])
def test_wmt_names_are_recognised_flat_and_in_their_folders(tmp_path, nested):
    places = ("sources/", "references/", "system-outputs/") if nested else ("", "", "")
    write(tmp_path / f"{places[0]}generaltest2022.en-cs.src.en", "a\nb\n")
    for label in "CB":
        write(tmp_path / f"{places[1]}generaltest2022.en-cs.ref.{label}.cs", f"{label}1\n{label}2\n")
    for system in ("Online-A", "M2M100_1.2B-B4"):
        write(tmp_path / f"{places[2]}generaltest2022.en-cs.hyp.{system}.cs", f"{system}\nx\n")
    write(tmp_path / f"{places[2]}notes", "x\n")
    campaign = read_campaign(tmp_path)
    assert campaign.name == "generaltest2022.en-cs"
    assert campaign.source is not None
    assert campaign.source.lines() == [b"a", b"b"]
    assert {label: text.lines() for label, text in campaign.references.items()} == {
        "B": [b"B1", b"B2"],
        "C": [b"C1", b"C2"],
    }
    assert list(campaign.systems) == ["M2M100_1.2B-B4", "Online-A"]
    assert (campaign.source_language, campaign.target_language) == ("en", "cs")
    assert campaign.notices == (f"{tmp_path}: not used: {places[2]}notes.",)


def test_one_of_several_wmt_test_sets_has_to_be_chosen(tmp_path):
    for test_set in ("newstest2021.en-cs", "newstest2021.de-en", "generaltest2022.de-en"):
        target = test_set[-2:]
        write(tmp_path / f"{test_set}.ref.A.{target}", f"{test_set}\n")
        write(tmp_path / f"{test_set}.hyp.X.{target}", "x\n")
    assert refusal(tmp_path) == (
        f"{tmp_path}: holds several test sets: generaltest2022.de-en, newstest2021.de-en, "
        "newstest2021.en-cs. Choose one with the parameter pair, e.g. generaltest2022.de-en."
    )
    assert read_campaign(tmp_path, pair="en-cs").references["A"].lines() == [b"newstest2021.en-cs"]
    assert refusal(tmp_path, pair="de-en").endswith(
        "holds several test sets: generaltest2022.de-en, newstest2021.de-en. "
        "Choose one with the parameter pair, e.g. generaltest2022.de-en."
    )
    campaign = read_campaign(tmp_path, pair="newstest2021.de-en")
    assert campaign.name == "newstest2021.de-en"
    assert campaign.references["A"].lines() == [b"newstest2021.de-en"]
    assert (
        refusal(tmp_path, NoSuchPair, pair="fr-de") == f"{tmp_path}: there is no pair fr-de. There are: de-en, en-cs."
    )
    assert read_campaign(tmp_path, pair="eng-ces").name == "newstest2021.en-cs"


def test_a_wmt_file_in_two_places_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "system-outputs", tmp_path / "sources"):
        write(place / "newstest2021.en-cs.hyp.X.cs", "x\n")
        write(place / "newstest2021.en-cs.src.en", "x\n")
    write(tmp_path / "newstest2021.en-cs.ref.A.cs", "x\n")
    message = refusal(tmp_path)
    assert "the name 'X' for two systems. Rename or remove one." in message
    assert "newstest2021.en-cs.src.en: two sources. Remove one." in message


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("systems/Online-A.txt", "Online-A"),
        ("Online-A.TXT", "Online-A"),
        ("out/generaltest2022.en-cs.hyp.Online-A.cs", "Online-A"),
        ("newstest2021.de-en.hyp.happypoet_system_en-de_02.en", "happypoet_system_en-de_02"),
        ("generaltest2022.en-liv.hyp.TAL-SJTU.liv.txt", "TAL-SJTU"),
        ("generaltest2023.cs-uk.ref.refA.uk", "refA"),
        ("generaltest2022.en-cs.hyp.Online-A.de", "generaltest2022.en-cs.hyp.Online-A.de"),
        ("generaltest2022.en-cs.src.en", "generaltest2022.en-cs.src.en"),
        ("model.v2.out", "model.v2.out"),
        ("Zoe\u0308.txt", "Zo\u00eb"),
        ("-", "-"),
    ],
)
def test_the_system_is_in_the_file_name(path, name):
    assert system_name(path) == name


@pytest.mark.parametrize(
    ("name", "segments", "references", "systems", "documents"),
    [
        ("wmt22.en-cs", 2037, ["B", "C"], 10, 181),
        ("wmt22.de-en", 1984, ["A", "B"], 9, 271),
        ("wmt21.en-cs", 1002, ["A", "B"], 10, None),
    ],
)
def test_real_campaigns(real_data, name, segments, references, systems, documents):
    campaign = read_campaign(real_data / name)
    assert (campaign.name, campaign.segments) == (name, segments)
    assert list(campaign.references) == references
    assert len(campaign.systems) == systems
    assert f"{campaign.source_language}-{campaign.target_language}" == name[-5:]
    assert all(text.segments == segments for text in campaign.systems.values())
    assert (campaign.documents and len({doc.doc_id for doc in campaign.documents})) == documents
    assert all(path.exists() for path in campaign.human)
    assert campaign.notices == ()
