"""Whole campaigns, from a folder to a leaderboard, through the command line."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.commands import REPOSITORY, running, steelyard, steelyard_here


def boards_of(folder: Path) -> list[dict]:
    return json.loads((folder / "leaderboard.json").read_text())


def scores_of(board: dict, metric: str) -> dict[str, float]:
    return {
        system["system"]: score["score"]
        for system in board["systems"]
        for score in system["scores"]
        if score["metric"] == metric
    }


def test_the_demo_tells_its_story(tmp_path):
    ended = steelyard("demo", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "evaluations" in ended.stderr, "no progress was shown"
    written = [tmp_path / "steelyard-demo" / name for name in ("report.html", "leaderboard.json", "leaderboard.tsv")]
    for path in written:
        assert path.stat().st_size > 0
        assert str(path.relative_to(tmp_path)) in ended.stdout
    alone_a, alone_b, together = boards_of(tmp_path / "steelyard-demo")
    assert (alone_a["references"], alone_b["references"], together["references"]) == (
        ["A"],
        ["B"],
        ["A", "B"],
    )
    systems = {system["system"]: system for system in together["systems"]}
    assert together["systems"][0]["system"] == "anchor"
    best, others = (
        systems["anchor"]["scores"][0],
        [systems[name]["scores"][0] for name in ("buoy", "cable", "ebb")],
    )
    assert all(best["interval"]["low"] > other["interval"]["high"] for other in others)
    buoy, cable = systems["buoy"]["scores"][0], systems["cable"]["scores"][0]
    assert abs(buoy["score"] - cable["score"]) < 0.3
    assert systems["dinghy"]["same_output_as"] == "cable" or systems["cable"]["same_output_as"] == "dinghy"
    assert systems["dinghy"]["scores"] == systems["cable"]["scores"]
    assert systems["dinghy"]["scores"][0]["rank"] == systems["cable"]["scores"][0]["rank"]
    assert "same output as" in ended.stdout


def test_a_second_run_finds_everything_done(tmp_path):
    first = steelyard("demo", cwd=tmp_path)
    before = (tmp_path / "steelyard-demo/leaderboard.json").read_bytes()
    second = steelyard("demo", cwd=tmp_path)
    assert second.returncode == first.returncode == 0
    assert (tmp_path / "steelyard-demo/leaderboard.json").read_bytes() == before


def test_leaderboard_reads_the_database_back(tmp_path):
    assert steelyard("demo", "--references", "A", "A,B", cwd=tmp_path).returncode == 0
    database = ("--database", "sqlite:///steelyard-demo/steelyard.db")
    ended = steelyard("leaderboard", "-f", "json", *database, cwd=tmp_path)
    assert json.loads(ended.stdout) == boards_of(tmp_path / "steelyard-demo")
    only = steelyard_here("leaderboard", "harbour", "--references", "B,A", "-f", "json", *database, cwd=tmp_path)
    assert [board["references"] for board in json.loads(only.stdout)] == [["A", "B"]]
    text = steelyard_here("leaderboard", "--references", "A", "--by", "ter", *database, cwd=tmp_path).stdout
    assert "Sorted by TER" in text
    # Columns are two blanks apart, score and interval one.
    lines = map(str.strip, text.splitlines())
    cells = [re.split(r"\s{2,}", line) for line in lines if line[:1].isdigit()]
    by_ter = [float(row[5].split()[0]) for row in cells]
    assert len(by_ter) == 5
    assert by_ter == sorted(by_ter), "a lower TER is better"
    tsv = steelyard_here("leaderboard", "--references", "A", "-f", "tsv", *database, cwd=tmp_path).stdout
    rows = list(csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {row["metric"] for row in rows} == {"bleu", "chrf", "ter"}
    narrow = steelyard_here("leaderboard", "-f", "json", "--level", "0.5", *database, cwd=tmp_path)
    wide, small = (json.loads(out)[0]["systems"][0]["scores"][0]["interval"] for out in (ended.stdout, narrow.stdout))
    assert wide["low"] < small["low"] < small["high"] < wide["high"]


@pytest.mark.thorough
def test_campaigns_with_the_same_test_set_have_leaderboards_of_their_own(tmp_path):
    demo = str(REPOSITORY / "demo" / "harbour")
    first = steelyard("evaluate", demo, "--references", "A", "-m", "bleu", "ter", cwd=tmp_path)
    arguments = ("--references", "A", "-m", "chrf++", "ter", "--name", "again", "--confidence", "0")
    second = steelyard("evaluate", demo, *arguments, cwd=tmp_path)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "measured before" not in first.stderr
    assert "note: 1 of 2 metrics of 5 systems were measured before." in second.stderr
    assert "no intervals" in second.stdout
    everything = json.loads(steelyard_here("leaderboard", "-f", "json", cwd=tmp_path).stdout)
    assert [(board["campaign"], board["test_set"]) for board in everything] == [("harbour",) * 2, ("again",) * 2]
    assert all(len(board["systems"]) == 5 for board in everything)
    by_chrf = json.loads(steelyard_here("leaderboard", "--by", "chrF2++", "-f", "json", cwd=tmp_path).stdout)
    assert [board["campaign"] for board in by_chrf] == ["again"]
    assert "again, reference A" in second.stdout
    assert by_chrf[0]["systems"][0]["scores"][0]["interval"] is None
    nothing = steelyard_here("leaderboard", "--by", "wer", cwd=tmp_path)
    assert nothing.returncode == 1
    assert "There are: bleu, chrf:nw=2, ter" in nothing.stderr
    unknown = steelyard_here("leaderboard", "elsewhere", cwd=tmp_path)
    assert unknown.returncode == 1
    assert "again (A); harbour (A)" in unknown.stderr


def test_mistakes_are_explained_and_store_nothing(tmp_path):
    database = tmp_path / "steelyard.db"
    broken = tmp_path / "broken"
    shutil.copytree(REPOSITORY / "demo" / "harbour", broken)
    with (broken / "systems" / "buoy.txt").open("a") as file:
        file.write("one line too many\n")
    ended = steelyard("evaluate", str(broken), cwd=tmp_path)
    assert ended.returncode == 1
    assert "buoy.txt" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not database.exists()
    for arguments, expected in (
        (["leaderboard"], "steelyard db upgrade"),
        (["evaluate", "nowhere"], "nowhere"),
        (["evaluate", str(REPOSITORY / "demo/harbour"), "--references", "A,Z"], 'no reference "Z"'),
        (["evaluate", str(REPOSITORY / "demo/harbour"), "-m", "blue"], 'no metric "blue"'),
        (["evaluate", str(REPOSITORY / "demo/harbour"), "--by", "meteor"], 'no metric "meteor" to sort by'),
        (["scheduler"], "STEELYARD_BROKER_URL"),
        (["db", "current", "--database", "oracle://x"], "oracle"),
    ):
        ended = steelyard_here(*arguments, cwd=tmp_path)
        assert ended.returncode in (1, 2), arguments
        assert expected in ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr
    bad_setting = steelyard_here("leaderboard", cwd=tmp_path, STEELYARD_MAX_ATTEMPTS="many")
    assert bad_setting.returncode == 2
    assert "STEELYARD_MAX_ATTEMPTS" in bad_setting.stderr


@pytest.mark.thorough
def test_wmts_file_names_give_the_same_leaderboard(tmp_path):
    demo = REPOSITORY / "demo" / "harbour"
    wmt = tmp_path / "wmt"
    wmt.mkdir()
    shutil.copy(demo / "source.txt", wmt / "generaltest2026.cs-en.src.cs")
    for path in (demo / "refs").iterdir():
        shutil.copy(path, wmt / f"generaltest2026.cs-en.ref.{path.stem}.en")
    for path in (demo / "systems").iterdir():
        shutil.copy(path, wmt / f"generaltest2026.cs-en.hyp.{path.stem}.en")
    for folder in (wmt, demo):
        ended = steelyard("evaluate", str(folder), "-m", "bleu", "--output", folder.name, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    ours, theirs = boards_of(tmp_path / "harbour"), boards_of(tmp_path / "wmt")
    for board in (*ours, *theirs):
        for system in board["systems"]:
            assert len(system.pop("submissions")) == 1
    assert [board["systems"] for board in ours] == [board["systems"] for board in theirs]
    assert [board["references"] for board in ours] == [board["references"] for board in theirs]


def test_a_variable_number_of_references(tmp_path):
    """A segment may lack a reference; `evaluate` and `score` agree on what that means."""
    folder = tmp_path / "gaps"
    shutil.copytree(REPOSITORY / "demo" / "harbour", folder)
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**meta, "variable_references": True}))
    lines = (folder / "refs" / "B.txt").read_text().split("\n")
    (folder / "refs" / "B.txt").write_text("\n".join("" if i % 3 else line for i, line in enumerate(lines[:-1])) + "\n")
    ended = steelyard("evaluate", str(folder), "--references", "A,B", "--output", "out", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (board,) = boards_of(tmp_path / "out")
    files = [str(folder / "refs" / name) for name in ("A.txt", "B.txt")]
    systems = [str(folder / "systems" / f"{system['system']}.txt") for system in board["systems"]]
    scored = steelyard_here(
        "score", *files, "-i", *systems, "--variable-references", "--confidence", "-f", "json", cwd=tmp_path
    )
    for stored, system in zip(board["systems"], json.loads(scored.stdout)["systems"], strict=True):
        for one, other in zip(stored["scores"], system["scores"], strict=True):
            assert (one["score"], one["interval"], one["signature"]) == (
                other["score"],
                other["interval"],
                other["signature"],
            )
    assert "|nrefs:var|" in "|" + board["systems"][0]["scores"][0]["signature"]
    alone = steelyard_here("evaluate", str(folder), "--references", "B", cwd=tmp_path)
    assert alone.returncode == 1
    assert "has no reference" in alone.stdout + alone.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["wmt22.en-cs", "wmt22.de-en", "wmt21.en-cs"])
def test_equals_the_published_scores(real_data, tmp_path, name):
    """All systems, each reference alone and all together; every digit that WMT printed."""
    ended = steelyard("evaluate", str(real_data / name), "-m", "bleu", "chrf", "--confidence", "100", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    boards = {"+".join(board["references"]): board for board in boards_of(tmp_path / f"{name}-report")}
    together = max(boards, key=len)
    compared = 0
    with (real_data / name / "automatic-scores.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            metric, _, label = row["metric"].partition("-")
            if metric not in ("bleu", "chrf"):
                continue
            board = boards[together if label == "all" else label]
            ours = scores_of(board, metric).get(row["system"])
            if ours is None:
                continue
            digits = len(row["score"].partition(".")[2])
            assert ours == pytest.approx(float(row["score"]), rel=1e-12, abs=0.5 * 10**-digits), (row, ours)
            compared += 1
    assert compared >= 2 * 3 * 9


def test_redis_and_postgresql_give_the_same_bits(tmp_path, redis_url, empty_postgres_url):
    """Worker and scheduler as processes of their own, against the embedded default."""
    campaign = str(REPOSITORY / "demo" / "harbour")
    metrics = ["-m", "bleu", "chrf++", "ter", "wer", "per", "fmeasure"]
    embedded = steelyard("evaluate", campaign, *metrics, "--output", "embedded", cwd=tmp_path)
    assert embedded.returncode == 0, embedded.stderr
    settings = {"STEELYARD_DATABASE_URL": empty_postgres_url, "STEELYARD_BROKER_URL": redis_url}
    early = steelyard("evaluate", campaign, *metrics, cwd=tmp_path, **settings)
    assert early.returncode == 1
    assert "steelyard db upgrade" in early.stderr
    upgraded = steelyard("db", "upgrade", cwd=tmp_path, **settings)
    assert upgraded.returncode == 0, upgraded.stderr
    with running("scheduler", cwd=tmp_path, **settings), running("worker", cwd=tmp_path, **settings):
        apart = steelyard("evaluate", campaign, *metrics, "--output", "apart", cwd=tmp_path, **settings)
    assert apart.returncode == 0, apart.stderr
    assert (tmp_path / "apart/leaderboard.json").read_bytes() == (tmp_path / "embedded/leaderboard.json").read_bytes()
    assert (tmp_path / "apart/leaderboard.tsv").read_bytes() == (tmp_path / "embedded/leaderboard.tsv").read_bytes()
