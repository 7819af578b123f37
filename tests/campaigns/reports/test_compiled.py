"""Compiled templates are kept, and nothing old, broken or of nobody's leave is used or written."""

import sys
from pathlib import Path

import pytest
from jinja2 import Environment

from campaigns.reports.template import FOLDER, load_templates, make_environment
from campaigns.reports.template import _environment as template_environment


@pytest.fixture
def template(tmp_path: Path) -> Path:
    file = tmp_path / "page.html.j2"
    file.write_text("Hello {{ name }}")
    return file


def shown(template: Path) -> str:
    """By an environment that knows nothing yet."""
    return make_environment(template.parent).get_template(template.name).render(name="you")


def kept(template: Path) -> list[Path]:
    return list(template.parent.glob("__pycache__/*"))


def test_the_second_process_compiles_nothing(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert shown(template) == "Hello you"
    assert [file.name for file in kept(template)] == [f"page.html.{sys.implementation.cache_tag}.pyc"]
    monkeypatch.setattr(Environment, "_parse", None)
    assert shown(template) == "Hello you"


def test_a_template_that_was_changed_is_compiled_again(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    shown(template)
    template.write_text("Bye {{ name }}")
    assert shown(template) == "Bye you"
    kept(template)[0].write_bytes(kept(template)[0].read_bytes()[:-40])
    assert shown(template) == "Bye you"
    kept(template)[0].write_bytes(b"")
    assert shown(template) == "Bye you"


def test_where_python_may_not_write_neither_do_we(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert shown(template) == "Hello you"
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (template.parent / "__pycache__").touch()
    assert shown(template) == "Hello you"
    assert (template.parent / "__pycache__").is_file()


def test_templates_can_be_made_ready_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    load_templates()
    monkeypatch.setattr(Environment, "compile", None)
    for file in FOLDER.glob("*.j2"):
        assert template_environment().get_template(file.name).name == file.name
