"""Files of judgments: every kind, and how segments are found. What is refused: test_hostile_judgments.py."""

import random
import re
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.meta_evaluation.human.judgments import Judgment, SegmentScore, SystemScore
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.meta_evaluation.human.weights import MQM_WEIGHTS, Weights, parse_weights
from tests.library.meta_evaluation.human.judgment_files import APPRAISE, MQM, RATINGS, WMT, problem, read, tsv

# Scores


def test_scores_of_segments_make_scores_of_systems():
    judged = read(tsv("system segment score n_judgments raw", "x 0 0.5 2 70", "x 4 1.5 1 80", "y 4 -1 3 20.5"))
    assert judged.kind == "scores"
    assert judged.method == {"system_scores": "means"}
    assert list(judged.segments) == [
        SegmentScore("x", 0, 0.5, 70.0, 2),
        SegmentScore("x", 4, 1.5, 80.0, 1),
        SegmentScore("y", 4, -1.0, 20.5, 3),
    ]
    assert list(judged.systems) == [SystemScore("x", 1.0, 75.0, 2, 3), SystemScore("y", -1.0, 20.5, 1, 3)]
    assert not judged.judgments
    assert not judged.notices


SYSTEMS = tsv("system score raw n_segments n_judgments wins", "x 1.00001 75 2 3 1") + "y\t-1\t20.5\t\t3\t0\n"


def test_given_scores_of_systems_are_kept():
    segments = tsv("system segment score", "x 0 0.5", "x 4 1.5", "y 4 -1")
    judged = read(segments, SYSTEMS)
    assert judged.method == {"system_scores": "given"}
    assert list(judged.systems) == [SystemScore("x", 1.00001, 75.0, 2, 3, 1), SystemScore("y", -1.0, 20.5, None, 3, 0)]
    assert not judged.notices
    assert read(SYSTEMS, segments) == judged
    other = read(segments.replace("0.5", "0.6") + "z\t0\t1\n", SYSTEMS)
    assert "the given scores of 1 system are not the means of their segments (x)" in other.notices[0]
    assert "judged in segments only, not ranked: z" in other.notices[1]


def test_given_scores_are_those_of_the_names_here():
    segments = tsv("system segment score", "x 0 0.5", "x 4 1.5", "y 4 -1")
    judged = read(SYSTEMS, segments, rename={"x": "z"})
    assert [(score.system, score.score) for score in judged.systems] == [("y", -1.0), ("z", 1.00001)]
    assert sorted({score.system for score in judged.segments}) == ["y", "z"]


def test_no_error_weighs_nothing_wherever_it_is_said():
    for severity, category in (("No-error", "no error"), ("major", "no-error"), ("major", "other/No-error")):
        assert Weights().of(severity, category) == 0
    assert Weights().of("major", "no-error/other") == 5


def test_systems_judged_on_other_segments_get_no_scores_unless_asked():
    apart = tsv("system segment score", "x 0 0.5", "y 1 -1")
    judged = read(apart)
    assert (judged.systems, judged.method) == ([], {"system_scores": "none"})
    assert "'x' and 'y' were judged on no segment in common" in judged.notices[0]
    assert [score.score for score in read(apart, system_scores="means").systems] == [0.5, -1.0]
    assert not read(tsv("system segment score", "x 0 0.5"), system_scores="none").systems


def test_the_real_judgments(real_data):
    judged = read_judgments([real_data / "wmt22.en-cs" / "human.seg.tsv"], Reading(2037))
    assert len(judged.segments) == 93
    assert not judged.systems
    both = sorted((real_data / "wmt22.de-en").glob("human.*.tsv"))
    judged = read_judgments(both, Reading(1984))
    assert (len(judged.systems), len(judged.segments), len(judged.notices)) == (10, 17204, 0)


# Ratings


def test_ratings_are_standardised():
    judged = read(tsv(*RATINGS, "jan y 0 95"))
    assert judged.kind == "ratings"
    assert judged.method == {"standardised": True, "system_scores": "means"}
    assert [score.score for score in judged.segments] == [-1.0, 0.0, 0.5, 1.0]
    assert [(score.system, score.score, score.raw) for score in judged.systems] == [
        ("x", -0.5, 71.25),
        ("y", 0.75, 78.75),
    ]
    assert judged.judgments[1] == Judgment("eva", "y", 0, 60.0)
    plain = read(tsv(*RATINGS, "jan y 0 95"), standardise=False)
    assert [score.score for score in plain.systems] == [71.25, 78.75]


def test_ratings_in_other_words_and_commas():
    ours = read(tsv(*RATINGS))
    text = tsv(*RATINGS).replace("\t", ",")
    for header in ("Rater,System ID,Segment,Rating", "judge_id,systemId,line,score"):
        assert read(text.replace("annotator,system,segment,score", header)) == ours
    quoted = text.replace("eva,x", '"eva","x"')
    assert read(quoted) == ours
    assert read("\ufeff" + text.replace("\n", "\r\n")) == ours


def test_lines_are_counted_behind_a_cell_of_several():
    text = 'annotator,system,segment,score,comment\neva,x,0,50,"a\nb\nc"\neva,x,1,70,\neva,y,0,many,\n'
    assert "line 6" in problem(text)
    assert "line 6" in problem(text.replace("many", '"7'))


def test_several_files_are_one_set_of_ratings():
    header, *rows = tsv(*RATINGS).splitlines(keepends=True)
    assert read(header + "".join(rows[:2]), header + "".join(rows[2:])).systems == read(header + "".join(rows)).systems


def test_the_first_rating_that_repeats_another_is_named():
    """Of all orders of ratings of three segments, two of them rated twice or three times."""
    for places in set(permutations((0, 0, 0, 1, 1, 2))):
        judged = read(
            tsv("annotator system segment score", *(f"eva x {at} {number}0" for number, at in enumerate(places)))
        )
        again = next(number for number, at in enumerate(places) if at in places[:number])
        assert (
            f"3 ratings of a segment that the same annotator has rated before (first in line {again + 2})"
            in (judged.notices[0])
        )


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("ratings", "annotator system segment score"), ("errors", "rater system segment category severity"),
        ("scores", "system segment score"),
    ],
)  # fmt: skip
def test_a_column_that_is_missing_is_missing_in_line_1(kind, columns):
    columns = columns.split()
    for left_out in set(columns) - {"segment"}:
        kept = [each for each in columns if each != left_out]
        told = problem(tsv(" ".join(kept), " ".join("1" for _ in kept)), kind=kind)
        assert told.startswith(f"text, line 1: {kind} need a column '")


def test_ratings_that_repeat_and_annotators_who_say_nothing():
    judged = read(tsv(*RATINGS, "eva x 0 60", "bob x 0 50", "dan x 0 7", "dan y 0 7"))
    assert "line 7" in judged.notices[0]
    assert "1 rating of a segment that the same annotator has rated before" in judged.notices[0]
    assert "2 annotators with one judgment, or always the same (bob, dan)" in judged.notices[1]
    assert len(judged.judgments) == 9
    assert sum(score.judgments for score in judged.segments) == 6
    nothing = problem(tsv("annotator system segment score", "eva x 0 40"))
    assert "no judgment is left to make scores of" in nothing


def test_appraises_export():
    judged = read(APPRAISE, pair="eng-ces")
    assert [judgment[:4] for judgment in judged.judgments] == [
        ("u1", "Online-W", 1, 40.0),
        ("u1", "Online-W", 4, 60.0),
        ("u1", "translator-B", 1, 80.0),
    ]
    assert [score.score for score in judged.systems] == [-0.5, 1.0]
    header = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    assert read(header + APPRAISE, pair="eng-ces") == judged
    # Once segments are numbered in whole documents, they count from 1.
    whole = APPRAISE.replace("d1#2-3", "d1").replace("W,1,", "W,3,").replace("W,0,", "W,2,").replace("B,0,", "B,2,")
    assert read(whole, pair="eng-ces").judgments == judged.judgments


def test_a_pair_must_be_chosen():
    assert "several language pairs: 'eng-ces', 'zho-eng'. Choose one with --pair" in problem(APPRAISE)
    assert "not the language pair 'en-de', but" in problem(APPRAISE, pair="en-de")
    assert read(APPRAISE, pair="en-cs") == read(APPRAISE, pair="eng-ces")


def test_judgments_of_another_pair_are_refused():
    """Pairs share their source, so documents and segments of another one fit."""
    of_pair = "".join(line for line in APPRAISE.splitlines(keepends=True) if "zho" not in line)
    assert read(of_pair, languages="en-cs_CZ") == read(APPRAISE, languages="en-cs_CZ") == read(APPRAISE, pair="en-cs")
    told = "holds judgments of 'eng-ces', but the test set is of 'en-zh'"
    assert told in problem(of_pair, languages="en-zh")
    assert read(of_pair, languages="en-zh", pair="eng-ces") == read(of_pair)
    exported = "u1,x,1,TGT,eng,ces,40,d1,False,[],1.5,2.5\nu1,y,1,TGT,eng,ces,50,d1,False,[],3.5,4.5\n"
    assert told in problem(exported, languages="en-zh")
    assert len(read(exported, languages="en-cs").judgments) == 2


# Errors


def test_errors_weigh():
    judged = read(MQM)
    assert judged.kind == "errors"
    assert judged.method == {"standardised": False, "system_scores": "means", "weights": MQM_WEIGHTS}
    # x, segment 0: 5.1 by one annotator, nothing by the other.
    assert list(judged.segments) == [
        SegmentScore("x", 0, -2.55, 2.55, 2),
        SegmentScore("x", 1, -25.0, 25.0, 1),
        SegmentScore("y", 0, -1.0, 1.0, 1),
        SegmentScore("y", 1, 0.0, 0.0, 1),
    ]
    assert str(judged.segments[3].score) == "0.0"
    assert [score.score for score in judged.systems] == [-13.775, -0.5]
    assert judged.judgments[1] == Judgment("r1", "x", 0, 0.1, "Minor/Fluency/Punctuation")
    assert judged.notices == ("text: segments counted from 1, as the column seg_id does.",)


@pytest.mark.parametrize("kinds", list(product("tr", repeat=3)))
def test_marked_errors_are_of_the_wave_of_their_judgments(kinds):
    """Tables of errors are one wave, each file of ratings is one of its own, however they follow each other."""
    error = '{"errors": [{"start": 0, "end": 2, "severity": "major", "category": "x"}]}'
    marked = MQM.replace("\tso ", "\t<v>so</v> ")
    texts = [
        re.sub(r"\tr(\d)", rf"\ta{number}\1", marked) if kind == "t" else f"x\t{error}\tb{number}\n" * 5
        for number, kind in enumerate(kinds)
    ]
    judged = read(*texts)
    waves = {(each.annotator, each.system, each.segment): each.wave for each in judged.judgments}
    assert sorted(set(waves.values())) == list(range(len(set(waves.values()))))
    assert judged.spans
    for each in judged.spans:
        assert waves[each.annotator, each.system, each.segment] == each.wave


def test_google_counts_segments_in_documents_too():
    assert read(MQM, by_document=True).segments == read(MQM).segments
    later = MQM.replace("doc_id\tseg_id", "docSegId\tglobalSegId")
    assert read(later).segments == read(later, by_document=True).segments == read(MQM).segments
    elsewhere = MQM.replace("\td1\t", "\td2\t")
    assert [score.segment for score in read(elsewhere, by_document=True).segments] == [2, 3, 2, 3]


def test_weights_can_be_changed():
    judged = read(MQM, weights=parse_weights(["major=10", "minor/fluency=2", "Minor/Fluency/Punctuation=0.5"]))
    assert [score.score for score in judged.segments] == [-5.25, -25.0, -1.0, 0.0]
    weights = parse_weights(["critical=10"])
    assert weights.of("Critical", "Accuracy") == 10
    assert weights.of("MINOR", "fluency/grammar") == 1
    assert weights.of("Major", "Non translation!") == 25
    assert weights.of("neutral", "style") == 0
    assert Weights().of("critical", "style") is None
    for bad in ("major", "major=x", "=1", "major=-1", "major=1e9", "major=nan"):
        with pytest.raises(BadParameter, match="is no weight of errors"):
            parse_weights([bad])


def test_errors_can_be_standardised():
    judged = read(MQM, standardise=True)
    # r1: 5.1, 25 and 1; the others judged once or always the same.
    assert [(score.system, score.segment) for score in judged.segments] == [("x", 0), ("x", 1), ("y", 0)]
    assert judged.segments[1].score < judged.segments[0].score < judged.segments[2].score


# Rankings

LONG = tsv(
    "segment annotator ranking system rank",
    *("0 eva a p 1", "0 eva a q 2", "0 jan a r 3", "0 jan a q 1", "1 jan a p 2", "0 eva a r 2", "0 jan a p 1"),
    "1 jan a q 1",
)


@pytest.mark.parametrize("text", [WMT, LONG])
def test_rankings(text):
    judged = read(text)
    assert judged.kind == "rankings"
    assert judged.method == {"system_scores": "wins"}
    assert [score.score for score in judged.systems] == [3 / 4, 2 / 3, 0.0]
    assert judged.segments[0] == SegmentScore("p", 0, -1.0, 1.0, 2)
    assert len(judged.judgments) == 8
    other = read(text, system_scores="better-or-equal")
    assert [score.score for score in other.systems] == [4 / 5, 4 / 5, 1 / 4]


def test_both_forms_of_rankings_are_the_same():
    assert read(WMT).segments == read(LONG).segments
    assert sorted(read(WMT).judgments) == sorted(read(LONG).judgments)


TWICE_LONG = tsv(
    "segment annotator ranking system rank",
    *("0 eva b p 2", "0 eva b r 1", "0 eva a p 1", "0 eva a q 2"),
)
TWICE_WIDE = (
    "srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n"
    "1,eva,p,r,,2,1,\n1,eva,q,,p,2,,1\n"
)


@pytest.mark.parametrize("text", [TWICE_LONG, TWICE_WIDE])
def test_an_annotator_may_rank_a_segment_twice(text):
    """Each ranking is compared within itself, whichever comes first; a place of a row may stay empty."""
    header, *rows = text.splitlines(keepends=True)
    for judged in (read(text), read(header + "".join(reversed(rows)))):
        assert sorted(judged.judgments) == [
            Judgment("eva", "p", 0, 1.0, "1"),
            Judgment("eva", "p", 0, 2.0, "2"),
            Judgment("eva", "q", 0, 2.0, "1"),
            Judgment("eva", "r", 0, 1.0, "2"),
        ]
        assert {score.system: score.score for score in judged.systems} == {"r": 1.0, "p": 0.5, "q": 0.0}


def test_kinds_of_scores_fit_the_judgments():
    assert "are shares of comparisons, not means" in problem(WMT, system_scores="means")
    assert "are means, not shares" in problem(tsv(*RATINGS), system_scores="wins")
    assert not read(WMT, system_scores="none").systems


# What does not depend on the order, and what is renamed


@given(seed=st.integers(0, 1000), which=st.sampled_from([tsv(*RATINGS), MQM, WMT, LONG]))
def test_the_order_of_rows_says_nothing(seed, which):
    header, *rows = which.splitlines(keepends=True)
    random.Random(seed).shuffle(rows)
    ours, turned = read(which), read(header + "".join(rows))
    assert (turned.systems, turned.segments) == (ours.systems, ours.segments)
    assert sorted(turned.judgments) == sorted(ours.judgments)


def test_systems_are_renamed():
    judged = read(APPRAISE, pair="eng-ces", rename={"translator-B": "HUMAN-B"})
    assert {score.system for score in judged.systems} == {"Online-W", "HUMAN-B"}
    assert {judgment.system for judgment in judged.judgments} == {"Online-W", "HUMAN-B"}
    assert "no system 'nobody' to rename" in problem(tsv(*RATINGS), rename={"nobody": "z"})
    scores = tsv("system segment score", "x 0 1", "y 0 2")
    assert "line 3: segment 0 of 'z' has a score already" in problem(scores, rename={"x": "z", "y": "z"})


def test_the_first_segment_can_be_said():
    rows = tsv("annotator system segment score", "eva x 1 40", "eva x 2 60")
    assert [score.segment for score in read(rows, first_segment=1).segments] == [0, 1]
    wmt = read(WMT.replace("English,2", "English,0"), first_segment=0)
    assert {score.segment for score in wmt.segments} == {0, 1}
    documents = tsv("annotator system doc_id seg_in_doc score", "eva x d2 1 40", "eva x d1 3 60")
    assert [score.segment for score in read(documents).segments] == [2, 4]
