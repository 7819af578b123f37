"""Moves the theme's inline script and styles into files, for a content security policy that allows no inline code.

`steelyard serve` sends the built site with the policy of all its pages: `script-src 'self'; style-src 'self'`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
ATTRIBUTES = {'style="display: none;"': 'display="none"', 'style="opacity: 50%"': 'opacity="0.5"'}
"""Of pictures: SVG has attributes for both."""
INLINE = re.compile(r"<style|<script(?![^>]*\bsrc=)|<[^>]*\s(?:style|on[a-z]+)=")


class InlineCode(Exception):
    """A page has a script or a style that the policy forbids."""


def strict(page: str, root: str) -> tuple[str, dict[str, str]]:
    """A page without inline code, and the files that it names instead.

    Raises
    ------
    InlineCode
        If anything is left: the theme has changed.
    """
    files = {}
    for kind, pattern, tag in (
        ("theme.js", SCRIPT, '<script src="{}_static/theme.js"></script>'),
        ("theme.css", STYLE, '<link rel="stylesheet" href="{}_static/theme.css">'),
    ):
        found = pattern.findall(page)
        if len(found) > 1:
            raise InlineCode(f"There is more than one piece for _static/{kind}.")
        if found:
            files[kind] = found[0]
            page = pattern.sub(tag.format(root), page)
    for old, new in ATTRIBUTES.items():
        page = page.replace(old, new)
    if left := INLINE.search(page):
        raise InlineCode(f"The policy forbids {page[left.start() : left.start() + 200]!r}.")
    return page, files


def rewrite(app: Sphinx, error: Exception | None) -> None:
    """Rewrite all pages of the finished site."""
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    written: dict[str, str] = {}
    for path in site.rglob("*.html"):
        text, files = strict(path.read_text(), "../" * (len(path.relative_to(site).parts) - 1))
        for name, content in files.items():
            if written.setdefault(name, content) != content:
                raise InlineCode(f"{path} has another _static/{name} than the page before it.")
            (site / "_static" / name).write_text(content)
        path.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
