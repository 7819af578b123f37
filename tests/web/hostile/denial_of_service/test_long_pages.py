"""Pages that read whole texts: who asks for many at once waits for himself, and others do not."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from campaigns.inspection.segments import read_segments
from campaigns.permissions import CampaignAccess
from tests.service.inspected_campaign import Looked, look_at
from tests.service.service import Service

PATIENCE_SECONDS = 120.0
ROUTES = {"api": "/api/v1/campaigns/bay/segments", "pages": "/campaigns/bay/segments"}


@pytest.fixture
def bay(service: Service) -> Looked:
    return look_at(service)


@pytest.mark.parametrize("room", ROUTES)
def test_segments_are_made_for_one_request_of_an_account_at_a_time(
    bay: Looked, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty requests for outputs with long lines kept the server's threads; other pages took 17 s."""
    lock, most, now = threading.Lock(), Counter[int | None](), Counter[int | None]()
    together, go_on = [0], threading.Event()

    def slow(connection: Any, access: CampaignAccess, *more: Any) -> Any:
        whose = access.principal.account_id
        with lock:
            now[whose] += 1
            most[whose] = max(most[whose], now[whose])
            together[0] = max(together[0], now.total())
        assert go_on.wait(PATIENCE_SECONDS)
        try:
            return read_segments(connection, access, *more)
        finally:
            with lock:
                now[whose] -= 1

    monkeypatch.setattr(f"web.{room}.leaderboards.segments.read_segments", slow)

    def get(client: TestClient) -> int:
        return client.get(ROUTES[room]).status_code

    greedy, modest = bay.service.browser(bay.organiser), bay.service.browser(bay.gull)
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(get, greedy) for _ in range(5)]
        wait_until(lambda: now[bay.organiser] == 1)
        # Though the first account waits with four more.
        asked.append(threads.submit(get, modest))
        wait_until(lambda: now[bay.gull] == 1)
        asked.append(threads.submit(get, bay.service.client()))
        go_on.set()
        assert {each.result(PATIENCE_SECONDS) for each in asked} == {200}
    assert most == {bay.organiser: 1, bay.gull: 1, None: 1}
    assert together == [bay.service.settings.segment_pages]


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
