"""Files of leaderboards have the official ranking by people beside the metrics, where there is one."""

from __future__ import annotations

import csv
import io

import pytest

from models.schema.roles import PhaseKind
from steelyard_client.commands.leaderboards.tables import table_of
from steelyard_client.documents.leaderboards.leaderboards import LeaderboardResponse
from tests.service.inspected_campaign import Looked, look_at
from tests.service.service import Service

BOARD = "/api/v1/campaigns/bay/leaderboard"
RATINGS = "".join(
    f"eva\t{system}\t{segment}\t{score + segment}\n"
    for system, score in (("dive", 20), ("soar", 80))
    for segment in range(4)
)


@pytest.fixture
def bay(service: Service) -> Looked:
    """Published, with ratings of both systems."""
    looked = look_at(service)
    looked.service.phase(looked.campaign, "out", PhaseKind.PUBLISHED)
    files = {"files": ("esa.tsv", f"annotator\tsystem\tsegment\tscore\n{RATINGS}".encode())}
    organiser = looked.service.program(looked.organiser)
    data = {"called": "esa", "standardise": "false"}
    stored = organiser.post("/api/v1/campaigns/bay/human-scores", files=files, data=data)
    assert stored.status_code == 201, stored.text
    return looked


def rank_by_people(bay: Looked) -> None:
    rules = {"human_rule": "human:wmt25", "human_judgments": "esa"}
    changed = bay.service.program(bay.organiser).patch("/api/v1/campaigns/bay", json=rules)
    assert changed.status_code < 300, changed.text


def test_csv_has_a_row_for_each_judged_system(bay: Looked) -> None:
    client = bay.service.client()
    before = client.get(BOARD, params={"format": "csv"}).text
    assert "human" not in before
    rank_by_people(bay)
    rows = list(csv.DictReader(io.StringIO(client.get(BOARD, params={"format": "csv"}).text)))
    people = [each for each in rows if each["metric"] == "human:wmt25"]
    told = {each["system"]: (each["rank"], float(each["score"]), each["signature"]) for each in people}
    assert told == {"soar": ("1", 81.5, "human:wmt25 of esa@1"), "dive": ("2", 21.5, "human:wmt25 of esa@1")}
    assert len(rows) == len(list(csv.DictReader(io.StringIO(before)))) + 2


def test_latex_and_text_have_columns(bay: Looked) -> None:
    client = bay.service.client()
    assert "By people" not in client.get(BOARD, params={"format": "latex"}).text
    rank_by_people(bay)
    latex = client.get(BOARD, params={"format": "latex"}).text
    assert "By people" in latex
    assert "81.5" in latex
    assert "by human:wmt25 of esa@1" in latex
    board = LeaderboardResponse.model_validate_json(client.get(BOARD).text)
    table = table_of(board)
    titles = [each.title for each in table.columns]
    assert titles[titles.index("System") + 1 :][:2] == ["By people", "Human"]
    cells = {str(row[titles.index("System")]): row[titles.index("By people") :][:2] for row in table.rows}
    assert cells["terns/soar"][0] == (1, 2)
    assert str(cells["terns/soar"][1]).startswith("81.5")
    assert "By people: their official rank range, by human:wmt25 of esa@1." in table.notes
    nobody = board.model_copy(update={"items": [each.model_copy(update={"human": None}) for each in board.items]})
    assert "By people" not in [each.title for each in table_of(nobody).columns]
