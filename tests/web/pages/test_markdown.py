"""What organisers write in Markdown: formatted, and never markup or a script of theirs."""

from __future__ import annotations

import re
import time

import pytest

from web.pages.markdown import lead_and_rest, markdown


def test_what_it_is_for() -> None:
    made = markdown("# Task\n\nSee [the site](https://example.org) *now*:\n\n- one\n- two\n\n|a|b|\n|-|-|\n|1|2|")
    assert '<h3 dir="auto">Task</h3>' in made
    assert '<a href="https://example.org" rel="nofollow noopener noreferrer">the site</a> <em>now</em>' in made
    assert '<li dir="auto">one</li>' in made
    assert '<td dir="auto">1</td>' in made


def test_headings_skip_no_level() -> None:
    made = str(markdown("### A\n\n# B\n\n### C\n\n###### D", 1))
    assert re.findall(r"<(h\d)[^>]*>(.)</\1>", made) == [("h2", "A"), ("h2", "B"), ("h3", "C"), ("h4", "D")]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](data:text/html,x)",
        "[a](vbscript:x)",
        "[a](/sign-out)",
        "[a]( javascript:alert(1))",
        "[a][1]\n\n[1]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "![a](https://example.org/tracking.png)",
        '[a](https://example.org "\\" onmouseover=alert(1) x=\\"")',
        "```<script>\n</script>\n```",
        '# <h1 style="position:fixed">',
    ],
)
def test_nothing_of_theirs_is_markup(text: str) -> None:
    made = str(markdown(text))
    for wrong in (
        "<script",
        "<img",
        'href="j',
        'href="J',
        'href="data',
        'href="vb',
        'href="/',
        ' onmouseover="',
        "<h1",
    ):
        assert wrong not in made, made
    if "onmouseover" in made:
        assert "&quot; onmouseover" in made


@pytest.mark.parametrize("piece", ["[", "![", "> ", "*a_", "- ", "`", "<", "[a](", "|a", "&", "\\", "  - a\n", "**a*"])
def test_texts_that_are_made_to_take_long(piece: str) -> None:
    begin = time.process_time()
    markdown(piece * (20_000 // len(piece)))
    assert time.process_time() - begin < 5


def test_the_first_paragraph_leads() -> None:
    assert lead_and_rest("One\r\n\r\nTwo\n\nThree\n") == ("One", "Two\n\nThree")
    assert lead_and_rest("") == ("", "")
