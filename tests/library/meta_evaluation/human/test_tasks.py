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
from steelyard.meta_evaluation.human.tasks.tutorial import TUTORIAL

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


OPTIONS = {"esa": "ESA", "mqm": "MQM", "cesa": "ESA;ContrastiveESA", "da": None}


def system_of(item):
    """As the export names it."""
    return item["sourceID"] if item["targetID"] == "contrastive" else item["targetID"]


def check_appraise(asked, tasks, protocol="esa"):
    """What Appraise's importer and its pages rely on."""
    assert tasks.manifest.get("TASK_OPTIONS") == OPTIONS[protocol]
    for number, batch in enumerate(tasks.batches, 1):
        assert len({item["itemID"] for item in batch["items"]}) == len(batch["items"])
        check_documents(batch["items"], protocol)
        items = [item for item in batch["items"] if not item["isCompleteDocument"]]
        assert len(items) == ITEMS
        if protocol != "da":
            assert items == batch["items"]
        items = [item for item in items if "tutorial" not in item["documentID"]]
        assert batch["task"]["batchNo"] == number
        assert (batch["task"]["sourceLanguage"], batch["task"]["targetLanguage"]) == ("eng", "ces")
        assert all(len(item["documentID"]) <= 100 and "+" not in system_of(item) for item in items)
        assert {item["itemType"] for item in items} <= {"TGT", "BAD"}
        assert all(item.get("mqm") == (None if protocol == "da" else []) for item in items)
        runs = [key for key, _ in itertools.groupby(items, lambda item: (item["documentID"], item["targetID"]))]
        counted = [document for document, _ in runs if "#incomplete" not in document]
        assert len(counted) == len(set(counted)), "a document is in one piece, by one system"
        assert sum(item["itemType"] == "BAD" for item in items) <= CHECKS
        for item in items:
            at = item["itemID"] % 10_000_000
            if at < 1_000_000:
                assert item["sourceText"] == asked.source[at]
                assert item["targetText"] in [lines[at] for lines in asked.outputs.values()]
    counted = [
        (system_of(item), item["itemID"] % 10_000_000)
        for batch in tasks.batches
        for item in batch["items"]
        if item["itemType"] == "TGT" and "#" not in item["documentID"] and "tutorial" not in item["documentID"]
        if not item["isCompleteDocument"]
    ]
    names = {system: system.replace("+", "") for system in asked.outputs}
    assert sorted(counted) == sorted((name, at) for name in names.values() for at in range(len(asked.source)))


def check_documents(items, protocol):
    """Items of a document lie together; by DA the whole of it comes behind them, and by nothing else."""
    page = []
    for item in items:
        assert protocol == "da" or not item["isCompleteDocument"]
        if protocol == "da" and page:
            assert (item["documentID"], item["targetID"]) == (page[0]["documentID"], page[0]["targetID"])
        if not item["isCompleteDocument"]:
            page.append(item)
            continue
        assert page
        for key in ("sourceText", "targetText"):
            assert item[key] == " ".join(each[key] for each in page)
        page = []
    assert not page or protocol != "da"


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 99), st.integers(0, 12),
    st.sampled_from(["esa", "mqm", "cesa", "da"]), st.booleans(),
)  # fmt: skip
def test_batches_of_appraise_keep_its_rules(lengths, systems, seed, checks, protocol, tutorial):
    asked = texts(lengths, [f"s{place}" for place in range(systems)])
    pages = TUTORIAL if tutorial and protocol != "da" else ()
    chosen = {"seed": seed, "checks": checks, "protocol": protocol, "tutorial": pages}
    tasks = appraise_tasks(asked, **chosen)
    check_appraise(asked, tasks, protocol)
    assert tasks.batches == appraise_tasks(asked, **chosen).batches
    ((source, target, how, annotators, number),) = tasks.manifest["TASKS_TO_ANNOTATORS"]
    assert (source, target, how, number) == ("eng", "ces", "uniform", len(tasks.batches))
    assert number * tasks.manifest["REDUNDANCY"] % annotators == 0


def test_appraise_in_full():
    asked = texts((3, 8, 95, 5, 12, 40, 30))
    tasks = appraise_tasks(asked, protocol="mqm")
    check_appraise(asked, tasks, "mqm")
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


@pytest.mark.parametrize(("protocol", "tutorial"), [("esa", True), ("mqm", True), ("cesa", True), ("da", False)])
def test_the_way_back_from_appraise(tmp_path, protocol, tutorial):
    asked = texts()
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    batches = appraise_tasks(asked, protocol=protocol, tutorial=TUTORIAL if tutorial else ()).batches
    for batch in batches:
        for place, item in enumerate(batch["items"]):
            score = 10 if item["itemType"] == "BAD" else item["itemID"] % 10_000_000 % 101
            writer.writerow(
                [
                    *(f"engces{batch['task']['batchNo']:02}", system_of(item), item["itemID"], item["itemType"]),
                    *("eng", "ces", score, item["documentID"], item["isCompleteDocument"], "[]", place, place + 1),
                ]
            )
    files = reader(tmp_path / "esa.csv", rows.getvalue())
    found = files.assessments
    told = " ".join(files.notices)
    assert (f"{6 * len(batches)} of tutorials" in told) == tutorial
    assert ("of whole documents" in told) == (protocol == "da")
    assert len(found) == len(asked.source) * 3
    documents = {at: document.name for document in asked.documents for at in document.segments}
    for each in found:
        assert each.document == documents[int(each.segment)]
        assert each.score == int(each.segment) % 101
    assert {each.system for each in found} == {"GPT 5.5", "Cohere CAT", "team/sail"}


def reader(path, content):
    path.write_text(content, encoding="utf-8")
    files = AssessmentFiles()
    files.read([path])
    return files


def test_contrastive_tasks_of_appraise():
    asked = texts((4, 3), ("a", "b", "c+d", "e"))
    batches = appraise_tasks(asked, protocol="cesa").batches
    counted = [
        item
        for batch in batches
        for item in batch["items"]
        if item["itemType"] == "TGT" and "#" not in item["documentID"]
    ]
    for one, other in zip(counted[::2], counted[1::2], strict=True):
        assert one["targetID"] == other["targetID"]
        assert (one["sourceText"], one["documentID"]) == (other["sourceText"], other["documentID"])
        assert other["itemID"] == one["itemID"] + 10_000_000
        assert one["sourceID"] != other["sourceID"]
    assert {item["sourceID"] for item in counted} == {"a", "b", "c d", "e"}
    assert len(appraise_tasks(asked, protocol="cesa", together=4).batches[0]["items"]) == ITEMS


# What Pearmut 1.1.6 asks of a campaign, from its `cli.py`.


def check_pearmut(campaign):
    assert isinstance(campaign["campaign_id"], str)
    assert "/" not in campaign["campaign_id"]
    info, data = campaign["info"], campaign["data"]
    assert info["assignment"] in ("task-based", "dynamic")
    assert info["protocol"] in ("DA", "ESA", "cESA", "MQM")
    documents = [document for task in data for document in task] if info["assignment"] == "task-based" else data
    for document in [*documents, *campaign.get("data_random", []), *campaign.get("data_welcome", [])]:
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
        assert info["dynamic_coldstart"] >= 1
        known = {"assignment", "protocol", "seed", "users", "dynamic_models", "dynamic_coldstart", "data_random_prob"}
        assert info.keys() <= known, "Pearmut keeps keys that it does not know, and does nothing with them"
        assert 1 <= info["dynamic_models"] <= len(data[0][0]["tgt"])
    if "data_random" in campaign:
        assert isinstance(info["data_random_prob"], float)
        assert 0 <= info["data_random_prob"] <= 1
    assert json.loads(json.dumps(campaign)) == campaign


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(1, 5), st.integers(0, 99),
    st.sampled_from(["esa", "cesa", "mqm", "da"]), st.sampled_from(["dynamic", "task-based"]), st.integers(1, 2),
    st.booleans(),
)  # fmt: skip
def test_campaigns_of_pearmut_keep_its_rules(lengths, systems, seed, protocol, assignment, annotators, tutorial):
    asked = texts(lengths, [f"s{place}" for place in range(systems)])
    campaign = pearmut_campaign(
        asked,
        protocol=protocol,
        assignment=assignment,
        annotators=annotators,
        seed=seed,
        tutorial=TUTORIAL if tutorial else (),
    )
    check_pearmut(campaign)
    assert campaign["info"]["protocol"] == {"esa": "ESA", "cesa": "cESA", "mqm": "MQM", "da": "DA"}[protocol]
    assert ("data_welcome" in campaign) == tutorial
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


@pytest.mark.parametrize("seed", range(5))
def test_nobody_judges_a_document_twice_where_another_has_not_seen_it(seed):
    """Not even who has far fewer segments."""
    asked = texts((9, 1, 1, 2), [f"s{place}" for place in range(6)])
    campaign = pearmut_campaign(asked, protocol="esa", assignment="task-based", annotators=2, together=3, seed=seed)
    for task in campaign["data"]:
        begins = [document[0]["src"] for document in task]
        assert len(begins) == len(set(begins)) == 4


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


@pytest.mark.parametrize("as_pages", [True, False])
def test_the_way_back_from_pearmut(tmp_path, as_pages):
    """Tutorials come as welcome pages, or before the documents of each annotator, as Pearmut advises, too."""
    asked = texts()
    campaign = pearmut_campaign(asked, protocol="esa", assignment="task-based", annotators=3, tutorial=TUTORIAL)
    lines = []
    for user, task in enumerate([*campaign["data"], campaign["data_random"], campaign["data_welcome"]]):
        for number, document in enumerate(task):
            if task is campaign["data_welcome"] and as_pages:
                number = f"welcome_{number}"
            annotation = [
                {model: {"score": len(text), "error_spans": []} for model, text in item["tgt"].items()}
                for item in document
            ]
            lines.append(
                {"annotation": annotation, "item": document, "actions": [], "user_id": f"u{user}", "item_i": number}
            )
    files = reader(tmp_path / "export.json", json.dumps({campaign["campaign_id"]: lines}))
    found = files.assessments
    told = "6 of welcome, random and goodbye pages" if as_pages else "6 of tutorials"
    assert any(told in each and "10 of attention checks" in each for each in files.notices)
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
    # Other blanks are no damage that anybody could see.
    spaced = texts((2,), ("s",), outputs={"s": [" the  same", "the same "]})
    assert damaged(spaced, "s", 0, 1) is None
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
        ({}, {"protocol": "sqm"}, "no tasks by 'sqm'"),
        ({}, {"protocol": "da", "tutorial": TUTORIAL}, "no tutorials by DA"),
        ({}, {"protocol": "esa", "together": 2}, "by cESA alone, not by esa"),
        ({}, {"protocol": "cesa", "together": 99}, "99 systems beside each other do not fit into 88"),
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
        ({}, {"protocol": "sqm"}, "no protocol 'sqm'"),
        ({}, {"assignment": "single-stream"}, "single-stream"),
        ({}, {"annotators": 0}, "at least one annotator"),
        ({"lengths": (2,), "systems": ("s",)}, {"assignment": "task-based", "annotators": 3}, "2 of 3 annotators"),
    ],
)
def test_what_pearmut_cannot_take(change, options, told):
    with pytest.raises(BadTasks, match=told):
        pearmut_campaign(texts(**change), **options)


@pytest.mark.parametrize("assignment", ["dynamic", "task-based"])
def test_pearmut_names_each_segment_by_its_place_in_the_document_or_in_the_test_set(assignment):
    """Whole documents, the second piece of one, and segments of a test set without documents."""
    documents = [
        TaskDocument("a", "news", range(3)), TaskDocument("a", "news", range(3, 5), before=3),
        TaskDocument("b", "", range(5, 6)), TaskDocument("", "", range(6, 7)), TaskDocument("", "talk", range(7, 8)),
    ]  # fmt: skip
    source = [f"source {at}" for at in range(8)]
    given = TaskTexts("w", "en", "cs", source, {"tug": source}, documents)
    campaign = pearmut_campaign(given, protocol="da", assignment=assignment, annotators=1, checks=0)
    data = campaign["data"] if assignment == "dynamic" else campaign["data"][0]
    assert {item["src"]: item["item_id"] for document in data for item in document} == {
        f"source {at}": name
        for at, name in enumerate(
            [f"news_###_a_###_{place}" for place in range(5)]
            + ["none_###_b_###_0", "none_###_none_###_6", "talk_###_none_###_7"]
        )
    }
