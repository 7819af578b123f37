"""Accounts, their sessions, and who asks."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import SiteRole


class MeResponse(Document):
    """The account of the token or session of a request."""

    signed_in: bool
    """Whether the request came with a valid token or session."""
    email: str
    """E-mail address of the account."""
    name: str
    """Name of the person."""
    role: str | None
    """Role on the server; null for visitors."""
    verified: bool
    """Whether the e-mail address is confirmed."""
    scopes: list[str]
    """What the token permits; all scopes in a session."""
    teams: dict[str, str]
    """Name of the team -> role of the account in it."""


class WaitingUpload(Document):
    """A received file of the account that waits to be processed."""

    before: int
    """How many files are processed before it; this can change, as accounts share the server fairly."""


Password = Field(max_length=1000, description="Ten to two hundred characters.")


class AccountResponse(Document):
    """An account."""

    id: int
    """Its number."""
    email: str
    """E-mail address of the account."""
    name: str
    """Name of the person."""
    role: SiteRole
    """Role on the server."""
    has_password: bool
    """Whether its owner has set a password."""
    verified_at: Timestamp | None = Field(description="When the address was confirmed.")
    disabled_at: Timestamp | None
    """When it was disabled; null while it may sign in."""
    created_at: Timestamp
    """When it was created."""


class AccountUpdatedResponse(AccountResponse):
    """The account after an update, and whether a confirmation mail was sent."""

    mailed: bool = Field(description="Whether the mail server accepted a mail with the link that confirms the address.")
    not_mailed: str = Field(
        description='Why no mail was sent to the new address; "" where one was sent, or none was needed.'
    )


class AccountUpdate(Document):
    """Changes to an account; omitted fields stay unchanged."""

    name: str | None = None
    """New name of the person."""
    email: str | None = None
    """New e-mail address; it must be confirmed."""
    password: str | None = Field(
        None, max_length=1000, description="The current password; required to change the address."
    )


class PasswordUpdate(Document):
    """The current password and the new one."""

    old: str = Password
    """The current password."""
    new: str = Password
    """The new password."""


class SessionResponse(Document):
    """A browser session of the account."""

    id: int
    """Its number."""
    created_at: Timestamp
    """When it began."""
    seen_at: Timestamp
    """When it was last used."""
    this: bool = Field(description="Whether it is the session of this request.")


class EndedSessionsResponse(Document):
    """The number of sessions that were ended."""

    ended: int
    """How many sessions were ended."""


class AccountCreate(Document):
    """A new account. Without a password its owner sets one with a link (`/accounts/{account_id}/password-link`)."""

    email: str = Field(max_length=1000)
    """E-mail address of the account."""
    name: str = Field(max_length=1000)
    """Name of the person."""
    role: SiteRole = SiteRole.PARTICIPANT
    """Role on the server."""
    password: str = Field("", max_length=1000, description="Its password; without one its owner sets it with a link.")
    verified: bool = False
    """Whether the address counts as confirmed."""


class AccountPasswordUpdate(Document):
    """The new password of an account."""

    password: str = Password
    """The new password."""


class AccountRightsUpdate(Document):
    """Changes to the role and state of an account; omitted fields stay unchanged."""

    role: SiteRole | None = None
    """New role on the server."""
    disabled: bool | None = None
    """Whether the account is disabled: it cannot sign in, and its tokens are invalid."""
    verified: bool | None = Field(None, description="True to confirm the address; this is irreversible.")


class PasswordLinkResponse(Document):
    """A link for setting a password. It works once and cannot be shown again."""

    link: str
    """The link; it cannot be shown again."""
    seconds: float
    """How long it can be used, in seconds."""
