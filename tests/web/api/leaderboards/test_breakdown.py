"""Scores by document, domain and length: by the API, on its page and as files; who sees them."""

import csv
import io

import numpy as np
import pytest
from sqlalchemy import insert, update

from campaigns.leaderboards import breakdown
from campaigns.reports import limits
from models.database.session import writing
from models.schema.campaigns import Declaration
from models.schema.corpus import Document
from models.schema.roles import DeclaredKind
from steelyard.inspection import partitions
from steelyard.metrics.registry import parse_metric
from tests.service.inspected_campaign import OUTPUTS, REFERENCES, Looked, look_at
from tests.service.service import Service

API, PAGE = "/api/v1/campaigns/bay/breakdown", "/campaigns/bay/breakdown"
PARTS = {"quay": slice(0, 2), "sea": slice(2, 4)}
DOMAINS = {"quay": "news", "sea": "talk"}


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`: two documents of a domain each."""
    return look_at(service)


def scored(lines: list[str], part: slice, metric: str = "bleu:smooth=exp") -> float:
    """The score on a part of the test set alone, as if there were nothing else."""
    found = parse_metric(metric)
    references = [texts[part] for texts in REFERENCES.values()]
    return found.corpus_score(lines[part], references).score


def test_a_score_of_a_document_is_that_of_its_segments_alone(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    for by, names in (("document", list(PARTS)), ("domain", list(DOMAINS.values()))):
        found = organiser.get(API, params={"by": by, "shown": "all"}).json()
        assert [each["name"] for each in found["groups"]] == names
        assert [each["domain"] for each in found["groups"]] == list(DOMAINS.values())
        assert [each["segments"] for each in found["groups"]] == [2, 2]
        for system in found["systems"]:
            lines = OUTPUTS[tuple(system["name"].split("/"))]  # type: ignore[index]
            assert system["scores"] == [scored(lines, part) for part in PARTS.values()]
            assert system["macro"] == sum(system["scores"]) / 2
            assert system["micro"] == scored(lines, slice(0, 4)) != system["macro"]


def test_the_average_ranks(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    for metric, better in (("bleu", -1), ("ter", 1)):
        for average in ("micro", "macro"):
            found = organiser.get(API, params={"average": average, "metric": metric}).json()
            values = [each[average] for each in found["systems"]]
            assert (values, found["higher_is_better"]) == (sorted(values, key=lambda value: better * value), better < 0)
            assert [each["rank"] for each in found["systems"]] == [1, 2]
    # One of them alone, against nobody.
    one = organiser.get(API, params={"system": bay.submissions["soar"]}).json()
    assert [(each["name"], each["rank"]) for each in one["systems"]] == [("terns/soar", 1)]
    assert organiser.get(API, params={"system": 10**6}).status_code == 404


def test_a_system_without_a_rank_takes_none_from_those_behind_it(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    asked = {"shown": "all", "by": "domain"}
    best, other = (each["name"] for each in organiser.get(API, params=asked).json()["systems"])
    with writing(bay.service.engine) as connection:
        values = {"campaign_id": bay.campaign, "test_set_id": bay.test_set, "team": best.split("/")[0]}
        values |= {"kind": DeclaredKind.CONTRASTIVE, "submission_id": bay.submissions[best.split("/")[1]]}
        connection.execute(insert(Declaration).values(**values))
    found = organiser.get(API, params=asked).json()["systems"]
    assert [(each["name"], each["rank"]) for each in found] == [(best, None), (other, 1)]


def test_files_have_a_row_for_each_system_and_group(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    asked = {"by": "document", "shown": "all"}
    found = organiser.get(API, params=asked).json()
    answer = organiser.get(API, params={**asked, "format": "csv"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="by-document.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["system"], row["group"], row["domain"], float(row["score"])) for row in rows] == [
        (system["name"], group["name"], group["domain"], score)
        for system in found["systems"]
        for group, score in zip(found["groups"], system["scores"], strict=True)
    ]
    assert "\\toprule" in organiser.get(API, params={**asked, "format": "latex"}).text
    again = organiser.get(API, params=asked)
    assert organiser.get(API, params=asked, headers={"If-None-Match": again.headers["ETag"]}).status_code == 304


def test_they_are_hidden_with_the_references_and_with_the_outputs(bay: Looked) -> None:
    gull, nobody = bay.service.browser(bay.gull), bay.service.client()
    assert gull.get(API).status_code == 403
    assert "once the references are released" in gull.get(PAGE).text
    bay.release()
    assert len(gull.get(API).json()["systems"]) == 2
    # In a phase that shows the leaderboard but not the outputs of others.
    bay.service.phase(bay.campaign, "week", "open")
    assert [each["name"] for each in gull.get(API).json()["systems"]] == ["gulls/dive"]
    assert gull.get(API, params={"system": bay.submissions["soar"]}).status_code == 404
    assert nobody.get(API).json()["systems"] == [], "nor does anybody else see outputs"


def test_the_page_leads_from_the_leaderboard_to_the_segments(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    board = organiser.get("/campaigns/bay/leaderboard").text
    assert "/campaigns/bay/breakdown?" in board
    documents = organiser.get(PAGE, params={"by": "document"}).text
    assert "document=quay" in documents
    assert documents.count("<tr>") == 1 + 2 + 2
    domains = organiser.get(PAGE, params={"by": "domain", "average": "macro"}).text
    assert "domain=talk" in domains
    assert "terns/soar" in domains
    submission = organiser.get(f"/submissions/{bay.submissions['dive']}").text
    assert f"shown=all&amp;system={bay.submissions['dive']}" in submission


def test_a_score_of_a_length_is_that_of_its_segments_alone(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    organiser = bay.service.browser(bay.organiser)
    monkeypatch.setattr(partitions, "WORDS", (3, 4))
    # Words of the references: 4 and 3, 5 and 4, 2 and 2, 3 and 5; a mean of 3.5 is above 3.
    groups = {"up to 3": [2], "4–4": [0, 3], "over 4": [1]}
    found = organiser.get(API, params={"by": "length", "shown": "all"}).json()
    assert [(each["name"], each["segments"]) for each in found["groups"]] == [
        (name, len(segments)) for name, segments in groups.items()
    ]
    assert found["unit"] == "words"
    for system in found["systems"]:
        outputs = OUTPUTS[tuple(system["name"].split("/"))]  # type: ignore[index]
        for score, segments in zip(system["scores"], groups.values(), strict=True):
            references = [[lines[each] for each in segments] for lines in REFERENCES.values()]
            alone = parse_metric("bleu:smooth=exp").corpus_score([outputs[each] for each in segments], references)
            assert score == alone.score
    assert organiser.get(API, params={"by": "domain"}).json()["unit"] == ""
    file = organiser.get(API, params={"by": "length", "format": "csv"})
    assert file.headers["Content-Disposition"] == 'attachment; filename="by-length.csv"'
    assert "Mean of lengths" in organiser.get(API, params={"by": "length", "format": "latex"}).text


def test_parts_of_the_same_number_are_not_taken_for_one_another(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed is kept: two domains, and two ranges of lengths."""
    organiser = bay.service.browser(bay.organiser)
    monkeypatch.setattr(partitions, "WORDS", (3,))
    parts = {"domain": [[0, 1], [2, 3]], "length": [[2], [0, 1, 3]]}
    # One system alone stands in no other order by another metric.
    for metric in ("bleu", "ter", "bleu"):
        for by, groups in parts.items():
            asked = {"by": by, "shown": "all", "metric": metric, "system": bay.submissions["dive"]}
            found = organiser.get(API, params=asked).json()
            assert len(found["systems"]) == 1
            assert [each["segments"] for each in found["groups"]] == [len(each) for each in groups]
            for system in found["systems"]:
                outputs = OUTPUTS[tuple(system["name"].split("/"))]  # type: ignore[index]
                for score, segments in zip(system["scores"], groups, strict=True):
                    references = [[lines[each] for each in segments] for lines in REFERENCES.values()]
                    alone = parse_metric(found["metric"]).corpus_score([outputs[each] for each in segments], references)
                    assert score == alone.score, (by, metric)


def test_lengths_are_those_of_the_references_of_the_leaderboard(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    organiser = bay.service.browser(bay.organiser)
    monkeypatch.setattr(partitions, "WORDS", (3,))
    measure = {"metrics": ["bleu"], "references": [["A"]], "replicates": 0}
    added = organiser.post(f"/api/v1/campaigns/bay/test-sets/{bay.test_set}/measures", json=measure)
    assert added.status_code == 201, added.text
    for references, sizes in (("A,B", [1, 3]), ("A", [2, 2]), ("A,B", [1, 3])):
        found = organiser.get(API, params={"by": "length", "references": references}).json()
        assert found["references"] == references.split(",")
        assert [each["segments"] for each in found["groups"]] == sizes


def test_a_system_that_has_no_score_of_a_group_has_no_mean_of_groups(
    bay: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    organiser = bay.service.browser(bay.organiser)
    scores = np.array([[90.0, np.nan], [20.0, 30.0]])
    monkeypatch.setattr(breakdown, "scores_of_groups", lambda *_: [scores])
    found = organiser.get(API, params={"average": "macro"}).json()["systems"]
    assert [(each["scores"], each["macro"], each["rank"]) for each in found] == [
        ([20.0, 30.0], 25.0, 1),
        ([90.0, None], None, None),
    ]


def test_the_page_draws_groups_that_are_large_enough(bay: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    organiser = bay.service.browser(bay.organiser)
    assert 'svg class="chart"' not in organiser.get(PAGE, params={"by": "domain"}).text
    monkeypatch.setattr(limits, "SMALL_GROUP", 1)
    page = organiser.get(PAGE, params={"by": "domain"}).text
    assert "BLEU by domain" in page
    assert 'download="by-domain.csv" href="/api/v1/campaigns/bay/breakdown?' in page
    assert page.count('<bdi title="terns/soar">soar</bdi>') + page.count('title="terns/soar"><bdi>soar</bdi>') == 1


def test_a_test_set_without_domains_says_so(bay: Looked) -> None:
    organiser = bay.service.browser(bay.organiser)
    with writing(bay.service.engine) as connection:
        connection.execute(update(Document).values(domain=""))
    answer = organiser.get(API)
    assert (answer.status_code, "two domains" in answer.text) == (404, True)
    assert "two domains" in organiser.get(PAGE).text
    assert organiser.get(API, params={"by": "document"}).status_code == 200
