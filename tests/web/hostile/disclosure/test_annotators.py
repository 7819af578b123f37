"""Who judged what is nobody's business: names of annotators are in no page, answer, export, log or audit entry."""

from __future__ import annotations

import io
import logging
import zipfile

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.human import Rating
from tests.web.hostile.world import OPEN, WORDS, World

CANARY = "canaryannotator"
API = f"/api/v1/campaigns/{OPEN}"
LOOKING = ("nobody", "rival", "lead", "viewer", "organiser", "administrator")


def table(*more: str) -> bytes:
    """Ratings by three people, and by one who is left out since he said the same of everything."""
    rows = ["annotator\tsystem\tsegment\tscore"]
    for place, system in enumerate(("keel", "oar", "hull")):
        for segment in range(len(WORDS)):
            rows += [
                f"{CANARY}.{who}@example.org\t{system}\t{segment}\t{40 + 7 * segment + 3 * who + place}"
                for who in range(3)
            ]
            rows.append(f"{CANARY}.same\t{system}\t{segment}\t50")
    return "\n".join([*rows, *more, ""]).encode()


def everything(world: World, role: str) -> str:
    """What somebody gets of a campaign whose judgments he may see."""
    program, browser = world.program(role), world.browser(role)
    pages = ("", "/metrics", "/leaderboard", "/segments", "/compare", "/manage")
    api = ("/human-scores", "/correlations", "/leaderboard", "/segments", "/audit", "")
    found = [browser.get(f"/campaigns/{OPEN}{each}").text for each in pages] + [browser.get("/audit").text]
    found += [program.get(f"{API}{each}").text for each in api] + [program.get("/api/v1/audit").text]
    with zipfile.ZipFile(io.BytesIO(program.get(f"{API}/export").content)) as file:
        found += [file.read(name).decode() for name in file.namelist()]
    return "\n".join(found)


def test_names_of_annotators_leave_the_database_nowhere(world: World, caplog: pytest.LogCaptureFixture) -> None:
    organiser = world.program("organiser")
    sent = {"data": {"called": "people"}, "files": [("files", ("people.tsv", table()))]}
    with caplog.at_level(logging.DEBUG):
        answer = organiser.post(f"{API}/human-scores", **sent)
        assert answer.status_code == 201, answer.text
        assert CANARY not in answer.text
        with reading(world.service.engine) as connection:
            assert CANARY in str(connection.scalars(select(Rating.annotator)).all())
        for role in LOOKING:
            found = everything(world, role)
            assert "people" in found, role
            assert CANARY not in found, role
        # Who sends a table reads what is wrong with it, and where; nobody else is.
        wrong = table("x\tkeel\tno number\t5").replace(
            b"\tscore\n", b"\tscore\n" + f"{CANARY}\x1b\tkeel\t1\t5\n".encode()
        )
        answer = organiser.post(f"{API}/human-scores", data={"called": "more"}, files=[("files", ("more.tsv", wrong))])
        assert answer.status_code == 422
        assert "line 2" in answer.text
    assert CANARY not in caplog.text
