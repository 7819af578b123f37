"""Lines that no format of judgments takes, named by file and line; and those that say nothing and are passed over."""

import pytest

from steelyard.formats.input.contents import Contents
from steelyard.meta_evaluation.human.assessed import read_assessed
from steelyard.meta_evaluation.human.assessment_formats.assessment import ErrorSpan
from steelyard.meta_evaluation.human.table import BadTable
from tests.library.meta_evaluation.human.assessment_formats.test_formats import (
    appraise,
    exported,
    given,
    pearmut_line,
    read,
    refused,
    span,
)

RATING = '{"errors": []}'
UNJUDGED = '{"doc_id": "en-cs_#_news_#_d_#_0", "scores": {}}\n'


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.jsonl", UNJUDGED + "[1]\n", "x.jsonl, line 2: must be a JSON object."),
        ("x.jsonl", UNJUDGED + '{"a"\n', "x.jsonl, line 2: is not JSON (Expecting ':' delimiter"),
        (
            "en-cs.mqm.seg.rating", f"tug\t{RATING}\nraft\n",
            "en-cs.mqm.seg.rating, line 2: must be a system, its errors and perhaps a rater, a tab between them.",
        ),
        *(
            (
                "en-cs.mqm.seg.rating", f'tug\t{RATING}\ntug\t{{"errors": {errors}}}\n',
                'en-cs.mqm.seg.rating, line 2: "errors" must be a list of at most 1,000 objects.',
            )
            for errors in ('"none"', "[3]", f"[{', '.join(['{}'] * 1001)}]")
        ),
        (
            "en-cs.mqm.seg.rating", 'tug\t{"errors": 3}\n',
            'en-cs.mqm.seg.rating, line 1: "errors" must be a list of at most 1,000 objects.',
        ),
        (
            "en-cs.mqm.seg.score", "tug 1\ntug -2e15\n",
            "en-cs.mqm.seg.score, line 2: '-2e15' is no score. Write a number, or None.",
        ),
    ],
)  # fmt: skip
def test_a_line_that_is_none_of_the_format_is_named(tmp_path, name, text, told):
    assert told in refused(tmp_path, name, text)


@pytest.mark.parametrize("severity", ["x" * 201, "major\x07"])
def test_a_severity_that_is_too_long_or_hides_is_refused(tmp_path, severity):
    quoted = severity.replace("\x07", "\\u0007")
    row = appraise("tug", 1, f'[{{"start_i": 0, "end_i": 1, "severity": "{quoted}"}}]')
    told = refused(tmp_path, "en-cs.csv", exported(appraise("tug", 0), row))
    assert "en-cs.csv, line 2: '" in told
    assert "is no severity or category: give up to 200 characters." in told


@pytest.mark.parametrize(("whose", "what"), [("user_id", "an annotator"), ("tug", "a system")])
@pytest.mark.parametrize("name", ["u\x07", "u" * 201])
def test_names_in_json_that_cannot_be_any(tmp_path, whose, what, name):
    line = pearmut_line("u1", 0, [("d_###_0", {name if whose == "tug" else "tug": ("Ahoj.", given(5))})])
    told = refused(tmp_path, "x.jsonl", [line if whose == "tug" else line | {"user_id": name}])
    assert "x.jsonl, line 1: 'u" in told
    assert f"cannot be the name of {what}." in told


def test_blank_lines_are_no_judgments_and_move_none(tmp_path):
    ratings = read(tmp_path, "en-cs.mqm.seg.rating", f"tug\t{RATING}\n\ntug\t{RATING}\n").assessments
    assert [(each.system, each.segment) for each in ratings] == [("tug", "0"), ("tug", "1")]
    scores = read(tmp_path, "en-cs.mqm.seg.score", "tug 1\n\n \ntug 2\n").assessments
    assert [(each.segment, each.score) for each in scores] == [("0", 1.0), ("1", 2.0)]
    flat = '{"doc_id": "x", "line_id": 4, "esa_score": 85, "system": "tug", "annotator": "a"}\n'
    assert [each.segment for each in read(tmp_path, "x.jsonl", f"{flat}\n \n{flat}").assessments] == ["4", "4"]
    assert "x.jsonl, line 4: is not JSON" in refused(tmp_path, "x.jsonl", f"{flat}\n \nx{flat}")


def test_what_pearmut_shows_and_nobody_judged(tmp_path):
    """A system without an annotation, sliders that were not moved, a page that was left as it was."""
    log = [
        pearmut_line("u1", 0, [("news_###_d_###_0", {"tug": ("Ahoj.", given(5)), "raft": ("Ne.", None)})]),
        pearmut_line("u1", 1, [("d_###_1", {"tug": ("Ahoj.", {"score": None, "sliders": {"a": None, "b": 60}})})]),
        {"user_id": "u1", "item_i": "welcome_0", "item": [], "annotation": "seen"},
        pearmut_line("u1", 7, [("line 12", {"tug": ("Ahoj.", given(6))})]),
    ]
    files = read(tmp_path, "en-cs.jsonl", log)
    assert [(*each[1:5], each.score) for each in files.assessments] == [
        ("tug", "d", "0", "news", 5.0),
        ("tug", "7", "line 12", "", 6.0),
    ]
    told = " ".join(files.notices)
    assert "1 of welcome, random and goodbye pages" in told
    assert "1 of segments that were skipped" in told


def test_pearmut_by_errors_passes_over_systems_without_an_annotation(tmp_path):
    log = [
        pearmut_line(
            "u1", 0, [("d_###_0", {"raft": ("Ne.", None), "tug": ("Ahoj.", given(None, span(0, 1, "major")))})]
        )
    ]
    (found,) = read(tmp_path, "en-cs.jsonl", log).assessments
    assert (found.system, found.score, found.spans) == ("tug", -5.0, (ErrorSpan(0, 2, "major"),))


def test_pearmut_without_translations_is_refused(tmp_path):
    line = pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given(5))})])
    line["item"][0]["tgt"] = "Ahoj."
    assert 'x.jsonl, line 1: a segment needs "tgt", the translation of each system.' in refused(
        tmp_path, "x.jsonl", [line]
    )


def test_a_file_without_a_judgment_of_a_translation():
    row = appraise("tug", 0, kind="BAD", document="quay") + "\n"
    with pytest.raises(BadTable, match=r"^x\.csv: holds no judgment of a translation\.$"):
        read_assessed(Contents(row.encode(), name="x.csv"), 0, 2, {"quay": [0, 1]})


def test_two_translations_of_one_segment_by_one_system():
    """Judgments of two states of an output are none of one output."""
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    row = "tug\tquay\t2\t2\t{}\ts\t{}\tFluency/Punctuation\tMinor\n"

    def judged(*texts):
        rows = "".join(row.format(f"r{number}", text) for number, text in enumerate(texts))
        return read_assessed(Contents((head + rows).encode(), name="x.tsv"), 0, 2, {"quay": [0, 1]})

    assert judged("Ahoj.", "Ahoj.").texts == {("tug", 1): "Ahoj."}
    with pytest.raises(BadTable, match=r"^x\.tsv: two translations of segment 2 by 'tug' were judged\.$"):
        judged("Ahoj.", "Ahoj!")
