"""What people do wrong: a message that says what, where and what to do, and the right exit status."""

import gzip
import os
import subprocess
import sys

import pytest

from cli.main import main
from tests.cli.status import status_of


@pytest.fixture
def score(tmp_path, capsys):
    """Score one system's bytes against a reference's; exit status, standard error."""

    def run(reference: bytes, system: bytes, *arguments: str) -> tuple[int, str]:
        (tmp_path / "ref.txt").write_bytes(reference)
        (tmp_path / "sys.txt").write_bytes(system)
        status = status_of(["score", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "sys.txt"), *arguments])
        return status, capsys.readouterr().err

    return run


def test_wrong_line_counts_are_all_listed(score):
    status, message = score(b"a\nb\nc\n", b"a\nb\n")
    assert status == 1
    assert "ref.txt" in message
    assert "sys.txt" in message
    assert "3" in message
    assert "2" in message
    assert "Traceback" not in message


def test_broken_utf8_names_file_line_and_bytes(score):
    status, message = score(b"a\nb\n", b"a\nb\xff\n")
    assert status == 1
    assert "sys.txt" in message
    assert "2" in message
    assert "ff" in message.lower()


@pytest.mark.parametrize(
    ("data", "named"),
    [(b"\xff\xfea\0\n\0", "UTF-16"), (gzip.compress(b"a\n", mtime=0)[:-4], "gzip data ends too early")],
)
def test_other_formats_and_damaged_files_are_named(score, data, named):
    status, message = score(b"a\n", data)
    assert status == 1
    assert named in message


def test_an_empty_reference(score):
    status, message = score(b"", b"")
    assert status == 1
    assert "ref.txt: is empty" in message


@pytest.mark.parametrize(
    ("data", "word"),
    [("\ufeffa\nb\n".encode(), "byte-order"), (b"a\r\nb\r\n", "CR LF"), (b"a\nb", "no line end")],
)
def test_harmless_oddities_give_a_notice_and_the_same_score(score, data, word):
    status, notice = score(b"a\nb\n", data, "-b")
    assert status == 0
    assert notice.startswith("note: ")
    assert word in notice


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("blue", 'no metric "blue". Did you mean "bleu"?'),
        ("bleu:ordre=1", 'has no parameter "ordre". Its parameters: case, eff, tok, smooth, order.'),
        ("bleu:order=0", "orders go from 1"),
        ("bleu:order", "is not of the form key=value"),
        ("bleu:tok=13b", "must be one of"),
        ("chrf:nc=x", "chrf: nc="),
        ("ter:norm=maybe", "is yes or no"),
    ],
)
def test_unknown_metrics_and_parameters_are_usage_errors(score, metric, expected):
    status, message = score(b"a\n", b"a\n", "-m", metric)
    assert status == 2
    assert expected in message


def test_a_metric_named_twice(score):
    status, message = score(b"a\n", b"a\n", "-m", "bleu", "bleu:order=1-4")
    assert status == 2
    assert "named twice" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ["--level", "95"],
        ["--confidence", "-5"],
        ["--seed", "x"],
        ["-tok", "13b"],
        ["-l", "encs"],
        ["--paired", "bootstrap"],
        ["-f", "xml"],
    ],
)
def test_wrong_usage(score, arguments):
    status, message = score(b"a\n", b"a\n", *arguments)
    assert status == 2
    assert "Traceback" not in message


def test_a_missing_file(tmp_path, capsys):
    assert main(["score", str(tmp_path / "none.txt"), "-i", str(tmp_path / "other.txt")]) == 1
    assert "none.txt" in capsys.readouterr().err


def test_standard_input_can_be_read_only_once(capsys):
    assert main(["score", "-", "-i", "-"]) == 2
    assert "only once" in capsys.readouterr().err


def test_no_verb_and_unknown_verb_are_usage_errors(capsys):
    for arguments in ([], ["weigh"]):
        assert main(arguments) == 2


def test_help_gets_one_going(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for verb in ("score", "evaluate", "leaderboard", "demo", "worker", "scheduler", "db"):
        assert verb in out


@pytest.mark.parametrize("arguments", [["--help"], ["score", "text", "-i", "text", "-m", "bleu", "meteor"]])
def test_the_cost_of_a_command_that_needs_nothing(arguments, tmp_path):
    """`--help` imports nothing heavy, and `score` neither database nor queue, nor what other metrics need."""
    (tmp_path / "text").write_text("the cat sat\n")
    code = (
        "import sys; from cli.main import main\n"
        f"try: main({arguments})\n"
        "except SystemExit: pass\n"
        "heavy = {'celery', 'sqlalchemy', 'pydantic', 'rich', 'scipy', 'gensim', 'numba', 'regex'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_output_is_utf_8_in_any_locale(tmp_path):
    """Names are shown as they are, and pages say that they are UTF-8."""
    for name in ("ref", "čeština"):
        (tmp_path / f"{name}.txt").write_text("one line\n")
    command = [sys.executable, "-m", "cli.main", "score", "ref.txt", "-i", "čeština.txt", "-m", "bleu", "ter", "-f"]
    for encoding in ("ascii", "latin-1"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        for form in ("text", "json", "html"):
            found = subprocess.run([*command, form], cwd=tmp_path, env=environment, capture_output=True, check=True)
            assert "čeština" in found.stdout.decode("utf-8")
