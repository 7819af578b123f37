"""`steelyard check`, and what `submit` and `evaluate` say of outputs."""

import json
import shutil
from html import escape
from pathlib import Path

import pytest

from cli.campaigns.noticed import folder_warnings, notices_of_documents
from steelyard.checks.language import has_identifier
from steelyard.commands.errors import CommandError
from steelyard.formats.campaign.campaigns import read_any_campaign
from tests.cli.status import status_of
from tests.library.formats.test_layered_folders import treex

DEMO = Path(__file__).parents[3] / "demo" / "harbour"


@pytest.fixture
def check(tmp_path, capsys):
    """Runs the command on these lines: (status, output, errors)."""

    def run(lines: list[str], *arguments: str):
        (tmp_path / "out.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        status = status_of(["check", str(tmp_path / "out.txt"), *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture
def lines() -> list[str]:
    return (DEMO / "systems" / "anchor.txt").read_text(encoding="utf-8").split("\n")[:-1]


BESIDE = (
    "--source",
    str(DEMO / "source.txt"),
    "--reference",
    str(DEMO / "refs" / "A.txt"),
    str(DEMO / "refs" / "B.txt"),
)


def test_nothing_is_odd_about_a_good_output(check, lines):
    assert check(lines, *BESIDE, "--strict") == (0, "No problems found.\n", "")


def test_warnings_are_reported_and_are_no_errors_unless_one_wants_them_to_be(check, lines):
    shifted = [*lines[1:], lines[-1]]
    status, out, _ = check(shifted, *BESIDE)
    assert (status, out.split(":")[0], out.rstrip()[-9:]) == (0, "warning", "[shifted]")
    assert check(shifted, *BESIDE, "--strict")[0] == 1
    status, out, _ = check(shifted, *BESIDE, "-f", "json")
    assert [each["code"] for each in json.loads(out)] == ["shifted"]


def test_what_cannot_be_scored_is_an_error(check, lines):
    status, out, _ = check(lines[1:], *BESIDE)
    assert status == 1
    assert out.startswith("fatal: The output has 119 lines, but the test set has 120 segments: 1 fewer.")


def test_it_wants_something_to_look_at(check, lines, tmp_path):
    assert check(lines)[0] == 2
    (tmp_path / "short.txt").write_text("one\n")
    status, _, err = check(lines, "--reference", str(DEMO / "refs" / "A.txt"), str(tmp_path / "short.txt"))
    assert (status, "119 fewer" in err) == (1, True)


def test_a_language_is_checked_only_where_it_can_be_identified(check, lines, monkeypatch):
    monkeypatch.setattr("steelyard.checks.language.find_spec", lambda _: None)
    assert check(lines, *BESIDE)[0] == 0
    status, _, err = check(lines, *BESIDE, "--target-language", "en")
    assert (status, "steelyard[langid]" in err) == (2, True)


def test_a_language_that_files_name_is_not_checked_where_it_cannot_be_which_is_said(tmp_path, capsys, monkeypatch):
    for name in ("ref", "out"):
        (tmp_path / f"{name}.treex").write_text(treex("cs"))
    monkeypatch.setattr("steelyard.checks.language.find_spec", lambda _: None)
    assert status_of(["check", str(tmp_path / "out.treex"), "--reference", str(tmp_path / "ref.treex")]) == 0
    assert capsys.readouterr().err == (
        "note: The language of the output was not checked; that needs the package that identifies languages: "
        'pip install "steelyard[langid]".\n'
    )


@pytest.mark.skipif(not has_identifier(), reason="needs steelyard[langid]")
@pytest.mark.parametrize("beside", ["--reference", "--source"])
def test_files_with_ids_name_the_languages(lines, beside, tmp_path, capsys):
    """The good output is English; a file that says so is as good, one that says Czech is the wrong one."""

    def check_as(language: str) -> list[str]:
        files = {"tst": (lines, "T"), "ref": (texts[0], "A"), "src": (texts[1], "")}
        for kind, (segments, system) in files.items():
            marked = "".join(f'<seg id="{at}">{escape(each)}</seg>' for at, each in enumerate(segments))
            target = "" if kind == "src" else f' trglang="{language}"'
            document = f'<doc docid="d" sysid="{system}">{marked}</doc>'
            (tmp_path / kind).write_text(f'<{kind}set setid="s" srclang="cs"{target}>{document}</{kind}set>')
        other = tmp_path / ("ref" if beside == "--reference" else "src")
        assert status_of(["check", str(tmp_path / "tst"), beside, str(other), "-f", "json"]) == 0
        return [each["code"] for each in json.loads(capsys.readouterr().out)]

    texts = [(DEMO / name).read_text(encoding="utf-8").split("\n")[:-1] for name in ("refs/A.txt", "source.txt")]
    assert check_as("en") == []
    assert check_as("cs") == ["language"]


def test_the_output_of_one_system_is_checked(tmp_path, capsys):
    document = '<doc docid="d" sysid="{}"><seg id="1">A boat.</seg></doc>'
    for name, kind, systems in (("ref", "ref", "A"), ("tug", "tst", "T"), ("two", "tst", "TR")):
        documents = "".join(map(document.format, systems))
        (tmp_path / name).write_text(f'<{kind}set setid="s" srclang="en" trglang="cs">{documents}</{kind}set>')
    ref, tug, two = (str(tmp_path / name) for name in ("ref", "tug", "two"))
    assert status_of(["check", tug, "--reference", ref]) == 0
    capsys.readouterr()
    assert status_of(["check", two, "--reference", ref]) == 1
    assert capsys.readouterr().err == f"steelyard: {two}: holds 2 systems. Give the output of one system.\n"


def test_a_campaign_is_looked_at_before_it_is_measured(lines, tmp_path):
    shutil.copytree(DEMO, tmp_path / "harbour")
    assert list(folder_warnings(read_any_campaign([str(tmp_path / "harbour")]))) == []
    (tmp_path / "harbour" / "systems" / "dory").mkdir()
    for run, output in (("1", lines), ("2", lines[::-1])):
        (tmp_path / "harbour" / "systems" / "dory" / f"{run}.txt").write_text(
            "\n".join(output) + "\n", encoding="utf-8"
        )
    (told,) = folder_warnings(read_any_campaign([str(tmp_path / "harbour")]))
    assert told.startswith("warning: dory/2: The lines of the output are in reverse order.")


def test_evaluate_looks_where_it_is_asked_to(lines, tmp_path, capsys):
    shutil.copytree(DEMO, tmp_path / "harbour")
    (tmp_path / "harbour" / "systems" / "dory.txt").write_text("\n".join(lines[::-1]) + "\n", encoding="utf-8")
    command = ["evaluate", str(tmp_path / "harbour"), "-m", "bleu", "--confidence", "0"]
    command += ["--database", f"sqlite:///{tmp_path / 'here.db'}", "--output", str(tmp_path / "report")]
    assert status_of([*command, "--check"]) == 0
    assert "warning: dory: The lines of the output are in reverse order." in capsys.readouterr().err
    assert status_of(command) == 0
    assert "reverse order" not in capsys.readouterr().err


def test_texts_that_are_too_large_are_not_checked(tmp_path, monkeypatch):
    folder = tmp_path / "harbour"
    (folder / "refs").mkdir(parents=True)
    (folder / "systems").mkdir()
    (folder / "refs" / "A.txt").write_text("one\ntwo\nthree\n")
    (folder / "systems" / "tug.txt").write_text("one\n\nthree\n")
    (folder / "systems" / "barge.txt").write_text("one\n\n" + "three " * 9 + "\n")

    def warned():
        found = folder_warnings(read_any_campaign([str(folder)]))
        return sorted({each.split(": ")[1] for each in found})

    assert warned() == ["barge", "tug"]
    monkeypatch.setattr("steelyard.checks.examined.MAX_BYTES", 20)
    assert warned() == ["tug"]
    monkeypatch.setattr("steelyard.checks.examined.MAX_BYTES", 9)
    assert warned() == []


def test_few_documents_are_a_reason_to_say_so(tmp_path):
    folder = tmp_path / "harbour"
    (folder / "refs").mkdir(parents=True)
    (folder / "systems").mkdir()
    for place in ("refs/A.txt", "systems/tug.txt"):
        (folder / place).write_text("one\ntwo\n")
    with pytest.raises(CommandError) as refused:
        notices_of_documents(read_any_campaign([str(folder)]))
    assert str(refused.value) == (
        "harbour: its files name no documents, so --resample document is impossible. Add docs.tsv with the columns "
        "segment and doc_id, or leave the option out."
    )
    (folder / "docs.tsv").write_text("segment\tdoc_id\n0\ta\n1\tb\n")
    (told,) = notices_of_documents(read_any_campaign([str(folder)]))
    assert told == (
        "harbour: There are only 2 documents: resampling so few makes intervals too narrow and p-values too small."
    )
    for place in ("refs/A.txt", "systems/tug.txt"):
        (folder / place).write_text("one\n" * 200)
    (folder / "docs.tsv").write_text("segment\tdoc_id\n" + "".join(f"{n}\td{n}\n" for n in range(200)))
    assert notices_of_documents(read_any_campaign([str(folder)])) == []
