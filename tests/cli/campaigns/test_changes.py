"""`steelyard campaign` changes what it is asked to change, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from campaigns.measures import protocols_on
from campaigns.phases import PhaseRules, rules_of
from cli.main import main
from models.database.session import make_engine, reading
from models.schema.campaigns import Declaration
from models.schema.roles import Feedback, LateRule, PhaseKind
from tests.cli.campaigns.commands import REFERENCE, access_of, steelyard
from tests.service.service import Service

pytestmark = [pytest.mark.usefixtures("news"), pytest.mark.few(1)]

RULES = (
    "title",
    "description",
    "time_zone",
    "visibility",
    "joining",
    "anonymous",
    "verified_only",
    "ranked_by",
    "embeddable",
)


def test_each_rule_is_set_and_the_others_stay(capsys: pytest.CaptureFixture[str], sqlite_url: str) -> None:
    steelyard(
        *(capsys, "campaign", "create", "wmt", "--title", "The task", "--description", "What for", "--joining", "open"),
        *("--time-zone", "Europe/Prague", "--visibility", "public", "--anonymous", "--verified-only"),
        *("--ranked-by", "chrf"),
    )
    values = ["The task", "What for", "Europe/Prague", "public", "open", True, True, "chrf", False]

    def stored() -> list[object]:
        access = access_of(sqlite_url)
        return [getattr(access, rule) for rule in RULES]

    assert stored() == values
    for place, (options, value) in enumerate(
        [
            (["--title", "Task"], "Task"),
            (["--description", ""], ""),
            (["--time-zone", "Asia/Tokyo"], "Asia/Tokyo"),
            (["--visibility", "private"], "private"),
            (["--joining", "invited"], "invited"),
            (["--no-anonymous"], False),
            (["--no-verified-only"], False),
            (["--ranked-by", ""], ""),
            (["--embeddable"], True),
        ]
    ):
        steelyard(capsys, "campaign", "update", "wmt", *options)
        values[place] = value
        assert stored() == values


def test_a_phase_is_changed_in_what_is_said(capsys: pytest.CaptureFixture[str], sqlite_url: str) -> None:
    steelyard(capsys, "campaign", "create", "wmt", "--time-zone", "Europe/Prague")
    steelyard(
        *(capsys, "phase", "create", "wmt", "Test", "--kind", "blind"),
        *("--starts", "2098-01-20T18:00", "--ends", "2098-01-21T18:00"),
        *("--grace", "1.5", "--feedback", "ladder", "--step", "0.5"),
    )

    def stored() -> PhaseRules:
        (known,) = access_of(sqlite_url).phases
        return rules_of(known)

    begins = 4041075600.0
    whole = PhaseRules("Test", PhaseKind.BLIND, begins, begins + 86400, LateRule.FLAG, 5400.0, Feedback.LADDER, 0.5)
    assert stored() == whole
    for options, changes in (
        (["--step", "2"], {"feedback_step": 2.0}),
        (["--feedback", "rounded"], {"feedback": Feedback.ROUNDED}),
        (["--starts", "2098-01-20T12:00+01:00"], {"starts_at": begins - 6 * 3600}),
        (["--grace", "0"], {"grace_seconds": 0.0, "late": LateRule.REFUSE}),
        (["--ends", ""], {"ends_at": None}),
        (["--kind", "open"], {"kind": PhaseKind.OPEN}),
        (["--name", "Final"], {"name": "Final"}),
    ):
        steelyard(capsys, "phase", "update", "wmt", "Test", *options)
        whole = replace(whole, **changes)
        assert stored() == whole
    assert "Say what" in steelyard(capsys, "phase", "update", "wmt", "Final", status=2)
    assert "Final" in steelyard(capsys, "phase", "list", "wmt")
    assert "no terminal" in steelyard(capsys, "phase", "delete", "wmt", "Final", status=1)
    steelyard(capsys, "phase", "delete", "wmt", "Final", "--yes")
    assert access_of(sqlite_url).phases == []


def test_whether_outputs_are_taken_is_said_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    def said() -> str:
        shown = steelyard(capsys, "campaign", "show", "wmt")
        (line,) = (line for line in shown.splitlines() if line.startswith("Open for submissions"))
        return line.removeprefix("Open for submissions").strip()

    def listed() -> list[str]:
        return steelyard(capsys, "campaign", "list").splitlines()[-1].split()[1:]

    steelyard(capsys, "campaign", "create", "wmt")
    assert (said(), listed()) == ("yes, it has no phases", ["-", "yes", "members"])
    steelyard(capsys, "phase", "create", "wmt", "Test", "--kind", "open", "--starts", "2098-01-20T18:00")
    assert (said(), listed()) == ("no, its first phase has not begun", ["-", "no", "members"])
    steelyard(capsys, "phase", "update", "wmt", "Test", "--starts", "2020-01-20T18:00")
    assert (said(), listed()) == ('yes, the phase is "Test"', ["Test", "yes", "members"])
    steelyard(capsys, "campaign", "freeze", "wmt")
    assert (said(), listed()) == ("no, it is frozen", ["Test", "frozen", "members"])
    steelyard(capsys, "campaign", "unfreeze", "wmt")
    steelyard(capsys, "campaign", "update", "wmt", "--visibility", "public")
    steelyard(capsys, "phase", "update", "wmt", "Test", "--ends", "2020-01-21T18:00")
    assert (said(), listed()) == ('no, the phase "Test" is over', ["Test", "no", "everybody"])


def test_a_declaration_is_changed_in_what_is_said(
    capsys: pytest.CaptureFixture[str], service: Service, sqlite_url: str
) -> None:
    service.team("harbour")
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    steelyard(
        *(capsys, "submit", "out.txt", "--campaign", "wmt", "--team", "harbour", "--system", "mast", "--no-wait"),
        *("--contrastive", "--constrained", "--description", "ours"),
    )

    def stored() -> tuple[object, ...]:
        with reading(make_engine(sqlite_url)) as connection:
            columns = Declaration.kind, Declaration.constrained, Declaration.description
            return tuple(connection.execute(select(*columns)).one())

    declare = ("submission", "update", "1")
    assert stored() == ("contrastive", True, "ours")
    for options, values in (
        (["--primary"], ("primary", True, "ours")),
        (["--description", "theirs"], ("primary", True, "theirs")),
        (["--unconstrained"], ("primary", False, "theirs")),
        (["--contrastive"], ("contrastive", False, "theirs")),
    ):
        steelyard(capsys, *declare, *options)
        assert stored() == values


def test_references_are_released_early_if_that_is_asked_for_and_hidden_again(
    capsys: pytest.CaptureFixture[str], sqlite_url: str
) -> None:
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    steelyard(capsys, "phase", "create", "wmt", "Test", "--kind", "open")

    def released() -> bool:
        (test_set,) = access_of(sqlite_url).test_sets.values()
        return test_set.released_at is not None

    release = ("testset", "update", "wmt", "news")
    assert "are accepted" in steelyard(capsys, *release, "--release", status=1)
    assert not released()
    assert "released" in steelyard(capsys, *release, "--release", "--early")
    assert released()
    assert "hidden" in steelyard(capsys, *release, "--hide")
    assert not released()


def test_a_test_set_is_bound_to_a_phase_and_to_none_and_measured_as_asked(
    capsys: pytest.CaptureFixture[str], sqlite_url: str, news: Path
) -> None:
    (news / "refs" / "B.txt").write_text(REFERENCE.replace("small", "little"))
    steelyard(capsys, "campaign", "create", "wmt")
    for phase, times in {"Dev": ("2098-01-01", "2098-02-01"), "Test": ("2098-03-01", "2098-04-01")}.items():
        starts, ends = (f"{day}T00:00" for day in times)
        steelyard(capsys, "phase", "create", "wmt", phase, "--kind", "open", "--starts", starts, "--ends", ends)
    measures = ("-m", "bleu", "--confidence", "7", "--seed", "5", "--references", "B", "A,B")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "--phase", "Test", *measures)

    def bound() -> str:
        access = access_of(sqlite_url)
        (test_set,) = access.test_sets.values()
        return {None: "", **{each.id: each.name for each in access.phases}}[test_set.phase_id]

    def measured() -> list[tuple[object, ...]]:
        with reading(make_engine(sqlite_url)) as connection:
            found = protocols_on(connection, access_of(sqlite_url).campaign_id)
        return [(each.references, each.metrics, each.replicates, each.seed) for each in found]

    assert (bound(), measured()) == ("Test", [(("B",), ("bleu",), 7, 5), (("A", "B"), ("bleu",), 7, 5)])
    for phase in ("Dev", ""):
        steelyard(capsys, "testset", "update", "wmt", "news", "--phase", phase)
        assert bound() == phase
    steelyard(capsys, "testset", "measure", "wmt", "news", "--references", "A", "-m", "ter")
    assert measured()[2:] == [(("A",), ("ter",), 1000, 12345)]


def test_teams_and_members_come_and_go(capsys: pytest.CaptureFixture[str], service: Service, sqlite_url: str) -> None:
    for name in ("olga", "vera", "ann"):
        service.account(name)
    service.team("harbour")
    service.team("guests")
    steelyard(capsys, "campaign", "create", "wmt")
    teams = ("campaign", "teams", "wmt")
    assert "any team can submit" in steelyard(capsys, *teams)
    steelyard(capsys, "campaign", "update", "wmt", "--add-team", "harbour", "guests")
    assert {*access_of(sqlite_url).teams} == {"harbour", "guests"}
    steelyard(capsys, "campaign", "update", "wmt", "--remove-team", "harbour")
    left = steelyard(capsys, *teams)
    assert ("guests" in left, "harbour" in left) == (True, False)
    assert [*access_of(sqlite_url).teams] == ["guests"]
    members = ("campaign", "members", "wmt")
    if "root" in steelyard(capsys, *members):
        # Who creates a campaign on a server organises it, until somebody else does.
        steelyard(capsys, "campaign", "update", "wmt", "--organiser", "olga@example.org")
        steelyard(capsys, "campaign", "update", "wmt", "--remove-member", "root@example.org")
    else:
        assert steelyard(capsys, *members) == "Nobody organises it but administrators.\n"
    change = ("campaign", "update", "wmt")
    steelyard(capsys, *change, "--organiser", "olga@example.org", "ann@example.org", "--viewer", "vera@example.org")
    told = steelyard(capsys, *members)
    rows = {line.split()[0]: line.split()[-1] for line in told.splitlines() if "@" in line}
    assert rows == {"olga@example.org": "organiser", "ann@example.org": "organiser", "vera@example.org": "viewer"}
    steelyard(capsys, *change, "--remove-member", "Ann@example.org", "vera@example.org")
    told = steelyard(capsys, *members)
    assert [line.split()[0] for line in told.splitlines() if "@" in line] == ["olga@example.org"]
    assert "is no member of wmt" in steelyard(capsys, *change, "--remove-member", "vera@example.org", status=1)


def test_a_correction_is_shown_by_its_number_or_else_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    steelyard(capsys, "campaign", "create", "wmt")
    steelyard(capsys, "testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0")
    assert "No references of wmt were corrected" in steelyard(capsys, "testset", "correction", "wmt", status=1)
    for reason, word in (("First", "up"), ("Second", "down")):
        Path("A.txt").write_text(REFERENCE.replace("over", word))
        steelyard(capsys, "testset", "correct", "wmt", "news", "A.txt", "--reason", reason)
    shown = {number: steelyard(capsys, "testset", "correction", "wmt", *number) for number in ((), ("1",), ("2",))}
    assert shown[("1",)].startswith("news, version 1 -> 2")
    assert "Reason: First\n" in shown[("1",)]
    assert shown[()] == shown[("2",)]
    assert shown[()].startswith("news, version 2 -> 3")
    assert "99" in steelyard(capsys, "testset", "correction", "wmt", "99", status=1)


def test_a_test_set_comes_without_notes_where_nothing_is_odd(
    capsys: pytest.CaptureFixture[str], service: Service, news: Path
) -> None:
    steelyard(capsys, "campaign", "create", "wmt")
    assert main(["testset", "create", "wmt", "news", "news", "-m", "bleu", "--confidence", "0"]) == 0
    assert capsys.readouterr().err == ""
