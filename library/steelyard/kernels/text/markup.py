"""Whether a text has what must be looked at before it is cut or folded: most texts have nothing of it."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.kernels.bindings import kernel


class Markup(NamedTuple):
    """What `markup` found."""

    markup: bool
    """False where the text certainly has no `<skipped>`, `&quot;`, `&amp;`, `&lt;` or `&gt;`, in capitals or not."""
    sigma: bool
    """Whether it has a capital sigma, whose small letter depends on its neighbours."""


def markup(text: bytes) -> Markup:
    """What is in a text in UTF-8."""
    found = kernel("markup_find")(text)
    return Markup(bool(found & 1), bool(found & 2))
