"""Watches the progress of a submission: by server-sent events, or by polling where no stream is available."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard_client.documents.submissions import ProgressResponse
from steelyard_client.errors import ServerUnreachable, TooMany, Unavailable
from steelyard_client.events import parse_events
from steelyard_client.reading import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard_client.transport import Transport

POLL_SECONDS = 2.0
"""Polling interval where the server has no free stream."""
PROGRESS, END = "progress", "end"


def watch(transport: Transport, submission: int, sleep: Callable[[float], None]) -> Iterator[ProgressResponse]:
    """Yield each progress until the submission has ended. Raises Refused, and ServerUnreachable if retries fail."""
    last, failures = "", 0
    while True:
        try:
            lines = transport.stream(
                "submissions", submission, "events", headers={"Last-Event-ID": last} if last else None
            )
            for event in parse_events(lines):
                last, failures = event.id, 0
                if event.name in (PROGRESS, END):
                    progress = decode(ProgressResponse, event.data)
                    yield progress
                    if progress.ended:
                        return
            # The server ends a stream after a while, and when it restarts.
            failures += 1
            failure: Exception = ServerUnreachable(f"{transport.server} keeps closing the stream of progress.")
        except ServerUnreachable as error:
            failures, failure = failures + 1, error
        except (TooMany, Unavailable):
            progress = decode(ProgressResponse, transport.get("submissions", submission)["progress"])
            yield progress
            if progress.ended:
                return
            sleep(POLL_SECONDS)
            continue
        wait = transport.patience.wait(failures, None)
        if wait is None:
            raise failure
        sleep(wait)
