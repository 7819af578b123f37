"""JSON Lines: rows with ids, found by content, matched by ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.formats.campaign.alignment import align
from steelyard.formats.campaign.campaigns import read_any_campaign
from steelyard.formats.detection import looks_like, read_marked_file, read_text
from steelyard.formats.input.contents import WrongFormat
from steelyard.formats.jsonl import looks_like_jsonl
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.rows import TEXT_FIELDS
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import OverLimit

WMT25 = (
    '{"doc_id":"cs-de_DE_#_dialogue_#_MUL0088","hypothesis":"Sie ...\\n\\nX: Guten Tag","paragraphs_match":true}\n'
    '{"doc_id": "cs-de_DE_#_dialogue_#_MUL0089", "hypothesis": "Ja.", "system": null, "metadata": {}}\n'
)
METRICX = '{"source": "s", "hypothesis": "h", "reference": "r", "segment_id": 0, "doc_id": "d", "prediction": 1.5}\n'


def rows(*each, **more):
    return "".join(json.dumps({**row, **more}) + "\n" for row in each).encode()


def read(data, role=Role.SYSTEM, label="A", **more):
    data = data if isinstance(data, bytes) else data.encode()
    return read_marked_file(data, name="F", role=role, label=label, **more)


def lines(file, role=Role.SYSTEM):
    (text,) = file.of(role)
    return {name: {key: each.text for key, each in one.segments.items()} for name, one in text.documents.items()}


def refusal(data, **more):
    with pytest.raises(BadMarkup) as raised:
        read(data, **more)
    return str(raised.value)


def test_wmts_outputs_are_read_one_segment_a_document():
    assert looks_like(WMT25.encode()) == "jsonl"
    assert lines(read(WMT25)) == {
        "cs-de_DE_#_dialogue_#_MUL0088": {"1": b"Sie ... X: Guten Tag"},
        "cs-de_DE_#_dialogue_#_MUL0089": {"1": b"Ja."},
    }


def test_one_file_may_have_all_texts():
    assert [lines(read(METRICX, role=role), role)["d"]["0"] for role in Role] == [b"s", b"r", b"h"]
    every = read(METRICX, role=None)
    assert [(text.role, text.name) for text in every.texts.values()] == [
        (Role.SOURCE, ""), (Role.REFERENCE, "A"), (Role.SYSTEM, "A")
    ]  # fmt: skip


@pytest.mark.parametrize("role", Role)
def test_every_field_that_is_promised_is_read(role):
    for field in TEXT_FIELDS[role]:
        assert lines(read(rows({"id": "x", field: "t"}), role=role), role) == {"all": {"x": b"t"}}


def test_white_space_and_packing_of_lines():
    data = b"\xef\xbb\xbf\n" + rows({"id": 1, "text": " a \t\n b\r\u00a0\u2028c "}).replace(b"\n", b"\r\n") + b"\n \n"
    assert lines(read(data)) == {"all": {"1": "a b \u00a0\u2028c".encode()}}


FAULTS = {
    "no json": (b'{"id": 1, "text": "a"}\n{"id": \n', "line 2: is not JSON"),
    "no object": (b'{"id": 1, "text": "a"}\n[1]\n', "line 2: is no JSON object"),
    "nested": (b'{"id": 1, "text": "a"}\n{"x":' + b"[" * 200_000 + b"\n", "line 2: is nested too deeply"),
    "a field twice": (b'{"id": 1, "text": "a", "text": "b"}\n', "line 1: has 'text' twice"),
    "no id": (rows({"id": 1, "text": "a"}, {"text": "a"}), "line 2: id is missing"),
    "an id that is true": (rows({"id": True, "text": "a"}), "line 1: id is a bool"),
    "an empty id": (rows({"id": "", "text": "a"}), "line 1: id is ''"),
    "a long id": (rows({"id": "x" * 5000, "text": "a"}), "line 1: id is 'xxx"),
    "no text": (rows({"id": 1, "text": "a"}, {"id": 2}), "line 2: text is missing"),
    "null": (rows({"id": 1, "text": None}), "line 1: text is missing"),
    "a number": (rows({"id": 1, "text": 5}), "line 1: text is a int"),
    "half a character": (b'{"id": 1, "text": "\\ud800"}\n', "line 1: text holds half a character"),
    "an id twice": (rows({"id": 1, "text": "a"}, {"id": 1, "text": "b"}), "the id was already given in line 1"),
    "a document twice": (
        rows({"doc_id": "d", "text": "a"}) * 2,
        "already given in line 1. Name each segment",
    ),
    "a control character": (rows({"doc_id": "a\tb", "text": "a"}), "another control character"),
}


@pytest.mark.parametrize(("data", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_said_with_its_line(data, said):
    assert said in refusal(data, format="jsonl")


def test_all_faults_are_said_at_once():
    message = refusal(rows({"id": 1, "text": "a"}, {"id": 2}, {"text": "b"}))
    assert "line 2" in message
    assert "line 3" in message


@pytest.mark.parametrize(
    ("data", "role"),
    [
        (rows({"id": 1, "words": "a"}), Role.SYSTEM),
        (rows({"text": "a"}), Role.SYSTEM),
        (rows({"id": 1, "reference": "a"}), Role.SYSTEM),
        (rows({"id": 1, "hypothesis": "a"}), Role.SOURCE),
        (rows({"id": 1, "text": "a"}), None),
        (b"\n", Role.SYSTEM),
    ],
)
def test_fields_that_are_not_read_are_refused(data, role):
    with pytest.raises(BadMarkup):
        read(data, role=role, format="jsonl")


def test_limits():
    small = MarkupLimits(segments=1, segment_characters=3, tags=10, file_bytes=1000)
    for data in (
        rows({"id": 1, "text": "a"}, {"id": 2, "text": "b"}),
        rows({"id": 1, "text": "abcd"}),
        rows({"id": 1, "text": "a", "x": list(range(20))}),
        rows({"id": 1, "text": "a", "x": "x" * 2000}),
    ):
        with pytest.raises(OverLimit):
            read(data, limits=small)


def test_ids_are_matched_whatever_the_order():
    reference = read(rows({"id": 1, "ref": "a"}, {"id": 2, "ref": "b"}, doc_id="d"), Role.REFERENCE, "R")
    output = read(rows({"segment_id": "2", "mt": "y"}, {"segment_id": "1", "mt": "x"}, doc_id="d"))
    aligned = align([reference, output])
    assert aligned.systems["A"].bytes == b"x\ny"
    assert any("another order" in notice for notice in aligned.notices)


def test_missing_and_extra_ids_are_listed():
    reference = read(rows(*({"id": number, "ref": "a"} for number in range(3))), Role.REFERENCE, "R")
    with pytest.raises(BadMarkup) as raised:
        align([reference, read(rows({"id": 1, "mt": "x"}, {"id": 7, "mt": "x"}))])
    assert "'0', '2'" in str(raised.value)
    assert "'7'" in str(raised.value)


def test_a_folder_may_hold_them(tmp_path):
    (tmp_path / "refs").mkdir()
    (tmp_path / "systems").mkdir()
    (tmp_path / "source.jsonl").write_bytes(rows({"id": 1, "src": "s"}, {"id": 2, "src": "t"}))
    (tmp_path / "refs" / "A.jsonl").write_bytes(rows({"id": 2, "text": "b"}, {"id": 1, "text": "a"}))
    (tmp_path / "systems" / "X.jsonl").write_bytes(rows({"id": 1, "hyp": "x"}, {"id": 2, "hyp": "y"}))
    (tmp_path / "meta.json").write_text('{"target_language": "cs", "name": "N"}')
    campaign = read_any_campaign([tmp_path])
    assert (campaign.name, campaign.target_language) == ("N", "cs")
    assert (campaign.source.bytes, campaign.references["A"].bytes) == (b"s\nt", b"a\nb")
    assert campaign.systems["X"].bytes == b"x\ny"
    (tmp_path / "systems" / "Y.txt").write_text("x\ny\n")
    with pytest.raises(BadText, match=r"Y\.txt: is matched by position"):
        read_any_campaign([tmp_path])


def test_files_that_name_their_texts_make_a_campaign(tmp_path):
    (tmp_path / "A.jsonl").write_bytes(rows({"id": 1, "reference": "r", "source": "s"}))
    (tmp_path / "X.jsonl").write_bytes(rows({"id": 1, "hypothesis": "h"}))
    campaign = read_any_campaign([tmp_path / "A.jsonl", tmp_path / "X.jsonl"])
    assert (list(campaign.references), list(campaign.systems)) == (["A"], ["X"])


def test_as_text_it_is_refused():
    with pytest.raises(WrongFormat, match="matched by ids"):
        read_text(WMT25.encode())


def test_a_first_line_beyond_what_is_looked_at():
    assert looks_like_jsonl((b'{"doc_id": "' + b"x" * 70_000)[: 1 << 16])
    assert not looks_like_jsonl((b'{"words": "' + b"x" * 70_000)[: 1 << 16])


def test_a_single_line_without_an_end_is_looked_at_whole():
    assert looks_like_jsonl(b'{"hypothesis": "h", "id": 1}')
    assert not looks_like_jsonl(b'{"hypothesis": "h"}')


@given(st.lists(st.tuples(st.text(), st.text(min_size=1)), min_size=1, unique_by=lambda each: each[1]))
def test_what_is_written_is_read(pairs):
    data = rows(*({"id": key, "text": text} for text, key in pairs))
    try:
        found = lines(read(data, format="jsonl"))["all"]
    except BadMarkup:
        assert "\\ud" in data.decode()
    else:
        assert found == {key: b" ".join(text.encode().split()) for text, key in pairs}


@given(st.binary())
def test_anything_is_read_or_refused(data):
    looks_like_jsonl(data)
    for start in (b"", b'{"id": 1, "text": "a"}\n'):
        try:
            read(start + data, format="jsonl")
        except BadText as error:
            assert str(error).startswith("F")  # noqa: PT017 - whatever the fault, the file is named
