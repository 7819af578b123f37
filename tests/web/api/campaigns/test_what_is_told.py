"""What the API tells of a campaign: to each account what concerns it, and of each part what that part has."""

from __future__ import annotations

import pytest

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.test_sets.files import InputTestSet, NamedContent
from campaigns.test_sets.stored import find_campaign_test_set, set_test_set
from models.database.session import writing
from models.schema.roles import PhaseKind, Visibility
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY, Service
from tests.web.api.campaigns.people import HERE, SITE, People, error


@pytest.fixture
def people(service: Service) -> People:
    return People(service)


def test_an_account_is_told_its_own_teams_and_no_other_name_of_anonymous_ones(people: People) -> None:
    people.found(visibility="public", anonymous=True, joining="open")
    # The last two lead to numbers of two digits.
    names = [f"ship {letter}" for letter in "kjihgfedcba"]
    people.service.campaign("wmt", teams=tuple(people.service.team(name) for name in names))
    for program, team in ((people.lead, "harbour"), (people.stranger, "guests")):
        assert program.post(f"{HERE}/teams", json={"team": team}).status_code == 201
    told = {
        who: program.get(HERE).json()["teams"]
        for who, program in (
            ("lead", people.lead),
            ("stranger", people.stranger),
            ("organiser", people.organiser),
            ("nobody", people.nobody),
        )
    }
    assert told == {"lead": ["harbour"], "stranger": ["guests"], "organiser": [], "nobody": []}
    for_nobody = people.nobody.get(f"{HERE}/teams").json()["items"]
    assert {each["team"] for each in for_nobody} == {None}
    assert [each["name"] for each in for_nobody] == [f"Team {each['number']}" for each in for_nobody]
    # In the order of numbers, whatever the teams are called.
    assert [each["number"] for each in for_nobody] == sorted(each["number"] for each in for_nobody)
    for_lead = people.lead.get(f"{HERE}/teams").json()["items"]
    assert [each["number"] for each in for_lead] == [each["number"] for each in for_nobody]
    assert {each["team"] for each in for_lead} == {None, "harbour"}
    for_organiser = people.organiser.get(f"{HERE}/teams").json()["items"]
    assert [each["team"] for each in for_organiser] == ["guests", "harbour", *sorted(names)]


def test_viewers_and_members_find_a_private_campaign_in_their_lists(people: People) -> None:
    people.found()
    for program in (people.stranger, people.lead):
        assert program.get(SITE).json()["items"] == []
    made = people.organiser.put(f"{HERE}/members", json={"email": "eve@example.org", "role": "viewer"})
    assert made.status_code == 200
    people.service.campaign("other", visibility=Visibility.PRIVATE)
    assert [each["name"] for each in people.stranger.get(SITE).json()["items"]] == ["wmt"]
    assert people.lead.get(SITE).json()["items"] == []
    # The team takes part in another one, of which it knows then, and of no third one.
    joined = people.service.team("joined", people.mary)
    people.service.campaign("other", teams=(joined,), visibility=Visibility.PRIVATE)
    assert [each["name"] for each in people.lead.get(SITE).json()["items"]] == ["other"]
    assert [each["name"] for each in people.stranger.get(SITE).json()["items"]] == ["wmt"]


def test_a_phase_takes_submissions_while_it_is_the_present_one(people: People) -> None:
    people.found(visibility="public")
    campaign = people.service.campaign("wmt")
    for name, begins in (("before", -2 * DAY), ("now", -DAY), ("later", DAY)):
        people.service.phase(
            campaign, name, PhaseKind.OPEN, begins=begins, ends=begins + DAY if begins < -DAY else None
        )
    items = people.nobody.get(f"{HERE}/phases").json()["items"]
    assert [(each["name"], each["now"], each["takes_submissions"]) for each in items] == [
        ("before", False, False),
        ("now", True, True),
        ("later", False, False),
    ]
    assert people.organiser.post(f"{HERE}/freeze").status_code == 200
    items = people.nobody.get(f"{HERE}/phases").json()["items"]
    assert [each["takes_submissions"] for each in items] == [False, False, False]


def test_each_test_set_is_told_with_its_own_source_and_measures(people: People) -> None:
    people.found(visibility="public")
    people.upload("news", metrics=["bleu"])
    no_source = InputTestSet([NamedContent("A.txt", b"a\nb\n")], source_language="en", target_language="cs")
    with_test_set(people.service.engine, "wmt", no_source, name="talks", metrics=("ter",))
    items = people.organiser.get(f"{HERE}/test-sets").json()["items"]
    told = [
        (each["name"], each["source_visible"], {m for one in each["measures"] for m in one["metrics"]})
        for each in items
    ]
    assert [(name, source, {each.partition(":")[0] for each in metrics}) for name, source, metrics in told] == [
        ("news", True, {"bleu"}),
        ("talks", False, {"ter"}),
    ]


def test_a_test_set_of_a_later_phase_is_for_organisers(people: People) -> None:
    people.found(visibility="public")
    people.upload("news")
    number = with_test_set(people.service.engine, "wmt", given(b"a\nb\n", b"i\nii\n"), name="surprise")
    people.service.phase(people.service.campaign("wmt"), "later", PhaseKind.BLIND, begins=DAY)
    with writing(people.service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        set_test_set(connection, access, find_campaign_test_set(connection, access, "surprise"), phase="later")
    address = f"{HERE}/test-sets"
    assert [each["name"] for each in people.organiser.get(address).json()["items"]] == ["news", "surprise"]
    assert people.organiser.get(f"{address}/{number}").status_code == 200
    for program in (people.lead, people.stranger, people.nobody):
        assert [each["name"] for each in program.get(address).json()["items"]] == ["news"]
        answer = program.get(f"{address}/{number}")
        assert error(answer) == (404, "not_found")
        assert "surprise" not in answer.text
    assert people.organiser.get(f"{address}/{number}").json()["phase"] == "later"


def test_a_correction_names_no_anonymous_team_and_no_system_of_one(people: People) -> None:
    people.found(visibility="public", anonymous=True, joining="open")
    added = people.upload()
    assert people.lead.post(f"{HERE}/teams", json={"team": "harbour"}).status_code == 201
    submit_output(people.service.engine, "wmt", "harbour", "mast-of-harbour", b"kocka\npes\ndum\n", test_set="news")
    made = people.organiser.post(
        f"{HERE}/corrections",
        files={"references": ("A.txt", b"kocka\npes\nbarak\n")},
        data={"test_set": added["id"], "reason": "a slip"},
    )
    assert made.status_code == 201, made.text
    (team,) = people.nobody.get(f"{HERE}/teams").json()["items"]
    address = f"{HERE}/corrections/{made.json()['id']}"
    for program, names in (
        (people.organiser, {("harbour", "mast-of-harbour")}),
        (people.lead, {("harbour", "mast-of-harbour")}),
        (people.nobody, {(team["name"], "")}),
    ):
        answer = program.get(address)
        assert answer.status_code == 200, answer.text
        rows = [row for metric in answer.json()["metrics"] for row in metric["systems"]]
        assert {(row["team"], row["system"]) for row in rows} == names


def test_a_campaign_is_founded_for_its_organiser(people: People) -> None:
    people.found(organiser="mary@example.org")
    told = {who: program.get(HERE) for who, program in (("lead", people.lead), ("stranger", people.stranger))}
    assert (told["lead"].json()["organises"], told["stranger"].status_code) == (True, 404)
    members = people.organiser.get(f"{HERE}/members").json()["items"]
    assert {(each["name"], each["role"]) for each in members} == {("mary", "organiser"), ("olga", "organiser")}
