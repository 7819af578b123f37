"""The rules of a campaign, each alone: what is set is stored, and nothing else changes, here or in another campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, Conflict, Forbidden, NotSignedIn
from campaigns.rules import Rules, campaign_metrics, create_campaign, set_frozen, set_rules
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import reading, writing
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign, CampaignMember
from models.schema.roles import Joining, Scope, SiteRole, Visibility
from models.schema.states import JudgmentKind
from scheduler.errors import BadSchedule
from steelyard.errors import MetricsError
from tests.service.campaigns import given, with_test_set

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tests.service.service import Service

VALUES: dict[str, Any] = {
    "title": "Of ships", "description": "Of *ships*\nand more", "time_zone": "Europe/Prague",
    "visibility": Visibility.PUBLIC, "joining": Joining.OPEN, "anonymous": True, "verified_only": True,
    "ranked_by": "chrf", "embeddable": True,
}  # fmt: skip


@pytest.fixture
def site(service: Service) -> Service:
    """Two campaigns with the same judgments: of the first by BLEU and chrF, of the other by TER."""
    for name, metrics in (("bay", ("bleu", "chrf")), ("port", ("ter",))):
        with writing(service.engine) as connection:
            create_campaign(
                connection, COMMAND_LINE, name, Rules(visibility=Visibility.PRIVATE, joining=Joining.INVITED)
            )
        with_test_set(service.engine, name, given(), metrics=metrics)
    return service


def stored(connection: Connection) -> dict[str, dict[str, Any]]:
    return {row.name: row._asdict() for row in connection.execute(select(Campaign))}


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in after.items() if before[name] != value}


def as_stored(name: str, value: Any) -> Any:
    return next(each for each in METRICS if each.startswith(value)) if name == "ranked_by" else value


METRICS: list[str] = []


@pytest.mark.parametrize("name", VALUES)
def test_each_rule_alone(site: Service, name: str) -> None:
    with writing(site.engine) as connection:
        METRICS[:] = campaign_metrics(connection, stored(connection)["bay"]["id"])
        before = stored(connection)
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        set_rules(connection, access, Rules(**{name: VALUES[name]}))
        after = stored(connection)
        assert changed(before["bay"], after["bay"]) == {name: as_stored(name, VALUES[name])}
        assert after["port"] == before["port"]
        entries = connection.execute(select(AuditEntry).where(AuditEntry.action == "campaign.rules")).all()
        assert [(each.campaign_id, each.subject) for each in entries] == [(access.campaign_id, "campaign bay")]
        assert {*entries[0].details} == {name}
        # The same again is no change.
        set_rules(connection, access, Rules(**{name: VALUES[name]}))
        assert len(connection.execute(select(AuditEntry).where(AuditEntry.action == "campaign.rules")).all()) == 1
        create_campaign(connection, COMMAND_LINE, "pier", Rules(**{name: VALUES[name]}))
        create_campaign(connection, COMMAND_LINE, "dock", Rules())
        pier, dock = stored(connection)["pier"], stored(connection)["dock"]
        assert pier[name] == VALUES[name]
        assert {*changed(dock, pier)} - {"id", "name", "folded_name", "founded_at", "created_at"} <= {name}


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        (Rules(ranked_by="ter"), BadRequest, "no metric 'ter' to rank by. There are: bleu"),
        (Rules(ranked_by="autorank"), BadRequest, "adds AutoRank"),
        (Rules(ranked_by="x" * 501), BadRequest, "501 characters"),
        (Rules(time_zone="Europe/Praha"), BadSchedule, "Europe/Prague"),
        (Rules(human_rule="human"), BadRequest, "Say which judgments rank. Import some first"),
        (Rules(human_judgments="kept"), BadRequest, "Name the rule"),
        (Rules(title="x" * 10_000), BadRequest, "characters"),
    ],
)
def test_rules_that_cannot_be(site: Service, rules: Rules, error: type[Exception], message: str) -> None:
    with writing(site.engine) as connection:
        before = stored(connection)
        access = lock_for_change(connection, COMMAND_LINE, "bay")
        with pytest.raises(error, match=message.replace(".", r"\.")):
            set_rules(connection, access, rules)
        assert stored(connection) == before
    with writing(site.engine) as connection, pytest.raises(MetricsError):
        create_campaign(connection, COMMAND_LINE, "pier", Rules(ranked_by="no metric"))


def test_judgments_that_rank_are_of_the_campaign_and_of_a_kind_that_can(site: Service) -> None:
    with writing(site.engine) as connection:
        numbers = {name: row["id"] for name, row in stored(connection).items()}
        test_set = next(iter(lock_for_change(connection, COMMAND_LINE, "bay").test_sets))
        for campaign, name, kind in (
            *(("bay", "kept", JudgmentKind.SCORES), ("bay", "kept", JudgmentKind.SCORES)),
            *(("port", "theirs", JudgmentKind.SCORES), ("bay", "ranks", JudgmentKind.RANKINGS)),
        ):
            judged = NewJudgments(name, kind, {}, [SystemRow("mast", 0.1 * len(stored(connection)))])
            store_judgments(connection, numbers[campaign], test_set, judged)
        for wanted, refused in (
            *(("kept", ""), ("kept@1", ""), ("theirs", "There are: kept, ranks"), ("", "Say which judgments rank")),
            *(("ranks", "relative rankings"), ("kept@3", "There are: kept, ranks")),
        ):
            access = lock_for_change(connection, COMMAND_LINE, "bay")
            asked = Rules(human_rule="human:wmt24", human_judgments=wanted)
            if refused:
                with pytest.raises(BadRequest, match=refused):
                    set_rules(connection, access, asked)
            else:
                set_rules(connection, access, asked)
                row = stored(connection)["bay"]
                assert (row["human_rule"], row["human_judgments"]) == ("human:wmt24", wanted)
        # The only ones need not be named, and an end of the rule is one of what it ranks by.
        set_rules(connection, lock_for_change(connection, COMMAND_LINE, "port"), Rules(human_rule="human:wmt24"))
        assert stored(connection)["port"]["human_judgments"] == "theirs"
        set_rules(connection, lock_for_change(connection, COMMAND_LINE, "port"), Rules(human_rule=""))
        assert stored(connection)["port"]["human_judgments"] == stored(connection)["port"]["human_rule"] == ""
        assert stored(connection)["bay"]["human_judgments"] == "kept@1"


@pytest.mark.parametrize("role", SiteRole)
@pytest.mark.parametrize("scopes", [EVERY_SCOPE, frozenset({Scope.SUBMIT})], ids=["all", "submit"])
def test_who_creates_a_campaign_organises_it(service: Service, role: SiteRole, scopes: frozenset[Scope]) -> None:
    account = service.account("ann", role)
    creates = role in (SiteRole.ORGANISER, SiteRole.ADMINISTRATOR) and scopes == EVERY_SCOPE
    with writing(service.engine) as connection:
        principal = Principal(account, role=role, scopes=scopes)
        if not creates:
            with pytest.raises(Forbidden):
                create_campaign(connection, principal, "bay", Rules())
            assert stored(connection) == {}
            return
        number = create_campaign(connection, principal, " bay  of ", Rules())
        members = connection.execute(select(CampaignMember)).all()
        assert [(each.campaign_id, each.account_id, each.role) for each in members] == [(number, account, "organiser")]
        assert {*stored(connection)} == {"bay of"}
        with pytest.raises(Conflict):
            create_campaign(connection, COMMAND_LINE, "Bay Of", Rules())
        with pytest.raises(NotSignedIn):
            create_campaign(connection, NOBODY, "port", Rules())


def test_a_campaign_is_frozen_alone_and_once(site: Service) -> None:
    with writing(site.engine) as connection:
        for frozen in (True, True, False, False):
            before = stored(connection)
            set_frozen(connection, lock_for_change(connection, COMMAND_LINE, "bay"), frozen)
            after = stored(connection)
            assert (after["bay"]["frozen_at"] is not None) == frozen
            assert {*changed(before["bay"], after["bay"])} <= {"frozen_at"}
            assert after["port"] == before["port"]
            if (before["bay"]["frozen_at"] is not None) == frozen:
                assert after == before, "since when it is, stays"
    with reading(site.engine) as connection:
        actions = select(AuditEntry.action).where(AuditEntry.action.in_(("campaign.freeze", "campaign.unfreeze")))
        assert len(connection.scalars(actions).all()) == 2
