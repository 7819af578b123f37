"""Terms of two campaigns with the same two teams, changed and accepted in any order, against a model of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import EVERY_SCOPE, Principal
from campaigns.errors import Forbidden, NotFound, OutOfDate
from campaigns.permissions import CampaignAccess, read_access
from campaigns.terms import (
    TermsNotAccepted,
    accept_terms,
    accepted_by,
    read_terms,
    require_accepted,
    set_terms,
    terms_versions,
)
from models.database.session import writing
from models.schema.accounts import AuditEntry
from models.schema.roles import SiteRole, TeamRole

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tests.service.service import Service

CAMPAIGNS, TEAMS, TEXTS = ("bay", "port"), ("guests", "harbour"), ("", "Be kind.", "Be honest.", "Be there.")


@dataclass
class Model:
    """What the terms of one campaign should be."""

    texts: list[str] = field(default_factory=list)
    """Of each version, from the first."""
    accepted: list[tuple[str, int]] = field(default_factory=list)
    audited: list[tuple[str, int]] = field(default_factory=list)

    @property
    def version(self) -> int:
        return len(self.texts)

    @property
    def text(self) -> str:
        return self.texts[-1] if self.texts else ""


@dataclass
class Terms:
    """Both campaigns, as an organiser and as a member of one of the teams sees them."""

    connection: Connection
    models: dict[str, Model]
    accounts: dict[str, int]

    def access(self, campaign: str, team: str = "", *, organises: bool = False) -> CampaignAccess:
        teams = {team: TeamRole.MEMBER} if team else {}
        who = Principal(self.accounts[team or "ann"], role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams=teams)
        return replace(read_access(self.connection, who, campaign), organises=organises)

    def change(self, campaign: str, text: str) -> None:
        set_terms(self.connection, self.access(campaign, organises=True), f" {text}\r\n")
        model = self.models[campaign]
        if text != model.text:
            model.texts.append(text)
            model.audited.append(("campaign.terms", model.version))

    def accept(self, campaign: str, team: str, version: int) -> None:
        model, access = self.models[campaign], self.access(campaign, team)
        with pytest.raises(Forbidden):
            accept_terms(self.connection, self.access(campaign).principal, self.access(campaign), team, version)
        if model.text and version == model.version:
            accept_terms(self.connection, access.principal, access, team, version)
            if (team, version) not in model.accepted:
                model.accepted.append((team, version))
                model.audited.append(("campaign.accept_terms", version))
        else:
            with pytest.raises(OutOfDate if model.text else NotFound):
                accept_terms(self.connection, access.principal, access, team, version)

    def check(self) -> None:
        for campaign, model in self.models.items():
            access = self.access(campaign, organises=True)
            number = access.campaign_id
            terms = read_terms(self.connection, number)
            assert (terms and (terms.version, terms.text)) == ((model.version, model.text) if model.text else None)
            rows = list(enumerate(model.texts, 1))
            for organises, expected in ((True, rows), (False, rows[-1:])):
                found = terms_versions(self.connection, self.access(campaign, organises=organises))
                assert [(each["version"], each["text"]) for each in found] == expected
            found_acceptances = accepted_by(self.connection, number)
            assert sorted((each.team, each.version) for each in found_acceptances) == sorted(model.accepted)
            assert all(each.account == each.team for each in found_acceptances)
            times = [each.accepted_at for each in found_acceptances]
            assert times == sorted(times, reverse=True)
            for team in TEAMS:
                if not model.text or (team, model.version) in model.accepted:
                    require_accepted(self.connection, number, team)
                else:
                    with pytest.raises(TermsNotAccepted):
                        require_accepted(self.connection, number, team)
            entries = self.connection.execute(
                select(AuditEntry.action, AuditEntry.details)
                .where(AuditEntry.campaign_id == number, AuditEntry.action.like("campaign.%terms"))
                .order_by(AuditEntry.id)
            )
            assert [(row.action, row.details["version"]) for row in entries] == model.audited


def test_whatever_is_changed_and_accepted_in_whichever_order(service: Service) -> None:
    accounts = {name: service.account(name) for name in ("ann", *TEAMS)}
    teams = tuple(service.team(name, accounts[name]) for name in TEAMS)
    for campaign in CAMPAIGNS:
        service.campaign(campaign, teams=teams)
    draw = Random(5)
    with writing(service.engine) as connection:
        terms = Terms(connection, {campaign: Model() for campaign in CAMPAIGNS}, accounts)
        for _ in range(60):
            campaign, team = draw.choice(CAMPAIGNS), draw.choice(TEAMS)
            if draw.random() < 0.3:
                terms.change(campaign, draw.choice(TEXTS))
            else:
                terms.accept(campaign, team, terms.models[campaign].version - draw.choice((0, 0, 0, 1, -1)))
            terms.check()
    assert all(len(model.texts) > 2 and len(model.accepted) > 2 for model in terms.models.values())
