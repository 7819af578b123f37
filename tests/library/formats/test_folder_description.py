"""What describes a campaign's folder: meta.json and docs.tsv, and every way in which they can be wrong."""

import pytest

from steelyard.formats.campaign.description import BadCampaignFile
from steelyard.formats.campaign.folder import read_campaign
from steelyard.formats.input.windows import NotUtf8
from tests.library.formats.campaign_folders import DOCS, refusal, small_campaign, write


@pytest.fixture
def folder(tmp_path):
    return small_campaign(tmp_path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{\n "name": }', "meta.json, line 2, character 10: not JSON (Expecting value). Correct it."),
        ("[" * 100_000, "meta.json: not usable as JSON ("),
        ('{"segments": ' + "1" * 5000 + "}", "meta.json: not usable as JSON ("),
        ('["a"]', "meta.json: must be a JSON object"),
        ('{"name": "a", "name": "b"}', "meta.json: given twice: name. Remove one of them."),
        ('{"name": 7}', "meta.json: 'name' must be a text, not 7. Correct it."),
        ('{"segments": true}', "meta.json: 'segments' must be a whole number, not true."),
        ('{"variable_references": "yes"}', "'variable_references' must be true or false, not \"yes\"."),
        (
            '{"source_language": "Czech!"}',
            '\'source_language\' must be a language code like "cs", not "Czech!".',
        ),
        ('{"references": [1]}', "'references' must be a list of names."),
    ],
)
def test_an_unusable_meta_file(folder, content, complaint):
    write(folder / "meta.json", content)
    message = refusal(folder, BadCampaignFile)
    assert message.startswith(f"{folder}/meta.json")
    assert complaint in message


def test_meta_in_broken_utf8_is_named_with_its_line(folder):
    write(folder / "meta.json", b'{\n"name": "\xe9"}')
    assert refusal(folder, NotUtf8).startswith(f"{folder}/meta.json, line 2, byte 10: not UTF-8")


def test_meta_must_agree_with_the_files(folder):
    write(folder / "meta.json", '{"segments": 4, "references": ["A", "C"], "systems": ["barge", "raft"]}')
    message = refusal(folder)
    assert "meta.json says 4 segments, the files have 3 lines. Complete the files" in message
    assert "meta.json names 1 reference without a file: C. Add the files, or correct meta.json." in message
    write(folder / "meta.json", '{"references": ["A"], "systems": ["barge", "raft"]}')
    assert read_campaign(folder).notices == (
        f"{folder}: 1 reference not named in meta.json, but used: B.",
        f"{folder}: meta.json names 1 system without a file: raft.",
        f"{folder}: 1 system not named in meta.json, but used: tug.",
    )


def test_a_pair_that_the_folder_is_not_for(folder):
    said = read_campaign(folder, pair="ces-en_GB")
    assert (said.source_language, said.target_language) == ("ces", "en_GB")
    write(folder / "meta.json", '{"target_language": "en"}')
    assert "nothing-en. Name source_language and target_language there" in refusal(folder, pair="cs-en")
    write(folder / "meta.json", '{"source_language": "de", "target_language": "en"}')
    assert "is not known to be for the language pair cs-en" in refusal(folder, pair="cs-en")
    assert read_campaign(folder, pair="de-en").source_language == "de"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("", "docs.tsv, line 1: needs the column 'segment' once. Begin with a line that names the columns"),
        ("0\tone\n", "docs.tsv, line 1: needs the column 'segment' once."),
        ("segment\tdomain\n", "docs.tsv, line 1: needs the column 'doc_id' once."),
        (DOCS.replace("0\tone\t1\t", "0 one 1 "), "docs.tsv, line 2: 1 column, the first line names 4."),
        (DOCS.replace("1\tone\t2", "1.5\tone\t2"), "docs.tsv, line 3: segment '1.5' is not a whole number."),
        (DOCS.replace("1\tone\t2", "-1\tone\t2"), "docs.tsv, line 3: segment '-1' is not a whole number."),
        (DOCS.replace("1\tone\t2", "1\t\t2"), "docs.tsv, line 3: no doc_id. Name the document of segment 1."),
        (DOCS.replace("1\tone\t2", "0\tone\t2"), "line 3: segment 0 was already given in line 2. Remove one"),
        (
            DOCS.replace("2\tnews", "2\ttravel"),
            "line 3: document 'one' has domain 'travel', but 'news' in line 2",
        ),
        (
            "segment\tdoc_id\ttest_suite\n0\tone\tidioms\n1\tone\t\n2\tone\t\n",
            "line 3: document 'one' has test suite '', but 'idioms' in line 2. A document has one test suite.",
        ),
        (
            DOCS + "3\ttwo\t1\ttravel\n4\ttwo\t1\ttravel\n",
            "segments not in the test set: 3-4. Correct the table",
        ),
        ("segment\tdoc_id\n2\tone\n", "of the 3 segments, counted from 0; segments without a line: 0-1."),
        ("segment\tdoc_id\n2\tone\n7\tone\n", "without a line: 0-1; segments not in the test set: 7."),
    ],
)
def test_an_unusable_document_table(folder, table, complaint):
    write(folder / "docs.tsv", table)
    message = refusal(folder, BadCampaignFile)
    assert message.startswith(f"{folder}/docs.tsv")
    assert complaint in message


def test_a_document_table_is_read_by_column_names_and_in_any_order(folder):
    write(folder / "docs.tsv", "doc_id\tsegment\ntwo\t2\none\t0\ntwo\t1\n")
    assert read_campaign(folder).documents == (("one", "", ""), ("two", "", ""), ("two", "", ""))


def test_a_document_table_may_name_segments(folder):
    """Each once in its document, as files with ids do; in the order of the segments, not of the lines."""
    write(folder / "docs.tsv", "segment\tdoc_id\tsegment_id\n2\ttwo\t1\n0\tone\t2\n1\tone\t1\n")
    assert read_campaign(folder).segment_ids == ("2", "1", "1")
    for lines, complaint in (
        ("0\tone\t1\n1\tone\t1\n2\ttwo\t1\n", "line 3: document 'one' has a segment '1' already, in line 2."),
        ("0\tone\t1\n1\tone\t\n2\ttwo\t1\n", "line 3: no segment_id. Name all segments, or remove the column."),
    ):
        write(folder / "docs.tsv", f"segment\tdoc_id\tsegment_id\n{lines}")
        assert complaint in refusal(folder, BadCampaignFile)


def test_a_document_table_may_name_test_suites(folder):
    write(folder / "docs.tsv", "segment\ttest_suite\tdoc_id\n0\t\tone\n1\tidioms\ttwo\n2\tidioms\ttwo\n")
    expected = (("one", "", ""), ("two", "", "idioms"), ("two", "", "idioms"))
    assert read_campaign(folder).documents == expected


def test_documents_in_pieces_are_noticed(folder):
    write(folder / "docs.tsv", "segment\tdoc_id\n0\tone\n1\ttwo\n2\tone\n")
    assert read_campaign(folder).notices == (
        f"{folder}/docs.tsv: not in one piece: 1 document ('one' again in segment 2). Segments with one name are one "
        "document, wherever they are.",
    )
