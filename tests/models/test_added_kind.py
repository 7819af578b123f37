"""The kind of task that docs/how-to/tasks.md adds: its code is taken from there."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "tasks.md").read_text()


def blocks() -> dict[str, str]:
    """The code of the page by the file that each belongs to."""
    return dict(re.findall(r"`([\w/]+\.py)`[^`\n]*(?:`[^`\n]*`[^`\n]*)*:\n\n```python\n(.*?)```", PAGE, re.DOTALL))


def test_the_kind_of_the_docs_has_all_that_the_others_have(sqlite_url: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.models.added_kind", sqlite_url, json.dumps(blocks())]
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
        "taken back": ["pending", None, "worker gone stopped responding."],
        "lost": ["pending", None, "its process died."],
        "failed": ["failed", None, "ValueError: no such thing"],
        "counted": [1.0, 3.0],
        "deleted": 2,
    }
