"""What the parts of a report hand to their templates: numbers, signs, limits and what is left out."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from campaigns.reports import breakdowns, differences, influential_segments, leaderboard, limits, method, page, scatters
from campaigns.reports.breakdowns import documents_body, groups_body, references_body
from campaigns.reports.differences import MetricPairs, differences_body
from campaigns.reports.influential_segments import LETTERS, ExplainedPair, SegmentTexts, influential_segments_body
from campaigns.reports.leaderboard import CORRECTIONS, MARGIN, WIDTH, drawn, leaderboard_body
from campaigns.reports.method import method_body
from campaigns.reports.page import render_page
from campaigns.reports.scatters import scatters_body
from campaigns.reports.template import language, make_environment
from steelyard.inspection.influential_segments import InfluentialSegment, InfluentialSegments
from steelyard.inspection.marks import Mark
from steelyard.resampling.paired import PairedResult


@pytest.fixture(autouse=True)
def _values_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies are the values of their templates here."""
    for module in (breakdowns, differences, influential_segments, leaderboard, method, page, scatters):
        monkeypatch.setattr(module, "rendered", lambda _template, **values: values)


def system(name: str, *scores: float | None, **more: Any) -> Any:
    found = [
        SimpleNamespace(score=each, rank=more.get("rank"), scale=100.0, details={}, signature="s") for each in scores
    ]
    return SimpleNamespace(name=name, scores=found)


def board(*rows: Any, metrics: Any = ("bleu", "ter"), sorted_by: int = 0, **more: Any) -> Any:
    return SimpleNamespace(
        rows=rows,
        listed=SimpleNamespace(metrics=metrics, references=more.pop("references", ("A",))),
        titles=[each.upper() for each in metrics],
        sorted_by=sorted_by,
        name=lambda row: row.name,
        **more,
    )


def test_scores_by_reference_are_found_by_metric_not_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    first = board(system("ant", 10.0, 70.0, rank=2), system("bee", 20.0, 60.0), sorted_by=1)
    other = board(system("bee", 61.0), system("ant"), metrics=("ter",), references=("A", "B"))
    parts = references_body([first, other])["parts"]
    assert [(each["label"], each["folded"]) for each in parts] == [("TER", False), ("BLEU", True)]
    assert [[row["name"], *row["cells"]] for each in parts for row in each["rows"]] == [
        ["ant", "70.0 (2)", "n/a"], ["bee", "60.0", "61.0"], ["ant", "10.0 (2)", "n/a"], ["bee", "20.0", "n/a"],
    ]  # fmt: skip
    assert [each["name"] for each in parts[0]["columns"]] == ["A", "A + B"]
    monkeypatch.setattr(limits, "BREAKDOWN_SYSTEMS", 1)
    (part, _) = references_body([first, other])["parts"]
    assert [row["name"] for row in part["rows"]] == ["ant"]
    assert part["caption"].endswith(" 1 more systems are not shown.")


def broken(scores: Any, sizes: Any, what: str = "length") -> Any:
    partition = SimpleNamespace(groups=[f"g{number}" for number in range(len(sizes))], sizes=sizes, what=what)
    return SimpleNamespace(scores=np.array(scores, float), partition=partition)


def test_small_groups_are_marked_and_left_out_of_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    charts: list[Any] = []
    monkeypatch.setattr(
        breakdowns, "curve", lambda series, *_, **more: charts.append((series, more["ticks"])) or "<svg/>"
    )
    monkeypatch.setattr(limits, "LINES", 1)
    few = limits.SMALL_GROUP
    given = broken([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]] * 2, [few, few - 1, few + 1])
    found = groups_body(board(system("ant", 1.0, 1.0), system("bee", 1.0, 1.0), sorted_by=1), given, lines=True)
    first, second = found["parts"]
    assert [(each["label"], each["folded"]) for each in (first, second)] == [
        ("TER by length", False),
        ("BLEU by length", True),
    ]
    assert [column["few"] for column in first["columns"]] == [False, True, False]
    assert [column["size"] for column in first["columns"]] == [few, few - 1, few + 1]
    assert [row["cells"] for row in second["rows"]] == [["1.0", "2.0", "3.0"]] * 2
    (series, ticks), _ = charts
    assert (ticks, [each.name for each in series], list(series[0].y)) == (["g0", "g2"], ["ant"], [1.0, 3.0])
    assert first["figcaption"].startswith("The first 1 systems")


def test_documents_by_their_mean_over_the_systems_that_have_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXTREMES", 1)
    scores = [[[5.0, 1.0, math.nan, math.nan]], [[7.0, 3.0, 9.0, math.nan]]]
    given = broken(scores, [1_000, 2, 3, 4])
    one = board(system("ant", 1.0), system("bee", 1.0), system("cow"), metrics=("bleu",))
    parts = documents_body(one, given)["parts"]
    assert [(part["label"], [row["name"] for row in part["rows"]], part["folded"]) for part in parts] == [
        ("Lowest scores", ["g1"], False),
        ("Highest scores", ["g2"], False),
        ("All documents", ["g0", "g1", "g2", "g3"], True),
    ]
    assert [row["cells"] for row in parts[2]["rows"]] == [
        ["1,000", "6.0", "5.0", "7.0"],
        ["2", "2.0", "1.0", "3.0"],
        ["3", "9.0", "n/a", "9.0"],
        ["4", "n/a", "n/a", "n/a"],
    ]
    monkeypatch.setattr(limits, "DOCUMENTS", 3)
    assert parts[2]["caption"].endswith("All documents in their original order.")
    few = documents_body(one, given)["parts"][2]
    assert (len(few["rows"]), "The first 3 documents; 1 more." in few["caption"]) == (3, True)
    monkeypatch.setattr(limits, "EXTREMES", 2)
    (all_of_them,) = documents_body(one, given)["parts"]
    assert not all_of_them["folded"], "three documents with a mean have no extremes"


def test_two_of_each_extreme_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXTREMES", 2)
    given = broken([[[3.0, 1.0, 5.0, 2.0, 4.0]]], [9] * 5)
    low, high, _ = documents_body(board(system("ant", 1.0), metrics=("bleu",)), given)["parts"]
    assert [row["name"] for row in low["rows"]] == ["g1", "g3"]
    assert [row["name"] for row in high["rows"]] == ["g2", "g4"]


def explained(*, higher: bool = True, difference: float = -3.0, test: Any = None, **more: Any) -> ExplainedPair:
    one, other = InfluentialSegment(4, -0.5, 20.0, 10.0), InfluentialSegment(7, 0.25, None, 30.0)
    segments = InfluentialSegments(**{**DRIVERS, "difference": difference, "for_first": [one], "for_second": [other]})
    return ExplainedPair("p1", "ant", "bee", "TER ↓", 100.0, higher, segments, test=test, **more)


DRIVERS = dict.fromkeys(InfluentialSegments.__dataclass_fields__, 0)


@pytest.mark.parametrize(
    ("higher", "difference", "test_difference", "interval", "advantage", "ends", "ahead"),
    [
        (True, -3.0, -3.0, (-4.0, -1.0), "+3.00", (1.0, 4.0), True),
        (True, -3.0, 3.0, (1.0, 4.0), "+3.00", (1.0, 4.0), True),
        (True, 3.0, 3.0, (1.0, 4.0), "−3.00", (-4.0, -1.0), False),
        (False, 3.0, 3.0, (1.0, 4.0), "+3.00", (1.0, 4.0), True),
        (False, -3.0, -3.0, (-4.0, 1.0), "−3.00", (-4.0, 1.0), False),
        (False, 0.0, 0.0, None, "0.00", None, False),
    ],
)
def test_the_advantage_is_that_of_the_first(
    higher: bool, difference: float, test_difference: float, interval: Any, advantage: str, ends: Any, ahead: bool
) -> None:
    test = PairedResult(0, 1, 0, test_difference, 0.5, 0.001, interval)
    (found,) = influential_segments_body([explained(higher=higher, difference=difference, test=test)], segments=9)[
        "pairs"
    ]
    assert (found["advantage"].lstrip("±"), found["ahead"], found["level"]) == (advantage, ahead, difference == 0)
    assert found["ends"] == influential_segments.TYPESET.interval(ends, 2)
    assert found["p"] == influential_segments.p_value(0.001), "the corrected one"
    assert found["metric"] == "TER"


def test_segments_are_counted_from_1_and_long_texts_are_cut() -> None:
    long = "a" * (LETTERS + 5)
    own = SegmentTexts("doc", long, [("A", "the cat sat"), ("B", "a dog ran home")], "a dog ran off", long)
    pair = explained(texts={4: own})
    body = influential_segments_body([pair], segments=9)
    (found,) = body["pairs"]
    (first, (shown,)), (second, (hidden,)) = found["sides"]
    assert (first, second, body["texts"]) == ("ant", "bee", "references")
    assert (shown["number"], shown["document"], hidden["number"]) == (5, "doc", 8)
    assert shown["source"] == "a" * LETTERS + " … (5 more characters)"
    assert shown["influence"] == "0.500"
    ant, bee = shown["outputs"]
    assert (ant["name"], ant["score"], ant["closest"]) == ("ant", "TER 20.0", "B")
    assert (bee["name"], bee["score"]) == ("bee", "TER 10.0")
    assert ant["missing"] == ["home"]
    assert "".join(run.text for run in bee["runs"]) == "a" * LETTERS + " … (5 more characters)"
    assert bee["runs"][-1].mark is Mark.UNMARKED, "what was not compared is not said to differ"
    assert [run.text for each in hidden["outputs"] for run in each["runs"]] == ["not shown"] * 2


def paired(a: int, b: int, difference: float = 1.0, p: float = 0.01) -> PairedResult:
    return PairedResult(a, b, 0, difference, p, p)


def test_marks_links_and_limits_of_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["ant", "bee", "cow"]
    pairs = [paired(0, 1, 1.0, 0.05), paired(0, 2, 2.0, 0.049), paired(1, 2, 0.0, 0.001)]
    metric = MetricPairs("BLEU", True, 100.0, pairs)
    (matrix,) = differences_body(names, [metric], alpha=0.05, what="w", links={(2, 0): "#x"})["matrices"]
    ant, bee, cow = (row["cells"] for row in matrix["rows"])
    assert (ant[1]["kind"], ant[2]["kind"], cow[0]["kind"], bee[2]["kind"]) == ("", "down", "up", "")
    assert ant[0] is None
    assert (ant[2]["link"], cow[0]["link"], ant[1]["link"]) == ("#x", "#x", "")
    # By learned metrics differences are hundredths.
    small = MetricPairs("COMET", True, 1.0, [paired(0, 2, 0.004)])
    (narrow,) = differences_body(names, [small], alpha=0.05, what="w")["matrices"]
    assert [narrow["rows"][row]["cells"][column]["kind"] for row, column in ((0, 2), (2, 0))] == ["down", "up"]
    lower = MetricPairs("TER", False, 100.0, pairs)
    (turned,) = differences_body(names, [lower], alpha=0.05, what="w")["matrices"]
    assert (turned["rows"][0]["cells"][2]["kind"], turned["descending"]) == ("up", True)
    monkeypatch.setattr(differences, "MATRIX_METRICS", 2)
    many = differences_body(
        names, [metric, MetricPairs("x", True, 1.0, []), lower, metric], alpha=0.05, what="w", most=2
    )
    assert (len(many["matrices"]), many["left_out"]) == (2, 1)
    assert (many["matrices"][0]["names"], many["matrices"][0]["left_out"]) == (["ant", "bee"], 1)


def test_a_whisker_stays_on_its_axis() -> None:
    wide = WIDTH - 2 * MARGIN
    cell = drawn(15.0, (10.0, 20.0), 100.0, (0.0, 20.0))
    assert (cell.score, cell.low, cell.high) == ("15.0", "10.00", "20.00")
    assert cell.whisker == pytest.approx((MARGIN + wide / 2, MARGIN + wide * 0.75, MARGIN + wide))
    assert drawn(25.0, (10.0, 20.0), 100.0, (0.0, 20.0)).whisker[1] == WIDTH - MARGIN
    assert drawn(-5.0, (10.0, 20.0), 100.0, (0.0, 20.0)).whisker[1] == MARGIN
    assert drawn(10.0, (10.0, 10.0), 100.0, (10.0, 10.0)).whisker == (MARGIN,) * 3
    assert drawn(None, (1.0, 2.0), 100.0, (0.0, 1.0)).whisker is None
    assert drawn(1.0, None, 100.0, (0.0, 1.0)).whisker is None


def test_clusters_axes_and_remarks_of_a_leaderboard() -> None:
    rows = [system("ant", 30.0, rank=1), system("bee", 25.0, rank=2), system("cow", 20.0, rank=3), system("dog")]
    intervals = {30.0: (28.0, 31.0), 25.0: (24.0, 26.0), 20.0: None}
    places = [
        SimpleNamespace(cluster=1, low=1),
        SimpleNamespace(cluster=1, low=2),
        SimpleNamespace(cluster=2, low=2),
        None,
    ]
    one = board(
        *rows,
        metrics=("bleu",),
        interval=lambda score: intervals[score.score],
        rank_of=lambda position, _metric: places[position],
        remark=lambda row: "late" if row.name == "dog" else "",
        ranking=SimpleNamespace(correction="bh"),
    )
    found = leaderboard_body(one)
    assert [[line.name for line in cluster] for cluster in found["clusters"]] == [["ant", "bee"], ["cow"], ["dog"]]
    assert found["axes"] == [("24.0", "31.0")]
    assert [line.rank for cluster in found["clusters"] for line in cluster] == [1, 2, 3, None]
    assert (found["remarks"], found["ranked"], found["descending"]) == (True, True, False)
    assert found["correction"] == CORRECTIONS["bh"]
    assert len(set(CORRECTIONS.values())) == 3


def test_counts_have_no_digits_and_what_a_system_lacks_is_empty() -> None:
    rows = [system("ant", 1.0), system("bee", 1.0), system("cow")]
    rows[0].scores[0].details = {"tokens": 3.0, "share": 0.5}
    rows[1].scores[0].details = {"share": 1.0, "extra": 2.0}
    found = method_body([board(*rows, metrics=("bleu",))], ["one"])
    (figures,) = found["figures"]
    assert (figures["title"], figures["names"]) == ("BLEU, A", ["tokens", "share", "extra"])
    assert figures["rows"] == [("ant", ["3", "0.500", ""]), ("bee", ["", "1.000", "2"])]
    assert found["signatures"] == [("BLEU, A", "s")]
    assert method_body([board(system("cow"))], [])["signatures"] == []


def test_notices_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(page, "rendered", lambda _template, **values: given.update(values) or "")
    monkeypatch.setattr(page, "NOTICES", 2)
    for number, left_out in ((1, 0), (2, 0), (5, 3)):
        render_page("t", [], [str(each) for each in range(number)])
        assert (len(given["notices"]), given["left_out"]) == (min(number, 2), left_out)


def test_scatters_show_known_points_and_some_pairs_of_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scatters, "SCATTER_METRICS", 2)
    values = {"one": [1.0, 2.0, 3.0, 4.0], "two": [4.0, 3.0, 2.0, math.nan], "six": [0.0] * 4}
    human = {"da": [1.0, math.nan, 2.0, math.inf]}
    found = scatters_body(["a", "b", "c", "d"], values, human, ["hello"])
    captions = [each["caption"] for each in found["figures"]]
    assert captions == [
        *(
            "da against one: 2 systems, too few for a correlation.",
            "da against two: 2 systems, too few for a correlation.",
        ),
        *("da against six: 2 systems, too few for a correlation.", "two against one: 3 systems, Pearson's r = −1.00."),
    ]
    assert found["introduction"] == ["hello", "1 more metrics are not shown against each other."]
    assert (found["columns"], found["rows"][3]) == (
        ["one", "two", "six", "da"],
        ("d", ["4.000", "n/a", "0.000", "inf"]),
    )


@pytest.mark.parametrize(
    ("code", "known"),
    [("en", "en"), ("zh_Hant", "zh-Hant"), ('en" x="', ""), ("e", ""), ("en\n", ""), ("ces-CZ", "ces-CZ")],
)
def test_only_codes_are_languages(code: str, known: str) -> None:
    assert language(code) == known


def test_whatever_comes_from_outside_is_escaped_and_can_be_shown() -> None:
    template = make_environment().from_string("{{ value }}")
    assert template.render(value="<b>&\x00\x1b\x7f\x9f\t\n") == "&lt;b&gt;&amp;" + "\ufffd" * 4 + "\t\n"


def test_of_many_systems_the_best_known_ones_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without a score by the first metric is none of the best, whichever way is better."""
    monkeypatch.setattr(scatters, "SCATTER_SYSTEMS", 2)
    scores = [math.nan, 3.0, 1.0, math.nan, 2.0]
    for title, best in (("BLEU", ["b", "e"]), ("TER ↓", ["c", "e"])):
        found = scatters_body(list("abcde"), {title: scores, "other": [5.0, 4.0, 3.0, 2.0, 1.0]})
        assert [name for name, _ in found["rows"]] == best
        assert f"Of 5 systems, charts and table show the best 2 by {title}." in found["introduction"]
        [figure] = found["figures"]
        # The correlation is that of all known ones; of TER, turned: 3, 1 and 2 fall as 4, 3 and 1 do.
        r = "0.33" if title == "BLEU" else "−0.33"
        assert figure["caption"] == f"other against {title}: 3 systems, Pearson's r = {r}."
