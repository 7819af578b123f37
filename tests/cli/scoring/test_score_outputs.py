"""The formats of `steelyard score`: LaTeX, HTML and NIST's .scr, also for names that would break them."""

import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from cli.main import main
from tests.cli.latex_reader import tables

REFERENCE = ["The harbour is closed today.", "Nobody knows why, not even the pilot.", "It opens at 5.30 tomorrow."]
GOOD = ["The harbour is closed today.", "Nobody knows why, the pilot does not either.", "It opens tomorrow at 5.30."]
POOR = ["Harbour closed.", "No one know it.", "Opening at tomorrow 5,30"]
NAME = '<script>alert("1")</script> & 50 %_#{}~^\\ -- [x] שלום'
"""Of a system."""


@pytest.fixture
def score(tmp_path, capsys):
    """Runs `score` with a reference, a good system, a poor one under an evil name and a twin of it."""
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reference, good, poor = (str(tmp_path / f"{name}.txt") for name in ("ref", "good", "poor"))

    def run(form, *more):
        assert main(["score", reference, "-i", good, "--system", NAME, poor, poor, "-f", form, *more]) == 0
        return capsys.readouterr().out

    return run


class Page(HTMLParser):
    """The tables of a page as they are shown, and which elements it has."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self, source):
        super().__init__()
        self.open, self.elements, self.tables, self.text = [], [], [], []
        self.feed(source)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if {"th", "td"} & set(self.open):
            self.tables[-1][-1][-1] += data


ARGUMENTS = [
    [],
    ["--confidence", "50", "--segments"],
    ["--paired", "bootstrap", "--confidence", "50"],
    ["--paired", "randomization", "--trials", "40", "--all-pairs"],
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_latex_shows_what_the_text_says(score, arguments):
    found = tables(score("latex", *arguments))
    _, rows = found[0]
    assert rows[0] == ["System", "BLEU ↑", "chrF2 ↑", "TER ↓"]
    # Two single quotes are how LaTeX writes a double one.
    text = score("text", *arguments).replace('"', "''").splitlines()
    assert [re.split("  +", text[place].strip())[0] for place in (2, 3)] == [row[0] for row in rows[1:]]
    for row, line in zip(rows[1:], text[2:4], strict=True):
        assert [re.sub(r"\s+", " ", cell.replace("*", "")) for cell in row[1:]] == [
            re.sub(r"\s+", " ", each) for each in re.split(r"  +(?!\[)", line.removeprefix(row[0]).strip())
        ]
    assert len(found) == 2 + (3 if "--paired" in arguments else 0)


def test_latex_stresses_the_best(score):
    source = score("latex")
    assert len(re.findall(r"\\textbf", source)) == 3
    assert all("textbf" in line for line in source.splitlines() if line.startswith("good"))
    assert "^{*}" not in source


def test_the_star_stands_where_the_difference_is_more_than_chance(tmp_path, capsys):
    for name, lines in (("ref", REFERENCE), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines * 20) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.txt") for name in ("ref", "good", "poor", "good")]
    arguments = ["score", paths[0], "-i", *paths[1:], "-m", "chrf", "--paired", "randomization", "--trials", "200"]
    assert main([*arguments, "-f", "latex"]) == 0
    (caption, rows), *_ = tables(capsys.readouterr().out)
    assert caption == "Scores against 1 reference; * different from good, p below 0.05"
    assert ["*" in row[1] for row in rows[1:]] == [False, True, False]


def test_latex_compiles(score, tmp_path):
    """Where there is a LaTeX to try; everywhere else `latex_reader` must do."""
    found = shutil.which("pdflatex") and shutil.which("kpsewhich")
    if not found or subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode:
        pytest.skip("there is no pdflatex with booktabs")
    body = score("latex", "--paired", "bootstrap", "--all-pairs", "--confidence", "50").replace("שלום", "é č")
    preamble = "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}"
    (tmp_path / "page.tex").write_text(f"{preamble}\\begin{{document}}\n{body}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_the_page_is_whole_and_everything_is_escaped(score, arguments):
    source = score("html", *arguments)
    page = Page(source)
    assert source.startswith("<!DOCTYPE html>")
    names = {tag for tag, _ in page.elements}
    assert not names & {"script", "link", "img", "iframe", "object"}
    assert "http" not in source
    assert "url(" not in source
    assert not any(attribute.startswith("on") for _, attributes in page.elements for attribute in attributes)
    scores = page.tables[0]
    assert scores[2][0] == f"{NAME} (2 runs)"
    assert {len(row) for row in scores} == {4}
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = {attributes["aria-labelledby"] for _, attributes in page.elements if "aria-labelledby" in attributes}
    assert labels <= set(ids)
    assert all("scope" in attributes for tag, attributes in page.elements if tag == "th")
    assert all(attributes.get("dir") == "auto" for tag, attributes in page.elements if attributes.get("scope") == "row")
    # Every table is rectangular.
    assert all(len({len(row) for row in table}) == 1 for table in page.tables)


def test_the_page_has_every_table(score):
    page = Page(score("html", "--confidence", "50", "--segments", "--paired", "bootstrap", "-m", "bleu"))
    headers = [table[0] for table in page.tables]
    assert headers[0] == ["System", "BLEU"]
    assert headers[1][:3] == ["System", "Runs", "Metric"]
    assert headers[2] == ["System", "Difference", "p", "Corrected p", "Direction"]
    assert headers[3] == ["Segment", "System", "BLEU"]
    assert headers[4][0] == "System"
    assert len(page.tables[3]) == 1 + 3 * 3
    assert "BLEU|nrefs:1|bs:50" in "".join(page.text)


def test_the_documented_output_is_what_the_command_prints(real_data, capsys, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "reference" / "score.md").read_text()
    command, output = re.search(
        r"```\n(steelyard score refs/B.*?)```\n\non WMT22 en-cs gives\n\n```\n(.*?)```", page, re.S
    ).groups()
    monkeypatch.chdir(real_data / "wmt22.en-cs")
    assert main(command.replace("\\\n", " ").split()[1:]) == 0
    assert capsys.readouterr().out == output


def scr_lines(capsys):
    """The fields of what was printed, the last one a number."""
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    return [[*line[:-1], float(line[-1])] for line in lines]


def test_scr_has_a_line_for_each_system_with_scores_from_0_to_1(score):
    lines = [line.split("\t") for line in score("scr", "-m", "bleu").splitlines()]
    assert [len(line) for line in lines] == [3, 3]
    assert [line[:2] for line in lines] == [["set", "good"], ["set", re.sub(r"\s", "_", NAME)]]
    assert float(lines[0][2]) == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCE]).score / 100, rel=1e-12)


def test_scr_has_a_line_for_each_segment(score):
    lines = [line.split("\t") for line in score("scr", "-m", "bleu", "--segments").splitlines()]
    assert [line[3] for line in lines] == ["1", "2", "3"] * 3
    assert {line[2] for line in lines} == {"doc"}
    assert float(lines[0][4]) == pytest.approx(1.0)
    # Perl's and Python's readers divide at any white space.
    assert {len(" ".join(line).split()) for line in lines} == {5}


def test_scr_keeps_what_marked_files_say(tmp_path, capsys):
    marked = '<{0}set setid="test 1" srclang="cs" trglang="en">{1}</{0}set>'
    documents = '<doc docid="d.7" sysid="{0}"><seg id="4">a b c d e</seg><seg id="9">f g h i</seg></doc>'
    for kind, system in (("ref", "r"), ("tst", "s")):
        (tmp_path / f"{kind}.sgm").write_text(marked.format(kind, documents.format(system)))
    arguments = ["score", str(tmp_path / "ref.sgm"), "-i", str(tmp_path / "tst.sgm"), "-m", "bleu", "-f", "scr"]
    assert main(arguments) == 0
    assert scr_lines(capsys) == [["test_1", "s", pytest.approx(1.0)]]
    assert main([*arguments, "--segments"]) == 0
    assert scr_lines(capsys) == [["test_1", "s", "d.7", segment, pytest.approx(1.0)] for segment in "49"]


def test_scr_holds_one_metric(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("a\n")
    assert main(["score", str(tmp_path / "a.txt"), "-i", str(tmp_path / "a.txt"), "-f", "scr"]) == 2
    assert "-f scr holds the scores of one metric and does not name it; there are 3. Say -m." in capsys.readouterr().err


def test_scr_shows_what_is_undefined_and_what_has_no_end(tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "words.txt").write_text("one two three four five six\n")
    for name, metric in (("empty", "lebleu"), ("words", "nist")):
        path = str(tmp_path / f"{name}.txt")
        assert main(["score", path, "-i", path, "-m", metric, "-f", "scr"]) == 0
        score = float(capsys.readouterr().out.split("\t")[2])
        assert math.isnan(score) if name == "empty" else score > 1
