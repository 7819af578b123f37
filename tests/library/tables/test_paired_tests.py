"""Paired tests as people and programs see them."""

import json
import math
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.resampling.correction import corrected
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.paired import TESTS, PairedResult, pairs_to_test
from steelyard.tables.delimited import as_tsv
from steelyard.tables.paired_test_rows import TSV_COLUMNS, as_objects, tsv_rows
from steelyard.tables.paired_tests import (
    LARGEST_MATRIX,
    ComparedMetric,
    PairedTests,
    draws_needed,
    explanations,
    lists_of,
    matrix,
    pair_table,
    tables_of,
)
from steelyard.tables.rendering import render
from tests.cli.latex_reader import tables

BLEU = ComparedMetric("bleu", "BLEU", higher_is_better=True, scale=100.0)
TER = ComparedMetric("ter:tok=none", "TER", higher_is_better=False, scale=100.0)
PAIRS = [
    PairedResult(0, 1, 0, -2.25, 0.001, 0.003, (-3.5, -1.0)),
    PairedResult(0, 2, 0, 0.5, 0.25, 0.5, (-0.25, 1.25)),
    PairedResult(1, 2, 0, 2.75, 0.002, 0.004, (1.5, 4.0)),
    PairedResult(0, 1, 1, -2.25, 0.00002, 0.00006, (-3.5, -1.0)),
    PairedResult(0, 2, 1, 0.0, 1.0, 1.0, (0.0, 0.0)),
    PairedResult(1, 2, 1, math.nan, math.nan),
]
ALL = PairedTests(PAIRS, ["a_b", "č & d", "c"], [BLEU, TER], "bootstrap", 1000, 12345, replicates=1000)
BASELINE = replace(ALL, results=[pair for pair in PAIRS if pair.a == 0], baseline=0)


def as_text(tests, width=1):
    return render(tables_of(tests, width), "text")


def as_latex(tests, width=1):
    return render(lists_of(tests, width), "latex")


def lines_of(table):
    return [table.header(), *table.cells()]


def test_of_pairs_as_sure_as_each_other_the_larger_difference_stands_first():
    """For all orders of pairs, of which three have the smallest p-value that there is; what is untested is last."""
    known = [
        PairedResult(0, 1, 0, 0.5, 0.001, 0.003, (0.25, 0.75)),
        PairedResult(0, 2, 0, -3.0, 0.001, 0.003, (-4.0, -2.0)),
        PairedResult(1, 2, 0, 1.5, 0.001, 0.003, (1.0, 2.0)),
        PairedResult(0, 3, 0, 9.0, 0.5, 0.5, (-1.0, 19.0)),
        PairedResult(1, 3, 0, math.nan, math.nan),
    ]
    for order in permutations(known):
        tests = replace(ALL, results=list(order), systems=["a", "b", "c", "d"], metrics=[BLEU])
        rows = [cells[:2] for cells in pair_table(tests, 0).cells()]
        assert [set(row) for row in rows] == [{"a", "c"}, {"b", "c"}, {"a", "b"}, {"a", "d"}, {"b", "d"}]


def test_direction_follows_the_metric_and_not_the_sign():
    assert [ALL.direction(pair) for pair in PAIRS] == ["worse", "better", "better", "better", "equal", None]
    assert [ALL.verdict(pair) for pair in PAIRS] == ["worse *", "better", "better *", "better *", "equal", "n/a"]
    same = replace(ALL, same_output={(0, 2)})
    assert same.verdict(PAIRS[4]) == "same output"


@pytest.mark.parametrize("correction", ["holm", "none"])
@pytest.mark.parametrize("p", [0.049, 0.05, 0.051])
def test_only_a_p_below_the_level_is_marked(p, correction):
    """As the note says: p below 0.05. What is corrected decides, where there is a correction."""
    result = PairedResult(0, 1, 0, 2.0, p / 3, p) if correction == "holm" else PairedResult(0, 1, 0, 2.0, p)
    tests = replace(ALL, results=[result], correction=correction)
    assert tests.significant(result) == (p < 0.05)
    assert tests.verdict(result) == ("better *" if p < 0.05 else "better")


def test_differences_are_explained_as_they_are_computed():
    told = "Difference: the system's score minus {}, with its 95 % interval from 1,000 bootstrap replicates{} ({})."
    for tests, words in (
        (ALL, ("the other's", "", "percentiles")),
        (BASELINE, ("the baseline's", "", "percentiles")),
        (
            replace(ALL, interval="bca", unit="document"),
            ("the other's", " of documents", "bias-corrected and accelerated"),
        ),
    ):
        assert told.format(*words) in explanations(tests)
    without = replace(ALL, results=[replace(each, interval=None) for each in PAIRS])
    assert "Difference: the system's score minus the other's." in explanations(without)


def test_against_a_baseline_systems_stay_in_their_order():
    assert lines_of(pair_table(BASELINE, 0)) == [
        ["System", "Difference", "p", "Corrected p", "Direction"],
        ["č & d", "-2.2 [-3.5, -1.0]", "0.0010", "0.0030", "worse *"],
        ["c", "+0.5 [-0.2, +1.2]", "0.2500", "0.5000", "better"],
    ]
    assert BASELINE.heading(1) == "TER (lower is better) against a_b"


def test_of_all_pairs_the_surest_come_first_and_the_better_system_stands_first():
    assert [row[:3] for row in pair_table(ALL, 0, 2).cells()] == [
        ["a_b", "č & d", "+2.25 [+1.00, +3.50]"],
        ["c", "č & d", "+2.75 [+1.50, +4.00]"],
        ["c", "a_b", "+0.50 [-0.25, +1.25]"],
    ]
    assert [row[-1] for row in pair_table(ALL, 1).cells()] == ["better *", "equal", "n/a"]


def test_the_matrix_has_differences_above_and_p_below():
    rows = [[cell.strip() for cell in row] for row in lines_of(matrix(ALL, 0, 2))]
    assert rows == [
        ["", "System", "1", "2", "3"],
        ["1", "a_b", "·", "+2.25*", "-0.50"],
        ["2", "č & d", "0.0030*", "·", "-2.75*"],
        ["3", "c", "0.5000", "0.0040*", "·"],
    ]


def test_the_matrix_is_shown_where_it_fits_and_says_something():
    assert "above the diagonal" in as_text(ALL)
    assert "above the diagonal" not in as_text(BASELINE)
    for systems, fits in ((2, False), (LARGEST_MATRIX, True), (LARGEST_MATRIX + 1, False)):
        pairs = [PairedResult(a, b, 0, 1.0, 0.5, 0.5) for a in range(systems) for b in range(a + 1, systems)]
        text = as_text(replace(ALL, results=pairs, systems=[f"s{n}" for n in range(systems)], metrics=[BLEU]))
        assert ("·" in text) == fits


def test_json_has_full_precision_and_null_where_undefined():
    objects = json.loads(json.dumps(as_objects(ALL), allow_nan=False))
    assert objects[0] == {
        "a": "a_b", "b": "č & d", "metric": "bleu", "test": "bootstrap", "n": 1000, "seed": 12345,
        "difference": -2.25,
        "interval": {"level": 0.95, "low": -3.5, "high": -1.0, "n": 1000, "kind": "percentile"},
        "p": 0.001, "p_corrected": 0.003, "correction": "holm", "direction": "worse", "same_output": False,
    }  # fmt: skip
    undefined = objects[-1]
    assert {undefined[key] for key in ("difference", "interval", "p", "p_corrected", "direction")} == {None}


def test_tsv_has_a_cell_for_every_column():
    rows = tsv_rows(ALL)
    assert {len(row) for row in rows} == {len(TSV_COLUMNS)}
    first = dict(zip(TSV_COLUMNS, rows[0], strict=True))
    assert (first["metric"], first["p_corrected"], first["low"], first["direction"]) == (
        "bleu",
        0.003,
        -3.5,
        "worse",
    )
    assert as_tsv(TSV_COLUMNS, rows).splitlines()[-1].split("\t")[4:7] == ["", "", ""]


def test_latex_has_the_cells_of_the_text():
    found = tables(as_latex(ALL, 2))
    assert [caption for caption, _ in found] == ["BLEU", "TER (lower is better)"]
    for metric, (_, rows) in enumerate(found):
        assert rows[0][2:] == ["Difference", "p", "Corrected p", "Direction"]
        assert rows[1:] == pair_table(ALL, metric, 2).cells()


def test_few_segments_are_noticed_with_the_test_that_minds():
    told = "Note: 12 segments are few: on them the bootstrap finds too many differences, randomization does not."
    assert explanations(replace(ALL, segments=12))[-1] == told
    assert told not in explanations(replace(ALL, segments=12, test="randomization"))
    assert explanations(replace(ALL, segments=50)) == explanations(ALL)


def test_without_correction_p_decides_and_stands_alone():
    raw = replace(ALL, correction="none", results=[replace(pair, p_corrected=math.nan) for pair in PAIRS])
    assert pair_table(raw, 0).header() == ["System", "Against", "Difference", "p", "Direction"]
    assert raw.verdict(PAIRS[0]) == "worse *"
    assert "not corrected" in " ".join(explanations(raw))
    assert as_objects(raw)[0]["p_corrected"] is None
    assert tsv_rows(raw)[0][5:8] == (0.001, None, "none")


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@given(family=st.integers(1, 60), draws=st.integers(1, 2000))
def test_too_few_draws_are_noticed_exactly_where_nothing_could_be_found(correction, family, draws):
    """The best that can happen: every test has the least p there is."""
    results = [PairedResult(0, b, 0, 1.0, 1 / (draws + 1)) for b in range(1, family + 1)]
    tests = PairedTests(results, ["s"] * (family + 1), [BLEU], "randomization", draws, 1, correction, 0)
    best = corrected([result.p for result in results], correction).min()
    noted = any(sentence.startswith("Note:") for sentence in explanations(tests))
    if abs(best - tests.alpha) > 1e-9:
        assert noted == (best > tests.alpha)
    needed = draws_needed(tests, family)
    assert smallest_p(needed, family, correction) < tests.alpha <= smallest_p(needed - 1, family, correction)


@st.composite
def some_tests(draw):
    """All pairs or those with a baseline, of a few systems, undefined here and there."""
    systems = draw(st.integers(2, 5))
    baseline = draw(st.none() | st.integers(0, systems - 1))
    numbers = st.floats(-100, 100, allow_subnormal=False) | st.just(math.nan)
    shares = st.floats(0, 1)
    results = []
    for a, b in pairs_to_test(systems, baseline):
        difference = draw(numbers)
        defined = not math.isnan(difference)
        p = draw(shares) if defined else math.nan
        ends = draw(st.none() | st.tuples(st.floats(-100, 100), st.floats(-100, 100))) if defined else None
        results.append(PairedResult(a, b, 0, difference, p, max(p, draw(shares)) if defined else p, ends))
    names = [draw(st.text("a_%&<\\ š", min_size=1, max_size=4)) for _ in range(systems)]
    metric = draw(st.sampled_from([BLEU, TER]))
    return PairedTests(results, names, [metric], draw(st.sampled_from(sorted(TESTS))), 100, 1, baseline=baseline)


@given(some_tests())
def test_every_form_says_the_same_of_any_tests(tests):
    table = pair_table(tests, 0).cells()
    assert sum(row[-1].endswith(" *") for row in table) == sum(tests.significant(result) for result in tests.results)
    ((_, rows),) = tables(as_latex(tests))
    assert [[cell.strip() for cell in row] for row in table] == rows[1:]
    assert as_text(tests).count("\n") > len(table)
    objects = json.loads(json.dumps(as_objects(tests), allow_nan=False))
    for each, result, row in zip(objects, tests.results, tsv_rows(tests), strict=True):
        assert each["difference"] == (None if math.isnan(result.difference) else result.difference)
        assert (None if math.isnan(row[4]) else row[4]) == each["difference"]
        assert each["direction"] == row[-1]
    cells = [cell.strip() for row in matrix(tests, 0).cells() for cell in row[2:]]
    assert cells.count("·") == len(tests.systems)
    assert sum(cell.endswith("*") for cell in cells) == 2 * sum(map(tests.significant, tests.results))
