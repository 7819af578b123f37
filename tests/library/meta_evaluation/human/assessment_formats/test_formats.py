"""Files of judgments in every format: what counts, what is left out, and what is refused."""

import json

import pytest

from steelyard.errors import BadText
from steelyard.meta_evaluation.human.assessment_formats.assessment import TRIMMED_UTF16, ErrorSpan
from steelyard.meta_evaluation.human.assessment_formats.mt_metrics_eval import is_ratings
from steelyard.meta_evaluation.human.assessment_formats.penalties import weight_of
from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles


def read(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else "".join(json.dumps(each) + "\n" for each in text), "utf-8")
    files = AssessmentFiles()
    files.read([path])
    return files


def refused(tmp_path, name, text):
    with pytest.raises(BadText) as caught:
        read(tmp_path, name, text)
    return str(caught.value)


MQM = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
tug\td1\t1\t1\tr1\tHi.\t<v> Dobry </v>den.\tAccuracy/Mistranslation\tMajor
tug\td1\t1\t1\tr1\tHi.\tDobry den<v>.</v>\tFluency/Punctuation\tMinor
tug\td1\t1\t1\tr2\tHi.\t Dobry den.\tNo-error\tNo-error
tug\td1\t2\t2\tr1\t<v>Oh</v>!\tAch!\tSource issue\tMajor
tug\td1\t2\t2\tr2\tOh!\tAch!\tAccuracy/Omission\tCritical
raft\td2\t1\t3\tr1\tNo.\t<v>Ano.</v>\tNon-translation!\tMajor
raft\td2\t2\t4\tr1\tNo.\tAno.\t\t
"""


def test_google_tables_of_errors(tmp_path):
    text = MQM.replace("\tDobry den<v>", "\t Dobry den<v>")
    found = {
        (each.system, each.segment, each.annotator): each for each in read(tmp_path, "en-cs.mqm.tsv", text).assessments
    }
    assert {key: each.score for key, each in found.items()} == {
        ("tug", "0", "r1"): -5.1,
        ("tug", "0", "r2"): 0.0,
        ("tug", "1", "r1"): 0.0,
        ("tug", "1", "r2"): -5.0,
        ("raft", "2", "r1"): -25.0,
        ("raft", "3", "r1"): 0.0,
    }
    first = found["tug", "0", "r1"]
    assert (first.pair, first.document, first.text) == ("en-cs", "d1", " Dobry den.")
    assert [first.text[each.start : each.end] for each in first.spans] == ["Dobry", "."]
    assert first.spans[0][2:4] == ("major", "Accuracy/Mistranslation")
    assert found["tug", "0", "r2"].spans == found["raft", "3", "r1"].spans == (), "that there is none is no error"
    assert found["tug", "1", "r1"].spans == (ErrorSpan(0, 2, "major", "Source issue", in_source=True),)
    assert found["tug", "1", "r2"].spans == (ErrorSpan(0, 0, "critical", "Accuracy/Omission", missing=True),)


@pytest.mark.parametrize("source", ["Oh my!", "<v>Oh</v> my!", "Oh <v></v>my!"])
@pytest.mark.parametrize(
    "target", ["Ach ne!", "Ach <v>ne</v>!", "Ach <v></v>ne!", "Ach<v> </v>ne!", "Ach <v> ne </v>!"]
)
def test_an_error_lies_where_something_is_marked_in_the_translation_else_in_the_source(tmp_path, source, target):
    """Tags round nothing mark nothing."""
    head = MQM.splitlines()[0]
    row = f"tug\td1\t1\t1\tr1\t{source}\t{target}\tAccuracy/Omission\tMajor"
    (found,) = read(tmp_path, "en-cs.mqm.tsv", f"{head}\n{row}\n").assessments
    (marked,) = found.spans
    assert found.text == target.replace("<v>", "").replace("</v>", "")
    assert marked.in_source == (("<v>" not in target or "<v></v>" in target) and "<v>Oh" in source)
    assert marked.missing == (("<v>" not in target or "<v></v>" in target) and "<v>Oh" not in source)
    text = "Oh my!" if marked.in_source else found.text
    assert text[marked.start : marked.end] == (
        "" if marked.missing else "Oh" if marked.in_source else " " if "<v> </v>" in target else "ne"
    )


def test_ratings_are_known_by_a_head_cut_anywhere():
    """Nobody judged the first segments; the last line that is read of a large file may end in any place."""
    text = "tug\tNone\nraft\tNone\tu1\n" * 3 + 'tug\t{"errors": []}\tu1\nraft\t{"errors": []}\n'
    head = text.encode()
    first = head.index(b"\n") + 1
    assert all(is_ratings(head[:cut]) for cut in range(first, len(head) + 1))
    for other in ("None", "0.5"):
        scores = head.replace(b'{"errors": []}', other.encode()).replace(b"None", b"0.5", 1)
        assert not any(is_ratings(scores[:cut]) for cut in range(first, len(scores) + 1))


def test_tables_of_errors_that_are_wrong(tmp_path):
    assert "line 2" in (told := refused(tmp_path, "a", MQM.replace("\tMajor", "\tTerrible", 1)))
    assert "'terrible'" in told
    assert "line 3: 'tug' has another translation here than in line 2" in refused(
        tmp_path, "b", MQM.replace("den<v>.", "noc<v>.")
    )
    assert "line 2" in refused(tmp_path, "c", MQM.replace("\t1\t1\tr1", "\t1\tone\tr1", 1))


RATED = [
    {
        "errors": [
            {"start": 1, "end": 4, "category": "A/B", "severity": "major", "score": 5.0, "is_source_error": False}
        ]
    },
    {"errors": []},
    {"errors": [{"start": 2, "end": 2, "category": "Omission", "severity": "Minor"}]},
]


def test_ratings_of_mt_metrics_eval(tmp_path):
    lines = ["tug\tNone", *(f"tug\t{json.dumps(each)}\tr1" for each in RATED)]
    found = read(tmp_path, "en-de.mqm.merged.seg.rating", "\n".join([*lines, *("raft\tNone",) * 4]) + "\n").assessments
    assert [(each.pair, each.system, each.segment, each.score, each.annotator) for each in found] == [
        ("en-de", "tug", "1", -5.0, "r1"),
        ("en-de", "tug", "2", 0.0, "r1"),
        ("en-de", "tug", "3", -1.0, "r1"),
    ]
    assert found[0].spans == (ErrorSpan(1, 4, "major", "A/B"),)
    assert found[2].spans == (ErrorSpan(0, 0, "minor", "Omission", missing=True),)
    told = refused(tmp_path, "en-de.mqm.seg.rating", "tug\tNone\ntug\tNone\nraft\tNone\n")
    assert "'raft' has 1 lines, others 2" in told
    assert "line 1: an error reaches from '5' to '2'" in refused(
        tmp_path, "x", 'tug\t{"errors": [{"start": 5, "end": 2, "severity": "minor"}]}\n'
    )
    assert "not JSON" in refused(tmp_path, "x", 'tug\t{"errors": [\n')
    own = {"source": "a", "hypothesis": "b c", "document_id": "d", "segment_id": 3, "system_id": "tug", "rater_id": "r"}
    (alone,) = read(tmp_path, "x.jsonl", [{**own, "src_lang": "en", "tgt_lang": "de", **RATED[0]}]).assessments
    assert (alone.pair, alone.document, alone.segment, alone.score, alone.text) == ("en-de", "d", "3", -5.0, "b c")


def test_a_name_that_says_another_pair_than_the_rows(tmp_path):
    row = "u1,tug,1,TGT,eng,ces,40,d1,False,[],1.5,2.5\n"
    assert read(tmp_path, "en-cs_CZ.esa.csv", row).assessments[0].pair == "en-cs_CZ"
    assert read(tmp_path, "da-esa.csv", row).assessments[0].pair == "da-esa", "no known language"
    told = refused(tmp_path, "en-zh.esa.csv", row)
    assert "holds judgments of 'eng-ces', but is called by en-zh" in told


def test_scores_of_mt_metrics_eval(tmp_path):
    text = "tug\t90.0\nraft 1\ntug\tNone\nraft -2.5\n"
    found = read(tmp_path, "en-sr_Cyrl_RS.mqm.seg.score", text).assessments
    assert [(each.pair, each.system, each.segment, each.score) for each in found] == [
        ("en-sr_Cyrl_RS", "tug", "0", 90.0),
        ("en-sr_Cyrl_RS", "raft", "0", 1.0),
        ("en-sr_Cyrl_RS", "raft", "1", -2.5),
    ]
    (named,) = read(tmp_path, "eng_Latn---ces_Latn.esa.seg.score", "tug\t90.0\n").assessments
    assert named.pair == "eng_Latn---ces_Latn"
    for unjudged in (2, 50_000):
        (last,) = read(tmp_path, "en-cs.esa.seg.score", "tug\tNone\n" * unjudged + "tug\t84.0\n").assessments
        assert (last.segment, last.score) == (str(unjudged), 84.0), "the first segments may be judged by nobody"
    assert "en-cs.esa.seg.score" in refused(tmp_path, "en-cs.esa.sys.score", "tug 90\n")
    told = refused(tmp_path, "en-cs.esa.seg.score", "GPT 90\nGPT 5.5 90\n")
    assert "line 2" in told
    assert "names with blanks" in told


def exported(*rows):
    return "".join(f"{row}\n" for row in rows)


def appraise(system, segment, spans="[]", *, document="d", kind="TGT", score=80, user="u1"):
    quoted = '"' + spans.replace('"', '""') + '"'
    return f"{user},{system},{segment},{kind},eng,ces,{score},{document},False,{quoted},10.5,20.75"


def test_spans_and_seconds_of_appraise(tmp_path):
    spans = [
        {"start_i": 3, "end_i": 5, "severity": "Minor", "error_type": None},
        {"start_i": "missing", "end_i": "missing", "severity": "major"},
        {"start_i": 1, "end_i": 1, "severity": "undecided", "error_type": ["Accuracy", "Addition"]},
    ]
    found = read(tmp_path, "en-cs.csv", exported(appraise("tug", 7, json.dumps(spans)))).assessments
    (only,) = found
    assert (only.seconds, only.units, only.text) == (10.25, TRIMMED_UTF16, None)
    assert only.spans == (
        ErrorSpan(3, 6, "minor"),
        ErrorSpan(0, 0, "major", missing=True),
        ErrorSpan(1, 2, "undecided", "Accuracy/Addition"),
    )


def test_seconds_of_appraise_are_those_since_the_judgment_before(tmp_path):
    """Its clock starts when an item is touched, and stops there, too, where one click is enough."""
    times = [
        ("u1", 100.0, 100.0),
        ("u1", 130.0, 130.0),
        ("u2", 120.0, 125.0),
        ("u1", 120.0, 150.0),
        ("u1", 900.0, 908.0),
    ]
    rows = [
        appraise("tug", place, kind="BAD" if place == 1 else "TGT", user=user).replace("10.5,20.75", f"{begin},{end}")
        for place, (user, begin, end) in enumerate(times)
    ]
    found = read(tmp_path, "en-cs.csv", exported(*rows)).assessments
    # What does not count took its time, too; 900 came after a pause.
    assert [(each.segment, each.seconds) for each in found] == [("0", 0.0), ("2", 5.0), ("3", 20.0), ("4", 8.0)]


def test_what_appraise_does_to_names_with_plus(tmp_path):
    """It cuts them, and writes a row for each part."""
    rows = [appraise("tug", 1), appraise("Cohere CAT", 1), appraise("", 1), appraise("Cohere CAT", 2), appraise("", 2)]
    found = read(tmp_path, "en-cs.csv", exported(*rows))
    assert [each.system for each in found.assessments] == ["tug", "Cohere CAT", "Cohere CAT"]
    assert any("'Cohere CAT+'" in each for each in found.notices)
    assert any("2 of systems without a name" in each for each in found.notices)


def test_both_exports_of_wmt25(tmp_path):
    place = "en-cs_CZ_#_news_#_d_#_4"
    twelve = appraise("tug", place, document="d#x")
    thirteen = f"u1,{place},tug,9,TGT,eng,ces,80,d,False,[],10.5,20.75"
    for row in (twelve, thirteen):
        (only,) = read(tmp_path, "all.csv", exported(row)).assessments
        assert only[:6] == ("en-cs_CZ", "tug", "d", "4", "news", "u1")
        assert (only.score, only.seconds) == (80.0, 10.25)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (appraise("tug", 1, '[{"start_i": 5, "end_i": 2, "severity": "minor"}]'), "from '5' to '2'"),
        (appraise("tug", 1, '[{"start_i": -1, "end_i": 2, "severity": "minor"}]'), "from '-1' to '2'"),
        (appraise("tug", 1, '[{"start_i": "0", "end_i": 2, "severity": "minor"}]'), "from '0' to '2'"),
        (appraise("tug", 1, '[{"start_i": 0, "end_i": 2, "severity": 3}]'), "the severity or category"),
        (appraise("tug", 1, "[3]"), "must be an object"),
        (appraise("tug", 1, "[{"), "Give a list in JSON"),
        (appraise("tug", 1, "{}"), "must be a list"),
        (appraise("tug", 1, score="good"), "the score is 'good'"),
        (appraise("tug\x07", 1), "cannot be the name of a system"),
        (appraise("tug", 1, user="u\x07"), "cannot be the name of an annotator"),
    ],
)
def test_rows_of_appraise_that_are_wrong(tmp_path, row, told):
    message = refused(tmp_path, "en-cs.csv", exported(appraise("tug", 0), row))
    assert "en-cs.csv, line 2" in message
    assert told in message


def test_wmt_json_lines_with_spans(tmp_path):
    text = {"tug": "\U0001f600 ahoj.", "refA": "ahoj"}
    errors = [{"start_i": 3, "end_i": 6, "severity": "minor"}]
    line25 = {
        "scores": {"tug": {"human1": 85.0, "errors1": errors, "annotator1": "a1", "human2": "90", "errors2": []}},
        "tgt_text": text, "doc_id": "en-cs_CZ_#_news_#_x_#_0",
    }  # fmt: skip
    line24 = {
        "scores": {"tug": [{"score": 85, "annotator": "a", "errors": errors, "times": [1.0, 4.5], "protocol": "ESA"}]},
        "tgt_text": text, "doc_id": "en-cs_#_news_#_x_#_0",
    }  # fmt: skip
    flat = {
        "doc_id": "x", "langs": "en-cs", "line_id": 4, "esa_score": "85", "esa_spans": errors, "tgt": text["tug"],
        "system": "tug", "annotator": "a", "times": [1.0, 4.5],
    }  # fmt: skip
    files = read(tmp_path, "judged.jsonl", [line25, line24, flat])
    first, second, third, fourth = files.assessments
    assert [each.spans for each in (first, third, fourth)] == [(ErrorSpan(2, 6, "minor"),)] * 3
    assert (first.wave == second.wave, second.spans) == (False, ())
    assert [each.seconds for each in files.assessments] == [None, None, 3.5, 3.5]
    assert first.text[2:6] == "ahoj"
    # A dump's scores are texts; elsewhere that is told.
    assert [each for each in files.notices if "written as texts" in each] == [
        f"{tmp_path / 'judged.jsonl'}: 1 score written as texts, read as numbers."
    ]
    line25["scores"]["tug"]["errors1"] = [{"start_i": 40, "end_i": 41, "severity": "minor"}]
    told = refused(tmp_path, "far.jsonl", [line25])
    assert "far.jsonl, line 1: an error is marked from position 40, but the translation has 8" in told


@pytest.mark.parametrize(
    ("times", "end", "seconds"),
    [([1.0, 4.5], 4.5, 3.5), ([4.5, 1.0], 4.5, 0.0), ([1.0, 9.0, 4.0], 9.0, None), ([3.0], 3.0, None),
     (["x", 2.0], 2.0, None), ([], 0.0, None), (None, 0.0, None), ("soon", 0.0, None)],
)  # fmt: skip
def test_a_judgment_of_a_dump_ends_at_its_last_time(tmp_path, times, end, seconds):
    flat = {"doc_id": "x", "line_id": 4, "esa_score": "85", "system": "tug", "annotator": "a", "times": times}
    (found,) = read(tmp_path, "judged.jsonl", [flat]).assessments
    assert (found.end, found.seconds) == (end, seconds)


def pearmut_line(user, item, segments, *, annotation=None, actions=(1.0, 9.0)):
    """One document: segments are (item_id, {system: (text, given)})."""
    return {
        "user_id": user,
        "item_i": item,
        "item": [
            {"src": "s", "tgt": {name: text for name, (text, _) in of.items()}, "item_id": named}
            for named, of in segments
        ],
        "annotation": annotation or [{name: given for name, (_, given) in of.items()} for _, of in segments],
        "actions": [{"time": at, "action": "x"} for at in actions],
    }


def given(score, *spans):
    return {"score": score, "error_spans": list(spans), "textfield": None}


def span(start, end, severity="minor", category=None):
    return {"start_i": start, "end_i": end, "category": category, "severity": severity}


def test_pearmut(tmp_path):
    sliders = {"score": None, "sliders": {"a": 40, "b": 60}}
    log = [
        pearmut_line("u1", 0, [("news_###_d1_###_0", {"GPT 5.5": ("Ahoj \U0001f600.", given(10))})]),
        {"user_id": "u2", "annotation": "__RESET__"},
        pearmut_line(
            "u1", 0,
            [
                ("news_###_d1_###_0", {"GPT 5.5": ("Ahoj \U0001f600.", given(70, span(5, 7), span(8, 8, "major")))}),
                ("news_###_d1_###_1", {"GPT 5.5": ("Ne.", given(None)), "Cohere CAT+": ("Ano.", given(50))}),
                ("attention_check_3", {"GPT 5.5": ("x", given(1))}),
                ("a_#_tutorial_#_b", {"GPT 5.5": ("x", given(1))}),
            ],
        ),
        pearmut_line("u1", "welcome_0", [("x", {"GPT 5.5": ("x", given(1))})]),
        pearmut_line("u2", 1, [("d2_###_0", {"Cohere CAT+": ("Ano.", sliders)})]),
        pearmut_line("u3", 1, [("d2_###_0", {"Cohere CAT+": ("Ano.", given(1))})]),
        {"user_id": "u3", "annotation": "__RESET__"},
        pearmut_line("u4", 1, [("news_###_d1_###_0", {"GPT 5.5": ("x", None)})], annotation=[None]),
    ]  # fmt: skip
    files = read(tmp_path, "x.json", json.dumps({"eng_Latn---ces_Latn v3": log}))
    assert [(*each[:6], each.score) for each in files.assessments] == [
        ("eng_Latn---ces_Latn", "GPT 5.5", "d1", "0", "news", "u1", 70.0),
        ("eng_Latn---ces_Latn", "Cohere CAT+", "d1", "1", "news", "u1", 50.0),
        ("eng_Latn---ces_Latn", "Cohere CAT+", "d2", "0", "", "u2", 50.0),
    ]
    first = files.assessments[0]
    # Two UTF-16 units are one character; the token behind the text says that something is missing.
    assert first.spans == (ErrorSpan(5, 7, "minor"), ErrorSpan(0, 0, "major", missing=True))
    assert first.seconds == pytest.approx(8.0 / 5)
    assert first.end == 9.0, "of two judgments of one segment the later counts"
    told = " ".join(files.notices)
    for what in (
        "1 of documents that were edited again",
        "1 of annotators who started again",
        "1 of welcome, random and goodbye pages",
        "1 of segments that were skipped",
        "1 of attention checks",
        "1 of tutorials",
        "1 of forms and segments without an id",
        "show only some of the 2 systems",
    ):
        assert what in told, what
    logged = read(tmp_path, "eng_Latn---ces_Latn.jsonl", log)
    assert [each[1:6] for each in logged.assessments] == [each[1:6] for each in files.assessments]


def test_pearmut_counts_the_blanks_around_a_translation(tmp_path):
    log = [pearmut_line("u1", 0, [("d_###_0", {"tug": ("  Ahoj. ", given(5, span(2, 5), span(7, 7), span(8, 8)))})])]
    (found,) = read(tmp_path, "en-cs.jsonl", log).assessments
    assert found.spans == (ErrorSpan(2, 6, "minor"), ErrorSpan(7, 8, "minor"), ErrorSpan(0, 0, "minor", missing=True))


def test_pearmut_without_scores_is_mqm(tmp_path):
    log = [
        pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given(None, span(0, 1, "major", "Accuracy/Addition")))})]),
        pearmut_line("u1", 1, [("d_###_1", {"tug": ("Ahoj.", given(None))})]),
    ]
    found = read(tmp_path, "en-cs.jsonl", log).assessments
    assert [(each.score, [one.category for one in each.spans]) for each in found] == [
        (-5.0, ["Accuracy/Addition"]),
        (0.0, []),
    ]
    # Where nobody marked anything, either, it was skipped, not found without errors.
    skipped = read(tmp_path, "skipped.jsonl", log[1:])
    assert (skipped.assessments, "1 of segments that were skipped" in " ".join(skipped.notices)) == ([], True)


@pytest.mark.parametrize(
    ("category", "weight"),
    [
        ("Source issue", 0.0), ("source_issue", 0.0), ("Other/Source-issue", 0.0), ("Reinterpretation", 0.0),
        ("Accuracy/Creative_Reinterpretation", 0.0), ("Accuracy/Mistranslation", 5.0), ("", 5.0), ("source", 5.0),
    ],
)  # fmt: skip
def test_what_is_no_fault_of_a_system_weighs_nothing_however_it_is_written(category, weight):
    assert weight_of("major", category, "x") == weight


def test_pearmut_that_is_wrong(tmp_path):
    good = pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given(5))})])
    assert "both lists" in refused(tmp_path, "a", [{**good, "annotation": "x"}])
    assert "1 segments, but 2 annotations" in refused(tmp_path, "a", [{**good, "annotation": good["annotation"] * 2}])
    assert "'tug' was judged without a translation" in refused(
        tmp_path, "a", [{**good, "item": [{"item_id": "d_###_0", "tgt": {"raft": "x"}}]}]
    )
    assert "'good' is no score" in refused(
        tmp_path, "a", [pearmut_line("u1", 0, [("d_###_0", {"tug": ("Ahoj.", given("good"))})])]
    )
    assert "must be a list of annotations" in refused(tmp_path, "a", '{"c": {"annotation": 1, "user_id": 3}}')


@pytest.mark.parametrize("at", range(4))
def test_an_annotation_of_pearmut_is_named_by_its_place_from_one(tmp_path, at):
    """In an export of campaigns, where a line holds many."""
    lines = [pearmut_line("u1", place, [("d_###_0", {"tug": ("Ahoj.", given(5))})]) for place in range(4)]
    lines[at]["annotation"] = "x"
    told = refused(tmp_path, "a", [{"first": lines[:0]}, {"en---cs": lines}])
    assert f"a, line 2, annotation {at + 1} of 'en---cs'" in told


def test_every_file_may_tell_something(tmp_path):
    """Notices of one do not take the place of another's."""
    places = []
    for number in range(3):
        places.append(tmp_path / f"{number}.jsonl")
        segments = [("d_###_0", {"tug": ("Ahoj.", given(str(number)))})]
        places[-1].write_text(json.dumps(pearmut_line(f"u{number}", 0, segments)) + "\n")
    files = AssessmentFiles()
    files.read(places)
    assert [sum(each.startswith(f"{place}: 1 score written") for each in files.notices) for place in places] == [1] * 3


def test_an_empty_file(tmp_path):
    assert "is empty" in refused(tmp_path, "a.csv", "")
