"""Runs, the queue, and how numbers are made."""

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.base import now
from models.schema.nightly import NightlyRun
from models.schema.queue import Evaluation
from models.schema.roles import SiteRole, Visibility
from models.schema.states import EvaluationState, NightlyRunState
from steelyard.metrics.registry import all_metrics
from tests.analysis.nightly_runs import add_nightly_runs, judge, output
from tests.service.inspected_campaign import look_at
from tests.service.service import Service
from web.pages.campaigns import nightly
from web.static_files import FOLDER


def test_about_describes_every_metric_of_the_registry(service: Service) -> None:
    page = service.client().get("/about").text
    for metric in all_metrics():
        assert f'id="metric-{metric.name}"' in page
        assert metric().signature("N", 1000, 12345).replace("'", "&#39;") in page


def test_the_queue_is_for_those_who_run_things_and_tells_each_only_of_what_is_theirs(service: Service) -> None:
    bay = look_at(service)
    service.campaign("bay", visibility=Visibility.PRIVATE)
    service.campaign("other", visibility=Visibility.PRIVATE)
    with writing(service.engine) as connection:
        failed = {"state": EvaluationState.FAILED, "reason": "a <b>reason</b>", "finished_at": now()}
        connection.execute(update(Evaluation).values(**failed))
    stranger = service.account("stranger", SiteRole.ORGANISER)
    root = service.account("root", SiteRole.ADMINISTRATOR)
    assert service.client().get("/queue", follow_redirects=False).status_code in (303, 401)
    assert service.browser(bay.gull).get("/queue").status_code == 403
    told = service.browser(root).get("/queue").text
    assert "gulls/dive" in told
    assert "a &lt;b&gt;reason&lt;/b&gt;" in told
    hidden = service.browser(stranger).get("/queue")
    assert hidden.status_code == 200
    for word in ("gulls", "bay", "reason"):
        assert word not in hidden.text
    assert "data-live" in told
    assert (FOLDER / "refresh.js").exists()


def _made(service: Service) -> list[int]:
    """A schedule "gate" with two runs; in the second one "tug" is worse. The runs."""
    bad = {"tug": output(0.5, 2), "raft": output(0.0, 3)}
    made = add_nightly_runs(
        service.engine, service.settings.database_url, [{"tug": output(), "raft": output(0.0, 3)}, bad]
    )
    judge(service.engine, made[-1])
    return made


def test_a_run_is_shown_with_its_verdict_and_the_series_of_its_schedule(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = _made(service)
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    listed = root.get("/nightly").text
    assert 'href="/nightly/gate"' in listed
    assert "regression" in listed
    page = root.get("/nightly/gate").text
    assert "Run of 2027-03-02" in page
    assert "1 regression in 2 scores" in page
    assert page.count('class="chart"') == 2
    assert 'style="' not in page
    assert f"/nightly/gate?run={first}" in page
    earlier = root.get("/nightly/gate", params={"run": str(first)}).text
    assert "Run of 2027-03-01" in earlier
    assert "no baseline" in earlier
    for html, shown in ((page, last), (earlier, first)):
        assert f'<input type="hidden" name="run" value="{shown}">' in html, "another metric is of the same run"
    told = root.get(f"/api/v1/nightly/gate/runs/{last}").json()
    assert told["verdict"]["regressed"] is True
    assert [each["date"] for each in root.get("/api/v1/nightly/gate").json()["runs"]] == ["2027-03-01", "2027-03-02"]
    monkeypatch.setattr(nightly, "RUNS", 1)
    newest = root.get("/nightly/gate").text
    assert (f"?run={last}" in newest, f"?run={first}" in newest) == (True, False), "the last runs are listed"
    for nightly_run in ("99", "x", str(last + 10)):
        assert root.get("/nightly/gate", params={"run": nightly_run}).status_code == 404


def test_schedules_are_shown_to_those_who_may_see_their_campaigns(service: Service) -> None:
    (first, _) = _made(service)
    with writing(service.engine) as connection:
        failed = {"state": NightlyRunState.FAILED, "reason": "/srv/secret/folder is empty", "verdict": None}
        connection.execute(update(NightlyRun).where(NightlyRun.id == first).values(**failed))
    mary, eve = service.account("mary", SiteRole.ORGANISER), service.account("eve")
    service.campaign("gate", visibility=Visibility.PRIVATE)
    assert "gate" not in service.browser(mary).get("/nightly").text
    assert service.browser(mary).get("/nightly/gate").status_code == 404
    assert service.browser(eve).get("/nightly").status_code == 403
    assert service.program(eve).get("/api/v1/nightly").status_code == 403
    service.campaign("gate", organisers=(mary,), visibility=Visibility.PRIVATE)
    organiser = service.browser(mary)
    assert "gate" in organiser.get("/nightly").text
    # Where the server keeps its files is for administrators.
    for path in (f"/nightly/gate?run={first}", "/api/v1/nightly/gate", f"/api/v1/nightly/gate/runs/{first}"):
        answer = organiser.get(path)
        assert answer.status_code == 200
        assert "secret" not in answer.text
    root = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    assert "secret" in root.get(f"/nightly/gate?run={first}").text


def test_errors_keep_the_tabs_of_a_campaign_that_one_may_see(service: Service) -> None:
    look_at(service)
    service.campaign("bay", visibility=Visibility.PUBLIC)
    tabs = 'href="/campaigns/bay/leaderboard"'
    anybody, member = service.client(), service.browser(service.account("stranger"))
    for client in (anybody, member):
        answer = client.get("/campaigns/bay/segments?test_set=nonsense")
        assert answer.status_code == 404
        assert tabs in answer.text
        assert 'aria-current="page"' not in answer.text
    service.campaign("bay", visibility=Visibility.PRIVATE)
    hidden = [client.get("/campaigns/bay/segments?test_set=nonsense") for client in (anybody, member)]
    hidden += [member.get(path) for path in ("/campaigns/nothing/segments", "/nothing", "/campaigns")]
    for answer in hidden:
        assert answer.status_code == 404
        assert 'aria-label="Campaign"' not in answer.text
