"""A campaign of WMT25's size, from its creation to the archive, with every total checked by a sum of its own.

31 language pairs, 40 systems, 20 teams, three phases; scores of a learned metric are imported, people judge by ESA and
rank officially. Texts are made up and short: what grows here is the number of everything else.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from campaigns.test_sets.files import NamedContent
from models.schema.roles import SiteRole
from scheduler.notices.plan import plan_notices
from steelyard import ChrF
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, with_test_set
from tests.service.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi.testclient import TestClient

pytestmark = pytest.mark.long

TARGETS = (
    *("cs", "de", "is", "uk", "ru", "et", "it", "el", "lt", "ro", "sr", "sv", "tr", "bn", "hi", "kn", "mr", "id", "fa"),
    *("ar", "vi", "nl", "pl", "pt", "fi", "da", "hu", "bg", "sk", "sl", "hr"),
)
PAIRS = tuple(f"en-{target}" for target in TARGETS)
SEGMENTS = 8
TEAMS = tuple(f"team{number:02}" for number in range(20))
CONTRASTIVE = 16
"""Teams with a second system."""
WORDS = (
    *("anchor", "boat", "cliff", "dune", "ebb", "ferry", "gull", "harbour", "island", "jetty", "keel", "lamp"),
    *("mast", "net", "oar", "pier"),
)
NAME, ADDRESS = "wmt25", "/api/v1/campaigns/wmt25"
GAP = ("team19", PAIRS[:3])
"""A team that leaves pairs out."""


@dataclass
class Made:
    """What was made up, and what must come of it."""

    references: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """(System, pair) -> lines."""
    learned: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    judged: dict[tuple[str, str], list[float]] = field(default_factory=dict)


SYSTEMS: dict[str, tuple[str, str, str]] = {
    **{f"first{number:02}": (team, "primary", "") for number, team in enumerate(TEAMS)},
    **{f"second{number:02}": (team, "contrastive", "") for number, team in enumerate(TEAMS[:CONTRASTIVE])},
    **dict.fromkeys(("NLLB", "Aya"), ("", "", "baseline")),
    **dict.fromkeys(("Online-A", "Online-B"), ("", "", "online")),
}
"""System -> its team, what it is declared, and whose it is else."""
RANKED = [name for name, (_, kind, _) in SYSTEMS.items() if kind != "contrastive"]


def make_up() -> Made:
    dice, made = random.Random(25), Made()
    for pair in PAIRS:
        made.references[pair] = [" ".join(dice.choices(WORDS, k=dice.randint(6, 14))) for _ in range(SEGMENTS)]
        for number, system in enumerate(SYSTEMS):
            if SYSTEMS[system][0] == GAP[0] and pair in GAP[1]:
                continue
            wrong = 0.1 + 0.015 * number + 0.05 * dice.random()
            lines = [
                " ".join(dice.choice(WORDS) if dice.random() < wrong else word for word in line.split())
                for line in made.references[pair]
            ]
            key = system, pair
            made.outputs[key] = lines
            made.learned[key] = [round(1 - wrong + 0.1 * dice.random(), 4) for _ in lines]
            made.judged[key] = [float(round(100 * (1 - wrong) + dice.uniform(-4, 4))) for _ in lines]
    return made


@pytest.fixture
def service(service_url: str) -> Iterator[Service]:
    """A server for programs that send more in a minute than people do."""
    with ExitStack() as stack:
        yield Service.start(service_url, stack, requests_per_minute=10**6, uploads_per_minute=10**6)


@pytest.fixture
def programs(service: Service) -> dict[str, TestClient]:
    people = {"organiser": service.account("organiser", SiteRole.ORGANISER)}
    for team in TEAMS:
        people[team] = service.account(team)
        service.team(team, people[team])
    return {name: service.program(account) for name, account in people.items()}


def ok(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text[:2000]
    return answer.json() if answer.content and "json" in answer.headers["Content-Type"] else answer.content


def all_items(client: TestClient, address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = ""
    while True:
        page = ok(client.get(address, params={"limit": 200, "after": after}))
        found += page["items"]
        if page["next"] is None:
            return found
        after = page["next"]


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def ranks_of(scores: dict[str, float]) -> dict[str, int]:
    return {name: 1 + sum(other > own for other in scores.values()) for name, own in scores.items()}


def test_from_creation_to_the_archive(service: Service, programs: dict[str, TestClient]) -> None:
    made, organiser = make_up(), programs["organiser"]
    set_up(service, programs, made)
    submit_all(programs, made)
    work_off(service.settings)
    import_scores(organiser, made)
    judge(organiser, made)
    ok(organiser.patch(ADDRESS, json={"human_rule": "human:wmt25", "human_judgments": "esa"}))
    visitor = service.client()
    assert visitor.get(f"{ADDRESS}/leaderboard").status_code in (401, 403), "a blind phase hides it"
    with_notices(service, programs)
    ok(organiser.post(f"{ADDRESS}/publish"))
    scores = check_scores(visitor, made)
    check_matrix(visitor, scores)
    check_people(visitor, made)
    check_systems(visitor)
    check_export(organiser, made, scores)
    (past,) = ok(visitor.get("/api/v1/archive"))["items"]
    assert (past["name"], past["teams"], past["segments"]) == (NAME, len(TEAMS), len(PAIRS) * SEGMENTS)
    assert sorted(past["pairs"]) == sorted(PAIRS)
    assert {each["ranked_by"] for each in past["winners"]} == {"human:wmt25"}
    for winners in past["winners"]:
        people = {name: mean(made.judged[name, winners["test_set"]]) for name in judged_on(made, winners["test_set"])}
        best = max(people, key=lambda name: people[name])
        assert best in {each.rpartition("/")[2] for each in winners["systems"]}


def set_up(service: Service, programs: dict[str, TestClient], made: Made) -> None:
    organiser = programs["organiser"]
    ok(organiser.post("/api/v1/campaigns", json={"name": NAME, "visibility": "public", "joining": "open"}), 201)
    for pair, reference in made.references.items():
        documents = "segment\tdoc_id\tdomain\n" + "".join(
            f"{number}\t{'a' if number < SEGMENTS // 2 else 'b'}\tnews\n" for number in range(SEGMENTS)
        )
        text = ("\n".join(reference) + "\n").encode()
        source = "".join(f"source {number} {pair}\n" for number in range(SEGMENTS)).encode()
        values = {"source": source, "target_language": pair.partition("-")[2]}
        files = given(text, documents=NamedContent("docs.tsv", documents.encode()), **values)
        with_test_set(service.engine, NAME, files, name=pair, metrics=("chrf",), replicates=50)
    phases = [("dry run", "open"), ("test", "blind")]
    for name, kind in phases:
        begins = ok(organiser.get(ADDRESS))["at"]
        ok(organiser.post(f"{ADDRESS}/phases", json={"name": name, "kind": kind, "starts": begins}), 201)
        if name == "dry run":
            for team in TEAMS:
                ok(programs[team].post(f"{ADDRESS}/teams", json={"team": team}), 201)
            ok(organiser.post(f"{ADDRESS}/close"))


def submit_all(programs: dict[str, TestClient], made: Made) -> None:
    for system, (team, kind, origin) in SYSTEMS.items():
        content = io.BytesIO()
        pairs = [pair for pair in PAIRS if (system, pair) in made.outputs]
        with zipfile.ZipFile(content, "w") as archive:
            for pair in pairs:
                archive.writestr(f"{pair}.txt", "\n".join(made.outputs[system, pair]) + "\n")
        sent = programs[team or "organiser"].post(
            f"{ADDRESS}/outputs",
            data={"system": system, "team": team, "kind": kind, "origin": origin},
            files={"file": ("outputs.zip", content.getvalue())},
        )
        found = ok(sent, 201)
        assert found["refused"] == []
        assert len(found["stored"]) == len(pairs)


def import_scores(organiser: TestClient, made: Made) -> None:
    half = SEGMENTS // 2
    files = []
    for system in SYSTEMS:
        lines = [
            json.dumps(
                {
                    "language_pair": pair,
                    "domain": "news",
                    "document_id": document,
                    "metric_scores": {"Learned": values},
                }
            )
            for pair in PAIRS
            if (system, pair) in made.learned
            for document, values in (
                ("a", made.learned[system, pair][:half]),
                ("b", made.learned[system, pair][half:]),
            )
        ]
        files.append(("files", (f"{system}.jsonl", "\n".join(lines) + "\n")))
    columns = ok(organiser.post(f"{ADDRESS}/scores", files=files), 201)["columns"]
    assert {each["test_set"] for each in columns} == set(PAIRS)
    assert sum(each["systems"] for each in columns) == len(made.learned)


def judge(organiser: TestClient, made: Made) -> None:
    for pair in PAIRS:
        table = "annotator\tsystem\tsegment\tscore\n" + "".join(
            f"annotator {segment % 3}\t{system}\t{segment}\t{score:g}\n"
            for (system, of), scores in made.judged.items()
            if of == pair
            for segment, score in enumerate(scores)
        )
        data = {"test_set": pair, "called": "esa", "standardise": "false"}
        stored = organiser.post(f"{ADDRESS}/human-scores", data=data, files=[("files", ("esa.tsv", table))])
        assert ok(stored, 201)["judgments"] == sum(len(scores) for (_, of), scores in made.judged.items() if of == pair)


def with_notices(service: Service, programs: dict[str, TestClient]) -> None:
    """Each team is told once of all of its pairs."""
    from models.database.session import writing

    with writing(service.engine) as connection:
        plan_notices(connection, mails=True)
    for number, team in enumerate(TEAMS):
        mine = [each for each in all_items(programs[team], "/api/v1/notices") if each["kind"] == "scored"]
        missing = len(GAP[1]) if team == GAP[0] else 0
        sent = len(PAIRS) * (1 + (number < CONTRASTIVE)) - missing
        assert [each["title"] for each in mine] == [f"wmt25: {sent} submissions of {team} were scored"]


def check_scores(visitor: TestClient, made: Made) -> dict[tuple[str, str], float]:
    """ChrF of every output by itself, and the mean of what was imported; the first by system and pair."""
    found: dict[tuple[str, str], float] = {}
    imported = 0
    for pair in PAIRS:
        board = ok(visitor.get(f"{ADDRESS}/leaderboard", params={"test_set": pair, "shown": "all", "limit": 200}))
        assert board["total"] == sum(of == pair for _, of in made.outputs)
        for each in board["items"]:
            key = each["system"], pair
            by_metric = {score["title"].removesuffix(" ↓"): score["score"] for score in each["scores"]}
            own = ChrF().corpus_score(made.outputs[key], [made.references[pair]]).score
            assert by_metric["chrF2"] == own, key
            found[key] = by_metric["chrF2"]
            (learned,) = (value for title, value in by_metric.items() if title.startswith("Learned"))
            # Imported scores are kept on a grid of 2^-24.
            assert learned == pytest.approx(mean(made.learned[key]), abs=1e-6), key
            assert each["origin"] == (SYSTEMS[key[0]][2] or "team")
            imported += 1
    assert imported == len(made.outputs) == len(PAIRS) * len(SYSTEMS) - len(GAP[1])
    return found


def check_matrix(visitor: TestClient, scores: dict[tuple[str, str], float]) -> None:
    """Ranks and mean ranks of the ranked systems, and the gaps of the team that left pairs out."""
    matrix = ok(visitor.get(f"{ADDRESS}/matrix", params={"metric": "chrf"}))
    ranks: dict[str, list[int]] = {name: [] for name in RANKED}
    for pair in PAIRS:
        for name, rank in ranks_of({each: scores[each, pair] for each in RANKED if (each, pair) in scores}).items():
            ranks[name].append(rank)
    assert len(matrix["systems"]) == len(RANKED)
    for row in matrix["systems"]:
        name = row["name"].rpartition("/")[2]
        assert row["mean_rank"] == pytest.approx(mean([float(rank) for rank in ranks[name]]), rel=1e-12)
        assert row["gaps"] == (len(GAP[1]) if SYSTEMS[name][0] == GAP[0] else 0)
        shown = [cell["rank"] for cell in row["cells"] if cell is not None]
        assert sorted(shown) == sorted(ranks[name])


def judged_on(made: Made, pair: str) -> list[str]:
    return [system for system, of in made.judged if of == pair]


def check_people(visitor: TestClient, made: Made) -> None:
    for pair in PAIRS:
        ranking = ok(visitor.get(f"{ADDRESS}/human-ranking", params={"test_set": pair}))
        people = {name: mean(made.judged[name, pair]) for name in judged_on(made, pair)}
        shown = {each["name"].rpartition("/")[2]: each for each in ranking["systems"]}
        assert set(shown) == set(people)
        ranks = ranks_of(people)
        for name, each in shown.items():
            assert each["human"]["score"] == pytest.approx(people[name], rel=1e-12), (pair, name)
            assert each["human"]["rank"] == ranks[name], (pair, name)


def check_systems(visitor: TestClient) -> None:
    systems = all_items(visitor, f"{ADDRESS}/systems")
    assert {each["system"] for each in systems} == set(SYSTEMS)
    assert sum(each["submissions"] for each in systems) == len(PAIRS) * len(SYSTEMS) - len(GAP[1])
    first = next(each for each in systems if each["system"] == "first00")
    scores = ok(visitor.get(f"{ADDRESS}/systems/{first['id']}"))["scores"]
    assert [each["test_set"] for each in scores] == sorted(PAIRS)


def check_export(organiser: TestClient, made: Made, scores: dict[tuple[str, str], float]) -> None:
    with zipfile.ZipFile(io.BytesIO(ok(organiser.get(f"{ADDRESS}/export")))) as archive:

        def rows(name: str) -> list[dict[str, str]]:
            return list(csv.DictReader(io.StringIO(archive.read(name).decode(), newline=""), delimiter="\t"))

        submissions = {row["id"]: row for row in rows("submissions.tsv")}
        chrf = [row for row in rows("scores.tsv") if row["metric"].startswith("chrf")]
        assert len(submissions) == len(made.outputs)
        assert len(chrf) == 2 * len(made.outputs), "alone, and beside what was imported"
        for row in chrf:
            submission = submissions[row["submission"]]
            assert float(row["score"]) == scores[submission["system"], submission["test_set"]]
            text = archive.read(submission["output"]).decode()
            assert text.splitlines() == made.outputs[submission["system"], submission["test_set"]]
        assert len(rows("systems.tsv")) == len(SYSTEMS)
        assert len(rows("judgments.tsv")) == len(PAIRS)
        judged = sum(len(rows(f"{row['folder']}/ratings.tsv")) for row in rows("judgments.tsv"))
        assert judged == sum(map(len, made.judged.values()))
