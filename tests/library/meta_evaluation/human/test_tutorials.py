"""Tutorials in tasks: what annotators are told is what the tools ask for, and it can be done."""

import json

import pytest

from steelyard.errors import BadTasks
from steelyard.meta_evaluation.human.tasks.appraise import appraise_tasks
from steelyard.meta_evaluation.human.tasks.own_tutorials import read_tutorial
from steelyard.meta_evaluation.human.tasks.pearmut import pearmut_campaign
from steelyard.meta_evaluation.human.tasks.tutorial import TUTORIAL
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
    batches = appraise_tasks(texts((40, 60)), protocol=protocol, tutorial=TUTORIAL).batches
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
    campaign = pearmut_campaign(texts(), protocol=protocol, tutorial=TUTORIAL)
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


ITEM = {"source": "A ship.", "target": " 🚢 Loď pluje. ", "explanation": "<b> Too long.", "score": 40}
ERRORS = [["pluje", "major"], ["missing", "minor"]]


def written(*pages):
    return json.dumps(pages, ensure_ascii=False).encode()


def test_a_tutorial_of_ones_own_takes_the_place_of_ours():
    own = read_tutorial(b"\xef\xbb\xbf" + written([{**ITEM, "errors": ERRORS}], [{**ITEM, "marked": "Loď"}]))
    assert [len(page) for page in own] == [1, 1]
    first, second, *others = appraise_tasks(texts((40, 60)), tutorial=own).batches[0]["items"]
    assert (first["documentID"], second["documentID"]) == ("ende-tutorial1", "ende-tutorial2")
    assert not any("tutorial" in each["documentID"] for each in others)
    mark = first["mqm"]["tutorial"]
    assert mark["score_target"] == 40
    assert mark["instruction"].startswith("&lt;b&gt; Too long. Mark <b>pluje (major), [missing] (minor)</b>.")
    # The ship is two units of UTF-16, and what is around the text is not shown.
    spans = [(each["start_i"], each["end_i"], each["severity"]) for each in mark["mqm_target"]]
    assert spans == [(7, 11, "major"), ("missing", "missing", "minor")]
    assert reads_marks(first["mqm"], mark["mqm_target"])
    ((welcome,), _) = pearmut_campaign(texts(), protocol="esa", tutorial=own)["data_welcome"]
    assert welcome["tgt"] == {"tutorial": "🚢 Loď pluje."}
    rules = [(each["start_i"], each["end_i"]) for each in welcome["validation"]["tutorial"]["error_spans"]]
    assert rules == [([6, 8], [10, 12]), (13, 13)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", "the tutorial is not UTF-8"),
        (b"[[", "the tutorial is not JSON"),
        (b"[" * 100_000, "the tutorial is not JSON"),
        (b" " * (1 << 20) + b"[]", "at most 1,048,576"),
        (written(), "no list of pages that have items"),
        (written([]), "no list of pages that have items"),
        (written(ITEM), "no list of pages that have items"),
        (written([ITEM] * 51), "51 items, and a tutorial at most 50"),
        (written([3]), "Page 1, item 1: is no object."),
        (
            written([ITEM], [{"source": "a"}]),
            "Page 2, item 1: target is missing. Page 2, item 1: explanation is missing.",
        ),
        (written([{**ITEM, "eror": 1}]), "there is no field 'eror', but source"),
        (written([{**ITEM, "score": 101}]), "score must be a whole number from 0 to 100."),
        (written([{**ITEM, "score": True}]), "score must be a whole number"),
        (written([{**ITEM, "target": " "}]), "target is empty."),
        (written([{**ITEM, "source": "a" * 5001}]), "source must be a text of at most 5,000 characters."),
        (b'[[{"source": "\\ud800", "target": "a", "explanation": "a", "score": 1}]]', "source must be a text"),
        (written([{**ITEM, "errors": [["pluje", "bad"]]}]), "errors must be a list of pairs"),
        (written([{**ITEM, "errors": [["e", "minor"], ["x", "minor"]]}]), "'x' is not in the target."),
        (written([{**ITEM, "target": "a a", "marked": "a"}]), "'a' is 2 times in the target: name more words."),
        (written([{**ITEM, "errors": ERRORS[:1] * 2}]), "an error is there twice."),
    ],
)
def test_what_is_wrong_with_a_tutorial_is_named(content, says):
    with pytest.raises(BadTasks) as raised:
        read_tutorial(content)
    assert says in str(raised.value)
