"""Tasks as Appraise imports them: a manifest, and batches of exactly 100 items.

Each batch holds documents by one system each, or by several beside each other, none of them twice, so that a segment's
number identifies it there; damaged copies of some segments (type BAD); perhaps a tutorial; and, where no document fits
any more, the beginning of one (`#incomplete`). What is not a judgment is marked as WMT's campaigns mark it, and
readers of exports leave it out. By DA each document has one item more, the whole of it, which Appraise does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadTasks
from steelyard.meta_evaluation.human.assessment_formats.tables import BESIDE
from steelyard.meta_evaluation.human.tasks.texts import Unit, damaged, drawn, in_rounds
from steelyard.meta_evaluation.human.tasks.tutorial import MISSING, PAIR
from steelyard.text.language_pairs import longer_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.meta_evaluation.human.tasks.texts import TaskTexts
    from steelyard.meta_evaluation.human.tasks.tutorial import Tutorial, TutorialItem, TutorialSpan

ITEMS = 100
"""Of a batch; Appraise skips others."""
CHECKS = 12
"""Damaged items of a batch, as many as of WMT's campaigns."""
LONGEST_DOCUMENT = 100
"""Characters of a documentID."""
OWN_IDS = 1_000_000
"""Items that are no judgments are numbered from here on: itemID is unique in a batch."""
PROTOCOLS = {"esa": "ESA", "mqm": "MQM", "cesa": "ESA;ContrastiveESA", "da": ""}
"""With the options of the campaign."""
TOGETHER = 2
"""Systems beside each other by cESA, of which Appraise's instructions speak."""
BAD, FILLER = "#bad", "#incomplete"
CONTRASTIVE = "contrastive"
"""In place of a system: by cESA all items of a document have one targetID, and sourceID is the system."""


@dataclass(frozen=True)
class AppraiseTasks:
    """What `manage.py StartNewCampaign` takes."""

    manifest: Mapping[str, Any]
    batches: Sequence[Mapping[str, Any]]


def appraise_tasks(
    texts: TaskTexts, *, protocol: str = "esa", seed: int = 12345, checks: int = CHECKS, annotators: int | None = None,
    together: int | None = None, tutorial: Tutorial = (),
) -> AppraiseTasks:  # fmt: skip
    """Every document by every system, once, in batches of 100 items.

    Parameters
    ----------
    texts : TaskTexts
    protocol : str
        One of PROTOCOLS.
    seed : int
    checks : int
        Damaged items of each batch, as far as there are texts to damage.
    annotators : int, optional
        As many as there are batches by default; batches must divide among them.
    together : int, optional
        Systems beside each other, by cESA alone; two by default.
    tutorial : sequence of sequence of TutorialItem, optional
        Pages of errors that are explained, with which each batch begins, and which annotators may skip.

    Returns
    -------
    AppraiseTasks

    Raises
    ------
    BadTasks
        For names that Appraise cannot keep, a language without a code of three letters, annotators that do not fit, or
        choices that Appraise does not have.
    """
    if protocol not in PROTOCOLS:
        raise BadTasks(f"Appraise has no tasks by {protocol!r} here. There are: {', '.join(PROTOCOLS)}.")
    if not 0 <= checks < ITEMS // 2:
        raise BadTasks(f"{checks} damaged items of a batch: there are 0 to {ITEMS // 2 - 1}.")
    shown = together or (TOGETHER if protocol == "cesa" else 1)
    if shown > 1 and protocol != "cesa":
        raise BadTasks(f"Appraise shows {shown} systems beside each other by cESA alone, not by {protocol}.")
    if tutorial and protocol == "da":
        raise BadTasks("Appraise has no tutorials by DA: leave it out, or ask for another protocol.")
    plan = _Plan(texts, protocol, seed, checks, shown, _tutorial_items(protocol, tutorial))
    if plan.room < shown:
        raise BadTasks(
            f"{shown} systems beside each other do not fit into {plan.room} items of a batch. Show fewer of them."
        )
    names = _names(texts)
    languages = [_code(each) for each in (texts.source_language, texts.target_language)]
    for document in texts.documents:
        if len(document.label) + len(FILLER) > LONGEST_DOCUMENT:
            raise BadTasks(
                f"The name of document {document.label[:60]!r}... has {len(document.label)} characters. Appraise keeps "
                f"{LONGEST_DOCUMENT}, of which {len(FILLER)} mark fillers: shorten it in the test set."
            )
    batches = [
        {
            "task": {
                "batchNo": number,
                "randomSeed": seed,
                "requiredAnnotations": 1,
                "sourceLanguage": languages[0],
                "targetLanguage": languages[1],
            },
            "items": [*plan.tutorial, *_items(plan, names, rows)],
        }
        for number, rows in enumerate(_batches(plan), 1)
    ]
    people = len(batches) if annotators is None else annotators
    if people < 1 or len(batches) % people:
        raise BadTasks(f"{len(batches)} batches do not divide among {people} annotators: choose a divisor.")
    called = "".join(each for each in texts.name if each.isalnum())[:40] or "campaign"
    manifest: dict[str, Any] = {
        "CAMPAIGN_URL": "http://127.0.0.1:8000/dashboard/sso/",
        "CAMPAIGN_NAME": called,
        "CAMPAIGN_KEY": called,
        "CAMPAIGN_NO": 1,
        "REDUNDANCY": 1,
        "TASKS_TO_ANNOTATORS": [[*languages, "uniform", people, len(batches)]],
        "TASK_TYPE": "Document",
    }
    if PROTOCOLS[protocol]:
        manifest["TASK_OPTIONS"] = PROTOCOLS[protocol]
    return AppraiseTasks(manifest, batches)


def _names(texts: TaskTexts) -> dict[str, str]:
    """Systems by the names that Appraise gets: its export cuts a name at "+" and writes a row for each part."""
    given: dict[str, str] = {}
    for system in texts.outputs:
        name = " ".join(system.replace("+", " ").split())
        if not name or name in given.values():
            other = next((each for each, called in given.items() if called == name), "nothing")
            raise BadTasks(
                f"Appraise cuts names at +, so that it cannot tell {system!r} from {other!r}. Rename one, or leave it "
                "out."
            )
        given[system] = name
    return given


def _code(language: str) -> str:
    code = longer_code(language)
    if code is None:
        raise BadTasks(
            f"Appraise wants codes of three letters, and {language or 'no language'!r} has none here. Name the "
            "languages of the test set."
        )
    return code


@dataclass(frozen=True)
class _Plan:
    """What batches are made of."""

    texts: TaskTexts
    protocol: str
    seed: int
    checks: int
    together: int
    tutorial: Sequence[Mapping[str, Any]]

    @property
    def items(self) -> int:
        """Those of a batch beside the tutorial."""
        return ITEMS - len(self.tutorial)

    @property
    def room(self) -> int:
        """For judgments."""
        return self.items - self.checks


_Row = tuple[int, str, str, str, int, str]
"""itemID, type, documentID, system, segment, and the text."""


def _batches(plan: _Plan) -> Iterator[list[_Row]]:
    waiting = in_rounds(plan.texts, plan.seed, largest=plan.room // plan.together, together=plan.together)
    every = tuple(waiting)
    number = 0
    while waiting:
        number += 1
        taken: list[Unit] = []
        room, later = plan.room, []
        for place, unit in enumerate(waiting):
            if unit.size <= room and all(unit.document.label != each.document.label for each in taken):
                taken.append(unit)
                room -= unit.size
            else:
                later.append(unit)
            if not room:
                later += waiting[place + 1 :]
                break
        waiting = later
        yield _batch(plan, taken, every, drawn(plan.seed, "batch", number))


def _batch(plan: _Plan, taken: Sequence[Unit], every: Sequence[Unit], seed: int) -> list[_Row]:
    """The judgments, the damaged copies of some, and fillers up to 100: documents in any order, each in one piece."""
    outputs = plan.texts.outputs
    blocks: list[list[_Row]] = [
        [(place * BESIDE + at, "TGT", unit.document.label, system, at, outputs[system][at])
         for at in unit.segments for place, system in enumerate(unit.systems)]
        for unit in taken
    ]  # fmt: skip
    copies: list[list[_Row]] = []
    own = OWN_IDS + len(plan.tutorial)
    for unit in sorted(taken, key=lambda unit: drawn(seed, "check", unit.document.label, unit.segments.start)):
        block: list[_Row] = []
        for at in unit.segments:
            for system in unit.systems:
                wanted = sum(map(len, copies)) + len(block) < plan.checks
                text = damaged(plan.texts, system, at, seed) if wanted else None
                if text is not None:
                    own += 1
                    block.append((own, "BAD", f"{unit.document.label}{BAD}", system, at, text))
        copies += [block] if block else []
    blocks += copies
    fillers = sorted(
        every, key=lambda unit: drawn(seed, "filler", unit.document.label, *unit.systems, unit.segments.start)
    )
    while missing := plan.items - sum(map(len, blocks)):
        for unit in fillers:
            block = []
            for at in unit.segments:
                for system in unit.systems:
                    if len(block) < missing:
                        own += 1
                        block.append((own, "TGT", f"{unit.document.label}{FILLER}", system, at, outputs[system][at]))
            blocks.append(block)
            missing -= len(block)
            if not missing:
                break
    order = sorted(range(len(blocks)), key=lambda place: drawn(seed, "place", place))
    return [row for place in order for row in blocks[place]]


def _items(plan: _Plan, names: Mapping[str, str], rows: Sequence[_Row]) -> Iterator[dict[str, Any]]:
    """The items of a batch; by DA each document is followed by the whole of it, which is scored, too."""
    if plan.protocol != "da":
        yield from (_item(plan, names, row) for row in rows)
        return
    own = max(OWN_IDS, *(row[0] for row in rows))
    for _, document in groupby(rows, key=lambda row: (row[2], row[3])):
        items = [_item(plan, names, row) for row in document]
        yield from items
        own += 1
        whole = {key: " ".join(item[key] for item in items) for key in ("sourceText", "targetText")}
        yield {**items[0], **whole, "itemID": own, "isCompleteDocument": True}


def _item(plan: _Plan, names: Mapping[str, str], row: _Row) -> dict[str, Any]:
    own, kind, document, system, at, text = row
    contrastive = plan.protocol == "cesa"
    made = {
        "itemID": own,
        "itemType": kind,
        "documentID": document,
        "sourceID": names[system] if contrastive else f"{plan.texts.source_language}-{plan.texts.target_language}",
        "targetID": CONTRASTIVE if contrastive else names[system],
        "sourceText": plan.texts.source[at],
        "targetText": text,
        "isCompleteDocument": False,
    }
    return made if plan.protocol == "da" else {**made, "mqm": []}


def _tutorial_items(protocol: str, tutorial: Tutorial) -> list[dict[str, Any]]:
    """The first pages of each batch, named as WMT24's are; who does not do as told is asked to, or skips them all."""
    scores = protocol != "mqm"
    found: list[dict[str, Any]] = []
    for page, document in enumerate(tutorial, 1):
        for item in document:
            called = f"{PAIR}-tutorial{page}"
            found.append(
                {
                    "itemID": OWN_IDS + len(found) + 1,
                    "itemType": "TGT",
                    "documentID": called,
                    "sourceID": called,
                    "targetID": called,
                    "sourceText": item.source,
                    "targetText": item.target,
                    "isCompleteDocument": False,
                    "mqm": _tutorial(item, scores=scores),
                }
            )
    return found


def _tutorial(item: TutorialItem, *, scores: bool) -> dict[str, Any]:
    tutorial: dict[str, Any] = {
        "instruction": item.instruction(scores=scores),
        "mqm_target": [_span(each) for each in item.spans()],
    }
    if scores:
        tutorial["score_target"] = item.score
    return {"tutorial": tutorial, "payload": [_span(each) for each in item.marked_spans()]}


def _span(span: TutorialSpan) -> dict[str, Any]:
    missing = span.start is None
    return {
        "start_i": MISSING if missing else span.start,
        "end_i": MISSING if missing else span.end,
        "severity": span.severity,
        "error_type": None,
    }
