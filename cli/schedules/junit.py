"""A run as JUnit XML, the form in which systems for continuous integration read test results.

One test case for each system, test set and metric: a failure is a regression, skipped is what has no baseline, an error
is a run that failed. Elements and attributes are those that Jenkins' schema (junit-10.xsd) knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from models.schema.states import NightlyRunState
from runtime.times import utc
from steelyard.resampling.regression import Outcome

if TYPE_CHECKING:
    from analysis.nightly.regression import RegressionFinding
    from analysis.nightly.verdict import NightlyRunReport

_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot represent, and invisible ones."""

SKIPPED = (Outcome.NO_BASELINE, Outcome.BASELINE, Outcome.UNTESTED)


def nightly_run_junit(report: NightlyRunReport) -> str:
    """The whole document, to be written as UTF-8."""
    name = _clean(report.schedule.name)
    root = Element("testsuites", name=name)
    started = utc(report.nightly_run.due_at).removesuffix("Z")
    suite = SubElement(root, "testsuite", name=f"{name} {report.nightly_run.date}", timestamp=started, time="0")
    verdict = report.verdict
    if verdict is None:
        _unjudged(suite, report)
    else:
        properties = SubElement(suite, "properties")
        for key, value in (
            ("baseline", verdict.baseline), ("test", verdict.test), ("draws", verdict.draws), ("alpha", verdict.alpha),
            ("correction", verdict.correction), ("minimum_difference", verdict.minimum_difference),
        ):  # fmt: skip
            SubElement(properties, "property", name=key, value=_clean(str(value)))
        for finding in verdict.findings:
            subject = finding.subject
            _finding(_case(suite, report, subject.where, f"{subject.system} {subject.metric}"), finding)
        for change in verdict.changes:
            if change.regressed:
                subject = change.subject
                name_of_case = f"{subject.system} {subject.metric} over the runs since {change.since}"
                failure = (
                    f"{change.title} {change.after:.6g} since {change.since} ({change.runs_after} runs), "
                    f"{change.before:.6g} before: {change.difference:+.6g}, p = {change.p:.3g}"
                )
                _add(_case(suite, report, subject.where, name_of_case), "failure", failure, "change")
        if verdict.notes:
            SubElement(suite, "system-out").text = _clean("\n".join(verdict.notes))
    for element in (root, suite):
        element.set("tests", str(len(suite.findall("testcase"))))
        for attribute, kind in (("failures", "failure"), ("errors", "error")):
            element.set(attribute, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _unjudged(suite: Element, report: NightlyRunReport) -> None:
    case = _case(suite, report, "run", report.nightly_run.date)
    reason = report.nightly_run.reason or f"The run is {report.nightly_run.state}."
    if report.nightly_run.state in {NightlyRunState.FAILED, NightlyRunState.MISSED}:
        _add(case, "error", reason, str(report.nightly_run.state))
    else:
        _add(case, "skipped", reason)


def _case(suite: Element, report: NightlyRunReport, where: str, name: str) -> Element:
    # Dots separate a class name from its package, and names of test sets contain dots.
    place = f"{report.schedule.name}/{where}".replace(".", "_")
    return SubElement(suite, "testcase", classname=_clean(place), name=_clean(name), time="0")


def _finding(case: Element, finding: RegressionFinding) -> None:
    if finding.outcome in SKIPPED:
        _add(case, "skipped", str(finding.outcome))
    elif finding.outcome.regressed:
        _add(case, "failure", _told(finding), str(finding.outcome))
    else:
        SubElement(case, "system-out").text = _clean(f"{finding.outcome}: {_told(finding)}")


def _told(finding: RegressionFinding) -> str:
    of_run = f", run of {finding.baseline_date}" if finding.baseline_date else ""
    score = "n/a" if finding.score is None else f"{finding.score:.6g}"
    told = f"{finding.title} {score}, baseline {finding.baseline_score:.6g} ({finding.baseline_system}{of_run})"
    if finding.difference is not None:
        told += f": {finding.difference:+.6g}"
    if finding.interval is not None:
        told += f" ({finding.interval[0]:+.6g} to {finding.interval[1]:+.6g})"
    return told if finding.p_corrected is None else f"{told}, corrected p = {finding.p_corrected:.3g}"


def _add(case: Element, kind: str, message: str, what: str | None = None) -> None:
    element = SubElement(case, kind, message=_clean(message))
    if what is not None:
        element.set("type", what)
        element.text = _clean(message)


def _clean(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
