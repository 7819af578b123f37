"""Outputs submitted through the API: who may, what is accepted, what is answered, what is left of what is refused."""

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from sqlalchemy import delete, insert, select, update

from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope as QuotaScope
from campaigns.sandbox.preloaded import warm_up
from models.database.session import reading, writing
from models.queue.kinds.comparisons import start_comparison
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.accounts import AuditEntry
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, CampaignTestSet, Declaration, Phase
from models.schema.corpus import Document, Submission, Text
from models.schema.queue import Comparison, Evaluation
from models.schema.roles import CampaignRole, LateRule, Scope, Visibility
from models.schema.states import Fault, QuotaKind
from steelyard.checks.language import _detector
from steelyard.metrics.metric import EDITION
from tests.service.port import ADDRESS, SEGMENTS, Port, output
from tests.service.service import Service


def zipped(*members: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def test_an_output_is_stored_queued_and_reported(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.program("mary", Scope.SUBMIT, Scope.READ)
    answer = port.submit(mary, kind="primary", constrained="true", description="our best")
    told = answer.json()
    assert answer.status_code == 201, told
    assert answer.headers["Location"] == "/api/v1/submissions/2"
    assert (told["team"], told["system"], told["test_set"], told["kind"]) == ("harbour", "mast", "quay@1", "primary")
    assert (told["constrained"], told["description"], told["phase"]) == (True, "our best", "first")
    assert (told["stored"], told["queued"], told["late_seconds"]) == (True, True, 0.0)
    assert told["progress"]["state"] == "queued"
    assert told["progress"]["ahead"] == 0
    assert {each["kind"]: each["used"] for each in told["quotas"]} == {"in_flight": 1, "per_day": 1, "per_phase": 1}
    with reading(port.service.engine) as connection:
        entry = connection.execute(select(AuditEntry)).one()
    assert (entry.actor, entry.action, entry.subject) == ("mary@example.org", "submission.submit", "submission 2")
    port.work_off()
    seen = mary.get("/api/v1/submissions/2").json()
    assert seen["progress"] | {"seconds_left": None} == {
        "state": "done",
        "segments": SEGMENTS,
        "segments_done": SEGMENTS,
        "ahead": None,
        "seconds_left": None,
        "ended": True,
    }
    tag = mary.get("/api/v1/submissions/2").headers["ETag"]
    assert mary.get("/api/v1/submissions/2", headers={"If-None-Match": tag}).status_code == 304
    mary.patch("/api/v1/submissions/2", json={"description": "our very best"})
    assert mary.get("/api/v1/submissions/2", headers={"If-None-Match": tag}).status_code == 200
    (protocol,) = seen["feedback"]
    assert [score["title"] for score in protocol["scores"]] == ["BLEU", "chrF2"]
    assert protocol["scores"][0]["low"] < protocol["scores"][0]["score"] < protocol["scores"][0]["high"]


@pytest.mark.parametrize("fault", ["nobody", "stranger", "other team", "reader", "organiser"])
def test_only_members_of_a_team_submit_for_it(port: Port, fault: str) -> None:
    eve = port.service.account("eve")
    client, expected = {
        "nobody": (port.service.client(), 401),
        "stranger": (port.service.program(eve), 403),
        "other team": (port.program("zoe"), 403),
        "reader": (port.program("mary", Scope.READ), 403),
        "organiser": (port.program("ann"), 403),
    }[fault]
    answer = port.submit(client, team="harbour")
    assert (answer.status_code, port.count(Submission)) == (expected, 1)


def test_the_same_request_again_is_not_done_again(port: Port) -> None:
    mary = port.program("mary")
    first = port.submit(mary, key="one").json()
    again = port.submit(mary, key="one")
    assert (again.status_code, again.json()["id"], again.json()["stored"]) == (200, first["id"], False)
    other = port.submit(mary, output(2), key="one")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")
    assert port.count(Submission) == 2


@pytest.mark.parametrize(
    "content",
    [
        output(),
        gzip.compress(output()),
        zipped(("mast.txt", output())),
        zipped(("../../etc/passwd", output()), ("__MACOSX/._mast.txt", b"x"), packing=zipfile.ZIP_STORED),
        b"\xef\xbb\xbf" + output().replace(b"\n", b"\r\n"),
    ],
    ids=["plain", "gzip", "zip", "zip with an odd path", "from Windows"],
)
def test_packed_or_not_it_is_the_same_text(port: Port, content: bytes) -> None:
    mary = port.program("mary")
    assert port.submit(mary, content).status_code == 201
    downloaded = mary.get("/api/v1/submissions/2/output")
    assert downloaded.content == output()
    assert downloaded.headers["Content-Disposition"] == 'attachment; filename="mast-2.txt"'
    assert downloaded.headers["Content-Type"] == "text/plain; charset=utf-8"


LONG = b"\n".join([random.Random(1).randbytes(29_000).hex().encode()] * SEGMENTS)
"""More than 16 MiB that do not look like a bomb."""


def bomb() -> bytes:
    """Made where it is sent: every process of a test run imports this file."""
    return (999 * b"x" + b"\n") * 50_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (output(segments=299), "has 299 lines, but the test set has 300 segments"),
        (output().replace(b"cat", b"\xff\xfe", 1), "not UTF-8"),
        (
            lambda: gzip.compress(
                b"\n".join(random.Random(1).randbytes(29_000).hex().encode() for _ in range(SEGMENTS)), 1
            ),
            "that long",
        ),
        (b"\n" * SEGMENTS, "All 300 lines of the output are empty"),
        (lambda: gzip.compress(bomb()), "unpacks to more than 100 times its size"),
        (gzip.compress(output())[:-20], "the gzip data ends too early"),
        (lambda: zipped(("a.txt", bomb())), "expands to more than 100 times its size"),
        (zipped(("a.txt", output()), ("b.txt", output())), "a zip archive with 2 files"),
        (zipped(("folder/", b"")), "a zip archive with 0 files"),
        (zipped(("a.txt", output()))[:-30], "a truncated zip archive"),
        (zipped(*((f"{number}.txt", b"") for number in range(3000))), "with too many files"),
        (zipped(("a.zip", zipped(("a.txt", output())))), "is a zip archive, not UTF-8 text"),
        (zipped(("a.txt", output()), packing=zipfile.ZIP_LZMA), "unsupported compression method"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_the_reason_and_leaves_nothing(
    port: Port, content: bytes | Callable[[], bytes], said: str
) -> None:
    texts = port.count(Text)
    answer = port.submit(port.program("mary"), content() if callable(content) else content)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "bad_output")
    assert said in " ".join(error["details"]).replace("out.txt: ", "")
    assert (port.count(Submission), port.count(Text)) == (1, texts)


def test_a_file_alone_has_its_fields_in_the_address(port: Port) -> None:
    mary = port.program("mary")
    answer = mary.post(f"{ADDRESS}/submissions?system=mast&run=seed%207&kind=contrastive", content=output())
    assert (answer.status_code, answer.json()["run"], answer.json()["kind"]) == (201, "seed 7", "contrastive")
    # As curl sends it where nobody says what it is.
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    curled = mary.post(f"{ADDRESS}/submissions?system=sail", content=output(), headers=headers)
    assert (curled.status_code, curled.json()["system"]) == (201, "sail")


def test_what_is_missing_is_said(port: Port) -> None:
    mary = port.program("mary")
    nothing = mary.post(f"{ADDRESS}/submissions", data={"system": "mast"})
    assert (nothing.status_code, "There is no file" in nothing.text) == (422, True)
    for sent in (
        {"data": {"system": "mast"}, "files": {"file": ("out.txt", b"")}},
        {"params": {"system": "mast", "file_name": "out.txt"}, "content": b""},
    ):
        empty = mary.post(f"{ADDRESS}/submissions", **sent)
        assert (empty.status_code, "out.txt: is empty (0 bytes)" in empty.text) == (422, True), empty.text
    nameless = mary.post(f"{ADDRESS}/submissions", content=output())
    assert (nameless.status_code, nameless.json()["error"]["details"]) == (422, ["body.system: Field required"])
    odd = port.submit(mary, kind="best")
    assert (odd.status_code, odd.json()["error"]["code"]) == (422, "bad_input")
    unknown = port.submit(mary, test_set="pier")
    assert (unknown.status_code, "There are: quay@1." in unknown.text) == (422, True)
    assert mary.post("/api/v1/campaigns/nowhere/submissions?system=x", content=b"x").status_code == 404


def test_an_output_with_ids_is_matched_by_them_and_what_does_not_fit_is_listed(port: Port) -> None:
    mary, ids = port.program("mary"), [f"s{number}" for number in range(SEGMENTS)]
    with writing(port.service.engine) as connection:
        document = {
            "test_set_id": port.test_set,
            "first_segment": 0,
            "segments": SEGMENTS,
            "name": "pier",
            "domain": "",
        }
        connection.execute(insert(Document).values(**document, segment_ids=ids))

    def rows(ids: list[str]) -> bytes:
        lines = [
            json.dumps({"doc_id": "pier", "segment_id": segment, "hypothesis": line})
            for segment, line in zip(ids, output().decode().splitlines(), strict=True)
        ]
        random.Random(1).shuffle(lines)
        return "".join(line + "\n" for line in lines).encode()

    assert port.submit(mary).status_code == 201
    answer = port.submit(mary, rows(ids), system="raft")
    assert answer.status_code == 201, answer.text
    with reading(port.service.engine) as connection:
        ours = connection.scalars(select(Submission.text_id).order_by(Submission.id.desc()).limit(2)).all()
    assert len(set(ours)) == 1, "the same text as the plain one's"
    for wrong, told in (
        (
            ["x", *ids[1:]],
            ("lacks 1 segment of the test set quay: 's0'", "has 1 segment that the test set quay lacks: 'x'"),
        ),
        ([ids[1], *ids[1:]], ("'s1': the id was already given",)),
    ):
        refused = port.submit(mary, rows(wrong), system="dory")
        assert refused.status_code == 422
        for each in told:
            assert each in refused.text


def test_too_large_a_file_is_cut_off(service_url: str) -> None:
    with ExitStack() as stack:
        port = Port.opened(Service.start(service_url, stack, upload_bytes=1000))
        answer = port.program("mary").post(f"{ADDRESS}/submissions?system=mast", content=output())
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_a_quota_that_is_used_up_is_said_with_how_the_team_stands(port: Port) -> None:
    with writing(port.service.engine) as connection:
        set_quotas(connection, QuotaScope(port.campaign, "", ""), {QuotaKind.PER_DAY: 1}, "Europe/Prague")
    mary = port.program("mary")
    assert port.submit(mary).status_code == 201
    answer = port.submit(mary, output(2))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (429, "too_many")
    assert "Team harbour has used 1 of 1 submission of " in error["message"]
    assert error["details"][0].startswith("1 of 1 of ")
    assert 0 < int(answer.headers["Retry-After"]) <= 25 * 3600
    # Another team has its own, and the very same output costs nothing.
    assert port.submit(port.program("zoe"), output(2)).status_code == 201
    assert port.submit(mary).status_code == 200


def test_the_rules_of_the_phase_hold_and_organisers_override_them(port: Port) -> None:
    mary = port.program("mary")
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 60))
        connection.execute(update(Campaign).values(time_zone="Asia/Kathmandu"))
    closed = port.submit(mary)
    assert (closed.status_code, closed.json()["error"]["code"]) == (403, "closed")
    message = closed.json()["error"]["message"]
    assert re.search(r'the phase "first" was closed at [^(]* \(Asia/Kathmandu\)', message)
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(late=LateRule.FLAG, grace_seconds=3600.0))
    late = port.submit(mary).json()
    assert 60 <= late["late_seconds"] < 120
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(grace_seconds=0.0))
    assert port.submit(mary, output(2), override="true", team="harbour").status_code == 403
    assert port.submit(port.program("ann"), output(2), override="true", team="harbour").status_code == 201
    assert [each["id"] for each in mary.get(f"{ADDRESS}/submissions?kind=late").json()["items"]] == [3, 2]


def test_an_output_can_be_looked_at_without_handing_it_in(port: Port) -> None:
    mary = port.program("mary")
    lines = output().split(b"\n")
    lines[:5] = [b""] * 5
    sent = {"data": {"system": "mast"}, "files": {"file": ("out.txt", b"\n".join(lines))}}
    found = mary.post(f"{ADDRESS}/checks", **sent).json()
    assert not found["fatal"]
    assert "empty" in [each["code"] for each in found["findings"]]
    sent["files"] = {"file": ("out.txt", b"x")}
    assert mary.post(f"{ADDRESS}/checks", **sent).json()["fatal"]
    assert port.count(Submission) == 1


def test_an_output_like_one_of_the_organisers_is_noticed_by_those_who_may_see_it(port: Port) -> None:
    mary = port.program("mary")

    def told() -> list[str]:
        found = mary.post(f"{ADDRESS}/checks?system=mast", content=output(99)).json()["findings"]
        return [each["message"] for each in found if each["code"] == "same_output"]

    assert told() == []
    with writing(port.service.engine) as connection:
        connection.execute(delete(Phase))
    (message,) = told()
    assert "byte-identical to anchor." in message


def test_what_the_first_upload_would_wait_for_can_be_loaded_before() -> None:
    _detector.cache_clear()
    warm_up()
    assert _detector.cache_info().currsize == 1


def test_a_submission_is_shown_to_its_team_and_the_organisers_alone(port: Port) -> None:
    port.submit(port.program("mary"))
    answers = {
        name: client.get("/api/v1/submissions/2").status_code
        for name, client in {
            "mary": port.program("mary"),
            "ann": port.program("ann"),
            "zoe": port.program("zoe"),
            "nobody": port.service.client(),
        }.items()
    }
    assert answers == {"mary": 200, "ann": 200, "zoe": 404, "nobody": 404}
    missing = port.program("zoe").get("/api/v1/submissions/99").text
    assert missing.replace("99", "2") == port.program("zoe").get("/api/v1/submissions/2").text
    assert port.program("zoe").get("/api/v1/submissions/2/output").status_code == 404
    assert port.program("zoe").get("/api/v1/evaluations/2").status_code == 404
    listed = {who: port.program(who).get(f"{ADDRESS}/submissions").json()["items"] for who in ("mary", "ann", "zoe")}
    assert {who: [each["id"] for each in items] for who, items in listed.items()} == {
        "mary": [2],
        "ann": [2, 1],
        "zoe": [],
    }


def test_lists_come_in_pages(port_anywhere: Port) -> None:
    port = port_anywhere
    mary = port.program("mary")
    for seed in range(1, 4):
        port.submit(mary, output(seed))
    first = mary.get(f"{ADDRESS}/submissions?limit=2").json()
    assert ([each["id"] for each in first["items"]], first["next"]) == ([4, 3], "3")
    rest = mary.get(f"{ADDRESS}/submissions?limit=2&after=3").json()
    assert ([each["id"] for each in rest["items"]], rest["next"]) == ([2], None)


def test_a_team_declares_withdraws_and_takes_back(port: Port) -> None:
    mary = port.program("mary")
    for seed in (1, 2):
        port.submit(mary, output(seed), kind="primary")
    kinds = [mary.get(f"/api/v1/submissions/{number}").json()["kind"] for number in (2, 3)]
    assert kinds == ["contrastive", "primary"]
    said = mary.patch("/api/v1/submissions/2", json={"kind": "primary", "constrained": False}).json()
    assert (said["kind"], said["constrained"]) == ("primary", False)
    assert mary.patch("/api/v1/submissions/2", json={"constrained": None}).json()["constrained"] is None
    assert mary.post("/api/v1/submissions/2/withdraw").json()["withdrawn_at"] is not None
    assert [each["id"] for each in mary.get(f"{ADDRESS}/submissions?kind=withdrawn").json()["items"]] == [2]
    assert mary.post("/api/v1/submissions/2/reinstate").json()["withdrawn_at"] is None
    assert port.program("zoe").post("/api/v1/submissions/2/withdraw").status_code in (403, 404)
    assert mary.delete("/api/v1/submissions/2").status_code == 403
    with reading(port.service.engine) as connection:
        assert connection.scalars(select(Declaration.withdrawn_at)).all() == [None, None]


def test_organisers_cancel_evaluations_and_try_them_again(port_anywhere: Port) -> None:
    port = port_anywhere
    port.submit(port.program("mary"))
    ann = port.program("ann")
    assert port.program("mary").post("/api/v1/evaluations/2/cancel", json={}).status_code == 403
    assert port.program("mary").get("/api/v1/evaluations/2").json()["state"] == "queued"
    cancelled = ann.post("/api/v1/evaluations/2/cancel", json={"reason": "wrong file"}).json()
    assert (cancelled["state"], cancelled["reason"]) == ("cancelled", "wrong file")
    assert ann.post("/api/v1/evaluations/2/cancel", json={}).status_code == 409
    assert ann.post("/api/v1/evaluations/2/retry").json()["state"] == "queued"
    with reading(port.service.engine) as connection:
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions == ["submission.submit", "evaluation.cancel", "evaluation.retry"]


def test_why_something_failed_is_reported_without_what_nobody_may_read(port: Port) -> None:
    port.submit(port.program("mary"))
    mary, ann = port.program("mary"), port.program("ann")
    told = {}
    for fault in (Fault.INPUT, Fault.PLATFORM):
        with writing(port.service.engine) as connection:
            connection.execute(
                update(Evaluation)
                .where(Evaluation.id == 2)
                .values(state="failed", reason="CANARY at /srv/data", fault=fault)
            )
        told[fault] = mary.get("/api/v1/submissions/2").text
        assert "CANARY" not in told[fault] + mary.get("/api/v1/evaluations/2").text
        assert "CANARY" not in port.browser("mary").get("/submissions/2").text
        assert "CANARY" in ann.get("/api/v1/submissions/2").text
    assert "cannot score this text" in told[Fault.INPUT]
    assert "does not count against the quota" in told[Fault.PLATFORM]
    with writing(port.service.engine) as connection:
        released = update(CampaignTestSet).values(references_released_at=now())
        connection.execute(released)
        connection.execute(update(Evaluation).where(Evaluation.id == 2).values(fault=Fault.INPUT))
    assert "CANARY" in mary.get("/api/v1/submissions/2").text


def test_organisers_cancel_comparisons_of_their_campaign(port: Port) -> None:
    port.submit(port.program("mary"))
    service = port.service
    with writing(service.engine) as connection:
        protocol = connection.scalars(select(Evaluation.protocol_id)).first()
        assert protocol is not None
        contest = RandomizationPlan(protocol, ((1,), (2,)), (Pair(0, 0, 1),), 99, 7)
        number = start_comparison(connection, contest, [(0, 99)], queue_class=0, team="", edition=EDITION)
    address = f"{ADDRESS}/comparisons/{number}/cancel"
    ann = port.program("ann")
    assert port.program("mary").post(address, json={}).status_code == 403
    service.campaign("elsewhere", organisers=(port.accounts["ann"],))
    assert ann.post(address.replace("port%201", "elsewhere"), json={}).status_code == 404
    assert ann.post(f"{ADDRESS}/comparisons/99/cancel", json={}).status_code == 404
    # While it compares systems of another campaign, too, it takes an organiser of both.
    other = service.campaign("beside")
    with writing(service.engine) as connection:
        connection.execute(update(Submission).where(Submission.id == 2).values(campaign_id=other))
    for visibility in (Visibility.PUBLIC, Visibility.PRIVATE):
        service.campaign("beside", visibility=visibility)
        hidden = ann.post(address, json={})
        assert (hidden.status_code, hidden.json()["error"]["message"]) == (
            404,
            f"There is no comparison {number} in this campaign.",
        )
    with writing(service.engine) as connection:
        row = {"campaign_id": other, "account_id": port.accounts["ann"], "role": CampaignRole.ORGANISER}
        connection.execute(insert(CampaignMember).values(**row))
    assert ann.post(address, json={"reason": "by mistake"}).status_code == 204
    assert ann.post(address, json={}).status_code == 409
    with reading(service.engine) as connection:
        assert connection.execute(select(Comparison.state, Comparison.reason)).all() == [("failed", "by mistake")]
        actions = list(connection.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions[-1] == "comparison.cancel"
