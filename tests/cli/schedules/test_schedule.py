"""`steelyard nightly`: schedules by command, and a run that says by its exit status what came of it."""

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sqlalchemy import insert, select

from models.corpus.test_sets import DocumentSegments, document_segments
from models.database.session import make_engine, reading, writing
from models.schema.campaigns import CampaignTestSet
from models.schema.corpus import Submission, System, TestSet
from models.schema.nightly import Delivery, NightlyRun, Schedule
from models.schema.states import LeaseState, NightlyRunState
from runtime.settings import Settings
from scheduler.nightly.runner import NightlyRunner
from tests.cli.status import status_of
from tests.scheduler.nightly.nightly_runs import REFERENCE, put

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

NIGHTLY = ("--cron", "30 2 * * *", "--time-zone", "Europe/Prague")
PATTERN = ("--source", "out/{date}/{system}.txt")


@pytest.fixture
def nightly(tmp_path, sqlite_url, capsys, monkeypatch):
    """Runs `steelyard nightly ...` in a folder with a test set: (status, output, errors)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STEELYARD_BROKER_URL", raising=False)
    (tmp_path / "trial" / "refs").mkdir(parents=True)
    (tmp_path / "trial" / "refs" / "A.txt").write_bytes(REFERENCE + b"\n")

    def run(verb, *arguments):
        status = status_of(["schedule", verb, *arguments, "--database", sqlite_url])
        out, err = capsys.readouterr()
        # The test set has empty lines.
        return status, out, "".join(line for line in err.splitlines(True) if "scored as a translation" not in line)

    return run


def database(url_of_folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(url_of_folder / "steelyard.db")


def test_three_runs_of_which_the_last_is_worse(nightly, tmp_path):
    status, out, err = nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "chrf", "bleu")
    assert (status, err) == (0, "")
    assert out.startswith('Test set trial.\nSchedule "gate": the next run is ')
    put(tmp_path / "out", "2026-03-02", {"tug": 1, "barge": 2})
    put(tmp_path / "out", "2026-03-03", {"tug": 3, "barge": 2})
    put(tmp_path / "out", "2026-03-04", {"tug": 4, "barge": 2}, worse=0.5)
    found = {}
    for day in ("2026-03-02", "2026-03-03", "2026-03-04"):
        arguments = ("--date", day, "--junit", "report.xml", "--json", "report.json", "--processes", "1")
        status, out, err = nightly("run", "gate", *arguments)
        assert "Traceback" not in err
        report = json.loads((tmp_path / "report.json").read_text())
        failures = ElementTree.parse(tmp_path / "report.xml").findall(".//failure")
        found[day] = (status, report["state"], report["wrong"], len(failures) > 0)
        assert day in out
    assert found == {
        "2026-03-02": (0, "done", False, False),
        "2026-03-03": (0, "done", False, False),
        "2026-03-04": (1, "done", True, True),
    }

    status, out, _ = nightly("list", "-f", "json")
    (listed,) = json.loads(out)
    assert (status, listed["name"], listed["runs"]) == (0, "gate", 3)
    last = {"last_date": "2026-03-04", "last_state": "done", "last_regressed": True}
    assert {name: listed[name] for name in last} == last
    for format_, part in (("text", "2026-03-04"), ("json", '"2026-03-04"')):
        status, out, _ = nightly("show", "gate", "-f", format_, "--output", f"history.{format_}")
        assert (status, out) == (0, f"Written: history.{format_}\n")
        assert part in (tmp_path / f"history.{format_}").read_text()

    assert "Add --yes" in nightly("delete", "gate")[2]
    kept = 'Schedule "gate" is deleted; its history is kept (3 runs).\n'
    assert nightly("delete", "gate", "--yes") == (0, kept, "")
    assert nightly("run", "gate", "--date", "4.3.2026")[0] == 2
    status, _, err = nightly("run", "gate")
    assert (status, 'The schedule "gate" was removed' in err) == (1, True)
    assert nightly("list")[1] == "There is no schedule. `steelyard schedule create` makes one.\n"
    assert "deleted" in nightly("list", "--removed")[1]
    status, out, _ = nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "chrf")
    assert status == 0
    assert "2026-03-04" in nightly("show", "gate")[1]
    gone = 'Schedule "gate" is deleted; its history is deleted.\n'
    assert nightly("delete", "gate", "--history", "--yes")[:2] == (0, gone)
    status, _, err = nightly("show", "gate", "--plot", "gate.svg")
    assert (status, "There is no schedule 'gate'" in err) == (1, True)


def test_a_command_and_a_baseline_from_the_folder_of_the_test_set(nightly, tmp_path):
    put(tmp_path / "trial", "systems", {"ferry": 7})
    (tmp_path / "key").write_text("s3cret\n")
    (tmp_path / "translate.sh").write_text("mkdir $STEELYARD_OUTPUT/trial; cp out.txt $STEELYARD_OUTPUT/trial/tug.txt")
    arguments = (
        *("--command", "sh translate.sh", "--baseline", "system:ferry", "--references", "A", "--test-set", "trial"),
        *("--webhook", "https://hooks.example.org/T0KEN", "--webhook-secret-file", "key", "-m", "chrf", "ter"),
    )
    status, out, err = nightly("create", "gate", *NIGHTLY, *arguments)
    assert (status, err) == (0, "")
    status, out, _ = nightly("list", "-f", "json")
    (listed,) = json.loads(out)
    baseline = {"kind": "named", "system": "ferry", "date": None}
    assert (listed["webhook"], listed["baseline"]) == ("hooks.example.org", baseline)
    assert listed["source"] == "sh translate.sh"
    for secret in ("s3cret", "T0KEN"):
        assert secret not in out
    # No message leaves this test.
    with database(tmp_path) as connection:
        connection.execute("UPDATE schedule SET webhook = NULL")
    connection.close()
    put(tmp_path, "", {"out": 7}, worse=0.6)
    status, _, err = nightly("run", "gate", "--json", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert (status, report["state"], report["wrong"]) == (1, "done", True)
    assert {finding["baseline_system"] for finding in report["verdict"]["findings"]} == {"ferry"}
    assert {finding["system"] for finding in report["verdict"]["findings"]} == {"tug"}
    status, _, err = nightly("create", "two", *NIGHTLY, *PATTERN, "--test-set", "trial", "--baseline", "system:nobody")
    assert (status, err) == (0, 'note: No output of "nobody" is stored for trial: runs must bring it.\n')


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--cron", "61 2 * * *", *PATTERN, "--test-set", "trial"), 2, 'The minute "61" of the cron expression'),
        (("--cron", "0 2 * * *", "--time-zone", "Europe/Praha", *PATTERN, "--test-set", "trial"), 2, "Europe/Prague"),
        ((*NIGHTLY, *PATTERN, "--test-set", "gone"), 1, "There is no folder 'gone' here. The database has no test set"),
        ((*NIGHTLY, "--test-set", "trial"), 2, "Say where outputs come from"),
        ((*NIGHTLY, *PATTERN), 2, "--test-set"),
        ((*NIGHTLY, *PATTERN, "--test-set", "trial", "--baseline", "ferry"), 2, "none of previous, best, system:NAME"),
        ((*NIGHTLY, *PATTERN, "--test-set", "trial", "--baseline", "system:a@1.3."), 2, "is not a day"),
        ((*NIGHTLY, *PATTERN, "--test-set", "trial", "--webhook", "https://x.org"), 2, "go together"),
        ((*NIGHTLY, *PATTERN, "--test-set", "trial", "--references", "B"), 1, 'no reference "B"'),
        ((*NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "sempos"), 1, "sempos needs the layer"),
    ],
)
def test_what_is_refused(nightly, tmp_path, arguments, status, message):
    found, out, err = nightly("create", "gate", *arguments)
    assert (found, out) == (status, "")
    assert message in err
    with database(tmp_path) as connection:
        assert connection.execute("SELECT count(*) FROM schedule").fetchall() == [(0,)]
        assert connection.execute("SELECT count(*) FROM campaign").fetchall() == [(0,)]
    connection.close()


def test_a_run_that_others_see_to(nightly, tmp_path, sqlite_url, monkeypatch):
    """With a broker that other processes share; here a thread is the scheduler."""
    nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial")
    monkeypatch.setenv("STEELYARD_BROKER_URL", "redis://localhost:1/0")
    context, ended = NightlyRunner(Settings(database_url=sqlite_url, sweep_seconds=0.01)), threading.Event()

    def work():
        while not ended.wait(0.01):
            context.run_once()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        status, _, err = nightly("run", "gate", "--date", "2026-03-05", "--json", "report.json")
    finally:
        ended.set()
        thread.join()
        context.stop()
    report = json.loads((tmp_path / "report.json").read_text())
    assert (status, report["state"], report["wrong"]) == (1, "failed", True)
    assert f"no file matches {tmp_path}/out/2026-03-05/{{system}}.txt" in report["reason"]
    assert "note: No worker is alive." in err


def test_up_brings_its_own_broker(monkeypatch, capsys):
    monkeypatch.setenv("STEELYARD_BROKER_URL", "redis://localhost:1/0")
    assert status_of(["up"]) == 1
    assert "brings its own broker" in capsys.readouterr().err


def test_a_schedule_that_nobody_sees_to_is_overdue(nightly, tmp_path):
    nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial")
    with database(tmp_path) as connection:
        connection.execute("UPDATE schedule SET next_at = next_at - 7 * 86400")
    connection.close()
    assert "overdue: no scheduler runs it" in nightly("list")[1]


def test_a_webhook_that_was_not_delivered(nightly, sqlite_url):
    nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial")
    engine = make_engine(sqlite_url)
    with writing(engine) as connection:
        nightly_run = {"due_at": 1.0, "date": "2027-03-01", "state": NightlyRunState.FAILED}
        connection.execute(insert(NightlyRun).values(schedule_id=select(Schedule.id).scalar_subquery(), **nightly_run))
        message = {"state": LeaseState.FAILED, "attempts": 2, "error": "No route."}
        connection.execute(insert(Delivery).values(nightly_run_id=select(NightlyRun.id).scalar_subquery(), **message))
    engine.dispose()
    told = "gate: the webhook was not notified of the run of 2027-03-01 (2 attempts, given up): No route."
    assert nightly("list")[1].splitlines()[-1] == told
    assert json.loads(nightly("list", "-f", "json")[1])[0]["failed_delivery"]["given_up"] is True


def test_a_schedule_without_a_run_cannot_be_drawn(nightly, tmp_path):
    nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "chrf")
    status, _, err = nightly("show", "gate", "--plot", "gate.svg")
    assert (status, err) == (1, 'steelyard: The schedule "gate" has had no run yet: there is nothing to plot.\n')
    assert not (tmp_path / "gate.svg").exists()
    put(tmp_path / "out", "2026-03-02", {"tug": 1})
    assert nightly("run", "gate", "--date", "2026-03-02", "--processes", "1")[0] == 0
    status, out, err = nightly("show", "gate", "--plot", "gate.svg")
    assert (status, err) == (0, "")
    assert "2026-03-02" in out
    drawn = (tmp_path / "gate.svg").read_text()
    assert ElementTree.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
    assert "tug" in drawn


def test_a_test_set_that_is_stored_is_taken_by_its_name(nightly, tmp_path):
    """Also into a campaign that has another one of that name, as another version."""
    measured = (*NIGHTLY, *PATTERN, "-m", "chrf")
    assert nightly("create", "gate", *measured, "--test-set", "trial")[0] == 0
    (tmp_path / "trial").rename(tmp_path / "moved")
    status, out, err = nightly("create", "second", *measured, "--test-set", "trial")
    assert (status, err, out.splitlines()[0]) == (0, "", "Test set trial.")
    with database(tmp_path) as connection:
        assert connection.execute("SELECT count(*) FROM test_set").fetchall() == [(1,)]
        known = "SELECT name, json_extract(test_sets, '$[0].test_set_id') FROM schedule ORDER BY id"
        assert connection.execute(known).fetchall() == [("gate", 1), ("second", 1)]
    # Another one of that name: which is meant must be said.
    (tmp_path / "other" / "trial" / "refs").mkdir(parents=True)
    (tmp_path / "other" / "trial" / "refs" / "A.txt").write_bytes(REFERENCE + b"\nmore\n")
    assert nightly("create", "third", *measured, "--test-set", "other/trial")[0] == 0
    status, _, err = nightly("create", "fourth", *measured, "--test-set", "trial")
    assert (status, err) == (
        1,
        "steelyard: There is no folder 'trial' here. Several campaigns have a test set 'trial', and not the same: "
        "gate: trial, second: trial, third: trial. Name one.\n",
    )
    assert nightly("create", "fourth", *measured, "--test-set", "third: trial")[1].startswith("Test set trial.\n")
    # A campaign that has had the one gets the other as another version.
    assert nightly("delete", "third", "--yes")[0] == 0
    assert nightly("create", "third", *measured, "--test-set", "gate: trial")[1].startswith("Test set trial@2.\n")
    with database(tmp_path) as connection:
        stored = dict(connection.execute(known).fetchall())
    assert stored == {"gate": 1, "second": 1, "fourth": 2, "third": 1}
    connection.close()


def test_a_test_set_from_a_folder_keeps_what_is_known_of_its_segments(nightly, tmp_path):
    """Later outputs are matched by the ids that its documents give their segments."""
    lines = REFERENCE.count(b"\n") + 1
    names = [("first", number) if number < 3 else ("second", number - 3) for number in range(lines)]
    rows = [f"{number}\t{name}\tnews\ts{at}" for number, (name, at) in enumerate(names)]
    (tmp_path / "trial" / "docs.tsv").write_text("\n".join(["segment\tdoc_id\tdomain\tsegment_id", *rows]) + "\n")
    (tmp_path / "trial" / "source.txt").write_bytes(REFERENCE + b"\n")
    (tmp_path / "trial" / "meta.json").write_text('{"source_language": "de", "target_language": "cs"}')
    assert nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "chrf")[0] == 0
    engine = make_engine(f"sqlite:///{tmp_path / 'steelyard.db'}")
    with reading(engine) as connection:
        (known,) = connection.execute(select(TestSet)).all()
        assert document_segments(connection, known.id) == {
            "first": DocumentSegments([0, 1, 2], ["s0", "s1", "s2"]),
            "second": DocumentSegments(list(range(3, lines)), [f"s{at}" for at in range(lines - 3)]),
        }
    engine.dispose()
    assert (known.source_language, known.target_language, known.source_text_id is None) == ("de", "cs", False)


def test_test_sets_whose_metrics_need_other_settings_have_no_schedule_in_common(nightly, tmp_path):
    for pair in ("en-cs", "en-ja"):
        (tmp_path / pair / "refs").mkdir(parents=True)
        (tmp_path / pair / "refs" / "A.txt").write_bytes(REFERENCE + b"\n")
        (tmp_path / pair / "meta.json").write_text(
            json.dumps({"source_language": pair[:2], "target_language": pair[3:]})
        )
    status, out, err = nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "en-cs", "en-ja", "-m", "bleu")
    assert (status, out) == (1, "")
    assert err == (
        "steelyard: The metrics need different settings for en-cs and en-ja (different languages, for instance). "
        "Create a schedule for each.\n"
    )
    with database(tmp_path) as connection:
        assert connection.execute("SELECT count(*) FROM schedule").fetchall() == [(0,)]
    connection.close()
    by_test_set = ("--source", "out/{date}/{test_set}/{system}.txt")
    assert nightly("create", "gate", *NIGHTLY, *by_test_set, "--test-set", "en-cs", "en-ja", "-m", "chrf")[0] == 0


def test_a_secret_that_is_no_text(nightly, tmp_path):
    (tmp_path / "key").write_bytes(b"\xff\xfe\x00")
    webhook = ("--webhook", "https://hooks.example.org/x", "--webhook-secret-file", "key")
    status, out, err = nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "-m", "chrf", *webhook)
    assert (status, out, err) == (1, "", "steelyard: key: is not text. Write the secret as text.\n")


def stored(url: str) -> dict[str, Any]:
    """The only schedule, as it is stored."""
    engine = make_engine(url)
    with reading(engine) as connection:
        (row,) = connection.execute(select(Schedule.__table__)).all()
    engine.dispose()
    return dict(row._mapping)


def test_what_a_schedule_is_told_is_stored(nightly, tmp_path, sqlite_url):
    put(tmp_path / "trial", "refs", {"B": 3})
    (tmp_path / "key").write_text("  s3cret\n")
    told = (
        *("--baseline", "system:fer@ry@2026-03-01", "--test", "randomization", "--alpha", "0.01"),
        *("--correction", "bh", "--minimum-difference", "0.25", "--replicates", "77", "--seed", "9"),
        *("--resample", "segment", "--team", "harbour", "--references", "B", "B,A", "-m", "chrf", "ter"),
        *("--webhook", "http://127.0.0.1:7/x", "--webhook-secret-file", "key", "--webhook-private"),
        *("--command", "true", "--seconds", "12.5"),
    )
    status, _, err = nightly("create", "gate", *NIGHTLY, *told, "--test-set", "trial")
    assert (status, err) == (0, "")
    found = stored(sqlite_url)
    expected = {
        "name": "gate", "cron": "30 2 * * *", "time_zone": "Europe/Prague", "test": "randomization", "alpha": 0.01,
        "correction": "bh", "minimum_difference": 0.25, "replicates": 77, "seed": 9, "team": "harbour",
        "webhook": "http://127.0.0.1:7/x", "webhook_secret": "s3cret", "webhook_private": True,
        "baseline": {"kind": "named", "system": "fer@ry", "date": "2026-03-01"},
        "test_sets": [
            {"test_set_id": 1, "references": ["B"], "resample": "segment"},
            {"test_set_id": 1, "references": ["B", "A"], "resample": "segment"},
        ],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert [each.partition(":")[0] for each in found["metrics"]] == ["chrf", "ter"]
    assert found["source"]["seconds"] == 12.5


def test_what_a_schedule_is_not_told(nightly, tmp_path, sqlite_url):
    """All references together, a baseline of before, and no webhook."""
    put(tmp_path / "trial", "refs", {"B": 3})
    assert nightly("create", "gate", "--cron", "0 3 * * *", "--command", "true", "--test-set", "trial")[0] == 0
    found = stored(sqlite_url)
    expected = {
        "time_zone": "UTC", "test": "bootstrap", "alpha": 0.05, "correction": "holm", "minimum_difference": 0.0,
        "replicates": 1000, "seed": 12345, "team": "", "webhook": None, "webhook_secret": None,
        "webhook_private": False, "baseline": {"kind": "previous"},
        "test_sets": [{"test_set_id": 1, "references": ["A", "B"], "resample": "segment"}],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found["source"]["seconds"] == 3600.0


def test_the_best_run_so_far_may_be_the_baseline(nightly, sqlite_url):
    assert nightly("create", "gate", *NIGHTLY, *PATTERN, "--test-set", "trial", "--baseline", "best")[0] == 0
    assert stored(sqlite_url)["baseline"]["kind"] == "best"


def test_outputs_of_a_named_baseline_are_those_of_its_team_and_test_set(nightly, tmp_path, sqlite_url):
    """A test set whose folder has no such output is named; the other systems of the folders are not stored."""
    put(tmp_path / "trial", "systems", {"ferry": 7, "tug": 8})
    (tmp_path / "other" / "refs").mkdir(parents=True)
    (tmp_path / "other" / "refs" / "A.txt").write_bytes(REFERENCE + b"\nmore\n")
    told = ("--source", "out/{date}/{test_set}/{system}.txt", "--baseline", "system:ferry", "--team", "harbour")
    status, out, err = nightly("create", "gate", *NIGHTLY, *told, "-m", "chrf", "--test-set", "other", "trial")
    assert (status, out.splitlines()[:2]) == (0, ["Test set other.", "Test set trial."])
    assert err == 'note: No output of "ferry" is stored for other: runs must bring it.\n'
    engine = make_engine(sqlite_url)
    with reading(engine) as connection:
        rows = connection.execute(
            select(System.team, System.name, CampaignTestSet.name)
            .join(Submission, Submission.system_id == System.id)
            .join(CampaignTestSet, CampaignTestSet.test_set_id == Submission.test_set_id)
        ).all()
    engine.dispose()
    assert rows == [("harbour", "ferry", "trial")]
