"""Pages of a campaign beside another one, a test set beside another one: each shows and changes its own, in order."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from models.database.session import reading, writing
from models.schema.corpus import TestSet as StoredTestSet
from models.schema.roles import PhaseKind, SiteRole
from tests.service.campaigns import REFERENCE, SOURCE, found, given, submit_output, with_test_set
from tests.service.people import audited
from tests.service.port import Port
from tests.service.service import DAY, Service

HERE = "/campaigns/port%201"
MANAGE = f"{HERE}/manage"


def test_recent_changes_are_those_of_the_campaign_newest_first(port: Port) -> None:
    other = port.service.campaign("other", organisers=(port.accounts["ann"],))
    with writing(port.service.engine) as connection:
        for number, campaign in enumerate((port.campaign, other, port.campaign, None)):
            what = f"test_set.re-open_{number}"
            COMMAND_LINE.audit(connection, what, f"subject {number}", campaign_id=campaign)
    shown = port.browser("ann").get(MANAGE).text
    assert "The last 2 changes" in shown
    # What happened is said in words, whatever signs its code has.
    changes = re.findall(r"<td title=\"[^\"]*\">([^<]*)</td><td><bdi>([^<]*)</bdi></td>", shown)
    assert changes == [("test set: re open 2", "subject 2"), ("test set: re open 0", "subject 0")]


def test_teams_are_listed_by_name_whatever_the_case_and_the_order_they_came_in(port: Port) -> None:
    port.service.campaign("port 1", teams=tuple(port.service.team(name) for name in ("Zander", "Eel", "ide")))
    shown = port.browser("ann").get(f"{MANAGE}/teams").text
    listed = re.findall(r'<tr><th scope="row"><bdi>([^<]*)</bdi></th><td><bdi>', shown)
    assert listed == ["Eel", "guests", "harbour", "ide", "Zander"]


def test_progress_is_that_of_the_campaign(port: Port) -> None:
    found(port.service.engine, "other")
    with_test_set(port.service.engine, "other")
    for system in ("mast", "keel"):
        submit_output(port.service.engine, "other", "harbour", system, REFERENCE.replace(b"pes", system.encode()))
    shown = port.browser("ann").get(f"{MANAGE}/live").text
    counted = re.findall(r"<li><b>(\d+)</b> <span>(evaluations|queued|failed)", shown)
    assert counted == [("1", "evaluations"), ("1", "queued"), ("0", "failed")]


def test_a_tokenizer_that_does_not_fit_is_told_of_test_sets_that_count(port: Port) -> None:
    chinese = given(target_language="zh")
    old = with_test_set(port.service.engine, "port 1", chinese, name="news", metrics=("bleu:tok=13a",))
    ann = port.browser("ann")
    said = r"<bdi>([^<]*)</bdi>, bleu: in zh text"
    assert re.findall(said, ann.get(f"{MANAGE}/test-sets").text) == ["news"]
    file = ("references", ("A.txt", b"kocour\npes\ndum\n"))
    form = {"do": "correct", "reason": "The wrong cat."}
    corrected = ann.post(f"{MANAGE}/test-sets/{old}", data=form, files=[file], follow_redirects=False)
    assert corrected.headers["Location"] == f"{MANAGE}/test-sets?done=correct"
    assert len(re.findall(said, ann.get(f"{MANAGE}/test-sets").text)) == 1


def test_a_new_test_set_has_what_was_said_of_it(port: Port) -> None:
    port.service.phase(port.campaign, "second", PhaseKind.OPEN, begins=DAY)
    ann = port.browser("ann")
    common = {"metrics": "bleu", "source_language": "en", "target_language": "cs"}
    wanted = {
        "news": {"phase": "second", "variable_references": "yes", "replicates": "7", "resample": "segment"},
        "talks": {"phase": "", "replicates": "9", "resample": "document"},
    }
    for name, fields in wanted.items():
        lines = f"{name}\npes\ndum\n".encode()
        files = [("references", ("A.txt", lines)), ("source", ("s.txt", SOURCE.replace(b"cat", name.encode())))]
        if name == "talks":
            table = b"segment\tdoc_id\n0\ta\n1\ta\n2\tb\n"
            files.append(("documents", ("docs.tsv", table)))
        form = {"test_set_name": name, **common, **fields}
        answer = ann.post(f"{MANAGE}/test-sets/new", data=form, files=files, follow_redirects=False)
        assert answer.status_code == 303, answer.text
    known = {each["name"]: each for each in ann.get("/api/v1/campaigns/port%201/test-sets").json()["items"]}
    assert [known[name]["phase"] for name in ("quay", "news", "talks")] == ["", "second", ""]
    assert [known[name]["source_language"] + known[name]["target_language"] for name in wanted] == ["encs", "encs"]
    measures = {name: {(each["replicates"], each["resample"]) for each in known[name]["measures"]} for name in wanted}
    assert measures == {"news": {(7, "segment")}, "talks": {(9, "document")}}
    with reading(port.service.engine) as connection:
        gaps = connection.scalars(select(StoredTestSet.variable_references).order_by(StoredTestSet.id)).all()
    assert gaps == [False, True, False]


def test_an_empty_file_that_was_chosen_is_not_taken_for_none(port: Port) -> None:
    files = [("references", ("A.txt", REFERENCE)), ("references", ("B.txt", b""))]
    form = {"test_set_name": "news", "metrics": "bleu", "replicates": "0"}
    answer = port.browser("ann").post(f"{MANAGE}/test-sets/new", data=form, files=files)
    assert (answer.status_code, "B.txt" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("phases/{phase}", {"do": "remove"}),
        ("phases/new", {"phase_name": "next", "kind": "open"}),
        ("test-sets/{test_set}", {"do": "release", "early": "yes"}),
        ("state", {"do": "freeze"}),
    ],
)
def test_a_page_that_is_out_of_date_changes_nothing(port: Port, path: str, form: dict[str, str]) -> None:
    ann = port.browser("ann")
    place = f"{MANAGE}/{path.format(phase=port.phase, test_set=port.test_set)}"
    page = place.replace("/state", "/live")
    known = re.search(r'name="version" value="(\w+)"', ann.get(page).text)
    assert known, "the page says which version of the campaign it shows"
    rules = {"title": "Another", "visibility": "public", "joining": "open"}
    assert ann.post(f"{MANAGE}/rules", data=rules).status_code == 200
    before = audited(port.service)
    late = ann.post(place, data={**form, "version": known[1]}, follow_redirects=False)
    assert late.status_code == 412
    assert "Somebody else has changed it in the meantime" in late.text
    assert audited(port.service) == before


def test_people_rank_each_test_set_by_itself(port: Port) -> None:
    with_test_set(port.service.engine, "port 1", given(source=b"one\ntwo\nsix\n"), name="news")
    ann = port.browser("ann")
    for asked in ("quay", "news"):
        shown = ann.get(f"{HERE}/human-ranking", params={"test_set": asked}).text
        assert f"There is no official ranking of <bdi>{asked}</bdi> by people." in shown
        assert re.findall(r'<option value="(\w+)" selected>', shown) == [asked]


def test_the_first_page_has_few_checklists_and_says_what_this_is_to_those_who_do_not_know(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    browser, visitor = service.browser(olga), service.client()
    introduction = "Steelyard runs evaluation campaigns of machine translation"
    assert introduction in browser.get("/").text
    for number in range(5):
        service.campaign(f"wmt {number}", organisers=(olga,))
    own = browser.get("/").text
    assert own.count("of 5 done") == 3, "the campaigns have theirs"
    assert own.count('<li>\n<div><h3><a href="/campaigns/wmt%20') == 5
    assert introduction not in own
    seen = visitor.get("/").text
    assert introduction in seen, "whatever there is to see"
    assert "of 5 done" not in seen
