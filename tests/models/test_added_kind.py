"""The kind of task that docs/how-to/tasks.md adds: its code is taken from there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "tasks.md").read_text()


def blocks() -> dict[str, str]:
    """The code of the page by the file that each belongs to."""
    return dict(re.findall(r"`([\w/]+\.py)`[^`\n]*(?:`[^`\n]*`[^`\n]*)*:\n\n```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("cost", ["    cost=lambda _settings: 0.1,\n", ""], ids=["in the window", "at once"])
def test_the_kind_of_the_docs_has_all_that_the_others_have(sqlite_url: str, cost: str) -> None:
    code = blocks()
    kind = "models/queue/kinds/text_lengths.py"
    code[kind], replaced = re.subn(r"    cost=.*\n", cost, code[kind])
    assert replaced == 1
    command = [sys.executable, "-W", "error", "-m", "tests.models.added_kind", sqlite_url, json.dumps(code)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    words = found.pop("words")
    assert words > 0
    assert "count_words" in found.pop("known")
    assert found == {
        "sent": [["count_words", 1], ["count_words", 2], ["count_words", 3]],
        "done": ["done", words, None],
        "shown": [[0, 1, 1]],
        "astray": ["text_lengths"],
        "reclaimed": ["pending", None, "worker gone stopped responding."],
        "lost": ["pending", None, "its process died."],
        "failed": ["failed", None, "ValueError: no such thing"],
        "counted": [1.0, 3.0],
        "deleted": 2,
    }
