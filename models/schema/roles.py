"""Roles of accounts, and properties of phases, by the words of the API."""

from __future__ import annotations

from steelyard_client.vocabulary import (
    CampaignRole as CampaignRole,
)
from steelyard_client.vocabulary import (
    DeclaredKind as DeclaredKind,
)
from steelyard_client.vocabulary import (
    Feedback as Feedback,
)
from steelyard_client.vocabulary import (
    Joining as Joining,
)
from steelyard_client.vocabulary import (
    LateRule as LateRule,
)
from steelyard_client.vocabulary import (
    PhaseKind as PhaseKind,
)
from steelyard_client.vocabulary import (
    Scope as Scope,
)
from steelyard_client.vocabulary import (
    SiteRole as SiteRole,
)
from steelyard_client.vocabulary import (
    SystemOrigin as SystemOrigin,
)
from steelyard_client.vocabulary import (
    TeamRole as TeamRole,
)
from steelyard_client.vocabulary import (
    Visibility as Visibility,
)
from steelyard_client.vocabulary import (
    Weights as Weights,
)
