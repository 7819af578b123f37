"""Systems of a campaign on pages and by the API: what is said of them, what they score, and how they are cited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.corpus import System
from models.schema.roles import PhaseKind
from models.schema.systems import SystemDescription
from tests.service.campaigns import submit_output
from tests.service.people import submit
from tests.service.port import ADDRESS, NAME, Port, output
from web.pages.campaigns import systems as systems_page

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from tests.service.service import Service

PAGES = "/campaigns/port%201/systems"


def number_of(port: Port, name: str) -> int:
    with reading(port.service.engine) as connection:
        return int(connection.execute(select(System.id).where(System.name == name)).scalar_one())


def read(client: TestClient, number: int) -> dict[str, Any]:
    answer = client.get(f"{ADDRESS}/systems/{number}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_systems_come_in_pages_that_lead_to_each_other(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems_page, "PAGE", 3)
    names = ["anchor", *(f"keel {number}" for number in range(1, 8))]
    for number, name in enumerate(names[1:]):
        submit_output(port.service.engine, NAME, "harbour", name, output(number))
    nobody = port.service.client()
    for first, shown, expected in (
        (0, names[:3], ["?first=3"]),
        (1, names[1:4], ["", "?first=4"]),
        (3, names[3:6], ["", "?first=6"]),
        (4, names[4:7], ["?first=1", "?first=7"]),
        (6, names[6:], ["?first=3"]),
    ):
        html = nobody.get(PAGES, params={"first": first}).text
        assert re.findall(r"systems/\d+\"><bdi>([^<]*)</bdi>", html) == shown
        assert re.findall(r'rel="(?:prev|next)" href="[^"]*/systems(\?first=\d+|)"', html) == expected
        assert f"Systems {first + 1} to {first + len(shown)} of 8" in html


def test_a_team_describes_its_system_and_everybody_reads_it(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.browser("mary")
    port.submit(port.program("mary"))
    port.work_off()
    mast = number_of(port, "mast")
    address = f"{PAGES}/{mast}"
    saved = submit(
        mary, address, description="A *mast*.", affiliation="The Sea", paper_url="https://example.org/mast.pdf",
        url="https://example.org/mast", parameters="1.3b", weights="open", track="yes",
    )  # fmt: skip
    assert saved.headers["Location"] == f"{address}?done=saved"
    page = port.service.client().get(address).text
    assert "<em>mast</em>" in page
    assert all(each in page for each in ("The Sea", "1.3B", "https://example.org/mast.pdf", "constrained"))
    assert "Describe the system" not in page, "for its team alone"
    known = read(port.service.client(), mast)
    assert (known["parameters"], known["weights"], known["constrained"]) == (1_300_000_000, "open", True)
    (board,) = known["scores"]
    standing = port.service.client().get(f"{ADDRESS}/leaderboard?shown=all").json()
    own = next(each for each in standing["items"] if each["system"] == "mast")
    assert own["constrained"] is True, "what a description says counts where no submission does"
    assert [each["score"] for each in board["scores"]] == [each["score"] for each in own["scores"]]
    assert (board["rank"], board["of"]) == (own["scores"][0]["rank"], 2)
    assert board["scores"][0]["low"] == own["scores"][0]["interval"]["low"]


def test_a_blind_phase_hides_systems_and_their_pages_stay_when_results_are_published(service: Service) -> None:
    port = Port.opened(service, PhaseKind.BLIND)
    port.service.campaign("port 1", anonymous=True)
    port.submit(port.program("mary"))
    port.work_off()
    mast = number_of(port, "mast")
    own = read(port.program("mary"), mast)
    assert own["scores"] == [], "the feedback of a phase is on pages of submissions"
    for stranger in (port.service.client(), port.program("zoe")):
        assert stranger.get(f"{ADDRESS}/systems/{mast}").status_code == 404
        assert stranger.get(f"{ADDRESS}/systems/{mast}/citation").status_code == 404
        assert stranger.get(f"{PAGES}/{mast}").status_code == 404
        refused = stranger.patch(f"{ADDRESS}/systems/{mast}", json={"affiliation": "guessed"})
        assert refused.status_code in (401, 404)
    published = {"name": "over", "kind": PhaseKind.PUBLISHED, "starts_at": now() - 1}
    with writing(port.service.engine) as connection:
        connection.execute(Phase.__table__.insert().values(campaign_id=port.campaign, **published))
    seen = read(port.service.client(), mast)
    assert seen["scores"][0]["output"] is True
    output_of = f"/api/v1/submissions/{seen['scores'][0]['submission']}/output"
    assert port.service.client().get(output_of).content == output()
    page = port.service.client().get(f"{PAGES}/{mast}").text
    assert output_of in page
    assert f"systems/{mast}" in port.service.client().get(PAGES).text


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"paper_url": "javascript:alert(1)"}, "The address of the paper"),
        ({"url": "https://mary:secret@example.org"}, "The address of the system"),
        ({"parameters": "many"}, "no number of parameters"),
        ({"affiliation": "x" * 201}, "201 characters"),
    ],
)
def test_wrong_fields_are_named_and_nothing_is_stored(port: Port, said: dict[str, str], fault: str) -> None:
    port.submit(port.program("mary"))
    address = f"{PAGES}/{number_of(port, 'mast')}"
    answer = submit(port.browser("mary"), address, **said)
    assert answer.status_code == 422
    assert fault in answer.text
    assert port.count(SystemDescription) == 0


def test_only_organisers_say_whose_a_system_is(port: Port) -> None:
    port.submit(port.program("mary"))
    mast = number_of(port, "mast")
    assert port.program("mary").patch(f"{ADDRESS}/systems/{mast}", json={"origin": "online"}).status_code == 403
    assert port.program("zoe").patch(f"{ADDRESS}/systems/{mast}", json={"affiliation": "x"}).status_code == 403
    assert (
        port.program("ann").patch(f"{ADDRESS}/systems/{mast}", json={"origin": "online"}).json()["origin"] == "online"
    )
    assert port.count(SystemDescription) == 1


def test_organisers_submit_baselines_and_online_systems_on_the_page(port_anywhere: Port) -> None:
    port = port_anywhere
    ann, mary = port.browser("ann"), port.program("mary")
    page = "/campaigns/port%201/submit"
    assert "An online system" in ann.get(page).text
    assert "An online system" not in port.browser("mary").get(page).text
    for number, (system, origin) in enumerate((("base", "baseline"), ("webtrans", "online")), 4):
        sent = ann.post(
            page, data={"system": system, "origin": origin, "constrained": "true", "team": ""},
            files={"file": ("out.txt", output(number))}, follow_redirects=False,
        )  # fmt: skip
        assert sent.status_code == 303, sent.text
    port.submit(mary)
    port.work_off()
    board = mary.get(f"{ADDRESS}/leaderboard").json()["items"]
    marked = {each["system"]: (each["origin"], each["team"], each["ranked"]) for each in board}
    assert marked["base"] == ("baseline", "", True)
    assert marked["webtrans"] == ("online", "", True)
    assert marked["mast"][0] == "team"
    shown = port.service.client().get("/campaigns/port%201/leaderboard").text
    assert "<bdi>baseline</bdi>" in shown
    assert "<bdi>online system</bdi>" in shown
    rows = port.service.client().get(f"{ADDRESS}/leaderboard?format=csv").text.splitlines()
    assert rows[0].endswith("origin")
    assert {row.rsplit(",", 1)[1] for row in rows[1:]} == {"baseline", "online", "team"}
    origins = {each["name"]: each["origin"] for each in mary.get(f"{ADDRESS}/matrix").json()["systems"]}
    assert origins["base"] == "baseline"


def test_others_cannot_submit_a_baseline_and_a_team_has_none(port: Port) -> None:
    assert port.submit(port.program("mary"), origin="baseline").status_code == 403
    assert port.submit(port.program("ann"), origin="baseline", team="harbour").status_code == 422
    with reading(port.service.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(System)) == 1


def test_a_table_describes_all_systems_at_once(port: Port) -> None:
    ann = port.program("ann")
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"), output(2), system="lamp")
    rows = ("mast\tconstrained\ten-cs\t7B", "lamp\tunconstrained\t\t", "other\t\t\t")
    table = "\n".join(["system\ttrack\tlanguage_pairs\tparameters", *rows, ""])
    preview = ann.post(f"{ADDRESS}/systems", json={"table": table, "preview": True}).json()
    assert preview == {"matched": ["mast", "lamp"], "unknown": ["other"], "missing": ["anchor"], "stored": False}
    assert port.count(SystemDescription) == 0
    assert ann.post(f"{ADDRESS}/systems", json={"table": table}).json()["stored"] is True
    tracks = {each["system"]: each["constrained"] for each in ann.get(f"{ADDRESS}/systems").json()["items"]}
    assert tracks == {"anchor": None, "mast": True, "lamp": False}
    browser, sent = port.browser("ann"), {"file": ("t.tsv", "system\tweights\nlamp\topen\nkeel\topen\n")}
    assert '<button type="submit" name="do" value="preview">Check</button>' in browser.get(PAGES).text
    checked = browser.post(PAGES, files=sent, data={"do": "preview"}).text
    said = "Nothing is stored yet. The table describes 1 system of the campaign: <bdi>lamp</bdi>."
    assert f"{said} The campaign has no system called <bdi>keel</bdi>. The table does not name <bdi>anchor" in checked
    assert read(ann, number_of(port, "lamp"))["weights"] != "open"
    by_page = browser.post(PAGES, files=sent, data={"do": "add"})
    assert read(ann, number_of(port, "lamp"))["weights"] == "open"
    assert "Stored what the table says of 1 system." in by_page.text
    assert read(ann, number_of(port, "lamp"))["constrained"] is False, "what a table does not say stays"


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("name\ttrack\nmast\tconstrained\n", "the column 'name'"),
        ("system\ttrack\nmast\tfree\n", "no track"),
        ("system\ttrack\nmast\n", "Line 2 has 1 columns"),
        ("system\tpaper\nmast\tfile:///etc/passwd\n", "Give the address of a page"),
        ("system\ttrack\nmast\tyes\nmast\tno\n", "there twice"),
    ],
)
def test_a_wrong_table_is_refused_as_a_whole(port: Port, table: str, fault: str) -> None:
    port.submit(port.program("mary"))
    answer = port.program("ann").post(f"{ADDRESS}/systems", json={"table": table})
    assert answer.status_code == 422
    assert fault in answer.text
    assert port.count(SystemDescription) == 0


def test_bibtex_is_escaped(port: Port) -> None:
    port.service.campaign("port 1", title="50% {mast} & co_1")
    port.submit(port.program("mary"))
    number = number_of(port, "mast")
    answer = port.service.client().get(f"{ADDRESS}/systems/{number}/citation")
    assert answer.headers["Content-Type"].startswith("application/x-bibtex")
    assert r"50\% \{mast\} \& co\_1" in answer.text
    assert f"systems/{number}}}" in answer.text
    campaign = port.service.client().get(f"{ADDRESS}/citation")
    assert campaign.text.startswith("@misc{port-1-results,")


def test_what_was_said_is_taken_back(port: Port) -> None:
    """Where nothing said and "no" are not the same."""
    port.submit(port.program("mary"))
    address, mary = f"{ADDRESS}/systems/{number_of(port, 'mast')}", port.program("mary")
    said = {"constrained": False, "parameters": 7, "affiliation": "Harbour", "description": "A mast."}
    for change, fields in (
        (said, said),
        ({"affiliation": None, "description": None}, said),
        ({"parameters": None}, {**said, "parameters": None}),
        ({"constrained": None}, {**said, "parameters": None, "constrained": None}),
        ({"description": ""}, {**said, "parameters": None, "constrained": None, "description": ""}),
    ):
        answer = mary.patch(address, json=change)
        assert answer.status_code == 200, answer.text
        assert {name: answer.json()[name] for name in fields} == fields, change
