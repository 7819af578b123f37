"""What the fuzzer begins with, and what it once found, is read or refused."""

from __future__ import annotations

import pytest

from tests.fuzz.targets import TARGETS, examples, findings, try_one


@pytest.mark.parametrize("name", TARGETS)
def test_what_it_begins_with(name):
    for data in (b"", b"\0", b"\xff\xfe", *examples(name)):
        try_one(name, data)


@pytest.mark.parametrize(("name", "file"), findings(), ids=lambda value: str(getattr(value, "name", value)))
def test_what_it_found(name, file):
    try_one(name, file.read_bytes())
