"""A system's outputs for many language pairs in one upload, by the API and on the page."""

import json
from typing import Any

import pytest
from httpx import Client, Response
from sqlalchemy import func, select

from campaigns.test_sets.files import NamedContent
from models.database.session import reading
from models.schema.corpus import Submission
from tests.service.campaigns import given, with_test_set
from tests.service.service import Service
from tests.web.hostile.expected import zipped

API, PAGE = "/api/v1/campaigns/port/outputs", "/campaigns/port/submit"
THREE = "jedna\ndve\ntri\n"


@pytest.fixture
def mary(service: Service) -> Client:
    """A member of a team in a campaign of two pairs, two variants of one of them."""
    account = service.account("mary")
    service.campaign("port", teams=(service.team("harbour", account),))
    for language in ("cs", "sr_Cyrl_RS", "sr_Latn_RS"):
        test_set = given(source=b"one\n\ntwo\n", reference=THREE.encode(), target_language=language.replace("_", "-"))
        with_test_set(service.engine, "port", test_set, name=f"en-{language}")
    return service.browser(account)


def send(mary: Client, files: dict[str, str], *, path: str = API, **fields: Any) -> Response:
    sent = {"system": "mast", **fields}
    return mary.post(path, data=sent, files={"file": ("outputs.zip", zipped(files))})


def stored(service: Service) -> int:
    with reading(service.engine) as connection:
        return connection.scalar(select(func.count(Submission.id))) or 0


def test_each_is_stored_by_itself_and_the_refused_are_named(mary: Client, service: Service) -> None:
    files = {"x/eng-ces.txt": THREE, "x/en-sr_Latn.txt": "jedna\n", "x/en-sr.txt": THREE, "x/en-de.txt": THREE}
    answer = send(mary, files)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    (only,) = found["stored"]
    assert (only["test_set"], only["system"], only["stored"], only["segments"]) == ("en-cs@1", "mast", True, 3)
    refused = {each["file"]: each for each in found["refused"]}
    assert sorted(refused) == ["en-de.txt", "en-sr.txt", "en-sr_Latn.txt"]
    assert "there is no pair en-de" in refused["en-de.txt"]["reason"]
    assert "may be en-sr-Cyrl-RS, en-sr-Latn-RS" in refused["en-sr.txt"]["reason"]
    assert "1 line" in " ".join(refused["en-sr_Latn.txt"]["details"])
    assert stored(service) == 1
    # Again, it costs nothing.
    again = send(mary, files).json()
    assert ([each["stored"] for each in again["stored"]], stored(service)) == ([False], 1)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"en-de.txt": THREE}, "there is no pair en-de"),
        ({"en-cs.txt": "jedna\n"}, "1 line"),
        ({"readme.md": "x"}, "The zip has no outputs"),
        ({"../en-cs.txt": THREE}, "cannot be used"),
    ],
)
def test_where_nothing_can_be_stored_the_request_fails(
    files: dict[str, str], why: str, mary: Client, service: Service
) -> None:
    answer = send(mary, files)
    assert (answer.status_code, why in answer.text, stored(service)) == (422, True, 0), answer.text
    page = send(mary, files, path=PAGE, test_set="*", team="harbour")
    assert (page.status_code, why in page.text, stored(service)) == (422, True, 0)


def test_what_is_no_zip_is_refused(mary: Client) -> None:
    answer = mary.post(API, data={"system": "mast"}, files={"file": ("en-cs.txt", THREE)})
    assert (answer.status_code, "no zip" in answer.text) == (422, True)


def test_the_page_shows_what_became_of_each(mary: Client, service: Service) -> None:
    assert '<option value="*"' in mary.get(PAGE).text
    answer = send(mary, {"en-cs.txt": THREE, "en-de.txt": THREE}, path=PAGE, test_set="*", team="harbour")
    assert answer.status_code == 200, answer.text
    assert "1 of 2 outputs were stored" in answer.text
    assert '<a href="/submissions/1">1</a>' in answer.text
    assert "<bdi>en-de.txt</bdi>" in answer.text
    assert stored(service) == 1


def wmt25(pairs: tuple[str, ...], text: str = "jedna\n\ndve", name: str = "a.1") -> str:
    return "".join(
        json.dumps({"doc_id": f"{pair}_#_news_#_{name}", "hypothesis": text, "paragraphs_match": True}) + "\n"
        for pair in pairs
    )


def test_one_file_of_a_system_for_all_pairs(service: Service) -> None:
    """As WMT25 publishes systems: its documents say which pair they are of."""
    mary = service.account("mary")
    service.campaign("port", teams=(service.team("harbour", mary),))
    client = service.browser(mary)
    for language in ("cs", "de"):
        documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta.1\n1\ta.1\n")
        test_set = given(b"jedna\ndve\n", b"one\ntwo\n", target_language=language, documents=documents)
        with_test_set(service.engine, "port", test_set, name=f"en-{language}")
    found = send(client, {"Yolu.jsonl": wmt25(("en-cs_CZ", "en-de_DE", "en-fr_FR"))}).json()
    assert [each["test_set"] for each in found["stored"]] == ["en-cs@1", "en-de@1"]
    assert [each["file"] for each in found["refused"]] == ["Yolu.jsonl (en-fr_FR)"]
    for each in found["stored"]:
        output = client.get(f"/api/v1/submissions/{each['id']}/output")
        assert output.text == "jedna\ndve\n"
    other = send(client, {"Yolu.jsonl": wmt25(("en-cs_CZ", "en-de_DE"), "jedna\n\ndve\n\ntri")}, system="keel")
    assert other.status_code == 422
    assert other.text.count("has 3 segments, but 2 in the test set") == 2
    assert stored(service) == 2
