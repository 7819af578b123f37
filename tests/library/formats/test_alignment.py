"""Texts of several files are lined up by the ids of documents and segments, or refused with all reasons."""

import re

import pytest

from steelyard.formats.campaign.alignment import align
from steelyard.formats.markup.mteval import read_mteval
from steelyard.text.findings import BadMarkup
from tests.library.formats.test_mteval import SOURCE, TEST, XML, read


def test_several_systems_in_one_set_are_matched_by_document_and_segment():
    aligned = align([read(SOURCE), read(XML), read(TEST)])
    assert aligned.source.lines() == [b"One ship.", b"Two ships.", b"Fish & chips"]
    assert aligned.systems["barge"].lines() == ["Loď.".encode(), b"", b"Ryba"]
    assert aligned.systems["tug"].lines() == ["Jedna loď.".encode(), "Dvě lodi.".encode(), b"Ryba & hranolky"]
    assert list(aligned.references) == ["A", "B"]
    assert aligned.references["A"].lines()[2] == b"R&B < jazz"
    assert aligned.references["B"].lines()[0] == "Jedna loď.".encode()
    assert [tuple(entry) for entry in aligned.documents] == [("quay", "news", "")] * 2 + [("pier", "social", "")]
    assert aligned.notices == ()


def test_files_that_do_not_belong_together_are_refused_with_all_reasons():
    other = XML.replace('setid="harbour"', 'setid="port"').replace('trglang="cs"', 'trglang="de"')
    with pytest.raises(BadMarkup) as raised:
        align(
            [
                read_mteval(SOURCE.encode(), name="src.sgm"),
                read_mteval(TEST.encode(), name="tst.sgm"),
                read_mteval(other.replace('docid="pier"', 'docid="jetty"').encode(), name="ref.xml"),
            ]
        )
    message = str(raised.value)
    assert "  - ref.xml: has the set id 'port', but src.sgm has 'harbour'" in message
    assert "  - ref.xml: has the target language 'de', but tst.sgm has 'Czech'" in message
    assert "  - ref.xml: reference 'A' lacks 1 document of the source: 'pier'" in message
    assert "  - ref.xml, line 7: reference 'B' has 1 document that the source lacks: 'jetty'" in message


def test_other_order_is_matched_by_ids_and_said():
    in_order = '<seg id="1"> Jedna loď. </seg>\n<seg id="2"> Dvě lodi. </seg>'
    file = read(TEST.replace(in_order, '<seg id="2">B</seg><seg id="1">A</seg>'))
    aligned = align([read(SOURCE), file])
    assert aligned.systems["tug"].lines()[:2] == [b"A", b"B"]
    assert aligned.notices == (
        "F, line 3: system 'tug', document 'quay': the segments are in another order than in the source, from '2' on; "
        "matched by their ids.",
    )
    assert file.comparison == (
        "F, line 6: system 'barge', document 'quay': the segments are in another order than in system 'tug', from '1' "
        "on; matched by their ids.",
    )


def test_missing_and_surplus_segments_are_said():
    in_order = '<seg id="1"> Jedna loď. </seg>\n<seg id="2"> Dvě lodi. </seg>'
    odd = TEST.replace(in_order, '<seg id="9">X</seg>\n<seg id="2">B</seg>')
    with pytest.raises(BadMarkup) as raised:
        read(odd)
    told = str(raised.value)
    barge = "system 'barge', document 'quay': 1 segment"
    assert f"F, line 6: {barge} of system 'tug' missing: '9' (the first is in F, line 3)" in told
    assert f"F, line 7: {barge} that system 'tug' lacks: '1'" in told
    with pytest.raises(BadMarkup, match="1 segment of system 'tug' missing: '2'"):
        read(TEST.replace('<seg id="2"> </seg>\n', ""))
    with pytest.raises(BadMarkup, match="system 'tug', document 'quay': 1 segment of system 'barge' missing: '3'"):
        read(TEST.replace('<seg id="2"> </seg>\n', '<seg id="2"> </seg>\n<seg id="3"> </seg>\n'))


def test_documents_in_another_order_are_matched_by_ids_and_said():
    parts = re.search(r"(<srcset.*?>\n)(<DOC.*?</DOC>\n)(<DOC.*</DOC>\n)(.*)", SOURCE, re.DOTALL).groups()
    aligned = align([read(parts[0] + parts[2] + parts[1] + parts[3]), read(TEST)])
    assert [tuple(entry) for entry in aligned.documents] == [("pier", "social", "")] + [("quay", "news", "")] * 2
    assert aligned.systems["barge"].lines() == [b"Ryba", "Loď.".encode(), b""]
    assert aligned.notices == (
        "F, line 2: system 'tug' has the documents in another order than the source, from 'quay' on; "
        "matched by their ids.",
        "F, line 6: system 'barge' has the documents in another order than the source, from 'quay' on; "
        "matched by their ids.",
    )


def test_one_text_in_two_files_is_a_defect():
    with pytest.raises(BadMarkup, match=r"b, line 2: system 'tug': document 'quay' was already given in a, line 2"):
        align([read_mteval(TEST.encode(), name="a"), read_mteval(TEST.encode(), name="b")])


def test_an_unknown_language_is_left_out_and_said():
    assert align([read(SOURCE), read(TEST)]).target_language == "cs"
    aligned = align([read(SOURCE), read(TEST.replace("Czech", "Old Norse"))])
    assert aligned.target_language is None
    assert any("the language 'Old Norse' is not known" in notice for notice in aligned.notices)


def test_a_campaign_needs_references_and_systems():
    with pytest.raises(BadMarkup, match="no references"):
        align([read(SOURCE), read(TEST)]).campaign()


@pytest.mark.parametrize(("one", "other"), [("Czech", "cs"), ("en", "English"), ("a", "b")])
def test_sets_are_never_the_same_because_their_ids_name_one_language(one, other):
    with pytest.raises(BadMarkup, match=f"has the set id '{other}', but F has '{one}'"):
        align([read(each.replace('"harbour"', f'"{name}"')) for each, name in ((SOURCE, one), (XML, other))])
