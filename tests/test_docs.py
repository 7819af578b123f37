"""The docs say what is there: every verb, metric, parameter and setting, and examples that run."""

import re
from pathlib import Path

import pytest

from cli.main import parser
from runtime.service_settings import WebSettings
from steelyard.metrics.registry import METRICS
from steelyard.tokenizers.tokenizer import TOKENIZERS
from tests.described import descriptions

ROOT = Path(__file__).parents[1]
DOCS = {str(path.relative_to(ROOT)): path.read_text() for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}


def settings_rows() -> list[str]:
    """The rows of the table in docs/reference/settings.md."""
    rows, described = [], descriptions(WebSettings)
    for name, field in WebSettings.model_fields.items():
        default = "" if field.default in {None, ""} else f"`{field.default}`"
        text = " ".join(described[name].split()).replace("|", "\\|")
        rows.append(f"| `STEELYARD_{name.upper()}` | {default} | {text} |")
    return rows


def test_every_setting_is_documented_with_its_default():
    missing = [row for row in settings_rows() if row not in DOCS["docs/reference/settings.md"].splitlines()]
    assert not missing, "docs/reference/settings.md lacks these rows:\n" + "\n".join(missing)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_documented_with_its_parameters_and_columns(metric):
    page = DOCS[f"docs/reference/metrics/{metric.name}.md"]
    assert metric.source in " ".join(page.split())
    assert "\n## Example\n" in page, "a worked example is missing"
    assert re.search(r"\n## Differences from other implementations\n+[^#\s]", page), "differences are missing"
    assert f"[`{metric.name}`](metrics/{metric.name}.md)" in DOCS["docs/reference/metrics.md"]
    for field in metric.parameters():
        assert f"`{field.name}`" in page, f"the parameter {field.name} is not described"
    for column in metric().columns:
        assert re.sub(r"_\d+$", "", column) in page, f"the column {column} is not described"


def test_every_tokenizer_is_documented():
    for name in TOKENIZERS:
        assert f"`{name}`" in DOCS["docs/reference/metrics.md"]


def test_every_verb_is_documented():
    verbs = next(action for action in parser()._actions if action.choices and "score" in action.choices).choices
    everything = "\n".join(DOCS.values())
    for verb in verbs:
        assert f"steelyard {verb}" in everything, f"`steelyard {verb}` is in no page"


def test_the_readme_leads_to_every_page():
    pages = [path for path in DOCS if path.count("/") == 2]
    missing = [path for path in pages if f"({path}" not in DOCS["README.md"]]
    assert not missing, f"README.md does not list {missing}"


def test_the_readme_names_every_verb():
    verbs = next(action for action in parser()._actions if action.choices and "score" in action.choices).choices
    assert [verb for verb in verbs if f"`{verb}`" not in DOCS["README.md"]] == []


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
