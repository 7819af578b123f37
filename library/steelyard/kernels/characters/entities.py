"""Whether a text has what must be looked at before it is cut or folded: most texts have nothing of it."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.kernels.bindings import kernel


class Entities(NamedTuple):
    """What `find_entities` found."""

    entities: bool
    """False where the text certainly has no `<skipped>`, `&quot;`, `&amp;`, `&lt;` or `&gt;`, in capitals or not."""
    sigma: bool
    """Whether it has a capital sigma, whose small letter depends on its neighbours."""


def find_entities(text: bytes) -> Entities:
    """What is in a text in UTF-8."""
    found = kernel("find_entities")(text)
    return Entities(bool(found & 1), bool(found & 2))
