"""`steelyard evaluate` on everything that holds a campaign, and what it refuses before anything is stored."""

import json
import sqlite3

import pytest

from tests.acceptance.commands import REPOSITORY, running, steelyard, steelyard_here
from tests.library.formats.test_campaigns import DATASET
from tests.library.formats.test_layered_folders import treex, write

HARBOUR = str(REPOSITORY / "demo" / "harbour")


def scores(document: list[dict] | dict) -> dict[tuple[str, str], dict]:
    """By system and metric, of a leaderboard or of what `score` prints."""
    return {
        (system["system"], score["metric"]): {key: score[key] for key in ("score", "interval")}
        for system in document["systems"]
        for score in system["scores"]
    }


def test_a_file_in_wmts_xml(tmp_path):
    (tmp_path / "wmt.xml").write_text(DATASET)
    arguments = ("-m", "chrf", "ter", "--confidence", "50")
    ended = steelyard("evaluate", "wmt.xml", "--test-suites", *arguments, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (board,) = json.loads((tmp_path / "harbour2022.en-cs-report" / "leaderboard.json").read_text())
    assert (board["campaign"], board["references"]) == ("harbour2022.en-cs", ["A"])
    assert [system["system"] for system in board["systems"]] == ["tug"]
    with sqlite3.connect(tmp_path / "steelyard.db") as connection:
        documents = connection.execute("SELECT first_segment, segments, name, domain, test_suite FROM document")
        assert documents.fetchall() == [(0, 2, "quay", "news", ""), (2, 1, "idioms.1", "", "idioms")]
        languages = connection.execute("SELECT source_language, target_language, segments FROM test_set")
        assert languages.fetchall() == [("en", "cs", 3)]
    connection.close()
    ended = steelyard("evaluate", "wmt.xml", *arguments, cwd=tmp_path)
    assert "note: wmt.xml: 1 document of test suites left out." in ended.stderr
    scored = steelyard_here("score", "wmt.xml", "-i", "wmt.xml", *arguments, "-f", "json", cwd=tmp_path)
    (board,) = json.loads((tmp_path / "harbour2022.en-cs-report" / "leaderboard.json").read_text())
    assert scores(board) == scores(json.loads(scored.stdout))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((HARBOUR, "-m", "bleu", "sempos"), 'sempos needs the layer "sempos" (tectogrammatical nodes'),
        (("gone.xml",), "gone.xml: there is no such file"),
        ((HARBOUR, HARBOUR), "is a folder. Give one folder, or files"),
        ((HARBOUR, "-m", "bleu", "--resource", "vectors=gone.bin"), "gone.bin: cannot be read"),
    ],
)
def test_what_is_refused_before_anything_is_stored(tmp_path, arguments, message):
    ended = steelyard_here("evaluate", *arguments, cwd=tmp_path)
    assert ended.returncode == 1
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_of_resources_are_registered_where_workers_look(tmp_path):
    (tmp_path / "groups.txt").write_text("ship boat\n")
    arguments = ("-m", "wer", "--references", "A", "--confidence", "0", "--resource", "groups=groups.txt")
    ended = steelyard("evaluate", HARBOUR, *arguments, cwd=tmp_path, STEELYARD_RESOURCE_FOLDER="kept")
    assert ended.returncode == 0, ended.stderr
    entry = json.loads((tmp_path / "kept" / "groups.json").read_text())
    assert (tmp_path / "kept" / entry["digest"] / "groups.txt").read_text() == "ship boat\n"


NOUNS = ["loď", "člun", "prám", "vor", "kotva"]


def layered_folder(folder, sizes=(600, 5)):
    """A reference and two systems in Treex, of as many one-word sentences; systems differ in every so-manieth noun."""
    segments, step = sizes
    for path, shift in (("refs/A.treex.gz", 0), ("systems/tug.treex", 1), ("systems/barge.treex.gz", 2)):
        nouns = [NOUNS[(n + (shift if n % step < shift else 0)) % 5] for n in range(segments)]
        write(folder / path, treex("cs", words=[(noun.capitalize(), noun) for noun in nouns]))


@pytest.mark.few(1)
def test_layers_through_the_database_give_the_scores_of_one_process(tmp_path, database_url):
    layered_folder(tmp_path / "port")
    arguments = ("-m", "sempos", "sempos:variant=cap-micro", "bleu:order=1", "--confidence", "50")
    ended = steelyard("evaluate", "port", *arguments, "--database", database_url, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (board,) = json.loads((tmp_path / "port-report" / "leaderboard.json").read_text())
    systems = ("port/systems/tug.treex", "port/systems/barge.treex.gz")
    scored = steelyard_here("score", "port/refs/A.treex.gz", "-i", *systems, *arguments, "-f", "json", cwd=tmp_path)
    assert scores(board) == scores(json.loads(scored.stdout))
    assert scores(board)["tug", "sempos"]["score"] == 80
    assert scores(board)["barge", "sempos"]["score"] == 60
    assert board["systems"][0]["scores"][0]["details"] == {"types": 1}


def test_corpus_statistics_layers_and_resources_through_redis_and_postgresql(tmp_path, redis_url, empty_postgres_url):
    """What needs more than the words of a shard, by a worker and a scheduler of their own: the same bits."""
    layered_folder(tmp_path / "port", (1200, 5))
    (tmp_path / "groups.txt").write_text("loď člun prám\n", encoding="utf-8")
    (tmp_path / "toy.vec").write_text("4 2\nloď 1 0\nčlun 0.6 0.8\nvor 0 1\nkotva 0.8 0.6\n", encoding="utf-8")
    metrics = ("nist", "meteor:modules=exact,lemma,synonym:synonyms=groups", "sempos", "bleu_modif:vectors=toy:order=1")
    resources = ("--resource", "groups=groups.txt", "toy=toy.vec")
    arguments = ("evaluate", "port", "-m", *metrics, *resources, "--confidence", "50")
    embedded = steelyard(*arguments, "--output", "embedded", cwd=tmp_path)
    assert embedded.returncode == 0, embedded.stderr
    settings = {"STEELYARD_DATABASE_URL": empty_postgres_url, "STEELYARD_BROKER_URL": redis_url}
    assert steelyard("db", "upgrade", cwd=tmp_path, **settings).returncode == 0
    with running("scheduler", cwd=tmp_path, **settings), running("worker", cwd=tmp_path, **settings):
        apart = steelyard(*arguments, "--output", "apart", cwd=tmp_path, **settings)
    assert apart.returncode == 0, apart.stderr
    for name in ("leaderboard.json", "leaderboard.tsv"):
        assert (tmp_path / "apart" / name).read_bytes() == (tmp_path / "embedded" / name).read_bytes()
    (board,) = json.loads((tmp_path / "apart" / "leaderboard.json").read_text())
    assert all(score["score"] > 0 for system in board["systems"] for score in system["scores"])


def test_a_layer_that_one_text_does_not_have(tmp_path):
    layered_folder(tmp_path / "port", (3, 2))
    write(tmp_path / "port" / "systems" / "ferry.txt.gz", "Loď\nČlun\nPrám\n")
    ended = steelyard_here("evaluate", "port", "-m", "bleu", "sempos", cwd=tmp_path)
    assert ended.returncode == 1
    assert "sempos needs the layer" in ended.stderr
    assert (
        "Texts without it: port/systems/ferry.txt.gz. Give all texts in a format that has it: TectoMT or Treex."
        in ended.stderr
    )
    assert [path.name for path in tmp_path.iterdir()] == ["port"]
    assert steelyard("evaluate", "port", "-m", "bleu", "--confidence", "0", cwd=tmp_path).returncode == 0


def test_the_samples_have_the_scores_worked_out_by_hand(real_data, tmp_path):
    samples = real_data.parent / "samples"
    if not samples.exists():
        pytest.skip(f"no layered samples at {samples}")
    for name, into in (("sample.treex", "refs/A.treex"), ("sample_cand.tmt", "systems/a.tmt"),
                       ("sample_cand.treex", "systems/b.treex")):  # fmt: skip
        (tmp_path / "port" / into).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "port" / into).write_bytes((samples / name).read_bytes())
    (tmp_path / "port" / "meta.json").write_text('{"parts": {"references": "cs_ref"}}')
    arguments = ("-m", "sempos", "sempos:variant=cap-micro", "--confidence", "0")
    ended = steelyard("evaluate", "port", *arguments, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (board,) = json.loads((tmp_path / "port-report" / "leaderboard.json").read_text())
    for system in board["systems"]:
        macro, micro = system["scores"]
        assert macro["score"] == pytest.approx(80.2083, abs=1e-4)
        assert micro["score"] == pytest.approx(82.3529, abs=1e-4)
    # Both formats give the same text with the same layers.
    assert board["systems"][1]["same_output_as"] == "a"


def test_runs_of_a_system_count_with_their_mean(tmp_path):
    systems = REPOSITORY / "demo" / "harbour" / "systems"
    for path in ("refs/A.txt", "systems/anchor.txt"):
        (tmp_path / "port" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "port" / path).write_bytes((systems.parent / path).read_bytes())
    (tmp_path / "port/systems/tug").mkdir()
    for run, system in (("one", "buoy"), ("two", "ebb")):
        (tmp_path / f"port/systems/tug/{run}.txt").write_bytes((systems / f"{system}.txt").read_bytes())
    ended = steelyard("evaluate", "port", "-m", "bleu", "--confidence", "100", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "tug (2 runs)" in ended.stdout
    (board,) = json.loads((tmp_path / "port-report" / "leaderboard.json").read_text())
    anchor, tug = board["systems"]
    (of_tug,) = tug["scores"]
    assert (anchor["runs"], tug["runs"], of_tug["rank"], of_tug["cluster"]) == ([], ["one", "two"], 2, 2)
    files = [str(systems / f"{name}.txt") for name in ("buoy", "ebb")]
    scored = steelyard_here("score", "port/refs/A.txt", "-i", *files, "-m", "bleu", "-f", "json", cwd=tmp_path)
    alone = [found["score"] for found in scores(json.loads(scored.stdout)).values()]
    assert of_tug["runs"] == alone
    assert of_tug["score"] == sum(alone) / 2
    # Compared as one system, from what is stored.
    ended = steelyard_here("compare", "--test", "randomization", "-f", "json", cwd=tmp_path)
    (compared,) = json.loads(ended.stdout)
    (pair,) = compared["paired"]
    assert (pair["a"], pair["b"], pair["direction"]) == ("anchor", "tug (2 runs)", "worse")
    assert pair["difference"] == of_tug["score"] - anchor["scores"][0]["score"]
