"""A system's outputs for many language pairs in one upload, by the API and on the page."""

import gzip
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
    assert "There is no pair en-de" in refused["en-de.txt"]["reason"]
    assert "The pair en-sr may be en-sr-Cyrl-RS, en-sr-Latn-RS" in refused["en-sr.txt"]["reason"]
    assert "1 line" in " ".join(refused["en-sr_Latn.txt"]["details"])
    assert stored(service) == 1
    # Again, it costs nothing.
    again = send(mary, files).json()
    assert ([each["stored"] for each in again["stored"]], stored(service)) == ([False], 1)


def test_files_that_are_no_outputs_are_named(mary: Client) -> None:
    beside = ["a/b/en-cs.txt", "notes.md", "shot.png"]
    files = {"eng-ces.txt": THREE, ".hidden": "x", "__MACOSX/x.md": "x", **dict.fromkeys(beside, "x")}
    for path in (f"{API}?preview=true", API):
        found = send(mary, files, path=path).json()
        assert (found["left_out"], found["refused"]) == (beside, [])
    said = "Left out, for these are no outputs: <bdi>a/b/en-cs.txt, notes.md, shot.png</bdi>."
    shown = {"path": PAGE, "test_set": "*", "team": "harbour"}
    assert said in send(mary, files, **shown, do="preview").text
    assert said in send(mary, files, **shown).text
    some = send(mary, files | {"en-de.txt": THREE}, **shown).text
    assert said in some
    assert "There is no pair en-de" in some


def test_a_preview_names_what_fits_and_what_does_not(mary: Client, service: Service) -> None:
    files = {"x/eng-ces.txt": THREE, "x/en-sr_Latn.txt": "jedna\n", "x/en-sr.txt": THREE}
    answer = send(mary, files, path=f"{API}?preview=true")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["stored"], found["missing"]) == ([], ["en-sr_Cyrl_RS"])
    assert [(each["file"], each["test_set"]) for each in found["checked"]] == [("eng-ces.txt", "en-cs")]
    kept = send(mary, files).json()
    assert [each["test_set"] for each in kept["stored"]] == ["en-cs@1"]
    assert {each["file"]: each["details"] for each in found["refused"]} == {
        each["file"]: each["details"] for each in kept["refused"]
    }
    nothing = send(mary, {"en-de.txt": THREE}, path=f"{API}?preview=true")
    assert (nothing.status_code, nothing.json()["checked"], len(nothing.json()["refused"])) == (200, [], 1)
    page = send(mary, files, path=PAGE, test_set="*", team="harbour", do="preview").text
    for said in (
        "Nothing is stored yet. 1 of 3 outputs fit.",
        "No output for <bdi>en-sr_Cyrl_RS</bdi>",
        'value="mast"',
    ):
        assert said in page
    assert stored(service) == 1


def test_the_page_checks_one_output_and_those_of_several_systems(mary: Client, service: Service) -> None:
    fields = {"test_set": "en-cs@1", "team": "harbour", "do": "preview"}
    one = mary.post(PAGE, data={**fields, "system": "mast"}, files={"file": ("a.txt", THREE)}).text
    assert "1 of 1 outputs fit." in one
    short = mary.post(PAGE, data={**fields, "system": "mast"}, files={"file": ("a.txt", "x\n")})
    assert (short.status_code, "The output cannot be scored" in short.text) == (422, True)
    several = [("file", ("mast.txt", THREE)), ("file", ("keel.txt", "x\n"))]
    assert "1 of 2 outputs fit." in mary.post(PAGE, data=fields, files=several).text
    assert stored(service) == 0


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"en-de.txt": THREE}, "There is no pair en-de"),
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


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.zip", b"PK\x03\x04 broken", "This zip is damaged"),
        ("a.pdf", THREE.encode(), "Name a text after its language pair"),
        ("..", THREE.encode(), "Name a text after its language pair"),
        ("en-cs.txt", b"", "There is no file"),
        ("en-cs.jsonl.gz", b"\x1f\x8b broken", "damaged"),
        ("mast.jsonl", b'{"doc_id": "en-cs_#_news_#_a"}\n' * 2, "mast.jsonl (en-cs): The output cannot be scored"),
        ("mast.jsonl", b'{"doc_id": "en-de_#_news_#_a"}\n', "mast.jsonl (en-de): There is no pair en-de"),
    ],
)
def test_a_file_of_which_nothing_can_be_stored(
    name: str, content: bytes, why: str, mary: Client, service: Service
) -> None:
    for path in (API, PAGE):
        fields = {"system": "mast", "test_set": "*", "team": "harbour"}
        answer = mary.post(path, data=fields, files={"file": (name, content)})
        assert (answer.status_code, why in answer.text, stored(service)) == (422, True, 0), answer.text


def test_a_single_file_is_named_as_in_a_zip(mary: Client, service: Service) -> None:
    answer = mary.post(API, data={"system": "mast"}, files={"file": ("en-cs.txt", THREE)})
    assert [each["test_set"] for each in answer.json()["stored"]] == ["en-cs@1"]
    assert stored(service) == 1


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


@pytest.fixture
def two_pairs(service: Service) -> Client:
    """A member of a team in a campaign of two pairs, with one document of two paragraphs."""
    mary = service.account("mary")
    service.campaign("port", teams=(service.team("harbour", mary),))
    for language in ("cs", "de"):
        documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta.1\n1\ta.1\n")
        test_set = given(b"jedna\ndve\n", b"one\ntwo\n", target_language=language, documents=documents)
        with_test_set(service.engine, "port", test_set, name=f"en-{language}")
    return service.browser(mary)


@pytest.mark.parametrize("how", ["zip", "alone", "gzip"])
def test_one_file_of_a_system_for_all_pairs(how: str, two_pairs: Client, service: Service) -> None:
    """As WMT25 publishes systems: its documents say which pair they are of."""

    def hand_in(content: str, path: str = API, **fields: str) -> Response:
        if how == "zip":
            return send(two_pairs, {"Yolu.jsonl": content}, path=path, **fields)
        name, packed = ("Yolu.jsonl", content.encode())
        if how == "gzip":
            name, packed = f"{name}.gz", gzip.compress(packed)
        return two_pairs.post(path, data={"system": "mast", **fields}, files={"file": (name, packed)})

    called = "Yolu.jsonl.gz" if how == "gzip" else "Yolu.jsonl"
    found = hand_in(wmt25(("en-cs_CZ", "en-de_DE", "en-fr_FR"))).json()
    assert [each["test_set"] for each in found["stored"]] == ["en-cs@1", "en-de@1"]
    assert [each["file"] for each in found["refused"]] == [f"{called} (en-fr_FR)"]
    for each in found["stored"]:
        output = two_pairs.get(f"/api/v1/submissions/{each['id']}/output")
        assert output.text == "jedna\ndve\n"
    other = hand_in(wmt25(("en-cs_CZ", "en-de_DE"), "jedna\n\ndve\n\ntri"), system="keel")
    assert other.status_code == 422
    assert other.text.count("has 3 segments, but 2 in the test set") == 2
    assert stored(service) == 2
    one_bad = wmt25(("en-cs_CZ",)) + wmt25(("en-de_DE",), "jedna")
    page = hand_in(one_bad, PAGE, test_set="*", team="harbour", system="keel")
    assert "1 of 2 outputs were stored" in page.text
    assert f"<bdi>{called} (en-de_DE)</bdi>" in page.text
    assert stored(service) == 3


def test_beside_files_of_other_pairs_on_the_page(two_pairs: Client, service: Service) -> None:
    files = [("file", ("Yolu.jsonl", wmt25(("en-cs_CZ",)))), ("file", ("en-de.txt", "jedna\ndve\n"))]
    answer = two_pairs.post(PAGE, data={"system": "mast", "test_set": "*", "team": "harbour"}, files=files)
    assert answer.status_code in (200, 303), answer.text
    assert stored(service) == 2
