"""`submission cancel`, `retry` and `recompute` as people type them."""

import io
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from cli.main import main
from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import fail_evaluations
from models.queue.kinds.comparisons import start_comparison
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Campaign, CampaignMember
from models.schema.queue import Evaluation, Shard
from models.schema.results import Score, Statistics
from models.schema.roles import CampaignRole, SiteRole
from models.schema.states import LeaseState, QuotaKind
from steelyard.metrics.metric import EDITION
from tests.cli.keyboard import answer
from tests.cli.status import status_of
from tests.client.live import Live
from tests.scheduler.jobs import one_block_shards, queue_job, work_off

pytestmark = [
    # From Python 3.12 on; the pool of the embedded worker is forked from a thread by design.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """Two systems are done, one has failed after the first of three shards; another campaign waits."""
    file = tmp_path_factory.mktemp("control") / "steelyard.db"
    shutil.copy(sqlite_template, file)
    settings = one_block_shards(f"sqlite:///{file}")
    engine = make_engine(settings.database_url, pooled=False)
    job = queue_job(engine, settings, segments=600, systems=3, replicates=10)
    with writing(engine) as connection:
        last = select(Shard.id).where(Shard.first_block > 0)
        connection.execute(update(Shard).where(Shard.id.in_(last)).values(state=LeaseState.ENQUEUED))
    work_off(settings)
    with writing(engine) as connection:
        fail_evaluations(connection, job.all_evaluations[2:], "The disk is full.")
        connection.execute(update(Shard).where(Shard.state == LeaseState.ENQUEUED).values(state=LeaseState.PENDING))
    work_off(settings)
    queue_job(engine, settings, segments=20, systems=2, campaign="rehearsal")
    return file


@pytest.fixture
def database(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.copy(template, tmp_path / "steelyard.db")
    url = f"sqlite:///{tmp_path / 'steelyard.db'}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", url)
    monkeypatch.setenv("STEELYARD_CONCURRENCY", "1")
    return url


def states(url: str) -> list[str]:
    with reading(make_engine(url, pooled=False)) as connection:
        return list(connection.scalars(select(Evaluation.state).order_by(Evaluation.id)))


def test_nothing_is_cancelled_that_was_not_asked_for(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ["done", "done", "failed", "queued", "queued"]
    assert states(database) == before
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["submission", "cancel", "--state", "queued"]) == 1
    captured = capsys.readouterr()
    assert "Add --yes" in captured.err
    last = captured.out.splitlines()[-1]
    assert " ".join(last.split()) == "5 system1 rehearsal: trial against A queued"
    for refusal in ("n\n", "\n"):
        answer(monkeypatch, refusal)
        assert main(["submission", "cancel", "4", "1"]) == 1
        captured = capsys.readouterr()
        assert captured.out.endswith("Skipped: 1 done.\nCancel 1 evaluation? [y/N] ")
        assert captured.err == "steelyard: Nothing was done.\n"
    assert states(database) == before
    answer(monkeypatch, "y\n")
    assert main(["submission", "cancel", "4", "1", "--reason", " A\n rehearsal."]) == 0
    assert capsys.readouterr().out.endswith("Cancelled: 1 evaluation.\n")
    assert states(database) == [*before[:3], "cancelled", "queued"]
    with reading(make_engine(database, pooled=False)) as connection:
        assert connection.scalar(select(Evaluation.reason).where(Evaluation.id == 4)) == "A rehearsal."


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["submission", "cancel"], 2, "Which evaluations? Give their numbers, --campaign"),
        (["submission", "retry", "--yes"], 2, "Which evaluations?"),
        (["submission", "recompute", "x"], 2, '"x" is not a whole number'),
        (["submission", "cancel", "--state", "ended"], 2, '"ended" is no state'),
        (
            ["submission", "cancel", "--campaign", "trial", "--yes"],
            1,
            "None of the 3 evaluations is open: 2 done, 1 failed.",
        ),
        (["submission", "retry", "--campaign", "rehearsal", "--yes"], 1, "2 queued"),
        (["submission", "retry", "6", "--yes"], 1, "There is no evaluation 6. There are 5, numbered 1 to 5."),
        (["submission", "recompute", "--system", "raft", "--yes"], 1, "There are: system0, system1, system2."),
    ],
)
def test_what_is_refused(
    database: str, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    before = states(database)
    assert status_of(arguments) == status
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert states(database) == before


def test_tried_again_by_workers_of_its_own(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that waits is worked on, but the command waits for its own alone."""
    assert main(["submission", "retry", "--campaign", "trial", "--yes"]) == 0
    captured = capsys.readouterr()
    assert "Skipped: 2 done.\nQueued again: 1 evaluation.\nDone: 1, failed: 0, cancelled: 0.\n" in captured.out
    assert "evaluations 1 of 1" in captured.err
    assert states(database)[:3] == ["done"] * 3
    with reading(make_engine(database, pooled=False)) as connection:
        fresh = select(Shard.first_block, Shard.last_block).order_by(Shard.id.desc()).limit(1)
        assert connection.execute(fresh).one() == (1, 3), "what was finished was not kept"


def test_left_to_others(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["submission", "retry", "3", "--no-wait", "--yes"]) == 0
    assert "note: `steelyard up`, or the next command that brings workers" in capsys.readouterr().err
    assert states(database)[2] == "queued"


ALL = "quota of every team in every campaign"


@pytest.mark.parametrize(
    ("command", "action", "subject", "details"),
    [
        (
            "submission cancel --campaign rehearsal --reason wrong --yes",
            "evaluation.cancel",
            "2 evaluations",
            {"reason": "wrong"},
        ),
        ("submission retry 3 --no-wait --yes", "evaluation.retry", "evaluation 3", {"evaluations": [3]}),
        ("submission recompute 1 --no-wait --yes", "evaluation.recompute", "evaluation 1", {"evaluations": [1]}),
        (
            "quota update --campaign rehearsal --per-day 3",
            *("quota.set", "quota of every team in campaign rehearsal", {"per_day": [None, 3]}),
        ),
        ("quota update --in-flight none", "quota.set", ALL, {"in_flight": [7, "no limit"]}),
        ("quota delete --yes", "quota.remove", ALL, {"in_flight": [7, None]}),
        ("quota phase rehearsal dev", "campaign.phase", "campaign rehearsal", {"phase": "dev"}),
    ],
)  # fmt: skip
def test_what_commands_do_by_hand_is_in_the_audit_log(
    database: str, command: str, action: str, subject: str, details: dict[str, object]
) -> None:
    engine = make_engine(database, pooled=False)
    with writing(engine) as connection:
        set_quotas(connection, QuotaScope(), {QuotaKind.IN_FLIGHT: 7})
    assert main(command.split()) == 0
    with reading(engine) as connection:
        entry = connection.execute(select(AuditEntry)).one()
        campaigns = {row.id: row.name for row in connection.execute(select(Campaign.id, Campaign.name))}
    assert (entry.actor, entry.action, entry.subject) == ("command line", action, subject)
    assert entry.details.items() >= details.items()
    expected = "rehearsal" if "rehearsal" in command else None if "quota" in command else "trial"
    assert campaigns.get(entry.campaign_id) == expected


def test_recomputed_and_compared(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine = make_engine(database, pooled=False)
    assert main(["submission", "recompute", "1", "2", "3", "4", "--yes"]) == 0
    printed = capsys.readouterr().out
    assert "Skipped: 1 queued." in printed
    assert printed.endswith("Queued for recomputation: 3 evaluations.\nDone: 3, failed: 0, cancelled: 0.\n" + SAME)
    with writing(engine) as connection:
        connection.execute(update(Score).where(Score.evaluation_id == 2).values(score=Score.score + 1))
    assert main(["submission", "recompute", "--campaign", "trial", "--yes"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 3 scores differ from those before:" in printed
    (row,) = re.findall(r"^2 +system1 +trial against A +BLEU +(\S+) +(\S+)$", printed, re.MULTILINE)
    assert float(row[0]) == pytest.approx(float(row[1]) + 1)
    # A replicate only: the score itself is as before.
    with writing(engine) as connection:
        replicates = select(Score.replicate_scores).where(Score.evaluation_id == 1).scalar_subquery()
        connection.execute(update(Score).where(Score.evaluation_id == 2).values(replicate_scores=replicates))
        connection.execute(update(Score).where(Score.evaluation_id == 2).values(signature="old"))
    assert main(["submission", "recompute", "2", "--yes"]) == 1
    printed = capsys.readouterr().out
    assert "Where the score is the same, its sums or replicates differ." in printed
    assert "1 of them have another signature, such as" in printed
    assert main(["submission", "recompute", "2", "--yes", "--no-wait"]) == 0
    assert "scores" not in capsys.readouterr().out
    with reading(engine) as connection:
        assert connection.scalars(select(Statistics.evaluation_id).where(Statistics.evaluation_id == 2)).all() == []


SAME = "All 2 scores are the same to the bit as before.\n"


def test_comparisons_are_cancelled_by_their_numbers(
    database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(make_engine(database, pooled=False)) as connection:
        contest = RandomizationPlan(1, ((1,), (2,)), (Pair(0, 0, 1),), 99, 7)
        number = start_comparison(connection, contest, [(0, 99)], queue_class=0, team="", edition=EDITION)
    assert main(["status"]) == 0
    assert re.search(rf"{number} +trial +1 +99 +1\n", capsys.readouterr().out)
    cancel = ["submission", "cancel", "--comparison", str(number)]
    assert main([*cancel, "--yes"]) == 2
    assert main([*cancel, "--campaign", "trial", "--team", "harbour", "--yes"]) == 2
    answer(monkeypatch, "n\n")
    assert main([*cancel, "--campaign", "trial"]) == 1
    assert capsys.readouterr().out.endswith("Cancel 1 comparison? [y/N] ")
    assert main([*cancel, "--campaign", "trial", "--yes"]) == 0
    assert capsys.readouterr().out == "Cancelled: 1 comparison.\n"
    assert main([*cancel, "--campaign", "trial", "--yes"]) == 1
    assert "this one has ended" in capsys.readouterr().err


@pytest.fixture
def served(database: str) -> Iterator[Live]:
    """The same database behind a server."""
    with ExitStack() as stack:
        yield Live.start(database, stack)


def test_organisers_do_it_on_a_server_to_their_campaigns_alone(
    served: Live, database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, root = served.service.account("ann"), served.service.account("root", role=SiteRole.ADMINISTRATOR)
    with writing(served.service.engine) as connection:
        row = {"account_id": ann, "role": CampaignRole.ORGANISER}
        rehearsal = select(Campaign.id).where(Campaign.name == "rehearsal").scalar_subquery()
        connection.execute(insert(CampaignMember).values(campaign_id=rehearsal, **row))

    def said(who: int, *words: str) -> tuple[int, str, str]:
        monkeypatch.setenv("STEELYARD_TOKEN", served.token(who))
        return main(["submission", *words, "--server", served.url, "--yes"]), *capsys.readouterr()

    before = states(database)
    for words in (["retry", "3"], ["cancel", "--campaign", "trial"], ["recompute", "1", "4"]):
        status, out, err = said(ann, *words)
        assert (status, out, "There" in err) == (1, "", True), err
        assert "trial" not in err.partition("There are")[2]
    assert states(database) == before
    status, out, _ = said(ann, "cancel", "--state", "queued", "failed", "--reason", "A\n rehearsal.")
    assert (status, out.splitlines()[-1]) == (0, "Cancelled: 2 evaluations.")
    assert states(database) == [*before[:3], "cancelled", "cancelled"]
    with reading(served.service.engine) as connection:
        entry = connection.execute(select(AuditEntry)).one()
        assert (entry.actor, entry.action, entry.details["reason"]) == (
            "ann@example.org",
            "evaluation.cancel",
            "A rehearsal.",
        )
    assert said(root, "retry", "3")[0] == 0
    assert states(database)[2] == "queued"
    # Somebody works while the command waits.
    monkeypatch.setattr("steelyard_client.commands.backend.sleep", lambda _: work_off(one_block_shards(database)))
    status, out, err = said(root, "recompute", "1", "2", "--wait")
    assert (status, out.splitlines()[-1]) == (0, SAME.strip())
    assert "evaluations 2 of 2" in err
    status, out, _ = said(served.service.account("otto"), "retry", "--state", "failed")
    assert (status, out) == (1, "")
