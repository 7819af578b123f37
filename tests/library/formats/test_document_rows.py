"""Campaigns in JSON Lines of many language pairs, as WMT25, WMT26 and WMT24++ have them; and faults in them."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.campaigns import Campaign, has_campaign, read_test_sets
from steelyard.formats.campaign.zips import unpacked_paths
from steelyard.text.limits import DEFAULT_LIMITS

NEWS, TALK = "_#_news_#_quay.com.1", "_#_social_#_deck_2"


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def document(doc_id: str, source: str, reference: str | None, **more: Any) -> dict[str, Any]:
    refs = {} if reference is None else {"refA": {"ref": reference}}
    return {"doc_id": doc_id, "src_text": source, "refs": refs, "video": None, **more}


def output(doc_id: str, text: str) -> dict[str, Any]:
    # What it says of its system may be a private name.
    return {"doc_id": doc_id, "hypothesis": text, "system": "somebody-else"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs; raft has one of them, and cuts the second document otherwise."""
    there = tmp_path / "wmt25"
    lines(
        there / "data" / "wmt25-genmt.jsonl",
        [
            document("en-cs_CZ" + NEWS, "One\ntwo\n\nthree", "Jedna\ndvě\n\ntři"),
            document("en-cs_CZ" + TALK, "Four\n\nfive", "Čtyři\n\npět"),
            document("en-zh_CN" + NEWS, "One", "一"),
            document("en-cs_CZ_#_suite_#_trap", "Six", None, collection_id="traps"),
        ],
    )
    tug = [
        output("en-cs_CZ" + TALK, "Čtyři\n\npět"),
        output("en-cs_CZ" + NEWS, "Jeden dva\n\n"),
        output("en-zh_CN" + NEWS, "壹"),
    ]
    lines(there / "data" / "systems" / "Tug-4.1.jsonl", tug)
    raft = [output("en-cs_CZ" + NEWS, "Jedna dvě\n\ntři"), output("en-cs_CZ" + TALK, "Čtyři a pět")]
    lines(there / "data" / "systems" / "raft.jsonl", raft)
    return there


def read(folder: Path, *pairs: str, **how: Any) -> Campaign:
    return read_test_sets([folder], pairs=pairs, **how)


def test_documents_are_cut_into_paragraphs_where_all_agree(folder: Path) -> None:
    campaign = read(folder)
    assert (campaign.name, [each.name for each in campaign.test_sets]) == ("wmt25", ["en-cs_CZ", "en-zh_CN"])
    czech, chinese = campaign.test_sets
    assert czech.source.lines() == [b"One two", b"three", b"Four five"]
    assert [each.decode() for each in czech.references["refA"].lines()] == ["Jedna dvě", "tři", "Čtyři pět"]
    assert {name: [each.decode() for each in text.lines()] for name, text in czech.systems.items()} == {
        "Tug-4.1": ["Jeden dva", "", "Čtyři pět"],
        "raft": ["Jedna dvě", "tři", "Čtyři a pět"],
    }
    assert [(each.doc_id, each.domain) for each in czech.documents] == [
        *[("quay.com.1", "news")] * 2,
        ("deck_2", "social"),
    ]
    assert (czech.source_language, czech.target_language, czech.variable_references) == ("en", "cs_CZ", False)
    assert list(chinese.systems) == ["Tug-4.1"], "a gap, never an empty output"
    assert campaign.notices == [
        "en-cs_CZ: 1 document of test suites left out.",
        "en-cs_CZ: not cut into paragraphs, whose numbers differ: deck_2 (source 2; raft 1).",
    ]


def test_what_is_hidden_is_neither_read_nor_said_to_be_unused(folder: Path) -> None:
    before = read(folder)
    for source, hidden in (
        ("data/systems/raft.jsonl", "data/systems/.ferry.jsonl"),
        ("data/systems/raft.jsonl", ".git/ferry.jsonl"),
        ("data/wmt25-genmt.jsonl", "data/.old/wmt25-genmt.jsonl"),
    ):
        (folder / hidden).parent.mkdir(exist_ok=True)
        (folder / hidden).write_bytes((folder / source).read_bytes())
    (folder / ".git" / "HEAD").write_text("x")
    assert read(folder) == before


def test_pairs_in_any_spelling(folder: Path) -> None:
    assert [each.name for each in read(folder, "eng-ces").test_sets] == ["en-cs_CZ"]
    assert [each.name for each in read(folder, "eng_Latn---zho_Hans").test_sets] == ["en-zh_CN"]
    with pytest.raises(BadText, match=r"there is no pair en-de\. There are: en-cs_CZ, en-zh_CN"):
        read(folder, "en-de")


def test_a_zip_is_its_folder(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "wmt25.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.rglob("*.jsonl"):
            archive.write(file, file.relative_to(tmp_path))
    with unpacked_paths([str(path)], DEFAULT_LIMITS) as places:
        assert has_campaign(places[0])
        unpacked = read_test_sets(places)
        assert not list(tmp_path.glob("steelyard-*"))
    assert unpacked == read(folder)
    with (
        pytest.raises(BadText, match=r"wmt25\.zip: there is no pair"),
        unpacked_paths([str(path)], DEFAULT_LIMITS) as places,
    ):
        read_test_sets(places, pairs=["en-de"])
    path.write_bytes(path.read_bytes()[:-40] + b"x" * 40)
    with unpacked_paths([str(path)], DEFAULT_LIMITS) as places:
        assert places == [path], "no zip: left to the readers of files"


def test_blank_lines_part_nothing_in_documents_of_wmt26(tmp_path: Path) -> None:
    doc_id = "WMT26_###_speech_###_eng_Latn_###_ces_Latn_###_id_x_1.5-2.5"
    row = document(doc_id, "One\n\ntwo", None) | {"refs": {"refA": "Jedna\n\ndvě", "refPE": "Jedna\n\ndva"}}
    lines(tmp_path / "test.jsonl", [row])
    lines(tmp_path / "GPT 5.5.jsonl", [output(doc_id, "Jeden\n\ndva")])
    (only,) = read(tmp_path).test_sets
    assert (only.name, list(only.references), list(only.systems)) == (
        "eng_Latn-ces_Latn",
        ["refA", "refPE"],
        ["GPT 5.5"],
    )
    assert (only.source.lines(), only.documents[0].domain) == ([b"One two"], "speech")


def test_segments_of_wmt24pp_are_test_sets_alone(tmp_path: Path) -> None:
    row = {"lp": "en-sr_RS", "document_id": "d", "is_bad_source": False, "target": "Edited", "original_target": "First"}
    rows = [
        {**row, "domain": "canary", "segment_id": 0, "source": "CANARY"},
        {**row, "domain": "news", "segment_id": 1, "source": "One"},
        {**row, "domain": "news", "segment_id": 2, "source": "bad", "is_bad_source": True},
        {**row, "domain": "news", "segment_id": 3, "source": "Two"},
    ]
    path = tmp_path / "en-sr_RS.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in rows).encode()))
    campaign = read(tmp_path, without_systems=True)
    (only,) = campaign.test_sets
    assert (only.source.lines(), list(only.references)) == ([b"One", b"Two"], ["original", "postedit"])
    assert "1 segment with a bad source left out" in campaign.notices[0]
    with pytest.raises(BadText, match="it has no outputs"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("system", "rows", "what"),
    [
        ("raft", [output("en-cs_CZ" + NEWS, "x")], "en-cs_CZ: raft lacks 1 document: en-cs_CZ_#_social_#_deck_2"),
        ("raft", [output("en-zh_CN" + NEWS, "x")] * 2, "raft.jsonl, line 2: the document .* is there twice"),
        ("raft", [output("en-zh_CN_#_news_#_else", "x")], "documents that no test file has: en-zh_CN_#_news_#_else"),
        ("raft", [{"doc_id": "en-zh_CN" + NEWS, "hypothesis": None}], "line 1: has no text under 'hypothesis'"),
        ("raft", [output("en-zh_CN" + NEWS, "\ud800")], "line 1: holds half a character"),
        ("ra\tft", [output("en-zh_CN" + NEWS, "x")], "not usable as the name of a system"),
    ],
)
def test_what_does_not_fit_is_named(folder: Path, system: str, rows: list[dict[str, Any]], what: str) -> None:
    (folder / "data" / "systems" / "raft.jsonl").unlink()
    lines(folder / "data" / "systems" / f"{system}.jsonl", rows)
    with pytest.raises(BadText, match=what):
        read(folder)


def test_outputs_may_stand_in_the_test_file_too(folder: Path) -> None:
    test = folder / "data" / "wmt25-genmt.jsonl"
    rows = [json.loads(line) for line in test.read_text().splitlines()]
    rows[2]["tgt_text"] = {"Tug-4.1": "壹", "raft": None, "keel": "一", "refA": "一"}
    lines(test, rows)
    (_, chinese) = read(folder).test_sets
    assert {name: text.lines() for name, text in chinese.systems.items()} == {
        "Tug-4.1": ["壹".encode()],
        "keel": ["一".encode()],
    }
    rows[2]["tgt_text"]["Tug-4.1"] = "二"
    lines(test, rows)
    with pytest.raises(BadText, match=r"Tug-4\.1\.jsonl, line 3: the document .* is there twice"):
        read(folder)
    rows[2]["tgt_text"] = {"tug-4.1": "x"}
    rows[2]["refs"] = {"ref/A": "一"}
    lines(test, rows)
    with pytest.raises(BadText) as raised:
        read(folder)
    assert "en-zh_CN: Tug-4.1, tug-4.1: too similar names" in str(raised.value)
    assert "en-zh_CN: ref/A: not usable as the name of a reference" in str(raised.value)


def test_files_given_one_by_one(folder: Path) -> None:
    test, systems = folder / "data" / "wmt25-genmt.jsonl", folder / "data" / "systems"
    (folder / "odd.jsonl").write_text('{"other": 1}\n')
    files = [systems / "raft.jsonl", test, systems / "Tug-4.1.jsonl", folder / "odd.jsonl"]
    campaign = read_test_sets(files)
    assert [(each.name, list(each.systems)) for each in campaign.test_sets] == [
        ("en-cs_CZ", ["Tug-4.1", "raft"]), ("en-zh_CN", ["Tug-4.1"]),
    ]  # fmt: skip
    assert any("not used" in each and "odd.jsonl" in each for each in campaign.notices)
    (only,) = read_test_sets([test, systems / "raft.jsonl"], name="mine", pairs=["eng-ces"]).test_sets
    assert list(only.systems) == ["raft"]


def test_ids_of_documents_may_be_whole_numbers(tmp_path: Path) -> None:
    pair = {"src_lang": "en", "tgt_lang": "cs"}
    rows = [{**document("", "One", "Jedna", **pair), "doc_id": 7}, document("x", "Two", "Dvě", **pair)]
    lines(tmp_path / "test.jsonl", rows)
    lines(tmp_path / "tug.jsonl", [output("x", "Dve"), {"doc_id": 7, "hypothesis": "Jeden"}])
    (only,) = read(tmp_path).test_sets
    assert only.documents is not None
    assert [each.doc_id for each in only.documents] == ["7", "x"]
    assert only.systems["tug"].lines() == [b"Jeden", b"Dve"]
    lines(tmp_path / "tug.jsonl", [output("x", "Dve"), output("7", "Jeden")])
    assert read(tmp_path).test_sets[0].systems["tug"].lines() == [b"Jeden", b"Dve"]
    for other in (True, 7.5, None, ["7"]):
        rows[0]["doc_id"] = other
        lines(tmp_path / "test.jsonl", rows)
        with pytest.raises(BadText, match="line 1: has no text under 'doc_id'"):
            read(tmp_path)


def test_one_pair_in_two_spellings_is_one_test_set(tmp_path: Path) -> None:
    ids = ["en-cs" + NEWS, "eng-ces" + TALK, "en-de" + NEWS]
    lines(tmp_path / "test.jsonl", [document(each, "One", "Jedna") for each in ids])
    lines(tmp_path / "tug.jsonl", [output(each, each) for each in ids])
    czech, german = read(tmp_path).test_sets
    assert (czech.name, czech.segments, german.name, german.segments) == ("en-cs", 2, "en-de", 1)
    assert czech.systems["tug"].lines() == [each.encode() for each in ids[:2]]
    # What says more may be another pair.
    lines(tmp_path / "test.jsonl", [document(each, "One", "Jedna") for each in [*ids, "en-cs_CZ" + TALK]])
    with pytest.raises(BadText, match=r"test\.jsonl, line 4: the pair en-cs_CZ may be en-cs, which is there, too"):
        read(tmp_path)
    lines(tmp_path / "test.jsonl", [document(f"{each}{NEWS}", "One", "Um") for each in ("en-pt_BR", "en-pt_PT")])
    lines(tmp_path / "tug.jsonl", [output(f"{each}{NEWS}", "Um") for each in ("en-pt_BR", "en-pt_PT")])
    assert [each.name for each in read(tmp_path).test_sets] == ["en-pt_BR", "en-pt_PT"]


def test_a_broken_test_file_is_named(folder: Path) -> None:
    test = folder / "data" / "wmt25-genmt.jsonl"
    whole = test.read_text()
    for broken, what in (
        (whole + "{", "line 5: is not a JSON object"),
        (whole + "[]\n", "line 5: is not a JSON object"),
        (whole + whole.split("\n")[0], "line 5: the document .* is there twice"),
        (whole + '{"doc_id": "x", "src_text": "y"}', "line 5: has no text under 'src_lang'"),
        (whole + '{"doc_id": "x", "src_text": "y", "src_lang": "?", "tgt_lang": "cs"}', "is no language pair"),
        (whole.replace('{"ref": "\\u4e00"}', "7"), "line 3: has no text under 'refA'"),
    ):
        test.write_text(broken)
        with pytest.raises(BadText, match=what):
            read(folder)


def test_xml_of_several_pairs_is_a_test_set_for_each(tmp_path: Path) -> None:
    for language, word in (("cs", "Jedna"), ("de", "Eins")):
        (tmp_path / f"wmttest2024.en-{language}.all.xml").write_text(
            f'<dataset id="wmttest2024"><doc origlang="en" id="d"><src lang="en"><p><seg id="1">One</seg></p></src>'
            f'<ref lang="{language}" translator="A"><p><seg id="1">{word}</seg></p></ref>'
            f'<hyp system="tug" language="{language}"><p><seg id="1">{word}</seg></p></hyp></doc></dataset>'
        )
    campaign = read(tmp_path)
    assert [(each.name, each.references["A"].lines()) for each in campaign.test_sets] == [
        ("en-cs", [b"Jedna"]),
        ("en-de", [b"Eins"]),
    ]
    assert [each.name for each in read(tmp_path, "eng-deu").test_sets] == ["en-de"]


def test_one_name_in_two_domains_the_general_collection_and_a_document_with_fewer_references(tmp_path: Path) -> None:
    """Two documents stay two, `general` is no test suite, and a reference that lacks a document cuts none."""
    names = ["_#_news_#_quay", "_#_social_#_quay", "_#_news_#_pier"]
    both = {"refA": {"ref": "Jedna\n\ndvě"}, "refB": {"ref": "Jeden\n\ndva"}}
    rows = [
        {
            **document("en-cs_CZ" + name, "One\n\ntwo", None, collection_id="general"),
            "refs": dict(list(both.items())[:n]),
        }
        for name, n in zip(names, (2, 1, 2), strict=True)
    ]
    lines(tmp_path / "wmt25-genmt.jsonl", rows)
    lines(tmp_path / "systems" / "tug.jsonl", [output(row["doc_id"], "Jedno\n\ndvě") for row in rows])
    (found,) = read(tmp_path).test_sets
    assert [(each.doc_id, each.domain) for each in found.documents] == [
        (name, domain)
        for name, domain in (("quay", "news"), ("social.quay", "social"), ("pier", "news"))
        for _ in range(2)
    ]
    assert found.references["refB"].lines() == [b"Jeden", b"dva", b"", b"", b"Jeden", b"dva"]
    assert found.variable_references


def test_a_document_that_nobody_translated_is_left_out_and_said(tmp_path: Path) -> None:
    """With it, a system would be scored against nothing, and one that lacks it would be refused."""
    bare, empty = "en-cs_CZ_#_news_#_bare", "en-cs_CZ_#_news_#_empty"
    lines(
        tmp_path / "test.jsonl",
        [
            document("en-cs_CZ" + NEWS, "One\n\ntwo", "Jedna\n\ndvě"),
            document(bare, "Three", None),
            document(empty, "Four", ""),
        ],
    )
    rows = [output("en-cs_CZ" + NEWS, "Jedna\n\ndva"), output(empty, "čtyři")]
    lines(tmp_path / "raft.jsonl", rows)
    lines(tmp_path / "tug.jsonl", [*rows, output(bare, "tři")])
    [found] = read(tmp_path).test_sets
    assert found.source is not None
    assert found.source.lines() == [b"One", b"two", b"Four"]
    assert found.references["refA"].lines() == [b"Jedna", "dvě".encode(), b""]
    assert {name: text.segments for name, text in found.systems.items()} == {"raft": 3, "tug": 3}
    assert [each.doc_id for each in found.documents or ()] == ["quay.com.1", "quay.com.1", "empty"]
    assert "en-cs_CZ: 1 document without any reference left out." in found.notices
    assert not found.variable_references


@pytest.mark.parametrize("refs", [None, {"refA": {"ref": None}}, {"refA": None}, {"refA": {}}])
def test_a_reference_that_says_nothing_is_none(folder: Path, refs: object) -> None:
    test = folder / "data" / "wmt25-genmt.jsonl"
    rows = [json.loads(line) for line in test.read_text().splitlines()]
    lines(test, [*rows[:2], rows[2] | {"refs": refs}, rows[3]])
    campaign = read(folder)
    assert [each.name for each in campaign.test_sets] == ["en-cs_CZ"]
    assert "en-zh_CN: left out, for it has no references." in campaign.notices
    lines(test, [{**each, "refs": refs} for each in rows])
    with pytest.raises(BadText, match=r"wmt25: no language pair has references and outputs\. .*en-zh_CN: left out"):
        read(folder)


@pytest.mark.parametrize("refs", [["Jedna"], "Jedna", 7])
def test_references_that_are_no_object_are_named(folder: Path, refs: object) -> None:
    test = folder / "data" / "wmt25-genmt.jsonl"
    test.write_text(test.read_text() + json.dumps({**document("en-de" + NEWS, "x", None), "refs": refs}) + "\n")
    with pytest.raises(BadText, match=r"wmt25-genmt\.jsonl, line 5: 'refs' must be an object\.$"):
        read(folder)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"lp": "Czech\x07"}, r"line 2: Czech\\x07 is no language pair\.$"),
        ({"lp": None}, r"line 2: has no text under 'lp'\.$"),
        ({"segment_id": 1}, r"line 2: the segment 1 is there twice\.$"),
        ({"source": None}, r"line 2: has no text under 'source'\.$"),
    ],
)
def test_segments_of_wmt24pp_that_do_not_fit_are_named(tmp_path: Path, more: dict[str, Any], told: str) -> None:
    row = {"lp": "en-cs_CZ", "document_id": "d", "is_bad_source": False, "target": "E", "original_target": "F"}
    row |= {"domain": "news", "segment_id": 1, "source": "One"}
    lines(tmp_path / "en-cs_CZ.jsonl", [row, {**row, "segment_id": 2, **more}])
    with pytest.raises(BadText, match=told):
        read(tmp_path, without_systems=True)


def test_blank_lines_are_no_documents_and_count_as_lines(folder: Path) -> None:
    before = read(folder)
    test = folder / "data" / "wmt25-genmt.jsonl"
    test.write_text(test.read_text().replace("\n", "\n\n \n"))
    assert read(folder).test_sets[1:] == before.test_sets[1:]
    test.write_text(test.read_text() + "[]\n")
    with pytest.raises(BadText, match=r"line 13: is not a JSON object \(it is no object\)"):
        read(folder)
    test.write_text(test.read_text().replace("[]\n", '{"a": ' + "[" * 300_000 + "]" * 300_000 + "}\n"))
    with pytest.raises(BadText, match=r"line 13: is not a JSON object \(it is nested too deeply\)"):
        read(folder)


def test_a_first_document_longer_than_what_is_looked_at_is_known_by_its_keys(tmp_path: Path) -> None:
    long = "One ship. " * 20_000
    lines(tmp_path / "test.jsonl", [document("en-cs" + NEWS, long, "Loď.")])
    lines(tmp_path / "systems" / "tug.jsonl", [output("en-cs" + NEWS, "Loď. " * 40_000)])
    assert has_campaign(tmp_path)
    (only,) = read(tmp_path).test_sets
    assert only.source is not None
    assert (only.source.lines(), list(only.systems)) == ([long.strip().encode()], ["tug"])


def test_folders_are_searched_to_a_depth_of_three(folder: Path) -> None:
    before = read(folder)
    raft = folder / "data" / "systems" / "raft.jsonl"
    (folder / "data" / "systems" / "deep").mkdir()
    raft = raft.rename(folder / "data" / "systems" / "deep" / "raft.jsonl")
    assert read(folder).test_sets[1:] == before.test_sets[1:]
    assert list(read(folder).test_sets[0].systems) == ["Tug-4.1", "raft"]
    (folder / "data" / "systems" / "deep" / "deeper").mkdir()
    raft.rename(raft.parent / "deeper" / "raft.jsonl")
    found = read(folder)
    assert list(found.test_sets[0].systems) == ["Tug-4.1"]
    assert f"{folder}: not used: data/systems/deep/deeper/raft.jsonl." in found.notices
