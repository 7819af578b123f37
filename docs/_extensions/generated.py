"""Reference pages that come from the code: the line `<!-- generated: NAME -->` in a page becomes what the code says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import command_line
import http_api
import metrics
import settings

import client

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- generated: ([\w -]+) -->$", re.MULTILINE)
PARTS: dict[str, Callable[[], str]] = {
    "settings of all processes": settings.of_all_processes,
    "settings of the web service": settings.of_the_web_service,
    "client": client.sections,
    "command line": command_line.sections,
    "http api": http_api.sections,
    "metrics": metrics.table_of_all,
}
"""Name of a mark -> Markdown."""


def part(name: str) -> str:
    """The Markdown for one mark; `parameters METRIC` is the table of a metric's parameters."""
    word, _, metric = name.partition(" ")
    return metrics.parameters(metric) if word == "parameters" else PARTS[name]()


def insert(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Replace the marks of a page."""
    source[0] = MARK.sub(lambda mark: part(mark[1]), source[0])


def outdated(app: Sphinx, *_: object) -> list[str]:
    """The pages with marks: the code may have changed, so they are read at every build."""
    return [page for page in app.env.found_docs if MARK.search(app.env.doc2path(page).read_text())]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", insert)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
