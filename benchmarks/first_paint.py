"""What pages of a campaign with a thousand submissions transfer, and how soon a browser paints them.

    python -m benchmarks.first_paint [--submissions 1000] [--teams 50] [--rounds 5]

A server of its own on loopback, over a SQLite file in which scores have been put as a campaign leaves them. Chromium
opens each page as a visitor or as its organiser: bytes of HTML, styles and scripts as they are before compression, and
its first contentful paint in three situations. `first` is the first page that a browser opens here, by a link of
another site: its cache is empty, and it starts a process for this site while it asks for the page. `blank` is the same
in an empty window, whose process Chromium gives up for another one only when the answer has come, since pages let no
other window reach them (Cross-Origin-Opener-Policy). `next` is opened in the window of another page, as by a link. Of
the first one there are also the time until the first byte, the CPU time of the server, with styles and scripts, and
that of style and layout in the browser. A page of one word, of a server that does nothing, is what this machine takes
for any page. The first round, which fills the server's caches, is left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright
from sqlalchemy import insert, select

from benchmarks.harness.web_service import served
from benchmarks.leaderboard_page import NAME, take
from campaigns.accounts.secrets import hash_of, new_secret
from models.database import migrate
from models.database.session import make_engine, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from models.schema.corpus import Submission
from models.schema.roles import SiteRole
from runtime.service_settings import WebSettings
from tests.web.browser.conftest import CHROMIUM, FLAGS
from web.dependencies import SESSION_COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from sqlalchemy import Engine

CAMPAIGN = f"/campaigns/{NAME}"
VISITOR = ("/", CAMPAIGN, f"{CAMPAIGN}/leaderboard", f"{CAMPAIGN}/leaderboard?shown=all", f"{CAMPAIGN}/matrix")
ORGANISER = (
    *("/queue", f"{CAMPAIGN}/submissions", f"{CAMPAIGN}/systems", f"{CAMPAIGN}/segments", f"{CAMPAIGN}/compare"),
    *(f"{CAMPAIGN}/metrics", f"{CAMPAIGN}/submit", f"{CAMPAIGN}/manage", f"{CAMPAIGN}/manage/live", "/submissions/1"),
    *(f"{CAMPAIGN}/ngrams", f"{CAMPAIGN}/breakdown", f"{CAMPAIGN}/systems/{{system}}", f"{CAMPAIGN}/manage/teams"),
)
BEFORE = "/about"
"""The page from which one comes to the next."""
LOOPBACK, ELSEWHERE = "127.0.0.1", "localhost"
"""Two names of this machine, which are two sites for a browser."""
HELLO = b"<!DOCTYPE html><html lang=en><title>Hello</title><p>Hello"
AIM_KILOBYTES, AIM_MILLISECONDS = 100, 200
SETTLED = 500
"""Milliseconds that a window stands still before the page is opened: a reader takes longer, and Chromium prepares a
process for the next site meanwhile."""
TICKS = os.sysconf("SC_CLK_TCK")
PAINTED = """() => new Promise((done) => {
  const seen = (list) => { if (list.getEntriesByName("first-contentful-paint").length) done(); };
  new PerformanceObserver(seen).observe({type: "paint", buffered: true});
})"""
"""Ends when something is painted. What is asked again and again in the page would be eval, which pages forbid."""
READ = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const loaded = performance.getEntriesByType("resource");
  const text = loaded.filter((each) => /\\.(css|js)$/.test(new URL(each.name).pathname));
  return {
    bytes: [page, ...text].reduce((sum, each) => sum + each.decodedBodySize, 0),
    html: page.decodedBodySize,
    waited: page.responseStart - page.requestStart,
    painted: (performance.getEntriesByName("first-contentful-paint")[0] || {}).startTime,
    loaded: page.loadEventEnd,
  };
}"""


def main() -> None:
    """Fill the tables and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--teams", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with ExitStack() as stack:
        url = f"sqlite:///{Path(stack.enter_context(tempfile.TemporaryDirectory())) / 'steelyard.db'}"
        migrate.upgrade(url)
        engine = make_engine(url)
        stack.callback(engine.dispose)
        take(engine, WebSettings(database_url=url), 0, options.submissions, 1000, teams=options.teams)
        secret, system = sign_in(engine)
        address, pid = stack.enter_context(served(url))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        stack.callback(browser.close)
        word = hello(stack)
        situations = {"first": word.replace(LOOPBACK, ELSEWHERE), "blank": "", "next": BEFORE}

        def measured(address: str, page: str, who: str) -> dict[str, list[dict[str, float]]]:
            return {
                name: [opened(browser, address, page, who, pid, before=before) for _ in range(options.rounds + 1)][1:]
                for name, before in situations.items()
            }

        floor = {name: f"{middle(each, 'painted'):.0f} ms" for name, each in measured(word, "/", "").items()}
        load = os.getloadavg()[0]
        print(f"{options.submissions:,} submissions of {options.teams} teams, medians of {options.rounds} rounds.")
        print(f"A page of one word: {floor['first']}, in an empty window {floor['blank']}, next {floor['next']}.")
        print(f"Load when it began: {load:.1f} of {os.cpu_count()} cores.\n")
        columns = ("page", "HTML", "with styles and scripts", "first byte", "server's CPU", "style, layout")
        print(f"| {' | '.join([*columns, *situations])} |")
        print("|---|---|---|---|---|---|---|---|---|")
        for page in (*VISITOR, *(each.format(system=system) for each in ORGANISER)):
            found = measured(address, page, "" if page in VISITOR else secret)
            first = {key: middle(found["first"], key) for key in found["first"][0]}
            report(page, first, [middle(each, "painted") for each in found.values()])


def hello(stack: ExitStack) -> str:
    """The address of a server that says one word."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(HELLO)))
            self.end_headers()
            self.wfile.write(HELLO)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((LOOPBACK, 0), Answer)
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{LOOPBACK}:{server.server_port}"


def middle(rounds: list[dict[str, float]], key: str) -> float:
    """The median of one figure."""
    return statistics.median(each[key] for each in rounds)


def sign_in(engine: Engine) -> tuple[str, int]:
    """The secret of a session of somebody who sees everything, and a system."""
    secret = new_secret()
    with writing(engine) as connection:
        person = {"email": "root@example.org", "name": "root", "role": SiteRole.ADMINISTRATOR}
        account = connection.execute(insert(Account).values(**person).returning(Account.id)).scalar_one()
        row = {"secret_hash": hash_of(secret), "account_id": account, "expires_at": now() + 86_400}
        connection.execute(insert(WebSession).values(**row))
        return secret, connection.scalars(select(Submission.system_id)).first() or 0


def opened(
    browser: Browser, address: str, page: str, secret: str, server: int, *, before: str = ""
) -> dict[str, float]:
    """What a browser with an empty cache says of a page, and milliseconds of CPU.

    It is the first page of its window, or the one after `before`.
    """
    context = browser.new_context(base_url=address)
    if secret:
        context.add_cookies([{"name": SESSION_COOKIE, "value": secret, "url": address}])
    window = context.new_page()
    if before:
        window.goto(before, wait_until="load")
    window.wait_for_timeout(SETTLED)
    tools = context.new_cdp_session(window)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    begun = cpu(server)
    answer = window.goto(page, wait_until="load")
    if answer is None or not answer.ok:
        raise SystemExit(f"{page}: {answer and answer.status}")
    window.evaluate(PAINTED)
    found: dict[str, Any] = window.evaluate(READ)
    taken = {each["name"]: 1000 * each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}
    context.close()
    styled = taken["RecalcStyleDuration"] + taken["LayoutDuration"]
    return {**found, "cpu": cpu(server) - begun, "styled": styled}


def cpu(process: int) -> float:
    """Milliseconds of CPU that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / TICKS


def report(page: str, first: dict[str, float], painted: list[float]) -> None:
    """A row of a Markdown table; what misses an aim is bold."""
    size = first["bytes"] / 1000
    shown = f"{size:.0f} kB" if size < AIM_KILOBYTES else f"**{size:.0f} kB**"
    paints = [f"{each:.0f} ms" if each <= AIM_MILLISECONDS else f"**{each:.0f} ms**" for each in painted]
    times = [f"{first[key]:.0f} ms" for key in ("waited", "cpu", "styled")]
    print(f"| `{page}` | {first['html'] / 1000:.0f} kB | {shown} | {' | '.join([*times, *paints])} |", flush=True)


if __name__ == "__main__":
    main()
