"""Limits on texts that users send: outputs, test sets, corrections.

Tables of judgments are not unpacked, so the upload limit is enough for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.text.limits import STORING_LIMITS, TextLimits

if TYPE_CHECKING:
    from runtime.service_settings import WebSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in the server's settings, in the form that the readers take."""

    text: TextLimits
    markup: MarkupLimits
    segment_seconds: float
    """The longest estimated time of a metric for one segment."""


UNLIMITED = Limits(STORING_LIMITS, DEFAULT_MARKUP_LIMITS, math.inf)
"""For files on the user's own machine, read by the command line."""


def limits_of(settings: WebSettings) -> Limits:
    """Return the limits, the same for all users and purposes."""
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
