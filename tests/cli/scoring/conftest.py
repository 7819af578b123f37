"""Small files for `mtrics`."""

from pathlib import Path

import pytest

from tests.cli.scoring.mtrics_output import CRANE, OTHER, REFERENCE, WINCH


@pytest.fixture
def crane_and_winch(tmp_path, monkeypatch):
    """Two references and two systems, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("ref", REFERENCE), ("other", OTHER), ("crane", CRANE), ("winch", WINCH)):
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")
