"""Promises that every format in the registry keeps, each with a small file; a new one is found by itself."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.detection import read_file
from steelyard.formats.input.contents import opened
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.plain import Text
from steelyard.formats.reader import Reading
from steelyard.formats.registry import PLAIN, READERS, reader_of
from steelyard.text.limits import OverLimit, TextLimits

SAMPLES = {
    "plain": b"The boat.\nThe sea.\n",
    "conllu": b"1\tThe\tthe" + b"\t_" * 7 + b"\n2\tboat.\tboat" + b"\t_" * 7 + b"\n\n# text =\n",
    "tectomt": b'<tmt_document><bundles><LM id="1"><trees><TEnglishA><children><LM><ord>1</ord><form>The</form></LM>'
    b"</children></TEnglishA></trees></LM></bundles></tmt_document>",
    "treex": b'<treex_document><bundles><LM id="1"><zones><zone language="en"><trees><a_tree><children><LM><ord>1</ord>'
    b"<form>The</form></LM></children></a_tree></trees></zone></zones></LM></bundles></treex_document>",
    "mteval": b'<tstset setid="s" srclang="cs" trglang="en"><doc docid="d" sysid="x"><seg id="1">The boat.</seg></doc>'
    b"</tstset>",
    "wmt-xml": b'<dataset id="s"><doc id="d" origlang="cs"><hyp lang="en" system="x"><seg id="1">The boat.</seg></hyp>'
    b"</doc></dataset>",
    "jsonl": b'{"doc_id": "d", "segment_id": 1, "hypothesis": "The boat."}\n',
    "tsv": b"doc_id\tsegment_id\thypothesis\nd\t1\tThe boat.\n",
}
every_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


def content(file):
    """What was read, in a form that can be compared."""
    if isinstance(file, Text):
        return file.bytes, file.segments, dict(file.layers), file.ids
    return {
        key: {name: (list(one.segments.items())) for name, one in text.documents.items()}
        for key, text in file.texts.items()
    }


def read(reader, data, **bounds):
    return reader.read(opened(data, name="F"), Reading(role=Role.SYSTEM, label="x", **bounds))


@every_reader
def test_it_is_distinguished_from_all_others_and_read_alike_each_time(reader):
    sample = SAMPLES[reader.name]
    assert reader_of(sample) is reader
    assert [each for each in READERS if each is not PLAIN and each.sniff(sample)] == [reader][reader is PLAIN :]
    found = content(read(reader, sample))
    assert found == content(read(reader, sample))
    for other in (gzip.compress(sample), b"\xef\xbb\xbf" + sample, sample.replace(b"\n", b"\r\n")):
        assert content(read_file(other, name="F", role=Role.SYSTEM, label="x")) == found


@every_reader
def test_its_kind_says_what_it_returns(reader):
    assert isinstance(read(reader, SAMPLES[reader.name]), Text) is not reader.kind.has_ids


@every_reader
@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"\x80", b"PK\x03\x04", b"\x1f\x8b\x08", b"%PDF-1.7"])
def test_what_is_no_text_is_refused_by_name(reader, data):
    with pytest.raises(BadText, match=r"\AF"):
        read(reader, data)


@every_reader
def test_a_file_beyond_the_limit_is_refused(reader):
    bounds = {"limits": TextLimits(file_bytes=10), "markup_limits": MarkupLimits(file_bytes=10)}
    with pytest.raises(OverLimit, match=r"\AF"):
        read(reader, SAMPLES[reader.name], **bounds)


@pytest.mark.parametrize("reader", [each for each in READERS if not each.layers], ids=lambda reader: reader.name)
@pytest.mark.parametrize("letter", ["x", "\u010d", "\u65e5", "\U0001f600"], ids=["1", "2", "3", "4 bytes"])
def test_the_limit_of_a_segment_is_counted_in_characters(reader, letter):
    sample = SAMPLES[reader.name]
    for word in (b"The", b"boat"):
        sample = sample.replace(word, letter.encode() * len(word))

    def within(limit):
        limits, markup_limits = TextLimits(segment_characters=limit), MarkupLimits(segment_characters=limit)
        return read(reader, sample, limits=limits, markup_limits=markup_limits)

    assert content(within(len("The boat."))) == content(read(reader, sample))
    with pytest.raises(OverLimit):
        within(len("The boat.") - 1)


@every_reader
@given(
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 40), st.binary(max_size=8)), min_size=1, max_size=4)
)
def test_damaged_files_are_read_or_refused_by_name(reader, changes):
    data = SAMPLES[reader.name]
    for at, length, scrap in changes:
        data = data[: at % len(data)] + scrap + data[at % len(data) + length :] or b"\n"
    reader.sniff(data)
    try:
        found = read(reader, data)
    except BadText as error:
        assert str(error).startswith("F")  # noqa: PT017 - whatever the fault, the file is named
    else:
        assert content(read(reader, data)) == content(found)
