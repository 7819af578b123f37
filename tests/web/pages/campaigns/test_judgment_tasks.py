"""The page on which organisers make tasks for annotators."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from models.schema.roles import SiteRole
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import Service

PAGE = "/campaigns/regatta/manage/judgment-tasks"
OUTPUTS = {"mast": b"one big ship\ntwo small boats\n", "keel": b"a big ship\nsome small boats\n"}


@pytest.fixture
def people(service: Service) -> dict[str, int]:
    """An organiser, a member of a team and a stranger; two systems of the team on a test set with a source."""
    found = {"olga": service.account("olga", SiteRole.ORGANISER), "mary": service.account("mary")}
    found["zoe"] = service.account("zoe")
    olga, mary = found["olga"], found["mary"]
    service.campaign("regatta", organisers=(olga,), teams=(service.team("harbour", mary),))
    texts = given(reference=b"jedna\ndva\n", source=b"i\nii\n")
    with_test_set(service.engine, "regatta", texts, name="en-cs")
    for system, output in OUTPUTS.items():
        submit_output(service.engine, "regatta", "harbour", system, output, test_set="en-cs")
    return found


def files_of(content: bytes) -> dict[str, object]:
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        return {name: json.loads(found.read(name)) for name in found.namelist()}


def test_what_a_correction_replaced_is_not_judged_again_unless_it_is_named(
    service: Service, people: dict[str, int]
) -> None:
    olga = service.browser(people["olga"])
    answer = olga.post(
        "/api/v1/campaigns/regatta/corrections",
        files={"references": ("A.txt", b"jedna\ntri\n")},
        data={"test_set": 1, "reason": "a typing error"},
    )
    assert answer.status_code == 201, answer.text

    def names(*test_sets: str) -> set[str]:
        query = {"tool": "pearmut", "protocol": "da", "test_set": list(test_sets)}
        found = olga.get("/api/v1/campaigns/regatta/judgment-tasks", params=query)
        assert found.status_code == 200, found.text
        return {name.removesuffix(".json") for name in files_of(found.content)} - {"names"}

    (new,), (old,) = names(), names("en-cs@1")
    assert names("en-cs@1", "en-cs@2") == {new, old}
    assert (new, old) == ("en-cs_(version_2)", "en-cs")


def test_the_form_gives_what_the_api_gives(service: Service, people: dict[str, int]) -> None:
    olga = service.browser(people["olga"])
    page = olga.get(PAGE).text
    assert 'href="/campaigns/regatta/manage/results"' in page
    for said in ("harbour/mast", "harbour/keel", 'value="cesa"', "Begin with a tutorial"):
        assert said in page
    assert PAGE in olga.get("/campaigns/regatta/manage/results").text
    chosen: dict[str, str | list[str]] = {
        "tool": "pearmut",
        "protocol": "da",
        "system": ["harbour/mast"],
        "tutorial": "yes",
        "annotators": "2",
    }
    answer = olga.post(PAGE, data={**chosen, "seed": "7", "checks": "1", "together": "", "references": "yes"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"] == 'attachment; filename="regatta-pearmut.zip"'
    query: dict[str, str | int | list[str]] = {
        **chosen, "tutorial": "true", "seed": 7, "checks": 1, "references": "true"
    }  # fmt: skip
    api = olga.get("/api/v1/campaigns/regatta/judgment-tasks", params=query)
    assert files_of(answer.content) == files_of(api.content)
    campaign = files_of(answer.content)["en-cs.json"]
    assert isinstance(campaign, dict)
    assert campaign["info"]["protocol"] == "DA"
    assert len(campaign["data_welcome"]) == 2
    assert set(campaign["data"][0][0]["tgt"]) == {"harbour/mast", "refA"}
    # A seed of 0 is one, and an empty field is the API's own.
    for seed in ("0", ""):
        asked = {**chosen, "checks": "2", "protocol": "esa"}
        drawn = olga.post(PAGE, data={**asked, "seed": seed})
        of_api = {**asked, "tutorial": "true"} | ({"seed": seed} if seed else {})
        same = olga.get("/api/v1/campaigns/regatta/judgment-tasks", params=of_api)
        assert files_of(drawn.content) == files_of(same.content)
    own = b'[[{"source": "A ship.", "target": "x", "explanation": "y", "score": 0, "errors": [["x", "major"]]}]]'
    files = {"tutorial_file": ("own.json", own, "application/json")}
    sent = olga.post(PAGE, data={**chosen, "protocol": "esa"}, files=files)
    posted = olga.post(
        "/api/v1/campaigns/regatta/judgment-tasks",
        params={**chosen, "tutorial": "true", "protocol": "esa"},
        files=files,
    )
    assert files_of(sent.content) == files_of(posted.content)
    campaign = files_of(sent.content)["en-cs.json"]
    assert isinstance(campaign, dict)
    assert [each["src"] for page in campaign["data_welcome"] for each in page] == ["A ship."]
    files = {"tutorial_file": ("own.json", own.replace(b'["x"', b'["z"'), "application/json")}
    refused = olga.post(PAGE, data=chosen, files=files)
    assert (refused.status_code, "is not in the target" in refused.text) == (422, True)
    without = olga.post(PAGE, data={"tool": "appraise"})
    assert set(files_of(without.content)) >= {"en-cs.manifest.json", "en-cs.batches.json"}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"tool": "appraise", "protocol": "da", "tutorial": "yes"}, "no tutorials by DA"),
        ({"tool": "paper"}, "&#39;paper&#39; cannot be chosen: appraise, pearmut can."),
        ({"protocol": "<b>"}, "&#39;&lt;b&gt;&#39; cannot be chosen"),
        ({"assignment": "all"}, "&#39;all&#39; cannot be chosen"),
        ({"system": ["<i>hull"]}, "There is no output of &#39;&lt;i&gt;hull&#39;"),
        ({"test_set": "en-de"}, "en-de"),
        ({"annotators": "0"}, "&#39;0&#39; is not a number from 1 to 10000"),
        ({"annotators": "٣"}, "is not a number from 1 to 10000"),
        ({"checks": "-1", "together": "x"}, "&#39;x&#39; is not a number from 1 to 100"),
        ({"seed": "9" * 19}, f"{'9' * 19}&#39; is not a number from 0"),
        ({"annotators": "7"}, "do not divide among 7"),
    ],
)
def test_what_is_wrong_is_said_in_the_form(
    service: Service, people: dict[str, int], data: dict[str, object], told: str
) -> None:
    answer = service.browser(people["olga"]).post(PAGE, data={"tool": "appraise", **data})
    assert answer.status_code == 422, answer.text
    assert told in answer.text
    assert "Damaged outputs" in answer.text, "the form is there again"
    for kept in ("checks", "together", "annotators"):
        if kept in data:
            assert f'value="{data[kept]}"' in answer.text


def test_only_organisers_see_it(service: Service, people: dict[str, int]) -> None:
    for who in ("mary", "zoe"):
        browser = service.browser(people[who])
        assert browser.get(PAGE).status_code in (403, 404)
        assert browser.post(PAGE, data={"tool": "pearmut"}).status_code in (403, 404)


def test_without_outputs_there_is_nothing_to_choose(service: Service) -> None:
    olga = service.account("olga", SiteRole.ORGANISER)
    service.campaign("regatta", organisers=(olga,))
    assert "There is nothing to judge yet" in service.browser(olga).get(PAGE).text
    answer = service.browser(olga).post(PAGE, data={"tool": "pearmut"})
    assert answer.status_code == 422
    assert "nothing to judge" in answer.text
