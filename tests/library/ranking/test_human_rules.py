"""WMT's rules for human rankings: by hand, by laws, and every value known of published judgments."""

import csv
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.ranking.human_rules import RULES, rank_by_humans

PAIRS = ("en-cs", "en-zh")


def judged(real_data, pair):
    """Systems, (systems, segments) and the domain of each segment."""
    folder = real_data / "wmt24"
    domains = [
        line.split("\t")[0] for line in (folder / "documents" / f"{pair}.docs").read_text("utf-8").split("\n")[:-1]
    ]
    with (folder / "human" / f"{pair}.esa.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    scores = np.full((len(systems), len(domains)), np.nan)
    for row in rows:
        scores[systems.index(row["system"]), int(row["segment"])] = float(row["score"])
    return systems, scores, domains


def expected(real_data, name, **chosen):
    with (real_data / "wmt24" / name).open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if all(row[key] == chosen[key] for key in chosen)]


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("pair", PAIRS)
def test_wmt24_on_its_judgments(real_data, pair, average):
    systems, scores, domains = judged(real_data, pair)
    found = rank_by_humans(scores, domains, rule="wmt24", average=average)
    for each, row in zip(found.ranks, expected(real_data, "expected_human.tsv", pair=pair, mode=average), strict=True):
        own = (each.n, each.rank_low, each.rank_high, each.wins, each.losses, each.cluster)
        names = ("n", "rank_top", "rank_bottom", "wins", "losses", "cluster")
        assert (systems[each.system], own) == (row["system"], tuple(int(row[name]) for name in names))
        assert each.score == pytest.approx(float(row[average]), abs=1e-9)
    tests = json.loads((real_data / "wmt24" / "expected_pvalues.json").read_text("utf-8"))
    (of_pair,) = (each for each in tests if each["pair"] == pair)
    for each in of_pair["comparisons"]:
        p = found.p[systems.index(each["a"]), systems.index(each["b"])]
        # The expected ones are 1 minus a probability.
        assert p == pytest.approx(each[f"p_{average}"], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("pair", PAIRS)
def test_wmt25_on_the_same_judgments(real_data, pair):
    systems, scores, _ = judged(real_data, pair)
    found = rank_by_humans(scores, rule="wmt25")
    for each, row in zip(found.ranks, expected(real_data, "expected_human_wmt25_rule.tsv", pair=pair), strict=True):
        own = (each.n, each.rank_low, each.rank_high, each.cluster)
        assert (systems[each.system], own) == (
            row["system"],
            tuple(int(row[name]) for name in ("n", "rank_top", "rank_bottom", "cluster")),
        )
        assert each.score == pytest.approx(float(row["score"]), abs=1e-9)


def clear(*qualities, places=60):
    draws = np.random.default_rng(3)
    return np.array([[quality] for quality in qualities]) + draws.integers(0, 6, (len(qualities), places)).astype(float)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_clear_differences_part_all(rule):
    found = rank_by_humans(clear(50, 90, 70), rule=rule)
    assert [
        (each.system, each.rank_low, each.rank_high, each.wins, each.losses, each.cluster) for each in found.ranks
    ] == [
        (1, 1, 1, 2, 0, 1),
        (2, 2, 2, 1, 1, 2),
        (0, 3, 3, 0, 2, 3),
    ]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_equal_systems_share_a_cluster(rule):
    scores = clear(90, 90, 50)
    scores[1] = scores[0]
    found = rank_by_humans(scores, rule=rule)
    assert [(each.rank_low, each.rank_high, each.cluster) for each in found.ranks] == [(1, 2, 1), (1, 2, 1), (3, 3, 2)]


def test_domains_weigh_alike_in_the_macro_average():
    scores = np.array([[100.0, 0, 0, 0, 0]])
    domains = ["a", "b", "b", "b", "b"]
    found = {
        each: rank_by_humans(scores, domains, rule="wmt24", average=each).ranks[0].score for each in ("macro", "micro")
    }
    assert found == {"macro": 50.0, "micro": 20.0}


def test_wmt24_adds_up_opposite_differences():
    """Its flaw, kept: one is better in one domain, the other in the other, and they are said to differ."""
    draws = np.random.default_rng(1)
    first, second = draws.integers(0, 9, (2, 80)).astype(float)
    first[:40] += 20
    second[40:] += 20.5
    domains = ["a"] * 40 + ["b"] * 40
    macro, micro = (
        rank_by_humans(np.array([first, second]), domains, rule="wmt24", average=each) for each in ("macro", "micro")
    )
    assert macro.p[0, 1] < 1e-9
    assert micro.p[0, 1] > 0.05


def test_one_domain_without_a_difference_outweighs_all_others():
    scores = clear(50, 90)
    scores[:, 40:] = 7
    assert rank_by_humans(scores, ["a"] * 40 + ["b"] * 20, rule="wmt24").p[0, 1] == 1


def test_wmt25_parts_by_rank_ranges():
    """Of the last too little is judged: its range reaches the top, and so one cluster holds two that differ."""
    scores = np.full((3, 30), np.nan)
    scores[0], scores[1] = 90 + np.arange(30) % 7, 80 + np.arange(30) % 5
    scores[2, :3] = [10, 20, 15]
    found = rank_by_humans(scores, rule="wmt25")
    assert [(each.n, each.rank_low, each.rank_high, each.cluster) for each in found.ranks] == [
        (30, 1, 1, 1),
        (30, 2, 3, 1),
        (3, 1, 3, 1),
    ]


@given(st.permutations(range(4)), st.sampled_from(sorted(RULES)))
def test_the_order_of_systems_changes_nothing(order, rule):
    scores = clear(50, 52, 51, 70, places=25)
    plain, other = rank_by_humans(scores, rule=rule), rank_by_humans(scores[list(order)], rule=rule)
    assert [order[each.system] for each in other.ranks] == [each.system for each in plain.ranks]
    assert [(each.rank_low, each.rank_high, each.cluster) for each in other.ranks] == [
        (each.rank_low, each.rank_high, each.cluster) for each in plain.ranks
    ]


def test_a_system_that_nobody_judged_is_not_ranked():
    scores = clear(50, 90, 70)
    scores[2] = np.nan
    found = rank_by_humans(scores)
    assert [each.system for each in found.ranks] == [1, 0]
    assert np.isnan(found.p[2]).all()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rule": "wmt20"}, "wmt24, wmt25"),
        ({"average": "mean"}, "macro, micro"),
        ({"scores": np.full((2, 2), np.nan)}, "No system"),
    ],
)
def test_what_cannot_be_is_refused(given, told):
    with pytest.raises(BadParameter, match=told):
        rank_by_humans(**{"scores": clear(1, 2), **given})


def test_whoever_is_better_where_both_were_judged_and_worse_in_all_has_not_won():
    """The one was judged in easy places besides: by our own rule a win takes the higher score, too."""
    shared = np.random.default_rng(3).uniform(40, 60, 40)
    first = np.concatenate([shared + 5, np.full(10, np.nan)])
    second = np.concatenate([shared, np.full(10, 100.0)])
    found = rank_by_humans(np.stack([first, second]), rule="randomization")
    assert found.p[0, 1] < 0.01
    assert [(each.system, each.wins, each.losses) for each in found.ranks] == [(1, 0, 0), (0, 0, 0)]
