"""`python -m benchmarks`: what runs, what it says that it ran, and what a failure leaves."""

import argparse
import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.__main__ import SECTIONS, main, passed_on, shown_command
from benchmarks.harness import campaign
from benchmarks.harness.campaign import SMALL, campaigns
from benchmarks.report.aims import AIMS
from benchmarks.report.page import DOCS, FIGURES, PAGE, read_figures, write_page
from benchmarks.report.section import Section


def options(**changed) -> argparse.Namespace:
    given = {"data": [], "reference": None, "rounds": 5, "quick": False}
    return argparse.Namespace(**given | changed)


@pytest.fixture
def docs(tmp_path):
    shutil.copy(DOCS / PAGE, tmp_path / PAGE)
    return tmp_path


def run_main(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    return main()


@pytest.mark.parametrize("name", SECTIONS)
def test_every_benchmark_has_a_section_and_a_description(name):
    module = importlib.import_module(f"benchmarks.{name}")
    assert callable(module.section)
    assert f"python -m benchmarks.{name}" in module.__doc__


def test_every_aim_names_a_benchmark_that_measures_it():
    assert {aim.section for aim in AIMS} <= {*SECTIONS}


def test_the_command_that_is_shown_names_no_folders_of_this_machine():
    given = options(data=[Path("/home/somebody/wmt22.en-cs"), Path("x")], reference="B", rounds=9)
    assert shown_command("warm", given) == "python -m benchmarks warm --data wmt22.en-cs x --reference B --rounds 9"
    assert shown_command("warm", options()) == "python -m benchmarks warm"


def test_options_are_passed_on():
    assert passed_on(options()) == ["--rounds", "5"]
    assert passed_on(options(reference="B", quick=True)) == ["--rounds", "5", "--reference", "B", "--quick"]


def test_unknown_names_are_refused(monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run_main(monkeypatch, "warmer")
    assert "there is no benchmark warmer" in capsys.readouterr().err


def fake(monkeypatch, sections: dict[str, Section]) -> None:
    """Processes that write these sections, or fail."""

    def status_of(arguments):
        name = arguments[2].removeprefix("benchmarks.")
        if name in sections:
            Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps(sections[name].as_json()))
        return 0 if name in sections else 1

    monkeypatch.setattr(command, "status_of", status_of)


def test_a_failure_leaves_what_was_there_and_others_go_on(monkeypatch, capsys, docs):
    fake(monkeypatch, {"warm": Section("warm", ["first"]), "cold": Section("cold", ["first"])})
    assert run_main(monkeypatch, "warm", "cold", "--docs", str(docs)) == 0
    fake(monkeypatch, {"cold": Section("cold", ["second"], {"bleu.ratio": 2.5})})
    assert run_main(monkeypatch, "warm", "cold", "--docs", str(docs)) == 1
    assert "left as they were: warm" in capsys.readouterr().err
    found = read_figures(docs)
    assert (found["warm"].section.parts, found["cold"].section.parts) == (["first"], ["second"])
    page = (docs / PAGE).read_text()
    assert "first" in page.split("<!-- bench:warm -->")[1].split("<!-- /bench:warm -->")[0]
    assert "| 2.50× | `cold` | met, and the stretch |" in page


def test_the_page_can_be_written_again_from_its_figures(monkeypatch, docs):
    fake(monkeypatch, {"warm": Section("warm", ["by the benchmark"])})
    assert run_main(monkeypatch, "warm", "--docs", str(docs)) == 0
    kept = (docs / FIGURES).read_text()
    written = (docs / PAGE).read_text()
    (docs / PAGE).write_text(written.replace("by the benchmark", "by hand"))
    fake(monkeypatch, {})
    assert run_main(monkeypatch, "--render", "--docs", str(docs)) == 0
    assert ((docs / PAGE).read_text(), (docs / FIGURES).read_text()) == (written, kept)


def test_the_page_of_the_project_is_what_its_figures_give(docs):
    """Nobody edits by hand what stands between the marks; new aims get in by `python -m benchmarks --render`."""
    shutil.copy(DOCS / FIGURES, docs / FIGURES)
    everything = read_figures(docs)
    if everything:
        write_page(docs, {name: each.markdown() for name, each in everything.items()})
    assert (docs / PAGE).read_text() == (DOCS / PAGE).read_text()
    for each in everything.values():
        for chart in each.section.charts:
            assert (DOCS / "images" / f"bench-{chart.name}.svg").exists()


def test_quick_campaigns_are_generated_and_small():
    (found,) = campaigns(argparse.Namespace(folders=[], reference=None, quick=True))
    assert (len(found.systems), found.segments) == SMALL
    assert found.source.exists()


@pytest.mark.parametrize("there", [True, False])
def test_real_data_are_taken_where_they_are_and_generated_ones_elsewhere(monkeypatch, tmp_path, there):
    monkeypatch.setattr(campaign, "DATA", tmp_path)
    monkeypatch.setattr(campaign, "USUAL", (2, 30))
    if there:
        campaign.write_campaign(tmp_path / "wmt22.de-en", 3, 20)
    campaign.usual_folders.cache_clear()
    try:
        (found,) = campaigns(argparse.Namespace(folders=[], reference=None, quick=False))
    finally:
        campaign.usual_folders.cache_clear()
    assert (found.name, len(found.systems)) == (("wmt22.de-en", 3) if there else ("generated", 2))


def test_settings_of_the_environment_do_not_reach_what_is_measured(monkeypatch, tmp_path):
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "postgresql://nobody@nowhere/x")
    monkeypatch.setenv("STEELYARD_MTEVAL", "kept")
    code = "import os, sys; print([n for n in os.environ if n.startswith('STEELYARD_')], file=open(sys.argv[1], 'w'))"
    assert command.status_of([sys.executable, "-c", code, str(tmp_path / "seen")]) == 0
    assert (tmp_path / "seen").read_text() == "['STEELYARD_MTEVAL']\n"
