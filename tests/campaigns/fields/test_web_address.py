"""Addresses of pages elsewhere that people type."""

import pytest

from campaigns.errors import BadRequest
from campaigns.fields.web_address import web_address


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (" https://example.org/paper.pdf?a=1#b ", "https://example.org/paper.pdf?a=1#b"),
        ("http://[::1]:8000/", "http://[::1]:8000/"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_pages_of_the_web_are_taken(given: str, taken: str) -> None:
    assert web_address(given, "The address", 100) == taken


@pytest.mark.parametrize(
    "given",
    [
        "http://[::1/",
        "https://[nonsense]/",
        "example.org",
        "//example.org/a",
        "javascript:alert(1)",
        "ftp://example.org/a",
        "https:///paper.pdf",
        "https://mary:secret@example.org/",
        "https://example.org@elsewhere.org/",
        *(f"https://example.org/a{each}b" for each in ' "<>\\^`{|}'),
    ],
)
def test_anything_else_is_refused_with_the_address(given: str) -> None:
    with pytest.raises(BadRequest) as refused:
        web_address(given, "The address of the paper", 100)
    assert str(refused.value) == (
        f"The address of the paper is {given!r}. Give the address of a page, such as https://example.org/paper.pdf."
    )
