"""What came of a run, in every form."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from analysis.nightly.regression import RegressionFinding, Subject
from analysis.nightly.series import Change, Point, ScoreSeries
from analysis.nightly.verdict import History, NightlyRunReport, Verdict
from campaigns.accounts.principal import COMMAND_LINE
from campaigns.inspection.scheduled_runs import history_document
from cli.schedules.history import history_svg
from cli.schedules.junit import nightly_run_junit
from cli.schedules.output import nightly_run_json, nightly_run_text
from models.nightly.runs import NightlyRunInfo
from models.nightly.schedules import Baseline, ScheduleInfo
from models.schema.states import BaselineKind, NightlyRunState, PairedTest
from steelyard.resampling.regression import Outcome
from steelyard_client.commands.campaigns.schedule import rendered_history
from steelyard_client.commands.campaigns.schedule_history import bars


def as_text(made: History) -> str:
    return rendered_history(history_document(made, COMMAND_LINE), "text")


def subject(system: str) -> Subject:
    return Subject(system, "port.en-cs", ("A", "B"), "bleu")


def finding(system: str, outcome: Outcome, **others: object) -> RegressionFinding:
    compared = {
        "baseline_system": system, "baseline_date": "2027-03-01", "baseline_score": 31.25, "difference": -1.0,
        "interval": (-1.5, -0.5), "p": 0.001, "p_corrected": 0.004,
    }  # fmt: skip
    plain = {"title": "BLEU", "signature": "s", "higher_is_better": True, "scale": 100.0, "score": 30.25}
    return RegressionFinding(subject(system), outcome=outcome, **{**plain, **compared, **others})  # type: ignore[arg-type]


def change(system: str, **others: object) -> Change:
    values = {
        "title": "BLEU", "since": "2027-03-05", "until": "2027-03-10", "runs_before": 4, "runs_after": 6,
        "before": 31.0, "after": 30.0, "interval": (-1.4, -0.6), "p": 0.0005, "p_segments": 0.002,
        "worse": True, "counts": True, "new": True,
    }  # fmt: skip
    return Change(subject(system), **{**values, **others})  # type: ignore[arg-type]


NOTHING = dict.fromkeys(("baseline_system", "baseline_date", "baseline_score", "difference"))
UNTESTED = {**NOTHING, "interval": None, "p": None, "p_corrected": None}
FINDINGS = (
    finding("ferry", Outcome.OPEN, p_corrected=0.4),
    finding("kayak", Outcome.NO_BASELINE, **UNTESTED),
    finding("tug", Outcome.WORSE),
    finding("raft", Outcome.SAME_OUTPUT, difference=0.0, p=1.0, p_corrected=1.0),
    finding("barge", Outcome.NO_SCORE, score=None, difference=None, interval=None, p=None, p_corrected=None),
)


def report(verdict: Verdict | None = None, *, name: str = "gate", **nightly_run: object) -> NightlyRunReport:
    schedule = ScheduleInfo(
        id=1, name=name, cron="30 2 * * *", time_zone="Europe/Prague", source={}, test_sets=[], metrics=("bleu",),
        replicates=1000, seed=1, baseline=Baseline(BaselineKind.PREVIOUS), alpha=0.05, correction="holm",
        test=PairedTest.BOOTSTRAP, minimum_difference=0.0, webhook=None, team="", active=True, next_at=None,
        created_at=0.0, campaign_id=1,
    )  # fmt: skip
    values = {
        "id": 7, "schedule_id": 1, "due_at": 1_804_000_000.0, "date": "2027-03-02", "state": NightlyRunState.DONE,
        "reason": None, "caught_up": False, "manual": False, "started_at": None, "finished_at": None, "verdict": None,
        "regressed": None,
    }  # fmt: skip
    return NightlyRunReport(schedule, NightlyRunInfo(**{**values, **nightly_run}), verdict)  # type: ignore[arg-type]


def verdict(*findings: RegressionFinding, changes: tuple[Change, ...] = (), notes: tuple[str, ...] = ()) -> Verdict:
    baseline = "the same system in the previous run"
    return Verdict(baseline, "bootstrap", 1000, 0.05, "holm", 0.0, findings, changes, notes)


def test_text_has_the_worst_first() -> None:
    text = nightly_run_text(report(verdict(*FINDINGS, changes=(change("ferry"),), notes=("Few.",)), caught_up=True))
    head, how, table, changes, note = text.rstrip("\n").split("\n\n")
    assert head == (
        "gate, run of 2027-03-02 (caught up): 2 regressions in 5 scores and 1 new change for the worse over time."
    )
    assert how == (
        "Compared with the same system in the previous run: paired bootstrap with 1,000 replicates, two-sided, "
        "p corrected by Holm for 2 tests; worse or better below 0.05."
    )
    rows = table.splitlines()[2:]
    assert [row.split()[0] for row in rows] == ["tug", "barge", "ferry", "raft", "kayak"]
    assert rows[0].split()[5:] == ["31.25", "(2027-03-01)", "-1.00", "-1.50", "to", "-0.50", "0.004", "WORSE"]
    assert rows[1].endswith("NO SCORE ANY MORE")
    assert rows[4].split()[1:] == ["port.en-cs", "(A+B)", "BLEU", "30.25", "no", "baseline"]
    assert changes.splitlines()[-1].split()[-5:] == ["-1.00", "0.0005", "0.002", "worse,", "new"]
    assert note == "Note: Few."


def test_text_of_a_run_that_is_fine_or_failed() -> None:
    fine = nightly_run_text(report(verdict(finding("tug", Outcome.BETTER, difference=1.0))))
    assert fine.startswith("gate, run of 2027-03-02: no regression in 1 score; 1 score better.\n")
    first = nightly_run_text(report(verdict(finding("tug", Outcome.NO_BASELINE, **UNTESTED))))
    assert "\nCompared with the same system in the previous run: there was nothing to test.\n" in first
    failed = report(state=NightlyRunState.FAILED, reason="No output.", manual=True)
    assert nightly_run_text(failed) == "gate, run of 2027-03-02 (run by hand): failed.\nNo output.\n"


def test_json_says_everything() -> None:
    told = json.loads(nightly_run_json(report(verdict(*FINDINGS, changes=(change("ferry"),)))))
    assert told["wrong"] is True
    assert told["verdict"]["regressed"] is True
    assert [each["outcome"] for each in told["verdict"]["findings"]][2] == "worse"
    assert told["verdict"]["changes"][0]["difference"] == -1.0


ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "timestamp", "time"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "properties": set(),
    "property": {"name", "value"},
    "system-out": set(),
}
"""What Jenkins' junit-10.xsd and others know."""


def junit(made: NightlyRunReport) -> Element:
    document = nightly_run_junit(made)
    assert document.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = fromstring(document.encode())
    for element in root.iter():
        assert set(element.attrib) <= ALLOWED[element.tag]
    (suite,) = root
    cases = suite.findall("testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(attribute)) == sum(case.find(kind) is not None for case in cases)
    assert int(root.get("tests")) == int(suite.get("tests")) == len(cases)
    return suite


def test_junit_fails_what_is_worse_and_skips_what_has_no_baseline() -> None:
    suite = junit(report(verdict(*FINDINGS, changes=(change("ferry"), change("raft", new=False)), notes=("Few.",))))
    found = {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")}
    assert found == {
        "ferry bleu": ["system-out"],
        "kayak bleu": ["skipped"],
        "tug bleu": ["failure"],
        "raft bleu": ["system-out"],
        "barge bleu": ["failure"],
        "ferry bleu over the runs since 2027-03-05": ["failure"],
    }
    message = suite.find("testcase/failure").get("message")
    assert message == ("BLEU 30.25, baseline 31.25 (tug, run of 2027-03-01): -1 (-1.5 to -0.5), corrected p = 0.004")
    assert suite.get("timestamp") == "2027-03-02T15:06:40"
    assert {case.get("classname") for case in suite.findall("testcase")} == {"gate/port_en-cs, references A + B"}


@pytest.mark.parametrize("outcome", Outcome)
def test_junit_passes_nothing_that_was_not_compared(outcome: Outcome) -> None:
    untested = outcome in {Outcome.NO_BASELINE, Outcome.BASELINE, Outcome.UNTESTED}
    (case,) = junit(report(verdict(finding("tug", outcome)))).findall("testcase")
    assert [child.tag for child in case] == [
        "skipped" if untested else "failure" if outcome.regressed else "system-out"
    ]


@pytest.mark.parametrize(("state", "kind"), [("failed", "error"), ("missed", "error"), ("scoring", "skipped")])
def test_junit_of_a_run_without_a_verdict(state: str, kind: str) -> None:
    suite = junit(report(state=NightlyRunState(state), reason="No <output> & \x1b[31mnothing\x00\ud800 else."))
    assert suite.find(f"testcase/{kind}").get("message") == "No <output> & �[31mnothing�� else."


def test_junit_holds_any_name() -> None:
    names = ['a"<&>', "b\x00\x08\x7f", "c\ud800\uffff", "d\n\te", "船 عربي 🚢"]
    suite = junit(report(verdict(*(finding(name, Outcome.WORSE) for name in names)), name="<g>\x01"))
    found = [case.get("name") for case in suite.findall("testcase")]
    assert found == ['a"<&> bleu', "b��� bleu", "c�� bleu", "d\n\te bleu", "船 عربي 🚢 bleu"]


def history(*scores: float | None, changes: tuple[Change, ...] = ()) -> History:
    points = [
        Point(f"2027-03-{nightly_run:02}", score, None if score is None else (score - 1, score + 1))
        for nightly_run, score in enumerate(scores, 1)
    ]
    nightly_runs = [report(date=point.date, regressed=False).nightly_run for point in points]
    nightly_runs += [report(date="2027-03-30", state=NightlyRunState.MISSED, reason="No scheduler.").nightly_run]
    series = ScoreSeries(subject("tug"), "BLEU", "s", True, tuple(points), changes)
    return History(report().schedule, tuple(nightly_runs), (series,))


LONG = (31.0, 31.2, None, 30.9, 30.0, 30.1, 29.9, 30.0, 30.2, 30.1)


def test_history_as_text() -> None:
    text = as_text(history(*LONG, changes=(change("tug"),)))
    table, changes, nightly_runs = text.rstrip("\n").split("\n\n")
    assert table.splitlines()[0] == "gate: 11 runs, 2027-03-01 to 2027-03-30."
    assert table.splitlines()[-1].split()[3:] == ["BLEU", "29.90", "31.20", "30.10", "▇█·▆▂▂▁▂▃▂"]
    assert "2027-03-05" in changes
    assert nightly_runs.splitlines()[-1] == "2027-03-30  missed: No scheduler."
    assert "Too few runs" in as_text(history(1.0, 2.0))
    assert "No change that lasted" in as_text(history(*LONG))
    assert as_text(History(report().schedule, ())) == "gate: no run so far.\n"
    found = json.loads(rendered_history(history_document(history(*LONG), COMMAND_LINE), "json"))
    assert found["series"][0]["points"][2] == {"date": "2027-03-03", "score": None, "interval": None}


def test_a_long_course_is_that_of_the_last_runs() -> None:
    table, *_ = as_text(history(*[9.0] * 10, *[1.0] * 59, 2.0)).split("\n\n")
    assert table.splitlines()[-1].split()[3:] == ["BLEU", "1.00", "9.00", "2.00", "▁" * 59 + "█"]


def test_runs_without_a_score_do_not_count_among_lowest_highest_and_last() -> None:
    table, *_ = as_text(history(None, 9.0, 3.0, 7.0, None)).split("\n\n")
    assert table.splitlines()[-1].split()[3:] == ["BLEU", "3.00", "9.00", "7.00", "·█▁▆·"]
    table, *_ = as_text(history(None, None)).split("\n\n")
    assert table.splitlines()[-1].split()[3:] == ["BLEU", "n/a", "n/a", "n/a", "··"]


def test_numbers_below_one_have_four_decimals() -> None:
    table, *_ = as_text(history(0.25, -0.5)).split("\n\n")
    assert table.splitlines()[-1].split()[4:7] == ["-0.5000", "0.2500", "-0.5000"]
    table, *_ = as_text(history(0.25, -1.0)).split("\n\n")
    assert table.splitlines()[-1].split()[4:7] == ["-1.00", "0.25", "-1.00"]


def test_bars() -> None:
    assert bars([]) == ""
    assert bars([None, 2.0, 2.0]) == "·▄▄"
    assert bars([0.0, 7.0, 3.5, None]) == "▁█▅·"


def test_history_as_a_drawing() -> None:
    """The same bytes for the same history; every change in words, not by colour alone."""
    made = history(*LONG, changes=(change("tug"),))
    drawn = history_svg(made)
    assert drawn == history_svg(made)
    root = fromstring(drawn)
    texts = "".join(root.itertext())
    for wanted in ("2027-03-05", "▼ worse -1", "2027-03-01", "tug, port.en-cs, references A + B"):
        assert wanted in texts
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert fromstring(history_svg(history(None, None))) is not None
    assert fromstring(history_svg(History(report(name="a<\x00").schedule, ()))) is not None
    better = history(*LONG, changes=(change("tug", worse=False, after=32.0, counts=False),))
    assert "▲ better +1 (not significant)" in "".join(fromstring(history_svg(better)).itertext())


def test_runs_with_problems_are_listed_where_there_are_some() -> None:
    made = history(*LONG)
    assert "Runs with problems" in as_text(made)
    text = as_text(replace(made, nightly_runs=made.nightly_runs[:-1]))
    assert text.startswith("gate: 10 runs, 2027-03-01 to 2027-03-10.\n")
    assert text.endswith("No change that lasted.\n")


def test_junit_says_how_it_was_tested() -> None:
    judged = replace(verdict(*FINDINGS), alpha=0.01, correction="bh", minimum_difference=0.5, draws=77)
    told = [(each.get("name"), each.get("value")) for each in junit(report(judged)).iter("property")]
    assert told == [
        ("baseline", "the same system in the previous run"), ("test", "bootstrap"), ("draws", "77"), ("alpha", "0.01"),
        ("correction", "bh"), ("minimum_difference", "0.5"),
    ]  # fmt: skip
