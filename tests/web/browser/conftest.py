"""A Chromium, and the app behind a real server on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.web.browser.site import Site

CHROMIUM = Path("/usr/bin/chromium")
# Containers have neither a sandbox nor a GPU; nothing of it may ask other machines for anything.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# As long as tests of this folder run: while Playwright is up, no other test of this process could start an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, started once."""
    if not CHROMIUM.exists():
        missing = f"there is no {CHROMIUM}: apt-get install chromium"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def site(browser: Browser, service_url: str) -> Iterator[Site]:
    """The app on a database of its own, served on loopback. What its pages complain of fails the test."""
    with ExitStack() as stack:
        made = Site.start(service_url, browser, stack)
        yield made
        made.raise_complaints()
