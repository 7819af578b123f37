"""Somebody who sits at a terminal."""

import io
import sys

import pytest


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Somebody sits at a terminal and types this."""

    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard(text))
