"""What `leaderboard` prints of ranks, ranges and clusters."""

import csv
import json
from dataclasses import replace

import pytest

from analysis.leaderboard.significance import ranked_by_bootstrap
from campaigns.leaderboards.stored import stored_document
from models.schema.roles import DeclaredKind
from steelyard_client.commands.leaderboards.rows import COLUMNS
from steelyard_client.commands.leaderboards.tables import rendered
from tests.analysis.boards import made_board, spread, undefined

N = 100


def as_(form, board):
    return rendered([stored_document(board)], form)


@pytest.fixture
def board():
    """By BLEU {a}, {b, c}; d is undefined and e waits."""
    found = [[spread(score, N, 0.2, number)] * 2 for number, score in enumerate((40.0, 30.0, 29.9))]
    return ranked_by_bootstrap(made_board([*found, [undefined(N), spread(10.0, N, 0.1, 9)], None]))


def test_a_line_parts_two_clusters(board):
    lines = [line.split() for line in as_("text", board).splitlines()]
    rule = lines[2]
    assert set("".join(rule)) == {"-"}
    assert [line if line == rule else line[:3] for line in lines[1:9]] == [
        *(["Rank", "Range", "System"], rule, ["1", "1", "a"], rule, ["2", "2-3", "b"], ["3", "2-3", "c"], rule),
        ["-", "-", "d"],
    ]
    assert lines[9][:3] == ["-", "-", "e"]
    assert as_("text", board).splitlines()[-1] == (
        "Range: possible ranks according to the tests. A line separates clusters (WMT's rule: paired bootstrap with "
        "100 replicates, p < 0.05, not corrected)."
    )


def test_tsv_says_of_submissions_what_pages_say(board):
    said = replace(board.rows[0], kind=DeclaredKind.PRIMARY, constrained=True, late_seconds=61.4, submissions=(7, 9))
    rows = list(csv.DictReader(as_("tsv", replace(board, rows=[said, *board.rows[1:]])).splitlines(), delimiter="\t"))
    assert tuple(rows[0]) == COLUMNS
    last = COLUMNS[-6:]
    assert [rows[0][column] for column in last] == ["9", "primary", "yes", "yes", "61", "team"]
    assert [rows[-1][column] for column in last[1:]] == ["", "yes", "", "0", "team"], "one without scores"


def test_json_and_tsv_name_range_cluster_and_wins(board):
    (document,) = json.loads(as_("json", board))
    assert document["ranking"] == {
        "test": "bootstrap", "draws": 100, "alpha": 0.05, "correction": "none", "fault": None,
        "testing": 0,
    }  # fmt: skip
    names = ("rank", "rank_low", "rank_high", "cluster", "wins")
    of_bleu = {system["system"]: system["scores"][0] for system in document["systems"] if system["scores"]}
    expected = {"a": [1, 1, 1, 1, 2], "b": [2, 2, 3, 2, 0], "c": [3, 2, 3, 2, 0], "d": [None] * 5}
    assert {system: [score[name] for name in names] for system, score in of_bleu.items()} == expected
    rows = list(csv.DictReader(as_("tsv", board).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    of_bleu = {row["system"]: [row[name] for name in names] for row in rows if row["metric"] == "bleu"}
    shown = {system: ["" if each is None else str(each) for each in found] for system, found in expected.items()}
    assert of_bleu == shown
    (waiting,) = [row for row in rows if row["system"] == "e"]
    assert None not in waiting.values(), "as many cells as the first line has"
    assert (waiting["state"], waiting["metric"], waiting["signature"]) == ("queued", "", "")


def test_a_board_without_replicates_says_why_it_has_no_clusters():
    board = ranked_by_bootstrap(made_board([[(40.0, []), (1.0, [])], [(30.0, []), (2.0, [])]]))
    lines = as_("text", board).splitlines()
    assert lines[1].split() == ["Rank", "System", "BLEU", "TER", "↓"]
    assert sum(line.startswith("----") for line in lines) == 1
    assert lines[-1] == "No replicates were stored (--confidence 0), so there are no rank ranges and clusters."
    (document,) = json.loads(as_("json", board))
    assert document["ranking"]["fault"] == lines[-1]
    assert document["systems"][0]["scores"][0]["cluster"] is None


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_what_is_made_for_papers_and_pages_has_every_system(board, form):
    text = as_(form, board)
    assert all(each in text for each in ("BLEU", "40.0", "2-3" if form == "markdown" else "2–3", "A line separates"))


def test_comma_separated_values_are_those_of_the_other_table(board):
    assert list(csv.reader(as_("csv", board).splitlines())) == [
        line.split("\t") for line in as_("tsv", board).splitlines()
    ]


def test_ties_share_a_rank_and_are_not_parted():
    tied = made_board([[spread(40.0, N, 0.2, 1)] * 2, [spread(40.0, N, 0.2, 2)] * 2, [spread(1.0, N, 0.2, 3)] * 2])
    lines = as_("text", ranked_by_bootstrap(tied)).splitlines()
    assert [line.split()[:3] for line in lines[3:7:1]] == [
        *(["1", "1-2", "a"], ["1", "1-2", "b"]),
        lines[2].split()[:3],
        ["3", "3", "c"],
    ]


def test_several_runs_are_shown_with_their_scores(board):
    rows = list(board.rows)
    several = replace(rows[0].scores[0], run_scores=(39.0, 41.0))
    rows[0] = replace(
        rows[0], runs=("x", "y"), evaluations=(1, 9), submissions=(1, 9), scores=(several, rows[0].scores[1])
    )
    rows[4] = replace(rows[4], runs=("x", "y", "z"), submissions=(5, 6, 7), runs_done=2)
    board = replace(board, rows=rows)
    assert "  a (2 runs)  " in as_("text", board)
    assert as_("text", board).splitlines()[-4].split("n/a")[-1].strip() == "2 of 3 runs done; queued"
    (document,) = json.loads(as_("json", board))
    assert document["systems"][0]["runs"] == ["x", "y"]
    assert document["systems"][0]["scores"][0]["runs"] == [39.0, 41.0]
    assert document["systems"][1]["runs"] == []
    assert "runs" not in document["systems"][1]["scores"][0]
    assert [line.split("\t")[6] for line in as_("tsv", board).splitlines()[1:]] == ["2"] * 2 + ["1"] * 6 + ["3"]
