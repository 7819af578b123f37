"""The metrics of a campaign over all test sets, by the API, on its page and from the command line."""

import csv
import io
import json
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from httpx import Client
from sqlalchemy import Connection, delete, select, update

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from analysis.meta_evaluation.metrics_task_parts import unpack_result
from campaigns.inspection import metrics_task as made
from models.corpus.judgments import NewJudgments, SegmentRow, store_judgments
from models.database.session import reading, writing
from models.errors import BadBlob
from models.queue.kinds.metrics_task_parts import METRICS_TASK_PART
from models.queue.retention import prune_finished
from models.results.boards import list_boards
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.queue import MetricsTaskPart
from models.schema.roles import PhaseKind
from models.schema.states import JudgmentKind, LeaseState
from steelyard.meta_evaluation.metrics_task import metrics_task
from steelyard.meta_evaluation.task_results import compare_in_task
from tests.cli.status import status_of
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set
from tests.service.service import Service
from worker.context import WorkerContext
from worker.handlers import do

URL = "/api/v1/campaigns/port/metrics-task"
PAGE = "/campaigns/port/metrics-task"
LINES = {
    "cs": b"kocka tam sedi a dum je velky\npes tu bezi a neni sam\ndum je tu a pes taky ne\n",
    "zh": "那只猫坐在那里看着我们\n整天都在下雨我们在家\n狗在跑步猫在睡觉\n".encode(),
}


@pytest.fixture
def nobody(service: Service) -> Client:
    """Two pairs in a public campaign, of which the metric BLEU has two tokenizers; three systems each."""
    found(service.engine, "port", visibility="public")
    for language, reference in LINES.items():
        with_test_set(
            *(service.engine, "port", given(reference, target_language=language)),
            name=f"en-{language}",
            metrics=("bleu", "chrf", "ter")[: 3 - (language == "zh")],
            replicates=20,
        )
        first, rest = reference.split(b"\n", 1)
        for team, output in (("z", reference), ("b", 3 * (first + b"\n")), ("c", first[:9] + b"\n" + rest)):
            submit_output(service.engine, "port", team, "tug", output, test_set=f"en-{language}")
    work_off(service.settings)
    return service.client()


def judge(service: Service, name: str = "esa", kept: tuple[str, ...] = ("en-cs", "en-zh"), teams: str = "zbc") -> None:
    """The first of the teams is the best."""
    with writing(service.engine) as connection:
        campaign = connection.scalar(select(Campaign.id))
        for test_set, title in _test_sets(connection, kept):
            rows = [
                SegmentRow(f"{team}/tug", segment, score, score, 1)
                for team, scores in zip(teams, ((90, 80, 95), (85, 10, 20), (30, 70, 60)), strict=True)
                for segment, score in enumerate(map(float, scores))
                if title == "en-cs" or segment != 1
            ]
            store_judgments(connection, campaign, test_set, NewJudgments(name, JudgmentKind.SCORES, {}, [], rows))


def _test_sets(connection: Connection, names: tuple[str, ...]) -> list[tuple[int, str]]:
    there = select(CampaignTestSet.test_set_id, CampaignTestSet.name).where(CampaignTestSet.name.in_(names))
    return [(row.test_set_id, row.name) for row in connection.execute(there)]


def test_figures_are_those_of_the_stored_scores(service: Service, nobody: Client) -> None:
    judge(service)
    answer = nobody.get(URL)
    assert answer.status_code == 200
    document = answer.json()
    with reading(service.engine) as connection:
        pairs = {
            listed.test_set: read_judged(connection, read_board(connection, listed, 0.95))
            for listed in list_boards(connection, name="port")
        }
    titled = {
        pair: replace(
            judged, metrics=[replace(each, specification=each.title) for each in judged.metrics]
        )
        for pair, judged in pairs.items()
    }  # fmt: skip
    expected = metrics_task(titled).to_json()
    assert {key: document[key] for key in expected} == json.loads(json.dumps(expected))
    assert (document["columns"], document["columns_done"], document["failures"]) == (4, 4, [])
    assert [task["pair"] for task in document["tasks"]] == ["en-cs", "en-cs", "en-zh", "en-zh"]
    assert [task["segments"] for task in document["tasks"]] == [3, 3, 2, 2]
    # One metric, whatever its tokenizer; TER is of one pair alone, which is not a score of 0.
    averages = {row["metric"]: row["average"] for row in document["metrics"]}
    assert set(averages) == {"BLEU", "chrF2", "TER"}
    assert (averages["TER"], document["metrics"][-1]["metric"]) == (None, "TER")
    assert document["metrics"][-1]["scores"][2:] == [None, None]
    assert [each["human"] for each in document["test_sets"]] == ["esa@1", "esa@1"]
    first = document["metrics"][0]
    assert first["average"] == pytest.approx(np.mean([score["value"] for score in first["scores"]]))


def test_files_and_the_page_show_the_same(service: Service, nobody: Client, capsys: pytest.CaptureFixture[str]) -> None:
    judge(service)
    document = nobody.get(URL).json()
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        text = nobody.get(URL, params={"format": form}).text
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
        assert len(rows) == 3 + 4 + 4 + 2
        assert float(rows[0]["value"]) == document["metrics"][0]["average"]
    assert "en-zh SPA" in nobody.get(URL, params={"format": "latex"}).text
    page = nobody.get(PAGE).text
    assert 'href="/campaigns/port/metrics-task" aria-current="page"' in page
    assert page.count("n/a") == 3, "TER's average, and its values of en-zh"
    for row in document["metrics"]:
        for score in row["scores"]:
            assert score is None or f"{score['value']:.3f}" in page
    url = service.settings.database_url
    assert status_of(["campaign", "metrics-task", "port", "-f", "json", "--database", url]) == 0
    assert json.loads(capsys.readouterr().out) == document
    for form in ("text", "markdown", "latex", "html", "csv", "tsv"):
        assert status_of(["campaign", "metrics-task", "port", "-f", form, "--database", url]) == 0
        assert "TER" in capsys.readouterr().out


def test_judgments_by_name_and_test_sets_without(
    service: Service, nobody: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nobody.get(URL).json()["left_out"] == ["en-cs", "en-zh"]
    assert "No test set has scores" in nobody.get(PAGE).text
    assert status_of(["campaign", "metrics-task", "port", "--database", service.settings.database_url]) == 1
    assert "judgments import" in capsys.readouterr().err
    judge(service)
    judge(service, "mqm", ("en-cs",))
    mqm = nobody.get(URL, params={"human": "mqm"}).json()
    assert [(each["pair"], each["human"]) for each in mqm["test_sets"]] == [("en-cs", "mqm@1")]
    assert mqm["left_out"] == ["en-zh"]
    assert all(row["average"] is not None for row in mqm["metrics"]), "TER has all values now"
    assert nobody.get(URL, params={"human": "wqm"}).status_code == 404


def test_it_says_that_it_is_being_computed(service: Service, nobody: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(service)
    done = threading.Event()

    def slow(*given, **others):
        assert done.wait(60)
        return compare_in_task(*given, **others)

    monkeypatch.setattr(made, "compare_in_task", slow)
    monkeypatch.setattr("web.pages.leaderboards.metrics_task.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("web.api.leaderboards.metrics_task.PATIENCE_SECONDS", 0.0)
    try:
        page = nobody.get(PAGE).text
        document = nobody.get(URL).json()
    finally:
        done.set()
    assert '<div id="found" data-live data-since="' in page
    assert (document["computing"], document["metrics"]) == (True, [])
    monkeypatch.setattr("web.api.leaderboards.metrics_task.PATIENCE_SECONDS", None)
    assert not nobody.get(URL).json()["computing"]


def waiting(service: Service) -> list[int]:
    """Columns that no worker has claimed."""
    with reading(service.engine) as connection:
        pending = select(MetricsTaskPart.id).where(MetricsTaskPart.state == LeaseState.PENDING)
        return list(connection.scalars(pending.order_by(MetricsTaskPart.id)))


def compute(service: Service, columns: list[int]) -> None:
    """As a worker does."""
    context = WorkerContext(service.settings)
    for column in columns:
        do(context, METRICS_TASK_PART, column, "task")
    context.close()


@pytest.fixture
def stored(service: Service, nobody: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A campaign whose columns take too long for a request."""
    judge(service)
    monkeypatch.setattr(made, "SECONDS", 1.0)
    return nobody


def test_long_ones_are_computed_by_workers_once_and_kept(
    service: Service, stored: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        document = stored.get(URL).json()
        assert (document["computing"], document["columns"], document["columns_done"]) == (True, 4, 0)
    columns = waiting(service)
    assert len(columns) == 4, "asked for once"
    compute(service, columns[:1])
    assert stored.get(URL).json()["columns_done"] == 1
    assert "1 of 4 columns are done" in stored.get(PAGE).text
    compute(service, columns)
    done = stored.get(URL).json()
    assert (done["computing"], done["columns_done"], waiting(service)) == (False, 4, [])
    monkeypatch.setattr(made, "SECONDS", 0.0)
    service.app.state.steelyard.metrics_tasks.__init__()
    assert stored.get(URL).json() == done, "kept where nothing of it is in memory"
    with writing(service.engine) as connection:
        connection.execute(delete(MetricsTaskPart))
    assert stored.get(URL).json() == done, "the same figures without workers"


def test_other_judgments_are_compared_again_and_the_rest_is_kept(service: Service, stored: Client) -> None:
    stored.get(URL)
    compute(service, waiting(service))
    judge(service, "mqm", ("en-cs",))
    stored.get(URL, params={"human": "mqm"})
    assert len(waiting(service)) == 2
    submit_output(service.engine, "port", "d", "tug", LINES["cs"], test_set="en-cs")
    work_off(service.settings)
    assert stored.get(URL, params={"human": "esa"}).json()["columns_done"] == 2, "those of en-zh"
    with reading(service.engine) as connection:
        states = Counter(connection.scalars(select(MetricsTaskPart.state)))
    assert states == {LeaseState.DONE: 2, LeaseState.PENDING: 4}, "what other scores gave is deleted"


def test_columns_are_of_the_version_of_the_judgments_that_was_asked_for(
    service: Service, stored: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although there are newer ones by the time that a worker comes to them."""
    stored.get(URL)
    columns = waiting(service)
    judge(service, teams="cbz")
    compute(service, columns)
    documents = []
    for version in ("esa@1", "esa@2"):
        stored.get(URL, params={"human": version})
        compute(service, waiting(service))
        documents.append(stored.get(URL, params={"human": version}).json())
    assert [[each["human"] for each in of["test_sets"]] for of in documents] == [["esa@1"] * 2, ["esa@2"] * 2]
    assert documents[0]["metrics"] != documents[1]["metrics"]
    with writing(service.engine) as connection:
        connection.execute(delete(MetricsTaskPart))
    monkeypatch.setattr(made, "SECONDS", 0.0)
    service.app.state.steelyard.metrics_tasks.__init__()
    for version, document in zip(("esa@1", "esa@2"), documents, strict=True):
        assert stored.get(URL, params={"human": version}).json() == document, "the same figures without workers"


def test_a_column_that_fails_is_said(service: Service, stored: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    stored.get(URL)
    columns = waiting(service)
    compute(service, columns[1:])
    with writing(service.engine) as connection:
        failed = {"state": LeaseState.FAILED, "error": "No memory is left."}
        connection.execute(update(MetricsTaskPart).where(MetricsTaskPart.id == columns[0]).values(**failed))
    document = stored.get(URL).json()
    assert not document["computing"]
    assert document["failures"] == ["en-cs, soft-pairwise: No memory is left."]
    first = document["tasks"][0]
    assert (first["pair"], first["statistic"]) == ("en-cs", "acc-eq")
    assert "No memory is left." in stored.get(PAGE).text
    with writing(service.engine) as connection:
        connection.execute(update(MetricsTaskPart).values(ended_at=1.0))
        prune_finished(connection, 86400.0, 100)
        assert set(connection.scalars(select(MetricsTaskPart.id))) == set(columns[1:]), "what failed is tried again"


def test_the_command_line_brings_workers(
    service: Service, stored: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = service.settings.database_url
    assert status_of(["campaign", "metrics-task", "port", "-f", "json", "--database", url]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == stored.get(URL).json()
    assert printed["columns_done"] == 4


@pytest.mark.parametrize("blob", [b"", b"x" * 20, (5).to_bytes(8, "little") + b"[1,2]"])
def test_damaged_columns_are_refused(blob: bytes) -> None:
    with pytest.raises(BadBlob):
        unpack_result(blob)


def test_a_hidden_leaderboard_hides_it(service: Service, nobody: Client) -> None:
    judge(service)
    service.phase(service.campaign("port"), "test", PhaseKind.BLIND)
    assert nobody.get(URL).status_code == 403
    assert "hidden during this phase" in nobody.get(PAGE).text


def test_judgments_before_any_score_wait_for_evaluations(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    found(service.engine, "port", visibility="public")
    with_test_set(service.engine, "port", given(LINES["cs"], target_language="cs"), name="en-cs", replicates=20)
    outputs = (("z", LINES["cs"]), ("b", b"kocka\npes tu\ndum je\n"), ("c", b"a\nb\nc tu je\n"))
    for team, output in outputs:
        submit_output(service.engine, "port", team, "tug", output, test_set="en-cs")
    judge(service, kept=("en-cs",))
    nobody, url = service.client(), service.settings.database_url
    document = nobody.get(URL).json()
    assert (document["evaluations_waiting"], document["metrics"]) == (3, [])
    page = nobody.get(PAGE).text
    assert "3 evaluations of the judged test sets wait to be scored, before metrics can be compared" in page
    assert "No test set has scores" not in page
    assert "data-live" in page
    assert status_of(["campaign", "metrics-task", "port", "--database", url]) == 1
    said = capsys.readouterr().err
    assert "port has judgments, and 3 evaluations of what was judged wait to be scored" in said
    assert "Import judgments" not in said
    work_off(service.settings)
    submit_output(service.engine, "port", "d", "tug", b"kocka\nb\nc\n", test_set="en-cs")
    document = nobody.get(URL).json()
    assert document["evaluations_waiting"] == 1
    assert document["metrics"]
    assert "1 evaluation of the judged test sets waits to be scored." in nobody.get(PAGE).text
    assert status_of(["campaign", "metrics-task", "port", "--database", url]) == 0
    assert "1 evaluation not scored yet: the table will change." in capsys.readouterr().err
