"""The commands of the tutorials print what the tutorials say, one page after the other in one folder.

A block marked `console` is run; blocks of `sh` need a running server or a person. A line `...` stands for any lines.
"""

import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT

PAGES = ("score-files", "python", "campaign", "run-a-server", "first-submission")
"""In the order of docs/tutorials/index.md."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Commands and what each prints."""
    text = "".join(re.findall(r"```console\n(.*?)```", page, re.DOTALL))
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        if word := re.search(r"<<(\w+)$", command):
            document, _, printed = printed.partition(f"\n{word[1]}\n")
            command = f"{command}\n{document}\n{word[1]}\n"
        found.append((command, printed))
    return found


def matches(printed: str, expected: str) -> bool:
    """Whether the output is the expected one, blanks at the ends of lines aside."""
    lines = (r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + r"\n" for line in expected.splitlines())
    return re.fullmatch("".join(lines) + r"\n*", re.sub(r" +\n", "\n", printed)) is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder in which all of them run."""
    return tmp_path_factory.mktemp("tutorials")


def test_the_index_has_these_pages_in_this_order():
    index = (ROOT / "docs/tutorials/index.md").read_text()
    assert re.findall(r"^[\w-]+$", index, re.MULTILINE) == [*PAGES]


def test_the_commands_print_what_the_pages_say(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STEELYARD_")}
    environment |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "200"}
    for command, expected in chain(*(blocks((ROOT / f"docs/tutorials/{page}.md").read_text()) for page in PAGES)):
        ran = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"{command}\n{ran.stderr}"
        assert matches(ran.stdout, expected), f"{command}\n{ran.stdout}"


def test_the_tutorial_in_python_prints_what_it_says(monkeypatch, capsys):
    """Each block of `python`, and the block of `text` behind it."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    page = (ROOT / "docs/tutorials/python.md").read_text()
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(examples) == page.count("```python")
    for program, printed in examples:
        exec(compile(program, "python.md", "exec"), names)
        assert capsys.readouterr().out == printed
