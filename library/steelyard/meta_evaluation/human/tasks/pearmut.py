"""Tasks as Pearmut loads them: a campaign in one JSON file, for each annotator or for all of them together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadTasks
from steelyard.meta_evaluation.human.tasks.texts import damaged, drawn, groups
from steelyard.meta_evaluation.human.tasks.tutorial import PAIR, units_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.meta_evaluation.human.tasks.texts import TaskDocument, TaskTexts
    from steelyard.meta_evaluation.human.tasks.tutorial import Tutorial, TutorialItem, TutorialSpan

PROTOCOLS = {"esa": "ESA", "cesa": "cESA", "mqm": "MQM", "da": "DA"}
DYNAMIC, TASK_BASED = "dynamic", "task-based"
ASSIGNMENTS = (DYNAMIC, TASK_BASED)
CHECKS = 10
"""Attention checks of a campaign."""
SHOWN_TOGETHER = {"cesa": 3}
"""Systems beside each other, one by other protocols; WMT26 showed three by cESA."""
NONE = "none"
"""In place of a domain or document."""
COLDSTART = 5
"""Judgments of each system before the next ones are chosen by their scores."""
RANDOM_PROBABILITY = 0.05
"""How often an attention check comes before a document."""
TUTOR = "tutorial"
"""The system that the tutorial names."""
NEAR = 10
"""How far a score of the tutorial may be from what is told."""
LARGEST_SCORE = 60
"""Of a damaged text, before the check is failed."""


def pearmut_campaign(
    texts: TaskTexts,
    *,
    protocol: str = "cesa",
    assignment: str = DYNAMIC,
    annotators: int = 10,
    together: int | None = None,
    seed: int = 12345,
    checks: int = CHECKS,
    tutorial: Tutorial = (),
) -> dict[str, Any]:
    """A campaign in which every document by every system is judged, or may be.

    Parameters
    ----------
    texts : TaskTexts
    protocol : str
        One of PROTOCOLS.
    assignment : str
        `task-based`: each annotator has documents of their own, together every document by every system, once.
        `dynamic`: all see the same documents, by systems that Pearmut chooses from the scores so far.
    annotators : int
    together : int, optional
        Systems beside each other; three by cESA, else one.
    seed : int
    checks : int
        Attention checks, as far as there are texts to damage.
    tutorial : sequence of sequence of TutorialItem, optional
        Pages of errors that are explained, which everybody is shown before anything else.

    Returns
    -------
    dict of str to object
        The document to be written as JSON.

    Raises
    ------
    BadTasks
        For choices that Pearmut does not have, and names that it refuses.
    """
    if protocol not in PROTOCOLS:
        raise BadTasks(f"Pearmut has no protocol {protocol!r} here. There are: {', '.join(PROTOCOLS)}.")
    if assignment not in ASSIGNMENTS:
        raise BadTasks(f"Pearmut's tasks are {' or '.join(ASSIGNMENTS)}, not {assignment!r}.")
    if numbered := [system for system in texts.outputs if system.isdigit()]:
        raise BadTasks(f"Pearmut refuses names of digits alone, such as {numbered[0]!r}. Rename the system.")
    shown = min(together or SHOWN_TOGETHER.get(protocol, 1), len(texts.outputs))
    if annotators < 1 or shown < 1 or checks < 0:
        raise BadTasks("There is at least one annotator, one system shown, and no fewer than 0 checks.")
    info: dict[str, Any] = {"assignment": assignment, "protocol": PROTOCOLS[protocol], "seed": seed}
    if assignment == DYNAMIC:
        info |= {"users": annotators, "dynamic_models": shown, "dynamic_coldstart": COLDSTART}
        order = sorted(texts.documents, key=lambda each: drawn(seed, "document", each.label))
        data: list[Any] = [_document(texts, each, list(texts.outputs)) for each in order]
    else:
        data = _by_annotator(texts, annotators, shown, seed)
    campaign: dict[str, Any] = {"campaign_id": _campaign_id(texts), "info": info, "data": data}
    if found := _checks(texts, seed, checks):
        info["data_random_prob"] = RANDOM_PROBABILITY
        campaign["data_random"] = found
    if tutorial:
        numbers = itertools.count(1)
        campaign["data_welcome"] = [
            [_tutorial_item(each, next(numbers), protocol) for each in document] for document in tutorial
        ]
    return campaign


def _campaign_id(texts: TaskTexts) -> str:
    """Readers of exports find the pair before the first blank; Pearmut refuses slashes."""
    pair = f"{texts.source_language or 'und'}---{texts.target_language or 'und'}"
    return f"{pair} {texts.name}".replace("/", "-")


def _by_annotator(texts: TaskTexts, annotators: int, shown: int, seed: int) -> list[list[list[dict[str, Any]]]]:
    """For each annotator documents: the next goes to who has not seen it, if possible, and has the fewest texts."""
    tasks: list[list[list[dict[str, Any]]]] = [[] for _ in range(annotators)]
    load = [0] * annotators
    seen: list[set[int]] = [set() for _ in range(annotators)]
    of_document = {each.segments.start: groups(texts.outputs, each, shown, seed) for each in texts.documents}
    for place in range(max(map(len, of_document.values()), default=0)):
        for document in sorted(texts.documents, key=lambda each: drawn(seed, "document", place, each.label)):
            start = document.segments.start
            systems = of_document[start][place]
            who = min(range(annotators), key=lambda each: (start in seen[each], load[each], each))
            tasks[who].append(_document(texts, document, systems))
            load[who] += len(document.segments) * len(systems)
            seen[who].add(start)
    if empty := tasks.count([]):
        raise BadTasks(f"{empty} of {annotators} annotators would have nothing to do: there are too few documents.")
    return tasks


def _document(texts: TaskTexts, document: TaskDocument, systems: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "src": texts.source[at],
            "tgt": {system: texts.outputs[system][at] for system in systems},
            "item_id": f"{document.domain or NONE}_###_{document.name or NONE}_###_{place}",
        }
        # Of a test set without documents segments are counted through.
        for place, at in enumerate(document.segments, document.before if document.name else document.segments.start)
    ]


def _checks(texts: TaskTexts, seed: int, wanted: int) -> list[list[Mapping[str, Any]]]:
    """Damaged outputs that nobody should find good, a document each; Pearmut logs who fails, and says nothing."""
    found: list[list[Mapping[str, Any]]] = []
    cells = ((system, at) for at in range(len(texts.source)) for system in texts.outputs)
    for system, at in sorted(cells, key=lambda cell: drawn(seed, "check", *cell)):
        if len(found) == wanted:
            break
        text = damaged(texts, system, at, seed)
        if text is not None:
            item = {
                "src": texts.source[at],
                "tgt": {system: text},
                "item_id": f"attention_check_{len(found)}",
                "validation": {system: {"score": [0, LARGEST_SCORE]}},
            }
            found.append([item])
    return found


def _tutorial_item(item: TutorialItem, number: int, protocol: str) -> dict[str, Any]:
    """An item that Pearmut does not accept before it is judged as told, unless who judges wants to skip it."""
    marks, scores = protocol != "da", protocol != "mqm"
    told = item.instruction(marks=marks, scores=scores)
    rule: dict[str, Any] = {"warning": "Please do what the instructions say.", "allow_skip": True}
    if scores:
        rule["score"] = [max(item.score - NEAR, 0), min(item.score + NEAR, 100)]
    if marks:
        rule["error_spans"] = [_rule_of_span(each, item.target) for each in item.spans()]
    made: dict[str, Any] = {
        "src": item.source,
        "tgt": {TUTOR: item.target},
        "item_id": f"{PAIR}_#_tutorial_#_{number}",
        "instructions": told,
        "validation": {TUTOR: rule},
    }
    if marks and item.marked:
        spans = [{"start_i": each.start, "end_i": each.end, "severity": each.severity} for each in item.marked_spans()]
        made["error_spans"] = {TUTOR: spans}
    return made


def _rule_of_span(span: TutorialSpan, target: str) -> dict[str, Any]:
    """Where an error must be marked, within one character; what is missing is the first token behind the text."""
    if span.start is None or span.end is None:
        behind = units_of(target)
        return {"start_i": behind, "end_i": behind, "severity": span.severity}
    around = [[max(at - 1, 0), at + 1] for at in (span.start, span.end)]
    return {"start_i": around[0], "end_i": around[1], "severity": span.severity}
