"""Files of judgments with mistakes: everything that is refused, and how it is named."""

import contextlib
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from tests.library.meta_evaluation.human.judgment_files import (
    APPRAISE,
    MQM,
    RATINGS,
    WMT,
    problem,
    read,
    tsv,
)

SCORES = "system segment score"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: is empty"),
        ("\n\n", "line 1: is empty"),
        ("a\tb\nc\td\n", "line 1: the columns do not tell what this is: 'a', 'b'. Known are"),
        ("nothing to see here\n", "the columns do not tell"),
        (tsv("system system score", "a b 1"), "line 1: two columns are called 'system'"),
        (tsv("System s_ystem score", "a b 1"), "two columns are called 'System', 's_ystem'"),
        ("\t".join(f"c{n}" for n in range(300)) + "\n", "300 columns; 200 are allowed"),
        (tsv(SCORES), "holds no judgment"),
        (tsv(SCORES, "x 0"), "line 2: 2 columns, the table has 3. Put one tab"),
        ("system,score\nx\n", "line 2: 1 column, the table has 2. Put one comma"),
        ('system,score\n"x,1\n', "line 2: not comma-separated values"),
        ("system,score\nx," + "9" * 140000 + "\n", "field larger than field limit"),
        (tsv(SCORES, "x 5 1"), "line 2: segment 5 is not in the test set, which has 0 to 4"),
        (tsv(SCORES, "x -1 1"), "line 2: segment is '-1'. Give a whole number"),
        (tsv(SCORES, "x 1.0 1"), "segment is '1.0'"),
        (tsv(SCORES, "x ٣ 1"), "segment is '٣'"),
        (tsv(SCORES, "x 9999999999999 1"), "segment is '9999999999999'"),
        (tsv(SCORES, "x 0 nan"), "line 2: the score is 'nan'. Give a number"),
        (tsv(SCORES, "x 0 inf"), "the score is 'inf'"),
        (tsv(SCORES, "x 0 1e12"), "the score is '1e12'"),
        (tsv(SCORES, "x 0 1_0"), "the score is '1_0'"),
        (tsv(SCORES, "x 0 "), "the score is ''"),
        (tsv(SCORES + " raw", "x 0 1 ?"), "the raw score is '?'"),
        (tsv(SCORES + " n_judgments", "x 0 1 2.5"), "the number of judgments is '2.5'"),
        (tsv("system score wins", "x 1 many"), "the number of wins is 'many'"),
        (tsv(SCORES, "x 0 1", "x 0 2"), "line 3: segment 0 of 'x' has a score already"),
        (tsv("system score", "x 1", "x 1"), "line 3: 'x' has a score already"),
        (tsv(SCORES, " 0 1"), "line 2: '' cannot be the name of a system"),
        (tsv(SCORES, "x\x1b[2J 0 1"), r"'x\x1b[2J' cannot be the name"),
        (tsv(SCORES, "n" * 201 + " 0 1"), "cannot be the name"),
        (tsv("annotator system segment score", "a\u2028b x 0 1"), "cannot be the name of an annotator"),
        (tsv("annotator system score", "a x 1"), "need a column 'segment', or doc_id and seg_in_doc"),
        (tsv("doc_id seg_in_doc system score", "d3 1 x 1"), "line 2: the test set has no document 'd3'"),
        (tsv("doc_id seg_in_doc system score", "d2 3 x 1"), "document 'd2' has 2 segments, but seg_in_doc is 3"),
        (tsv("doc_id seg_in_doc system score", "d2 0 x 1"), "document 'd2' has 2 segments, but seg_in_doc is 0"),
        (
            APPRAISE.replace("W,1,", "W,8,").replace("zho,eng", "eng,ces"),
            "document 'd1' has 3 segments, but itemId is 8",
        ),
        (MQM.replace("\t2\t2\t", "\t2\t6\t"), "seg_id 6 is not in the test set, which has 1 to 5"),
        (MQM.replace("Neutral", "Horrible"), "line 7: nothing says what an error of severity 'Horrible' weighs"),
        (MQM.replace("rater", "whom"), "errors need a column 'annotator'"),
        (WMT.replace("system3rank", "rank of 3"), "rankings need a column 'system3rank'"),
        (WMT.replace("1,2,2\n", "1,0,2\n"), "line 2: a rank is '0'"),
        (WMT.replace("1,2,2\n", "1,1.5,2\n"), "a rank is '1.5'"),
        (WMT.replace("1,2,2\n", "1,2,\n"), "line 2: a rank is ''"),
        (WMT.replace("3,r,1,2,2", "1,p,1,2,2"), "line 2: 'p' has two ranks in one ranking"),
    ],
)
def test_what_is_refused_is_named_with_its_line(text, message):
    assert message in problem(text)


def test_bytes_that_are_no_text(tmp_path: Path):
    for content, message in (
        (b"system\tscore\nx\xff\t1\n", "line 2, byte 2: not UTF-8"),
        (b"system\tscore\nx\0\t1\n", "a NUL byte"),
        ("system\tscore\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04", "a zip archive"),
    ):
        (tmp_path / "human.tsv").write_bytes(content)
        with pytest.raises(BadText, match=message):
            read_judgments([tmp_path / "human.tsv"], Reading(5))
    with pytest.raises(BadText, match="there is no such file"):
        read_judgments([tmp_path / "nowhere.tsv"], Reading(5))
    (tmp_path / "packed.gz").write_bytes(gzip.compress(tsv(SCORES, "x 0 1").encode()))
    assert len(read_judgments([tmp_path / "packed.gz"], Reading(5)).segments) == 1


def test_all_problems_are_listed_within_bounds():
    message = problem(tsv(SCORES, *(f"x {n} 1" for n in range(3, 40))))
    assert message.startswith("text: 35 problems:\n  - text, line 4: segment 5 is not")
    many = problem(tsv(SCORES, *(f"x {n} 1" for n in range(100_000))))
    assert "1,000 problems" in many
    assert len(many) < 20_000


def test_kinds_are_not_mixed():
    assert "holds errors, but text ratings" in problem(tsv(*RATINGS), MQM)
    # Ratings that carry an annotator can be read as scores, once each.
    assert read(tsv(*RATINGS[:3]), kind="scores").kind == "scores"
    assert "ratings need a column 'annotator'" in problem(tsv(SCORES, "x 0 1"), kind="ratings")
    assert "'opinions' is no kind of judgments" in problem(tsv(SCORES, "x 0 1"), kind="opinions")


def test_documents_must_be_named_to_be_used():
    assert "no columns for documents" in problem(tsv(*RATINGS), by_document=True)


table = st.text(st.sampled_from("\t\n,\"'x0129.-eé\u2028\r "), max_size=60)


@given(
    header=st.sampled_from([tsv(SCORES), tsv(*RATINGS[:1]), MQM.split("\n")[0] + "\n", WMT.split("\n")[0] + "\n", ""]),
    body=table,
)
def test_any_text_is_read_or_refused(header, body):
    with contextlib.suppress(BadText):
        judged = read(header + body)
        assert all(0 <= score.segment < 5 for score in judged.segments)
        assert judged.systems or judged.segments


@pytest.mark.parametrize(
    "header",
    [
        "annotator system segment score",
        "annotator ranking system segment rank",
        "rater system segment category severity",
    ],
)
def test_systems_that_are_compared_in_pairs_are_bounded(header):
    """A ranking of a million systems has half a billion pairs of a thousand."""
    rest = {"score": "0 {}", "rank": "0 1", "severity": "0 Fluency Minor"}[header.rpartition(" ")[2]]
    before = "a r" if "rank" in header else "a"
    rows = [f"{before} s{number} {rest.format(number)}" for number in range(201)]
    assert len({each.system for each in read(tsv(header, *rows[:200])).judgments}) == 200
    assert "'a' judged 201 systems in segment 0, counted from 0; 200 are the most" in problem(tsv(header, *rows))


def test_rankings_are_bounded_one_by_one():
    rows = [f"a r{number // 150} s{number} 0 1" for number in range(300)]
    assert len(read(tsv("annotator ranking system segment rank", *rows)).judgments) == 300
