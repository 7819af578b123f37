"""Several files on the form: systems named after them, or a system's outputs for many test sets."""

import io
import re
import zipfile
from contextlib import ExitStack

import pytest
from httpx import Response
from starlette.testclient import TestClient

from models.schema.corpus import Submission
from tests.service.campaigns import SOURCE, given, with_test_set
from tests.service.port import Port, output
from tests.service.service import Service
from tests.web.pages.forms_of import form_with

FORM = "/campaigns/port%201/submit"
Files = list[tuple[str, bytes]]


def send(client: TestClient, files: Files, **fields: str) -> Response:
    sent = [("file", (name, content)) for name, content in files]
    return client.post(FORM, data=fields, files=sent, follow_redirects=False)


def test_several_files_are_systems_named_after_them(port: Port) -> None:
    mary = port.browser("mary")
    answer = send(mary, [("mast.txt", output(1)), ("sail.txt.gz", b"no gzip"), ("keel.txt", output(2))], kind="")
    assert answer.status_code == 200
    assert "2 of 3 outputs were stored." in answer.text
    assert re.findall(r'<th scope="row"><bdi>(\w+)</bdi>', answer.text) == ["mast", "keel"]
    refused = answer.text.split("Refused")[1].split("Stored")[0]
    assert "sail.txt.gz" in refused
    assert "mast" not in refused
    # The form is for the one that was refused, under the name that it would have had.
    assert form_with(answer.text, ["system"])["system"] == ["sail"]
    assert port.count(Submission) == 3
    assert "keel" in mary.get("/submissions/3").text


def test_the_same_form_sent_again_submits_nothing_twice(port: Port) -> None:
    mary = port.browser("mary")
    key = re.search(r'name="key" value="([^"]+)"', mary.get(FORM).text)
    assert key is not None
    files = [("mast.txt", output(1)), ("keel.txt", output(2))]
    pages = [send(mary, files, key=key[1]).text for _ in range(2)]
    assert [re.findall(r'href="(/submissions/\d+)"', page) for page in pages] == [
        ["/submissions/2", "/submissions/3"]
    ] * 2
    assert port.count(Submission) == 3


def test_where_nothing_is_stored_the_form_names_each_file(port: Port) -> None:
    mary = port.browser("mary")
    answer = send(mary, [("mast.txt", output(1, 10)), ("empty.txt", b"")], description="both")
    assert answer.status_code == 422
    assert "None of the outputs could be stored." in answer.text
    assert "mast.txt: The output cannot be scored" in answer.text
    assert "empty.txt: is empty" in answer.text
    assert ">\nboth</textarea>" in answer.text
    assert port.count(Submission) == 1


def test_of_several_files_none_is_named_and_no_two_are_one_system(port: Port) -> None:
    mary = port.browser("mary")
    answer = send(mary, [("mast.txt", output(1)), ("keel.txt", output(2))], system="mast")
    assert answer.status_code == 422
    assert "Leave this empty" in answer.text.split('id="system-error"')[1].split("</p>")[0]
    twice = send(mary, [("mast.txt", output(1)), ("keel.txt", output(2)), ("mast.txt.gz", output(2))])
    assert "1 of 3 outputs were stored." in twice.text
    refused = twice.text.split("Refused")[1].split("Stored")[0]
    assert refused.count("Another file is of the system mast, too.") == 2
    # One alone needs a name.
    alone = send(mary, [("mast.txt", output(1))])
    assert alone.status_code == 422
    assert "This field is required." in alone.text.split('id="system-error"')[1].split("</p>")[0]


def test_several_files_for_all_test_sets_are_of_one_system(port: Port) -> None:
    mary = port.browser("mary")
    with_test_set(port.service.engine, "port 1", given(source=SOURCE), name="pier")
    files = [("en-cs.txt", b"kocka\npes\ndum\n"), ("quay.txt", output()), ("notes.pdf", b"?"), ("de-fr.txt", b"a\n")]
    answer = send(mary, files, test_set="*", system="mast")
    assert answer.status_code == 200
    assert "2 of 4 outputs were stored." in answer.text
    refused = answer.text.split("Refused")[1].split("Stored")[0]
    assert "notes.pdf" in refused
    assert "Name a text after its language pair" in refused
    assert "de-fr.txt" in refused
    assert "pier" in answer.text.split(">Stored<")[1]
    assert "This field is required" in send(mary, files, test_set="*").text


def test_what_of_a_zip_is_no_output_is_named_whether_others_are_stored_or_not(port: Port) -> None:
    mary = port.browser("mary")
    with_test_set(port.service.engine, "port 1", given(source=SOURCE), name="pier")
    for number, (more, stored) in enumerate((({}, "1 of 1"), ({"de-fr.txt": b"a\n"}, "1 of 2"))):
        outputs = {"en-cs.txt": f"kocka\npes\n{number}\n".encode(), "a/b/deep.txt": b"x\n", **more}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in outputs.items():
                archive.writestr(name, content)
        for do, says in (("preview", "Nothing is stored yet."), ("", f"{stored} outputs were stored.")):
            text = send(mary, [("all.zip", packed.getvalue())], test_set="*", system="mast", do=do).text
            assert says in text
            assert "Left out, for these are no outputs: <bdi>a/b/deep.txt</bdi>" in text


def test_two_versions_of_a_test_set_have_an_output_each(port: Port) -> None:
    mary = port.browser("mary")
    for reference in (b"kocka\npes\ndum\n", b"kocour\npes\ndum\n"):
        with_test_set(port.service.engine, "port 1", given(reference, SOURCE), name="pier")
    files = [("pier@1.txt", b"kocka\npes\nx\n"), ("pier@2.txt", b"kocour\npes\nx\n"), ("pier.txt", b"a\nb\nc\n")]
    answer = send(mary, files, test_set="*", system="mast")
    assert "2 of 3 outputs were stored." in answer.text
    listed = port.program("mary").get("/api/v1/campaigns/port%201/submissions").json()["items"]
    assert {each["test_set"] for each in listed if each["system"] == "mast"} == {"pier@1", "pier@2"}


def test_of_files_for_one_test_set_none_is_stored(port: Port) -> None:
    mary = port.browser("mary")
    with_test_set(port.service.engine, "port 1", given(source=SOURCE), name="pier")
    czech = b"kocka\npes\ndum\n"
    files = [("en-cs.txt", czech), ("eng-ces.txt", czech), ("quay.txt", output(3))]
    answer = send(mary, files, test_set="*", system="mast")
    assert "1 of 3 outputs were stored." in answer.text
    refused = answer.text.split("Refused")[1].split("Stored")[0]
    assert "is for pier, and so is eng-ces.txt" in refused
    assert "is for pier, and so is en-cs.txt" in refused
    same = send(mary, [("en-cs.txt", czech), ("en-cs.txt", czech), ("quay.txt", output(4))], test_set="*", system="x")
    assert same.text.split("Refused")[1].split("Stored")[0].count("Another file has this name, too.") == 2
    assert "None of the outputs" in send(mary, [("en-cs.txt", czech)] * 2, test_set="*", system="y").text


@pytest.mark.parametrize(
    ("files", "given"),
    [
        ([("mast.txt", output(1)), ("keel.txt", output(2))], {}),
        ([("quay.txt", output(1))], {"test_set": "*", "system": "mast"}),
        ([("mast.txt", output(1))], {"system": "mast"}),
    ],
    ids=["of several systems", "of all test sets", "of one"],
)
def test_a_check_of_any_files_is_one_of_the_teams_checks_of_a_day(
    service_url: str, files: Files, given: dict[str, str]
) -> None:
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack, checks_per_day=2))
        mary = port.browser("mary")
        answers = [send(mary, files, do="preview", **given) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        assert "The team has checked 2 outputs within a day, the limit." in answers[2].text
        assert send(mary, files, **given).status_code in {200, 303}, "it may still submit"
        assert send(port.browser("zoe"), files, do="preview", **given).status_code == 200


def test_strangers_submit_none(port: Port) -> None:
    stranger = port.service.browser(port.service.account("stranger"))
    answer = send(stranger, [("mast.txt", output(1)), ("keel.txt", output(2))])
    assert answer.status_code in {403, 404}
    assert port.count(Submission) == 1
