"""An output that is a reference, or another team's output: organisers see it, and nobody who may not know it."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.roles import Feedback, PhaseKind
from tests.scheduler.jobs import similar_text
from tests.service.port import ADDRESS, NAME, REFERENCE, Port, output
from tests.service.service import Service
from web.live import live_version

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

PAGES = "/campaigns/port%201"
CODE = "same_as_reference"
TOLD = "The output is byte-identical to reference A."
CHANGING = re.compile(
    r"""\d{10}\.\d+ | \d{4}-\d\d-\d\d[T\ ][\d:.]+(?:\+00:00|Z)? | \b\d\d:\d\d(?::\d\d)?\b | \d+\ (?:s|min|ms)\b
    | (?<=value=")[\w.-]{20,}(?=") | "(?:age|seconds)[a-z_]*":\ ?[\d.]+ | "seconds_left":[\d.]+""",
    re.VERBOSE,
)
"""Moments and secrets of forms: they differ each time."""


@pytest.fixture
def other(sqlite_template: Path, tmp_path: Path):
    """A second app, on a database of its own."""
    file = tmp_path / "other.db"
    shutil.copy(sqlite_template, file)
    with ExitStack() as stack:
        yield Service.start(f"sqlite:///{file}", stack)


def blind(service: Service, reference: bytes = REFERENCE) -> Port:
    return Port.opened(service, PhaseKind.BLIND, reference, feedback=Feedback.NONE)


def equalities(findings: list[dict[str, str]]) -> list[str]:
    """What is found about whole outputs that are something else's; their lines are odd in other ways, too."""
    return [each["code"] for each in findings if each["code"].startswith("same_")]


def codes(client: TestClient, submission: int) -> list[str]:
    return equalities(client.get(f"/api/v1/submissions/{submission}").json()["findings"])


def told(body: bytes) -> str:
    """An answer as text; of an archive all that is in it."""
    if not body.startswith(b"PK"):
        page = body.decode()
        # The digest of what is on it, which holds times.
        return page.replace(f'data-since="{live_version(page)}"', "")
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        files = {name: archive.read(name) for name in sorted(archive.namelist())}
    text = "\n".join(f"{name}: {content.decode()}" for name, content in files.items())
    # Of files that are in it: they hold times. Any other digest would tell something.
    for content in files.values():
        text = text.replace(sha256(content).hexdigest(), "*")
    return text


def seen_by_a_team(port: Port) -> dict[str, str]:
    """All that mary's team submits the reference's text and then looks at, and what another team and nobody see."""
    program, browser = port.program("mary"), port.browser("mary")
    text = REFERENCE + b"\n"
    found = {"check": program.post(f"{ADDRESS}/checks", data={}, files={"file": ("x.txt", text)}).text}
    found["submitted"] = port.submit(program, text).text
    port.work_off()
    addresses = [
        *(
            "/api/v1/submissions/2",
            f"{ADDRESS}/submissions",
            ADDRESS,
            f"{ADDRESS}/test-sets",
            f"{ADDRESS}/leaderboards",
        ),
        *(f"{ADDRESS}/leaderboard", f"{ADDRESS}/correlations", f"{ADDRESS}/export", "/api/v1/submissions/2/output"),
    ]
    pages = ["/submissions/2", f"{PAGES}/submissions", PAGES, f"{PAGES}/leaderboard", f"{PAGES}/metrics"]
    pages += [f"{PAGES}/segments", f"{PAGES}/compare"]
    strangers = {"zoe": (port.program("zoe"), port.browser("zoe")), "nobody": (port.service.client(),) * 2}
    for who, (api, site) in {"mary": (program, browser), **strangers}.items():
        found |= {f"{who} {each}": told(api.get(each).content) for each in addresses}
        found |= {f"{who} {each}": told(site.get(each).content) for each in pages}
    return {name: CHANGING.sub("*", body) for name, body in found.items()}


def test_teams_cannot_tell_by_anything_that_an_output_is_a_blind_reference(service: Service, other: Service) -> None:
    """Two worlds that differ in the reference alone: what a team and strangers see is the same to the byte."""
    equal, unequal = blind(service), blind(other, similar_text(REFERENCE, 5))
    one, two = seen_by_a_team(equal), seen_by_a_team(unequal)
    assert one.keys() == two.keys()
    for name, body in one.items():
        assert body == two[name], name
        assert CODE not in body
    assert '"same_output"' not in one["submitted"]
    # And the worlds do differ for those who may know it.
    assert CODE in codes(equal.program("ann"), 2)
    assert CODE not in codes(unequal.program("ann"), 2)


def test_teams_that_see_the_leaderboard_are_not_told_either(service: Service) -> None:
    port = Port.opened(service, PhaseKind.OPEN)
    for who in ("mary", "zoe"):
        port.submit(port.program(who), REFERENCE + b"\n")
    port.work_off()
    readers = {"nobody": port.service.client(), **{who: port.browser(who) for who in ("mary", "zoe", "ann")}}
    for who, browser in readers.items():
        for page in ("leaderboard", "leaderboard?shown=all", "metrics", "compare"):
            body = browser.get(f"{PAGES}/{page}").text
            assert "Leaderboard</a>" in body
            assert (TOLD in body) == (who == "ann" and page != "compare"), (who, page)


def test_organisers_are_informed_wherever_they_look(service: Service) -> None:
    port = blind(service)
    port.submit(port.program("mary"), REFERENCE + b"\n")
    port.work_off()
    ann, pages = port.program("ann"), port.browser("ann")
    (finding, *_) = ann.get("/api/v1/submissions/2").json()["findings"]
    assert (finding["code"], finding["severity"]) == (CODE, "warning")
    assert finding["message"].startswith(TOLD)
    assert TOLD in pages.get("/submissions/2").text
    listed = {each["id"]: each["findings"] for each in ann.get(f"{ADDRESS}/submissions").json()["items"]}
    assert equalities(listed[2]) == [CODE]
    assert TOLD in pages.get(f"{PAGES}/leaderboard").text
    page = pages.get(f"{PAGES}/metrics").text
    assert TOLD in page
    assert "A single such outlier inflates every correlation" in page
    # On a leaderboard that all see nobody else is told.
    with writing(service.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.OPEN))
    for who in (port.browser("mary"), port.browser("zoe"), service.client()):
        for shown in (f"{PAGES}/leaderboard", f"{PAGES}/metrics"):
            answer = who.get(shown)
            assert (answer.status_code, TOLD in answer.text) == (200, False)
    assert TOLD in pages.get(f"{PAGES}/leaderboard").text


def test_equal_outputs_of_teams_are_no_outliers(service: Service) -> None:
    port = Port.opened(service)
    for who in ("mary", "zoe"):
        port.submit(port.program(who), output(7))
    port.work_off()
    page = port.browser("ann").get(f"{PAGES}/metrics").text
    # Each page says it once of both.
    assert page.count("Equal outputs count twice in every correlation") == 1
    assert port.browser("ann").get(f"{PAGES}/leaderboard").text.count("Ask the teams which one is theirs") == 1
    assert "outlier" not in page


def test_an_output_of_another_team_is_reported_to_organisers_of_both(service: Service) -> None:
    port = Port.opened(service)
    for who in ("mary", "zoe"):
        port.submit(port.program(who), output(7))
    ann = port.program("ann")
    for submission, team, other_one in ((2, "guests", 3), (3, "harbour", 2)):
        (finding,) = [
            each
            for each in ann.get(f"/api/v1/submissions/{submission}").json()["findings"]
            if each["code"] == "same_output"
        ]
        assert f"mast of {team} (submission {other_one})" in finding["message"]
    # Neither team may see the other's output.
    assert codes(port.program("mary"), 2) == codes(port.program("zoe"), 3) == []


def test_an_output_that_was_withdrawn_is_nobodys(service: Service) -> None:
    port = Port.opened(service)
    for who in ("mary", "zoe"):
        port.submit(port.program(who), output(7))
    port.program("zoe").post("/api/v1/submissions/3/withdraw")
    assert codes(port.program("ann"), 2) == []


def test_systems_are_left_out_of_correlations_and_charts_by_a_tick(service: Service) -> None:
    port = Port.opened(service)
    texts = {"mast": output(3), "sail": output(4), "oracle": REFERENCE + b"\n"}
    for system, text in texts.items():
        port.submit(port.program("mary"), text, system=system, kind="contrastive")
    port.work_off()
    human = "system\tscore\nmast\t1\nsail\t2\noracle\t0.5\nanchor\t3\n"
    ann = port.program("ann")
    made = ann.post(f"{ADDRESS}/human-scores", files=[("files", ("h.tsv", human.encode()))], data={"called": "da"})
    assert made.status_code == 201, made.text
    whole = ann.get(f"{ADDRESS}/correlations").json()["tables"][0]
    part = ann.get(f"{ADDRESS}/correlations", params={"without": 4}).json()["tables"][0]
    assert set(whole["systems"]) - set(part["systems"]) == {"oracle"}
    assert part["left_out"]["as_asked"] == ["harbour/oracle"]
    assert "oracle" not in part["left_out"]["unknown"]
    assert part["metrics"][0]["statistics"][0]["value"] != whole["metrics"][0]["statistics"][0]["value"]
    assert ann.get(f"{ADDRESS}/correlations", params={"without": 99}).status_code == 404
    page = port.browser("zoe").get(f"{PAGES}/metrics", params={"without": 4}).text
    assert re.search(r'name="without" type="checkbox" value="4" checked', page)
    assert re.search(r'name="without" type="checkbox" value="2">', page)
    assert TOLD not in page
    assert page.count("oracle") < port.browser("zoe").get(f"{PAGES}/metrics").text.count("oracle")
    # Who has no account computes nothing anew.
    nobody = service.client()
    assert nobody.get(f"{ADDRESS}/correlations", params={"without": 4}).status_code == 401
    assert 'name="without"' not in nobody.get(f"{PAGES}/metrics").text


def test_a_phase_that_is_over_tells_teams_no_more(service: Service) -> None:
    """Boards are shown, references are kept."""
    port = blind(service)
    port.submit(port.program("mary"), REFERENCE + b"\n")
    port.work_off()
    with writing(service.engine) as connection:
        connection.execute(update(Phase).values(kind=PhaseKind.PUBLISHED, starts_at=now() - 10))
    for who in ("mary", "zoe"):
        browser = port.browser(who)
        for address in (f"{PAGES}/leaderboard", f"{PAGES}/metrics", "/submissions/2"):
            assert "as reference" not in browser.get(address).text
    assert TOLD in port.browser("ann").get(f"{PAGES}/leaderboard").text
    assert NAME in port.browser("zoe").get(PAGES).text
