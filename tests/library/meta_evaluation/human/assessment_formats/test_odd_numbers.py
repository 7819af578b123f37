"""Numbers of JSON that no float is: infinities, NaN, and whole numbers beyond all floats."""

import math

import pytest

from tests.library.meta_evaluation.human.assessment_formats.test_formats import given, pearmut_line, read, refused

ODD = pytest.mark.parametrize(
    "odd", [math.inf, -math.inf, math.nan, 10**400, -(10**400)], ids=["inf", "-inf", "nan", "huge", "-huge"]
)


@ODD
@pytest.mark.parametrize("first", [True, False])
def test_such_a_time_says_nothing(tmp_path, odd, first):
    times = [odd, 2.0] if first else [2.0, odd]
    dump = {"doc_id": "x", "line_id": 4, "esa_score": "85", "system": "tug", "annotator": "a", "times": times}
    of_system = [{"score": 85, "annotator": "a", "errors": [], "times": times, "protocol": "ESA"}]
    line = {"doc_id": "en-cs_#_news_#_x_#_0", "scores": {"tug": of_system}}
    found = read(tmp_path, "judged.jsonl", [dump, line]).assessments
    assert [(each.end, each.seconds) for each in found] == [(2.0, None), (0.0, None)]


@ODD
def test_such_a_time_of_pearmut_is_passed_over(tmp_path, odd):
    line = pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given(70))})], actions=(1.0, odd, 9.0))
    (found,) = read(tmp_path, "x.jsonl", [line]).assessments
    assert (found.end, found.seconds) == (9.0, 8.0)


@ODD
def test_such_a_slider_is_no_score(tmp_path, odd):
    """NaN is one that was not moved: the segment was skipped."""
    for sliders in ({"a": odd}, {"a": odd, "b": 60}, {"a": odd, "b": -odd}):
        line = pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", {"score": None, "sliders": sliders})})])
        if odd is math.nan:
            assert read(tmp_path, "x.jsonl", [line]).assessments == []
        else:
            assert "is no score. Write a number, or null." in refused(tmp_path, "x.jsonl", [line])


@ODD
def test_such_a_weight_of_an_error_is_refused(tmp_path, odd):
    error = {"start": 1, "end": 4, "category": "A/B", "severity": "major", "score": odd, "is_source_error": False}
    rated = {"source": "a", "hypothesis": "b c d", "segment_id": 3, "system_id": "tug", "rater_id": "r"}
    told = refused(tmp_path, "x.jsonl", [rated | {"errors": [error]}])
    assert "line 1: the scores of errors sum up to" in told
