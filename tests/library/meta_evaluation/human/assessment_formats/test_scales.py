"""Direct assessments and ESA go from 0 to 100: what lies outside is refused by name, and scales of others are not."""

import json

import pytest

from tests.library.meta_evaluation.human.assessment_formats.test_formats import (
    appraise,
    exported,
    given,
    pearmut_line,
    read,
    refused,
)

OUTSIDE = [140, -3, 100.5]
PLACE = "en-cs_CZ_#_news_#_x_#_0"


def _row(score):
    return f"{appraise('tug', 1, score=score)}"


def _table(score):
    return f"system\tsegment\tannotator\tscore\tspans\ntug\t0\tu1\t{score}\t[]\n"


def _wave(score):
    return json.dumps({"doc_id": PLACE, "scores": {"tug": {"human1": score}}}) + "\n"


def _judgment(score, **protocol):
    return json.dumps({"doc_id": PLACE, "scores": {"tug": [{"score": score, **protocol}]}}) + "\n"


def _flat(score):
    return json.dumps({"doc_id": "x", "langs": "en-cs", "line_id": 4, "system": "tug", "esa_score": str(score)}) + "\n"


def _pearmut(score):
    return json.dumps(pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given(score))})])) + "\n"


FORMATS = {
    "en-cs.csv": lambda score: exported(_row(score)),
    "en-cs.tsv": _table,
    "wave.jsonl": _wave,
    "protocol.jsonl": lambda score: _judgment(score, protocol="ESA"),
    "flat.jsonl": _flat,
    "log.jsonl": _pearmut,
    "en-cs.esa.seg.score": lambda score: f"tug\t{score}\n",
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("score", OUTSIDE)
def test_scores_outside_the_scale_are_refused_with_file_line_and_value(tmp_path, name, score):
    told = refused(tmp_path, name, FORMATS[name](score))
    assert f"{name}, line {2 if name == 'en-cs.tsv' else 1}" in told
    assert f"'{score}'" in told or f"'{score:.1f}'" in told
    assert "from 0 to 100" in told


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("score", [0, 66.5, 100])
def test_the_ends_of_the_scale_belong_to_it(tmp_path, name, score):
    assert [each.score for each in read(tmp_path, name, FORMATS[name](score)).assessments] == [score]


@pytest.mark.parametrize(
    ("name", "text", "score"),
    [
        ("table.tsv", "system\tsegment\tannotator\tscore\ntug\t0\tu1\t-1.25\n", -1.25),
        ("en-cs.mqm.seg.score", "tug\t-7\n", -7),
        ("en-cs.wmt-z.seg.score", "tug\t-0.5\n", -0.5),
        # WMT25's file of MQM says no protocol.
        ("mqm.jsonl", _judgment(-7.1), -7.1),
        (
            "sliders.jsonl",
            json.dumps(
                pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", {"score": None, "sliders": {"a": -3, "b": 1}})})])
            )
            + "\n",
            -1,
        ),
    ],
)
def test_other_scales_are_taken_as_they_are(tmp_path, name, text, score):
    assert [each.score for each in read(tmp_path, name, text).assessments] == [score]


def test_no_scale_that_is_known_goes_above_100_in_json_lines(tmp_path):
    assert "at most 100" in refused(tmp_path, "judged.jsonl", _judgment(140))
