"""Tasks for Appraise and Pearmut: every rule of theirs, and the way back through a made-up export."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import BadTasks
from steelyard.meta_evaluation.human.assessment_formats.reading import AssessmentFiles
from steelyard.meta_evaluation.human.tasks.appraise import CHECKS, ITEMS, appraise_tasks
from steelyard.meta_evaluation.human.tasks.pearmut import pearmut_campaign
from steelyard.meta_evaluation.human.tasks.texts import TaskDocument, TaskTexts, damaged, phrase_length

WORDS = [
    "ship",
    "port",
    "quay",
    "wind",
    "sail",
    "rope",
    "mast",
    "keel",
    "hull",
    "crew",
    "deck",
    "tide",
    "gulf",
    "reef",
    "buoy",
    "oar",
]


def texts(lengths=(3, 8, 1, 5, 12), systems=("GPT 5.5", "Cohere CAT+", "team/sail"), **others):
    """Documents of so many segments; every output has words of its own."""
    ends = list(itertools.accumulate(lengths, initial=0))
    outputs = {
        system: [
            " ".join(WORDS[(at * 7 + place * 3 + step * (1 + place)) % len(WORDS)] for step in range(2 + at % 9))
            for at in range(ends[-1])
        ]
        for place, system in enumerate(systems)
    }
    given = {
        "name": "wmt26 news",
        "source_language": "en",
        "target_language": "cs_CZ",
        "source": [f"source {at}" for at in range(ends[-1])],
        "outputs": outputs,
        "documents": [
            TaskDocument(f"doc-{place}.x", ("news", "")[place % 2], range(*ends[place : place + 2]))
            for place in range(len(lengths))
        ],
    }
    return TaskTexts(**{**given, **others})


def check_appraise(asked, tasks):
    """What Appraise's importer and its pages rely on."""
    for number, batch in enumerate(tasks.batches, 1):
        items = batch["items"]
        assert len(items) == ITEMS == sum(item["isCompleteDocument"] is False for item in items)
        assert batch["task"]["batchNo"] == number
        assert (batch["task"]["sourceLanguage"], batch["task"]["targetLanguage"]) == ("eng", "ces")
        assert len({item["itemID"] for item in items}) == ITEMS
        assert all(len(item["documentID"]) <= 100 and "+" not in item["targetID"] for item in items)
        assert {item["itemType"] for item in items} <= {"TGT", "BAD"}
        assert all(item["mqm"] == [] for item in items)
        runs = [key for key, _ in itertools.groupby(items, lambda item: (item["documentID"], item["targetID"]))]
        counted = [document for document, _ in runs if "#incomplete" not in document]
        assert len(counted) == len(set(counted)), "a document is in one piece, by one system"
        assert sum(item["itemType"] == "BAD" for item in items) <= CHECKS
        for item in items:
            at = item["itemID"]
            if at < 1_000_000:
                assert item["sourceText"] == asked.source[at]
                assert item["targetText"] in [lines[at] for lines in asked.outputs.values()]
    counted = [
        (item["targetID"], item["itemID"])
        for batch in tasks.batches
        for item in batch["items"]
        if item["itemType"] == "TGT" and "#" not in item["documentID"]
    ]
    names = {system: system.replace("+", "") for system in asked.outputs}
    assert sorted(counted) == sorted((name, at) for name in names.values() for at in range(len(asked.source)))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 99), st.integers(0, 12))
def test_batches_of_appraise_keep_its_rules(lengths, systems, seed, checks):
    asked = texts(lengths, [f"s{place}" for place in range(systems)])
    tasks = appraise_tasks(asked, seed=seed, checks=checks)
    check_appraise(asked, tasks)
    assert tasks.batches == appraise_tasks(asked, seed=seed, checks=checks).batches
    ((source, target, how, annotators, number),) = tasks.manifest["TASKS_TO_ANNOTATORS"]
    assert (source, target, how, number) == ("eng", "ces", "uniform", len(tasks.batches))
    assert number * tasks.manifest["REDUNDANCY"] % annotators == 0


def test_appraise_in_full():
    asked = texts((3, 8, 95, 5, 12, 40, 30))
    tasks = appraise_tasks(asked, protocol="mqm")
    check_appraise(asked, tasks)
    assert (tasks.manifest["TASK_TYPE"], tasks.manifest["TASK_OPTIONS"]) == ("Document", "MQM")
    assert set(tasks.manifest) == {
        *("CAMPAIGN_URL", "CAMPAIGN_NAME", "CAMPAIGN_KEY", "CAMPAIGN_NO", "REDUNDANCY"),
        *("TASKS_TO_ANNOTATORS", "TASK_TYPE", "TASK_OPTIONS"),
    }
    assert tasks.manifest["CAMPAIGN_NAME"] == "wmt26news"
    bad = [item for batch in tasks.batches for item in batch["items"] if item["itemType"] == "BAD"]
    for batch in tasks.batches:
        kinds = Counter((item["itemType"], "#" in item["documentID"]) for item in batch["items"])
        assert kinds["BAD", True] == min(CHECKS, kinds["TGT", False]), "there is a copy of no other text"
    for item in bad:
        assert item["documentID"].endswith("#bad")
        at = asked.source.index(item["sourceText"])
        originals = {name.replace("+", ""): lines[at] for name, lines in asked.outputs.items()}
        assert item["targetText"].split() != originals[item["targetID"]].split()
    other = appraise_tasks(asked, protocol="mqm", seed=2)
    assert other.batches != tasks.batches
    divisor = next(each for each in range(2, 99) if len(tasks.batches) % each == 0)
    assert appraise_tasks(asked, annotators=divisor).manifest["TASKS_TO_ANNOTATORS"][0][3] == divisor


def test_the_way_back_from_appraise(tmp_path):
    asked = texts()
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for batch in appraise_tasks(asked).batches:
        for place, item in enumerate(batch["items"]):
            score = 10 if item["itemType"] == "BAD" else item["itemID"] % 101
            writer.writerow(
                [
                    *(f"engces{batch['task']['batchNo']:02}", item["targetID"], item["itemID"], item["itemType"]),
                    *("eng", "ces", score, item["documentID"], item["isCompleteDocument"], "[]", place, place + 1),
                ]
            )
    found = read(tmp_path / "esa.csv", rows.getvalue())
    assert len(found) == len(asked.source) * 3
    documents = {at: document.name for document in asked.documents for at in document.segments}
    for each in found:
        assert each.document == documents[int(each.segment)]
        assert each.score == int(each.segment) % 101
    assert {each.system for each in found} == {"GPT 5.5", "Cohere CAT", "team/sail"}


def read(path, content):
    path.write_text(content, encoding="utf-8")
    files = AssessmentFiles()
    files.read([path])
    return files.assessments


# What Pearmut 1.1.6 asks of a campaign, from its `cli.py`.


def check_pearmut(campaign):
    assert isinstance(campaign["campaign_id"], str)
    assert "/" not in campaign["campaign_id"]
    info, data = campaign["info"], campaign["data"]
    assert info["assignment"] in ("task-based", "dynamic")
    assert info["protocol"] in ("ESA", "cESA", "MQM")
    documents = [document for task in data for document in task] if info["assignment"] == "task-based" else data
    for document in [*documents, *campaign.get("data_random", [])]:
        assert document
        models = [set(item["tgt"]) for item in document]
        assert all(each == models[0] for each in models), "shuffling wants the same models"
        for item in document:
            assert isinstance(item["src"], str)
            assert all(isinstance(text, str) for text in item["tgt"].values())
            assert not any(model.isdigit() for model in item["tgt"])
            assert all(isinstance(rule, dict) for rule in item.get("validation", {}).values())
    if info["assignment"] == "dynamic":
        assert all(set(item["tgt"]) == set(data[0][0]["tgt"]) for document in data for item in document)
        assert info["users"] >= 1
        assert info["dynamic_warmup"] >= 1
        assert 1 <= info["dynamic_models"] <= len(data[0][0]["tgt"])
    if "data_random" in campaign:
        assert isinstance(info["data_random_prob"], float)
        assert 0 <= info["data_random_prob"] <= 1
    assert json.loads(json.dumps(campaign)) == campaign


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(1, 5), st.integers(0, 99),
    st.sampled_from(["esa", "cesa", "mqm"]), st.sampled_from(["dynamic", "task-based"]), st.integers(1, 2),
)  # fmt: skip
def test_campaigns_of_pearmut_keep_its_rules(lengths, systems, seed, protocol, assignment, annotators):
    asked = texts(lengths, [f"s{place}" for place in range(systems)])
    campaign = pearmut_campaign(asked, protocol=protocol, assignment=assignment, annotators=annotators, seed=seed)
    check_pearmut(campaign)
    assert campaign["info"]["protocol"] == {"esa": "ESA", "cesa": "cESA", "mqm": "MQM"}[protocol]
    if assignment == "task-based":
        assert len(campaign["data"]) == annotators
        cells = [
            (item["src"], model)
            for task in campaign["data"]
            for document in task
            for item in document
            for model in item["tgt"]
        ]
        assert sorted(cells) == sorted((source, f"s{place}") for source in asked.source for place in range(systems))
        loads = [sum(len(item["tgt"]) for document in task for item in document) for task in campaign["data"]]
        assert max(loads) - min(loads) <= 2 * max(lengths) * 3


def test_attention_checks_of_pearmut_are_damaged_and_silent():
    asked = texts()
    campaign = pearmut_campaign(asked, checks=4)
    assert campaign["campaign_id"] == "en---cs_CZ wmt26 news"
    assert len(campaign["data_random"]) == 4
    for place, (item,) in enumerate(campaign["data_random"]):
        ((system, text),) = item["tgt"].items()
        assert item["item_id"] == f"attention_check_{place}"
        assert item["validation"] == {system: {"score": [0, 60]}}
        assert text != asked.outputs[system][asked.source.index(item["src"])]
    assert "data_random" not in pearmut_campaign(asked, checks=0)


def test_the_way_back_from_pearmut(tmp_path):
    asked = texts()
    campaign = pearmut_campaign(asked, protocol="esa", assignment="task-based", annotators=3)
    lines = []
    for user, task in enumerate([*campaign["data"], campaign["data_random"]]):
        for number, document in enumerate(task):
            annotation = [
                {model: {"score": len(text), "error_spans": []} for model, text in item["tgt"].items()}
                for item in document
            ]
            lines.append(
                {"annotation": annotation, "item": document, "actions": [], "user_id": f"u{user}", "item_i": number}
            )
    found = read(tmp_path / "export.json", json.dumps({campaign["campaign_id"]: lines}))
    assert len(found) == len(asked.source) * 3
    starts = {document.name: document.segments.start for document in asked.documents}
    for each in found:
        assert each.pair == "en---cs_CZ"
        assert each.score == len(asked.outputs[each.system][starts[each.document] + int(each.segment)])


def test_damage_is_a_phrase_of_another_segment():
    asked = texts()
    for at in range(len(asked.source)):
        text = damaged(asked, "GPT 5.5", at, 3)
        words = asked.outputs["GPT 5.5"][at].split()
        changed = [place for place, (one, other) in enumerate(zip(words, text.split(), strict=True)) if one != other]
        assert changed
        assert changed[-1] - changed[0] < phrase_length(len(words))
    assert [phrase_length(each) for each in (0, 1, 2, 5, 6, 9, 16, 21, 40)] == [1, 1, 2, 2, 3, 4, 5, 5, 10]
    alike = texts((2,), ("s",), outputs={"s": ["the same", "the same"]})
    assert damaged(alike, "s", 0, 1) is None
    chinese = texts((2,), ("s",), outputs={"s": ["那只猫坐在那里", "整天都在下雨我们在家"]})
    assert len(damaged(chinese, "s", 0, 1)) == 7


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ({"outputs": {}}, {}, "no outputs"),
        ({"outputs": {"s": ["one"]}}, {}, "s: has 1 segments"),
        ({"systems": ("CAT+", "CAT")}, {}, "cannot tell 'CAT' from 'CAT\\+'"),
        ({"target_language": "xx"}, {}, "three letters, and 'xx'"),
        ({"target_language": ""}, {}, "no language"),
        ({"documents": [TaskDocument("d" * 95, "", range(29))]}, {}, "95 characters"),
        ({}, {"protocol": "cesa"}, "no tasks by 'cesa'"),
        ({}, {"annotators": 7}, "do not divide among 7"),
        ({}, {"checks": 50}, "50 damaged items"),
    ],
)
def test_what_appraise_cannot_take(change, options, told):
    with pytest.raises(BadTasks, match=told):
        appraise_tasks(texts(**change), **options)


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ({"systems": ("4", "s")}, {}, "digits alone, such as '4'"),
        ({}, {"protocol": "da"}, "no protocol 'da'"),
        ({}, {"assignment": "single-stream"}, "single-stream"),
        ({}, {"annotators": 0}, "at least one annotator"),
        ({"lengths": (2,), "systems": ("s",)}, {"assignment": "task-based", "annotators": 3}, "2 of 3 annotators"),
    ],
)
def test_what_pearmut_cannot_take(change, options, told):
    with pytest.raises(BadTasks, match=told):
        pearmut_campaign(texts(**change), **options)
