"""The reader for mteval files: all its syntaxes give the same texts, and every defect is found where it is."""

import csv
import re

import pytest

from steelyard import BLEU
from steelyard.errors import BadText
from steelyard.formats.campaign.alignment import align
from steelyard.formats.detection import looks_like, read_marked_file
from steelyard.formats.input.contents import Unreadable, WrongFormat
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.markup.mteval import read_mteval
from steelyard.formats.markup.scanner import ForbiddenMarkup
from steelyard.metrics.score_systems import score_systems
from steelyard.metrics.segments import Segments
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import OverLimit

SOURCE = """<srcset setid="harbour" srclang="English">
<DOC docid="quay" genre="news">
<seg id="1"> One ship. </seg>
<seg id="2"> Two ships. </seg>
</DOC>
<DOC docid="pier" genre="social">
<hl>
<seg id="1"> Fish &amp; chips </seg>
</hl>
</DOC>
</srcset>
"""
TEST = """<tstset setid="harbour" srclang="English" trglang="Czech">
<DOC docid="quay" sysid="tug">
<seg id="1"> Jedna loď. </seg>
<seg id="2"> Dvě lodi. </seg>
</DOC>
<DOC docid="quay" sysid="barge">
<seg id="1"> Loď. </seg>
<seg id="2"> </seg>
</DOC>
<DOC docid="pier" sysid="barge">
<seg id="1"> Ryba </seg>
</DOC>
<DOC docid="pier" sysid="tug">
<seg id="1"> Ryba &amp; hranolky </seg>
</DOC>
</tstset>
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "mteval-xml-v1.5.dtd">
<mteval>
<refset setid="harbour" srclang="en" trglang="cs" refid="B">
<doc docid="quay" genre="nw"><p><seg id="1">Jedna
loď.</seg><seg id="2">Dvě lodi.</seg></p></doc>
<doc docid="pier" genre="nw"><hl><seg id="1">Ryba &amp; hranolky</seg></hl></doc>
</refset>
<refset setid="harbour" srclang="en" trglang="cs" refid="A">
<doc docid="quay" genre="nw"><seg id="1">Loď</seg><seg id="2">Lodě</seg></doc>
<doc docid="pier" genre="nw"><seg id="1"><![CDATA[R&B < jazz]]></seg></doc>
</refset>
</mteval>
"""


def read(text, **options):
    return read_mteval(text if isinstance(text, bytes) else text.encode(), name="F", **options)


def refusal(text, kind=BadMarkup, **options):
    with pytest.raises(kind) as raised:
        read(text, **options)
    assert isinstance(raised.value, BadText)
    return str(raised.value)


def segments(file):
    return {
        (text.name, document.doc_id, segment_id): segment.text.decode()
        for text in file.texts.values()
        for document in text.documents.values()
        for segment_id, segment in document.segments.items()
    }


@pytest.mark.parametrize("syntax", ["sgm", "xml", "wrapped"])
def test_real_files_give_the_lines_of_the_campaign(real_data, syntax):
    folder = real_data / "mteval"
    ending = "xml" if syntax == "xml" else "sgm"
    names = [f"wmt22.en-cs.{part}.{ending}" for part in ("src", "ref", "tst")]
    if syntax == "wrapped":
        names[2] = "wmt22.en-cs.tst.wrapped.sgm"
    aligned = align([read_marked_file(folder / name) for name in names])
    with open(folder / "segments.tsv", encoding="utf-8") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))

    def lines(path):
        all_lines = (real_data / "wmt22.en-cs" / path).read_bytes().split(b"\n")
        # One of the outputs has two blanks in a row, which no mteval file can keep through a line break.
        return [b" ".join(all_lines[int(row["segment"])].split()) for row in rows]

    assert aligned.source.lines() == lines("source.txt")
    assert {label: text.lines() for label, text in aligned.references.items()} == {
        "refB": lines("refs/B.txt"),
        "refC": lines("refs/C.txt"),
    }
    assert len(aligned.systems) == 10
    for name, text in aligned.systems.items():
        assert text.lines() == lines(f"systems/{name}.txt")
    assert [entry.doc_id for entry in aligned.documents] == [row["doc_id"] for row in rows]
    assert list(aligned.segment_ids) == [row["seg_in_doc"] for row in rows]
    assert (aligned.name, aligned.source_language, aligned.target_language) == ("wmt22.en-cs", "en", "cs")
    assert aligned.notices == ()
    campaign = aligned.campaign()
    assert (campaign.segments, list(campaign.systems), campaign.variable_references) == (
        49,
        list(aligned.systems),
        False,
    )


def test_every_real_file_is_recognised_and_read_alone(real_data):
    files = sorted((real_data / "mteval").glob("wmt22*"))
    assert len(files) == 9
    for path in files:
        assert looks_like(path.read_bytes()) == "mteval"
        assert {text.segments for text in read_mteval(path).texts.values()} == {49}


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda tag: re.sub(r'"([a-zA-Z0-9]+)"', r"\1", tag),
        lambda tag: tag.replace('"', "'"),
        lambda tag: tag.replace(">", "\n >").replace("=", " = "),
    ],
    ids=["upper case", "no quotes", "single quotes", "broken tags"],
)
def test_the_spelling_of_tags_does_not_matter(change):
    changed = re.sub(r"<[^>]*>", lambda match: change(match[0]), TEST)
    assert changed != TEST
    expected = segments(read(TEST))
    if change is str.upper:
        expected = {(name.upper(), doc_id.upper(), segment): text for (name, doc_id, segment), text in expected.items()}
    assert segments(read(changed)) == expected


def test_blocks_need_no_end_in_sgml_but_do_in_xml():
    sgml = SOURCE.replace("</hl>", "").replace('<seg id="2">', '<p>\n<seg id="2">')
    assert segments(read(sgml)) == segments(read(SOURCE))
    assert refusal('<?xml version="1.0"?>' + SOURCE.replace("</hl>", "").replace("DOC", "doc")) == (
        "F, line 7: <hl> is not closed before </doc> in line 10. Add </hl>."
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("&amp;lt; &amp;amp;amp;", "&lt; &amp;amp;"),
        ("&#233;&#xE9;&#x1F600;", "éé😀"),
        ("a&#10;b", "a b"),
        (" a\n\t b\r\nc ", "a b c"),
        ("a\u00a0b\u2028c", "a\u00a0b\u2028c"),
    ],
)
@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="utf-8"?>\n'])
def test_entities_and_white_space(declaration, written, meant):
    file = read(
        f'{declaration}<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">{written}</seg></doc></srcset>'
    )
    assert segments(file) == {("", "d", "1"): meant}
    assert file.notices == ()


def test_sgml_takes_text_as_mteval_does_where_xml_is_strict():
    text = '<srcset setid="s" srclang="en"><doc docid="d"><seg id="1">R&D: 1 < 2 <b>&nbsp;</b></seg></doc></srcset>'
    file = read(text)
    assert segments(file) == {("", "d", "1"): "R&D: 1 < 2 <b>&nbsp;</b>"}
    assert file.notices == ("F: the entity '&nbsp;' is none of the five standard ones and was kept as text.",)
    message = refusal('<?xml version="1.0"?>\n' + text)
    assert message.splitlines()[0] == "F: 4 problems:"
    for part in (
        "line 2: a bare `&`",
        "a `<` that begins no tag",
        "the tag <b> in a segment",
        "the entity '&nbsp;' is not",
    ):
        assert part in message


def test_whose_a_document_is_when_set_and_document_disagree():
    text = '<refset setid="s" srclang="en" trglang="cs" refid="B"><doc docid="d" sysid="C"><seg id="1">a</seg></doc>'
    text += "</refset>"
    assert list(read(text).texts) == [(Role.REFERENCE, "C")]
    assert list(read('<?xml version="1.0"?>' + text).texts) == [(Role.REFERENCE, "B")]


def test_unknown_elements_and_stray_text_of_sgml_are_left_out_and_said():
    file = read(SOURCE.replace("<hl>", "<date>1.1.</date>\n<hl>"))
    assert segments(file) == segments(read(SOURCE))
    assert file.notices == (
        "F, line 7: text in <doc>, not in a <seg>: '1.1.'. It was left out, as mteval does.",
        "F, line 7: <date> is not known here and was passed over.",
    )
    assert "text in <doc>" in refusal('<?xml version="1.0"?>' + SOURCE.replace("<hl>", "lost <hl>"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<seg id="2"> Dvě', "<seg> Dvě", "F, line 4: a segment of document 'quay' has no id"),
        (
            '<seg id="2"> Dvě',
            '<seg id="1"> Dvě',
            "F, line 4: document 'quay', segment '1': the id was already given in line 3",
        ),
        (
            '<seg id="2"> Dvě lodi. </seg>\n',
            "",
            "F, line 2: system 'tug', document 'quay': 1 segment of system 'barge' missing: '2' "
            "(the first is in F, line 7)",
        ),
        (
            '<seg id="2"> </seg>',
            '<seg id="2"></seg><seg id="3"> </seg>',
            "F, line 2: system 'tug', document 'quay': 1 segment of system 'barge' missing: '3'",
        ),
        (
            '<seg id="2"> Dvě',
            '<seg id="3"> Dvě',
            "F, line 6: system 'barge', document 'quay': 1 segment of system 'tug' missing: '3' (the first is in F, "
            "line 4). Add them; a segment without translation is an empty one.\n"
            "  - F, line 8: system 'barge', document 'quay': 1 segment that system 'tug' lacks: '2'.",
        ),
        (
            '<DOC docid="pier" sysid="barge">\n<seg id="1"> Ryba </seg>\n</DOC>\n',
            "",
            "F: system 'barge' lacks 1 document of system 'tug': 'pier'. Add them.",
        ),
        (
            'docid="pier" sysid="barge"',
            'docid="quay" sysid="barge"',
            "F, line 10: system 'barge': document 'quay' was already given in line 6",
        ),
        (" lodi. </seg>", " lodi.", "F, line 4: <seg> '2' is not closed before </doc> in line 5. Add </seg>."),
        ("</DOC>\n</tstset>\n", "", "F, line 13: <doc> 'pier' is not closed at the end of the file"),
        ("</tstset>", "", "F, line 1: <tstset> 'harbour' is not closed at the end of the file"),
        ("</tstset>", "</seg></tstset>", "F, line 16: </seg> closes nothing"),
        ('docid="quay" sysid="tug"', 'sysid="tug"', "F, line 2: <doc> needs the attribute docid"),
        ('docid="quay" sysid="tug"', 'docid="quay"', "F, line 2: document 'quay' does not say whose it is"),
        ('sysid="tug"', 'sysid="../t:g"', "F, line 2: 't:g' cannot be the name of a system"),
        ('sysid="tug"', 'sysid="tug/"', "F, line 2: 'tug/' cannot be the name of a system"),
        ('sysid="tug"', 'sysid="old/tug"', "F, line 13: 'old/tug' and 'tug' are both called 'tug'. Rename one."),
        ('sysid="barge"', 'sysid="Tug"', "F, line 6: system 'Tug' has too similar a name to 'tug'"),
        ('setid="harbour"', "", "F, line 1: <tstset> needs the attribute setid"),
        ('trglang="Czech"', "", "F, line 1: <tstset> needs the attribute trglang"),
        ('id="2"> Dvě', 'id="2> Dvě', "F, line 4: the tag <seg> is not well formed"),
        ('id="2"> Dvě', 'id="2" id="3"> Dvě', "F, line 4: <seg> has the attribute id twice"),
        ("</tstset>", "</tstset><!-- ", "F, line 16: a comment that never ends"),
        ("loď.", "&#0;", "F, line 3: &#0; is no character"),
        ("</tstset>", '</tstset x="1">', "F, line 16: the closing tag </tstset> has more in it than its name. Correct"),
        ("</tstset>", "</tstset/>", "F, line 16: the closing tag </tstset> has more in it than its name. Correct it."),
    ],
)
def test_a_defect_is_found_where_it_is(old, new, message):
    assert old in TEST
    assert message in refusal(TEST.replace(old, new, 1))


def test_sets_of_one_file_must_agree():
    second = TEST.replace("tug", "raft").replace("barge", "punt")
    assert len(read(TEST + second).texts) == 4
    assert "F, line 17: <tstset> has the setid 'port', but before it was 'harbour'" in refusal(
        TEST + second.replace("harbour", "port")
    )
    assert "F, line 17: <tstset> has the trglang 'German', but before it was 'Czech'" in refusal(
        TEST + second.replace("Czech", "German")
    )


def test_all_problems_of_a_file_are_listed_at_once():
    broken = TEST.replace('<seg id="2"> Dvě lodi. </seg>\n', "").replace(' genre="news"', "")
    broken = broken.replace("Ryba </seg>", "Ryba", 1).replace('trglang="Czech"', "")
    message = refusal(broken)
    assert message.splitlines()[0] == "F: 3 problems:"
    for part in ("needs the attribute trglang", "segment of system", "<seg> '1' is not closed"):
        assert part in message


def test_very_many_problems_are_counted_but_not_all_written():
    rows = "".join(f'<seg id="{number}">a</seg>\n' * 2 for number in range(100))
    message = refusal(f'<srcset setid="s" srclang="en"><doc docid="d">\n{rows}</doc></srcset>')
    assert message.startswith("F: 100 problems:\n")
    assert len(message.splitlines()) == 52
    assert message.endswith("\n  and 50 more problems")


def test_the_texts_give_the_figures_of_mteval(real_data):
    folder = real_data / "mteval"
    aligned = align([read_mteval(folder / f"wmt22.en-cs.{part}.xml") for part in ("src", "ref", "tst")])
    with open(folder / "expected_mteval.tsv", encoding="utf-8") as table:
        expected = {
            row["system"]: float(row["BLEU"])
            for row in csv.DictReader(table, delimiter="\t")
            if (row["refs"], row["case"], row["tokenizer"]) == ("B", "sensitive", "13a")
        }
    assert len(expected) == 10
    references = [aligned.references["refB"].bytes]
    (bleu,) = score_systems(
        Segments(references=references, hypotheses=[text.bytes for text in aligned.systems.values()]), [BLEU()]
    )
    # mteval prints four decimals of a score from 0 to 1.
    assert dict(zip(aligned.systems, bleu.scores / 100, strict=True)) == pytest.approx(expected, abs=5.1e-5)


def test_what_is_no_mteval_file(tmp_path):
    assert "no documents" in refusal("just text\n")
    assert "no documents" in refusal("")
    with pytest.raises(WrongFormat, match="no format with ids, such as mteval"):
        read_marked_file(b"just text\n", name="F")
    refusal(SOURCE.encode("utf-16"), WrongFormat)
    assert "line 3" in refusal(SOURCE.replace("One", "caf\xe9").encode("latin-1"), NotUtf8)
    with pytest.raises(Unreadable):
        read_mteval(tmp_path / "none.sgm")
    assert "declares the encoding iso-8859-2" in refusal(XML.replace("UTF-8", "iso-8859-2"))
    assert "the character \\x01" in refusal(XML.replace("Lodě", "\x01"))


def test_byte_order_mark_and_line_ends_of_windows_do_not_matter():
    assert segments(read(b"\xef\xbb\xbf" + TEST.replace("\n", "\r\n").encode())) == segments(read(TEST))


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (SOURCE, "mteval"),
        (XML, "mteval"),
        ("\ufeff \n<!-- <dataset> --><REFSET setid=x>", "mteval"),
        ("<?xml version='1.0'?><dataset id='x'>", "wmt-xml"),
        ("<dataset>", "wmt-xml"),
        ("<!DOCTYPE mteval [<!ENTITY a 'b'>]><mteval>", "mteval"),
        ("<?xml version='1.0'?>\n<!doctype dataset[", "wmt-xml"),
        ("<datasets>", "plain"),
        ("A sentence with <srcset> in it", "plain"),
        ("<doc docid='a'>", "plain"),
        ("<!DOCTYPE html><html>", "plain"),
        ("<!-- " * 50_000, "plain"),
        ("", "plain"),
    ],
)
def test_the_format_is_distinguished_from_the_content(content, format_):
    assert looks_like(content.encode()) == format_


def test_limits_can_be_set():
    assert "more than 3 segments" in refusal(TEST, OverLimit, limits=MarkupLimits(segments=3))
    assert "more than 9 tags" in refusal(TEST, OverLimit, limits=MarkupLimits(tags=9))
    assert "line 3: more than 9 characters in one segment" in refusal(
        TEST, OverLimit, limits=MarkupLimits(segment_characters=9)
    )
    assert "more than 1 attributes" in refusal(TEST, OverLimit, limits=MarkupLimits(attributes=1))
    assert "more than 2 elements" in refusal(TEST, ForbiddenMarkup, limits=MarkupLimits(depth=2))
    assert "more than 6 bytes" in refusal(TEST, OverLimit, limits=MarkupLimits(attribute_bytes=6))
    assert "larger than 99 bytes" in refusal(TEST, OverLimit, limits=MarkupLimits(file_bytes=99))
    # Of what is no segment as much is read as the entities of one may take.
    stray = TEST.replace("<seg", f"{'x' * (12 * 30 - 1)}<seg", 1)
    assert segments(read(stray, limits=MarkupLimits(segment_characters=30))) == segments(read(TEST))
    told = refusal(stray.replace("xx", "xxx", 1), OverLimit, limits=MarkupLimits(segment_characters=30))
    assert told.startswith("F, line 2: a text of more than 30 characters between two tags. Cut the segment, or raise")
    # The tag itself is named, though a line below it was looked at before.
    lines = TEST.replace('srclang="English"', '\nsetid="x"\nsrclang="English"', 1)
    assert "F, line 1: more than 3 tags and attributes. Split" in refusal(lines, OverLimit, limits=MarkupLimits(tags=3))


def test_roles_and_details_of_a_file():
    file = read(XML)
    assert [(text.role, text.name) for text in file.texts.values()] == [(Role.REFERENCE, "B"), (Role.REFERENCE, "A")]
    document = file.texts[Role.REFERENCE, "A"].documents["pier"]
    assert (document.line, document.domain, document.segments["1"].line) == (11, "nw", 11)


@pytest.mark.parametrize("xml", [True, False])
def test_the_name_of_a_reference_is_its_refid_before_its_sysid(xml):
    head = '<?xml version="1.0"?><mteval>' if xml else ""
    tail = "</mteval>" if xml else ""
    for attributes, name in (('refid="B" sysid="C"', "B"), ('sysid="C" refid="B"', "B"), ('sysid="C"', "C")):
        of_set, of_document = (attributes, "") if xml else ("", attributes)
        text = (
            f'{head}<refset setid="s" srclang="en" trglang="cs" {of_set}>'
            f'<doc docid="d" {of_document}><seg id="1">a</seg></doc></refset>{tail}'
        )
        assert list(segments(read(text))) == [(name, "d", "1")]
    # A system has no refid.
    test_set = f'{head}<tstset setid="s" srclang="en" trglang="cs"><doc docid="d" refid="B" sysid="C">'
    assert list(segments(read(f'{test_set}<seg id="1">a</seg></doc></tstset>{tail}'))) == [("C", "d", "1")]
