"""An app with a database of its own, and people who use it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from campaigns.accounts.secrets import hash_of, new_secret
from models.database.session import make_engine, writing
from models.schema.accounts import Account, ApiToken, Membership, Team, WebSession
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignMember, Participation, Phase
from models.schema.roles import CampaignRole, Feedback, PhaseKind, Scope, SiteRole, TeamRole, Visibility
from runtime.service_settings import WebSettings
from steelyard.text.names import folded
from tests.service.kept import keep_processes
from tests.service.rate_limits import first_minute_of_a_day
from web.app import create_app, prepare_routes
from web.dependencies import FORM_HEADER, SESSION_COOKIE, form_token

if TYPE_CHECKING:
    from fastapi import FastAPI
    from sqlalchemy import Engine
    from starlette.routing import BaseRoute

DAY = 86400.0
ROUTES: list[BaseRoute] = []
"""Those of the first app. They know no settings, and finding out what each wants takes a fifth of a second per app."""

keep_processes()


def app_with_routes(settings: WebSettings) -> FastAPI:
    """An app with the routes of the first one."""
    app = create_app(settings)
    if ROUTES:
        app.router.routes[:] = ROUTES
    else:
        # As a server does before it listens. In a request, beside a test that begins or ends, a warning that FastAPI
        # ignores by warnings.catch_warnings, which all threads share, comes through as an error.
        prepare_routes(app)
        ROUTES.extend(app.router.routes)
    return app


@dataclass
class Service:
    """The app and shortcuts to rows that a test needs."""

    settings: WebSettings
    engine: Engine
    app: Any
    stack: ExitStack
    _emails: dict[int, str] = field(default_factory=dict)

    @classmethod
    def start(cls, database_url: str, stack: ExitStack, **settings: Any) -> Service:
        """On a database with tables."""
        stack.enter_context(first_minute_of_a_day())
        known = WebSettings(database_url=database_url, **settings)
        return cls(known, make_engine(database_url), app_with_routes(known), stack)

    def client(self, **options: Any) -> TestClient:
        """A browser, or a program, without anybody behind it."""
        return self.stack.enter_context(
            TestClient(self.app, base_url="http://testserver", raise_server_exceptions=False, **options)
        )

    def account(self, name: str, role: SiteRole = SiteRole.PARTICIPANT) -> int:
        """A new account; its address is NAME@example.org."""
        row = {"email": f"{name}@example.org", "name": name, "role": role, "verified_at": now()}
        with writing(self.engine) as connection:
            return int(connection.execute(insert(Account).values(**row).returning(Account.id)).scalar_one())

    def session(self, account_id: int) -> str:
        """The secret of a new session, which its browser keeps as a cookie."""
        secret = new_secret()
        row = {"secret_hash": hash_of(secret), "account_id": account_id, "expires_at": now() + DAY}
        with writing(self.engine) as connection:
            connection.execute(insert(WebSession).values(**row))
        return secret

    def browser(self, account_id: int) -> TestClient:
        """A browser that is signed in, and sends what our forms send."""
        secret = self.session(account_id)
        return self.client(cookies={SESSION_COOKIE: secret}, headers={FORM_HEADER: form_token(secret)})

    def program(self, account_id: int, *scopes: Scope) -> TestClient:
        """A program with a token, by default for everything."""
        secret = new_secret()
        row = {
            "secret_hash": hash_of(secret),
            "account_id": account_id,
            "name": "test",
            "scopes": [*(scopes or Scope)],
        }
        with writing(self.engine) as connection:
            connection.execute(insert(ApiToken).values(**row))
        return self.client(headers={"Authorization": f"Bearer {secret}"})

    def team(self, name: str, *accounts: int) -> int:
        """A new team; the first account leads it."""
        with writing(self.engine) as connection:
            row = {"name": name, "folded_name": folded(name)}
            team = int(connection.execute(insert(Team).values(**row).returning(Team.id)).scalar_one())
            for place, account in enumerate(accounts):
                role = TeamRole.MEMBER if place else TeamRole.LEAD
                connection.execute(insert(Membership).values(team_id=team, account_id=account, role=role))
            return team

    def campaign(
        self,
        name: str,
        *,
        organisers: tuple[int, ...] = (),
        teams: tuple[int, ...] = (),
        visibility: Visibility = Visibility.PUBLIC,
        **values: Any,
    ) -> int:
        """A new campaign without phases; one that is there already gets these rules."""
        with writing(self.engine) as connection:
            known = connection.scalar(select(Campaign.id).where(Campaign.name == name))
            values = {"visibility": visibility, **values}
            if known is None:
                made = insert(Campaign).values(name=name, **values).returning(Campaign.id)
                known = int(connection.execute(made).scalar_one())
            else:
                table = Campaign.__table__
                connection.execute(table.update().where(Campaign.id == known).values(**values))
            for account in organisers:
                row = {"campaign_id": known, "account_id": account, "role": CampaignRole.ORGANISER}
                connection.execute(insert(CampaignMember).values(**row))
            for team in teams:
                taken = connection.scalar(
                    select(func.max(Participation.number)).where(Participation.campaign_id == known)
                )
                row = {"campaign_id": known, "team_id": team, "number": (taken or 0) + 1}
                connection.execute(insert(Participation).values(**row))
            return int(known)

    def phase(
        self,
        campaign_id: int,
        name: str,
        kind: PhaseKind,
        *,
        begins: float = -DAY,
        ends: float | None = None,
        feedback: Feedback = Feedback.FULL,
        **values: Any,
    ) -> int:
        """A phase that begins and ends so many seconds from now."""
        row = {
            "campaign_id": campaign_id,
            "name": name,
            "kind": kind,
            "starts_at": now() + begins,
            "ends_at": None if ends is None else now() + ends,
            "feedback": feedback,
            **values,
        }
        with writing(self.engine) as connection:
            return int(connection.execute(insert(Phase).values(**row).returning(Phase.id)).scalar_one())
