"""Access tokens."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import Scope


class TokenResponse(Document):
    """A token, without its secret."""

    id: int
    """Its number."""
    name: str
    """Its purpose."""
    scopes: list[Scope]
    """What it permits."""
    created_at: Timestamp
    """When it was created."""
    used_at: Timestamp | None = Field(description="Time of its last use, to the minute.")
    expires_at: Timestamp | None
    """When it expires; null for never."""
    revoked_at: Timestamp | None
    """When it was revoked; null while it was not."""
    alive: bool = Field(description="Whether it is valid now.")


class AccountTokenCreate(Document):
    """A new token of an account."""

    name: str = Field(description="Its purpose, such as the machine that uses it.")
    scopes: list[str] = Field([Scope.READ, Scope.SUBMIT], max_length=20)
    """What it permits."""
    days: int = Field(90, description="Days until it expires.")


class TokenCreate(AccountTokenCreate):
    """A new token."""

    email: str = Field("", max_length=1000, description="For programs without a token: the address of the account.")
    password: str = Field("", max_length=1000, description="The password of that account.")


class TokenCreatedResponse(Document):
    """A new token; its secret cannot be shown again."""

    id: int
    """Its number."""
    token: str
    """The token itself; it cannot be shown again."""
