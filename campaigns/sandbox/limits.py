"""The bounds on texts that somebody sends, whatever they are for: outputs, test sets, corrections.

Tables of judgments are not unpacked, so the bound on an upload is theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from metrics.text.limits import STORING_LIMITS, TextLimits
from metrics.text.markup import DEFAULT_MARKUP_LIMITS, MarkupLimits

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """As the settings of the server have them; in the terms of those who read."""

    text: TextLimits
    markup: MarkupLimits
    segment_seconds: float
    """What a metric may be estimated to take for one segment."""


OWN = Limits(STORING_LIMITS, DEFAULT_MARKUP_LIMITS, math.inf)
"""For what lies on the machine of who asks: the command line's."""


def limits_of(settings: WebSettings) -> Limits:
    """The same for whoever sends something, and for whatever it is sent."""
    file_bytes = max(settings.unpacked_bytes, settings.upload_bytes)
    text = TextLimits(
        file_bytes=file_bytes,
        depth=settings.tree_depth,
        elements=settings.tree_elements,
        attributes=settings.tag_attributes,
        held_bytes=STORING_LIMITS.held_bytes,
    )
    markup = MarkupLimits(tags=settings.markup_tags, depth=settings.markup_depth, attributes=settings.tag_attributes)
    return Limits(text, replace(markup, file_bytes=min(markup.file_bytes, file_bytes)), settings.segment_seconds)
