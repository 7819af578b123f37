"""`steelyard submit` and `steelyard quota` as teams and organisers type them."""

import io
import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from models.database.session import make_engine, reading, writing
from models.schema.base import now
from models.schema.campaigns import Declaration, Phase, SubmissionFindings
from models.schema.queue import Evaluation, Shard
from tests.campaigns.quotas.quotas import SEGMENTS, open_campaign
from tests.cli.status import status_of
from tests.scheduler.jobs import one_block_shards, similar_text, some_text, work_off

# From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

ASKED = ("--campaign", "trial", "--team", "harbour", "--system", "mast")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """A campaign with one system that is done."""
    file = tmp_path_factory.mktemp("submit") / "steelyard.db"
    shutil.copy(sqlite_template, file)
    settings = one_block_shards(f"sqlite:///{file}")
    open_campaign(make_engine(settings.database_url, pooled=False), settings, done=True)
    return file


@pytest.fixture
def steelyard(template, tmp_path, monkeypatch, capsys):
    """Runs a command beside two outputs: (status, output, errors)."""
    shutil.copy(template, tmp_path / "steelyard.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "sqlite:///steelyard.db")
    monkeypatch.delenv("STEELYARD_BROKER_URL", raising=False)
    for seed in (1, 2):
        (tmp_path / f"{seed}.txt").write_bytes(similar_text(some_text(SEGMENTS, 1), seed) + b"\n")

    def run(*arguments):
        status = status_of(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


def test_an_output_is_measured_at_once_and_shown_with_its_rank(steelyard):
    status, out, err = steelyard("submit", "1.txt", *ASKED, "--processes", "1", "--class", "nightly")
    assert status == 0, err
    assert out.splitlines()[:2] == [
        "Stored as submission 2 (harbour/mast) for trial, 6 segments. Evaluation: 2.",
        "Queued as nightly, next in the queue.",
    ]
    assert "Quota" not in out
    row = out.splitlines()[-1].split()
    assert row[:2] == ["A", "BLEU"]
    assert row[-2:] == ["of", "2"]
    # What stands on the leaderboard is the last one that a system has submitted.
    steelyard("submit", "2.txt", *ASKED, "--no-wait")
    work_off(one_block_shards("sqlite:///steelyard.db"))
    status, out, _ = steelyard("submit", "1.txt", *ASKED)
    assert (status, out.splitlines()[0].split(" (")[0]) == (0, "Already submitted as submission 2")
    assert out.splitlines()[-1].endswith("-     superseded on the leaderboard by a later submission of its system")
    assert "of 2" not in out


def test_quotas_are_set_used_and_shown(steelyard):
    assert steelyard("quota", "list")[1].startswith("There are no quotas")
    assert steelyard("quota", "update", "--per-day", "1", "--in-flight", "5", "--time-zone", "Europe/Prague")[0] == 0
    status, out, _ = steelyard("quota", "update", "--campaign", "trial", "--team", "harbour", "--in-flight", "none")
    assert status == 0
    assert [" ".join(line.split()) for line in out.splitlines()[2:]] == [
        "(all) (all) (all) in flight 5",
        "(all) (all) (all) per day (Europe/Prague) 1",
        "trial harbour (all) in flight no limit",
    ]
    status, out, err = steelyard("submit", "1.txt", *ASKED, "--no-wait", "--due", "2h", "--key", "k")
    assert (status, err) == (
        0,
        "note: `steelyard up`, or the next command that brings workers to this database, works on it\n",
    )
    assert "Quota: 1 of 1 of 2" in out
    with reading(make_engine("sqlite:///steelyard.db", pooled=False)) as connection:
        rows = [
            connection.execute(select(table.due_at, table.queue_class, table.team).order_by(table.id.desc())).first()
            for table in (Evaluation, Shard)
        ]
        assert [(row.due_at > 0, row.queue_class, row.team) for row in rows] == [(True, 0, "harbour")] * 2
    status, out, err = steelyard("submit", "2.txt", *ASKED)
    assert (status, out) == (1, "")
    assert "Team harbour has used 1 of 1 submission of " in err
    assert "(Europe/Prague); the next is possible from " in err
    assert err.splitlines()[0].endswith(", 00:00 (Europe/Prague).")
    status, _, err = steelyard("submit", "2.txt", *ASKED, "--key", "k")
    assert status == 1
    assert 'The key "k" was already used for submission 2' in err
    status, out, _ = steelyard("quota", "show", "harbour")
    assert status == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "Team harbour in trial"
    assert lines[3] == "in flight 1 no limit now"
    assert lines[4].endswith(", 00:00 (Europe/Prague)")
    assert steelyard("submission", "cancel", "2", "--yes", "--reason", "A rehearsal.")[0] == 0
    assert "Submission 2 does not count: A rehearsal." in steelyard("quota", "show", "harbour")[1]
    assert steelyard("submission", "retry", "2", "--yes", "--no-wait")[0] == 0
    assert steelyard("submission", "cancel", "2", "--yes", "--counts")[0] == 0
    assert "does not count" not in steelyard("quota", "show", "harbour")[1]
    assert steelyard("quota", "phase", "trial", "final")[1] == 'trial: the phase is "final".\n'
    assert steelyard("quota", "show", "harbour")[1].startswith('Team harbour in trial, phase "final"\n')
    assert steelyard("quota", "delete", "--per-day", "--yes")[1] == "Deleted: per day (Europe/Prague) (1).\n"


def test_the_receipt_says_how_much_of_each_quota_is_used(steelyard):
    steelyard("quota", "update", "--per-day", "5", "--in-flight", "3", "--per-phase", "none")
    for number in (1, 2):
        status, out, err = steelyard("submit", f"{number}.txt", *ASKED, "--no-wait")
        assert status == 0, err
        (line,) = (line for line in out.splitlines() if line.startswith("Quota: "))
        used = [each.split()[:3] for each in line.removeprefix("Quota: ").split(", ")]
        assert sorted(used) == [[str(number), "of", "3"], [str(number), "of", "5"]]


def test_what_is_noticed_while_a_file_is_read_is_said_once(steelyard, tmp_path):
    lines = (tmp_path / "1.txt").read_bytes().split(b"\n")
    (tmp_path / "odd.txt").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([b"", *lines[1:]]))
    status, _, err = steelyard("submit", "odd.txt", *ASKED, "--no-wait")
    assert status == 0, err
    assert err.count("odd.txt") == 2, err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("quota", "update", "--campaign", "trial"), 2, "Which limit?"),
        (("quota", "update", "--team", "harbour", "--per-day", "1"), 2, "give the campaign, too"),
        (("quota", "update", "--per-day", "-1"), 2, "not a whole number"),
        (("quota", "update", "--per-day", "1", "--time-zone", "Prague"), 1, 'There is no time zone "Prague"'),
        (("quota", "delete", "--yes"), 1, "There is no such quota"),
        (("quota", "show", "nobody"), 1, 'No team "nobody"'),
        (("submit", "1.txt", "--campaign", "trial", "--system", "s"), 1, "Name the team"),
        (("submit", "1.txt", "--campaign", "trail", "--team", "t", "--system", "s"), 1, "There is no campaign 'trail'"),
        (("submit", "1.txt", "--campaign", "trial", "--team", "a:b", "--system", "s"), 1, "the name of a team"),
        (("submit", "3.txt", *ASKED), 1, "3.txt"),
        (("submit", "1.txt", *ASKED, "--due", "soon"), 2, "is no time"),
    ],
)
def test_what_is_refused(steelyard, arguments, status, message):
    found, out, err = steelyard(*arguments)
    assert (found, out) == (status, "")
    assert message in err


def test_phases_say_when_submissions_are_accepted_and_organisers_override_them(steelyard):
    engine = make_engine("sqlite:///steelyard.db", pooled=False)
    with writing(engine) as connection:
        row = {"campaign_id": 1, "name": "blind", "kind": "blind", "starts_at": now() - 3600, "ends_at": now() - 600}
        connection.execute(insert(Phase).values(**row))
    status, _, err = steelyard("submit", "1.txt", *ASKED, "--no-wait")
    assert status == 1
    assert 'steelyard: Submissions are no longer accepted: the phase "blind" was closed at' in err
    said = ("--primary", "--unconstrained", "--description", "our best")
    status, out, err = steelyard("submit", "1.txt", *ASKED, "--no-wait", "--override", *said)
    assert status == 0, err
    assert "It came 10 min after the deadline, and is marked as late." in out
    with reading(engine) as connection:
        columns = (Declaration.kind, Declaration.constrained, Declaration.description, Declaration.phase)
        assert connection.execute(select(*columns)).one() == ("primary", False, "our best", "blind")
    status, _, err = steelyard("submit", "1.txt", *ASKED, "--primary", "--contrastive")
    assert status == 2


def test_what_is_odd_about_an_output_is_reported_and_kept(steelyard, tmp_path):
    lines = (tmp_path / "1.txt").read_bytes().split(b"\n")
    (tmp_path / "odd.txt").write_bytes(b"\n".join([b"", b"a <unk> of it", *lines[2:]]))
    status, _, err = steelyard("submit", "odd.txt", *ASKED, "--no-wait")
    assert status == 0, err
    assert "warning: 1 segment of the output is empty: 1." in err
    assert "note: warning" not in err
    with reading(make_engine("sqlite:///steelyard.db")) as connection:
        kept = (
            connection.execute(select(SubmissionFindings.findings).order_by(SubmissionFindings.submission_id.desc()))
            .scalars()
            .first()
        )
    assert {each["code"] for each in kept} >= {"empty", "special_tokens"}
    (tmp_path / "none.txt").write_bytes(b"\n" * len(lines[:-1]))
    status, _, err = steelyard("submit", "none.txt", *ASKED, "--no-wait")
    assert (status, "All 6 lines of the output are empty." in err) == (1, True)


def test_what_would_be_submitted_is_said_before(steelyard, tmp_path):
    folder = tmp_path / "outputs"
    folder.mkdir()
    shutil.copy("2.txt", folder / "trial.txt")
    (folder / "en-de.txt").write_text("x\n")
    (folder / "notes.md").write_text("x\n")
    status, out, err = steelyard("submit", "outputs", *ASKED, "--preview")
    assert "Left out, for these are no outputs: notes.md." in err
    assert (status, out.splitlines()[0]) == (1, "Nothing is stored: this is what would be.")
    assert "trial.txt" in out
    assert "refused: en-de.txt: There is no pair en-de." in err
    status, out, _ = steelyard("submit", "2.txt", *ASKED, "--preview", "-f", "json")
    assert (status, [each["file"] for each in json.loads(out)]) == (0, ["2.txt"])
    (tmp_path / "short.txt").write_text("x\n")
    status, _, err = steelyard("submit", "short.txt", *ASKED, "--preview")
    assert (status, "refused: short.txt: The output cannot be scored." in err) == (1, True)
    status, out, err = steelyard("submit", "outputs", *ASKED, "--processes", "1")
    assert "Left out, for these are no outputs: notes.md." in err
    assert out.splitlines()[0].startswith("Stored as submission"), "nothing had been"


def test_a_folder_is_submitted_pair_by_pair_and_the_refused_are_named(steelyard, tmp_path):
    folder = tmp_path / "outputs"
    folder.mkdir()
    shutil.copy("1.txt", folder / "trial.txt")
    (folder / "en-de.txt").write_text("x\n")
    status, out, err = steelyard("submit", "outputs", *ASKED, "--processes", "1")
    assert status == 1
    assert out.splitlines()[0].startswith("Stored as submission 2 (harbour/mast) for trial")
    assert out.splitlines()[-1] == "Submitted 1 of 2 outputs."
    assert "refused: en-de.txt: There is no pair en-de." in err
    assert "BLEU" in out, "and waits for its scores"
    # What is there already costs nothing; a zip is as good.
    (folder / "en-de.txt").unlink()
    shutil.copy("2.txt", folder / "._trial.txt")
    shutil.make_archive("zipped", "zip", "outputs")
    status, out, err = steelyard("submit", "zipped.zip", *ASKED, "--no-wait")
    assert (status, out.splitlines()[0].split(" (")[0]) == (0, "Already submitted as submission 2"), err
    status, _, err = steelyard("submit", "outputs", *ASKED, "--test-set", "trial")
    assert (status, "--test-set is for a single output" in err) == (2, True)


def test_an_output_from_standard_input_is_called_so(steelyard, tmp_path, monkeypatch):
    content = (tmp_path / "1.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    status, out, err = steelyard("submit", "-", *ASKED, "--preview", "-f", "json")
    assert (status, [each["file"] for each in json.loads(out)]) == (0, ["standard input"]), err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert steelyard("submit", "-", *ASKED) == (1, "", "steelyard: standard input: is empty.\n")
    (tmp_path / "empty.txt").touch()
    assert steelyard("submit", "empty.txt", *ASKED) == (1, "", "steelyard: empty.txt: is empty.\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    status, out, err = steelyard("submit", "-", *ASKED, "--processes", "1")
    assert status == 0, err
    assert out.startswith("Stored as submission 2 (harbour/mast) for trial, 6 segments.")


def test_a_preview_names_the_pairs_without_an_output(steelyard, tmp_path):
    (tmp_path / "news" / "refs").mkdir(parents=True)
    (tmp_path / "news" / "refs" / "A.txt").write_text("a\nb\n")
    assert steelyard("testset", "create", "trial", "en-is", "news")[0] == 0
    folder = tmp_path / "outputs"
    folder.mkdir()
    shutil.copy("2.txt", folder / "trial.txt")
    status, out, err = steelyard("submit", "outputs", *ASKED, "--preview")
    assert (status, "trial.txt" in out, err) == (0, True, "note: No output for en-is.\n")
