"""The life of a campaign by the API."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.participants import join_with_team
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.roles import PhaseKind, Scope, Visibility
from tests.scheduler.jobs import work_off
from tests.service.campaigns import REFERENCE, SOURCE, submit_output
from tests.service.port import ADDRESS, Port
from tests.service.service import DAY, Service
from tests.web.api.campaigns.people import HERE, SITE, People, error


@pytest.fixture
def people(service: Service) -> People:
    return People(service)


def test_an_organiser_founds_and_others_do_not(people: People) -> None:
    people.found(title="The task", time_zone="Europe/Prague")
    shown = people.organiser.get(HERE).json()
    assert (shown["title"], shown["visibility"], shown["organises"], shown["takes_submissions"]) == (
        "The task",
        "private",
        True,
        True,
    )
    assert error(people.lead.post(SITE, json={"name": "mine"})) == (403, "forbidden")
    assert error(people.nobody.post(SITE, json={"name": "mine"})) == (401, "not_signed_in")
    reader = people.service.program(people.olga, Scope.READ)
    assert error(reader.post(SITE, json={"name": "mine"})) == (403, "forbidden")
    assert error(people.organiser.post(SITE, json={"name": "WMT"})) == (409, "conflict")
    for wrong in ({"name": "a/b"}, {"name": "x", "time_zone": "Mars/Olympus"}, {"name": "x", "surprise": 1}):
        assert error(people.organiser.post(SITE, json=wrong)) == (422, "bad_input")
    assert [each["name"] for each in people.organiser.get(SITE).json()["items"]] == ["wmt"]
    assert people.stranger.get(SITE).json() == {"items": [], "next": None, "unreadable": []}
    assert people.stranger.get(HERE).json() == people.nobody.get(HERE).json()
    assert error(people.stranger.get(HERE)) == (404, "not_found")


def test_lists_go_on_where_they_ended(people: People) -> None:
    for number in range(5):
        people.service.campaign(f"c{number}", visibility=Visibility.PUBLIC)
    names: list[str] = []
    after = ""
    while after is not None:
        part = people.nobody.get(SITE, params={"limit": 2, "after": after}).json()
        names += [each["name"] for each in part["items"]]
        after = part["next"]
    assert names == ["c4", "c3", "c2", "c1", "c0"]
    assert error(people.nobody.get(SITE, params={"after": "x"})) == (422, "bad_input")


def test_rules_change_only_as_they_were_looked_at(people: People) -> None:
    people.found()
    first = people.organiser.get(HERE)
    changed = people.organiser.patch(HERE, json={"visibility": "public"}, headers={"If-Match": first.headers["ETag"]})
    assert (changed.status_code, changed.json()["visibility"]) == (200, "public")
    assert changed.headers["ETag"] != first.headers["ETag"]
    late = people.organiser.patch(HERE, json={"title": "x"}, headers={"If-Match": first.headers["ETag"]})
    assert error(late) == (412, "out_of_date")
    assert people.organiser.patch(HERE, json={"title": "y"}).json()["title"] == "y"
    assert error(people.stranger.patch(HERE, json={"title": "mine"})) == (403, "forbidden")
    with reading(people.service.engine) as connection:
        details = connection.scalars(select(AuditEntry.details).order_by(AuditEntry.id)).all()
    assert details[1:] == [{"visibility": ["private", "public"]}, {"title": ["", "y"]}]


def test_phases_are_planned_in_the_time_zone_of_the_campaign(people: People) -> None:
    people.found(time_zone="Europe/Prague", visibility="public")
    plan = {"name": "test", "kind": "blind", "starts": "2027-01-10T09:00", "ends": "2027-01-20T18:00"}
    made = people.organiser.post(f"{HERE}/phases", json={**plan, "feedback": "rounded"}).json()
    assert (made["starts"], made["ends"], made["now"]) == (
        "2027-01-10T09:00:00+01:00",
        "2027-01-20T18:00:00+01:00",
        False,
    )
    address = f"{HERE}/phases/{made['id']}"
    longer = people.organiser.post(f"{address}/extend", json={"ends": "2027-01-21T18:00"}).json()
    ends, old = (datetime.fromisoformat(each["ends_at"]) for each in (longer, made))
    assert (ends - old).total_seconds() == DAY
    assert error(people.organiser.post(f"{address}/extend", json={"ends": "2027-01-19T18:00"})) == (422, "bad_input")
    twice = people.organiser.patch(address, json={"ends": "2027-10-31T02:30"})
    assert error(twice) == (422, "bad_input")
    assert "2027-10-31T02:30+02:00 or 2027-10-31T02:30+01:00" in twice.json()["error"]["message"]
    other = {"name": "other", "kind": "open", "starts": "2027-01-20T18:00"}
    assert error(people.organiser.post(f"{HERE}/phases", json=other)) == (409, "conflict")
    assert people.organiser.patch(address, json={"ends": ""}).json()["ends"] is None
    assert error(people.stranger.patch(address, json={"ends": ""})) == (403, "forbidden")
    assert [each["name"] for each in people.nobody.get(f"{HERE}/phases").json()["items"]] == ["test"]
    assert people.organiser.delete(address).status_code == 204
    assert error(people.organiser.delete(address)) == (404, "not_found")
    assert people.log() == ["campaign.found", "phase.add", "phase.change", "phase.change", "phase.remove"]


def test_a_test_set_is_read_with_all_checks_and_measured(people: People) -> None:
    people.found(visibility="public")
    added = people.upload()
    assert (added["name"], added["segments"], added["references"], added["notices"]) == ("news", 3, ["A", "B"], [])
    assert [each["references"] for each in added["measures"]] == [["A"], ["B"], ["A", "B"]]
    assert added["measures"][0]["metrics"][0].startswith("bleu")
    wrong = people.organiser.post(
        f"{HERE}/test-sets",
        data={"name": "short"},
        files=[("references", ("A.txt", b"one\n")), ("source", ("s.txt", SOURCE)), ("documents", ("d.tsv", b"x\n"))],
    )
    assert error(wrong) == (422, "bad_input")
    message = wrong.json()["error"]["message"]
    assert "refs/A.txt: 1 line, 2 fewer" in message
    assert "/tmp" not in message, "where we keep it is nobody's business"
    assert error(people.organiser.post(f"{HERE}/test-sets", data={"name": "none"})) == (422, "bad_input")
    again = people.organiser.post(
        f"{HERE}/test-sets", data={"name": "x", "metrics": "nosuch"}, files=[("references", ("A.txt", b"a\nb\n"))]
    )
    assert error(again) == (422, "bad_input")
    for client in (people.lead, people.nobody):
        refused = client.post(f"{HERE}/test-sets", data={"name": "x"}, files=[("references", ("A.txt", REFERENCE))])
        assert refused.status_code in (401, 403)


@pytest.mark.parametrize("name", ["../../etc/passwd.txt", "C:\\x\\A.txt", "a\x00b.txt", "<script>.txt", "..", ""])
def test_names_of_files_lead_nowhere(people: People, name: str) -> None:
    people.found()
    answer = people.organiser.post(
        f"{HERE}/test-sets", data={"name": "x", "replicates": "0"}, files=[("references", (name, REFERENCE))]
    )
    if answer.status_code == 201:
        assert answer.json()["references"] in (["passwd"], ["A"], ["file"])
    else:
        assert error(answer)[0] == 422


def test_marked_files_say_themselves_what_they_hold(people: People) -> None:
    people.found()
    marked = b"""<dataset id="port"><doc id="d1" origlang="en"><src lang="en"><p><seg id="1">the cat</seg></p></src>
<ref lang="cs" translator="A"><p><seg id="1">kocka</seg></p></ref></doc></dataset>"""
    answer = people.organiser.post(
        f"{HERE}/test-sets", data={"name": "port", "replicates": "0"}, files=[("references", ("set.xml", marked))]
    )
    assert answer.status_code == 201, answer.text
    assert (answer.json()["references"], answer.json()["target_language"]) == (["A"], "cs")


def test_sources_and_references_are_had_when_it_is_time(people: People) -> None:
    people.found(visibility="public")
    test_set = people.upload()
    address = f"{HERE}/test-sets/{test_set['id']}"
    campaign = people.service.campaign("wmt")
    people.service.phase(campaign, "dev", PhaseKind.OPEN)
    people.service.phase(campaign, "test", PhaseKind.BLIND, begins=DAY)
    people.organiser.patch(address, json={"phase": "test"})
    for client in (people.nobody, people.stranger, people.lead):
        # Nothing tells that it is there before its phase begins.
        missing = client.get(f"{HERE}/test-sets/99").text
        for part in ("", "/source", "/references/A"):
            answer = client.get(address + part)
            assert (answer.status_code, answer.text) == (404, missing.replace("99", str(test_set["id"])))
    assert people.organiser.get(f"{address}/source").content == SOURCE
    assert people.organiser.get(f"{address}/references/A").content == REFERENCE
    assert error(people.organiser.patch(address, json={"released": True})) == (409, "conflict")
    assert people.organiser.patch(address, json={"released": True, "early": True}).json()["released_at"]
    assert people.nobody.get(f"{address}/references/A").status_code == 404
    people.organiser.patch(address, json={"phase": ""})
    answer = people.nobody.get(f"{address}/references/A")
    assert answer.content == REFERENCE
    assert answer.headers["Content-Disposition"] == 'attachment; filename="reference.txt"'
    people.organiser.patch(address, json={"released": False})
    assert people.nobody.get(f"{address}/references/A").status_code == 404
    assert people.nobody.get(f"{address}/source").content == SOURCE


def test_teams_join_where_joining_is_open(people: People) -> None:
    people.found(visibility="public", anonymous=True)
    ours = {"team": "harbour"}
    assert error(people.lead.post(f"{HERE}/teams", json=ours)) == (403, "forbidden")
    people.organiser.patch(HERE, json={"joining": "open"})
    assert error(people.stranger.post(f"{HERE}/teams", json=ours)) == (403, "forbidden")
    joined = people.lead.post(f"{HERE}/teams", json=ours)
    assert (joined.status_code, joined.json()["name"], joined.json()["team"]) == (201, "harbour", "harbour")
    assert error(people.lead.post(f"{HERE}/teams", json=ours)) == (409, "conflict")
    with writing(people.service.engine) as connection:
        assert join_with_team(connection, COMMAND_LINE, "wmt", "guests")
    assert error(people.organiser.post(f"{HERE}/teams", json={"team": "nobody"})) == (404, "not_found")
    seen = people.nobody.get(f"{HERE}/teams").json()["items"]
    assert {each["team"] for each in seen} == {None}
    assert [each["name"] for each in seen] == [f"Team {number}" for number in sorted(each["number"] for each in seen)]
    assert {each["team"] for each in people.lead.get(f"{HERE}/teams").json()["items"]} == {"harbour", None}
    people.upload()
    submit_output(people.service.engine, "wmt", "harbour", "mast", REFERENCE)
    assert error(people.lead.delete(f"{HERE}/teams/harbour")) == (409, "conflict")
    assert error(people.lead.delete(f"{HERE}/teams/guests")) == (403, "forbidden")
    assert people.stranger.delete(f"{HERE}/teams/guests").status_code == 204


def test_numbers_of_teams_are_drawn_by_lot(people: People) -> None:
    people.found()
    for number in range(12):
        people.service.team(f"t{number}")
        with writing(people.service.engine) as connection:
            assert join_with_team(connection, COMMAND_LINE, "wmt", f"t{number}")
    numbers = {each["team"]: each["number"] for each in people.organiser.get(f"{HERE}/teams").json()["items"]}
    drawn = [numbers[f"t{number}"] for number in range(12)]
    assert len(set(drawn)) == 12
    assert drawn != sorted(drawn), "this comes by chance once in 479,001,600 times"


def test_the_last_organiser_stays(people: People) -> None:
    people.found()
    members = f"{HERE}/members"
    assert people.organiser.put(members, json={"email": "Eve@Example.org", "role": "viewer"}).status_code == 200
    assert people.stranger.get(HERE).json()["organises"] is False
    assert error(people.stranger.get(members)) == (403, "forbidden")
    (olga,) = (each["account"] for each in people.organiser.get(members).json()["items"] if each["role"] == "organiser")
    assert error(people.organiser.delete(f"{members}/{olga}")) == (409, "conflict")
    demoted = people.organiser.put(members, json={"email": "olga@example.org", "role": "viewer"})
    assert error(demoted) == (409, "conflict")
    unknown = people.organiser.put(members, json={"email": "x@example.org", "role": "viewer"})
    assert error(unknown) == (404, "not_found")
    people.organiser.put(members, json={"email": "eve@example.org", "role": "organiser"})
    assert people.stranger.delete(f"{members}/{olga}").status_code == 204
    assert error(people.organiser.get(HERE)) == (404, "not_found")


def test_freezing_closing_and_publishing(people: People) -> None:
    people.found(visibility="public")
    campaign = people.service.campaign("wmt")
    people.service.phase(campaign, "test", PhaseKind.BLIND, ends=DAY)
    assert people.organiser.post(f"{HERE}/freeze").json()["takes_submissions"] is False
    assert people.organiser.post(f"{HERE}/unfreeze").json()["takes_submissions"] is True
    closed = people.organiser.post(f"{HERE}/close").json()
    assert (closed["phase"], closed["takes_submissions"]) == ("test", False)
    assert error(people.organiser.post(f"{HERE}/close")) == (422, "bad_input")
    assert people.nobody.get(HERE).json()["published"] is False
    assert people.organiser.post(f"{HERE}/publish").json()["published"] is True
    for verb in ("freeze", "unfreeze", "close", "publish"):
        assert people.lead.post(f"{HERE}/{verb}").status_code == 403
        assert people.nobody.post(f"{HERE}/{verb}").status_code == 401
    assert people.log()[1:] == ["campaign.freeze", "campaign.unfreeze", "phase.close", "campaign.publish"]


def test_later_phases_are_in_the_way_of_publication_until_their_deletion_is_confirmed(people: People) -> None:
    people.found()
    people.service.phase(people.service.campaign("wmt"), "test", PhaseKind.BLIND, begins=DAY)
    refused = people.organiser.post(f"{HERE}/publish")
    assert error(refused) == (409, "conflict")
    assert "delete_later" in refused.json()["error"]["message"]
    assert people.organiser.post(f"{HERE}/publish", params={"delete_later": True}).json()["published"] is True
    phases = people.organiser.get(f"{HERE}/phases").json()["items"]
    assert [each["name"] for each in phases] == ["Published"]


def test_quotas_are_set_and_what_a_team_has_used_is_reported(people: People) -> None:
    people.found(time_zone="Europe/Prague", joining="open", visibility="public")
    people.upload()
    people.lead.post(f"{HERE}/teams", json={"team": "harbour"})
    set_to = people.organiser.put(f"{HERE}/quotas", json={"kind": "per_day", "amount": 3})
    assert set_to.json() == [
        {"campaign": "wmt", "team": "", "phase": "", "kind": "per_day", "amount": 3, "time_zone": "Europe/Prague"}
    ]
    submit_output(people.service.engine, "wmt", "harbour", "mast", REFERENCE)
    standings = {each["kind"]: each for each in people.lead.get(f"{HERE}/teams/harbour/quotas").json()["usage"]}
    assert (standings["per_day"]["used"], standings["per_day"]["amount"]) == (1, 3)
    assert error(people.stranger.get(f"{HERE}/teams/harbour/quotas")) == (403, "forbidden")
    assert error(people.lead.put(f"{HERE}/quotas", json={"kind": "per_day", "amount": 99})) == (403, "forbidden")
    assert people.organiser.delete(f"{HERE}/quotas/per_day").status_code == 204
    assert error(people.organiser.delete(f"{HERE}/quotas/per_day")) == (404, "not_found")


def test_a_correction_shows_old_and_new_side_by_side(people: People) -> None:
    people.found(visibility="public")
    test_set = people.upload(metrics=["chrf"], reference_lists=["A"])
    submit_output(people.service.engine, "wmt", "harbour", "mast", REFERENCE)
    submit_output(people.service.engine, "wmt", "guests", "tent", b"kocour\npes\nbarak\n")
    work_off(people.service.settings)
    form = {"test_set": str(test_set["id"]), "reason": "The wrong file"}
    made = people.organiser.post(
        f"{HERE}/corrections", data=form, files=[("references", ("A.txt", b"kocour\npes\nbarak\n"))]
    )
    assert (made.status_code, made.json()["open_evaluations"]) == (201, 2), made.text
    work_off(people.service.settings)
    seen = people.nobody.get(f"{HERE}/corrections/{made.json()['id']}").json()
    (metric,) = seen["metrics"]
    assert [(each["system"], each["old_rank"], each["new_rank"], each["risen"]) for each in metric["systems"]] == [
        ("tent", 2, 1, 1),
        ("mast", 1, 2, -1),
    ]
    assert metric["systems"][0]["new"] == pytest.approx(100)
    assert people.nobody.get(f"{HERE}/corrections").json()["items"][0]["reason"] == "The wrong file"
    people.service.phase(people.service.campaign("wmt"), "test", PhaseKind.BLIND)
    assert error(people.nobody.get(f"{HERE}/corrections/{made.json()['id']}")) == (403, "forbidden")
    assert error(people.lead.post(f"{HERE}/corrections", data=form, files=[("references", ("A.txt", SOURCE))])) == (
        403,
        "forbidden",
    )


def test_the_second_in_a_race_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    team = People(service)
    team.found()
    # As if the first one had been stored after the second one had looked.
    monkeypatch.setattr("campaigns.phases.folded", lambda name: object())
    phase = {"name": "Test", "kind": "open", "starts": "2026-01-01T00:00", "ends": "2026-02-01T00:00"}
    assert team.organiser.post(f"{HERE}/phases", json=phase).status_code == 201
    later = {"starts": "2026-03-01T00:00", "ends": "2026-04-01T00:00"}
    again = team.organiser.post(f"{HERE}/phases", json={**phase, **later})
    assert error(again) == (409, "conflict")
    assert "at the same time" in again.json()["error"]["message"]


def test_what_ranks_can_be_said_of_a_new_campaign(service: Service) -> None:
    team = People(service)
    assert error(team.organiser.post(SITE, json={"name": "none", "ranked_by": "chrg"})) == (422, "bad_input")
    assert team.found(ranked_by="chrf").get(HERE).json()["ranked_by"] == "chrf"
    team.upload()
    assert error(team.organiser.patch(HERE, json={"ranked_by": "ter"})) == (422, "bad_input")


def test_an_export_of_everything_has_all_test_sets(port: Port) -> None:
    asked = port.program("ann").get(f"{ADDRESS}/export", params={"test_set": "quay"})
    assert (asked.status_code, asked.json()["error"]["message"]) == (
        422, "An export of everything has all test sets. Choose some with layout=mt-metrics-eval.",
    )  # fmt: skip
