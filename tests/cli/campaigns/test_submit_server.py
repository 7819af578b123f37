"""`steelyard --server URL submit`: as on a database, over the network."""

import json
import math
import threading

import pytest
from sqlalchemy import select, update

from campaigns.test_sets.files import NamedContent
from cli.main import main
from models.database.session import reading, writing
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.states import QueueClass
from tests.acceptance.commands import wait_for
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.campaigns import given, with_test_set
from tests.service.port import NAME, Port, output


@pytest.fixture
def port(live: Live) -> Port:
    return Port.opened(live.service)


@pytest.fixture
def submit(live: Live, port: Port, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(port.accounts["mary"]))
    (tmp_path / "out.txt").write_bytes(output())
    (tmp_path / "short.txt").write_bytes(output(segments=10))

    def run(file, *arguments, before=("--server", live.url)):
        named = ("--campaign", NAME, "--system", "mast")
        status = main([*before, "submit", str(tmp_path / file), *named, *arguments])
        return status, *capsys.readouterr()

    return run


def test_an_output_is_submitted_and_its_scores_are_shown(live, port, submit):
    def work():
        wait_for(lambda: port.count(Submission) == 2)
        port.work_off()

    worker = threading.Thread(target=work)
    worker.start()
    status, out, err = submit("out.txt", "--primary", "-w", "2")
    worker.join()
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "Stored as submission 2 (harbour/mast) for port 1: quay, 300 segments. Evaluation: 2."
    assert lines[1] == "Queued as interactive, next in the queue."
    assert lines[2].split() == ["References", "Metric", "Score", "Rank"]
    assert [line.split()[:2] for line in lines[4:]] == [["A", "BLEU"], ["A", "chrF2"]]
    assert all(line.split()[-2:] == ["of", "2"] for line in lines[4:])
    assert "[" in lines[4]
    assert "segments " in err


def test_the_very_same_again_is_no_second_one(live, port, submit, monkeypatch):
    monkeypatch.setenv("STEELYARD_SERVER", live.url)
    assert submit("out.txt", "--no-wait", before=())[0] == 0
    status, out, _ = submit("out.txt", "--no-wait", before=())
    assert status == 0
    assert out.startswith("Already submitted as submission 2 ")
    assert port.count(Submission) == 2


def test_what_is_wrong_is_said_and_nothing_is_stored(port, submit, monkeypatch):
    status, out, err = submit("short.txt")
    assert (status, out) == (1, "")
    assert err.startswith("steelyard: The output cannot be scored, and nothing was stored.\n  fatal: ")
    assert port.count(Submission) == 1
    monkeypatch.setenv("STEELYARD_TOKEN", "nonsense")
    status, _, err = submit("out.txt")
    assert status == 1
    assert "steelyard login" in err
    status, _, err = submit("out.txt", "--processes", "1")
    assert (status, "--processes is for a database" in err) == (2, True)
    assert port.count(Submission) == 1


def test_how_urgent_it_is_is_for_organisers_to_say(live, port, submit, monkeypatch):
    for urgent in (("--due", "2h"), ("--class", "nightly")):
        status, _, err = submit("out.txt", *urgent, "--no-wait")
        assert (status, "Only organisers of this campaign" in err) == (1, True)
    assert port.count(Submission) == 1
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(port.accounts["ann"]))
    asked = ("--team", "harbour", "--override", "--due", "2h", "--class", "campaign", "--no-wait")
    status, out, err = submit("out.txt", *asked)
    assert (status, out.splitlines()[1]) == (0, "Queued as campaign, 1 submission ahead of it."), err
    with reading(live.service.engine) as connection:
        row = connection.execute(
            select(Evaluation.due_at - Evaluation.created_at, Evaluation.queue_class).order_by(Evaluation.id.desc())
        ).first()
    assert row is not None
    assert 7000 < row[0] <= 7200
    assert row[1] == QueueClass.CAMPAIGN


def test_nobody_is_there(submit, monkeypatch):
    from tests.servers import free_port

    monkeypatch.setattr("steelyard_client.retries.RetryPolicy.wait", lambda *_, **__: None)
    status, _, err = submit("out.txt", before=("--server", f"http://127.0.0.1:{free_port()}"))
    assert status == 1
    assert "does not answer" in err


def test_a_scale_without_end_has_more_digits_whatever_the_metric_is_called(live, port, submit, capsys):
    assert submit("out.txt", "--no-wait")[0] == 0
    port.work_off()
    with writing(live.service.engine) as connection:
        connection.execute(update(Score).where(Score.metric == 1).values(scale=math.inf))
    _, out, _ = submit("out.txt")
    bleu, chrf = (line.split()[2] for line in out.splitlines() if line.startswith("A "))
    assert (len(bleu.partition(".")[2]), len(chrf.partition(".")[2])) == (1, 3)
    for where in (["--server", live.url], ["--database", live.service.settings.database_url]):
        assert main(["leaderboard", NAME, *where]) == 0
        assert f"{chrf} [" in capsys.readouterr().out
    with live.client(port.accounts["mary"]) as client:
        (system, *_) = [each for each in client.read_leaderboard(NAME).items if each.system == "mast"]
        assert [score.scale for score in system.scores] == [100.0, None]
        (told,) = client.read_submission(2).feedback
        assert [score.scale for score in told.scores] == [100.0, None]


def test_one_file_of_a_system_for_all_pairs(live, tmp_path, monkeypatch, capsys):
    """As WMT25 has it: its documents say of which pair they are."""
    mary = live.service.account("mary")
    live.service.campaign("port", teams=(live.service.team("harbour", mary),))
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\n0\ta.1\n1\ta.1\n")
    for language in ("cs", "de", "is"):
        test_set = given(b"jedna\ndve\n", b"one\ntwo\n", target_language=language, documents=documents)
        with_test_set(live.service.engine, "port", test_set, name=f"en-{language}")
    monkeypatch.setenv("STEELYARD_TOKEN", live.token(mary))
    texts = {"en-cs_CZ": "jedna\n\ndve", "en-de_DE": "jedna", "en-is_IS": "a\n\nb\n\nc", "en-fr_FR": "un"}
    rows = [{"doc_id": f"{pair}_#_news_#_a.1", "hypothesis": text} for pair, text in texts.items()]
    (tmp_path / "Yolu.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def submit(*arguments):
        asked = ("--campaign", "port", "--system", "mast", "--no-wait")
        status = main(["--server", live.url, "submit", str(tmp_path / "Yolu.jsonl"), *asked, *arguments])
        return status, *capsys.readouterr()

    status, out, err = submit()
    assert status == 1
    assert "for port: en-cs, 2 segments" in out
    assert "Submitted 1 of 4 outputs." in out
    refused = [line for line in err.splitlines() if "refused: " in line]
    assert [line.split("refused: ")[1].split(":")[0] for line in refused] == [
        *("Yolu.jsonl (en-fr_FR)", "Yolu.jsonl (en-de_DE)", "Yolu.jsonl (en-is_IS)"),
    ]
    # One of its pairs alone is still chosen by name.
    status, out, err = submit("--test-set", "en-cs")
    assert (status, "Already submitted" in out) == (0, True), err
