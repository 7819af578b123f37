"""Tables of a metrics task: with ranks where metrics were tested, and without."""

from steelyard.meta_evaluation.metrics_task import metrics_task
from steelyard.tables.metrics_task import notes, rows_of, tables_of
from tests.library.meta_evaluation.test_metrics_task import drawn, judged

PAIRS = {"en-cs": judged(*drawn(1, good=0.5, bad=4.0)), "en-de": judged(*drawn(2, good=0.5))}
FIRST = (
    "SPA: soft pairwise accuracy of systems; acc-eq: pairwise accuracy of segments with calibrated ties. The average "
    "is over all {} columns; a metric that lacks one has none."
)


def test_without_trials_there_are_values_alone():
    task = metrics_task({"en-cs": PAIRS["en-cs"]}, trials=0)
    (values,) = tables_of(task)
    assert values.title == "Metrics of all pairs"
    assert [row[:2] for row in values.rows] == [["good", None], ["bad", None]]
    assert values.best == frozenset()
    assert notes(task) == [FIRST.format(2)]
    assert {row[6] for row in rows_of(task)} == {None}


def test_with_trials_ranks_have_a_table_of_their_own():
    task = metrics_task(PAIRS, trials=99)
    values, ranks = tables_of(task)
    assert (values.title, ranks.title) == ("Metrics of all pairs", "Ranks of metrics")
    assert [[row[0], row[1], *row[2:]] for row in ranks.rows] == [
        [each.metric, each.rank, *(None if score is None else score.rank for score in each.scores)]
        for each in task.metrics
    ]
    assert ranks.rows[1][4:] == [None, None]
    first = {
        (row, at)
        for row, each in enumerate(task.metrics)
        for at, score in enumerate(each.scores)
        if score and score.rank == 1
    }
    of_all = {row for row, each in enumerate(task.metrics) if each.rank == 1}
    assert values.best == {*((row, 2) for row in of_all), *((row, at + 3) for row, at in first)}
    assert ranks.best == {*((row, 1) for row in of_all), *((row, at + 2) for row, at in first)}
    assert values.rows[1][2] is None, "an average of some columns is none"
    assert notes(task) == [
        FIRST.format(4),
        "A metric begins a new rank where one of the rank before is significantly better: one-sided permutation tests "
        "of 99 trials, p of at most 0.05.",
    ]
