"""Systems compared in pairs, by API and page."""

import re
import threading
from typing import Any

import pytest
from sqlalchemy import select

import campaigns.leaderboards.comparison
from analysis.leaderboard.board import Board, read_board
from analysis.leaderboard.significance import bootstrap_pairs
from campaigns.background import BackgroundCache
from models.database.session import reading, writing
from models.queue.kinds.comparisons import TRIALS, start_comparison
from models.results.boards import list_boards
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.accounts import AuditEntry
from models.schema.queue import Trials
from models.schema.roles import PhaseKind, SiteRole
from steelyard.metrics.metric import EDITION
from steelyard.resampling.correction import corrected
from tests.scheduler.jobs import queue_job, work_off
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service
from worker.context import WorkerContext
from worker.handlers import do

API, PAGE = "/api/v1/campaigns/port/comparisons", "/campaigns/port/compare"


@pytest.fixture
def scored(service: Service) -> Scored:
    """Six systems; 5 and 6 have the very same output, and ter is undefined for 4."""
    found = Scored(service, replicates=400)
    found.add("harbour", "mast", 40.0, **PRIMARY)
    found.add("harbour", "sail", 39.8, **CONTRASTIVE)
    found.add("lighthouse", "lamp", 30.0)
    found.add("", "baseline", 20.0, ter=None)
    found.add("", "twin", 25.0, text="alike")
    found.add("", "other twin", 25.0, text="alike")
    service.campaign("port", teams=(service.team("harbour", service.account("zoe")), service.team("lighthouse")))
    return found


def get(scored: Scored, **query: Any) -> Any:
    answer = scored.service.client().get(API, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def of_the_command_line(scored: Scored) -> Board:
    with reading(scored.service.engine) as connection:
        (listed,) = list_boards(connection)
        board = read_board(connection, listed, 0.95)
    assert board is not None
    return board


def test_pairs_are_those_of_the_command_line(scored: Scored) -> None:
    board = of_the_command_line(scored)
    expected = {
        (board.rows[each.a].submissions[0], board.rows[each.b].submissions[0]): each
        for each in bootstrap_pairs(board, 0, correction="holm")
    }
    found = get(scored, system=[1, 2, 3, 4, 5, 6], metric="bleu", correction="holm")
    assert len(found["pairs"]) == 15
    for pair in found["pairs"]:
        key = pair["a_submission"], pair["b_submission"]
        if key in expected:
            other = expected[key]
            assert (pair["difference"], pair["p"]) == (other.difference, other.p)
            assert (pair["p_corrected"], tuple(pair["interval"].values())[1:3]) == (other.p_corrected, other.interval)
    best, second = found["pairs"][0], found["pairs"][1]
    assert (best["a"], best["b"], best["direction"]) == ("harbour/mast", "harbour/sail", "worse")
    assert second["significant"] is True


def test_runs_of_others_have_no_names_while_teams_are_anonymous(service: Service) -> None:
    found = Scored(service)
    for team, system, score in (("harbour", "mast", 40.0), ("lighthouse", "lamp", 30.0)):
        for run in ("seed 7", "seed 9"):
            found.add(team, system, score, run=run)
    zoe = service.account("zoe")
    teams = service.team("harbour", zoe), service.team("lighthouse")
    service.campaign("port", teams=teams, anonymous=True)
    for client, named in ((service.client(), ()), (service.browser(zoe), ("mast",))):
        systems = client.get(API, params={"metric": "bleu"}).json()["systems"]
        assert [each["system"] for each in systems] == [each if each in named else None for each in ("mast", "lamp")]
        for each in systems:
            assert each["runs"] == (["seed 7", "seed 9"] if each["system"] else [])
            assert len(each["submissions"]) == len(each["scores"][0]["runs"]) == 2


def test_the_very_same_output_has_p_1(scored: Scored) -> None:
    (pair,) = get(scored, system=[5, 6], metric="bleu")["pairs"]
    assert (pair["same_output"], pair["difference"], pair["direction"]) == (True, 0.0, "equal")
    assert get(scored, system=[1, 3], metric="bleu")["pairs"][0]["same_output"] is False


def test_what_is_undefined_is_not_compared(scored: Scored) -> None:
    found = get(scored, system=[1, 4])
    assert [pair["metric"] for pair in found["pairs"]] == ["bleu"]
    assert get(scored, system=[1], metric="bleu")["pairs"] == []


def test_corrections(scored: Scored) -> None:
    holm = get(scored, system=[1, 2, 3], metric="bleu", correction="holm")["pairs"]
    plain = get(scored, system=[1, 2, 3], metric="bleu")["pairs"]
    assert [pair["p_corrected"] for pair in plain] == [None] * 3
    assert all(one["p_corrected"] >= other["p"] for one, other in zip(holm, plain, strict=True))
    assert holm[1]["p_corrected"] == 3 * plain[1]["p"]


def test_without_systems_the_best_ranked_ones(scored: Scored) -> None:
    assert [each["submission"] for each in get(scored)["systems"]] == [1, 3, 5, 6, 4]


def test_what_cannot_be_compared(scored: Scored) -> None:
    client = scored.service.client()
    assert client.get(API, params={"system": [1, 99]}).status_code == 404
    assert client.get(API, params={"system": list(range(1, 62))}).status_code == 422
    assert client.get(API, params={"comparison": 7}).status_code == 404
    scored.withdraw(2)
    assert client.get(API, params={"system": [1, 2]}).status_code == 404
    scored.service.phase(scored.campaign_id, "now", PhaseKind.BLIND)
    assert client.get(API).status_code == 403
    assert client.post(API).status_code == 401
    assert "40.0" not in client.get(PAGE).text


def test_anonymous_teams_stay_so(scored: Scored) -> None:
    scored.service.campaign("port", anonymous=True)
    scored.service.phase(scored.campaign_id, "now", PhaseKind.OPEN)
    client = scored.service.client()
    for text in (client.get(API).text, client.get(PAGE).text):
        assert "Team " in text
        assert not [word for word in ("harbour", "mast", "sail", "lighthouse", "lamp") if word in text]


def test_a_matrix_for_each_metric_whose_cells_lead_to_the_segments(scored: Scored) -> None:
    query = {"system": [1, 3], "metric": "bleu"}
    text = scored.service.client().get(PAGE, params=query).text
    assert text.count('<table class="matrix') == 2
    assert "▲" in text
    assert "This is the rule of the leaderboard" in text
    assert "Holm-corrected" in scored.service.client().get(PAGE, params={**query, "correction": "holm"}).text
    links = re.findall(r'<td[^>]*><a href="([^"]*)"', text)
    assert links
    assert all("/segments?" in link and "system=1&amp;system=3" in link for link in links)


def test_randomization_tests_are_made_when_somebody_asks(service: Service) -> None:
    queue_job(service.engine, service.settings, segments=30, systems=3, replicates=20)
    work_off(service.settings)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    url = f"/api/v1/campaigns/{listed.campaign}/comparisons"
    wish = {"test": "randomization", "metric": listed.metrics[0]}
    before = service.client().get(url, params=wish).json()
    assert (before["pairs"], before["missing"]) == ([], 3)
    assert service.client().post(url, params=wish).status_code == 401
    program = service.program(service.account("zoe"))
    done = program.post(url, params=wish)
    assert done.status_code == 200, "so few are made there and then"
    assert len(done.json()["pairs"]) == 3
    assert done.json()["missing"] == 0
    after = service.client().get(url, params=wish).json()
    assert after["pairs"] == done.json()["pairs"]
    assert all(pair["n"] == 10_000 and 0 < pair["p"] <= 1 for pair in after["pairs"])


def test_more_replicates_are_drawn_where_the_correction_needs_them(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20 replicates the smallest p-value of three pairs by Holm's correction is 3 / 21."""
    queue_job(service.engine, service.settings, segments=30, systems=3, replicates=20)
    work_off(service.settings)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    url, page = f"/api/v1/campaigns/{listed.campaign}/comparisons", f"/campaigns/{listed.campaign}/compare"
    client = service.client()
    plain, holm = (client.get(url, params={"correction": each}).json() for each in ("none", "holm"))
    assert {pair["n"] for pair in plain["pairs"]} == {20}
    assert {pair["n"] for pair in holm["pairs"]} == {1000}
    assert (plain["drawing"], holm["drawing"]) == (0, 0)
    assert [pair["interval"] for pair in holm["pairs"]] == [pair["interval"] for pair in plain["pairs"]]
    text = client.get(page, params={"correction": "holm"}).text
    assert "paired bootstrap with 1,000 replicates" in text
    assert "No difference can be significant" not in text
    # What takes long is made while others look at the page.
    monkeypatch.setattr(campaigns.leaderboards.comparison, "WAIT_SECONDS", 0.0)
    service.app.state.steelyard.boards.slow = BackgroundCache("anew")
    begin = threading.Event()
    plain_draws = campaigns.leaderboards.comparison.with_enough_draws

    def waiting(*given: Any, **how: Any) -> Board:
        assert begin.wait(60)
        return plain_draws(*given, **how)

    monkeypatch.setattr(campaigns.leaderboards.comparison, "with_enough_draws", waiting)
    before = client.get(url, params={"correction": "holm"}).json()
    assert (before["pairs"], before["drawing"]) == ([], 1000)
    assert "1,000 are being computed" in client.get(page, params={"correction": "holm"}).text
    begin.set()
    monkeypatch.setattr(campaigns.leaderboards.comparison, "WAIT_SECONDS", 60.0)
    assert client.get(url, params={"correction": "holm"}).json()["pairs"] == holm["pairs"]


def test_what_was_drawn_for_one_correction_is_not_shown_for_another(service: Service) -> None:
    """Of 10 replicates no test could be significant: for each correction there are more drawn."""
    queue_job(service.engine, service.settings, segments=30, systems=4, replicates=10)
    work_off(service.settings)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    url, found = f"/api/v1/campaigns/{listed.campaign}/comparisons", {}
    for correction in ("holm", "bh"):
        told = service.client().get(url, params={"correction": correction}).json()
        assert (told["drawing"], {pair["n"] for pair in told["pairs"]}) == (0, {1000})
        found[correction] = [pair["p_corrected"] for pair in told["pairs"]]
        assert found[correction] == corrected([pair["p"] for pair in told["pairs"]], correction).tolist()
    assert found["holm"] != found["bh"]


def test_a_comparison_is_asked_for_where_its_systems_stand(service: Service) -> None:
    """How far it has come, and why it failed, is nothing for those who see another board."""
    there, numbers = {}, {}
    for name, seed in (("here", 1), ("there", 2)):
        job = queue_job(
            service.engine, service.settings, segments=30, systems=2, replicates=20, campaign=name, seed=seed
        )
        work_off(service.settings)
        service.campaign(name)
        there[name] = f"/api/v1/campaigns/{name}/comparisons"
        first, second = job.all_evaluations
        contest = RandomizationPlan(job.protocols[0], ((first,), (second,)), (Pair(0, 0, 1),), 99, 7)
        with writing(service.engine) as connection:
            numbers[name] = start_comparison(connection, contest, [(0, 99)], queue_class=0, team="", edition=EDITION)
    for place, url in there.items():
        for name, number in numbers.items():
            answer = service.client().get(url, params={"comparison": number})
            assert answer.status_code == (200 if name == place else 404)


def test_compare_marks_what_the_leaderboard_parts(scored: Scored) -> None:
    """Thirteen systems: what the board's clusters part, a comparison with nothing but defaults marks, too."""
    for number in range(10):
        scored.add("", f"buoy{number}", 10.0 + number, spread=0.3)
    board = scored.service.client().get("/api/v1/campaigns/port/leaderboard").json()
    found = get(scored, system=[each["submission"] for each in board["items"]], metric="bleu")
    assert found["correction"] == board["ranking"]["correction"]
    of_submission = {each["submission"]: each["scores"][0] for each in board["items"]}
    wins = dict.fromkeys(of_submission, 0)
    for pair in found["pairs"]:
        if pair["significant"]:
            wins[pair["b_submission" if pair["direction"] == "better" else "a_submission"]] += 1
    assert wins == {submission: score["wins"] for submission, score in of_submission.items()}
    assert sum(wins.values()) > 50


def asked_for_trials(service: Service, browser: Any) -> str:
    """The page of randomization tests that workers are to make."""
    queue_job(service.engine, service.settings, segments=30, systems=3, replicates=20)
    work_off(service.settings)
    service.app.state.steelyard.settings = service.settings.model_copy(update={"at_once_seconds": 0.0})
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    text = browser.get(f"/campaigns/{listed.campaign}/compare", params={"test": "randomization"}).text
    assert "not computed yet" in text
    visitor = service.client().get(f"/campaigns/{listed.campaign}/compare", params={"test": "randomization"}).text
    assert 'class="act" method="post" action="/campaigns' not in visitor, "tests are for people with an account"
    asked = {"test": "randomization", "correction": "bh"}
    corrected_too = browser.get(f"/campaigns/{listed.campaign}/compare", params=asked).text
    (action,) = re.findall(r'action="([^"]*/compare\?[^"]*)"', corrected_too)
    assert all(f"{name}={value}" in action for name, value in asked.items()), "what is computed is what was chosen"
    there = pressed(browser, text)
    assert "comparison=" in there
    assert "Computing randomization tests" in browser.get(there).text
    return there


def pressed(browser: Any, text: str) -> str:
    """Where the only button of a page leads."""
    (action,) = re.findall(r'class="act" method="post" action="([^"]*compare[^"]*)"', text)
    answer = browser.post(action.replace("&amp;", "&"), follow_redirects=False)
    assert answer.status_code == 303
    return str(answer.headers["Location"])


def test_organisers_cancel_a_comparison_that_runs(service: Service) -> None:
    browser = service.browser(service.account("root", SiteRole.ADMINISTRATOR))
    there = asked_for_trials(service, browser)
    zoe = service.browser(service.account("zoe"))
    assert "Computing randomization tests" in zoe.get(there).text
    assert "Cancel tests" not in zoe.get(there).text
    assert pressed(browser, browser.get(there).text) == there
    text = browser.get(there).text
    assert "failed: Cancelled by an organiser." in text
    assert "Cancel tests" not in text
    with reading(service.engine) as connection:
        assert list(connection.scalars(select(AuditEntry.action)))[-1] == "comparison.cancel"


def test_a_program_is_told_where_to_wait_for_the_tests(service: Service) -> None:
    asked_for_trials(service, service.browser(service.account("zoe")))
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    program = service.program(service.account("eve"))
    wish = {"correction": "holm"}
    started = program.post(f"/api/v1/campaigns/{listed.campaign}/comparisons", params=wish)
    assert started.status_code == 202
    # The request did not name the test: only randomization tests are made on request.
    found = program.get(started.headers["Location"]).json()
    assert (found["test"], found["correction"]) == ("randomization", "holm")
    assert found["progress"]["running"] is True


def test_many_randomization_tests_are_left_to_the_workers(service: Service) -> None:
    browser = service.browser(service.account("zoe"))
    there = asked_for_trials(service, browser)
    page = there.partition("?")[0]
    context = WorkerContext(service.settings)
    with reading(service.engine) as connection:
        waiting = list(connection.scalars(select(Trials.id)))
    for each in waiting:
        do(context, TRIALS, each, "task")
    context.close()
    assert '<table class="matrix' in browser.get(there).text
    assert "Computing randomization" not in browser.get(there).text
    url = f"/api/v1{page.replace('/compare', '/comparisons')}"
    progress = service.client().get(url, params={"test": "randomization", "comparison": 1}).json()["progress"]
    assert (progress["running"], progress["failure"]) == (False, "")


def test_a_leaderboard_counts_the_tests_that_are_missing_each_time(service: Service) -> None:
    queue_job(service.engine, service.settings, segments=30, systems=3, replicates=20, metrics=["bleu", "chrf"])
    work_off(service.settings)
    with reading(service.engine) as connection:
        (listed,) = list_boards(connection)
    service.campaign(listed.campaign)
    url = f"/api/v1/campaigns/{listed.campaign}"
    program = service.program(service.account("zoe"))

    def testing() -> Any:
        got = program.get(f"{url}/leaderboard", params={"test": "randomization"})
        assert got.status_code == 200, got.text
        return got.json()["ranking"]["testing"]

    assert testing() == 6
    for metric, missing in zip(listed.metrics, (3, 0), strict=True):
        wish = {"test": "randomization", "metric": metric}
        assert program.post(f"{url}/comparisons", params=wish).status_code == 200
        assert testing() == missing


def test_a_baseline_is_named_by_any_run_of_its_system(scored: Scored) -> None:
    first, last = (scored.add("lighthouse", "beam", 35.0, run=run) for run in ("1", "2"))
    eve, mast = scored.service.program(scored.service.account("eve")), min(scored.evaluations)

    def pairs(*systems: int, baseline: int) -> Any:
        answer = eve.get(API, params={"system": systems, "baseline": baseline})
        assert answer.status_code == 200, answer.text
        return answer.json()["pairs"]

    assert pairs(mast, last, baseline=first) == pairs(mast, last, baseline=last) != []
    assert pairs(mast, first, baseline=mast) == pairs(mast, last, baseline=mast)


def test_single_submissions_are_compared_up_to_a_number(scored: Scored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.api.leaderboards.comparisons.MAX_SYSTEMS", 2)
    ann = scored.service.account("ann", SiteRole.ORGANISER)
    scored.service.campaign("port", organisers=(ann,))
    program = scored.service.program(ann)
    assert len(program.get(API, params={"system": [1, 2], "single": True}).json()["systems"]) == 2
    refused = program.get(API, params={"system": [1, 2, 3], "single": True})
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        422, "3 systems are too many. Compare at most 2 at once.",
    )  # fmt: skip
