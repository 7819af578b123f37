"""Nothing that somebody may not see is in any answer, and nothing that somebody wrote is more than text on any page.

Every page that can be reached by links, and every address of the API, by people of every role.
"""

from __future__ import annotations

import pytest

from tests.web.hostile.crawling import Found, Page, api_addresses, ask, crawl
from tests.web.hostile.world import ROLES, World, hidden_from
from tests.web.hostile.world import SHORT as SCRIPT


def leaks(found: Found, role: str, world: World) -> list[str]:
    """What is in an answer that this role must not find."""
    # The way to where one signs in says what was asked for, and no more.
    asked = found.address if found.status == 303 else ""
    words = [word for word in hidden_from(role) if word in found.text and word not in asked]
    return words + [secret for secret in world.secrets(role) if secret in found.text and secret not in found.address]


# Who was disabled, or is in no team, sees what nobody sees.
@pytest.mark.parametrize("role", [each for each in ROLES if each not in ("disabled", "stranger")])
def test_pages_show_texts_as_text_and_only_to_whom_they_may_be_shown(seen_world: World, role: str) -> None:
    wrong, reached, escaped = [], 0, 0
    for found in crawl(seen_world.browser(role), seen_world.pages()):
        reached += found.status == 200
        if found.status >= 500:
            wrong.append(f"{found.address}: {found.status}")
        wrong += [f"{found.address} shows {each}" for each in leaks(found, role, seen_world)]
        if found.is_page:
            wrong += [f"{found.address}: {fault}" for fault in found.page.faults]
            words = found.page.words
            escaped += "<script>alert(1)</script>" in "".join(words)
            wrong += [f"{found.address} ran a template" for word in words if "'><a href" in word and ">x</a>49" in word]
    assert not wrong, "\n".join(sorted(set(wrong))[:50])
    # There was something to be escaped.
    assert reached > 3
    assert escaped or role == "nobody"


@pytest.mark.parametrize("role", ROLES)
def test_the_api_tells_nobody_what_is_not_for_them(seen_world: World, role: str) -> None:
    addresses = api_addresses(seen_world.service.app.openapi(), seen_world.parts())
    wrong = []
    client = seen_world.program(role)
    for address in addresses:
        found = ask(client, "GET", address)
        if found.status >= 500:
            wrong.append(f"{found.address}: {found.status}")
        if found.is_page:
            wrong.append(f"{found.address} is a page, and may hold script")
        wrong += [f"{found.address} shows {each}" for each in leaks(found, role, seen_world)]
    assert not wrong, "\n".join(sorted(set(wrong))[:50])


def test_the_crawler_finds_what_it_looks_for() -> None:
    for text, fault in (
        (f"<p>{SCRIPT}</p>", "script"),
        (f'<p title="{SCRIPT}">', "script"),
        ("<p onclick=x>", "onclick"),
        ("<p style='x'>", "style"),
        ("<a href=' java\tscript:x'>", "javascript:"),
        ("<script src=//evil/x.js></script>", "not a file of ours"),
        ("<script>x</script>", "not a file of ours"),
        ("<i id=a><i id=a>", "2 times"),
        ("<iframe>", "iframe"),
    ):
        assert fault in "\n".join(Page(text).faults), text
    assert not Page('<a href="/x?y=a:b">x</a><script src="/static/x.js"></script><p>&lt;script&gt;').faults
