"""Markdown of organisers as HTML: CommonMark with tables, in which nothing of theirs is markup or runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMES = ("https://", "http://", "mailto:")
"""Of links: everything else stays text."""
DEEPEST = 10
"""Of what is in lists and quotations: more takes long and helps nobody."""
BLOCKS = frozenset({"paragraph_open", "heading_open", "list_item_open", "th_open", "td_open", "blockquote_open"})


def markdown(text: str, under: int = 2) -> Markup:
    """Render Markdown below a heading of the level `under`; its own headings skip no level.

    HTML in it is shown as text, and pictures are links.
    """
    tokens = _parser().parse(text)
    level = under
    for token in tokens:
        if token.type == "heading_open":
            level = min(6, level + 1, under + int(token.tag[1]))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{level}"
        _adapt(token)
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))  # noqa: S704 - HTML is off


def lead_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph and what follows it."""
    first, _, rest = text.replace("\r\n", "\n").strip().partition("\n\n")
    return first.strip(), rest.strip()


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable("table").disable("image")
    parser.validateLink = lambda url: url.lower().startswith(SCHEMES)  # type: ignore[method-assign]
    return parser


def _adapt(token: Token) -> None:
    if token.type in BLOCKS:
        token.attrSet("dir", "auto")
    children: Sequence[Any] = token.children or ()
    for child in children:
        if child.type == "link_open":
            # The organisers' links are not ours to recommend.
            child.attrSet("rel", "nofollow noopener noreferrer")
