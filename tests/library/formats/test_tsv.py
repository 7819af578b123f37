"""Tables with ids: found by their first line, matched by ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.detection import looks_like, read_marked_file
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.tsv import looks_like_tsv
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import OverLimit

METRICS_TASK = (
    "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tsource_segment\thypothesis_segment\t"
    "reference_segment\tdomain_name\tmethod\n"
    'a_#_b\t1\ten\tcs_CZ\tofficial\tX\tSee "this".\tViz "toto".\tViz "tohle".\tnews\tESA\n'
)


def read(data, role=Role.SYSTEM, **more):
    data = data if isinstance(data, bytes) else data.encode()
    return read_marked_file(data, name="F", role=role, label="A", **more)


def text_of(file, role=Role.SYSTEM):
    (text,) = file.of(role)
    documents = text.documents.items()
    return {name: {key: each.text.decode() for key, each in one.segments.items()} for name, one in documents}


@pytest.mark.parametrize(
    ("role", "text"),
    [(Role.SOURCE, 'See "this".'), (Role.REFERENCE, 'Viz "tohle".'), (Role.SYSTEM, 'Viz "toto".')],
)
def test_the_tables_of_the_metrics_task_are_read(role, text):
    assert looks_like(METRICS_TASK.encode()) == "tsv"
    assert text_of(read(METRICS_TASK, role), role) == {"a_#_b": {"1": text}}


def test_windows_files_and_empty_texts():
    assert text_of(read(b"\xef\xbb\xbfid\thyp\r\nx\ta \r\ny\t\r\n")) == {"all": {"x": "a", "y": ""}}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("id\ttext\n1\ta\n2\n", "line 3: 1 column, but the first line names 2"),
        ("id\ttext\n1\ta\tb\n", "line 2: 3 columns, but the first line names 2"),
        ("id\ttext\n1\ta\n\n2\tb\n", "line 3: 1 column"),
        ("id\ttext\n1\ta\n1\tb\n", "line 3: document 'all', segment '1': the id was already given in line 2"),
        ("id\tid\ttext\n1\t2\ta\n", "line 1: names a column twice"),
        ("id\ttext\n\ta\n", "line 2: id is ''"),
        ("id\twords\n1\ta\n", "line 1: has no text of a system"),
        ("words\ttext\n1\ta\n", "line 1: has no ids"),
        ("id\ttext\n", "has no segments"),
        ("", "has no ids"),
    ],
)
def test_a_fault_is_said_with_its_line(data, said):
    with pytest.raises(BadMarkup) as raised:
        read(data, format="tsv")
    assert said in str(raised.value)


def test_limits():
    with pytest.raises(OverLimit):
        read("id\ttext" + "\tx" * 1000 + "\n", format="tsv")
    for data in ("id\ttext\n1\ta\n2\tb\n", "id\ttext\n1\tabcd\n"):
        with pytest.raises(OverLimit):
            read(data, limits=MarkupLimits(segments=1, segment_characters=3))


@pytest.mark.parametrize("head", [b"id\ttexts\n", b"id text\n", b"text\n", b"1\ta\n2\tb\n", b"id\n\ttext\n"])
def test_what_is_no_table_with_ids(head):
    assert not looks_like_tsv(head)


@given(st.binary())
def test_anything_is_read_or_refused(data):
    looks_like_tsv(data)
    for start in (b"", b"id\ttext\n"):
        try:
            read(start + data, format="tsv")
        except BadText as error:
            assert str(error).startswith("F")  # noqa: PT017 - whatever the fault, the file is named
