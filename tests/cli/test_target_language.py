"""The tokenizer of the target language, on the command line: named by -l, by the files, by a folder, by nobody."""

import json
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU as SacreBLEU

from cli.commands import Options
from cli.meta_evaluation.tune import requested_sweeps
from cli.meta_evaluation.tune_measure import pinned
from models.database.session import make_engine, reading
from models.nightly.schedules import list_schedules
from steelyard.commands.mtrics.command import main as mtrics
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.resources import Resources
from steelyard.tokenizers.registry import tokenizer_name
from tests.acceptance.commands import steelyard_here
from tests.library.target_languages import CAMPAIGNS

LEAVES = "leaves whole clauses as one word"


@pytest.fixture
def folders(tmp_path):
    """A campaign in each language, without a word on the language but in meta.json."""
    for language, campaign in CAMPAIGNS.items():
        folder = tmp_path / f"port-{language}"
        texts = {f"refs/{label}": lines for label, lines in campaign.references.items()}
        texts |= {f"systems/{name}": lines for name, lines in campaign.systems.items()}
        for name, lines in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "meta.json").write_text(json.dumps({"source_language": "en", "target_language": language}))
    return tmp_path


def expected(language: str, labels: str = "A", **settings: str) -> dict[str, float]:
    campaign = CAMPAIGNS[language]
    references = [campaign.references[label] for label in labels]
    theirs = SacreBLEU(**(settings or {"trg_lang": language}))
    return {name: theirs.corpus_score(lines, references).score for name, lines in campaign.systems.items()}


def bleu(document: dict) -> dict[str, float]:
    return {system["system"]: system["scores"][0]["score"] for system in document["systems"]}


def score(folders: Path, language: str, *options: str):
    here = f"port-{language}"
    files = (f"{here}/refs/A.txt", "-i", f"{here}/systems/S.txt", f"{here}/systems/T.txt")
    return steelyard_here("score", *files, "-f", "json", *options, cwd=folders)


@pytest.mark.parametrize("language", CAMPAIGNS)
def test_score_takes_the_tokenizer_of_the_pair(folders, language):
    ended = score(folders, language, "-m", "bleu", "-l", f"en-{language}")
    assert (ended.returncode, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    assert bleu(found) == pytest.approx(expected(language), abs=1e-9)
    assert found["systems"][0]["scores"][0]["metric"] == "bleu"
    signature = found["systems"][0]["scores"][0]["signature"]
    assert f"|tok:{SacreBLEU(trg_lang=language).tokenizer.signature()}|" in signature


def test_a_tokenizer_that_is_named_stays_with_a_note(folders):
    for options in (("-m", "bleu", "-tok", "13a"), ("-m", "bleu:tok=13a")):
        ended = score(folders, "zh", "-l", "en-zh", *options)
        assert bleu(json.loads(ended.stdout)) == pytest.approx(expected("zh", tokenize="13a"), abs=1e-9)
        assert ended.stderr == (
            f"note: bleu: in zh text the tokenizer 13a {LEAVES}, so scores mean little. Use tok=zh, the tokenizer of "
            "zh.\n"
        )
    ended = score(folders, "zh", "-l", "en-zh", "-m", "bleu", "-tok", "char")
    assert (bleu(json.loads(ended.stdout)), ended.stderr) == (
        pytest.approx(expected("zh", tokenize="char"), abs=1e-9),
        "",
    )
    assert "tokenizer 13a leaves" in score(folders, "ja", "-l", "en-th", "-m", "bleu").stderr
    assert score(folders, "zh", "-m", "bleu").stderr == "", "nobody has said that it is Chinese"
    assert score(folders, "zh", "-tok", "moses").returncode == 2


@pytest.mark.parametrize("language", CAMPAIGNS)
def test_a_campaign_has_the_tokenizer_that_its_folder_asks_for(folders, language):
    here, database = f"port-{language}", f"sqlite:///{folders}/steelyard.db"
    options = ("-m", "bleu", "chrf", "--confidence", "0", "--database", database, "--processes", "1")
    ended = steelyard_here("evaluate", here, *options, "--by", "bleu", cwd=folders)
    assert ended.returncode == 0, ended.stderr
    assert "note:" not in ended.stderr
    boards = json.loads((folders / f"{here}-report" / "leaderboard.json").read_text())
    for board in boards:
        labels = "".join(board["references"])
        assert bleu(board) == pytest.approx(expected(language, labels), abs=1e-9)
        assert tokenizer_name(parse_metric(board["metrics"][0]).tok) == f"{language}-mecab".replace("zh-mecab", "zh")
        assert board["notices"] == []


def test_a_board_of_13a_says_so_wherever_it_is_shown(folders):
    """As the boards that earlier releases have stored do."""
    database = f"sqlite:///{folders}/steelyard.db"
    options = ("--references", "A", "--confidence", "0", "--database", database, "--processes", "1")
    told = f"bleu: in zh text the tokenizer 13a {LEAVES}"
    ended = steelyard_here("evaluate", "port-zh", "-m", "bleu:tok=13a", *options, cwd=folders)
    assert told in ended.stderr
    assert told in (folders / "port-zh-report" / "report.html").read_text()
    ended = steelyard_here("leaderboard", "--database", database, cwd=folders)
    assert told in ended.stdout
    ended = steelyard_here("leaderboard", "--database", database, "-f", "json", cwd=folders)
    assert told in json.loads(ended.stdout)[0]["notices"][0]


def test_a_folder_of_wmts_files_with_several_pairs(folders):
    (folders / "wmt").mkdir()
    for pair, language in (("en-ja", "ja"), ("en-zh", "zh")):
        campaign = CAMPAIGNS[language]
        texts = {"src.en": ["x"] * 8, f"ref.refA.{language}": campaign.references["A"]}
        texts |= {f"hyp.{name}.{language}": lines for name, lines in campaign.systems.items()}
        for name, lines in texts.items():
            (folders / "wmt" / f"generaltest2022.{pair}.{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for pair in ("en-ja", "en-zh"):
        options = ("-m", "bleu", "--confidence", "0", "--output", pair, "--processes", "1", "--name", pair)
        database = f"sqlite:///{folders}/steelyard.db"
        ended = steelyard_here("evaluate", "wmt", "--pair", pair, *options, "--database", database, cwd=folders)
        assert ended.returncode == 0, ended.stderr
        (board,) = json.loads((folders / pair / "leaderboard.json").read_text())
        assert bleu(board) == pytest.approx(expected(pair[3:]), abs=1e-9)


def test_a_sweep_has_the_tokenizer_of_each_test_set():
    given = {"metric": "tbleu", "parameter": "eps", "first": None, "last": None, "steps": None, "values": ["0,1"]}
    for fixed, against, names in (
        ([], None, {"zh": "zh", "ja": "ja-mecab", "cs": "13a"}),
        ([], ["bleu"], {"zh": "zh", "cs": "13a"}),
        (["tok=intl"], None, {"zh": "intl", "cs": "intl"}),
    ):
        (sweep,) = requested_sweeps(Options(**given, fixed=fixed, against=against)).values()
        for language, name in names.items():
            settled, _ = pinned(sweep, language, frozenset(), Resources())
            assert {tokenizer_name(metric.tok) for metric in settled.every} == {name}


def test_a_schedule_keeps_the_tokenizer_of_its_test_set(folders):
    database = f"sqlite:///{folders}/steelyard.db"
    cron = ("--cron", "30 2 * * *", "--time-zone", "Europe/Prague", "--source", "out/{date}/{system}.txt")
    for language in ("ja", "zh"):
        options = ("--test-set", f"port-{language}", "-m", "bleu", "chrf", "--database", database)
        ended = steelyard_here("schedule", "create", language, *cron, *options, cwd=folders)
        assert (ended.returncode, ended.stderr) == (0, "")
    with reading(make_engine(database)) as connection:
        found = {each.name: each.metrics[0] for each in list_schedules(connection)}
    assert found["zh"] == "bleu:tok=zh"
    assert found["ja"].startswith("bleu:tok=ja-mecab-")


def test_a_run_of_13a_is_reported_in_its_verdict(folders):
    database = ("--database", f"sqlite:///{folders}/steelyard.db")
    cron = ("--cron", "30 2 * * *", "--time-zone", "Europe/Prague", "--source", "out/{date}/{system}.txt")
    asked = ("--test-set", "port-zh", "-m", "bleu:tok=13a", "chrf")
    ended = steelyard_here("schedule", "create", "gate", *cron, *asked, *database, cwd=folders)
    assert f"13a {LEAVES}" in ended.stderr
    (folders / "out" / "2026-03-02").mkdir(parents=True)
    (folders / "port-zh/systems/S.txt").rename(folders / "out/2026-03-02/S.txt")
    run = ("--date", "2026-03-02", "--json", "report.json", "--processes", "1")
    ended = steelyard_here("schedule", "run", "gate", *run, *database, cwd=folders)
    assert ended.returncode == 0, ended.stderr
    assert f"Note: bleu: in zh text the tokenizer 13a {LEAVES}" in ended.stdout
    notes = json.loads((folders / "report.json").read_text())["verdict"]["notes"]
    assert [note for note in notes if LEAVES in note]


@pytest.mark.parametrize(
    ("language", "options", "settings"),
    [
        ("zh", ["-T", "-l", "en-zh"], {"tokenize": "zh"}),
        ("ja", ["-T", "-l", "en-ja"], {"tokenize": "ja-mecab"}),
        ("ko", ["-T", "-l", "en-ko"], {"tokenize": "ko-mecab"}),
        ("ko", ["-l", "en-ko"], {"tokenize": "none"}),
        ("zh", ["-l", "en-zh"], {"tokenize": "none"}),
    ],
)
def test_mtrics_cuts_into_words_of_the_target_language(folders, monkeypatch, capsys, language, options, settings):
    monkeypatch.chdir(folders)
    here = f"port-{language}"
    assert mtrics(["-c", f"{here}/systems/S.txt", "-r", f"{here}/refs/A.txt", "-b", "-s", *options]) == 0
    found = capsys.readouterr()
    theirs = expected(language, smooth_method="none", **settings)["S"]
    assert f"BLEU:\t{theirs / 100:.4f}".rstrip("0").rstrip(".") in found.out
    assert (LEAVES in found.err) == (language == "zh" and settings["tokenize"] == "none")
