"""What every command of the client asks a server for and prints, where the answers are made up from their types.

`python -m tests.cli.printed.asked_and_printed` writes tests/golden/printed anew: look at the difference.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote_plus
from zipfile import ZipFile, ZipInfo

import click
import httpx
from fastapi.routing import APIRoute

from cli.main import main
from steelyard_client import Client, RetryPolicy
from steelyard_client.commands import backend
from steelyard_client.commands.verbs import VERBS
from tests.cli.printed.made_documents import WORLDS, MadeUp
from tests.cli.test_options_are_asked_for import NEEDED, commands, prepare_files, words_of
from web.api.routers import all_routers

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "printed"
MOST = max(WORLDS)
"""The world in which options are tried."""
API = "/api/v1"
NOT_HERE = {"server", "database", "account", "yes", "help", "report", "wait", "set_password", "watch", "until_done"}
"""Options of whom a command asks, and those for which it asks somebody at the keyboard, or a database."""
MOST_REQUESTS = 30
"""Then a command waits for what never ends here."""
ALONG = {
    ("leaderboard", "trials"): ["--test", "randomization"],
    ("leaderboard", "average"): ["--group-by", "domain"],
    ("notice update", "kinds"): ["--by", "mail"],
    ("notice update", "off"): ["scored", "--by", "mail"],
}
"""What an option needs beside it."""
MORE = {
    "compare": [
        [],
        *(["--format", form] for form in ("csv", "json", "latex")),
        ["--baseline", "name-1", "--correction", "holm", "--alpha", "0.3"],
        ["--systems", "name-1", "name-2", "--metrics", "ter", "--by", "ter", "--width", "3"],
    ],
    # What is empty takes away what was there.
    "system update": [["mark-campaign", "mark-named", "--description", ""]],
    "leaderboard": [["--group-by", "domain"], ["--group-by", "document", "--average", "micro"]],
    "campaign correlate": [["--granularity", "segment"], ["--campaign", "name-1", "--baseline", "ter"]],
}
"""Command lines that show more."""
LOOKED_FOR = {
    "/test-sets": ("name", "mark-test_set"),
    "/phases": ("name", "mark-phase"),
    "/systems": ("system", "mark-named"),
    "/accounts": ("email", "mark-email"),
}
"""What command lines name, by the end of the path where it is listed: a field, and the value of the first item."""
WHOLE = ("text", "csv")
"""Formats that are kept as they are printed; of others a digest."""
ETAG = '"7"'


@cache
def routes() -> list[tuple[str, re.Pattern[str], Any]]:
    """Method, path and type of the answer of each route of the API."""
    return [
        (method, route.path_regex, route.response_model)
        for router in all_routers()
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


@cache
def some_files() -> bytes:
    """A zip, as exports are."""
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        about = {"left_out": ["raft"], "pairs": {"en-cs": {"left_out": ["mast"]}}}
        archive.writestr(ZipInfo("names.json"), json.dumps(about))
    return packed.getvalue()


class TooManyRequests(Exception):
    """A command asks again and again."""


class MadeUpServer:
    """Answers with documents of one world, and remembers what it was asked."""

    def __init__(self, world: int) -> None:
        self.world, self.made, self.asked = world, MadeUp(world), list[str]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if len(self.asked) == MOST_REQUESTS:
            raise TooManyRequests
        path, body = request.url.path.removeprefix(API), request.read().decode(errors="replace")
        boundary = request.headers.get("content-type", "").partition("boundary=")[2]
        if boundary:
            body = body.replace(boundary, "---").replace("\r\n", "\n")
        query = unquote_plus(request.url.query.decode())
        marks = [f"{key}: {request.headers[key]}" for key in ("if-match",) if key in request.headers]
        self.asked.append(" ".join(filter(None, (request.method, path + ("?" + query if query else ""), *marks, body))))
        for method, regex, kind in routes():
            if method == request.method and regex.match(path):
                if kind is None:
                    content = b"a text\n" if path.endswith("citation") else some_files()
                    return httpx.Response(200, content=content, headers={"ETag": ETAG})
                found = self.made.of(kind)
                if path == "/me" and self.world == MOST:
                    found["role"] = "administrator"
                if isinstance(found, dict) and "next" in found:
                    found["next"] = None
                    if found["items"] and (looked_for := LOOKED_FOR.get(path[path.rindex("/") :])):
                        found["items"][0].update([looked_for])
                    if wanted := request.url.params.get("email"):
                        found["items"] = [each for each in found["items"] if wanted in each.values()]
                return httpx.Response(200, json=found, headers={"ETag": ETAG})
        raise AssertionError(f"there is no route {request.method} {path}")


@contextmanager
def folder() -> Iterator[Path]:
    """An empty one of a known name, which some commands send."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch) / "here"
        here.mkdir()
        yield here


def run(words: list[str], world: int) -> tuple[list[str], list[str]]:
    """What a command line asks for, and what it prints."""
    server = MadeUpServer(world)

    @contextmanager
    def connected(*_: Any) -> Iterator[Client]:
        with Client("https://mt.example.org", transport=httpx.MockTransport(server), patience=RetryPolicy(tries=1),
                    sleep=lambda _: None) as client:  # fmt: skip
            yield client

    out, error = io.StringIO(), io.StringIO()
    with (
        folder() as here,
        chdir(here),
        mock.patch.object(backend, "connected", connected),
        mock.patch.object(backend, "sleep"),
        mock.patch.dict(os.environ, {"COLUMNS": "120"}),
        redirect_stdout(out),
        redirect_stderr(error),
    ):
        prepare_files(here)
        try:
            ended = str(main(words))
        except Exception as fault:  # a document that no server sends
            ended = f"{type(fault).__name__}: {fault}"
    printed = out.getvalue()
    if "--format" in words and words[-1] not in WHOLE:
        printed = f"{len(printed)} characters, {sha256(printed.encode()).hexdigest()[:16]}"
    lines = [f"  {each}" for each in printed.splitlines()]
    lines += [*(f"! {each}" for each in error.getvalue().splitlines()), *([f"= {ended}"] if ended != "0" else [])]
    return [f"> {each}" for each in server.asked], lines


def told(command_lines: Iterator[tuple[list[str], int]]) -> Iterator[str]:
    """Of each command line what it asks for and what it prints, unless that is what it prints without the option."""
    plain: list[str] = []
    first: list[str] = []
    for words, world in command_lines:
        asked, printed = run(words, world)
        shown = ["  (as above)"] if printed == plain else printed
        first = first or words
        if words == first:
            plain = printed
        yield "\n".join(map(str.rstrip, [f"$ steelyard {' '.join(words)}   [world {world}]", *asked, *shown])) + "\n"


def lines_of(name: str, command: click.Command) -> Iterator[tuple[list[str], int]]:
    """Command lines and worlds: plain in all of them, each option and format in one."""
    base = name.split()
    for each in command.params:
        if each.required:
            base += words_of(each)[0]
    base += NEEDED.get(name, [])
    base += ["--yes"] * any(each.name == "yes" for each in command.params)
    for world in WORLDS:
        yield base, world
    for each in command.params:
        if each.name == "format":
            for kind in each.type.choices:  # type: ignore[attr-defined]
                if kind != each.default:
                    yield [*base, "--format", kind], MOST
        elif each.name == "width":
            yield [*base, "--width", "7"], MOST
        elif not each.required and each.name not in NOT_HERE:
            yield [*base, *words_of(each)[0], *ALONG.get((name, str(each.name)), ())], MOST
            # What is empty takes away what was there, which is not the same as an option that was not given.
            if '""' in (getattr(each, "help", None) or ""):
                yield [*base, each.opts[0], "", *ALONG.get((name, str(each.name)), ())], MOST
    for more in MORE.get(name, ()):
        for world in WORLDS:
            yield [*name.split(), *more], world


def every_command() -> list[tuple[str, click.Command]]:
    """Those that the tests of options know, and `status`, by name: files may be imported in any order."""
    return sorted([*commands(), ("status", VERBS["status"].load())], key=itemgetter(0))


def file_of(noun: str) -> str:
    """All that the commands of a noun ask for and print."""
    known = [each for each in every_command() if each[0].split()[0] == noun]
    return "\n".join(part for each in known for part in told(lines_of(*each)))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for noun in {name.split()[0] for name, _ in every_command()}:
        (GOLDEN / f"{noun}.txt").write_text(file_of(noun))
