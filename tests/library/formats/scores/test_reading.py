"""Every format of files of scores, found by what it contains."""

import gzip
import json
import re

import numpy as np
import pytest

from steelyard.errors import BadText
from steelyard.formats.input import given_files
from steelyard.formats.scores.reading import read_scores
from steelyard.formats.scores.score_runs import BadScores
from steelyard.text.limits import TextLimits

NAN = float("nan")
HEADER = "system\tmetric\tsegment\tscore\n"


def written(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def lines(*objects):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def wmt(document, scores, pair="en-cs_CZ", domain="news"):
    return {"language_pair": pair, "domain": domain, "document_id": document, "metric_scores": scores}


def as_lists(table):
    return [[None if np.isnan(score) else score for score in row] for row in table.scores]


def test_wmt_scores_of_several_systems_and_pairs(tmp_path):
    """Documents come in another order in the second file; one score is null."""
    first = lines(
        wmt("a", {"X": [1, 2.5], "Y": [0.5, -1]}), wmt("b", {"X": [3], "Y": [None]}), wmt("a", {"X": [9]}, "en-de_DE")
    )
    second = lines(wmt("b", {"X": [6], "Y": [0.25]}), wmt("a", {"X": [4, 5], "Y": [7, 8]}))
    found = read_scores([written(tmp_path, "GPT-4.1.jsonl.gz", first), written(tmp_path, "Cohere CAT+.jsonl", second)])
    assert [(each.pair, each.systems) for each in found] == [
        ("en-cs_CZ", ("GPT-4.1", "Cohere CAT+")),
        ("en-de_DE", ("GPT-4.1",)),
    ]
    assert [(each.name, as_lists(each)) for each in found[0].metrics] == [
        ("X", [[1, 2.5, 3], [4, 5, 6]]),
        ("Y", [[0.5, -1, None], [7, 8, 0.25]]),
    ]
    assert [len(each.notices) for each in found[0].metrics] == [0, 1]
    assert "GPT-4.1 (1)" in found[0].metrics[1].notices[0]


def test_a_document_of_the_same_name_in_two_domains_is_two(tmp_path):
    path = written(tmp_path, "s.jsonl", lines(wmt("1", {"X": [1]}), wmt("1", {"X": [2]}, domain="social")))
    assert as_lists(read_scores([path])[0].metrics[0]) == [[1, 2]]


def test_a_system_without_a_document_or_metric_has_no_scores_there(tmp_path):
    one = written(tmp_path, "one.jsonl", lines(wmt("a", {"X": [1, 2], "Y": [5, 5]}), wmt("b", {"X": [3], "Y": [5]})))
    other = written(tmp_path, "other.jsonl", lines(wmt("b", {"X": [4]})))
    (found,) = read_scores([one, other])
    assert as_lists(found.metrics[0]) == [[1, 2, 3], [None, None, 4]]
    assert as_lists(found.metrics[1]) == [[5, 5, 5], [None, None, None]]
    assert "other (2)" in found.metrics[0].notices[0]
    assert "no scores of other" in found.metrics[1].notices[0]


def test_documents_of_a_file_may_have_different_metrics(tmp_path):
    """As in WMT25, where a pair has a metric that others lack; here two domains differ."""
    one = written(tmp_path, "one.jsonl", lines(wmt("a", {"X": [1, 2]}), wmt("b", {"X": [3], "Y": [5]})))
    other = written(tmp_path, "other.jsonl", lines(wmt("b", {"Y": [8], "X": [6]}), wmt("a", {"X": [4, NAN]})))
    (found,) = read_scores([one, other])
    assert [(each.name, as_lists(each)) for each in found.metrics] == [
        ("X", [[1, 2, 3], [4, None, 6]]),
        ("Y", [[5], [8]]),
    ]


def test_systems_that_differ_in_the_length_of_a_document_are_named_with_their_lines(tmp_path):
    paths = [
        written(tmp_path, f"{name}.jsonl", lines(wmt("a", {"X": [1]}), wmt("b", {"X": scores})))
        for name, scores in {"s": [1, 2], "t": [1, 2], "u": [1]}.items()
    ]
    with pytest.raises(BadScores, match=r"u\.jsonl, line 2: u has 1 score of 'b' by X, but s has 2 .*s\.jsonl, line 2"):
        read_scores(paths)


def test_the_same_file_twice_is_refused(tmp_path):
    path = written(tmp_path, "s.jsonl", lines(wmt("a", {"X": [1]})))
    with pytest.raises(BadScores, match="two scores"):
        read_scores([path, path])


def test_comet(tmp_path):
    """The system is the stem of the path that was typed; the pair is a folder of it."""
    segments = [{"src": "a", "mt": "b", "ref": "c", "COMET": 0.75, "errors": []}, {"src": "d", "mt": "e", "COMET": NAN}]
    text = json.dumps(
        {"out/en-de/GPT-4.1.txt": segments, "out/en-de/x.txt": [{**each, "COMET": 1} for each in segments]}
    )
    (found,) = read_scores([written(tmp_path, "scores.json", text)])
    assert (found.pair, found.systems) == ("en-de", ("GPT-4.1", "x"))
    assert [(each.name, as_lists(each)) for each in found.metrics] == [("COMET", [[0.75, None], [1, 1]])]


def test_a_line_may_be_longer_than_any_segment(tmp_path):
    """COMET writes all it has into one."""
    text = json.dumps({"out/en-de/x.txt": [{"src": "a" * 1500, "mt": "b", "COMET": 0.5}] * 1000})
    assert len(text) > TextLimits().segment_characters
    (found,) = read_scores([written(tmp_path, "scores.json", text)])
    assert as_lists(found.metrics[0]) == [[0.5] * 1000]


def test_metricx_is_an_error_and_its_segments_may_come_in_any_order(tmp_path):
    rows = [
        {"source": "", "hypothesis": "x", "system_id": system, "segment_id": number, "prediction": score}
        for system, number, score in [("a", 0, 3.5), ("b", 1, 2.0), ("a", 1, 0.5), ("b", 0, 25)]
    ]
    (found,) = read_scores([written(tmp_path, "en-de/all.jsonl", lines(*rows))])
    (metric,) = found.metrics
    assert (found.pair, found.systems, metric.higher_is_better) == ("en-de", ("a", "b"), False)
    assert as_lists(metric) == [[3.5, 0.5], [25, 2]]


def test_metricx_without_ids_goes_by_the_order_of_lines(tmp_path):
    paths = [
        written(tmp_path, f"{name}.jsonl", lines(*({"hypothesis": "", "prediction": score} for score in scores)))
        for name, scores in {"a": [1, 2], "b": [3, 4]}.items()
    ]
    (found,) = read_scores(paths)
    assert (found.systems, as_lists(found.metrics[0])) == (("a", "b"), [[1, 2], [3, 4]])


def test_mt_metrics_eval(tmp_path):
    """Blocks of systems interleave; of several levels the finest counts; names hold dots and dashes."""
    folder = tmp_path / "metric-scores" / "en-sr_Cyrl_RS"
    written(folder, "MetricX-25.1-src.seg.score", "GPT-4.1\t-3.25\nrefA\t-1\nGPT-4.1\tNone\nrefA 2e-1\n")
    written(folder, "MetricX-25.1-src.sys.score", "GPT-4.1\t-9\nrefA\t-9\n")
    written(folder, "BLEU-refA.sys.score", "GPT-4.1\t30.5\n")
    written(folder, "read.me", "nothing")
    (found,) = read_scores([tmp_path])
    assert (found.pair, found.systems) == ("en-sr_Cyrl_RS", ("GPT-4.1", "refA"))
    assert [(each.name, each.level, as_lists(each)) for each in found.metrics] == [
        ("BLEU-refA", "system", [[30.5], [None]]),
        ("MetricX-25.1-src", "segment", [[-3.25, None], [-1, 0.2]]),
    ]


def test_scores_of_people_are_named_by_their_pair(tmp_path):
    (found,) = read_scores([written(tmp_path, "en-de.mqm.rater1.seg.score", "a\t-5\nb\t0\n")])
    assert (found.pair, [each.name for each in found.metrics]) == ("en-de", ["mqm.rater1"])


def test_the_metrics_task_of_2025(tmp_path):
    header = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall\n"
    rows = [
        "d1\t1\ten\tcs_CZ\tofficial\tYolu\tliterary\tESA\t93\n",
        "d1\t2\ten\tcs_CZ\tofficial\tYolu\tliterary\tESA\tNaN\n",
        "c1\t1\ten\tcs_CZ\tchallenge_X\thyp1\tNaN\tNaN\t5\n",
    ]
    (found,) = read_scores([written(tmp_path, "Ours/segments.tsv", header + "".join(rows))])
    assert (found.pair, found.systems, found.metrics[0].name) == ("en-cs_CZ", ("Yolu",), "Ours")
    assert as_lists(found.metrics[0]) == [[93, None]]


def test_the_metrics_task_until_2023(tmp_path):
    rows = "M\ten-de\twmt23\tnews\td1\trefA\tx\t1\t0.5\nM\ten-de\twmt23\tnews\td1\trefA\tx\t2\t1\n"
    systems = "S\ten-de\twmt23\tall\trefA\tx\t7\nS\ten-de\twmt23\tnews\trefA\tx\t8\n"
    (found,) = read_scores([written(tmp_path, "a.tsv", rows), written(tmp_path, "b.tsv", systems)])
    assert [(each.name, each.level, as_lists(each)) for each in found.metrics] == [
        ("M", "segment", [[0.5, 1]]),
        ("S", "system", [[7]]),
    ]


def test_our_own_table(tmp_path):
    """Columns in any order, levels mixed, a metric of which less is better."""
    text = (
        "system\tpair\tmetric\tscore\tdocument\tsegment\r\n"
        "a\ten-de\tM\t1.5\td\ts1\r\nb\ten-de\tM\t\td\ts1\r\na\ten-de\tM\t2\td\ts2\r\nb\ten-de\tM\t+4.\td\ts2\r\n"
        "a\ten-de\tD\t7\td\t\r\nb\ten-de\tD\t8\td\t\r\na\ten-de\tS\t9\t\t\r\n"
    )
    (found,) = read_scores([written(tmp_path, "scores.tsv", text)], lower_is_better=["M"])
    assert [(each.name, each.level, each.higher_is_better, as_lists(each)) for each in found.metrics] == [
        ("M", "segment", False, [[1.5, 2], [None, 4]]),
        ("D", "document", True, [[7], [8]]),
        ("S", "system", True, [[9], [None]]),
    ]


def test_a_system_with_scores_at_a_coarser_level_alone_has_none_at_the_finer(tmp_path):
    (found,) = read_scores([written(tmp_path, "t.tsv", HEADER + "a\tX\t1\t1\na\tX\t2\t3\nb\tX\t\t1\n")])
    assert (found.systems, as_lists(found.metrics[0])) == (("a", "b"), [[1, 3], [None, None]])
    assert any("no scores of b" in each for each in found.metrics[0].notices)


WRONG = {
    "plain text": ("x.tsv", "Ein Satz .\nNoch ein langer Satz .\n", "not a file of scores"),
    "another number of paragraphs": ("s.jsonl", lines(wmt("a", {"X": [1, 2], "Y": [1]})), "X 2, Y 1"),
    "another number of paragraphs in a list": ("s.jsonl", lines(wmt("a", {"X": [1, 2], "Y": 1})), "must be a list"),
    "a text for a score": ("s.jsonl", lines(wmt("a", {"X": ["0.5"]})), "line 1"),
    "a text for a score, further down": (
        "s.jsonl", lines(wmt("a", {"X": [1, None]}), wmt("b", {"X": [2, "n/a"]})), "s.jsonl, line 2: 'n/a' is no number"
    ),
    "a score that is too large, further down": (
        "s.jsonl", lines(wmt("a", {"X": [1, None]}), wmt("b", {"X": [2, NAN, -2e6]})), "line 2: score 3 of s by X"
    ),
    "another number of paragraphs, further down": (
        "s.jsonl", lines(wmt("a", {"X": [1], "Y": [1]}), wmt("b", {"X": [1, 2], "Y": [1]})), "line 2: .*X 2, Y 1"
    ),
    "a truth for a score": ("s.jsonl", lines(wmt("a", {"X": [True]})), "line 1"),
    "a score without end": ("s.jsonl", lines(wmt("a", {"X": [1]})).replace("[1]", "[1e999]"), "at most"),
    "a number of 5,000 digits": (
        "s.jsonl", lines(wmt("a", {"X": [1]})).replace("[1]", f"[{'9' * 400}]"), "too large"
    ),
    "no JSON": ("s.jsonl", lines(wmt("a", {"X": [1]})) + '{"metric_scores"\n', "line 2"),
    "deep JSON": ("s.jsonl", lines(wmt("a", {"X": [1]})) + "[" * 100_000 + "\n", "line 2"),
    "no object": ("s.jsonl", lines(wmt("a", {"X": [1]})) + "[]\n", "line 2"),
    "no pair": ("s.jsonl", '{"metric_scores": {"X": [1]}, "document_id": ""}', "language_pair"),
    "no list": ("s.jsonl", lines(wmt("a", {"X": 1})), "list"),
    "a document twice": (
        "s.jsonl", lines(wmt("b", {"X": [1]}), wmt("a", {"X": [1]}), wmt("a", {"X": [1]})),
        "line 3: s has two scores by X for document 'a'",
    ),
    "a document twice, with other metrics": (
        "s.jsonl", lines(wmt("a", {"X": [1]}), wmt("a", {"X": [1], "Y": [1]})), "line 2: s has two scores by X"
    ),
    "a segment twice": ("t.tsv", HEADER + "a\tX\t1\t1\na\tX\t1\t1\n", "a has two scores by X for segment '1'. Give"),
    "too few columns": ("t.tsv", HEADER + "a\tX\t1\n", "line 2: 3 columns, not 4"),
    "too many columns": ("t.tsv", HEADER + "a\tX\t1\t1\t9\n", "line 2: 5 columns, not 4"),
    "a score far below all others": ("t.tsv", HEADER + "a\tX\t1\t-2e6\n", "of a by X is -2e.06, but must be at most"),
    "a segment that is not named": (
        "m.jsonl", lines({"prediction": 1, "segment_id": 1}, {"prediction": 2}), "of 2 scores of m by MetricX 1 name"
    ),
    "no number": ("t.tsv", HEADER + "a\tX\t1\t1,5\n", "1,5"),
    "a column twice": ("t.tsv", "system\tmetric\tsystem\tscore\n", "twice"),
    "no name": ("t.tsv", HEADER + "\tX\t1\t1\n", "name of a system"),
    "a name that hides": ("t.tsv", HEADER + "a\u202eb\tX\t1\t1\n", "name of a system"),
    "a pair that moves the cursor": (
        "s.jsonl", lines(wmt("a", {"X": [1]}, "en-de\x1b[2A")), "line 1: .* cannot be the name of a language pair"
    ),
    "no scores": ("t.tsv", HEADER, "no scores"),
    "a level that nobody knows": ("en-de/X-refA.seg2.score", "a 1\nb 2\n", "does not say of what"),
    "scores that are no object": (
        "s.jsonl", lines(wmt("a", {"X": [1]}), wmt("b", [1])),
        's.jsonl, line 2: "metric_scores" must hold a list of scores for each metric',
    ),
    "an answer of eight columns": (
        "a.tsv", "S\ten-de\twmt23\tall\trefA\tx\t7\n" * 2 + "S\ten-de\twmt23\tall\trefA\td\tx\t7\n",
        r"a.tsv, line 3: 8 columns, not 9 \(segments\) or 7 \(systems\)\.",
    ),
    "COMET without segments": (
        "c.json", '{"a.txt": [{"mt": "y", "COMET": 1}], "b.txt": {"COMET": 1}}',
        r"c.json, b.txt: must be a list of segments, each an object with its scores\.",
    ),
    "COMET with a bare score": (
        "c.json", '{"a.txt": [{"mt": "y", "COMET": 1}, 0.5]}',
        r"c.json, a.txt: must be a list of segments, each an object",
    ),
    "cut COMET": ("c.json", '{"a.txt": [{"src": "x", "mt": "y", "COMET": 1}', "not whole JSON"),
    "COMET without a score": ("c.json", '{"a.txt": [{"src": "x", "mt": "y"}]}', "no segment has a score"),
    "two columns that are not UTF-8": ("en-de/X.seg.score", b"a \xff\nb 2\n", "not a file of scores"),
    "nine columns that are not UTF-8": ("a.tsv", b"M\t" * 8 + b"\xff\n", "not a file of scores"),
    "columns that are not UTF-8": ("t.tsv", b"system\tmetric\tscore\t\xff\n", "UTF-8"),
    "not UTF-8": ("t.tsv", HEADER.encode() + b"a\xff\tX\t1\t1\n", "UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "told"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_reported(tmp_path, name, content, told):
    with pytest.raises(BadText, match=told):
        read_scores([written(tmp_path, name, content)])


@pytest.mark.parametrize("place", range(4))
def test_the_first_segment_with_two_scores_is_named(tmp_path, place):
    """Wherever it and a second one are given again."""
    segments = ["3", "1", "2", "4"]
    for behind in range(place + 1, 5):
        rows = [*segments[:behind], segments[place], *segments[behind:], segments[3]]
        first = next(each for at, each in enumerate(rows) if each in rows[:at])
        content = HEADER + "".join(f"a\tX\t{each}\t1\n" for each in rows)
        with pytest.raises(BadScores, match=f"a has two scores by X for segment '{first}'"):
            read_scores([written(tmp_path, "t.tsv", content)])


def test_a_folder_without_scores_is_refused(tmp_path):
    with pytest.raises(BadScores, match="no files of scores"):
        read_scores([tmp_path])


def test_all_files_below_a_folder_are_counted_before_any_is_read(tmp_path, monkeypatch):
    for place in range(6):
        written(tmp_path, f"en-{'de' if place % 2 else 'cs'}/M{place}-A.seg.score", "a 1\nb 2\n")
    monkeypatch.setattr(given_files, "MOST_ENTRIES", 6)
    assert [len(each.metrics) for each in read_scores([tmp_path])] == [3, 3]
    monkeypatch.setattr(given_files, "MOST_ENTRIES", 5)
    told = "holds more than 5 files. Give a folder of its own to what belongs together."
    with pytest.raises(given_files.TooManyFiles, match=rf"^{re.escape(f'{tmp_path}: {told}')}$"):
        read_scores([tmp_path])


def test_a_metric_that_is_not_there_names_those_that_are(tmp_path):
    (found,) = read_scores([written(tmp_path, "s.jsonl", lines(wmt("a", {"X": [1]})))])
    with pytest.raises(BadScores, match="Metrics: X"):
        found.metric("Y")


def test_equal_segments_are_in_equal_places_of_every_metric(tmp_path):
    """Whatever a file leaves out, and in which order it names documents and segments."""
    head = "system\tmetric\tdocument\tsegment\tscore\n"
    rows = [("X", "a", 1), ("X", "a", 2), ("X", "b", 1), ("Y", "a", 1), ("Y", "a", 2), ("Y", "b", 1)]
    value = {row: 10.0 * place for place, row in enumerate(rows)}
    named = [("M", rows), ("human", rows[2:])]
    paths = [
        written(
            tmp_path,
            f"{metric}.tsv",
            head + "".join(f"{s}\t{metric}\t{d}\t{n}\t{value[s, d, n]}\n" for s, d, n in own),
        )
        for metric, own in named
    ]
    (found,) = read_scores(paths)
    assert as_lists(found.metric("M")) == [[0, 10, 20], [30, 40, 50]]
    assert as_lists(found.metric("human")) == [[None, None, 20], [30, 40, 50]]


@pytest.mark.parametrize("nothing", ["", "none", "None", "NULL", "nan", "NaN", "n/a", "N/A"])
def test_what_stands_for_no_score(tmp_path, nothing):
    (found,) = read_scores([written(tmp_path, "t.tsv", HEADER + f"a\tX\t1\t{nothing}\na\tX\t2\t3\n")])
    assert as_lists(found.metrics[0]) == [[None, 3]]


def test_a_pair_is_that_of_the_line_then_of_the_innermost_folder(tmp_path):
    rows = [{"prediction": 1, "language_pair": "de-fr"}, {"prediction": 2, "lp": "cs-uk"}, {"prediction": 3}]
    found = read_scores([written(tmp_path, "de-en/en-cs/all.jsonl", lines(*rows))])
    assert [(each.pair, as_lists(each.metrics[0])) for each in found] == [
        ("de-fr", [[1]]),
        ("cs-uk", [[2]]),
        ("en-cs", [[3]]),
    ]
    segments = [{"mt": "x", "COMET": 1}]
    text = json.dumps({"out/en-de/a.txt": segments, "out/b.txt": segments})
    found = read_scores([written(tmp_path, "en-cs/scores.json", text)])
    assert [(each.pair, each.systems) for each in found] == [("en-de", ("a",)), ("en-cs", ("b",))]


def test_levels_of_a_metric_are_not_mixed(tmp_path):
    """The finest is taken, and coarser scores of the same system are none of its."""
    rows = ["a\tX\td\t\t50", "a\tX\t\t\t70", "a\tX\td\t1\t3", "a\tY\t\t\t7", "a\tY\td\t\t5", "a\tY\te\t\t6"]
    text = "system\tmetric\tdocument\tsegment\tscore\n" + "".join(f"{row}\n" for row in rows)
    (found,) = read_scores([written(tmp_path, "t.tsv", text)])
    assert [(each.name, each.level, as_lists(each)) for each in found.metrics] == [
        ("X", "segment", [[3]]),
        ("Y", "document", [[5, 6]]),
    ]
    assert [each.ids for each in found.metrics[1].documents] == [("d", "e")]


def test_a_domain_that_is_not_there_is_none(tmp_path, monkeypatch):
    header = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\toverall\n"
    rows = ["d1\t1\ten\tcs\t\tYolu\tNaN\t1\n", "d2\t1\ten\tcs\tofficial\tYolu\tnews\t2\n"]
    (found,) = read_scores([written(tmp_path, "M/s.tsv", header + "".join(rows))])
    assert [(each.domain, each.name) for each in found.metrics[0].documents] == [("", "d1"), ("news", "d2")]
    whole = "\tall\ten\tcs\tofficial\tYolu\tnews\t2\n"
    (found,) = read_scores([written(tmp_path, "M/t.tsv", header + whole)])
    assert (found.metrics[0].level, as_lists(found.metrics[0])) == ("system", [[2]])
    assert found.metrics[0].documents == (("", "", 1, None),)
    monkeypatch.chdir(tmp_path / "M")
    (found,) = read_scores(["t.tsv"])
    assert found.metrics[0].name == "overall", "nothing says what the metric is called"


def test_what_comet_calls_errors_is_no_score_though_it_were_a_number(tmp_path):
    text = json.dumps({"a.txt": [{"src": "x", "mt": "y", "errors": 0, "COMET": 1, "other": None}]})
    (found,) = read_scores([written(tmp_path, "c.json", text)])
    assert [each.name for each in found.metrics] == ["COMET", "other"]
