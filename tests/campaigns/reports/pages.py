"""Reads a page as a strict browser would, and checks what every page must keep."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "br", "link", "img", "input", "hr"}
SVG_EMPTY = {"path", "use", "line", "circle", "rect"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Page(HTMLParser):
    """The elements of a page in order, each with its attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, int]] = []
        self.texts: dict[int, str] = {}
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice: {attrs}"
        self.elements.append((tag, dict(attrs)))
        self.texts[len(self.elements) - 1] = ""
        if tag not in VOID:
            self.open.append((tag, len(self.elements) - 1))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG_EMPTY | {"clippath", "g"} | VOID, f"<{tag}/> is no empty element of HTML"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        opened, _ = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"

    def handle_data(self, data: str) -> None:
        for _, number in self.open:
            self.texts[number] += data

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        """Attributes and text of every element of this name."""
        return [
            (attributes, self.texts.get(number, ""))
            for number, (name, attributes) in enumerate(self.elements)
            if name == tag
        ]

    def text(self, tag: str) -> list[str]:
        """The texts of every element of this name, white space folded."""
        return [" ".join(text.split()) for _, text in self.all(tag)]


def checked(text: str) -> Page:
    """The page, if it keeps what every page must keep."""
    page = Page(text)
    names = Counter(tag for tag, _ in page.elements)
    for forbidden in ("script", "iframe", "object", "embed", "link", "img", "form", "base", "foreignobject"):
        assert not names[forbidden], f"the page has <{forbidden}>"
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    for tag, attributes in page.elements:
        for key, value in attributes.items():
            assert not key.startswith("on"), f"{tag} has {key}"
            assert key != "style", f"{tag} has a style of its own"
            if key in {"href", "src", "xlink:href"}:
                # The numbers of a chart are a table in the page itself, which is saved and never opened.
                saved = tag == "a" and "download" in attributes and value.startswith("data:text/csv;charset=utf-8,")
                assert saved or value.startswith("#"), f"{tag} leads to {value}"
                assert saved or value[1:] in ids, f"{tag} leads nowhere: {value}"
            if key in {"aria-labelledby", "aria-describedby"}:
                assert set(value.split()) <= set(ids)
    assert "url(http" not in text
    assert "@import" not in text
    assert names["h1"] == names["main"] == names["title"] - names["svg"] == 1
    levels = [HEADINGS.index(tag) for tag, _ in page.elements if tag in HEADINGS]
    assert all(after - before <= 1 for before, after in pairwise(levels)), "a heading is skipped"
    assert names["table"] == names["caption"]
    assert all(attributes.get("scope") for attributes, _ in page.all("th"))
    for attributes, inside in page.all("svg"):
        assert attributes.get("role") == "img"
        # What is small and often there has no other text than its title, by which it is named.
        named = attributes.get("aria-label") or attributes.get("aria-labelledby")
        assert named or (attributes["class"] == "whisker" and inside.startswith("from "))
    for attributes, _ in page.all("div"):
        if attributes.get("class") == "scroll":
            assert (attributes["tabindex"], attributes["role"]) == ("0", "region")
            assert attributes["aria-label"]
    return page
