"""A campaign of many language pairs: one folder, one command."""

import json
import re

import pytest
import sacrebleu

from tests.acceptance.commands import steelyard, steelyard_here
from tests.library.formats.campaign_folders import write

TEXTS = {
    "en-cs": {
        "refA": ["ta kočka tam sedí", "prší tu celý den"],
        "systems": {"tug": ["ta kočka sedí", "prší celý den"], "raft": ["kočka tam", "prší tu celý den"]},
    },
    "en-zh": {
        "refA": ["那只猫坐在那里", "整天都在下雨"],
        "systems": {"tug": ["那只猫坐着", "整天下雨"], "barge": ["猫坐在那里", "整天都在下雨"]},
    },
    "en-de_DE": {
        "refA": ["die Katze sitzt dort", "es regnet den ganzen Tag"],
        "systems": {"tug": ["die Katze sitzt", "es regnet Tag"]},
    },
}


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "port27"
    for pair, texts in TEXTS.items():
        write(root / "sources" / f"{pair}.txt", "the cat sits there\nit rains all day\n")
        write(root / "references" / f"{pair}.refA.txt", "\n".join(texts["refA"]) + "\n")
        write(root / "documents" / f"{pair}.docs", "news\tone\nspeech\ttwo\n")
        for system, lines in texts["systems"].items():
            write(root / "system-outputs" / pair / f"{system}.txt", "\n".join(lines) + "\n")
    return root


def boards(tmp_path):
    found = json.loads((tmp_path / "port27-report" / "leaderboard.json").read_text())
    return {board["test_set"]: board for board in found}


def test_every_pair_is_scored_as_it_is_alone(tmp_path, folder):
    ended = steelyard("evaluate", "port27", "-m", "bleu", "chrf", "--confidence", "20", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    found = boards(tmp_path)
    assert list(found) == ["en-cs", "en-de_DE", "en-zh"]
    for pair, texts in TEXTS.items():
        assert found[pair]["campaign"] == "port27"
        scores = {
            (system["system"], score["metric"].partition(":")[0]): score["score"]
            for system in found[pair]["systems"]
            for score in system["scores"]
        }
        tokenize = "zh" if pair == "en-zh" else "13a"
        for system, lines in texts["systems"].items():
            theirs = sacrebleu.corpus_bleu(lines, [texts["refA"]], tokenize=tokenize).score
            assert scores[system, "bleu"] == pytest.approx(theirs, abs=1e-9)
            assert scores[system, "chrf"] == pytest.approx(sacrebleu.corpus_chrf(lines, [texts["refA"]]).score)
    lines = [line.split() for line in ended.stdout.splitlines()]
    header = lines.index(["System", "Mean", "rank", "Gaps", "en-cs", "en-de_DE", "en-zh"])
    assert [(words[0], words[2]) for words in lines[header + 2 : header + 5]] == [
        ("tug", "0"),
        ("barge", "2"),
        ("raft", "2"),
    ]
    reports = {path.name for path in (tmp_path / "port27-report").glob("*.html")}
    assert reports == {"en-cs.html", "en-de_DE.html", "en-zh.html"}


def test_by_document_as_score_does_it(tmp_path, folder):
    for pair, texts in TEXTS.items():
        # Documents whose segments are not side by side, and enough for intervals that differ.
        names = [f"news\td{number * 7 % 5}\n" for number in range(12)]
        write(folder / "documents" / f"{pair}.docs", "".join(names))
        write(folder / "sources" / f"{pair}.txt", "the cat sits there\nit rains all day\n" * 6)
        lines = {"references": {f"{pair}.refA.txt": texts["refA"]}}
        lines[f"system-outputs/{pair}"] = {f"{name}.txt": each for name, each in texts["systems"].items()}
        for place, files in lines.items():
            for name, (one, two) in files.items():
                cut = [f"{one}\n", f"{two}\n", f"{one} {two}\n", f"{two.partition(' ')[0]}\n"]
                write(
                    folder / place / name, "".join(cut[number % (3 + (place != "references"))] for number in range(12))
                )
    words = ("-m", "bleu", "chrf", "--confidence", "50", "--resample", "document")
    ended = steelyard("evaluate", "port27", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "en-cs: There are only 5 documents" in ended.stderr
    for pair, board in boards(tmp_path).items():
        assert board["resample"] == "document"
        outputs = [f"port27/system-outputs/{pair}/{system['system']}.txt" for system in board["systems"]]
        scored = steelyard_here(
            *("score", f"port27/references/{pair}.refA.txt", "-i", *outputs, *words, "-l", pair[:5]),
            *("--documents", f"port27/documents/{pair}.docs", "-f", "json"),
            cwd=tmp_path,
        )
        assert scored.returncode == 0, scored.stderr
        for ours, alone in zip(board["systems"], json.loads(scored.stdout)["systems"], strict=True):
            for one, other in zip(ours["scores"], alone["scores"], strict=True):
                assert one["score"] == other["score"]
                assert (one["interval"]["low"], one["interval"]["high"]) == (
                    other["interval"]["low"],
                    other["interval"]["high"],
                )
                assert one["signature"] == other["signature"]
    for pair in TEXTS:
        (folder / "documents" / f"{pair}.docs").unlink()
    refused = steelyard_here("evaluate", "port27", "--name", "bare", *words, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "en-cs: its files name no documents" in refused.stderr


def test_reports_that_processes_share_are_those_of_one(tmp_path, folder, monkeypatch):
    pages = []
    for many in (2, 100):
        monkeypatch.setattr("cli.campaigns.evaluated.MANY_REPORTS", many)
        ended = steelyard_here(
            *("evaluate", "port27", "-m", "chrf", "--confidence", "20", "--processes", "2", "--output", f"{many}"),
            cwd=tmp_path,
        )
        assert ended.returncode == 0, ended.stderr
        pages.append({path.name: path.read_bytes() for path in (tmp_path / f"{many}").glob("*.html")})
    assert list(map(len, pages)) == [3, 3]
    assert pages[0] == pages[1]


def test_one_campaign_in_the_database(tmp_path, folder):
    first = steelyard("evaluate", "port27", "-m", "chrf", "--confidence", "20", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    listed = steelyard_here("leaderboard", "port27", "-f", "json", cwd=tmp_path)
    assert [board["test_set"] for board in json.loads(listed.stdout)] == ["en-cs", "en-de_DE", "en-zh"]
    # What is stored is not measured again, and a new output is added to its pair alone.
    write(folder / "system-outputs" / "en-de_DE" / "raft.txt", "die Katze\nes regnet\n")
    again = steelyard("evaluate", "port27", "-m", "chrf", "--confidence", "20", "--pair", "eng-deu", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert re.search(r"^\s*1\s.*tug", again.stdout, re.MULTILINE)
    assert "1 of 1 metrics of 1 system were measured before" in again.stderr
    later = json.loads(steelyard_here("leaderboard", "port27", "-f", "json", cwd=tmp_path).stdout)
    assert [len(board["systems"]) for board in later] == [2, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: write(root / "system-outputs" / "en-zh" / "tug.txt", "x\n"), "1 line, 1 fewer"),
        (lambda root: (root / "references" / "en-cs.refA.txt").unlink(), "no references"),
        (lambda root: write(root / "documents" / "en-de_DE.docs", "news\tone\n"), "en-de_DE.docs"),
    ],
)
def test_nothing_is_stored_where_one_pair_is_wrong(tmp_path, folder, change, message):
    change(folder)
    ended = steelyard_here("evaluate", "port27", "-m", "chrf", cwd=tmp_path)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["port27"]


def test_a_pair_that_is_not_there(tmp_path, folder):
    ended = steelyard_here("evaluate", "port27", "--pair", "en-cs", "en-fr", "-m", "chrf", cwd=tmp_path)
    assert ended.returncode == 1
    assert "there is no pair en-fr. There are: en-cs, en-de_DE, en-zh." in ended.stderr
