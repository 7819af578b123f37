"""For which team, and for which test set, somebody may submit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import BadRequest, Forbidden, NotSignedIn
from campaigns.permissions import read_access
from campaigns.submissions.form import SubmissionFields
from campaigns.submissions.test_sets import choose_test_set, offered_test_sets
from models.database.session import reading, writing
from models.schema.campaigns import CampaignTestSet
from models.schema.roles import PhaseKind, Scope, SiteRole, TeamRole
from tests.service.campaigns import found, given, with_test_set
from tests.service.port import NAME, Port
from tests.service.service import DAY, Service
from web.uploads.submit import submitting_team


@pytest.mark.parametrize(
    ("who", "fields", "team"),
    [
        ("mary", {}, "harbour"),
        ("mary", {"team": "harbour"}, "harbour"),
        ("mary", {"team": "guests"}, Forbidden),
        ("mary", {"team": "outsiders"}, Forbidden),
        ("mary", {"team": "harbour", "override": True}, Forbidden),
        ("mary reading", {}, Forbidden),
        ("both", {}, BadRequest),
        ("both", {"team": "guests"}, "guests"),
        ("both", {"team": "harbour"}, "harbour"),
        ("outsider", {}, Forbidden),
        ("outsider", {"team": "outsiders"}, Forbidden),
        ("nobody", {}, NotSignedIn),
        ("nobody", {"team": "harbour"}, NotSignedIn),
        ("nobody", {"team": "harbour", "override": True}, NotSignedIn),
        ("ann", {}, Forbidden),
        ("ann", {"team": "harbour"}, Forbidden),
        ("ann", {"override": True}, BadRequest),
        ("ann", {"team": "harbour", "override": True}, "harbour"),
        ("ann", {"team": "our baselines", "override": True}, "our baselines"),
        ("ann", {"team": "outsiders", "override": True}, Forbidden),
        ("ann", {"team": "OUTSIDERS", "override": True}, Forbidden),
        ("ann submitting", {"team": "harbour", "override": True}, Forbidden),
    ],
)
def test_for_which_team(port: Port, who: str, fields: dict[str, Any], team: str | type[Exception]) -> None:
    port.service.team("outsiders", port.service.account("oscar"))
    member = TeamRole.MEMBER
    mary = Principal(port.accounts["mary"], role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE, teams={"harbour": member})
    ann = Principal(port.accounts["ann"], role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    principal = {
        "mary": mary,
        "mary reading": replace(mary, scopes=frozenset({Scope.READ, Scope.ORGANISE})),
        "both": replace(mary, teams={"harbour": member, "guests": member, "outsiders": member}),
        "outsider": replace(mary, teams={"outsiders": TeamRole.LEAD}),
        "nobody": NOBODY,
        "ann": ann,
        "ann submitting": replace(ann, scopes=frozenset({Scope.READ, Scope.SUBMIT})),
    }[who]
    with reading(port.service.engine) as connection:
        access, said = read_access(connection, principal, NAME), SubmissionFields(system="mast", **fields)
        if isinstance(team, str):
            assert submitting_team(connection, access, said) == team
        else:
            with pytest.raises(team) as error:
                submitting_team(connection, access, said)
            if who == "both":
                assert str(error.value) == "You are in several teams: guests, harbour. Name one."


def test_which_test_sets_are_offered_and_meant(service: Service) -> None:
    """In the campaign's order, without those that were replaced; those to come to organisers alone."""
    engine = service.engine
    found(engine, "wmt", visibility="public")
    found(engine, "other", visibility="public")
    campaign = service.campaign("wmt")
    phases = {
        name: service.phase(campaign, name, PhaseKind.OPEN, begins=begins)
        for name, begins in (("dev", -DAY), ("test", DAY))
    }
    ids = {
        name: with_test_set(engine, "wmt", given(f"{name}\ny\nz\n".encode()), name=name)
        for name in ("news", "talks", "coming", "old")
    }
    with_test_set(engine, "other", given(b"u\nv\nw\n"), name="papers")
    with writing(engine) as connection:
        for name, values in (
            ("news", {"position": 2, "phase_id": phases["dev"]}),
            ("talks", {"position": 1}),
            ("coming", {"position": 0, "phase_id": phases["test"]}),
            ("old", {"position": 0, "replaced_by": ids["news"]}),
        ):
            mine = CampaignTestSet.test_set_id == ids[name]
            connection.execute(update(CampaignTestSet).where(mine).values(**values))
    with reading(engine) as connection:
        anybody, organiser = (read_access(connection, who, "wmt") for who in (NOBODY, COMMAND_LINE))
        offered = offered_test_sets(connection, anybody)
        assert [(each.name, each.phase, each.value, each.title) for each in offered] == [
            ("talks", "", "talks@1", "talks"),
            ("news", "dev", "news@1", "news"),
        ]
        assert [(each.segments, each.source_language, each.target_language) for each in offered] == [
            (3, "en", "cs")
        ] * 2
        assert [each.name for each in offered_test_sets(connection, organiser)] == ["coming", "talks", "news"]
        for named, name in (("talks", "talks"), ("news@1", "news")):
            assert choose_test_set(connection, anybody, named).name == name
        assert choose_test_set(connection, organiser, "coming").id == ids["coming"]
        with pytest.raises(BadRequest, match=r"several test sets: talks@1, news@1\. Name one"):
            choose_test_set(connection, anybody, "")
        for named in ("coming", "old", "old@1", "papers", "news@2", "tal"):
            with pytest.raises(BadRequest, match=rf"a test set '{named}'\. There are: talks@1, news@1"):
                choose_test_set(connection, anybody, named)
        with pytest.raises(BadRequest, match="has no test set yet"):
            choose_test_set(connection, replace(anybody, campaign_id=0), "")
        assert choose_test_set(connection, read_access(connection, NOBODY, "other"), "").name == "papers"
