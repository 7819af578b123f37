"""The page that says what a deletion takes away, and asks for the name of what is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from web.pages.rendering import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import Request, Response

    from campaigns.deletion.counts import Deletion
    from web.pages.forms import InvalidForm


def deletion_page(
    request: Request,
    found: Deletion,
    *,
    word: str,
    back: str,
    export: str = "",
    fields: Mapping[str, str] | None = None,
    invalid: InvalidForm | None = None,
    **values: Any,
) -> Response:
    """Render it. `word` is to be typed; `back` is where nothing is deleted, `export` where to save first."""
    return page(
        request,
        "deletion",
        status=invalid.status if invalid else 200,
        headers={"Cache-Control": "no-store"},
        title=f"Delete {found.subject}?",
        found=found,
        word=word,
        back=back,
        export=export,
        fields=dict(fields or {}),
        error=str(invalid) if invalid else "",
        **values,
    )
