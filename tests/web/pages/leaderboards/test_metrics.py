"""Metrics against people and each other, and human scores that organisers add."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.roles import PhaseKind, Scope
from steelyard.formats.plain import Text
from tests.scheduler.jobs import work_off
from tests.service.campaigns import submit_output
from tests.service.inspected_campaign import REFERENCES, Looked, look_at
from tests.service.service import DAY, Service

PAGE, HUMAN = "/campaigns/bay/metrics", "/api/v1/campaigns/bay/human-scores"
CORRELATIONS = "/api/v1/campaigns/bay/correlations"

SYSTEMS = "system\tscore\ndive\t0.4\nsoar\t0.1\n"
SEGMENTS = "system\tsegment\tscore\n" + "".join(
    f"{system}\t{segment}\t{score}\n"
    for system, scores in (("dive", (90, 40, 80, 10)), ("soar", (20, 95, 60, 100)))
    for segment, score in enumerate(scores)
)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make a page without its tables."""
    monkeypatch.setattr("web.pages.leaderboards.metrics.TIMEOUT_SECONDS", 60.0)


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


def _files(*texts: str) -> list[tuple[str, tuple[str, bytes, str]]]:
    return [("files", (f"human.{n}.tsv", text.encode(), "text/plain")) for n, text in enumerate(texts)]


def test_organisers_add_human_scores_and_see_who_agrees_with_them(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)
    assert client.get(CORRELATIONS).json() == {
        "test_set": "bay",
        "references": ["A", "B"],
        "human": None,
        "tables": [],
    }
    added = client.post(HUMAN, files=_files(SEGMENTS), data={"test_set": "bay", "called": "da"})
    assert added.status_code == 201, added.text
    assert (added.json()["name"], added.json()["version"]) == ("da", 1)
    again = client.post(HUMAN, files=_files(SEGMENTS), data={"called": "da"})
    assert again.json()["version"] == 1
    told = client.get(CORRELATIONS).json()
    assert told["human"] == "da@1"
    assert [table["level"] for table in told["tables"]] == ["system", "segment"]
    assert {metric["metric"] for metric in told["tables"][1]["metrics"]} == {"bleu", "ter"}
    assert told["tables"][1]["systems"] == ["dive", "soar"]
    page = bay.service.browser(bay.organiser).get(PAGE).text
    assert "da@1" in page
    assert "By segment" in page
    assert "<svg" in page
    assert 'style="' not in page
    with reading(bay.service.engine) as connection:
        entries = connection.execute(select(AuditEntry).where(AuditEntry.action == "human-scores.add")).all()
    assert len(entries) == 1
    assert entries[0].campaign_id == bay.campaign


def test_only_organisers_add_them(bay: Looked) -> None:
    for client in (bay.service.client(), bay.service.program(bay.gull)):
        assert client.post(HUMAN, files=_files(SYSTEMS)).status_code in (401, 403)
    reads = bay.service.program(bay.organiser, Scope.READ)
    assert reads.post(HUMAN, files=_files(SYSTEMS)).status_code == 403
    assert bay.service.client().get(HUMAN).json()["items"] == []


def test_what_is_wrong_with_a_table_is_said_with_its_own_name(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)
    for text, said in (
        ("system\tsegment\tscore\ndive\t99\t1\n", "99"),
        ("nothing\tknown\n1\t2\n", "columns"),
        ("", "empty"),
    ):
        answer = client.post(HUMAN, files=_files(text))
        assert answer.status_code == 422, answer.text
        assert "human.0.tsv" in answer.text
        assert said in answer.text
    packed = client.post(HUMAN, files=[("files", ("../../x.tsv", b"\x1f\x8b\x08\x00", "text/plain"))])
    assert packed.status_code == 422
    assert "x.tsv: is packed" in packed.json()["error"]["message"]
    assert client.get(HUMAN).json()["items"] == []


def test_a_form_that_is_wrong_says_so_on_the_page(bay: Looked) -> None:
    browser = bay.service.browser(bay.organiser)
    wrong = browser.post(PAGE, files=_files("nothing\n"), data={"test_set": str(bay.test_set), "called": "mine"})
    assert wrong.status_code == 422
    assert 'role="alert"' in wrong.text
    assert 'value="mine"' in wrong.text
    # What is wrong is said beside the form, far down the page, to which the form leads.
    assert f'<form method="post" action="{PAGE}#human-scores"' in wrong.text
    assert wrong.text.index('id="human-scores"') < wrong.text.index('role="alert"')
    right = browser.post(PAGE, files=_files(SYSTEMS), data={"test_set": str(bay.test_set)}, follow_redirects=False)
    assert right.status_code == 303
    assert right.headers["Location"].endswith("#content"), "the top, where that is said"
    assert "</bdi> stored." in browser.get(right.headers["Location"]).text


def test_while_the_leaderboard_is_hidden_nothing_is_shown(bay: Looked) -> None:
    bay.service.phase(bay.campaign, "week", PhaseKind.BLIND, ends=DAY)
    for client in (bay.service.client(), bay.service.browser(bay.gull)):
        assert [client.get(path).status_code for path in (PAGE, HUMAN, CORRELATIONS)] == [403, 403, 403]
        assert "/metrics" not in client.get("/campaigns/bay/segments").text
    assert bay.service.browser(bay.organiser).get(PAGE).status_code == 200


def test_anonymous_teams_stay_so(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)
    client.post(HUMAN, files=_files(SYSTEMS + "stranger\t0.3\n"))
    bay.service.campaign("bay", anonymous=True)
    bay.service.phase(bay.campaign, "open", PhaseKind.OPEN)
    for text in (bay.service.client().get(path).text for path in (PAGE, CORRELATIONS)):
        for name in ("gulls", "terns", "dive", "soar", "stranger"):
            assert name not in text
    assert "Team 1" in bay.service.client().get(PAGE).text
    assert "<bdi>dive</bdi>" in bay.service.browser(bay.organiser).get(PAGE).text


TOTALS = "system\tscore\n{}\t1.0\n{}\t0.5\nHUMAN-A\t2.0\n"


@pytest.mark.parametrize(
    "names",
    [
        ("dive", "soar"),
        ("gulls/dive", "terns/soar"),
        ("GULLS-Dive", "terns_soar"),
        ("gulls", "Terns"),
        ("dive", "terns/soar"),
    ],
)
def test_systems_are_found_as_people_call_them(bay: Looked, names: tuple[str, str]) -> None:
    client = bay.service.program(bay.organiser)
    added = client.post(HUMAN, files=_files(TOTALS.format(*names)), data={"called": "da"})
    assert added.status_code == 201, added.text
    assert (added.json()["matched"], added.json()["unknown"], added.json()["not_judged"]) == (["dive", "soar"], [], [])
    assert client.get(CORRELATIONS).json()["tables"][0]["systems"] == ["dive", "soar"]
    page = bay.service.browser(bay.organiser).get(PAGE).text
    assert "2 judged systems with a submission: <bdi>dive, soar</bdi>" in page


def test_what_matches_nothing_is_refused_and_what_matches_in_part_is_listed(bay: Looked) -> None:
    client, browser = bay.service.program(bay.organiser), bay.service.browser(bay.organiser)
    refused = client.post(HUMAN, files=_files(TOTALS.format("heron", "stork")), data={"called": "da"})
    assert refused.status_code == 422
    said = refused.json()["error"]["message"]
    assert "nothing was stored. Judged: heron, stork, HUMAN-A. Submitted: dive, soar." in said
    sent = browser.post(PAGE, files=_files(TOTALS.format("heron", "stork")), data={"test_set": str(bay.test_set)})
    assert (sent.status_code, "Judged: heron, stork, HUMAN-A." in sent.text) == (422, True)
    assert client.get(HUMAN).json()["items"] == []
    added = client.post(HUMAN, files=_files(TOTALS.format("heron", "soar")), data={"called": "da"})
    assert (added.json()["matched"], added.json()["unknown"], added.json()["not_judged"]) == (
        ["soar"],
        ["heron"],
        ["dive"],
    )
    page = browser.get(PAGE).text
    assert "but no submission has that name: <bdi>heron</bdi>" in page
    assert "Not judged: <bdi>dive</bdi>" in page


def test_only_organisers_read_which_output_is_a_reference(bay: Looked) -> None:
    """The references are hidden, and so is that somebody handed one of them in."""
    text = "".join(f"{line}\n" for line in REFERENCES["B"]).encode()
    for system in ("copied", "copied too, and judged by nobody"):
        submit_output(bay.service.engine, "bay", "gulls", system, text, test_set="bay")
    work_off(bay.service.settings)
    organiser = bay.service.program(bay.organiser)
    table = SYSTEMS + "copied\t0.9\n"
    assert organiser.post(HUMAN, files=_files(table), data={"called": "da"}).status_code == 201

    def told(client: TestClient) -> list[list[tuple[str, str]]]:
        answer = client.get(CORRELATIONS)
        assert answer.status_code == 200, answer.text
        return [
            [(each["system"], each["reference"]) for each in table["reference_outputs"]]
            for table in answer.json()["tables"]
        ]

    ((one,),) = told(organiser)
    assert (one[0].split("/")[-1], one[1]) == ("copied", "B")
    for client in (bay.service.client(), bay.service.program(bay.gull)):
        assert told(client) == [[]]


def test_organisers_delete_what_they_added(bay: Looked) -> None:
    client, browser = bay.service.program(bay.organiser), bay.service.browser(bay.organiser)
    for score in ("1", "2"):
        text = TOTALS.format("dive", "soar").replace("1.0", score)
        assert client.post(HUMAN, files=_files(text), data={"called": "da"}).status_code == 201
    assert client.get(CORRELATIONS).json()["human"] == "da@2"
    assert bay.service.program(bay.gull).delete(f"{HUMAN}/da@2").status_code == 403
    assert bay.service.client().delete(f"{HUMAN}/da@2").status_code == 401
    assert client.delete(f"{HUMAN}/da@9").status_code == 404
    assert client.delete(f"{HUMAN}/da@2").status_code == 204
    assert client.get(CORRELATIONS).json()["human"] == "da@1", "the one before it stands again"
    form = {"test_set": "bay", "title": "da@1"}
    assert browser.post(f"{PAGE}/delete", data=form).status_code == 422, "it asks first"
    assert len(client.get(HUMAN).json()["items"]) == 1
    assert "Delete da@1" in browser.get(PAGE).text
    answer = browser.post(f"{PAGE}/delete", data={**form, "sure": "yes"}, follow_redirects=False)
    assert answer.status_code == 303
    assert client.get(HUMAN).json()["items"] == []
    with reading(bay.service.engine) as connection:
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions[-4:] == ["human-scores.add", "human-scores.add", "human-scores.remove", "human-scores.remove"]


def test_scores_with_the_number_of_deleted_ones_are_compared_again(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)

    def tables(*names: str) -> object:
        assert client.post(HUMAN, files=_files(TOTALS.format(*names)), data={"called": "da"}).status_code == 201
        return client.get(CORRELATIONS).json()["tables"]

    first = tables("dive", "soar")
    assert client.delete(f"{HUMAN}/da@1").status_code == 204
    assert tables("soar", "dive") != first


def test_a_new_name_leads_to_the_scores_whatever_is_in_it(bay: Looked) -> None:
    browser = bay.service.browser(bay.organiser)
    for called in ("da", "esa"):
        assert browser.post(HUMAN, files=_files(SYSTEMS), data={"called": called}).status_code == 201
    form = {"test_set": str(bay.test_set), "title": "esa", "new_name": "  d&a +1 "}
    done = browser.post(f"{PAGE}/rename", data=form, follow_redirects=False)
    assert done.status_code == 303
    assert {each["name"] for each in browser.get(HUMAN).json()["items"]} == {"da", "d&a +1"}
    shown = browser.get(done.headers["Location"]).text
    assert "d&amp;a +1@1</bdi> on <bdi>" in shown, "those that were renamed, of two"


def test_organisers_delete_what_came_along_with_a_correction(bay: Looked) -> None:
    client, browser = bay.service.program(bay.organiser), bay.service.browser(bay.organiser)
    assert client.post(HUMAN, files=_files(TOTALS.format("dive", "soar")), data={"called": "da"}).status_code == 201
    new = {"A": Text("A.txt", "\n".join(["a blue ship", *REFERENCES["A"][1:]]).encode(), 4)}
    with writing(bay.service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        correct_test_set(
            connection, bay.service.settings, access, find_campaign_test_set(connection, access, "bay"), new, "typo"
        )
    assert [each["test_set"] for each in client.get(HUMAN).json()["items"]] == ["bay (version 2)", "bay"]
    form = {"test_set": "bay@2", "title": "da@1", "sure": "yes"}
    assert browser.post(f"{PAGE}/delete", data=form, follow_redirects=False).status_code == 303
    assert [each["test_set"] for each in client.get(HUMAN).json()["items"]] == ["bay"]


def test_a_preview_on_the_page_says_what_would_be_stored_and_stores_nothing(bay: Looked) -> None:
    olga = bay.service.browser(bay.organiser)
    shown = olga.post(PAGE, data={"test_set": "bay", "called": "da", "do": "preview"}, files=_files(SYSTEMS))
    assert shown.status_code == 200
    assert "<p>Nothing is stored yet. 0 judgments, scores of 2 systems and 0 of 4 segments.</p>" in shown.text
    assert "<li>Judged and submitted: <bdi>dive, soar</bdi>.</li>" in shown.text
    assert olga.get(HUMAN).json()["items"] == []
    wrong = olga.post(PAGE, data={"test_set": "bay", "called": "da", "rename": "dive to soar"}, files=_files(SYSTEMS))
    assert (
        wrong.status_code,
        "&#39;dive to soar&#39; does not rename a system. Write OLD=NEW, at most 200 of them." in wrong.text,
    ) == (422, True)
    assert "dive to soar</textarea>" in wrong.text
    missing = olga.post(PAGE, data={"test_set": "gone", "called": "da"}, files=_files(SYSTEMS))
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("fields", "count", "says"),
    [
        ({"rename": "=x"}, 1, "'=x' does not rename a system. Write OLD=NEW, at most 200 of them."),
        (
            {"rename": "\n".join(f"a{n}=b" for n in range(201))},
            1,
            "'a200=b' does not rename a system. Write OLD=NEW, at",
        ),
        ({}, 21, "Send 1 to 20 tables of judgments; this request has 21."),
        ({"weights": "major"}, 1, "major"),
        ({"called": "a@1"}, 1, "The name of judgments has 1 to 100 visible characters, without @."),
    ],
)
def test_judgments_that_are_sent_wrongly_are_refused(
    bay: Looked, fields: dict[str, str], count: int, says: str
) -> None:
    olga = bay.service.program(bay.organiser)
    answer = olga.post(HUMAN, data={"test_set": "bay", "called": "da", **fields}, files=_files(*[SYSTEMS] * count))
    assert (answer.status_code, says in answer.json()["error"]["message"]) == (422, True)
    assert olga.get(HUMAN).json()["items"] == []


def test_other_rules_are_for_leaderboards_that_are_not_too_large(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    olga = bay.service.program(bay.organiser)
    olga.post(HUMAN, data={"test_set": "bay", "called": "da"}, files=_files(SYSTEMS))
    monkeypatch.setattr(bay.service.app.state.steelyard.metrics, "tables", lambda *_: None)
    busy = olga.get(CORRELATIONS, params={"level": 0.9})
    assert (busy.status_code, busy.headers["Retry-After"], busy.json()["error"]["message"]) == (
        503, "2", "The metrics are being compared. Ask again.",
    )  # fmt: skip
    monkeypatch.undo()
    monkeypatch.setattr("web.api.campaigns.correlations.MAX_SYSTEMS", 1)
    large = olga.get(CORRELATIONS, params={"level": 0.9})
    assert (large.status_code, large.json()["error"]["message"]) == (
        422, "Other rules than the usual ones are for leaderboards of at most 1 systems.",
    )  # fmt: skip
    assert olga.get(CORRELATIONS).status_code == 200
