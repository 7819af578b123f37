"""The app behind a real server, and people with browsers."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Response

from tests.scheduler.jobs import work_off
from tests.service.service import DAY, Service
from tests.web.wire import served
from web.dependencies import SESSION_COOKIE

PATIENCE_MILLISECONDS = 120_000.0


@dataclass
class Site:
    """Where it is, who may use it, and what its pages complained of."""

    service: Service
    url: str
    browser: Browser
    stack: ExitStack
    complaints: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    """Parts of complaints that a test expects."""

    @classmethod
    def start(cls, database_url: str, browser: Browser, stack: ExitStack, port: int = 0, **settings: Any) -> Site:
        """On a port, by default any that is free, until the stack closes."""
        return cls.of(Service.start(database_url, stack, **settings), browser, stack, port)

    @classmethod
    def of(cls, service: Service, browser: Browser, stack: ExitStack, port: int = 0) -> Site:
        """A service that is there already, on a port."""
        port = stack.enter_context(served(service.app, port))
        return cls(service, f"http://127.0.0.1:{port}", browser, stack)

    def page(self, account_id: int | None = None, **options: Any) -> Page:
        """A new window, of nobody or of an account that is signed in. `options` are those of a Playwright context."""
        context = self.browser.new_context(base_url=self.url, **options)
        self.stack.callback(context.close)
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        if account_id is not None:
            secret = self.service.session(account_id)
            context.add_cookies(
                [
                    {
                        "name": SESSION_COOKIE,
                        "value": secret,
                        "url": self.url,
                        "httpOnly": True,
                        "sameSite": "Lax",
                        "expires": time.time() + DAY,
                    }
                ]
            )
        page = context.new_page()
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.complaints.append(f"script failed: {error}"))
        page.on("dialog", self._note_dialog)
        page.on("requestfailed", self._note_request)
        page.on("response", self._note_response)
        return page

    def work(self) -> None:
        """Measure everything that is queued now."""
        work_off(self.service.settings)

    def keep_picture(self, page: Page, file: Path) -> None:
        """A picture of the whole page, to be looked at."""
        page.screenshot(path=file, full_page=True)

    def raise_complaints(self) -> None:
        """Fail where a page broke the content policy, failed in a script or asked for what is not there."""
        wrong = [each for each in self.complaints if not any(part in each for part in self.allowed)]
        assert not wrong, "\n".join(wrong)

    def _note_console(self, message: ConsoleMessage) -> None:
        # What the content policy refuses is reported here only. A status is reported of all answers but 2xx and 3xx.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"a script of somebody else ran: {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Request) -> None:
        # Leaving a page breaks off what it still loads.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.complaints.append(f"{request.method} {request.url}: {request.failure}")

    def _note_response(self, response: Response) -> None:
        if not response.url.startswith(self.url):
            self.complaints.append(f"asked another server: {response.url}")
        if response.status >= 400 and not response.request.is_navigation_request():
            self.complaints.append(f"{response.status} {response.url}")
        if response.status >= 500:
            self.complaints.append(f"{response.status} {response.url}")
