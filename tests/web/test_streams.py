"""The limit on open streams, against a plain count of them, as they come and go in any order."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from random import Random

import pytest

from campaigns.errors import TooMany
from web.streams import RETRY_SECONDS, EventStreams

OWNERS = ("1", "2", "192.0.2.1")


@pytest.mark.parametrize(("most", "each"), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 2), (4, 9), (9, 2)])
def test_a_stream_is_counted_from_its_beginning_to_its_end(most: int, each: int) -> None:
    draw, streams = Random(10 * most + each), EventStreams(most, each)
    opened: list[tuple[str, ExitStack]] = []
    for _ in range(300):
        if opened and draw.random() < 0.4:
            opened.pop(draw.randrange(len(opened)))[1].close()
            continue
        owner = draw.choice(OWNERS)
        own = Counter(whose for whose, _ in opened)[owner]
        stack = ExitStack()
        if len(opened) >= most or own >= each:
            said = "Too many clients" if len(opened) >= most else f"already watching {own} "
            with pytest.raises(TooMany, match=said) as refused:
                stack.enter_context(streams.counted(owner))
            assert refused.value.retry_seconds == RETRY_SECONDS
        else:
            stack.enter_context(streams.counted(owner))
            opened.append((owner, stack))
    for _, stack in opened:
        stack.close()
    assert not streams._open, "nobody is remembered who watches nothing"


def test_a_stream_that_breaks_has_ended() -> None:
    streams = EventStreams(1, 1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), streams.counted("1"):
            raise ZeroDivisionError
