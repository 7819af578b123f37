"""The tokenizer of a campaign's metrics follows the target language of each test set; who must know gets a notice."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from sacrebleu.metrics import BLEU as SacreBLEU

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.measures import add_protocols
from models.database.session import writing
from models.schema.roles import SiteRole
from scheduler.ingest.campaigns import NewProtocol, store_protocol
from steelyard.metrics.registry import parse_metric
from steelyard.tokenizers import mecab
from steelyard.tokenizers.registry import tokenizer_name
from tests.library.target_languages import CAMPAIGNS
from tests.scheduler.jobs import work_off
from tests.service.campaigns import found, given, submit_output, with_test_set
from tests.service.service import Service

HERE = "/api/v1/campaigns/wmt"


def lines(text: list[str]) -> bytes:
    return ("\n".join(text) + "\n").encode()


def uploaded(service: Service, language: str, metrics: list[str], name: str = "news") -> dict[str, Any]:
    texts = CAMPAIGNS[language[:2]].references
    organiser = service.program(service.account(f"olga-{name}", SiteRole.ADMINISTRATOR))
    files = [("references", (f"{label}.txt", lines(each))) for label, each in texts.items()]
    form = {"name": name, "target_language": language, "metrics": metrics, "replicates": "0"}
    answer = organiser.post(f"{HERE}/test-sets", data=form, files=files)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def tokenizers(test_set: dict[str, Any]) -> set[str]:
    specifications = {metric for measure in test_set["measures"] for metric in measure["metrics"]}
    return {tokenizer_name(parse_metric(each).tok) for each in specifications if each.startswith("bleu")}


@pytest.mark.parametrize(("language", "name"), [("ja", "ja-mecab"), ("ko-KR", "ko-mecab"), ("zh", "zh")])
def test_bleu_of_a_campaign_is_sacrebleus_in_the_target_language(service: Service, language: str, name: str) -> None:
    found(service.engine, "wmt", visibility="public")
    made = uploaded(service, language, ["bleu", "chrf"])
    assert (tokenizers(made), made["notices"]) == ({name}, [])
    code = language[:2]
    for system, output in CAMPAIGNS[code].systems.items():
        submit_output(service.engine, "wmt", "harbour", system, lines(output))
    work_off(service.settings)
    board = service.client().get(f"{HERE}/leaderboard", params={"references": "A,B", "shown": "all"}).json()
    references = list(CAMPAIGNS[code].references.values())
    theirs = SacreBLEU(trg_lang=code)
    expected = {
        system: theirs.corpus_score(output, references).score for system, output in CAMPAIGNS[code].systems.items()
    }
    scores = {each["system"]: each["scores"][0] for each in board["items"]}
    assert {system: score["score"] for system, score in scores.items()} == pytest.approx(expected, abs=1e-9)
    assert f"|tok:{theirs.tokenizer.signature()}|" in scores["S"]["signature"]
    assert board["notices"] == []


def test_each_test_set_of_a_campaign_gets_the_tokenizer_of_its_language(service: Service) -> None:
    """Also where its metrics are those of the campaign, which nobody names again."""
    found(service.engine, "wmt")
    assert tokenizers(uploaded(service, "ja", ["bleu", "bleu:tok=char", "chrf"], "one")) == {"ja-mecab", "char"}
    assert tokenizers(uploaded(service, "zh", [], "two")) == {"zh", "char"}
    with_test_set(service.engine, "wmt", given(), metrics=(), name="three")
    organiser = service.program(service.account("olga", SiteRole.ADMINISTRATOR))
    (third,) = [each for each in organiser.get(f"{HERE}/test-sets").json()["items"] if each["name"] == "three"]
    assert tokenizers(third) == {"13a", "char"}
    assert tokenizers(uploaded(service, "ko", [], "four")) == {"ko-mecab", "char"}


def test_13a_that_was_asked_for_is_reported_by_api_and_pages(service: Service) -> None:
    found(service.engine, "wmt", visibility="public")
    made = uploaded(service, "zh", ["bleu:tok=13a", "chrf"])
    (notice,) = made["notices"]
    assert notice.startswith("bleu: in zh text the tokenizer 13a leaves whole clauses as one word")
    assert tokenizers(made) == {"13a"}
    told_everywhere(service, made["id"], notice)


def test_a_protocol_that_exists_keeps_its_tokenizer_and_is_reported(service: Service) -> None:
    """As those that earlier releases have stored."""
    found(service.engine, "wmt", visibility="public")
    made = uploaded(service, "zh", ["chrf"])
    before = made["id"]
    with writing(service.engine) as connection:
        protocol = store_protocol(connection, before, NewProtocol(["A", "B"], [parse_metric("bleu")], 0))
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        add_protocols(connection, service.settings, access, before, [protocol])
    notice = (
        "bleu: in zh text the tokenizer 13a leaves whole clauses as one word, so scores mean little. Use tok=zh, the "
        "tokenizer of zh."
    )
    told_everywhere(service, before, notice, metric="bleu")
    # What is asked for from now on has the tokenizer of the language, beside the one that stays.
    organiser = service.program(service.account("olga", SiteRole.ADMINISTRATOR))
    more = organiser.post(f"{HERE}/test-sets/{before}/measures", json={"metrics": ["bleu"], "replicates": 0}).json()
    assert ["chrf", "bleu:tok=zh"] in [each["metrics"] for each in more["measures"]]
    assert ["bleu"] in [each["metrics"] for each in more["measures"]]


def told_everywhere(service: Service, test_set: int, notice: str, metric: str = "") -> None:
    submit_output(service.engine, "wmt", "harbour", "S", lines(CAMPAIGNS["zh"].systems["S"]))
    work_off(service.settings)
    wish = {"references": "A,B", **({"metric": metric} if metric else {})}
    boards = service.client().get(f"{HERE}/leaderboards").json()["items"]
    (board,) = [each["board"] for each in boards if each["references"] == ["A", "B"] and "bleu" in each["metrics"]]
    wish["board"] = str(board)
    assert service.client().get(f"{HERE}/leaderboard", params=wish).json()["notices"] == [notice]
    assert notice in service.client().get("/campaigns/wmt/leaderboard", params=wish).text
    boss = service.browser(service.account("boss", SiteRole.ADMINISTRATOR))
    for page in ("/campaigns/wmt/manage/test-sets", f"/campaigns/wmt/manage/test-sets/{test_set}"):
        assert notice in boss.get(page).text, page


def test_without_the_packages_of_its_tokenizer_no_test_set_is_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(service.engine, "wmt")
    monkeypatch.setitem(sys.modules, "MeCab", None)
    mecab._loaded.cache_clear()
    try:
        organiser = service.program(service.account("olga", SiteRole.ADMINISTRATOR))
        form = {"name": "news", "target_language": "ja", "metrics": ["bleu"], "replicates": "0"}
        files = [("references", ("A.txt", lines(CAMPAIGNS["ja"].references["A"])))]
        answer = organiser.post(f"{HERE}/test-sets", data=form, files=files)
        assert answer.status_code == 422
        assert re.search(r'extra "ja".*steelyard\[ja\]', answer.json()["error"]["message"])
        assert organiser.get(f"{HERE}/test-sets").json()["items"] == []
    finally:
        mecab._loaded.cache_clear()
