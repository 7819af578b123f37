"""The reader for WMT's XML: documents, translators, systems, test suites, and every defect of a file."""

from itertools import product

import pytest

from steelyard.formats.campaign.alignment import align
from steelyard.formats.detection import looks_like, read_marked_file
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.wmt_xml import read_wmt_xml
from steelyard.text.findings import BadMarkup

DATASET = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="harbour2022.en-cs">
  <collection id="general">
    <doc id="quay" origlang="en" domain="news">
      <src lang="en"><p><seg id="1">One ship.</seg></p><p><seg id="2">Two ships.</seg></p></src>
      <ref lang="cs" translator="A"><p><seg id="1">Jedna loď.</seg><seg id="2">Dvě lodi.</seg></p></ref>
      <ref lang="cs" translator="B"><p><seg id="1">Loď.</seg><seg id="2">Lodi.</seg></p></ref>
      <hyp lang="cs" system="tug"><p><seg id="1">Lod</seg><seg id="2"/></p></hyp>
      <hyp lang="cs" system="barge"><p><seg id="1">Jedna</seg><seg id="2">Dvě</seg></p></hyp>
    </doc>
    <doc id="pier" origlang="cs">
      <src lang="en"><p><seg id="1">Fish &amp; chips</seg></p></src>
      <ref lang="cs" translator="A"><p><seg id="1">Ryba</seg></p></ref>
      <hyp lang="cs" system="barge"><p><seg id="1">Ryby</seg></p></hyp>
      <hyp lang="cs" system="tug"><p><seg id="1">Rak</seg></p></hyp>
    </doc>
  </collection>
  <doc id="idioms.1" origlang="en" testsuite="idioms">
    <src lang="en"><p><seg id="1">Break a leg!</seg></p></src>
    <hyp lang="cs" system="tug"><p><seg id="1">Zlom vaz!</seg></p></hyp>
    <hyp lang="cs" system="barge"><p><seg id="1">Zlom si nohu!</seg></p></hyp>
  </doc>
</dataset>
"""


def read(text, **options):
    return read_wmt_xml(text.encode(), name="F", **options)


def refusal(text):
    with pytest.raises(BadMarkup) as raised:
        read(text)
    return str(raised.value)


def test_a_test_set_with_several_translators_and_systems():
    assert looks_like(DATASET.encode()) == "wmt-xml"
    file = read_marked_file(DATASET.encode(), name="F")
    assert [(text.role, text.name) for text in file.texts.values()] == [
        (Role.SOURCE, ""),
        (Role.REFERENCE, "A"),
        (Role.REFERENCE, "B"),
        (Role.SYSTEM, "tug"),
        (Role.SYSTEM, "barge"),
    ]
    assert (file.source_language, file.target_language, file.set_id) == ("en", "cs", "harbour2022.en-cs")
    pier = file.texts[Role.SYSTEM, "tug"].documents["pier"]
    assert (pier.original_language, pier.domain, pier.test_suite, pier.line) == ("cs", "", "", 15)
    assert file.texts[Role.SOURCE, ""].documents["idioms.1"].test_suite == "idioms"

    aligned = align([file])
    assert aligned.source.lines() == [b"One ship.", b"Two ships.", b"Fish & chips"]
    assert aligned.references["B"].lines() == ["Loď.".encode(), b"Lodi.", b""]
    assert aligned.systems["tug"].lines() == [b"Lod", b"", b"Rak"]
    assert aligned.variable_references is True
    assert [tuple(entry) for entry in aligned.documents] == [
        ("quay", "news", ""),
        ("quay", "news", ""),
        ("pier", "", ""),
    ]
    assert aligned.notices == (
        "F: reference 'B' lacks 1 document of the source: 'pier'. There the segments have fewer references.",
        "F: 1 document of test suites left out.",
    )
    campaign = aligned.campaign()
    assert (campaign.name, campaign.segments, campaign.variable_references) == ("harbour2022.en-cs", 3, True)
    assert list(campaign.systems) == ["barge", "tug"]


def test_sacrebleu_reads_the_same(tmp_path):
    sacrebleu = pytest.importorskip("sacrebleu.dataset.wmt_xml")
    path = tmp_path / "harbour.xml"
    path.write_text(DATASET, encoding="utf-8")
    theirs = sacrebleu.WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    ours = align([read_marked_file(path)])

    def lines(text):
        return [line.decode() for line in text.lines()]

    assert lines(ours.source) == theirs["src"]
    assert [entry.doc_id for entry in ours.documents] == theirs["docid"]
    assert {f"ref:{label}": lines(text) for label, text in ours.references.items()} == {
        key: value for key, value in theirs.items() if key.startswith("ref:")
    }
    assert {name: lines(text) for name, text in ours.systems.items()} == {key: theirs[key] for key in ("tug", "barge")}


def test_a_submission_and_its_test_set_in_two_files():
    lines = DATASET.splitlines(keepends=True)
    test_set = "".join(line for line in lines if "<hyp" not in line)
    submission = "".join(line for line in lines if "<ref" not in line and "barge" not in line)
    aligned = align([read(test_set), read_wmt_xml(submission.encode(), name="S")])
    assert aligned.systems["tug"].lines() == [b"Lod", b"", b"Rak"]
    assert list(aligned.references) == ["A", "B"]
    assert aligned.source.lines()[0] == b"One ship."
    other = read_wmt_xml(submission.replace("Two ships", "2 ships").encode(), name="S")
    with pytest.raises(BadMarkup) as raised:
        align([read(test_set), other])
    assert str(raised.value) == (
        "S, line 5: the source, document 'quay': not the same as in F, line 5: 1 segment ('2'). "
        "Give files of one test set."
    )


def test_what_is_not_of_the_format_is_passed_over_and_said():
    extra = '<supplemental type="x"><p><seg id="1">what</seg></p></supplemental></doc>'
    file = read(DATASET.replace("</doc>", extra, 1))
    assert file.notices == ("F, line 10: <supplemental> is not known here and was passed over.",)
    assert align([file]).source.lines() == align([read(DATASET)]).source.lines()


def test_test_suites_are_marked_when_they_are_asked_for():
    complete = DATASET.replace(
        '<hyp lang="cs" system="tug"><p><seg id="1">Zlom',
        '<ref lang="cs"><p><seg id="1">Zlom vaz.</seg></p></ref><hyp lang="cs" system="tug"><p><seg id="1">Zlom',
    )
    aligned = align([read(complete)], test_suites=True)
    assert [each.test_suite for each in aligned.documents] == ["", "", "", "idioms"]
    assert aligned.segment_ids == ("1", "2", "1", "1")
    assert aligned.references["ref"].lines() == [b"", b"", b"", b"Zlom vaz."]
    with pytest.raises(BadMarkup, match=r"document 'idioms\.1': without any reference: 1 segment"):
        align([read(DATASET)], test_suites=True)


def test_a_system_may_leave_out_a_test_suite_but_then_it_cannot_be_asked_for():
    without = DATASET.replace('    <hyp lang="cs" system="tug"><p><seg id="1">Zlom vaz!</seg></p></hyp>\n', "")
    file = read(without)
    assert "F: system 'tug' lacks 1 document of test suites." in file.comparison
    assert align([file]).segments == 3
    with pytest.raises(BadMarkup, match=r"system 'tug' lacks 1 document of the source: 'idioms\.1'"):
        align([file], test_suites=True)


def test_every_segment_needs_a_reference_when_not_all_have_all():
    empty = DATASET.replace('<seg id="1">Ryba</seg>', '<seg id="1"> </seg>')
    with pytest.raises(BadMarkup, match="F, line 12: document 'pier': without any reference: 1 segment"):
        align([read(empty)])


def test_attributes_are_read_as_texts_are():
    """With their entities, and white space as one blank."""
    named = DATASET.replace('id="quay"', 'id="Q&amp;A &#x17E;"').replace('domain="news"', "domain=' R&amp;D \n news '")
    quay = read(named).texts[Role.SYSTEM, "tug"].documents["Q&A ž"]
    assert (quay.doc_id, quay.domain) == ("Q&A ž", "R&D news")


def test_an_empty_reference_is_said_where_all_should_be_complete():
    one = "".join(line for line in DATASET.splitlines(keepends=True) if 'translator="B"' not in line)
    aligned = align([read(one.replace('<seg id="2">Dvě lodi.</seg>', '<seg id="2"></seg>'))])
    assert aligned.variable_references is False
    assert "F: reference 'A' is empty in 1 segment, scored as a translation without words." in aligned.notices


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '<seg id="1">Rak</seg>',
            "",
            "F, line 15: system 'tug', document 'pier': 1 segment of the source missing: '1' "
            "(the first is in F, line 12)",
        ),
        (
            '<seg id="2">Lodi.</seg>',
            "",
            "F, line 7: reference 'B', document 'quay': 1 segment of the source missing: '2'",
        ),
        (
            '<seg id="1">Rak</seg>',
            '<seg id="1">Rak</seg>\n<seg id="2">Rak</seg>',
            "F, line 16: system 'tug', document 'pier': 1 segment that the source lacks: '2'",
        ),
        (
            '<seg id="2"/>',
            '\n<seg id="1"/>',
            "F, line 9: document 'quay', segment '1': the id was already given in line 8",
        ),
        ('<seg id="2"/>', "<seg/>", "F, line 8: a segment of document 'quay' has no id"),
        (
            '      <hyp lang="cs" system="tug"><p><seg id="1">Rak</seg></p></hyp>\n',
            "",
            "F: system 'tug' lacks 1 document of the source: 'pier'",
        ),
        (
            # Of a reference that may lack documents.
            '  <doc id="idioms.1"',
            '  <doc id="mole" origlang="en"><ref lang="cs" translator="B"><seg id="1">Molo</seg></ref></doc>\n'
            '  <doc id="idioms.1"',
            "F, line 18: reference 'B' has 1 document that the source lacks: 'mole'. Remove them",
        ),
        ('id="pier"', 'id="quay"', "F, line 11: document 'quay' was already given in line 4"),
        ('id="pier"', "", "F, line 11: <doc> needs the attribute id"),
        (' origlang="cs"', "", "F, line 11: <doc> needs the attribute origlang"),
        ('translator="B"', 'translator="A"', "F, line 7: reference 'A': document 'quay' was already given in line 6"),
        ('system="tug"', "", "F, line 8: <hyp> needs the attribute system"),
        ('system="tug"', 'system="tug/1"', "F, line 8: 'tug/1' cannot be the name of a system"),
        ('<hyp lang="cs"', "<hyp", "F, line 8: <hyp> needs the attribute lang"),
        (
            '<hyp lang="cs"',
            '<hyp lang="de"',
            "F, line 8: document 'quay': the system is in 'de', but line 6 says 'cs'. All translations",
        ),
        ("Ryba</seg></p>", "Ryba</seg>", "F, line 13: <p> is not closed before </ref> in line 13. Add </p>."),
        ("Ryba</seg>", "Ryba", "F, line 13: <seg> '1' is not closed before </p> in line 13"),
        ("</dataset>", "", "F, line 2: <dataset> 'harbour2022.en-cs' is not closed at the end of the file"),
        ("</dataset>", "</dataset><dataset/>", "F, line 23: a second outermost element, <dataset>"),
        ("  </collection>", "  lost\n  </collection>", "F, line 16: text in <collection>, not in a <seg>: 'lost'"),
        ('id="quay"', "id=quay", "F, line 4: the attribute id of <doc> needs quotation marks"),
        ("Ryba", "R&B", "F, line 13: a bare `&`"),
        ("Ryba", "<i>Ryba</i>", "F, line 13: the tag <i> in a segment"),
        ("Ryba", "]]>", "F, line 13: `]]>` in a text"),
        ("<collection", "<seg>lost</seg><collection", "F, line 3: <seg> must not stand in <dataset>"),
    ],
)
def test_a_defect_is_found_where_it_is(old, new, message):
    assert old in DATASET
    assert message in refusal(DATASET.replace(old, new, 1))


def test_a_declaration_is_not_needed_for_it_to_be_xml():
    assert "a bare `&`" in refusal(DATASET.split("\n", 1)[1].replace("&amp;", "&"))


def test_an_empty_document_and_an_empty_file():
    assert "F, line 3: document 'd' has no texts" in refusal(
        '<dataset id="s">\n\n<doc id="d" origlang="en"/></dataset>'
    )
    assert "no texts in <dataset>" in refusal('<dataset id="s"></dataset>')
    assert "no texts in <dataset>" in refusal("")


def nested(count):
    """All ways to put `count` elements called x or y beside or in one another, with the names of the outermost ones."""
    if not count:
        yield "", set()
        return
    for inside in range(count):
        for name, (within, _), (behind, names) in product("xy", nested(inside), nested(count - 1 - inside)):
            yield f"<{name}>{within}</{name}>{behind}" if within else f"<{name}/>{behind}", {name, *names}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_what_is_not_known_may_stand_in_itself(count):
    plain = read(DATASET)
    for unknown, names in nested(count):
        for place in ("<collection", "<doc id=", "<hyp lang"):
            file = read(DATASET.replace(place, unknown + place))
            assert [text.name for text in file.texts.values()] == [text.name for text in plain.texts.values()]
            assert len(file.notices) == len(plain.notices) + len(names), unknown


def test_only_test_suites_is_nothing_to_score():
    file = read(
        '<dataset><doc id="d" origlang="en" testsuite="t"><src lang="en"><seg id="1">a</seg></src></doc></dataset>'
    )
    with pytest.raises(BadMarkup, match="no documents but those of test suites"):
        align([file])
    assert align([file], name="n", test_suites=True).source.lines() == [b"a"]


def test_no_files_are_refused():
    with pytest.raises(BadMarkup, match="no texts at all"):
        align([])


def test_the_files_of_wmts_own_wrapper_are_read():
    """wmtformat/wrap.py writes `language` for `lang`."""
    text = (
        '<dataset id="t"><doc origlang="en" id="d"><src language="en"><p><seg id="1">a</seg></p></src>'
        '<hyp system="s" language="cs"><p><seg id="1">b</seg></p></hyp></doc></dataset>'
    )
    file = read_wmt_xml(text.encode())
    assert (file.source_language, file.target_language) == ("en", "cs")
    assert [each.name for each in file.of(Role.SYSTEM)] == ["s"]


def test_one_cause_is_said_once():
    doc = '<doc origlang="en" id="d{}"><hyp system="s">\n<p><seg id="1">b</seg></p></hyp></doc>\n'
    text = '<dataset id="t">\n' + "".join(doc.format(number) for number in range(50)) + "</dataset>"
    with pytest.raises(BadMarkup) as raised:
        read_wmt_xml(text.encode(), name="F")
    assert str(raised.value) == (
        "F, line 2: <hyp> needs the attribute lang. Add it. The same 49 more times, last in line 100."
    )
