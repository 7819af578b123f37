"""AutoRank: by hand, by slow definitions, and the values that WMT published."""

import csv
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadParameter
from steelyard.ranking.autorank import NEWEST, VERSIONS, autorank
from steelyard.ranking.autorank_column import FORMULAS, AutoRank


def test_wmt24_by_hand():
    """Metric 1: 0, a half and 1 of the way from best to worst; metric 2: 1, 0 and a quarter. N is 3."""
    ranks = autorank(np.array([[10.0, 5.0, 0.0], [0.0, 8.0, 6.0]]), "wmt24")
    assert ranks.tolist() == [(1 + 4) / 2, (2.5 + 1) / 2, (4 + 1.75) / 2]


@pytest.mark.parametrize("weights", [(3.0, 1.0), (0.75, 0.25), (6.0, 2.0)])
def test_weights_count_by_their_shares(weights):
    scores = np.array([[10.0, 5.0, 0.0], [0.0, 8.0, 6.0]])
    assert autorank(scores, "wmt24", weights).tolist() == [(3 * 1 + 4) / 4, (3 * 2.5 + 1) / 4, (3 * 4 + 1.75) / 4]
    thrice = np.vstack([scores[:1]] * 3 + [scores[1:]])
    assert autorank(scores, "wmt25", weights) == pytest.approx(autorank(thrice, "wmt25"), rel=1e-12)


def slow_wmt25(scores):
    means = [0.0] * len(scores[0])
    for row in scores:
        ordered, position = sorted(row), (len(row) - 1) / 4
        low = int(position)
        quartile = ordered[low] + (ordered[min(low + 1, len(row) - 1)] - ordered[low]) * (position - low)
        spread = max(ordered[-1] - quartile, 1e-9)
        means = [mean + (score - median(row)) / spread for mean, score in zip(means, row, strict=True)]
    means = [mean / len(scores) for mean in means]
    if max(means) == min(means):
        return [1.0] * len(means)
    return [1 + (max(means) - mean) / (max(means) - min(means)) * (len(means) - 1) for mean in means]


tables = st.integers(1, 4).flatmap(
    lambda metrics: st.integers(1, 6).flatmap(
        lambda systems: st.lists(
            st.lists(st.integers(-50, 50).map(lambda score: score / 4), min_size=systems, max_size=systems),
            min_size=metrics,
            max_size=metrics,
        )
    )
)


@given(tables)
def test_wmt25_is_its_definition(scores):
    assert autorank(np.array(scores), "wmt25") == pytest.approx(slow_wmt25(scores), abs=1e-9)


@given(tables, st.sampled_from(sorted(VERSIONS)))
def test_ranks_go_from_1_and_do_not_know_the_order_of_systems(scores, version):
    table = np.array(scores)
    ranks = autorank(table, version)
    assert ranks.min() >= 1
    order = np.arange(table.shape[1])[::-1]
    assert autorank(table[:, order], version).tolist() == ranks[order].tolist()
    several = autorank(np.stack([table, table[:, order]]), version)
    assert several.tolist() == [ranks.tolist(), ranks[order].tolist()]


@pytest.mark.parametrize("version", sorted(VERSIONS))
@pytest.mark.parametrize("weights", [None, [1.0, 5.0]])
def test_a_system_without_a_metric_is_not_ranked_and_moves_nobody(version, weights):
    whole = np.array([[3.0, 1.0, 2.0], [7.0, 9.0, 4.0]])
    gaps = np.insert(whole, 1, [100.0, np.nan], axis=1)
    found = autorank(gaps, version, weights)
    assert np.isnan(found[1])
    assert np.delete(found, 1).tolist() == autorank(whole, version, weights).tolist()
    assert np.isnan(autorank(np.full((2, 3), np.nan), version, weights)).all()


def test_an_unknown_version_is_refused():
    with pytest.raises(BadParameter, match="wmt24, wmt25"):
        autorank(np.ones((1, 2)), "wmt23")


def test_the_published_values_of_wmt24_to_all_digits(real_data):
    with (real_data / "wmt24" / "expected_autorank24.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for pair in dict.fromkeys(row["pair"] for row in rows):
        own = [row for row in rows if row["pair"] == pair]
        scores = np.array([[-float(row["metricx"]) for row in own], [float(row["cometkiwi"]) for row in own]])
        assert [f"{rank:.16g}" for rank in autorank(scores, "wmt24")] == [row["AutoRank"] for row in own]


@pytest.mark.parametrize("rule", ["", *VERSIONS])
@pytest.mark.parametrize("weights", ["", "3,1"])
def test_a_column_on_a_board_keeps_its_rule_and_names_its_metrics_from_one(rule, weights):
    column = AutoRank(rule=rule, weights=weights)
    assert column.on_board([2, 0]) == AutoRank(rule=rule or NEWEST, of="3,1", weights=weights)
    for positions in ([], [1, 1], *([[0], [0, 1, 2]] if weights else [])):
        with pytest.raises(BadParameter):
            column.on_board(positions)


@pytest.mark.parametrize("weights", ["0", "1,0", "-1", "1,-0.5", "1e6", "nan", "inf", "x", "1,", ",", "1;2"])
def test_weights_are_numbers_above_0_and_below_a_million(weights):
    with pytest.raises(BadParameter, match="autorank"):
        _ = AutoRank(weights=weights).shares
    assert AutoRank(weights="0.001,999999").shares == [0.001, 999999.0]


@pytest.mark.parametrize(
    ("column", "of"),
    [
        (AutoRank(of="3,1"), "chrF, BLEU"),
        (AutoRank(of="1,2", weights="1,2.5"), "BLEU (weight 1), TER (weight 2.5)"),
        (AutoRank(of="2,3", weights="0.5,1000", rule="wmt24"), "TER (weight 0.5), chrF (weight 1000)"),
    ],
)
def test_its_formula_names_metrics_and_weights(column, of):
    said = column.formula(["BLEU", "TER \u2193", "chrF"])
    assert said == f"{column.title}: {FORMULAS[column.rule or NEWEST]}, of {of}. Less is better."
