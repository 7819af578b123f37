"""Which segments judgments are of, and where errors lie in code points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment, ErrorSpan
from steelyard.meta_evaluation.human.assessment_formats.placing import place
from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles
from steelyard.meta_evaluation.human.assessment_formats.spans import BadSpan, in_code_points
from steelyard.meta_evaluation.human.table import BadTable

DOCUMENTS = {"d1": [0, 1, 2], "vid_d2": [3, 4]}


def judged(*cells):
    return [Assessment("", "tug", document, str(segment), "", "", 0, 1.0, 0.0, "file") for document, segment in cells]


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        ([("d1", 0), ("d1", 2), ("d2", 3)], [0, 2, 3]),
        ([("d1", 1), ("d1", 3), ("d2", 5)], [0, 2, 4]),
        ([("d1", 0), ("d2", 2), ("d2", 3)], [1, 3, 4]),
        ([("d1", 0), ("d1", 2), ("d2", 0), ("d2", 1)], [0, 2, 3, 4]),
        ([("d1", 1), ("d1", 3), ("d2", 1), ("d2", 2)], [0, 2, 3, 4]),
        ([("d1", 0), ("other", 0), ("d2", 3)], [0, None, 3]),
        ([("", 0), ("", 4)], [0, 4]),
        ([("", 1), ("", 5)], [0, 4]),
    ],
)
def test_the_first_way_to_count_that_fits_all(cells, places):
    found = place(judged(*cells), 5, DOCUMENTS)
    assert found.segments == places
    assert bool(found.notices) == (None in places)


def test_what_fits_nowhere_is_named():
    with pytest.raises(BadTable, match="segment '9' of document 'd2' is not in the test set, which has 5 segments"):
        place(judged(("d1", 0), ("d2", 9)), 5, DOCUMENTS)
    with pytest.raises(BadTable, match="judges other documents"):
        place(judged(("x", 0), ("y", 0)), 5, DOCUMENTS)
    with pytest.raises(BadTable, match="segment 'one'"):
        place(judged(("", "one")), 5, {})
    assert place(judged(("d1", 0)), 5, {}).segments == [0]


def test_every_span_of_wmt24_lies_in_its_translation(real_data):
    """In the judgments as published; most end where a word does, which they would not by any other count."""
    folder = real_data / "wmt24"
    for pair in ("en-cs", "en-zh"):
        files = AssessmentFiles()
        files.read([folder / "human" / f"{pair}.esa.csv"])
        names = [
            line.split("\t")[1] for line in (folder / "documents" / f"{pair}.docs").read_text("utf-8").split("\n")[:-1]
        ]
        documents = {}
        for segment, name in enumerate(names):
            documents.setdefault(name, []).append(segment)
        found = place(files.assessments, len(names), documents)
        assert not found.notices
        texts = {
            path.stem: path.read_text("utf-8").split("\n") for path in (folder / "system-outputs" / pair).iterdir()
        }
        spans = ends = 0
        for each, segment in zip(files.assessments, found.segments, strict=True):
            if each.system not in texts:
                continue
            text = texts[each.system][segment]
            for one in in_code_points(each.spans, text):
                assert one.missing or 0 <= one.start < one.end <= len(text)
                if not one.missing:
                    spans += 1
                    ends += one.end == len(text) or not text[one.end].isalnum()
        assert spans > 1000
        if pair == "en-cs":
            assert ends / spans > 0.75


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), st.data())
def test_utf_16_units_become_code_points(text, data):
    seen = text.strip("\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028"
                      "\u2029\u202f\u205f\u3000\ufeff")  # fmt: skip
    if not seen:
        return
    start = data.draw(st.integers(0, len(seen) - 1))
    end = data.draw(st.integers(start + 1, len(seen)))
    units = [len(seen[:at].encode("utf-16-le")) // 2 for at in (start, end)]
    (found,) = in_code_points([ErrorSpan(*units, "minor")], text)
    assert text[found.start : found.end] == seen[start:end]


def test_spans_at_the_end():
    span = ErrorSpan(2, 9, "minor")
    assert in_code_points([span], "abcd") == (ErrorSpan(2, 4, "minor"),)
    with pytest.raises(BadSpan, match="from position 2, but the translation has 2"):
        in_code_points([span], " ab ")
    assert in_code_points([span], "ab", behind_is_missing=True)[0].missing
    assert in_code_points([ErrorSpan(0, 0, "major", missing=True)], "") == (ErrorSpan(0, 0, "major", missing=True),)
