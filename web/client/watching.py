"""How far a submission is, told as it changes: by events, or by asking now and then where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from web.client.answers import Progress
from web.client.errors import ServerAway, TooMany, Unavailable
from web.client.events import parse_events
from web.client.shaping import shaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from web.client.transport import Transport

POLL_SECONDS = 2.0
"""Between two questions where the server has no stream left for us."""
PROGRESS, END = "progress", "end"


def watch(transport: Transport, submission: int, sleep: Callable[[float], None]) -> Iterator[Progress]:
    """Each state that it is in, until it changes no more. Raises Refused, and ServerAway where nobody comes back."""
    last, failures = "", 0
    while True:
        try:
            lines = transport.stream(
                "submissions", submission, "events", headers={"Last-Event-ID": last} if last else None
            )
            for event in parse_events(lines):
                last, failures = event.id, 0
                if event.name in (PROGRESS, END):
                    progress = shaped(Progress, event.data)
                    yield progress
                    if progress.ended:
                        return
            # The server ends a stream after a while, and when it is started anew.
            failures += 1
            trouble: Exception = ServerAway(f"{transport.server} ends the stream of progress again and again.")
        except ServerAway as error:
            failures, trouble = failures + 1, error
        except (TooMany, Unavailable):
            progress = shaped(Progress, transport.get("submissions", submission)["progress"])
            yield progress
            if progress.ended:
                return
            sleep(POLL_SECONDS)
            continue
        wait = transport.patience.wait(failures, None)
        if wait is None:
            raise trouble
        sleep(wait)
