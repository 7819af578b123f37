"""Pages that work without a server, a network and scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.reports.limits import NOTICES
from campaigns.reports.template import STYLE, rendered
from steelyard.metrics.metric import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.reports.section import Section


def render_page(title: str, sections: Sequence[Section], notices: Sequence[str] = (), *, subtitle: str = "") -> str:
    """Return a complete HTML page with these sections and, at its end, these notices."""
    from markupsafe import Markup

    style = Markup(STYLE.read_text(encoding="utf-8").strip())  # noqa: S704 - our own file
    page = rendered(
        "page",
        title=title,
        sections=sections,
        notices=notices[:NOTICES],
        left_out=max(len(notices) - NOTICES, 0),
        subtitle=subtitle,
        style=style,
        version=VERSION,
    )
    return str(page)
