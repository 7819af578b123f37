"""What is printed of sweeps and nightly runs, to the letter.

A change that is meant is kept with `python -m tests.cli.printed.made_reports`.
"""

from __future__ import annotations

import pytest

from tests.cli.printed.made_reports import FILES, GOLDEN


@pytest.mark.parametrize("name", FILES)
def test_reports_are_what_they_were(name: str) -> None:
    assert "\n".join(FILES[name]()).split("\n== ") == (GOLDEN / f"{name}.txt").read_text().split("\n== ")
