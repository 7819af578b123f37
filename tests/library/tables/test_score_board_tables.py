"""Score boards as JSON, tables and text."""

import csv
import io
import json

import numpy as np
import pytest

from steelyard.formats.scores.score_tables import MetricTable, PairScores
from steelyard.ranking.score_boards import RankOptions, score_board
from steelyard.tables.score_boards import COLUMNS, boards_as_json, render

OPTIONS = RankOptions(by="A", replicates=50, level=0.9)


@pytest.fixture(scope="module")
def boards():
    """Two clear systems of which the worse stands first in the file, and one that A does not know."""
    luck = np.random.default_rng(2).normal(0, 1, 40)
    a = np.array([luck + 20, luck + 40, np.full(40, np.nan)])
    b = MetricTable("B", "system", np.array([[0.25], [0.5], [0.75]]))
    scores = PairScores(
        "en-cs", ("=worse", "better", "unknown"), (MetricTable("A", "segment", a, notices=("A notice.",)), b)
    )
    return [score_board(scores, OPTIONS)]


def test_json_has_every_digit_and_null_where_nothing_is(boards):
    found = json.loads(boards_as_json(boards, OPTIONS))
    assert {key: found[key] for key in found if key != "pairs"} == {
        "level": 0.9, "replicates": 50, "seed": 12345, "test": "bootstrap", "correction": "none",
        "resample": "segment",
    }  # fmt: skip
    (pair,) = found["pairs"]
    assert (pair["pair"], pair["segments"], pair["metrics"], pair["by"]) == ("en-cs", 40, ["A", "B"], "A")
    assert "A notice." in pair["notices"]
    first, second, last = pair["systems"]
    assert [first["system"], second["system"], last["system"]] == ["better", "=worse", "unknown"]
    assert [first[key] for key in ("rank", "rank_low", "rank_high", "cluster", "wins")] == [1, 1, 1, 1, 1]
    assert [last[key] for key in ("rank", "rank_low", "rank_high", "cluster", "wins", "autorank")] == [None] * 6
    line = boards[0].systems[0]
    assert first["scores"][0]["score"] == line.scores[0].score
    assert first["scores"][0]["interval"] == {
        "level": 0.9,
        "low": line.scores[0].interval[0],
        "high": line.scores[0].interval[1],
    }
    assert [first["scores"][0]["n"], first["scores"][1]["n"]] == [40, 0]
    assert first["scores"][1]["interval"] is None
    assert last["scores"][0] == {"metric": "A", "score": None, "interval": None, "n": 0}
    # B has no replicates, so that AutoRank has no interval.
    assert first["autorank"] == {"value": 1.0, "interval": None}


@pytest.mark.parametrize(("form", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_a_row_for_each_system_and_metric(boards, form, delimiter):
    rows = list(csv.DictReader(io.StringIO(render(boards, OPTIONS, form)), delimiter=delimiter))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["system"].lstrip("'"), row["metric"], row["rank"], row["cluster"]) for row in rows] == [
        ("better", "A", "1", "1"),
        ("better", "B", "1", "1"),
        ("=worse", "A", "2", "2"),
        ("=worse", "B", "2", "2"),
        ("unknown", "A", "", ""),
        ("unknown", "B", "", ""),
    ]
    assert float(rows[0]["score"]) == boards[0].systems[0].scores[0].score
    assert (rows[4]["score"], rows[4]["low"], rows[4]["n"]) == ("", "", "0")
    # No spreadsheet takes a name for a formula.
    assert not any(row["system"].startswith("=") for row in rows)


def test_text_parts_clusters_by_lines(boards):
    lines = render(boards, OPTIONS, "text").split("\n")
    rows = [(number, line.split()) for number, line in enumerate(lines)]
    at = {row[2]: number for number, row in rows if row and (row[0].isdigit() or row[0] == "n/a")}
    assert at["better"] < at["=worse"] < at["unknown"]
    assert lines[at["better"] + 1].startswith("----")
    assert lines[at["=worse"] + 1].startswith("----")
    assert "A notice." in lines
