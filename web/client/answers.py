"""What a server tells, as dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Me:
    """Who asks."""

    signed_in: bool
    email: str = ""
    name: str = ""
    role: str | None = None
    scopes: tuple[str, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """Name of the team -> what the account is in it."""
