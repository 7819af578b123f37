"""What migrations do to rows that are there, up and down."""

import json
from pathlib import Path

from sqlalchemy import delete, func, insert, inspect, select, text, update

from models.corpus.judgments import (
    NewJudgments,
    RatingRow,
    SegmentRow,
    SystemRow,
    list_judgments,
    read_ratings,
    read_segments,
    read_systems,
    store_judgments,
)
from models.corpus.test_sets import document_segments
from models.database import migrate
from models.database.session import make_engine, reading, writing
from models.schema.accounts import AuditEntry
from models.schema.base import Base
from models.schema.campaigns import Campaign, Correction, LadderStep, QuotaAccount, SubmissionFindings, UsageLogEntry
from models.schema.corpus import Document, Protocol, Reference, Submission
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.learned import LearnedColumn, Scorer, SegmentScore
from models.schema.nightly import NightlyRun, NightlyRunStep
from models.schema.queue import Comparison, Trials, Worker
from models.schema.results import Randomization, Score, SystemRuns
from models.schema.states import JudgmentKind, NightlyRunState, ResamplingUnit
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, store_campaign, store_protocols, store_submissions
from scheduler.ingest.test_sets import NewTestSet, link_test_set, store_test_set
from steelyard.metrics.registry import parse_metric
from tests.analysis.nightly_runs import add_schedule
from tests.campaigns.score_imports.scores import table, take_in
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.service.campaigns import found, submit_output, with_test_set


def test_human_judgments_go_to_the_campaigns_that_added_them(database_url: str) -> None:
    """Test sets are shared: they hung on those, and every campaign with the very same one saw and changed them."""
    engine = make_engine(database_url, pooled=False)
    rows = [SystemRow("anna", 0.5)], [SegmentRow("anna", 1, 0.25)], [RatingRow("eva", "anna", 1, 30.0)]
    with writing(engine) as connection:
        ours, theirs, corrected = (store_campaign(connection, name) for name in ("ours", "theirs", "corrected"))
        texts = b"x\ny", b"x\nz", b"u\nv"
        test_sets = [store_test_set(connection, corrected, NewTestSet("t", {"A": each})) for each in texts]
        shared, newer, of_nobody = test_sets
        for campaign in (ours, theirs):
            link_test_set(connection, campaign, shared, "t")
        correction = {"campaign_id": corrected, "old_test_set_id": shared, "new_test_set_id": newer, "reason": "x"}
        connection.execute(insert(Correction).values(**correction))
        for campaign, test_set, name in (
            *((ours, shared, "added"), (ours, shared, "imported"), (corrected, shared, "carried")),
            *((corrected, newer, "carried"), (ours, of_nobody, "left")),
        ):
            store_judgments(connection, campaign, test_set, NewJudgments(name, JudgmentKind.RATINGS, {"a": 1}, *rows))
        for campaign, name in ((ours, "added"), (corrected, "carried")):
            entry = {"action": "human-scores.add", "subject": f"human scores {name}@1 of test set t@1", "details": {}}
            connection.execute(insert(AuditEntry).values(campaign_id=campaign, actor="", **entry))

    def known() -> set[tuple[str, int, str]]:
        with reading(engine) as connection:
            campaigns = connection.execute(select(Campaign.id, Campaign.name)).all()
            found = set()
            for row in campaigns:
                for test_set in test_sets:
                    for each in list_judgments(connection, row.id, test_set):
                        found.add((row.name, test_set, each.title))
                        parts = read_systems(connection, each.id), read_segments(connection, each.id)
                        assert (*parts, read_ratings(connection, each.id)) == rows
                        assert (each.kind, each.method) == ("ratings", {"a": 1})
            return found

    migrate.downgrade(database_url, "20261211")
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM judgments")).scalar_one() == 5
        connection.execute(text(f"DELETE FROM campaign_test_set WHERE test_set_id = {of_nobody}"))
    migrate.upgrade(database_url)
    assert known() == {
        ("ours", shared, "added@1"),
        # Of what the command line imported nobody knows for whom: all who saw it see it still.
        *((name, shared, "imported@1") for name in ("ours", "theirs", "corrected")),
        *(("corrected", test_set, "carried@1") for test_set in (shared, newer)),
        ("human judgments of no campaign", of_nobody, "left@1"),
    }
    migrate.downgrade(database_url, "20261211")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM judgments")).scalar_one() == 5
        assert connection.execute(text("SELECT count(*) FROM rating")).scalar_one() == 5


def test_others_of_one_name_are_counted_on_where_test_sets_are_shared_again(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    with writing(engine) as connection:
        test_set = store_test_set(connection, store_campaign(connection, "ours"), NewTestSet("t", {"A": b"x"}))
        for name, score in (("ours", 1.0), ("theirs", 2.0)):
            new = NewJudgments("da", JudgmentKind.SCORES, {}, [SystemRow("anna", score)])
            store_judgments(connection, store_campaign(connection, name), test_set, new)
    migrate.downgrade(database_url, "20261211")
    with engine.connect() as connection:
        found = connection.execute(text("SELECT name, version FROM judgments ORDER BY id")).all()
        assert [tuple(row) for row in found] == [("da", 1), ("da", 2)]
    migrate.upgrade(database_url)


def test_names_of_test_sets_go_to_the_campaigns_that_have_them_and_back(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    with writing(engine) as connection:
        ours, theirs = (store_campaign(connection, name) for name in ("ours", "theirs"))
        first = store_test_set(connection, ours, NewTestSet("t", {"A": b"x"}))
        link_test_set(connection, theirs, first, "of theirs", "3")
        second = store_test_set(connection, theirs, NewTestSet("t", {"A": b"y"}))
        (submission,) = store_submissions(connection, theirs, first, [NewSubmission("tug", b"x")])
        store_protocols(connection, second, [NewProtocol(["A"], [parse_metric("bleu")], 0)])

    def called(table: str) -> list[tuple[object, ...]]:
        keys = "campaign_id, test_set_id" if table == "campaign_test_set" else "id"
        with engine.connect() as connection:
            rows = connection.execute(text(f"SELECT {keys}, name, version FROM {table} ORDER BY {keys}"))
            return [tuple(row) for row in rows]

    before = called("campaign_test_set")
    assert before == [(ours, first, "t", "1"), (theirs, first, "of theirs", "3"), (theirs, second, "t", "1")]
    migrate.downgrade(database_url, "20261216")
    # By the oldest campaign that has it; two that would be called alike get different versions.
    assert called("test_set") == [(first, "t", "1"), (second, "t", "2")]
    with engine.begin() as connection:
        # As commands left it: submissions alone lead to the test set.
        connection.execute(text(f"DELETE FROM campaign_test_set WHERE test_set_id = {first}"))
    migrate.upgrade(database_url)
    assert called("campaign_test_set") == [(theirs, first, "t", "1"), (theirs, second, "t", "2")]
    with reading(engine) as connection:
        assert connection.scalar(select(Submission.test_set_id)) == first
        assert connection.scalar(select(Submission.id)) == submission
        assert connection.scalar(select(Reference.label).where(Reference.test_set_id == second)) == "A"


def test_accounts_that_nobody_has_confirmed_wait_for_a_confirmation(database_url: str) -> None:
    """Who has given himself a password may have given an address of others."""
    accounts = {
        "made": {"password_hash": "x", "verified_at": None},
        "invited": {"password_hash": None, "verified_at": None},
        "confirmed": {"password_hash": "x", "verified_at": 1.0},
    }
    migrate.downgrade(database_url, "20261213")
    engine = make_engine(database_url, pooled=False)
    into = "INSERT INTO account (email, name, role, password_hash, verified_at, created_at) "
    with writing(engine) as connection:
        for name, values in accounts.items():
            given = {"name": name, **values}
            connection.execute(
                text(f"{into} VALUES (:name, :name, 'participant', :password_hash, :verified_at, 0)"), given
            )
    migrate.upgrade(database_url)
    with reading(engine) as connection:
        claimed = connection.execute(text("SELECT name, claimed FROM account")).all()
    assert {name for name, is_claimed in claimed if is_claimed} == {"made"}


def test_what_is_to_be_done_for_runs_goes_with_them_both_ways(database_url: str) -> None:
    """With the attempts that it has had; who held it does so no more."""
    engine = make_engine(database_url, pooled=False)
    with writing(engine) as connection:
        campaign = store_campaign(connection, "gate")
    schedule = add_schedule(engine, campaign, name="gate", team="port")
    with writing(engine) as connection:
        for number, state in enumerate(NightlyRunState):
            nightly_run = {"schedule_id": schedule, "due_at": float(number), "date": "2027-03-01", "state": state}
            connection.execute(insert(NightlyRun).values(**nightly_run))
    held = "UPDATE night SET owner = 'x', attempts = 2, lease_until = 1e12 WHERE state IN ('fetching', 'judging')"
    migrate.downgrade(database_url, "20261217")
    with writing(engine) as connection:
        connection.execute(text(held))
    for _ in range(2):
        migrate.upgrade(database_url)
        with reading(engine) as connection:
            steps = select(
                NightlyRun.state,
                NightlyRunStep.state,
                NightlyRunStep.attempts,
                NightlyRunStep.team,
                NightlyRunStep.owner,
            )
            found = connection.execute(
                steps.join(NightlyRunStep, NightlyRunStep.nightly_run_id == NightlyRun.id).order_by(NightlyRun.id)
            ).all()
        assert found == [(state, "pending", 2, "port", None) for state in ("fetching", "judging")]
        migrate.downgrade(database_url, "20261217")
        with reading(engine) as connection:
            found = connection.execute(text("SELECT state, attempts, owner FROM night WHERE attempts > 0 ORDER BY id"))
            assert found.all() == [(state, 2, None) for state in ("fetching", "judging")]
    migrate.upgrade(database_url)


def test_renamed_tables_keep_their_rows(database_url: str) -> None:
    """Those of nightly runs and corpus statistics, with the keys of their JSON, and new rows get new ids."""
    engine = make_engine(database_url, pooled=False)
    settings = one_block_shards(database_url)
    queue_job(engine, settings, segments=300, metrics=["nist"])
    with writing(engine) as connection:
        campaign = store_campaign(connection, "gate")
    baseline = {"kind": "named", "system": "tug", "date": "2027-03-01"}
    schedule = add_schedule(engine, campaign, name="gate", team="port", baseline=baseline)
    verdict = {"notes": [], "changes": [{"runs_before": 3, "runs_after": 6}]}
    run = {"schedule_id": schedule, "date": "2027-03-01", "state": NightlyRunState.JUDGING}
    with writing(engine) as connection:
        for due_at in (1.0, 2.0):
            connection.execute(insert(NightlyRun).values(**run, due_at=due_at, verdict=verdict))
        connection.execute(insert(NightlyRunStep).values(nightly_run_id=1))
    renamed = ("nightly_run", "nightly_run_step", "corpus_statistics", "corpus_count", "protocol_statistics", "shard")

    def rows() -> dict[str, list[dict[str, object]]]:
        with reading(engine) as connection:
            tables = [Base.metadata.tables[name] for name in (*renamed, "schedule")]
            # Older tables have no place for traces.
            kept = {table.name: [column for column in table.columns if column.name != "trace"] for table in tables}
            found = {name: connection.execute(select(*columns)) for name, columns in kept.items()}
            return {name: sorted(map(dict, each.mappings()), key=repr) for name, each in found.items()}

    before = rows()
    assert all(before.values())
    migrate.downgrade(database_url, "20261219")
    with reading(engine) as connection:
        stored = connection.execute(
            text("SELECT baseline, verdict FROM night JOIN schedule ON schedule.id = 1")
        ).first()
        assert stored is not None
        old_baseline, old_verdict = (each if isinstance(each, dict) else json.loads(each) for each in stored)
    assert old_baseline == {"kind": "named", "system": "tug", "night": "2027-03-01"}
    assert old_verdict == {"notes": [], "changes": [{"nights_before": 3, "nights_after": 6}]}
    migrate.upgrade(database_url)
    assert rows() == before
    with writing(engine) as connection:
        assert connection.scalar(insert(NightlyRun).values(**run, due_at=3.0).returning(NightlyRun.id)) == 3
        connection.execute(delete(NightlyRun).where(NightlyRun.id == 1))
        assert not connection.scalar(select(func.count()).select_from(NightlyRunStep)), "deleted with their run"


def test_renamed_systems_of_comparisons_and_the_usage_log_keep_their_rows(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    job = queue_job(engine, one_block_shards(database_url), segments=256, systems=2)
    protocol, (one, two) = job.protocols[0], job.all_evaluations[:2]
    tests = {"protocol_id": protocol, "content_hash": "c", "tests": [[0, 0, 1]], "trials": 9, "seed": 1, "remaining": 1}
    with writing(engine) as connection:
        campaign = store_campaign(connection, "gate")
        account = insert(QuotaAccount).values(campaign_id=campaign, team="t").returning(QuotaAccount.id)
        submission = connection.scalar(select(func.min(Submission.id)))
        entry = {"submission_id": submission, "account_id": connection.scalar(account)}
        connection.execute(insert(UsageLogEntry).values(**entry))
        step = {"submission_id": submission, "protocol_id": protocol, "metric": 0, "team": "t"}
        connection.execute(insert(LadderStep).values(**step, disclosed=12.5, improved=True))
        connection.execute(insert(Comparison).values(**tests, systems=[[one], [one, two]]))
        connection.execute(insert(Trials).values(comparison_id=1, first_trial=0, last_trial=9, queue_class=1, team="t"))
        connection.execute(insert(SystemRuns).values(content_hash="a", evaluation_id=one))
        connection.execute(insert(SystemRuns).values(content_hash="b", evaluation_id=two, before_id=1))
        pair = {"a_id": 1, "b_id": 2, "metric": 0, "trials": 9, "seed": 1, "difference": 0.5, "as_large": 3}
        connection.execute(insert(Randomization).values(**pair))
    tables = (SystemRuns, Randomization, Comparison, Trials, UsageLogEntry, LadderStep)

    def rows() -> list[list[dict[str, object]]]:
        with reading(engine) as connection:
            return [[dict(row) for row in connection.execute(select(each)).mappings()] for each in tables]

    before = rows()
    assert all(before)
    migrate.downgrade(database_url, "20261226")
    with reading(engine) as connection:
        found = connection.scalar(text("SELECT contestants FROM comparison JOIN contestant ON contestant.id = 2"))
        assert (found if isinstance(found, list) else json.loads(str(found))) == [[one], [one, two]]
        assert connection.scalar(text("SELECT told FROM ladder_step JOIN ledger_entry USING (submission_id)")) == 12.5
    migrate.upgrade(database_url)
    assert rows() == before
    with writing(engine) as connection:
        last = {"content_hash": "d", "evaluation_id": one}
        assert connection.scalar(insert(SystemRuns).values(**last).returning(SystemRuns.id)) == 3
        connection.execute(delete(SystemRuns).where(SystemRuns.id == 1))
        assert not connection.scalar(select(func.count()).select_from(Randomization)), "deleted with their systems"


def test_documents_are_kept_without_their_segment_ids(database_url: str) -> None:
    """Those stored before have none, and neither have those that came back from an older release."""
    engine = make_engine(database_url, pooled=False)
    migrate.upgrade(database_url)
    ids = ["1", "b", "3"]
    new = NewTestSet("port", {"A": b"1\n2\n3"}, documents=[(each, "news", "") for each in "xxy"], segment_ids=ids)
    with writing(engine) as connection:
        test_set = store_test_set(connection, store_campaign(connection, "port"), new)

    def documents() -> list[tuple[object, ...]]:
        with reading(engine) as connection:
            found = select(Document.name, Document.first_segment, Document.segments, Document.domain)
            rows = connection.execute(found.where(Document.test_set_id == test_set).order_by(Document.first_segment))
            return [tuple(row) for row in rows]

    with reading(engine) as connection:
        assert [each.ids for each in document_segments(connection, test_set).values()] == [["1", "b"], ["3"]]
    before = documents()
    migrate.downgrade(database_url, "20261220")
    migrate.upgrade(database_url)
    assert documents() == before
    with reading(engine) as connection:
        assert [each.ids for each in document_segments(connection, test_set).values()] == [None, None]


def test_findings_of_submissions_are_kept_both_ways(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    queue_job(engine, one_block_shards(database_url), segments=20, systems=2)
    findings = [{"code": "same_output"}]
    with writing(engine) as connection:
        connection.execute(insert(SubmissionFindings).values(submission_id=2, findings=findings))
    migrate.downgrade(database_url, "20261221")
    with reading(engine) as connection:
        assert connection.execute(text("SELECT submission_id FROM diagnosis")).all() == [(2,)]
    migrate.upgrade(database_url)
    with writing(engine) as connection:
        rows = connection.execute(select(SubmissionFindings.submission_id, SubmissionFindings.findings)).all()
        assert rows == [(2, findings)]


def test_learned_columns_that_wait_go_with_their_tables_and_the_others_stay(database_url: str) -> None:
    engine = make_engine(database_url, pooled=False)
    job = queue_job(
        engine,
        one_block_shards(database_url),
        segments=20,
        systems=2,
        metrics=["program:run=a@0123456789ab:reads=reference"],
    )
    waiting, done = job.all_evaluations
    with writing(engine) as connection:
        connection.execute(update(LearnedColumn).where(LearnedColumn.evaluation_id == done).values(state="done"))
        connection.execute(insert(Scorer).values(content_hash="x", description="program a"))
        scorer = connection.execute(select(Scorer.id)).scalar_one()
        connection.execute(insert(SegmentScore).values(scorer_id=scorer, content_hash=b"c" * 32, numbers=b"n" * 8))
        row = {"id": "w", "host": "h", "pid": 1, "version": "1", "concurrency": 0, "queue": "learned", "device": "cpu"}
        connection.execute(insert(Worker).values(**row, lacks=["m"]))
    migrate.downgrade(database_url, "20261222")
    with engine.connect() as connection:
        for table in ("score", "statistics"):
            found = connection.execute(text(f"SELECT evaluation_id FROM {table}")).scalars()
            assert set(found) == {done}
        assert connection.execute(text("SELECT id FROM worker")).scalar_one() == "w"
    migrate.upgrade(database_url)
    with reading(engine) as connection:
        assert connection.execute(select(Worker.queue, Worker.device, Worker.lacks)).one() == ("", None, None)
        assert connection.scalar(select(func.count()).select_from(SegmentScore)) == 0
        assert set(connection.scalars(select(Score.evaluation_id))) == {done}
    assert waiting != done


def test_what_is_resampled_is_found_again_in_signatures(database_url: str) -> None:
    settings, engine = one_block_shards(database_url), make_engine(database_url, pooled=False)
    documents = {"segments": 20, "documents": ["a"] * 9 + ["b"] * 11}
    queue_job(engine, settings, **documents)
    queue_job(engine, settings, **documents, resample=ResamplingUnit.DOCUMENT)
    work_off(settings)
    units = select(Protocol.resample).order_by(Protocol.id)
    migrate.downgrade(database_url, "20261224")
    with engine.connect() as connection:
        assert len(connection.execute(text("SELECT id FROM protocol")).all()) == 2
    migrate.upgrade(database_url)
    with reading(engine) as connection:
        assert list(connection.scalars(units)) == [ResamplingUnit.SEGMENT, ResamplingUnit.DOCUMENT]


def test_columns_of_imported_scores_stay_when_their_files_are_forgotten(database_url: str, tmp_path: Path) -> None:
    """An older release shows what was computed; the newer one takes the same scores again, and computes nothing."""
    migrate.upgrade(database_url)
    engine = make_engine(database_url, pooled=False)
    found(engine, "wmt")
    with_test_set(engine, "wmt", metrics=("bleu",), replicates=10)
    for system in ("ant", "bee"):
        submit_output(engine, "wmt", f"{system}s", system, b"a\nb\nc\n")
    scores = table(tmp_path / "s.tsv", [(system, "X", 1, 0.5) for system in ("ant", "bee")])
    (column,) = take_in(engine, "wmt", scores).columns
    assert (column.name, column.version, column.new) == ("X", "1", True)

    def stored() -> dict[str, list[tuple[object, ...]]]:
        wanted = {
            "scores": select(Score.evaluation_id, Score.specification, Score.score).order_by(Score.evaluation_id),
            "imports": select(ScoreImport.specification, ScoreImport.content_hash),
            "blobs": select(ImportedScore.submission_id, ImportedScore.blob).order_by(ImportedScore.submission_id),
        }
        with reading(engine) as connection:
            return {name: [tuple(row) for row in connection.execute(each)] for name, each in wanted.items()}

    before = stored()
    assert [len(before[name]) for name in ("scores", "imports", "blobs")] == [6, 1, 2]
    migrate.downgrade(database_url, "20261223")
    with engine.connect() as connection:
        assert "score_import" not in inspect(connection).get_table_names()
        assert connection.execute(text("SELECT count(*) FROM score")).scalar_one() == 6
    migrate.upgrade(database_url)
    assert stored() == {**before, "imports": [], "blobs": []}
    (column,) = take_in(engine, "wmt", scores, work=False).columns
    assert (column.version, column.new) == ("1", True)
    assert stored() == before
