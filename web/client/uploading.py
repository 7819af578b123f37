"""Files in pieces: where a connection breaks, also where this process ends, what has come is not sent again."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from web.client.answers import Upload
from web.client.errors import Conflict, NotThere
from web.client.shaping import shaped
from web.client.transport import path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from web.client.transport import Transport

PIECE_BYTES = 4 * 2**20
"""What is sent again at most when a connection breaks."""


def upload(
    transport: Transport,
    name: str,
    content: bytes,
    on_progress: Callable[[int, int], None] | None = None,
    *,
    piece_bytes: int = PIECE_BYTES,
) -> Upload:
    """Send a file; the finished upload, to be handed in by its id. `on_progress` hears bytes sent and bytes in all.

    One of this name and size that was begun and not finished is taken up where it stands: what it holds is compared
    with what was announced when it is handed in. Raises Refused, ServerAway.
    """
    begun = _begun(transport, name, len(content))
    known = begun or _announced(transport, name, content)
    while known.received < known.size:
        if on_progress is not None:
            on_progress(known.received, known.size)
        piece = content[known.received : known.received + piece_bytes]
        try:
            found = transport.ask(
                "PUT",
                path_of("uploads", known.id),
                params={"offset": known.received},
                content=piece,
                headers={"Content-Type": "application/octet-stream"},
            )
        except Conflict:
            # What we took for lost has come: it says how much.
            before = known.received
            known = shaped(Upload, transport.get("uploads", known.id))
            if known.received == before:
                raise
        else:
            known = shaped(Upload, found)
    if on_progress is not None:
        on_progress(known.size, known.size)
    return replace(known, taken_up=begun is not None)


def forget(transport: Transport, known: Upload) -> None:
    """Let the server forget an upload, if it has not done so."""
    with suppress(NotThere):
        transport.send("DELETE", path_of("uploads", known.id))


def _begun(transport: Transport, name: str, size: int) -> Upload | None:
    items = (shaped(Upload, each) for each in transport.get("uploads")["items"])
    return next((each for each in items if (each.name, each.size) == (name, size)), None)


def _announced(transport: Transport, name: str, content: bytes) -> Upload:
    said = {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return shaped(Upload, transport.ask("POST", "/uploads", json=said))
