"""How many statements every page and every answer of the API takes: as many in a large campaign as in a small one."""

from __future__ import annotations

from collections import Counter

from fastapi.testclient import TestClient
from sqlalchemy import insert

from campaigns.accounts.secrets import hash_of, new_secret
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import writing
from models.schema.accounts import ApiToken, Invitation, Membership
from models.schema.base import now
from models.schema.campaigns import CampaignMember, Quota
from models.schema.roles import CampaignRole, PhaseKind
from models.schema.states import JudgmentKind
from tests.analysis.nightly_runs import add_nightly_run, add_schedule
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.service import DAY
from tests.statements import caught
from tests.web.hostile.expected import RULES
from tests.web.hostile.test_roles import KNOWN, ROUTES, address_of
from tests.web.hostile.world import PRIVATE, World

MOST = 45
"""Statements of the page that needs most."""
EXPORTS = ("/export", "{name}/judgment-tasks")
LOOKING = [route for route in KNOWN if ROUTES[route] == "GET" and not route.endswith(EXPORTS)]
"""An export, of a campaign or of tasks for annotators, reads every text by itself, so that it holds none of them in
memory longer than it takes to send it."""
WHO = ("lead", "administrator")


def grow(world: World, first: int, last: int) -> None:
    """Add to everything that a page may list: in the private campaign, and of the account `lead`."""
    service, campaign = world.service, world.campaigns[PRIVATE]
    lead, harbour = world.accounts["lead"], 1
    for number in range(first, last):
        person = service.account(f"sailor{number}")
        team = service.team(f"crew{number}", person)
        service.campaign(PRIVATE, teams=(team,))
        service.phase(campaign, f"past {number}", PhaseKind.OPEN, begins=-9 * DAY - number, ends=-8 * DAY)
        texts = given(reference=f"port {number}\n".encode() * 8, source=b"x\n" * 8)
        with_test_set(service.engine, PRIVATE, texts, name=f"set {number}", metrics=("bleu", "chrf"), replicates=20)
        for whose in ("harbour", f"crew{number}"):
            lines = "".join(f"{whose} {number} the {line}\n" for line in range(8)).encode()
            submit_output(service.engine, PRIVATE, whose, f"raft{number}", lines, test_set=f"news of {PRIVATE}")
        schedule = add_schedule(service.engine, campaign, name=f"watch {number}")
        add_nightly_run(service.engine, schedule, number, {})
        with writing(service.engine) as connection:
            connection.execute(insert(Membership).values(team_id=harbour, account_id=person, role="member"))
            viewer = {"campaign_id": campaign, "account_id": person, "role": CampaignRole.VIEWER}
            connection.execute(insert(CampaignMember).values(**viewer))
            quota = {"campaign_id": campaign, "kind": "per_day", "amount": 9, "team": f"crew{number}"}
            connection.execute(insert(Quota).values(**quota))
            invited = {"secret_hash": hash_of(new_secret()), "team_id": harbour, "team_role": "member"}
            connection.execute(insert(Invitation).values(**invited, expires_at=now() + DAY, made_by=lead))
            token = {"secret_hash": hash_of(new_secret()), "account_id": lead, "name": f"t{number}", "scopes": ["read"]}
            connection.execute(insert(ApiToken).values(**token))
            judged = NewJudgments(f"kept {number}", JudgmentKind.SCORES, {}, [SystemRow("keel", number / 10)])
            store_judgments(connection, campaign, world.test_sets[PRIVATE], judged)
    work_off(service.settings)


def statements(world: World, client: TestClient, route: str) -> Counter[str]:
    """What a route asks the database, but for what only the first look at it asks."""
    address = address_of(route, world)
    client.get(address)
    with caught() as made:
        answer = client.get(address)
    # The only lead of a team is told why the account cannot be deleted.
    assert answer.status_code < 400 or answer.status_code == 409, (route, answer.text[:300])
    # Now and then it is noted that somebody was there.
    return Counter(statement for statement, _ in made if not statement.startswith("UPDATE"))


def test_a_larger_campaign_takes_no_more_statements(world: World) -> None:
    browsers = {role: world.browser(role) for role in WHO}
    grow(world, 0, 2)
    few = {
        (route, role): statements(world, browsers[role], route)
        for route in LOOKING
        for role in WHO
        if role in RULES[route].who
    }
    grow(world, 2, 6)
    wrong = {}
    for (route, role), before in few.items():
        after = statements(world, browsers[role], route)
        if after.total() != before.total():
            wrong[route, role] = (before.total(), after.total(), (after - before).most_common(3))
    assert not wrong, "\n".join(f"{key}: {value}" for key, value in wrong.items())
    assert max(each.total() for each in few.values()) <= MOST, sorted((v.total(), k) for k, v in few.items())[-9:]
