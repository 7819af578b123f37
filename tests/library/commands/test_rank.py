"""`steelyard rank`: from files to boards."""

import csv
import io
import json
from types import SimpleNamespace

import pytest

from steelyard.commands.main import main
from steelyard.ranking.human_rules import Trials
from steelyard.ranking.score_boards import RankOptions

PAIRS = ("en-cs", "en-de")


@pytest.fixture
def files(tmp_path):
    """Two metrics of two pairs, three systems each, in a file a system as WMT writes them."""
    paths = []
    for system, quality in (("tug", 0.5), ("barge", 0.9), ("raft", 0.1)):
        lines = [
            {
                "language_pair": pair,
                "domain": "news",
                "document_id": f"d{document}",
                "metric_scores": {
                    "X": [quality + 0.01 * number for number in range(3)],
                    "Y": [100 * (1 - quality) + document % 3],
                },
            }
            for pair in PAIRS
            for document in range(20)
        ]
        path = tmp_path / f"{system}.jsonl"
        path.write_text(
            "".join(json.dumps({**line, "metric_scores": {"X": line["metric_scores"]["X"]}}) + "\n" for line in lines)
        )
        paths.append(str(path))
        other = tmp_path / f"{system}.tsv"
        rows = [
            f"{line['language_pair']}\t{system}\tY\t{line['document_id']}\t1\t{line['metric_scores']['Y'][0]}\n"
            for line in lines
        ]
        other.write_text("pair\tsystem\tmetric\tdocument\tsegment\tscore\n" + "".join(rows))
    return tmp_path


def ranked(capsys, *words):
    assert main(["rank", *map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)["pairs"]


def test_a_folder_of_scores(files, capsys):
    found = ranked(capsys, files, "--lower-is-better", "Y", "-f", "json")
    assert [(each["pair"], each["segments"], each["metrics"], each["by"]) for each in found] == [
        (pair, 60, ["X", "Y"], "autorank:wmt25") for pair in PAIRS
    ]
    for each in found:
        assert [(line["system"], line["rank"], line["cluster"]) for line in each["systems"]] == [
            ("barge", 1, 1),
            ("tug", 2, 2),
            ("raft", 3, 3),
        ]
        assert [line["scores"][0]["score"] for line in each["systems"]] == pytest.approx([0.91, 0.51, 0.11], abs=1e-6)


def test_one_pair_one_metric_and_another_direction(files, capsys):
    """Y is taken for a metric of which more is better."""
    (found,) = ranked(capsys, files, "--pair", "en-de", "-m", "Y", "-f", "json")
    assert (found["pair"], found["by"]) == ("en-de", "Y")
    assert [line["system"] for line in found["systems"]] == ["raft", "tug", "barge"]


def test_the_metrics_of_each_pair_from_a_file(files, capsys, tmp_path):
    listed = tmp_path / "metrics.txt"
    listed.write_text("pair\tmetric\nen-de\tX\nen-cs\tY\tX\n")
    found = ranked(capsys, files, "--metrics", listed, "-f", "json")
    assert {each["pair"]: each["metrics"] for each in found} == {"en-de": ["X"], "en-cs": ["Y", "X"]}


def test_weights_from_a_file_change_autorank(files, capsys, tmp_path):
    listed = tmp_path / "metrics.txt"
    ranks = []
    for weights in ((1, 1), (8, 1)):
        listed.write_text(
            "pair\tmetric\tweight\n" + "".join(f"en-de\t{m}\t{w}\n" for m, w in zip("XY", weights, strict=True))
        )
        (found,) = ranked(capsys, files, "--metrics", listed, "-f", "json")
        ranks.append({line["system"]: line["autorank"]["value"] for line in found["systems"]})
    assert ranks[0] != ranks[1]
    # X puts them the other way round than Y, so it decides.
    assert ranks[1]["barge"] < ranks[1]["tug"] < ranks[1]["raft"]


def test_formats(files, capsys):
    assert main(["rank", str(files), "--by", "X", "--paired", "randomization", "--trials", "200"]) == 0
    assert "barge" in capsys.readouterr().out
    for form, delimiter in (("tsv", "\t"), ("csv", ",")):
        assert main(["rank", str(files), "-f", form]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter=delimiter))
        assert len(rows) == len(PAIRS) * 3 * 2
    for form, beginning in (("markdown", "### en-"), ("latex", r"\begin{table}"), ("html", "<!DOCTYPE html>")):
        assert main(["rank", str(files), "-f", form]) == 0
        assert capsys.readouterr().out.startswith(beginning)


@pytest.fixture
def boards(monkeypatch):
    """What boards are made of, in place of boards."""
    made = []

    def board(scores, *how):
        made.append((scores.pair, *how))
        return SimpleNamespace(notices=[f"of {scores.pair}"])

    for kind, name in (("score_boards", "score_board"), ("human_boards", "human_board")):
        monkeypatch.setattr(f"steelyard.ranking.{kind}.{name}", board)
        monkeypatch.setattr(f"steelyard.tables.{kind}.render", lambda *_: "")
    return made


def test_boards_are_made_as_options_say_and_in_the_order_of_pairs(files, boards, capsys):
    how = ["--by", "X", "--replicates", "7", "--seed", "5", "--level", "0.9", "--paired", "randomization"]
    how += ["--trials", "30", "--correction", "holm", "--resample", "document", "-m", "X"]
    for pairs in (PAIRS, PAIRS[::-1]):
        assert main(["rank", str(files), *how, "--pair", *pairs, pairs[0], "-f", "tsv"]) == 0
        assert [each[0] for each in boards] == list(pairs)
        assert [each[1] for each in boards] == [
            RankOptions("X", 7, 5, 0.9, "randomization", 30, "holm", "document"),
        ] * 2
        # Data has no place for notices, tables have.
        assert [f"of {pair}" in capsys.readouterr().err for pair in pairs[:1]] == [True]
        boards.clear()
    assert main(["rank", str(files)]) == 0
    assert [each[:2] for each in boards] == [(pair, RankOptions()) for pair in PAIRS]
    assert "of en-cs" not in capsys.readouterr().err


def test_human_boards_are_made_as_options_say_and_in_the_order_of_pairs(boards, tmp_path, capsys):
    line = {"scores": {"tug": [{"score": 7.0, "annotator": "a", "errors": [], "protocol": "ESA"}]}}
    for pair in PAIRS:
        text = json.dumps({"doc_id": f"{pair}_#_news_#_d_#_0", "src_text": "", "tgt_text": {}, **line})
        (tmp_path / f"{pair}.jsonl").write_text(text + "\n")
    paths = [str(tmp_path / f"{pair}.jsonl") for pair in PAIRS]
    how = ["--by", "human", "--trials", "30", "--seed", "5", "--correction", "holm", "--level", "0.9"]
    for pairs in (PAIRS, PAIRS[::-1]):
        assert main(["rank", *paths, *how, "--pair", *pairs, "-f", "json"]) == 0
        assert [each[0] for each in boards] == list(pairs)
        assert {each[1].trials for each in boards} == {Trials(30, 5, "holm", 0.9)}
        assert "of en-zh" not in capsys.readouterr().err
        boards.clear()
    assert main(["rank", *paths, "--by", "human:wmt24"]) == 0
    assert [(each[0], each[1].trials) for each in boards] == [(pair, Trials()) for pair in PAIRS]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--pair", "en-fr"], 1, "en-fr"),
        (["-m", "Z"], 1, "Metrics: X, Y"),
        (["--by", "autorank:wmt1"], 2, "wmt24, wmt25"),
        (["--by", "autorank", "--paired", "randomization"], 2, "bootstrap"),
        (["-m", "X", "--metrics", "{folder}/metrics.txt"], 2, "Give one of them"),
        (["--metrics", "{folder}/bad.txt"], 1, "line 2"),
        (["--metrics", "{folder}/half.txt"], 1, "Y has no weight for en-cs"),
        (["--metrics", "{folder}/metrics.txt", "--pair", "en-de"], 1, "en-de"),
        (["--metrics", "{folder}/nothing.txt"], 1, "no such file"),
        (["--level", "95"], 2, "between 0 and 1"),
        (["-f", "scr"], 2, "scr"),
    ],
)
def test_what_is_wrong_is_reported(files, capsys, words, status, told):
    (files / "metrics.txt").write_text("en-cs\tX\n")
    (files / "bad.txt").write_text("en-cs\tX\nen-de X\n")
    (files / "half.txt").write_text("en-cs\tX\t2\nen-cs\tY\n")
    assert main(["rank", str(files), *(word.format(folder=files) for word in words)]) == status
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""
