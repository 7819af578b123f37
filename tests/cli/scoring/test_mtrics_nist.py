"""`mtrics -n`: NIST as `score` has it, and mteval's own figures."""

import csv
import json
import re
from html import escape, unescape
from pathlib import Path

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from cli import main as steelyard
from steelyard.commands.mtrics.command import main
from steelyard.commands.mtrics.output import rounded


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty one as the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "order"),
    [(["-n"], "1-5"), (["-n", "2,1"], "1,2"), (["--nist", "3"], "3"), (["-n", "6,1-3,7"], "1-3,6,7")],
)
def test_every_number_is_that_of_score(capsys, arguments, order):
    Path("ref.txt").write_text("The crane lifts the red box .\nNobody waits below it .\n")
    Path("crane.txt").write_text("the crane lifts a box .\nnobody waits below the box .\n")
    metric = f"nist:order={order}:case=lc:tok=none"
    assert steelyard.main(["score", "ref.txt", "-i", "crane.txt", "-m", metric, "--segments", "-f", "json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["systems"][0]["scores"]
    assert main(["-c", "crane.txt", "-r", "ref.txt", *arguments, "-v"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("crane:\tNIST:\t")]
    expected = [*entry["segments"], entry["score"]]
    assert lines == [f"crane:\tNIST:\t{rounded(score)}" for score in expected]


def test_mteval_figures(real_data, capsys):
    """NIST and BLEU of mteval-v13a from its own files, cut into words as it does: -T has other rules."""
    tokenize = Tokenizer13a()

    def cut(found):
        return found[1] + escape(tokenize(unescape(found[2])), quote=False) + found[3]

    for path in (real_data / "mteval").glob("*.sgm"):
        text = re.sub(r"(<seg id=[^>]*>)(.*?)(</seg>)", cut, path.read_text(encoding="utf-8"), flags=re.DOTALL)
        Path(path.name).write_text(text, encoding="utf-8")
    with (real_data / "mteval" / "expected_mteval.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for references, name in (("B", "refB"), ("B,C", "ref")):
        arguments = ["-c", "wmt22.en-cs.tst.sgm", "-r", f"wmt22.en-cs.{name}.sgm", "-M", "-s", "-b", "-n"]
        assert main(arguments) == 0
        expected = [
            f"{row['system']}:\t{metric}:\t{rounded(float(row[metric]))}"
            for metric in ("BLEU", "NIST")
            for row in rows
            if (row["refs"], row["case"], row["tokenizer"]) == (references, "sensitive", "13a")
        ]
        assert len(expected) == 20
        assert capsys.readouterr().out.partition("Total score:\n\n")[2].splitlines() == expected
