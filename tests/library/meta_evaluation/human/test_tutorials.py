"""Tutorials in tasks: what annotators are told is what the tools ask for, and it can be done."""

import pytest

from steelyard.meta_evaluation.human.tasks.appraise import appraise_tasks
from steelyard.meta_evaluation.human.tasks.pearmut import pearmut_campaign
from tests.library.meta_evaluation.human.test_tasks import system_of, texts


def reads_marks(mark, spans):
    """Appraise's own check of a tutorial: as many errors, each within three characters and of this severity."""
    near = all(
        any(
            each["severity"] == wanted["severity"]
            and all(each[end] == wanted[end] or abs(each[end] - wanted[end]) <= 3 for end in ("start_i", "end_i"))
            for each in spans
        )
        for wanted in mark["tutorial"]["mqm_target"]
    )
    return near and len(spans) == len(mark["tutorial"]["mqm_target"])


@pytest.mark.parametrize("protocol", ["esa", "mqm", "cesa"])
def test_the_tutorial_of_appraise(protocol):
    batches = appraise_tasks(texts((40, 60)), protocol=protocol, tutorial=True).batches
    for batch in batches:
        items = batch["items"]
        assert [item["documentID"] for item in items[:7]][2:4] == ["ende-tutorial1", "ende-tutorial2"]
        assert [item["itemID"] for item in items[:6]] == list(range(1_000_001, 1_000_007))
        assert not any("tutorial" in item["documentID"] for item in items[6:])
        for item in items[:6]:
            assert "tutorial" in system_of(item)
            mark = item["mqm"]
            assert set(mark) == {"tutorial", "payload"}
            assert set(mark["tutorial"]) == {"instruction", "mqm_target"} | (
                set() if protocol == "mqm" else {"score_target"}
            )
            assert reads_marks(mark, mark["tutorial"]["mqm_target"])
            for span in mark["tutorial"]["mqm_target"]:
                words = item["targetText"][span["start_i"] : span["end_i"] + 1] if span["start_i"] != "missing" else ""
                assert words in mark["tutorial"]["instruction"]
        # What is marked by mistake is not what is asked for.
        assert [len(item["mqm"]["payload"]) for item in items[:6]] == [0, 0, 0, 0, 1, 0]
        assert not reads_marks(items[4]["mqm"], items[4]["mqm"]["payload"])
        assert [len(item["mqm"]["tutorial"]["mqm_target"]) for item in items[:6]] == [0, 1, 1, 1, 0, 2]


@pytest.mark.parametrize("protocol", ["esa", "cesa", "mqm", "da"])
def test_the_tutorial_of_pearmut(protocol):
    campaign = pearmut_campaign(texts(), protocol=protocol, tutorial=True)
    items = [item for document in campaign["data_welcome"] for item in document]
    assert [item["item_id"] for item in items] == [f"ende_#_tutorial_#_{number}" for number in range(1, 7)]
    for item in items:
        ((system, text),) = item["tgt"].items()
        rule = item["validation"][system]
        assert rule["allow_skip"]
        assert ("score" in rule) == (protocol != "mqm")
        assert ("error_spans" in rule) == (protocol != "da")
        if protocol != "mqm":
            assert 0 <= rule["score"][0] < rule["score"][1] <= 100
        for span in rule.get("error_spans", ()):
            if span["start_i"] == span["end_i"] == len(text):
                assert "[missing]" in item["instructions"]
            else:
                assert text[span["start_i"][1] - 1 : span["end_i"][0] + 2] in item["instructions"]
    assert sum("error_spans" in item for item in items) == (protocol != "da")
