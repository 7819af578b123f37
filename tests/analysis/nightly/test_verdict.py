"""Runs judged: from outputs to verdicts, through the whole pipeline."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine, select, update

from analysis.nightly.baselines import read_run_history
from analysis.nightly.series import read_series
from analysis.nightly.tests import required_tests
from analysis.nightly.verdict import Verdict, judge_nightly_run, read_history, read_report
from models.database.session import make_engine, reading, writing
from models.nightly.runs import read_nightly_run
from models.nightly.scores import read_nightly_scores
from models.schema.nightly import NightlyRun
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.states import NightlyRunState, ResamplingUnit
from scheduler.enqueue.randomization import request_comparison
from steelyard.resampling.change_points import shared_alpha
from steelyard.resampling.interval import percentile_interval
from steelyard.resampling.randomization import TRIALS
from steelyard.resampling.regression import Outcome
from tests.analysis.nightly_runs import REFERENCE, add_nightly_runs, judge, output
from tests.scheduler.jobs import one_block_shards

GOOD, BAD = output(seed=1), output(0.5, seed=1)
LIKE = output(seed=2)


@pytest.fixture
def engine(sqlite_url: str) -> Engine:
    return make_engine(sqlite_url)


def outcomes(verdict: Verdict) -> dict[str, Outcome]:
    return {f"{each.subject.system} {each.title}": each.outcome for each in verdict.findings}


def test_a_system_that_got_worse_is_found(database_url: str) -> None:
    """And one that got better, one that is the same, and one that is new, are distinguished."""
    engine = make_engine(database_url)
    nightly_runs = add_nightly_runs(
        engine,
        database_url,
        [
            {"tug": GOOD, "raft": BAD, "barge": GOOD, "kayak": LIKE},
            {"tug": BAD, "raft": GOOD, "barge": LIKE, "kayak": LIKE, "ferry": GOOD},
        ],
        metrics=("bleu", "ter"),
    )
    with reading(engine) as connection:
        first = read_report(connection, nightly_runs[0])
    assert first.verdict is not None
    assert set(outcomes(first.verdict).values()) == {Outcome.NO_BASELINE}
    assert not first.wrong
    verdict = judge(engine, nightly_runs[1])
    expected = {"tug": Outcome.WORSE, "raft": Outcome.BETTER, "kayak": Outcome.SAME_OUTPUT, "barge": Outcome.OPEN}
    found = outcomes(verdict)
    # TER's direction is the other way round.
    for system, outcome in {**expected, "ferry": Outcome.NO_BASELINE}.items():
        assert {found[f"{system} BLEU"], found[f"{system} TER"]} == {outcome}
    assert verdict.regressed
    assert verdict.tests == 6
    worse = next(each for each in verdict.findings if each.outcome == Outcome.WORSE)
    assert (worse.baseline_system, worse.baseline_date) == ("tug", "2027-03-01")
    assert worse.interval is not None
    assert worse.interval[0] < worse.difference < worse.interval[1] < 0  # type: ignore[operator]
    same = next(each for each in verdict.findings if each.outcome == Outcome.SAME_OUTPUT)
    assert (same.p, same.p_corrected, same.difference) == (1.0, 1.0, 0.0)
    with reading(engine) as connection:
        report = read_report(connection, nightly_runs[1])
    # What was stored is what was found, after a way through JSON.
    assert report.verdict == verdict
    assert report.document.verdict is not None
    assert report.document.verdict.model_dump(mode="json") == json.loads(json.dumps(verdict.as_json(), allow_nan=False))
    assert report.wrong


def test_scores_that_no_replicate_has_are_said_not_to_be_tested(engine: Engine, sqlite_url: str) -> None:
    outputs = [{"tug": GOOD, "raft": GOOD}, {"tug": BAD, "raft": GOOD}]
    nightly_runs = add_nightly_runs(engine, sqlite_url, outputs, metrics=("bleu", "ter"), replicates=0)
    verdict = judge(engine, nightly_runs[-1])
    assert outcomes(verdict) == {
        "tug BLEU": Outcome.UNTESTED, "tug TER": Outcome.UNTESTED,
        "raft BLEU": Outcome.SAME_OUTPUT, "raft TER": Outcome.SAME_OUTPUT,
    }  # fmt: skip
    assert (verdict.tests, verdict.regressed) == (0, False)
    assert "Scores that could not be tested, because no replicate has a score: 2." in verdict.notes


def test_a_baseline_that_was_never_scored_is_none(engine: Engine, sqlite_url: str) -> None:
    nightly_runs = add_nightly_runs(
        engine, sqlite_url, [{"tug": GOOD}, {"tug": BAD}], baseline={"kind": "named", "system": "ghost"}
    )
    verdict = judge(engine, nightly_runs[-1])
    assert outcomes(verdict) == {"tug BLEU": Outcome.NO_BASELINE}
    assert not verdict.regressed
    with reading(engine) as connection:
        assert required_tests(connection, nightly_runs[-1]) == [], "the bootstrap needs none"


@pytest.mark.parametrize(
    ("baseline", "against"),
    [
        ({"kind": "previous"}, "2027-03-03"),
        ({"kind": "best"}, "2027-03-02"),
        ({"kind": "named", "system": "tug", "date": "2027-03-01"}, "2027-03-01"),
    ],
)
def test_baselines(engine: Engine, sqlite_url: str, baseline: dict[str, str], against: str) -> None:
    """The run before, the best and a run by its date."""
    outputs = [output(0.3, 1), output(0.0, 1), output(0.5, 1), output(0.5, 6)]
    nightly_runs = add_nightly_runs(
        engine, sqlite_url, [{"tug": text} for text in outputs], baseline=baseline, judged=False
    )
    for nightly_run in nightly_runs[:-1]:
        judge(engine, nightly_run)
    (finding,) = judge(engine, nightly_runs[-1]).findings
    assert finding.baseline_date == against
    assert finding.outcome == (Outcome.OPEN if against == "2027-03-03" else Outcome.WORSE)
    assert finding.candidates == (3 if baseline["kind"] == "best" else 1)


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_run_that_is_tried_again_is_compared_with_the_run_before(
    engine: Engine, sqlite_url: str, *, by_hand: bool
) -> None:
    """Not with its first try, nor with the scheduled run of that day: what is red stays red until it is better."""
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}, {"tug": BAD}, {"tug": BAD}], judged=False)
    with writing(engine) as connection:
        tries = update(NightlyRun).where(NightlyRun.id.in_(nightly_runs[1:]))
        connection.execute(tries.values(manual=True, date="2027-03-02"))
        first_try = update(NightlyRun).where(NightlyRun.id == nightly_runs[1])
        connection.execute(first_try.values(manual=by_hand))
    judge(engine, nightly_runs[0])
    first, second = judge(engine, nightly_runs[1]), judge(engine, nightly_runs[2])
    assert first.findings == second.findings
    assert outcomes(second) == {"tug BLEU": Outcome.WORSE}
    with reading(engine) as connection:
        (series,) = read_history(connection, 1).series
    assert [point.date for point in series.points] == ["2027-03-01", *["2027-03-02"] * (1 if by_hand else 2)]


def test_runs_follow_each_other_by_when_they_are_due(engine: Engine, sqlite_url: str) -> None:
    """One that was missed may be made later, and so have the larger number."""
    first, second, third = add_nightly_runs(engine, sqlite_url, [{"tug": BAD}, {"tug": LIKE}, {"tug": GOOD}])
    with writing(engine) as connection:
        late = read_nightly_run(connection, third).due_at + 0.5
        connection.execute(update(NightlyRun).where(NightlyRun.id == third).values(state=NightlyRunState.DONE))
        connection.execute(update(NightlyRun).where(NightlyRun.id == second).values(due_at=late))
    with reading(engine) as connection:
        for number, expected in ((third, [first, third]), (second, [first, third, second])):
            history = read_run_history(connection, read_nightly_run(connection, number))
            assert [each.id for each in history.nightly_runs] == expected


def test_a_named_system_of_the_same_run_is_a_baseline(engine: Engine, sqlite_url: str) -> None:
    """It is not compared with itself, and is found among earlier runs where this one lacks it."""
    nightly_runs = add_nightly_runs(
        engine,
        sqlite_url,
        [{"tug": BAD, "barge": GOOD}, {"tug": BAD}],
        baseline={"kind": "named", "system": "barge"},
    )
    with reading(engine) as connection:
        first = read_report(connection, nightly_runs[0]).verdict
    assert first is not None
    assert outcomes(first) == {"barge BLEU": Outcome.BASELINE, "tug BLEU": Outcome.WORSE}
    second = judge(engine, nightly_runs[1])
    assert [(each.outcome, each.baseline_date) for each in second.findings] == [(Outcome.WORSE, "2027-03-01")]
    assert second.notes == ("Scored in the previous run and not in this one: barge on port.",)


def test_a_run_is_judged_by_the_series_of_its_own_systems(engine: Engine, sqlite_url: str) -> None:
    """Those that it left out are in the history alone."""
    (_, last) = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD, "barge": GOOD}, {"tug": LIKE}])
    with reading(engine) as connection:
        history = read_run_history(connection, read_nightly_run(connection, last))
        series = {
            only_last: [
                each.subject.system for each in read_series(connection, history, alpha=0.05, only_last=only_last)
            ]
            for only_last in (True, False)
        }
    assert series == {True: ["tug"], False: ["tug", "barge"]}


@pytest.mark.parametrize("resample", list(ResamplingUnit))
def test_randomization_made_here_and_by_the_queue_says_the_same(
    resample: ResamplingUnit, engine: Engine, sqlite_url: str
) -> None:
    """Tests that the queue has stored are read; those that it lacks are made; p-values are the same."""
    outputs = [{"tug": GOOD, "raft": LIKE, "barge": GOOD}, {"tug": BAD, "raft": LIKE, "barge": LIKE}]
    nightly_runs = add_nightly_runs(engine, sqlite_url, outputs, test="randomization", resample=resample)
    with reading(engine) as connection:
        made_here = judge_nightly_run(connection, nightly_runs[1])
        (wanted,) = required_tests(connection, nightly_runs[1])
        assert required_tests(connection, nightly_runs[0]) == []
    # The raft's output is the very same: no test.
    assert len(wanted.pairs) == 2
    assert made_here.regressed
    assert made_here.draws == TRIALS, "not the protocol's replicates, which make intervals"
    settings = one_block_shards(sqlite_url, at_once_seconds=1e9)
    asked = request_comparison(
        engine, settings, wanted.protocol_id, wanted.pairs, wanted.metrics, trials=wanted.trials, seed=wanted.seed
    )
    assert asked is None
    assert judge(engine, nightly_runs[1]) == made_here


def test_a_difference_may_be_too_small_to_count(engine: Engine, sqlite_url: str) -> None:
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}, {"tug": BAD}], minimum_difference=90.0)
    verdict = judge(engine, nightly_runs[1])
    assert outcomes(verdict) == {"tug BLEU": Outcome.SLIGHTLY_WORSE}
    assert not verdict.regressed


@pytest.mark.parametrize(("replicates", "noted"), [(10, True), (19, True), (20, False)])
def test_too_few_replicates_are_noted(engine: Engine, sqlite_url: str, replicates: int, *, noted: bool) -> None:
    """Where nothing could be found, a report does not look as if nothing were there: 1 of 20 is not below 0.05."""
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}, {"tug": BAD}], replicates=replicates)
    notes = judge(engine, nightly_runs[1]).notes
    assert [each.startswith(f"{replicates} replicates are too few for 1 tests") for each in notes] == [True] * noted


@pytest.mark.parametrize(
    ("test", "told"),
    [("bootstrap", "The replicates draw whole documents"), ("randomization", "The trials exchange whole documents")],
)
def test_documents_that_are_drawn_are_noted(engine: Engine, sqlite_url: str, test: str, told: str) -> None:
    outputs = [{"tug": GOOD}, {"tug": BAD}]
    nightly_runs = add_nightly_runs(engine, sqlite_url, outputs, test=test, resample=ResamplingUnit.DOCUMENT)
    first, second = (judge(engine, each).notes for each in nightly_runs)
    assert not any("documents" in note for note in first), "nothing was tested"
    assert f"{told}, not segments, of port." in second


@pytest.mark.parametrize(
    ("segments", "test", "noted"), [(49, "bootstrap", True), (50, "bootstrap", False), (49, "randomization", False)]
)
def test_few_segments_are_noted_with_the_test_that_minds(
    engine: Engine, sqlite_url: str, segments: int, test: str, *, noted: bool
) -> None:
    small = b"\n".join(REFERENCE.split(b"\n")[:segments])
    outputs = [{"tug": output(seed=seed, reference=small)} for seed in (1, 2)]
    nightly_runs = add_nightly_runs(engine, sqlite_url, outputs, references=small, test=test)
    assert [f"{segments} segments are few" in note for note in judge(engine, nightly_runs[1]).notes] == [True] * noted


def test_numbers_of_another_edition_are_no_baseline(engine: Engine, sqlite_url: str) -> None:
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}, {"tug": BAD}])
    with writing(engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.id == 1).values(edition=0))
    assert outcomes(judge(engine, nightly_runs[1])) == {"tug BLEU": Outcome.NO_BASELINE}
    with reading(engine) as connection:
        (series,) = read_history(connection, read_report(connection, nightly_runs[1]).schedule.id).series
    assert [point.score is None for point in series.points] == [True, False], "they are on no line with those of now"


@pytest.mark.parametrize("edition", ["that of the run", "another"])
def test_a_named_system_that_no_run_has_is_a_baseline_by_its_stored_scores(
    engine: Engine, sqlite_url: str, edition: str
) -> None:
    """Where they are comparable."""
    nightly_runs = add_nightly_runs(
        engine, sqlite_url, [{"barge": GOOD}, {"tug": BAD}], baseline={"kind": "named", "system": "barge"}, judged=False
    )
    with writing(engine) as connection:
        if edition == "another":
            connection.execute(update(Evaluation).where(Evaluation.id == 1).values(edition=0))
    (finding,) = judge(engine, nightly_runs[1]).findings
    expected = (Outcome.WORSE, "barge") if edition == "that of the run" else (Outcome.NO_BASELINE, None)
    assert (finding.outcome, finding.baseline_system, finding.baseline_date) == (*expected, None)


def test_the_level_of_change_points_is_shared_by_the_series_that_vary(
    engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that never changes has no test, and takes nothing from the others."""
    asked = []

    def recorded(varying: int) -> float:
        asked.append(varying)
        return shared_alpha(varying)

    monkeypatch.setattr("analysis.nightly.series.shared_alpha", recorded)
    (_, last) = add_nightly_runs(
        engine, sqlite_url, [{"tug": GOOD, "raft": GOOD, "barge": GOOD}, {"tug": LIKE, "raft": BAD, "barge": GOOD}]
    )
    asked.clear()
    judge(engine, last)
    assert asked == [2, 2, 2]


def test_a_slow_decline_is_found_that_no_run_shows(engine: Engine, sqlite_url: str) -> None:
    """It fails one run, and is not told as new again; the history marks it."""
    outputs = [{"tug": output(0.0 if n < 8 else 0.12, 100 + n)} for n in range(18)]
    nightly_runs = add_nightly_runs(engine, sqlite_url, outputs)
    judge(engine, nightly_runs[-1])
    with reading(engine) as connection:
        reports = [read_report(connection, nightly_run) for nightly_run in nightly_runs]
        history = read_history(connection, reports[0].schedule.id)
    verdicts = [report.verdict for report in reports if report.verdict is not None]
    assert not any(verdict.regressions for verdict in verdicts), "a single run shows it: no test of this"
    failing = [n for n, verdict in enumerate(verdicts) if verdict.regressed]
    assert len(failing) == 1
    assert 10 <= failing[0] <= 16
    (series,) = history.series
    (change,) = series.changes
    assert change.since in {"2027-03-08", "2027-03-09", "2027-03-10"}
    assert change.worse
    assert change.counts
    assert not change.new
    assert change.difference < 0
    assert len(series.points) == 18
    assert [point.date for point in series.points] == [f"2027-03-{day:02}" for day in range(1, 19)]
    with reading(engine) as connection:
        stored = connection.execute(select(Evaluation.id, Score.score).join(Score).order_by(Evaluation.id)).all()
        kept = read_nightly_scores(connection, [row.id for row in stored], metric=0)
    assert [point.score for point in series.points] == [row.score for row in stored]
    assert [point.interval for point in series.points] == [
        percentile_interval(kept[row.id, 0].replicate_scores, 0.95) for row in stored
    ]
    assert json.dumps(history.as_json(), allow_nan=False)
    # What was seen and did not count was not told: it is new where it counts.
    with writing(engine) as connection:
        for row in connection.execute(select(NightlyRun.id, NightlyRun.verdict)).all():
            told = [{**each, "counts": False} for each in row.verdict["changes"]]
            changed = update(NightlyRun).where(NightlyRun.id == row.id)
            connection.execute(changed.values(verdict={**row.verdict, "changes": told}))
    with reading(engine) as connection:
        (series,) = read_history(connection, reports[0].schedule.id).series
    assert series.changes[0].new


@pytest.mark.parametrize("least", [0.0, 90.0])
def test_where_less_is_better_a_level_that_fell_is_better(engine: Engine, sqlite_url: str, least: float) -> None:
    """It counts where it is as large as a difference must be."""
    outputs = [{"tug": output(0.6 if n < 6 else 0.0, 100 + n)} for n in range(12)]
    last = add_nightly_runs(engine, sqlite_url, outputs, metrics=("ter",), judged=False, minimum_difference=least)[-1]
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).where(NightlyRun.id != last).values(state=NightlyRunState.DONE))
    verdict = judge(engine, last)
    (change,) = verdict.changes
    assert (change.since, change.difference < 0, change.worse) == ("2027-03-07", True, False)
    with reading(engine) as connection:
        (series,) = read_history(connection, 1).series
    assert change.counts == series.changes[0].counts == (least == 0.0)
    assert not verdict.regressed


@pytest.mark.parametrize(
    ("state", "wrong"),
    [(each, each in (NightlyRunState.FAILED, NightlyRunState.MISSED)) for each in NightlyRunState],
)
def test_what_is_wrong_without_a_verdict(
    engine: Engine, sqlite_url: str, *, state: NightlyRunState, wrong: bool
) -> None:
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}])
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).values(state=state))
    with reading(engine) as connection:
        assert read_report(connection, nightly_runs[0]).wrong is wrong


def test_a_failed_run_has_a_report(engine: Engine, sqlite_url: str) -> None:
    nightly_runs = add_nightly_runs(engine, sqlite_url, [{"tug": GOOD}])
    with writing(engine) as connection:
        failed = {"state": NightlyRunState.FAILED, "reason": "Nothing found.", "caught_up": True}
        connection.execute(update(NightlyRun).values(**failed))
    with reading(engine) as connection:
        report = read_report(connection, nightly_runs[0])
    assert report.wrong
    assert report.verdict is None
    assert report.document.model_dump(mode="json") == {
        "schedule": "gate",
        "run": nightly_runs[0],
        "date": "2027-03-01",
        "due_at": "1970-01-01T00:00:00Z",
        "state": "failed",
        "reason": "Nothing found.",
        "caught_up": True,
        "manual": False,
        "wrong": True,
        "verdict": None,
    }
    with reading(engine) as connection:
        history = read_history(connection, report.schedule.id)
    known = report.document.model_dump(mode="json")
    listed = {key: known[key] for key in ("run", "date", "state", "reason")} | {"due_at": 0.0}
    expected = {"version": 1, "schedule": "gate", "time_zone": "Europe/Prague", "series": []}
    assert history.as_json() == {**expected, "runs": [{**listed, "regressed": None}]}
