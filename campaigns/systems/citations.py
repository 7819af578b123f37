"""BibTeX of campaigns and of systems."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

from steelyard_client.version import VERSION

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from campaigns.systems.listing import SystemView

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
MEDIA_TYPE = "application/x-bibtex"


def campaign_year(access: CampaignAccess) -> int:
    """Return the year of a campaign: that of its publication, or else of its last phase that has begun, or now."""
    phase = access.seeing_phase
    return datetime.fromtimestamp(phase.starts_at if phase else access.at, UTC).year


def cite_campaign(access: CampaignAccess, site: str) -> str:
    """Return BibTeX for the results of a campaign; `site` is the address of this server."""
    return _entry(
        f"{_key(access.name, 'campaign')}-results",
        title=f"Results of {{{_escaped(access.title)}}}",
        year=str(campaign_year(access)),
        howpublished=f"\\url{{{_address(site, access)}}}",
        note=f"Scored by Steelyard {VERSION}",
    )


def cite_system(access: CampaignAccess, system: SystemView, site: str) -> str:
    """Return BibTeX for a system of a campaign, with the address of its page, which stays."""
    whose = f" of {{{_escaped(system.team)}}}" if system.team else ""
    notes = [f"Scored by Steelyard {VERSION}"]
    if system.paper_url:
        notes.append(f"Described in \\url{{{_escaped_address(system.paper_url)}}}")
    return _entry(
        f"{_key(access.name, 'campaign')}-{_key(system.system, 'system')}-{system.id}",
        author=f"{{{_escaped(system.team or system.system)}}}",
        title=f"The System {{{_escaped(system.system)}}}{whose} in {{{_escaped(access.title)}}}",
        year=str(campaign_year(access)),
        howpublished=f"\\url{{{_address(site, access)}/systems/{system.id}}}",
        note=". ".join(notes),
    )


def _entry(key: str, **fields: str) -> str:
    inner = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{inner}\n}}\n"


def _key(name: str, default: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or default


def _escaped(text: str) -> str:
    """Text for TeX, on one line."""
    marked = (_SPECIAL.get(each, f"\\{each}" if each in "{}$&#_%" else each) for each in " ".join(text.split()))
    return "".join(marked)


def _address(site: str, access: CampaignAccess) -> str:
    return _escaped_address(f"{site}/campaigns/{quote(access.name, safe='')}")


def _escaped_address(address: str) -> str:
    r"""An address inside of \url, which takes everything but what would end it or a comment."""
    return re.sub(r"[%#]", lambda found: f"\\{found[0]}", address.replace("{", "%7B").replace("}", "%7D"))
