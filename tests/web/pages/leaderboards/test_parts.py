"""Parts of leaderboard pages from plain objects: links, where one's own systems are, which differences are certain."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from campaigns.corrections.board_changes import BoardChange
from campaigns.leaderboards.choice import BoardChoice
from campaigns.leaderboards.downloads import table_of
from campaigns.leaderboards.matrix import MatrixQuery
from models.results.boards import BoardSummary
from steelyard.resampling.paired import PairedResult
from steelyard_client.vocabulary import Constrained, PValueCorrection, SignificanceTest, SystemFilter
from web.pages.leaderboards import comparison
from web.pages.leaderboards.leaderboard import OWN, PAGE, Links, _own, _signed, closest_choice, reference_options
from web.pages.leaderboards.matrix import MatrixLinks, _short_names


def links(*, older: bool = False, columns: tuple[str, ...] = (), **query: Any) -> Links:
    listed = SimpleNamespace(metrics=("bleu", "ter"), protocol_id=7)
    choice: Any = SimpleNamespace(listed=listed, test_set_key="news@1", references="A,B", behind=older)
    asked = {"metric": 1, "shown": SystemFilter.RANKED, "constrained": Constrained.ANY} | query
    view: Any = SimpleNamespace(query=SimpleNamespace(**asked))
    return Links("wmt 26", choice, view, columns)


def parts(address: str) -> tuple[str, list[tuple[str, str]]]:
    split = urlsplit(address)
    return split.path, parse_qsl(split.query)


def choices() -> list[BoardChoice]:
    """Of one test set: its newest two, of other references each, and two older ones."""

    def choice(protocol: int, references: str, metrics: tuple[str, ...], **how: bool) -> BoardChoice:
        listed = BoardSummary(protocol, 1, "wmt", "news", "1", tuple(references), metrics, 10, 1, 3, 5)
        return BoardChoice(listed, replaced=False, **how)

    both = ("bleu", "ter")
    return [
        choice(9, "AB", both, superseded=False), choice(8, "A", both, superseded=False),
        choice(7, "A", ("wer",), superseded=False, behind=True),
        choice(6, "A", ("bleu",), superseded=True, behind=True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "number", "metric"),
    [
        ({"references": "A", "metric": "bleu"}, 8, "bleu"),
        ({"references": "A", "metric": "bleu", "board": 6}, 6, "bleu"),
        ({"references": "A", "metric": "wer", "board": 7}, 7, "wer"),
        # A form sends the number of the leaderboard that it stands on together with other references,
        ({"references": "A,B", "metric": "bleu", "board": 6}, 9, "bleu"),
        # and the references of a test set with another, which does not have them.
        ({"references": "C", "metric": "wer", "board": 6}, 9, "bleu"),
        ({"references": "A", "metric": "bleu", "board": 5}, 8, "bleu"),
    ],
)
def test_a_form_leads_to_the_leaderboard_that_is_closest(asked: dict[str, Any], number: int, metric: str) -> None:
    filters: Any = SimpleNamespace(**{"test_set": "news@1", "board": None, **asked})
    access: Any = SimpleNamespace(ranked_by="")
    choice, position = closest_choice(choices(), filters, access)
    assert (choice.listed.protocol_id, choice.listed.metrics[position]) == (number, metric)


def test_a_system_is_named_alone_where_that_tells_it_from_the_others() -> None:
    names = ["ants/mast", "bees/mast", "bees/keel", "mast 2", "keels", "ants/oar", "oar"]
    shown = ["ants/mast", "bees/mast", "keel", "mast 2", "keels", "ants/oar", "oar"]
    assert _short_names(names) == dict(zip(names, shown, strict=True))


def test_references_are_offered_once() -> None:
    for choice in choices():
        assert reference_options(choices(), choice) == [("A,B", "A + B"), ("A", "A")]


PLAIN = [("test_set", "news@1"), ("references", "A,B"), ("metric", "ter")]


def test_a_link_has_the_whole_state_of_its_page() -> None:
    assert parts(links().board()) == ("/campaigns/wmt%2026/leaderboard", PLAIN)
    assert parts(links().board(metric="bleu"))[1] == [*PLAIN[:2], ("metric", "bleu")]
    # An older leaderboard is found by its number alone.
    assert parts(links(older=True).board())[1] == [*PLAIN, ("board", "7")]
    assert parts(links(older=True).newest())[1] == PLAIN[:2]
    filtered = links(shown=SystemFilter.ALL, constrained=Constrained.NO, columns=("bleu",))
    assert parts(filtered.board())[1] == [*PLAIN, ("shown", "all"), ("constrained", "no"), ("column", "bleu")]
    assert parts(filtered.compare([3, 4], correction="holm")) == (
        "/campaigns/wmt%2026/compare",
        [*PLAIN, ("correction", "holm"), ("system", "3"), ("system", "4")],
    )
    assert parts(filtered.cancel(5, [3]))[0] == "/campaigns/wmt%2026/compare/5/cancel"
    assert ("comparison", "5") in parts(filtered.cancel(5, [3]))[1]
    assert parts(links().segments(3))[1] == [*PLAIN, ("system", "3")]
    assert parts(links().segments(3, 4))[1] == [*PLAIN, ("order", "difference"), ("system", "3"), ("system", "4")]


def test_a_link_of_the_matrix_has_the_whole_state_of_its_page() -> None:
    plain = MatrixQuery("ter", sort="gaps", only=("news", "talks@2"))
    told = [("metric", "ter"), ("sort", "gaps"), ("only", "news"), ("only", "talks@2")]
    assert parts(MatrixLinks("wmt 26", plain).matrix()) == ("/campaigns/wmt%2026/matrix", told)
    assert parts(MatrixLinks("wmt 26", plain).matrix(sort="news"))[1] == [told[0], ("sort", "news"), *told[2:]]
    for field, value in (
        ("shown", SystemFilter.ALL),
        ("constrained", Constrained.NO),
        ("constrained", Constrained.YES),
    ):
        query: Any = replace(plain, **{field: value})
        assert parts(MatrixLinks("wmt 26", query).matrix())[1] == [*told, (field, value.value)]
    assert parts(MatrixLinks("wmt 26", replace(plain, complete=True)).matrix())[1] == [*told, ("complete", "true")]


@pytest.mark.parametrize(("metric", "told"), [(0, "+0.3"), (1, "+0.2537"), (2, "+0.254")])
def test_a_change_has_the_digits_of_the_metric_that_ranks(metric: int, told: str) -> None:
    scores = [SimpleNamespace(scale=scale) for scale in (100.0, 1.0, math.inf)]
    lines = [SimpleNamespace(entry=SimpleNamespace(scores=each)) for each in ([], scores)]
    view: Any = SimpleNamespace(lines=lines, query=SimpleNamespace(metric=metric))
    assert _signed(view, BoardChange(0.2537, None)) == told


@pytest.mark.parametrize(("form", "whole"), [("json", True), ("csv", False), ("latex", False)])
def test_a_file_has_all_systems(form: str, whole: bool) -> None:
    path, query = parts(links().download(form))
    assert path == "/api/v1/campaigns/wmt%2026/leaderboard"
    assert query[:4] == [*PLAIN, ("format", form)]
    assert bool(query[4:]) == whole, "pages of JSON are short by default"


def test_ones_own_systems_lead_to_their_page() -> None:
    mine = {0, PAGE - 1, PAGE, 2 * PAGE + 5}
    teams = ["ants" if each in mine else "" for each in range(3 * PAGE)]
    lines = [SimpleNamespace(entry=SimpleNamespace(team=team), place=place) for place, team in enumerate(teams)]
    view: Any = SimpleNamespace(lines=lines)
    access: Any = SimpleNamespace(own_teams=("ants", ""))
    found = _own(view, access)
    assert [each["first"] for each in found] == [0, 0, PAGE, 2 * PAGE]
    assert [each["line"].place for each in found] == sorted(mine)
    view.lines = [SimpleNamespace(entry=SimpleNamespace(team="ants"))] * (OWN + 1)
    assert len(_own(view, access)) == OWN


@pytest.mark.parametrize("higher", [True, False])
def test_the_better_system_comes_first_and_corrected_p_values_decide(
    higher: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(comparison, "effects", lambda found, *_, **__: drawn.extend(found) or found)
    monkeypatch.setattr(comparison, "drawing", lambda chart: chart)
    monkeypatch.setattr(comparison, "short_names", lambda *_: dict(enumerate("abc")))
    figure = SimpleNamespace(scale=100.0, higher_is_better=higher, title="M")
    systems = [SimpleNamespace(scores=[figure])] * 3
    pairs = [
        PairedResult(0, 1, 0, 2.0, 0.01, 0.02, (1.0, 3.0)), PairedResult(0, 2, 0, -1.0, 0.01, 0.06, (-2.0, 0.5)),
        PairedResult(1, 2, 0, 0.0, 0.01, 0.01, None),
    ]  # fmt: skip
    compared: Any = SimpleNamespace(query=SimpleNamespace(systems=systems, metrics=[0]), results=[pairs])
    access: Any = None
    found = comparison._effects(access, compared, {(0, 2): "/there"})
    assert found is not None
    # A pair holds b minus a.
    names = [("b", "a"), ("a", "c")] if higher else [("a", "b"), ("c", "a")]
    assert [row[:2] for row in found.rows[:2]] == names
    assert [row[2:] for row in found.rows[:2]] == [
        ("+2.0" if higher else "−2.0", "[+1.0, +3.0]" if higher else "[−3.0, −1.0]", "0.0200"),
        ("+1.0" if higher else "−1.0", "[−0.5, +2.0]" if higher else "[−2.0, +0.5]", "0.0600"),
    ]
    assert [each.certain for each in drawn] == [True, False, False]
    assert [address for _, address in found.segments] == ["/there"]


@pytest.mark.parametrize(
    ("changed", "systems", "least", "begin", "why"),
    [
        ({}, 3, 1 / 21, "paired bootstrap with 20 replicates, seed 9", "No bootstrap replicates"),
        ({"correction": PValueCorrection.HOLM}, 3, 3 / 21, "paired bootstrap with 20 replicates", "No bootstrap"),
        ({"correction": PValueCorrection.BH}, 3, 1 / 21, "paired bootstrap with 20", "No bootstrap"),
        (
            {"test": SignificanceTest.RANDOMIZATION},
            3,
            1 / 21,
            "paired approximate randomization with 20 trials",
            "Rand",
        ),
        ({"drawing": True, "draws": 0}, 3, 1.0, "paired bootstrap with 0", "The results will appear here."),
        ({}, 1, 1 / 21, "paired bootstrap", "A comparison needs at least two"),
    ],
)
def test_the_page_knows_the_least_p_value_of_all_its_pairs(
    changed: dict[str, Any], systems: int, least: float, begin: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(comparison, "differences_body", lambda *given, **how: told.append((given, how)))
    monkeypatch.setattr(comparison, "short_names", lambda *_: dict(enumerate("abc"[:systems])))
    figures = [SimpleNamespace(title=each, higher_is_better=each == "BLEU", scale=100.0) for each in ("TER", "BLEU")]
    asked = {"test": SignificanceTest.BOOTSTRAP, "correction": PValueCorrection.NONE, "drawing": False, "draws": 20}
    asked |= changed
    query = SimpleNamespace(
        systems=[SimpleNamespace(scores=figures)] * systems, metrics=[1, 0], test=asked["test"],
        correction=asked["correction"],
    )  # fmt: skip
    pairs = [PairedResult(0, 1, 0, 1.0, 0.1, 0.1)] * 3
    compared: Any = SimpleNamespace(
        query=query, results=[pairs, pairs[:1]], draws=asked["draws"], drawing=asked["drawing"]
    )
    choice: Any = SimpleNamespace(listed=SimpleNamespace(resample="segment", seed=9))
    access: Any = None
    comparison._matrices(access, choice, compared, {(0, 1): "/there"})
    (((names, metrics), how),) = told
    assert names == list("abc"[:systems])
    assert [(each.metric, each.higher_is_better, len(each.pairs)) for each in metrics] == [
        *(("BLEU", True, 3), ("TER", False, 1)),
    ]
    assert how["least"] == pytest.approx(least)
    assert how["what"].startswith(begin)
    assert how["why"].startswith(why)
    assert how["links"] == {(0, 1): "/there"}


def board_line(number: int, cluster: int | None) -> Any:
    place = None if cluster is None else SimpleNamespace(low=number, high=number + 1, cluster=cluster)
    score = SimpleNamespace(score=50.0 - number, interval=None, scale=100.0)
    entry = SimpleNamespace(
        scores=[score], submission=number, team="", runs=("",),
        system=f"s{number}", alone=False, twice=False, of_team=1,
    )  # fmt: skip
    return SimpleNamespace(entry=entry, rank=number, place=place)


def test_a_file_for_papers_has_a_line_between_clusters_alone() -> None:
    lines = [board_line(*each) for each in ((1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, None))]
    listed = SimpleNamespace(name="news", references=("A",), replicates=9, seed=3, resample="segment")
    view: Any = SimpleNamespace(listed=listed, has_places=True, lines=lines, titles=["BLEU"], signatures=["sig"])
    access: Any = SimpleNamespace(
        teams={}, own_teams=(), name_of=lambda team: team, system_name_of=lambda _, system: system
    )
    human = SimpleNamespace(score=80.0, interval=SimpleNamespace(low=70.0, high=90.0), rank_low=4, rank_high=6)
    beside: Any = SimpleNamespace(human_places={2: human}, human=SimpleNamespace(rule="human", judgments="esa@1"))
    table = table_of(view, access, beside)
    assert table.rules == {2, 4}
    assert [row[:3] for row in table.rows] == [
        [1, (1, 2), "s1"], [2, (2, 3), "s2"], [3, (3, 4), "s3"], [4, (4, 5), "s4"], [5, (5, 6), "s5"], [6, None, "s6"],
    ]  # fmt: skip
    assert table.rows[1][3] == (4, 6)
    assert table.rows[1][4].ends == (70.0, 90.0)
    assert [row[3] for row in table.rows if row[0] != 2] == [None] * 5
    assert list(table.notes)[1:] == ["By people: their official rank range, by human of esa@1.", "sig"]
