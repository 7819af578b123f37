"""In whatever order lines stand, each score is found at its own unit, and metrics name units in one order."""

from __future__ import annotations

import math
import random

import pytest

from steelyard.formats.scores.reading import read_scores
from steelyard.formats.scores.score_runs import BadScores

HEADER = "system\tmetric\tdomain\tdocument\tsegment\tscore\n"
ROWS = [
    (system, metric, domain, document, segment, 100.0 * place)
    for place, (system, metric, domain, document, segment) in enumerate(
        (system, metric, domain, document, segment)
        for system in "XY"
        for metric in ("M", "people")
        for domain, document in (("news", "a"), ("social", "a"), ("news", "b"))
        for segment in ("1", "2", "10")
        # People judge less, and the systems not the same.
        if metric == "M" or (system, document, segment) in {("X", "a", "2"), ("Y", "a", "1"), ("Y", "b", "10")}
    )
]


@pytest.mark.parametrize("seed", range(25))
def test_each_score_stands_at_its_unit(tmp_path, seed):
    rows = random.Random(seed).sample(ROWS, len(ROWS))
    cut = seed % 2 * len(rows) // 2
    paths = []
    for number, own in enumerate([rows[:cut], rows[cut:]] if cut else [rows]):
        paths.append(tmp_path / f"{number}.tsv")
        paths[-1].write_text(HEADER + "".join("\t".join(map(str, row)) + "\n" for row in own))
    (found,) = read_scores(paths)
    units, scores = {}, set()
    for metric in found.metrics:
        own = [(each.domain, each.name, segment) for each in metric.documents for segment in each.ids]
        units[metric.name] = own
        assert metric.scores.shape == (2, len(own))
        for system, of_system in zip(found.systems, metric.scores.tolist(), strict=True):
            scores |= {
                (system, metric.name, *unit, score)
                for unit, score in zip(own, of_system, strict=True)
                if not math.isnan(score)
            }
    assert scores == set(ROWS)
    assert units["people"] == [unit for unit in units["M"] if unit in set(units["people"])]


@pytest.mark.parametrize("level", ["segment", "document"])
def test_a_score_that_another_file_gives_again_is_named_where_others_are_new(tmp_path, level):
    """One of them would win, and nobody would know which."""
    paths = []
    for name, units in (("one", "abc"), ("two", "edcf")):
        paths.append(tmp_path / f"{name}.tsv")
        paths[-1].write_text(f"system\tmetric\t{level}\tscore\n" + "".join(f"X\tM\t{unit}\t1\n" for unit in units))
    told = rf"two\.tsv, line \d: X has two scores by M for {level} 'c'\. Give one of them\."
    with pytest.raises(BadScores, match=told):
        read_scores(paths)
    paths[1].write_text(paths[1].read_text().replace("\tc\t", "\tg\t"))
    ((metric,),) = (each.metrics for each in read_scores(paths))
    assert [unit for each in metric.documents for unit in each.ids] == list("abcedgf"), "as they are named first"


@pytest.mark.parametrize("numbered_first", [True, False])
def test_some_systems_name_segments_and_others_do_not(tmp_path, numbered_first):
    """By their order they would be taken for the same segments."""
    named = "".join(f'{{"system_id": "A", "segment_id": {number}, "prediction": 1}}\n' for number in (1, 0))
    counted = '{"system_id": "B", "prediction": 1}\n' * 2
    path = tmp_path / "scores.jsonl"
    path.write_text(named + counted if numbered_first else counted + named)
    with pytest.raises(BadScores, match=r"scores.jsonl, line 3: numbers its segments, and .*scores.jsonl, line 1 does"):
        read_scores([path])
