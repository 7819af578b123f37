"""Alerts and the dashboard ask for metrics that there are; each alert fires on its fault, and not otherwise."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from sqlalchemy import insert
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from models.database.session import make_engine, writing
from models.schema.base import now
from models.schema.queue import Worker
from runtime.settings import Settings
from scheduler.telemetry import SchedulerMetrics
from scheduler.telemetry import new_counters as scheduler_counters
from web.access_log import AccessLog
from worker.telemetry import WorkerMetrics
from worker.telemetry import new_counters as worker_counters

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docker" / "monitoring"
ALERTS = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
TESTED = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
PANELS = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
EXPRESSIONS = {each["alert"]: [each["expr"]] for each in ALERTS} | {
    each["title"]: [target["expr"] for target in each["targets"]] for each in PANELS
}
OF_PROMETHEUS = {"instance", "namespace"}
"""Labels that Prometheus adds itself."""


@pytest.fixture
def samples(sqlite_url) -> dict[str, set[str]]:
    """What worker, scheduler and web service tell: name -> labels."""
    with writing(make_engine(sqlite_url, pooled=False)) as connection:
        row = {"id": "w", "host": "h", "pid": 7, "version": "1", "concurrency": 2, "beat_at": now() + 3600.0}
        connection.execute(insert(Worker).values(**row))
    web = AccessLog(PlainTextResponse("here"))
    TestClient(web).get("/")
    counters = worker_counters(1)
    counters.begin(0)
    found = {}
    for collector in (
        SchedulerMetrics(Settings(database_url=sqlite_url), scheduler_counters(), lambda: True),
        WorkerMetrics(counters),
        *web.collectors,
    ):
        for metric in collector.collect():
            for sample in metric.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
    return found


def labels_of(expression: str) -> set[str]:
    """The labels that an expression selects or groups by."""
    grouped = ",".join(re.findall(r"\bby \(([^)]*)\)", expression))
    return {each.strip() for each in grouped.split(",") if each.strip()} | set(re.findall(r"[{,]\s*(\w+)=", expression))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_metrics_and_labels_exist(name, samples):
    for expression in EXPRESSIONS[name]:
        metrics = re.findall(r"\bsteelyard_\w+", expression)
        assert metrics
        for metric in metrics:
            assert metric in samples, f"{name} asks for {metric}"
        known = set().union(*(samples[metric] for metric in metrics)) | OF_PROMETHEUS
        assert labels_of(expression) <= known, expression


def test_every_alert_has_a_section_in_the_runbook_and_nothing_else_has():
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/how-to/runbook.md").read_text(), re.MULTILINE)
    assert sections == [each["alert"] for each in ALERTS]
    for each in ALERTS:
        assert each["annotations"]["runbook"] == f"runbook.md#{each['alert'].lower()}"
        assert each["labels"]["severity"] in {"page", "ticket"}


def test_every_alert_is_tried_both_ways():
    fires = {each["alertname"] for test in TESTED for each in test["alert_rule_test"] if each.get("exp_alerts")}
    stays = {each["alertname"] for test in TESTED for each in test["alert_rule_test"] if not each.get("exp_alerts")}
    assert fires == stays == {each["alert"] for each in ALERTS}


def test_alerts_fire_on_their_faults():
    if shutil.which("promtool") is None:
        assert not os.environ.get("CI"), "CI installs Debian's package prometheus"
        pytest.skip("needs promtool (Debian's package prometheus)")
    ran = subprocess.run(
        ["promtool", "test", "rules", FOLDER / "alerts_test.yaml"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_panels_have_titles_units_and_do_not_overlap():
    taken = set()
    for each in PANELS:
        assert each["title"]
        assert each["description"]
        assert each["fieldConfig"]["defaults"]["unit"]
        place = each["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells
