"""What a board says depends on who looks: names, reasons, links, and the version that browsers keep."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.leaderboards.choice import BoardChoice
from campaigns.leaderboards.documents import board_document
from campaigns.leaderboards.view import BoardQuery, Boards, BoardView
from campaigns.permissions import CampaignAccess, CampaignTestSetView, TeamView, read_access
from models.database.session import reading
from models.results.boards import list_boards
from models.schema.roles import PhaseKind, TeamRole
from steelyard_client.vocabulary import SystemFilter
from tests.campaigns.test_permissions import FREE, NOW, OURS, THEIRS, VIEWERS, access, phase
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service
from web.etags import board_etag, etag_of, not_modified
from web.pages.leaderboards.table import make_table

VIEW: Any = SimpleNamespace(
    snapshot=SimpleNamespace(version=(1.0, None), listed="board"), query=BoardQuery(), testing=0, fault="", lines=[]
)


def open_to(**values: Any) -> CampaignAccess:
    """What a stranger sees of an open phase, but for some values."""
    hidden = {FREE: CampaignTestSetView(FREE, None, None, None)}
    return replace(access("stranger", "open"), **{"test_sets": hidden, **values})


EYES = {
    "a stranger": open_to(),
    "an organiser": open_to(organises=True),
    "a member": open_to(principal=VIEWERS["member"]),
    "a member of the other team": open_to(principal=replace(VIEWERS["member"], teams={THEIRS: TeamRole.LEAD})),
    "with names": open_to(anonymous=False),
    "once published": open_to(phases=[phase(1, PhaseKind.PUBLISHED, NOW - 1)]),
    "once published, with names": open_to(phases=[phase(1, PhaseKind.PUBLISHED, NOW - 1)], anonymous=False),
    "without phases": open_to(phases=[]),
    "once references are released": open_to(test_sets={FREE: CampaignTestSetView(FREE, None, NOW, None)}),
    "with names and references": open_to(anonymous=False, test_sets={FREE: CampaignTestSetView(FREE, None, NOW, None)}),
    "with another number": open_to(teams={OURS: TeamView(OURS, "Harbour Lab", 8), THEIRS: TeamView(THEIRS, "", 12)}),
    "under another name": open_to(teams={OURS: TeamView(OURS, "Haven", 7), THEIRS: TeamView(THEIRS, "", 12)}),
}


def test_who_is_shown_something_else_has_another_version() -> None:
    tags = {name: board_etag(VIEW, eyes) for name, eyes in EYES.items()}
    assert len(set(tags.values())) == len(EYES) - 1
    assert tags["once published"] == tags["once published, with names"], "anonymity is over"
    other = replace(VIEWERS["member"], account_id=9, teams={OURS: TeamRole.LEAD})
    assert board_etag(VIEW, open_to(principal=other)) == tags["a member"], "whoever it is"
    for name, value in (("query", BoardQuery(metric=1)), ("testing", 3), ("fault", "few"), ("snapshot", None)):
        changed = SimpleNamespace(**{**VIEW.__dict__, name: value})
        if value is None:
            changed.snapshot = SimpleNamespace(version=(2.0, None), listed="board")
        assert board_etag(changed, open_to()) != tags["a stranger"], name
    assert board_etag(VIEW, open_to(), "page 2") != tags["a stranger"]


@pytest.mark.parametrize(
    ("sent", "same"),
    [("{}", True), ('"x", {}', True), ("{} ,*", True), ("", False), ("*", False), ('"x"', False), ("{}x", False)],
)
def test_a_version_that_is_known_is_not_sent_again(sent: str, same: bool) -> None:
    tag = etag_of(b"something")
    answer = not_modified(SimpleNamespace(headers={"If-None-Match": sent.format(tag)}), tag)  # type: ignore[arg-type]
    assert (answer is not None) == same
    if answer is not None:
        assert (answer.status_code, answer.headers["ETag"], answer.body) == (304, tag, b"")
    assert not_modified(SimpleNamespace(headers={}), tag) is None  # type: ignore[arg-type]


@pytest.fixture
def scored(service: Service) -> Scored:
    """Anonymous teams, one of which has submitted what another has, and one of which has failed."""
    found = Scored(service)
    found.add("", "baseline", 20.0)
    found.add("harbour", "mast", 30.0, text="alike", **PRIMARY)
    found.add("guests", "tent", 30.0, text="alike", constrained=False, late_seconds=9.0)
    found.add("pier", "lamp", None, state="failed", run="1", constrained=True)
    found.add("pier", "lamp", 25.0, run="2", constrained=True)
    found.add("harbour", "sail", 28.0, **CONTRASTIVE)
    teams = tuple(service.team(name, service.account(name)) for name in ("harbour", "guests", "pier"))
    service.campaign("port", teams=teams, anonymous=True)
    return found


def looked_at(scored: Scored, principal: Principal, kind: PhaseKind) -> tuple[CampaignAccess, BoardView, BoardChoice]:
    scored.service.phase(scored.campaign_id, kind.value, kind)
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        view = Boards(scored.service.engine, 1 << 20).view(connection, listed, BoardQuery(shown=SystemFilter.ALL))
        return read_access(connection, principal, "port"), view, BoardChoice(listed, replaced=False, superseded=False)


MEMBER = Principal(5, scopes=EVERY_SCOPE, teams={"guests": TeamRole.MEMBER})
NAMED = [
    ("harbour/mast", None, True),
    ("guests/tent", "harbour/mast", True),
    ("harbour/sail", None, True),
    ("baseline", None, True),
    ("pier/lamp (2 runs)", None, True),
]


HIDDEN = [
    ("Team 1 #2", None, False),
    ("Team 2", "Team 1 #2", False),
    ("Team 1 #6", None, False),
    ("baseline", None, False),
    ("Team 3 (2 runs)", None, False),
]


@pytest.mark.parametrize(
    ("who", "kind", "expected"),
    [
        (COMMAND_LINE, PhaseKind.OPEN, NAMED),
        (NOBODY, PhaseKind.OPEN, HIDDEN),
        (MEMBER, PhaseKind.OPEN, [HIDDEN[0], ("guests/tent", "Team 1 #2", True), *HIDDEN[2:]]),
        (NOBODY, PhaseKind.PUBLISHED, NAMED),
    ],
    ids=["organisers", "nobody", "a member", "published"],
)
def test_names_and_reasons_are_those_that_may_be_disclosed(
    scored: Scored, who: Principal, kind: PhaseKind, expected: list[tuple[str, str | None, bool]]
) -> None:
    before, view, choice = looked_at(scored, who, kind)
    items = board_document(choice, view, before, view.lines, None).model_dump()["items"]
    assert [(each["name"], each["same_output_as"]) for each in items] == [each[:2] for each in expected]
    table = make_table(view, before, view.lines)
    rows = [row for cluster in table.clusters for row in cluster]
    assert table.tracks, "they differ in it, so that a column tells it"
    assert rows[1].entry.constrained is False
    assert [(row.name.title, row.system is not None) for row in rows] == [
        (name, linked) for name, _, linked in expected
    ]
    organises, named = who is COMMAND_LINE, who is COMMAND_LINE or kind == PhaseKind.PUBLISHED
    lamp = items[4]
    assert (lamp["reason"], lamp["state"]) == ("too long" if organises else None, "failed")
    assert rows[4].remark == f"1 of 2 runs done; failed{': too long' if organises else ''}"
    assert (lamp["runs"], lamp["system"]) == ((["1", "2"], "lamp") if named else ([], None))
    assert [each["own"] for each in items] == [who is MEMBER and name == "guests/tent" for name, _, _ in expected]
    assert rows[1].remark == f"same output as {expected[0][0]}"
    own = [("yours", "strong")] if who is MEMBER else []
    assert [list(row.marks) for row in rows] == [
        [("primary", "")],
        [*own, ("late", "warning")],
        [("contrastive", "")],
        [("organisers'", "")],
        [],
    ]
    assert [(each["kind"], each["ranked"], each["constrained"], each["late_seconds"]) for each in items] == [
        ("primary", True, None, 0.0),
        ("", True, False, 9.0),
        ("contrastive", False, None, 0.0),
        ("", True, None, 0.0),
        ("", True, True, 0.0),
    ]
