"""The pages as they are in the repository: metrics, paths, links between them, and examples that run."""

import re
import subprocess
import sys

import pytest

from steelyard.metrics.registry import all_metrics, learned_metrics
from steelyard.tokenizers.registry import TOKENIZERS
from tests.docs.conftest import ROOT

DOCS = {str(path.relative_to(ROOT)): path.read_text() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}


@pytest.mark.parametrize("metric", [*all_metrics(), *learned_metrics()], ids=lambda metric: metric.name)
def test_every_metric_has_a_page_with_its_source_columns_and_an_example(metric):
    page = DOCS[f"docs/reference/metrics/{metric.name}.md"]
    assert metric.source in " ".join(page.split())
    assert "\n## Example\n" in page, "a worked example is missing"
    assert re.search(r"\n## Differences from other implementations\n+[^#\s]", page), "differences are missing"
    assert f"<!-- generated: parameters {metric.name} -->" in page
    for column in metric().columns:
        assert re.sub(r"_\d+$", "", column) in page, f"the column {column} is not described"


def test_every_tokenizer_is_documented():
    for name in TOKENIZERS:
        assert f"`{name}`" in DOCS["docs/reference/metrics.md"]


def test_links_between_pages_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize("name", sorted(DOCS))
def test_every_path_in_the_docs_exists(name):
    rooms = (
        "alembic|analysis|benchmarks|campaigns|cli|demo|docker|docs|library|models|runtime|scheduler|tests|web|worker"
    )
    named = re.findall(rf"`((?:{rooms})/[\w./-]*)", DOCS[name])
    # Whoever starts the containers writes the first, and who follows the example the second.
    made = {"docker/.env", "models/queue/kinds/text_lengths.py"}
    named = [path for path in named if not re.search("NAME|SUBJECT|FOLDER|FAMILY", path)]
    lost = [path for path in named if path not in made and not (ROOT / path).exists()]
    assert not lost


def test_every_file_that_is_named_without_its_folder_exists():
    there = {path.name for path in ROOT.rglob("*.py") if not path.relative_to(ROOT).parts[0].startswith(".")}
    there.add("make_rankings.py")  # WMT's
    named = {(name, file) for name, text in DOCS.items() for file in re.findall(r"`(\w+\.py)[:`]", text)}
    assert not [(name, file) for name, file in sorted(named) if file not in there and name != "CHANGELOG.md"]


@pytest.mark.parametrize("name", sorted(DOCS))
def test_every_name_of_a_file_is_in_it(name):
    """Such as `models/queue/task_kind.py: claim`."""
    named = re.findall(r"`([\w/.]+\.\w+): (?:\w+\.)*(\w+)`", DOCS[name])
    lost = [f"{path}: {what}" for path, what in named if not re.search(rf"\b{what}\b", (ROOT / path).read_text())]
    assert not lost


def test_decisions_have_one_form():
    decisions = {name: text for name, text in DOCS.items() if re.search(r"/decisions/\d", name)}
    assert len(decisions) > 20
    for name, text in decisions.items():
        headings = [heading for heading in re.findall(r"^## (.*)$", text, re.MULTILINE) if heading != "Looked at again"]
        assert headings[0] == "Context", name
        assert headings[-2:] == ["Decision", "Consequences"], name


@pytest.mark.thorough
def test_every_threat_has_a_test_that_is_collected():
    section = DOCS["docs/explanation/security.md"].partition("## Threat model\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\d, ]+) \| ([STRIDE, ]+) \| .* \| `(tests/[\w/.:]+)` \|$", section, re.MULTILINE)
    assert len(rows) == section.count("\n|") - 2
    assert {int(flow) for flows, _, _ in rows for flow in flows.split(",")} == set(range(1, 12))
    assert set("STRIDE") == {kind for _, kinds, _ in rows for kind in kinds.split(", ")}
    named = sorted({test for _, _, test in rows})
    # Long ones are among them, which are left out unless they are asked for.
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "", *named]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = re.findall(r"^(tests/[\w/.]+::\w+)", ran.stdout, re.MULTILINE)
    assert not [test for test in named if not any(each == test or each.startswith(f"{test}::") for each in found)]


def test_every_finding_has_its_test():
    """Paths are those of the repository, or short ones, as the words before each table say."""
    rooms = ROOT, ROOT / "tests/web", ROOT / "tests/web/hostile"
    tables = DOCS["docs/explanation/security.md"].partition("## What people send")[2]
    cells = [row.rsplit("|", 2)[1].strip() for row in re.findall(r"^\|.*\|$", tables, re.MULTILINE)]
    rows = [re.findall(r"`([\w./]+)`", cell) for cell in cells if cell not in ("test", "---")]
    assert len(rows) > 60
    assert all(rows), "a finding without a test"
    paths = {path for row in rows for path in row if "/" in path or path.endswith(".py")}
    assert not [path for path in paths if not any((room / path).exists() for room in rooms)]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("README.md", "BLEU[1-2] = 79.06"),
        ("docs/reference/python.md", "nrefs:var|case:lc|eff:no|tok:intl|smooth:floor[0.10]"),
    ],
)
def test_the_python_of_a_page_runs(name, line, capsys):
    """Block after block, as a reader would type them."""
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", DOCS[name], re.DOTALL):
        exec(compile(example, name, "exec"), names)
    assert line in capsys.readouterr().out
