"""Walks all pages and addresses of the API that somebody can reach, and looks for what must not be in any of them."""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from fastapi.testclient import TestClient

MOST_OF_A_KIND = 6
"""Addresses with the same path and fields of the query: sorted by all columns, a table says the same again."""
MOST = 600

LINKS = {"a": "href", "link": "href", "script": "src", "img": "src", "form": "action"}
SAFE_SCHEMES = frozenset({"", "http", "https", "mailto"})


@dataclass(frozen=True)
class Found:
    """An answer."""

    address: str
    status: int
    kind: str
    text: str
    """Its headers, an empty line and what is in it."""

    @property
    def is_page(self) -> bool:
        """Whether a browser shows it as one."""
        return self.kind.startswith("text/html")

    @cached_property
    def page(self) -> Page:
        """What is on it, read once for all who look: reading costs as much as the answer did."""
        return Page(self.text.partition("\n\n")[2])


class Page(HTMLParser):
    """What is on a page: where it leads, and what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.forms: list[tuple[str, str]] = []
        """Method and action."""
        self.faults: list[str] = []
        self.ids: Counter[str] = Counter()
        self.words: list[str] = []
        self._in_script = False
        self.feed(text)
        self.close()
        self.faults += [f"the id {each!r} is there {times} times" for each, times in self.ids.items() if times > 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        shown = f"<{tag} {given}>"
        for name, value in given.items():
            if name.startswith("on"):
                self.faults.append(f"{shown} has {name}")
            if name in ("style", "srcdoc"):
                self.faults.append(f"{shown} has {name}")
            if name in ("href", "src", "action", "formaction", "data", "xlink:href", "poster"):
                self._check_address(shown, value)
        if tag in ("style", "iframe", "object", "embed", "base", "applet"):
            self.faults.append(f"{shown} is there")
        if tag == "meta" and given.get("http-equiv", "").lower() not in ("", "refresh"):
            self.faults.append(f"{shown} is there")
        if tag == "script":
            self._in_script = True
            if not given.get("src", "").startswith("/static/"):
                self.faults.append(f"{shown} is not a file of ours")
        if tag == "img" and not given.get("src", "").startswith(("/static/", "data:image/")):
            self.faults.append(f"{shown} is not a file of ours")
        if "id" in given:
            self.ids[given["id"]] += 1
        if tag == "form":
            self.forms.append((given.get("method", "get").lower(), given.get("action", "")))
        elif LINKS.get(tag) in given:
            self.links.append(given[LINKS[tag]])

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.faults.append(f"a script in the page: {data[:80]!r}")
        self.words.append(data)

    def _check_address(self, shown: str, value: str) -> None:
        # Browsers skip white space and control characters in a scheme.
        scheme = re.sub(r"[\x00-\x20]", "", value).partition(":")[0].lower() if ":" in value.split("/")[0] else ""
        # Pictures, and the numbers of charts as tables.
        inert = scheme == "data" and value.startswith(("data:image/", "data:text/csv;charset=utf-8,"))
        if scheme not in SAFE_SCHEMES and not inert:
            self.faults.append(f"{shown} leads to {scheme}:")


def crawl(client: TestClient, starts: Sequence[str]) -> Iterator[Found]:
    """All that can be reached from some addresses by links, and by forms that only ask."""
    waiting, seen, kinds = [*dict.fromkeys(starts)], set(starts), Counter[Any]()
    while waiting and len(seen) < MOST:
        address = waiting.pop(0)
        found = ask(client, "GET", address)
        yield found
        if not found.is_page:
            continue
        for link in [*found.page.links, *(action for method, action in found.page.forms if method == "get")]:
            parts = urlsplit(urljoin(address, link))
            if parts.netloc not in ("", "testserver") or parts.scheme not in ("", "http"):
                continue
            # The site of the documentation is the same for everybody, and need not be built.
            if parts.path.startswith("/docs/"):
                continue
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            kind = parts.path, tuple(sorted(re.findall(r"(?:^|&)([^=&]*)", parts.query)))
            if target not in seen and kinds[kind] < MOST_OF_A_KIND:
                kinds[kind] += 1
                seen.add(target)
                waiting.append(target)


def ask(client: TestClient, method: str, address: str, **sent: Any) -> Found:
    """One answer, with what is in it: archives are unpacked, and headers that say where to go next belong to it."""
    answer = client.request(method, address, **sent)
    kind = answer.headers.get("Content-Type", "")
    if kind == "application/zip":
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            text = "\n".join(f"{name}\n{archive.read(name).decode('utf-8', 'replace')}" for name in archive.namelist())
    else:
        text = answer.content.decode("utf-8", "replace")
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items() if name != "set-cookie")
    return Found(address, answer.status_code, kind, f"{headers}\n\n{text}")


def api_addresses(description: Mapping[str, Any], values: Mapping[str, Sequence[object]]) -> list[str]:
    """All addresses of the API that are read, with every combination of what their parts may be."""
    addresses = []
    for path, operations in description["paths"].items():
        if "get" not in operations:
            continue
        parts = re.findall(r"{([^}:]+)[^}]*}", path)
        unknown = [part for part in parts if part not in values]
        assert not unknown, f"say in the world's `parts` what {unknown} of {path} may be"
        for chosen in itertools.product(*(values[part] for part in parts)):
            address = path
            for part, value in zip(parts, chosen, strict=True):
                address = re.sub(rf"{{{part}[^}}]*}}", str(value), address)
            addresses.append(address)
    return addresses
