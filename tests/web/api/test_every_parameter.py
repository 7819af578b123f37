"""Every query parameter of what is read: whoever gives it gets another answer. None is forgotten on the way."""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from models.corpus.judgments import NewJudgments, SegmentRow, SystemRow, store_judgments
from models.database.session import writing
from models.schema.base import now
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState, JudgmentKind
from tests.analysis.nightly_runs import add_schedule
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.hostile.world import Template, World

PORT, SHOWN, HUSH = "/campaigns/port", "/campaigns/shown", "/campaigns/hush"
RANDOM = {"test": "randomization"}
BOARD: dict[str, Any] = {
    "test_set": "port@2", "references": "A,B", "metric": "ter", "shown": "all", "constrained": "yes",
    "board": lambda world: world.newer.protocol,
}  # fmt: skip
CHANGES: dict[str, dict[str, Any]] = {
    "/accounts": {"search": "rival", "email": "canary.rival@example.org"},
    "/audit": {"search": "submission"},
    "/campaigns/hush/audit": {"search": "submission"},
    "/invitations": {"team": "rivals", "campaign": "hush"},
    "/nightly": {"removed": "true"},
    "/queue": {"name": "hush", "evaluation": "1", "failures": "1"},
    "/evaluations": {"evaluation": "2", "campaign": "hush", "system": "keel", "team": "rivals", "state": "failed"},
    "/evaluations/scores?evaluation=1": {"evaluation": "2"},
    f"{SHOWN}/submissions": {"team": "rivals", "test_set": "second", "kind": "withdrawn"},
    "/campaigns/elsewhere/export": {"layout": "mt-metrics-eval"},
    f"{SHOWN}/export?layout=mt-metrics-eval&test_set=second": {"test_set": "news of shown"},
    f"{PORT}/leaderboard": {
        **BOARD, "all_ranks": "true", "level": "0.8", "interval": "bca", **RANDOM, "correction": "holm",
        "alpha": "0.2", "all_submissions": "true", "power": "true",
    },
    f"{PORT}/leaderboard?test=randomization": {"trials": "77"},
    f"{PORT}/matrix": {
        "metric": "ter", "shown": "all", "constrained": "yes", "sort": "system", "only": "port@2", "complete": "true",
    },
    f"{PORT}/comparisons": {
        **{name: value for name, value in BOARD.items() if name not in ("shown", "constrained")},
        "system": lambda world: [*world.port.evaluations][:2], "by": "ter", **RANDOM, "correction": "holm",
        "level": "0.8", "interval": "bca", "alpha": "0.2", "baseline": lambda world: next(iter(world.port.evaluations)),
    },
    f"{PORT}/comparisons?test=randomization": {"trials": "77"},
    f"{SHOWN}/breakdown": {
        "test_set": "second", "references": "B", "metric": "chrf", "shown": "all", "constrained": "yes",
        "by": "document", "average": "macro", "system": lambda world: world.submissions["shown", "harbour", "keel"],
        "board": "99",
    },
    f"{SHOWN}/segments": {
        "test_set": "second", "metric": "chrf", "references": "B", "document": "sea", "domain": "talk",
        "test_suite": "one", "shortest": "9", "longest": "1", "text": "gull", "segment": "2", "human": "late",
        "system": lambda world: world.submissions["shown", "harbour", "keel"],
    },
    f"{SHOWN}/segments?segment=2": {"context": "1"},
    f"{SHOWN}/ngrams?system=keel&system=oar": {"test_set": "second"},
    f"{SHOWN}/human-ranking": {"test_set": "second"},
    f"{SHOWN}/metrics-task": {"human": "late"},
    f"{SHOWN}/human-scores/kept": {"test_set": "second", "shared_segments": "true"},
    f"{SHOWN}/human-scores/kept/segments": {"test_set": "second"},
    f"{SHOWN}/correlations": {
        "test_set": "second", "references": "B", "human": "late", "metric": "chrf", "granularity": "system",
        "statistic": "kendall", "replicates": "7", "level": "0.8", "trials": "50", "correction": "none",
        "baseline": "chrf", "without": lambda world: world.submissions["shown", "harbour", "keel"], "board": "99",
    },
    f"{SHOWN}/judgment-tasks?tool=pearmut": {
        "tool": "appraise", "protocol": "da", "test_set": "second", "system": "keel", "references": "true",
        "annotators": "3", "together": "2", "checks": "1", "tutorial": "true",
        "seed": "7",
    },
    f"{SHOWN}/judgment-tasks?tool=pearmut&annotators=2": {"assignment": "task-based"},
    "/submissions/1": {"level": "0.8"},
}  # fmt: skip
"""Address -> parameter -> a value with which the answer is another."""
MOMENTS = re.compile(r'"(?:at|[a-z]+_seconds|seconds_left)":[^,}]*')
WITH_TIMES = {"campaign.json", "manifest.json", "MANIFEST.json"}
PAGES = {"limit", "after", "format"}
"""Of lists: `test_every_list`; of files: the tests of each."""


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """With a second test set, judgments of both, and a campaign whose systems differ in all that can be declared."""
    with ExitStack() as stack:
        found: Any = world_template.copy(tmp_path_factory.mktemp("parameters"), stack)
        _fill(found)
        yield found


def _fill(world: Any) -> None:
    engine = world.service.engine
    second = with_test_set(engine, "shown", given(), name="second", metrics=("bleu",))
    submit_output(engine, "shown", "harbour", "keel", b"kocka\npes\ndum\n", test_set="second")
    submit_output(engine, "shown", "rivals", "oar", b"kocka\npes\nbarak\n", test_set="second")
    work_off(world.service.settings)
    for system in ("hull", "tug"):
        submit_output(engine, "shown", "rivals", system, b"kocka\npsi\nbarak\n", test_set="second")
    with writing(engine) as connection:
        waiting = Evaluation.state == EvaluationState.QUEUED
        failed = {"state": EvaluationState.FAILED, "reason": "It broke.", "finished_at": now()}
        connection.execute(update(Evaluation).where(waiting).values(**failed))
    add_schedule(engine, world.campaigns["hush"], name="gone", active=False)
    for name, shift in (("kept", 0.0), ("late", 7.0)):
        for test_set in (world.test_sets["shown"], second):
            with writing(engine) as connection:
                store_judgments(connection, world.campaigns["shown"], test_set, _judged(name, shift + test_set))
    world.usual = {}
    world.port = Scored(world.service, version="1")
    _add_systems(world.port)
    world.newer = Scored(world.service, references=("A", "B"), version="2")
    world.newer.add("rivals", "oar", 55.0)
    world.newer.add("harbour", "keel", 44.0)
    world.service.campaign("port")


def _judged(name: str, shift: float) -> NewJudgments:
    systems = ("keel", "oar", "hull")
    scores = [SystemRow(system, shift + number * number) for number, system in enumerate(systems)]
    segments = [SegmentRow(system, segment, shift + segment) for system in systems for segment in range(2)]
    return NewJudgments(name, JudgmentKind.SCORES, {}, scores, segments)


def _add_systems(port: Scored) -> None:
    primary: dict[str, Any] = {**PRIMARY, "constrained": True}
    contrastive: dict[str, Any] = {**CONTRASTIVE, "constrained": True}
    port.add("harbour", "mast", 40.0, ter=60.0, **primary)
    port.add("harbour", "mast", 39.0, ter=61.0)
    port.add("harbour", "sail", 41.0, ter=70.0, **contrastive)
    port.add("rivals", "oar", 39.9, ter=50.0, constrained=False)
    port.add("", "baseline", 20.0, ter=40.0)


def ask(world: World, address: str, **query: Any) -> Any:
    path, _, base = address.partition("?")
    params: list[tuple[str, Any]] = [
        (each.partition("=")[0], each.partition("=")[2]) for each in base.split("&") if base
    ]
    numbers = {system: number for (name, _, system), number in world.submissions.items() if name == "shown"}
    params = [(name, numbers.get(value, value)) for name, value in params if name not in query]
    for name, value in query.items():
        value = value(world) if callable(value) else value
        params += [(name, each) for each in (value if isinstance(value, list) else [value])]
    return world.program("administrator").get(f"/api/v1{path}", params=params)


@pytest.mark.parametrize(
    ("address", "parameter"), [(address, each) for address, named in CHANGES.items() for each in named]
)
def test_another_value_is_another_answer(world: Any, address: str, parameter: str) -> None:
    if address not in world.usual:
        world.usual[address], again = content_of(ask(world, address)), content_of(ask(world, address))
        assert again == world.usual[address], "nothing but the parameter makes a difference"
    other = ask(world, address, **{parameter: CHANGES[address][parameter]})
    assert other.status_code in (200, 403, 404), other.text
    assert content_of(other) != world.usual[address]


def content_of(answer: Any) -> str:
    """What was answered, but for what goes on between two requests."""
    assert answer.status_code in (200, 403, 404), answer.text
    if answer.headers["Content-Type"] == "application/zip":
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            return "\n".join(f"{name} {archive.read(name)!r}" for name in archive.namelist() if name not in WITH_TIMES)
    return MOMENTS.sub("", answer.content.decode(errors="replace"))
