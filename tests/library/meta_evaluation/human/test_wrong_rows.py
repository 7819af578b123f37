"""Rows of judgments that say something else than their table: all are named, and none counts."""

import pytest

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment
from steelyard.meta_evaluation.human.assessments import latest
from steelyard.meta_evaluation.human.judged_pairs import pair_meant
from steelyard.meta_evaluation.human.table import BadTable
from tests.library.meta_evaluation.human.assessment_formats.test_formats import MQM, appraise, exported, refused
from tests.library.meta_evaluation.human.assessment_formats.test_formats import read as read_files
from tests.library.meta_evaluation.human.judgment_files import WMT, problem, read, tsv


def test_rows_of_systems_without_a_name_or_a_score():
    told = problem(tsv("system score nsegments", "tug 0.5 5", "\x07 0.25 x", "raft bad x", "raft 0.5 x"))
    assert told.splitlines()[0] == "text: 3 problems:"
    first, second, third = told.splitlines()[1:]
    assert first.startswith("  - text, line 3: '\\x07' cannot be the name of a system")
    assert second.startswith("  - text, line 4: the score is 'bad'")
    assert third.startswith("  - text, line 5: the number of segments is 'x'")


@pytest.mark.parametrize("wide", [True, False])
def test_rankings_of_nobody_and_of_no_segment(wide):
    if wide:
        text = WMT.replace("1,doc,7,eva", "1,doc,7,\x07").replace("2,doc,8,jan", "99,doc,8,jan")
        lines = (2, 4)
    else:
        rows = ("eva 0 1 tug 1", "eva 0 1 raft 2", "\x07 0 2 tug 1", "jan 99 3 tug 1")
        text, lines = tsv("annotator segment ranking system rank", *rows), (4, 5)
    told = problem(text, pair="Czech-English") if wide else problem(text)
    assert f"text, line {lines[0]}: '\\x07' cannot be the name of an annotator" in told
    assert f"text, line {lines[1]}: " in told
    assert told.startswith("text: 2 problems:")


def test_two_files_with_scores_of_one_system():
    judged = ((0, 40), (1, 60))
    rows = exported(*(appraise("tug", at, document="d1", user="", score=score) for at, score in judged))
    assert [(each.system, each.segment, each.score) for each in read(rows).segments] == [
        ("tug", 0, 40.0), ("tug", 1, 60.0),
    ]  # fmt: skip
    assert len(read(rows, rows.replace("tug", "raft")).segments) == 4
    assert problem(rows, rows) == "text: 'tug' has scores already. Remove one file."


def test_a_pair_that_may_be_several_of_a_file():
    known = ["en-pt_BR", "en-pt_PT", "en-cs"]
    assert pair_meant(known, "eng-ces", "", "x") == "en-cs"
    told = "x: has several language pairs that 'en-pt' may be: en-pt_BR, en-pt_PT. Choose one with --pair."
    for pair, languages in (("en-pt", ""), (None, "en-pt")):
        with pytest.raises(BadTable) as raised:
            pair_meant(known, pair, languages, "x")
        assert str(raised.value) == told
    with pytest.raises(BadTable) as raised:
        pair_meant(known, "en-de", "", "x")
    assert str(raised.value) == (
        "x: has not the language pair 'en-de', but: 'en-pt_BR', 'en-pt_PT', 'en-cs'. Choose one with --pair."
    )


def test_of_several_judgments_the_one_that_ended_last_counts_whatever_their_order():
    def ended(at, score, annotator="u1"):
        return Assessment("en-cs", "tug", "d", "0", "", annotator, 0, score, at, "file")

    assert latest([ended(9.0, 1.0), ended(4.0, 2.0)]) == [ended(9.0, 1.0)]
    assert latest([ended(4.0, 1.0), ended(9.0, 2.0)]) == [ended(9.0, 2.0)]
    assert latest([ended(4.0, 1.0), ended(4.0, 2.0)]) == [ended(4.0, 2.0)], "of equal ones that which comes later"
    others = [ended(9.0, 1.0), ended(4.0, 2.0, "u2")]
    assert latest(others) == others


def test_tables_of_errors_need_no_texts(tmp_path):
    same = MQM.replace("\tDobry den<v>", "\t Dobry den<v>")
    rows = [line.split("\t") for line in same.splitlines()]
    without = "".join("\t".join(row[:5] + row[7:]) + "\n" for row in rows)
    whole, bare = (read_files(tmp_path, "en-cs.mqm.tsv", text).assessments for text in (same, without))
    assert [(each.system, each.segment, each.annotator, each.score) for each in bare] == [
        (each.system, each.segment, each.annotator, each.score) for each in whole
    ]
    assert {each.text for each in bare} == {None}


@pytest.mark.parametrize(
    ("times", "told"),
    [("x,20.75", "the time is 'x'."), ("10.5,x", "the end is 'x'."), ("10.5,1e40", "the end is '1e40'.")],
)
def test_a_time_that_is_none_is_said(tmp_path, times, told):
    rows = [appraise("tug", 0), appraise("tug", 1).replace("10.5,20.75", times)]
    assert f"en-cs.csv, line 2: {told} Give a number, at most 1e+12." in refused(tmp_path, "en-cs.csv", exported(*rows))


def test_a_table_without_times_says_no_seconds(tmp_path):
    head = "system,document,segment,score,annotator"
    (found,) = read_files(tmp_path, "en-cs.csv", f"{head}\ntug,d,1,80,u1\n").assessments
    assert (found.score, found.seconds, found.end) == (80.0, None, 0.0)
