"""The principal of a request: an account by a browser's session or a program's token, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, select, update

from campaigns.accounts.secrets import hash_of
from campaigns.errors import Forbidden, NotSignedIn
from models.audit import write_audit
from models.schema.accounts import Account, ApiToken, Membership, Team, WebSession
from models.schema.base import now
from models.schema.column_types import known, read_as
from models.schema.roles import Scope, SiteRole, TeamRole
from runtime.service_settings import Lifetime

SEEN_SECONDS = 60.0
"""Resolution of the time of last use of a session or token: viewing a page should write nothing."""

EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a request."""

    account_id: int | None = None
    email: str = ""
    name: str = ""
    role: SiteRole | None = None
    """None if not signed in."""
    verified: bool = False
    scopes: frozenset[Scope] = frozenset()
    session_id: int | None = None
    token_id: int | None = None
    teams: Mapping[str, TeamRole] = field(default_factory=dict)
    """The teams that the account is in, by name."""
    address: str = ""

    @property
    def signed_in(self) -> bool:
        """Whether the principal is an account, or the command line on the database."""
        return self.role is not None

    @property
    def administrates(self) -> bool:
        """Whether it may see and do everything."""
        return self.role == SiteRole.ADMINISTRATOR

    @property
    def may_create_campaigns(self) -> bool:
        """Whether it may create campaigns."""
        return self.role in (SiteRole.ADMINISTRATOR, SiteRole.ORGANISER)

    def require(self, scope: Scope) -> None:
        """Check that the principal may do something of a scope.

        Raises
        ------
        NotSignedIn
            If nobody is signed in.
        Forbidden
            If its token does not have the scope.
        """
        if not self.signed_in:
            raise NotSignedIn
        if scope not in self.scopes:
            raise Forbidden(f'This token cannot be used to {scope}. Create one with the scope "{scope}".')

    def require_account(self, scope: Scope) -> int:
        """Return the account's id. Raises as `require`, and Forbidden for the command line."""
        self.require(scope)
        if self.account_id is None:
            raise Forbidden("Only an account can do that. Use a server with your token, or the database --as ACCOUNT.")
        return self.account_id

    def audit(
        self, connection: Connection, action: str, subject: str, *, campaign_id: int | None = None, **details: object
    ) -> None:
        """Write an audit log entry for a change made by this principal."""
        write_audit(
            connection,
            actor=self.email or "nobody",
            account_id=self.account_id,
            address=self.address,
            action=action,
            subject=subject,
            campaign_id=campaign_id,
            **details,
        )


NOBODY = Principal()

COMMAND_LINE = Principal(email="command line", role=SiteRole.ADMINISTRATOR, scopes=EVERY_SCOPE)
"""The user of `steelyard` on the server: may do everything; the audit log uses this name. It is no account."""


def principal_of_session(connection: Connection, secret: str, address: str = "") -> Principal:
    """Return the account signed in by the session with this secret; anonymous if it is expired or unknown."""
    return _principal(connection, WebSession, secret, address)


def principal_of_token(connection: Connection, secret: str, address: str = "") -> Principal:
    """Return the account of the API token with this secret; anonymous if it is revoked, expired or unknown."""
    return _principal(connection, ApiToken, secret, address)


def principal_of_account(connection: Connection, account_id: int, *scopes: Scope) -> Principal:
    """Return an account as a token with these scopes makes it; anonymous if it is disabled or unknown."""
    row = connection.execute(
        select(Account.email, Account.name, Account.role, Account.verified_at).where(
            Account.id == account_id, Account.disabled_at.is_(None)
        )
    ).one_or_none()
    if row is None:
        return NOBODY
    return Principal(
        account_id=account_id,
        email=row.email,
        name=row.name,
        role=known(row.role, "The role of this account"),
        verified=row.verified_at is not None,
        scopes=frozenset(scopes),
        teams=_teams_of(connection, account_id),
    )


def record_use(connection: Connection, principal: Principal, lifetime: Lifetime) -> None:
    """Extend a session that is used, and record when a token was used; at most once a minute each."""
    if principal.session_id is not None:
        old = WebSession.id == principal.session_id, WebSession.seen_at < now() - SEEN_SECONDS
        unused, longest = now() + lifetime.unused_seconds, WebSession.created_at + lifetime.longest_seconds
        seen = {"seen_at": now(), "expires_at": case((longest < unused, longest), else_=unused)}
        connection.execute(update(WebSession).where(*old).values(**seen))
    if principal.token_id is not None:
        unseen = ApiToken.used_at.is_(None) | (ApiToken.used_at < now() - SEEN_SECONDS)
        connection.execute(update(ApiToken).where(ApiToken.id == principal.token_id, unseen).values(used_at=now()))


def _statement(
    table: type[WebSession] | type[ApiToken], *good: ColumnElement[bool], more: Sequence[ColumnElement[Any]] = ()
) -> Select[Any]:
    return (
        select(Account.id, Account.email, Account.name, Account.role, Account.verified_at, table.id.label("key"), *more)
        .join(Account, Account.id == table.account_id)
        .where(table.secret_hash == bindparam("secret_hash"), *good, Account.disabled_at.is_(None))
    )


# Built once: every request executes one of them, and building it takes as long.
_OF_SECRET = {
    WebSession: _statement(WebSession, WebSession.expires_at > now()),
    ApiToken: _statement(
        ApiToken,
        ApiToken.revoked_at.is_(None),
        ApiToken.expires_at.is_(None) | (ApiToken.expires_at > now()),
        more=[ApiToken.scopes],
    ),
}
_TEAMS = (
    select(Team.name, Membership.role)
    .join(Membership, Membership.team_id == Team.id)
    .where(Membership.account_id == bindparam("account_id"))
    .order_by(Team.name)
)


def _principal(
    connection: Connection, table: type[WebSession] | type[ApiToken], secret: str, address: str
) -> Principal:
    is_token = table is ApiToken
    row = connection.execute(_OF_SECRET[table], {"secret_hash": hash_of(secret)}).one_or_none()
    if row is None:
        return Principal(address=address)
    return Principal(
        account_id=row.id,
        email=row.email,
        name=row.name,
        role=known(row.role, "The role of this account"),
        verified=row.verified_at is not None,
        scopes=frozenset(read_as(Scope, each) for each in row.scopes) if is_token else EVERY_SCOPE,
        session_id=None if is_token else row.key,
        token_id=row.key if is_token else None,
        teams=_teams_of(connection, row.id),
        address=address,
    )


def _teams_of(connection: Connection, account_id: int) -> dict[str, TeamRole]:
    memberships = connection.execute(_TEAMS, {"account_id": account_id})
    return {each.name: each.role for each in memberships}
