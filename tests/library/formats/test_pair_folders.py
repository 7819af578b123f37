"""Campaigns of many language pairs in one folder."""

import gzip
import json
from pathlib import Path

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.campaigns import read_any_campaign, read_test_sets
from steelyard.formats.campaign.description import SegmentDocument
from steelyard.formats.campaign.pair_folders import read_docs, without_canary
from steelyard.formats.plain import DifferentLengths, Text, read_lines
from tests.library.formats.campaign_folders import small_campaign, write

CANARY = "CANARY GUID 26b5c67b\n"


@pytest.fixture
def folder(tmp_path):
    """Three pairs as WMT24 and mt-metrics-eval lay them out; systems differ from pair to pair."""
    root = tmp_path / "wmt"
    for pair, systems in (("en-cs", ("GPT-4.1", "tug")), ("en-sr_Cyrl_RS", ("tug",)), ("en-sr_Latn_RS", ("barge",))):
        write(root / "sources" / f"{pair}.txt", "a\nb\n\n")
        write(root / "references" / f"{pair}.refA.txt", f"{pair}\nB\nC\n")
        write(root / "documents" / f"{pair}.docs", "news\tone\nnews\tone\nspeech\ttwo\n")
        for system in systems:
            write(root / "system-outputs" / pair / f"{system}.txt", f"{system}\nB\n\n")
    write(root / "references" / "en-cs.refB.txt", "x\ny\nz\n")
    write(root / "README.md", "read me")
    return root


def refused(paths, kind=BadText, **more):
    with pytest.raises(kind) as raised:
        read_test_sets(paths, **more)
    return str(raised.value)


def test_all_pairs_are_read(folder):
    campaign = read_test_sets([folder])
    assert campaign.name == "wmt"
    assert [each.name for each in campaign.test_sets] == ["en-cs", "en-sr_Cyrl_RS", "en-sr_Latn_RS"]
    first, second, _ = campaign.test_sets
    assert list(first.references) == ["refA", "refB"]
    assert list(first.systems) == ["GPT-4.1", "tug"]
    assert first.systems["GPT-4.1"].lines() == [b"GPT-4.1", b"B", b""]
    assert first.documents == (*[SegmentDocument("one", "news")] * 2, SegmentDocument("two", "speech"))
    assert [(each.source_language, each.target_language) for each in campaign.test_sets] == [
        ("en", "cs"),
        ("en", "sr_Cyrl_RS"),
        ("en", "sr_Latn_RS"),
    ]
    assert second.references["refA"].lines() == [b"en-sr_Cyrl_RS", b"B", b"C"]
    assert not [notice for notice in campaign.notices if "not used" in notice]


def test_what_is_said_to_be_unused_is_what_nobody_expects_there(folder):
    """A README and a manifest are beside every campaign; somebody may count on a table that nobody reads."""
    for name in ("LICENSE", "notes.md", "MANIFEST.txt", "expected_scores.json"):
        write(folder / name, "x")
    assert not [notice for notice in read_test_sets([folder]).notices if "not used" in notice]
    for name in ("scores.tsv", "documents/en-cs.txt", "docs/en-cs.docs"):
        write(folder / name, "x")
    (said,) = [notice for notice in read_test_sets([folder]).notices if "not used" in notice]
    assert said.endswith("not used: documents/en-cs.txt, docs, scores.tsv.")


def test_what_is_hidden_is_neither_read_nor_said_to_be_unused(folder):
    before = read_test_sets([folder])
    write(folder / "system-outputs" / "en-cs" / ".tug.txt", "a\nb\nc\n")
    write(folder / ".snapshots" / "x.txt", "a\n")
    assert read_test_sets([folder]) == before


def test_pairs_in_any_spelling(folder):
    chosen = read_test_sets([folder], pairs=["eng_Latn---srp_Latn", "eng-ces"], name="mine")
    assert (chosen.name, [each.name for each in chosen.test_sets]) == ("mine", ["en-sr_Latn_RS", "en-cs"])
    one = read_test_sets([folder], pairs=["en-cs_CZ"])
    assert (one.name, [each.name for each in one.test_sets]) == ("wmt", ["en-cs"])
    assert read_any_campaign([folder], pair="en-cs").systems.keys() == {"GPT-4.1", "tug"}
    assert "may be en-sr_Cyrl_RS, en-sr_Latn_RS" in refused([folder], pairs=["en-sr"])
    assert "there is no pair en-de" in refused([folder], pairs=["en-de"])


def test_files_that_spell_a_pair_in_other_ways_than_the_source(folder):
    (folder / "references" / "en-cs.refB.txt").rename(folder / "references" / "en-cs_CZ.refB.txt")
    (folder / "references" / "en-cs.refA.txt").rename(folder / "references" / "en-cs_CZ.refA.txt")
    (folder / "system-outputs" / "en-cs").rename(folder / "system-outputs" / "eng-ces")
    (folder / "documents" / "en-cs.docs").rename(folder / "documents" / "eng_Latn---ces_Latn.docs")
    first, *others = read_test_sets([folder]).test_sets
    assert (first.name, list(first.references), list(first.systems)) == ("en-cs", ["refA", "refB"], ["GPT-4.1", "tug"])
    assert (first.target_language, first.documents[2].doc_id, len(others)) == ("cs", "two", 2)
    # What stands side by side is two pairs.
    for place, name in (("references", ".refA.txt"), ("system-outputs", "/tug.txt")):
        write(folder / place / f"en-sr_Latn{name}", "a\nb\nc\n")
    assert [each.name for each in read_test_sets([folder]).test_sets][1:] == [
        *("en-sr_Cyrl_RS", "en-sr_Latn", "en-sr_Latn_RS"),
    ]
    write(folder / "documents" / "en-sr.docs", "news\tone\n" * 3)
    assert "may be en-sr_Cyrl_RS, en-sr_Latn_RS" in refused([folder])


def test_test_suites_of_wmt24_are_left_out_unless_they_are_asked_for(folder):
    write(folder / "documents" / "en-cs.docs", "news\tone\nNone\tsuite7\nspeech\ttwo\n")
    first = read_test_sets([folder]).test_sets[0]
    assert [text.lines() for text in (first.source, first.references["refA"], first.systems["tug"])] == [
        [b"a", b""], [b"en-cs", b"C"], [b"tug", b""],
    ]  # fmt: skip
    assert first.documents == (SegmentDocument("one", "news"), SegmentDocument("two", "speech"))
    assert "en-cs: 1 document of test suites left out." in first.notices
    whole = read_test_sets([folder], test_suites=True).test_sets[0]
    assert (whole.segments, whole.documents[1]) == (3, SegmentDocument("suite7", "", "suite7"))


def test_a_document_that_comes_back_is_one_document_and_said(folder):
    docs = folder / "documents" / "en-cs.docs"
    for canary in (0, 1):
        lines = ["canary\tcanary"] * canary + ["news\tone", "speech\ttwo", "news\tone", "speech\ttwo", "news\tthree"]
        docs.write_text("\n".join(lines) + "\n")
        documents, notices = read_docs(read_lines(docs), 5)
        assert [each.doc_id for each in documents] == ["one", "two", "one", "two", "three"]
        assert notices == (
            f"{docs}: not in one piece: 2 documents ('one' again in line {3 + canary}, 'two' again in line "
            f"{4 + canary}). Segments with one name are one document, wherever they are.",
        )
    docs.write_text("news\tone\nspeech\ttwo\nnews\tone\n")
    first = read_test_sets([folder]).test_sets[0]
    assert [each for each in first.notices if "not in one piece" in each] == [
        f"{docs}: not in one piece: 1 document ('one' again in line 3). Segments with one name are one document, "
        "wherever they are."
    ]


def test_two_names_for_one_source(folder):
    for place in ("sources", "references", "documents"):
        for file in (folder / place).glob("en-sr*"):
            file.unlink()
    write(folder / "sources" / "en-sr.txt", "a\nb\n\n")
    assert "en-sr_Cyrl_RS, en-sr_Latn_RS may each be en-sr" in refused([folder])


def test_sources_and_references_are_enough_for_a_test_set(tmp_path):
    for place, name in (("sources", ""), ("references", ".refA")):
        write(tmp_path / "wmt" / place / f"en-cs{name}.txt", "a\nb\n")
    (only,) = read_test_sets([tmp_path / "wmt"], without_systems=True).test_sets
    assert (only.name, only.segments, list(only.references)) == ("en-cs", 2, ["refA"])


def test_canary_lines_are_left_out(folder):
    for path in folder.rglob("*.txt"):
        if path.stem.startswith("en-cs") or path.parent.name == "en-cs":
            path.write_text(CANARY + path.read_text())
    docs = folder / "documents" / "en-cs.docs"
    docs.write_text("canary\tcanary\n" + docs.read_text())
    first, *_ = read_test_sets([folder]).test_sets
    assert first.references["refA"].lines() == [b"en-cs", b"B", b"C"]
    assert (first.segments, len(first.documents)) == (3, 3)
    assert "The first line of 5 files, a canary, is left out." in first.notices
    write(folder / "references" / "en-cs.refB.txt", "x\ny\nz\n1\n")
    assert "does not begin with the canary line that the other files have" in refused([folder])


def test_json_lines_and_packed_texts(folder):
    (folder / "references" / "en-cs.refB.txt").unlink()
    lines = [{"target": "x\n\ny"}, {"target": ""}, {"target": "z"}]
    write(folder / "references" / "en-cs.refB.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    (folder / "system-outputs" / "en-cs" / "tug.txt").unlink()
    outputs = "".join(json.dumps({"hypothesis": text}) + "\n" for text in "abc")
    write(folder / "system-outputs" / "en-cs" / "tug.jsonl.gz", gzip.compress(outputs.encode()))
    write(folder / "sources" / "en-cs.jsonl", '{"source": "other"}\n')
    first, *_ = read_test_sets([folder]).test_sets
    assert first.references["refB"].lines() == [b"x y", b"", b"z"]
    assert first.systems["tug"].lines() == [b"a", b"b", b"c"]
    assert first.source.lines() == [b"a", b"b", b""], "the plain text comes first"
    write(folder / "references" / "en-cs.refB.jsonl", '{"target": "x"}\n{"target": 5}\n{}\n')
    assert "en-cs.refB.jsonl, line 2: has no text under target or reference" in refused([folder])


def test_references_that_are_scored_as_systems_elsewhere(folder):
    write(folder / "system-outputs" / "en-cs" / "refA.txt", "en-cs\nB\nC\n")
    campaign = read_test_sets([folder])
    assert list(campaign.test_sets[0].systems) == ["GPT-4.1", "tug"]
    assert any("system-outputs/en-cs/refA, which are references" in notice for notice in campaign.notices)


@pytest.mark.parametrize(
    ("name", "content", "says", "kind"),
    [
        ("documents/en-cs.docs", "news\tone\n", "names the documents of 1 segment, and there are 3", BadText),
        ("documents/en-cs.docs", "news\tone\nx\none two three\n", "en-cs.docs, line 2: must be a domain", BadText),
        ("documents/en-cs.docs", "news\tone\ntalk\tone\nnews\ttwo\n", "'one' has domain 'talk', but 'news'", BadText),
        ("system-outputs/en-cs/tug.txt", "a\nb\n", "2 lines, 1 fewer", DifferentLengths),
        ("system-outputs/en-cs/tug.txt", b"a\n\xff\nc\n", "tug.txt, line 2", BadText),
        ("system-outputs/en-cs/Tug.txt", "a\nb\nc\n", "too similar names", BadText),
    ],
)
def test_what_does_not_fit_is_named(folder, name, content, says, kind):
    write(folder / name, content)
    assert says in refused([folder], kind)


def test_a_pair_without_references_or_systems_is_named(folder):
    (folder / "references" / "en-sr_Latn_RS.refA.txt").unlink()
    assert "no references" in refused([folder])
    assert len(read_test_sets([folder], pairs=["en-cs", "en-sr_Cyrl"]).test_sets) == 2


def test_folders_in_a_folder(tmp_path, folder):
    small_campaign(tmp_path)
    write(tmp_path / "harbour" / "meta.json", '{"source_language": "cs", "target_language": "de"}')
    campaign = read_test_sets([tmp_path])
    assert [each.name for each in campaign.test_sets] == [
        "harbour",
        "wmt.en-cs",
        "wmt.en-sr_Cyrl_RS",
        "wmt.en-sr_Latn_RS",
    ]
    assert [each.name for each in read_test_sets([tmp_path], pairs=["cs-de", "wmt.en-cs"]).test_sets] == [
        "harbour",
        "wmt.en-cs",
    ]


def test_several_test_sets_whose_names_say_it(tmp_path):
    for test_set in ("newstest2021.en-cs", "generaltest2022.de-en", "generaltest2022.en-cs"):
        write(tmp_path / f"{test_set}.ref.A.{test_set[-2:]}", f"{test_set}\n")
        write(tmp_path / f"{test_set}.hyp.X.{test_set[-2:]}", "x\n")
    every = ["generaltest2022.de-en", "generaltest2022.en-cs", "newstest2021.en-cs"]
    assert [each.name for each in read_test_sets([tmp_path]).test_sets] == every
    assert [each.name for each in read_test_sets([tmp_path], pairs=["en-cs"]).test_sets] == every[1:]


def test_wmt24(real_data):
    campaign = read_test_sets([real_data / "wmt24"])
    assert [(each.name, each.segments, len(each.systems)) for each in campaign.test_sets] == [
        ("en-cs", 997, 16),
        ("en-zh", 997, 12),
    ]
    assert {document.domain for document in campaign.test_sets[0].documents} == {"literary", "news", "social", "speech"}
    unused = "not used: human (people's judgments, which `steelyard campaign import` takes)"
    assert unused in " ".join(campaign.notices)


def test_the_whole_pack(real_data):
    names = [each.name for each in read_test_sets([real_data]).test_sets]
    assert names == ["wmt21.en-cs", "wmt22.de-en", "wmt22.en-cs", "wmt24.en-cs", "wmt24.en-zh"]


def test_how_files_spell_a_pair_otherwise_is_kept(folder):
    (folder / "system-outputs" / "en-cs").rename(folder / "system-outputs" / "eng-ces")
    (folder / "references" / "en-cs.refA.txt").rename(folder / "references" / "en-cs_CZ.refA.txt")
    (folder / "references" / "en-cs.refB.txt").rename(folder / "references" / "en-cs_CZ.refB.txt")
    first, second, _ = read_test_sets([folder]).test_sets
    assert (first.name, first.spelt, second.spelt) == ("en-cs", ("en-cs_CZ", "eng-ces"), ())


def test_what_was_odd_in_a_file_with_a_canary_is_still_said() -> None:
    odd = ("en-cs.txt: starts with a byte-order mark, which was left out.",)
    text = Text("en-cs.txt", b"CANARY GUID 1\none\ntwo", 3, notices=odd)
    shorter, said = without_canary({Path("en-cs.txt"): text})
    [left] = shorter.values()
    assert (left.lines(), left.segments, left.notices) == ([b"one", b"two"], 2, odd)
    assert said == "The first line of 1 file, a canary, is left out."


@pytest.mark.parametrize(
    ("place", "field", "line", "told"),
    [
        ("references/en-cs.refB.jsonl", "target", '{"target": "z"', "line 2: is not JSON (Expecting ',' delimiter"),
        ("references/en-cs.refB.jsonl", "target", "[" * 300_000, "line 2: is not JSON ("),
        ("references/en-cs.refB.jsonl", "target", '{"target": "\\ud800"}', "line 2: holds half a character (a lone"),
        ("system-outputs/en-cs/tug.jsonl", "hypothesis", "[]", "line 2: has no text under hypothesis or translation."),
        ("system-outputs/en-cs/tug.jsonl", "hypothesis", '{"hypothesis": "\\udfff"}', "line 2: holds half a char"),
    ],
)
def test_lines_of_objects_that_are_wrong_are_named(folder, place, field, line, told):
    (folder / place.replace(".jsonl", ".txt")).unlink()
    lines = [json.dumps({field: "x"}), line, json.dumps({field: "z"})]
    write(folder / place, "".join(f"{each}\n" for each in lines))
    assert f"{folder / place}, {told}" in refused([folder])


def test_what_is_of_no_pair_or_no_place_is_said_to_be_unused(folder):
    before = read_test_sets([folder])
    write(folder / "sources" / "notes.txt", "a\nb\nc\n")
    write(folder / "system-outputs" / "old" / "tug.txt", "a\nb\nc\n")
    write(folder / "documents" / "en-cs.tsv", "news\tone\n")
    write(folder / "system-outputs" / "en-cs.txt", "a\nb\nc\n")
    campaign = read_test_sets([folder])
    assert [each.systems for each in campaign.test_sets] == [each.systems for each in before.test_sets]
    assert campaign.test_sets[0].documents == before.test_sets[0].documents
    assert {*campaign.notices} - {*before.notices} == {
        f"{folder}: not used: documents/en-cs.tsv, system-outputs/en-cs.txt, sources/notes.txt, system-outputs/old."
    }
