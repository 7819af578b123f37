"""What holds for every page: it fits any screen, is readable in both themes, needs no mouse and no eyes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (320, 768, 1440)
"""A small phone, a tablet, a wide screen; in pixels."""
HEIGHT = 900
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
"""WCAG 2.2, levels A and AA, and what axe's authors advise beside it."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

_axe = Axe()


def check_page(page: Page, path: str | None = None, *, status: int = 200) -> None:
    """Go there, and assert that the page fits three widths, and that axe finds nothing wrong in light and in dark."""
    if path is not None:
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        check_width(page)
        for scheme in SCHEMES:
            # Contrast is another in another theme, and targets are closer together on a phone; the rest is the same.
            if (width, scheme) != (WIDTHS[1], "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                check_accessible(page)
    page.emulate_media(color_scheme="light")


def check_width(page: Page) -> None:
    """Assert that nobody has to scroll the page sideways; regions of their own may scroll."""
    room, needed = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollWidth]")
    if needed > room:
        wide = page.evaluate(
            """room => [...document.querySelectorAll('body *')]
                .filter(each => each.getBoundingClientRect().right > room + 0.5 && !each.closest('.scroll'))
                .slice(0, 5).map(each => each.outerHTML.slice(0, 150))""",
            room,
        )
        raise AssertionError(f"{page.url} is {needed} wide on a screen of {room}:\n" + "\n".join(wide))


def check_accessible(page: Page, without: Sequence[str] = ()) -> None:
    """Assert that axe finds no violation."""
    options: dict[str, Any] = {
        "resultTypes": ["violations"],
        "runOnly": {"type": "tag", "values": [*RULES]},
        "rules": {rule: {"enabled": False} for rule in without},
    }
    # Its script is large, and so is all that it says of what is right.
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe.axe_script)
    found = page.evaluate("options => axe.run(document, options).then(found => found.violations)", options)
    told = [
        f"{each['id']} ({each['impact']}): {each['help']}\n  "
        + "\n  ".join(f"{node['target']} {node['html'][:200]}" for node in each["nodes"][:5])
        for each in found
    ]
    assert not told, f"{page.url}, {page.viewport_size}:\n" + "\n".join(told)
