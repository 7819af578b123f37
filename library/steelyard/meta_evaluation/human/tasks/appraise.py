"""Tasks as Appraise imports them: a manifest, and batches of exactly 100 items.

Each batch holds documents by one system each, none of them twice, so that a segment's number identifies it there;
damaged copies of some segments (type BAD); and, where no document fits any more, the beginning of one (`#incomplete`).
What is not a judgment is marked as WMT's campaigns mark it, and readers of exports leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadTasks
from steelyard.meta_evaluation.human.tasks.texts import Unit, damaged, drawn, in_rounds
from steelyard.text.language_pairs import longer_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.meta_evaluation.human.tasks.texts import TaskTexts

ITEMS = 100
"""Of a batch; Appraise skips others."""
CHECKS = 12
"""Damaged items of a batch, as many as of WMT's campaigns."""
LONGEST_DOCUMENT = 100
"""Characters of a documentID."""
OWN_IDS = 1_000_000
"""Items that are no judgments are numbered from here on: itemID is unique in a batch."""
PROTOCOLS = ("esa", "mqm")
BAD, FILLER = "#bad", "#incomplete"


@dataclass(frozen=True)
class AppraiseTasks:
    """What `manage.py StartNewCampaign` takes."""

    manifest: Mapping[str, Any]
    batches: Sequence[Mapping[str, Any]]


def appraise_tasks(
    texts: TaskTexts, *, protocol: str = "esa", seed: int = 12345, checks: int = CHECKS, annotators: int | None = None
) -> AppraiseTasks:
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

    Returns
    -------
    AppraiseTasks

    Raises
    ------
    BadTasks
        For names that Appraise cannot keep, a language without a code of three letters, or annotators that do not fit.
    """
    if protocol not in PROTOCOLS:
        raise BadTasks(f"Appraise has no tasks by {protocol!r} here. There are: {', '.join(PROTOCOLS)}.")
    if not 0 <= checks < ITEMS // 2:
        raise BadTasks(f"{checks} damaged items of a batch: there are 0 to {ITEMS // 2 - 1}.")
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
            "items": [_item(texts, names, *each) for each in rows],
        }
        for number, rows in enumerate(_batches(texts, list(names), seed, checks), 1)
    ]
    people = len(batches) if annotators is None else annotators
    if people < 1 or len(batches) % people:
        raise BadTasks(f"{len(batches)} batches do not divide among {people} annotators: choose a divisor.")
    called = "".join(each for each in texts.name if each.isalnum())[:40] or "campaign"
    manifest = {
        "CAMPAIGN_URL": "http://127.0.0.1:8000/dashboard/sso/",
        "CAMPAIGN_NAME": called,
        "CAMPAIGN_KEY": called,
        "CAMPAIGN_NO": 1,
        "REDUNDANCY": 1,
        "TASKS_TO_ANNOTATORS": [[*languages, "uniform", people, len(batches)]],
        "TASK_TYPE": "Document",
        "TASK_OPTIONS": protocol.upper(),
    }
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


_Row = tuple[int, str, str, str, int, str]
"""itemID, type, documentID, system, segment, and the text."""


def _batches(texts: TaskTexts, systems: Sequence[str], seed: int, checks: int) -> Iterator[list[_Row]]:
    waiting = in_rounds(texts, systems, seed, ITEMS - checks)
    every = tuple(waiting)
    number = 0
    while waiting:
        number += 1
        taken: list[Unit] = []
        room, later = ITEMS - checks, []
        for place, unit in enumerate(waiting):
            if len(unit.segments) <= room and all(unit.document.label != each.document.label for each in taken):
                taken.append(unit)
                room -= len(unit.segments)
            else:
                later.append(unit)
            if not room:
                later += waiting[place + 1 :]
                break
        waiting = later
        yield _batch(texts, taken, every, drawn(seed, "batch", number), checks)


def _batch(texts: TaskTexts, taken: Sequence[Unit], every: Sequence[Unit], seed: int, checks: int) -> list[_Row]:
    """The judgments, the damaged copies of some, and fillers up to 100: documents in any order, each in one piece."""
    blocks = [
        [(at, "TGT", unit.document.label, unit.system, at, texts.outputs[unit.system][at]) for at in unit.segments]
        for unit in taken
    ]
    copies: list[list[_Row]] = []
    own = OWN_IDS
    for unit in sorted(taken, key=lambda unit: drawn(seed, "check", unit.document.label, unit.segments.start)):
        block: list[_Row] = []
        for at in unit.segments:
            text = damaged(texts, unit.system, at, seed) if sum(map(len, copies)) + len(block) < checks else None
            if text is not None:
                own += 1
                block.append((own, "BAD", f"{unit.document.label}{BAD}", unit.system, at, text))
        copies += [block] if block else []
    blocks += copies
    fillers = sorted(
        every, key=lambda unit: drawn(seed, "filler", unit.document.label, unit.system, unit.segments.start)
    )
    while _missing(blocks):
        for unit in fillers:
            block = []
            for at in unit.segments[: _missing(blocks)]:
                own += 1
                text = texts.outputs[unit.system][at]
                block.append((own, "TGT", f"{unit.document.label}{FILLER}", unit.system, at, text))
            blocks.append(block)
            if not _missing(blocks):
                break
    order = sorted(range(len(blocks)), key=lambda place: drawn(seed, "place", place))
    return [row for place in order for row in blocks[place]]


def _missing(blocks: Sequence[Sequence[_Row]]) -> int:
    """How many items a batch lacks."""
    return ITEMS - sum(map(len, blocks))


def _item(
    texts: TaskTexts, names: Mapping[str, str], own: int, kind: str, document: str, system: str, at: int, text: str
) -> dict[str, Any]:
    return {
        "itemID": own,
        "itemType": kind,
        "documentID": document,
        "sourceID": f"{texts.source_language}-{texts.target_language}",
        "targetID": names[system],
        "sourceText": texts.source[at],
        "targetText": text,
        "isCompleteDocument": False,
        "mqm": [],
    }
