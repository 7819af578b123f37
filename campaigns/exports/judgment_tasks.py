"""Outputs of a campaign as tasks for people, in files that Appraise and Pearmut take."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from campaigns.errors import NotFound
from campaigns.exports.archive import zipped
from campaigns.exports.mt_metrics_eval import NAMES
from campaigns.exports.names import GivenNames, reference_word, word
from campaigns.inspection.visible import find_test_set, outputs_by_test_set, visible_outputs, visible_test_sets
from campaigns.permissions import read_access
from campaigns.texts import lines_of
from models.database.session import reading
from models.schema.corpus import Document
from steelyard.meta_evaluation.human.tasks.appraise import CHECKS, appraise_tasks
from steelyard.meta_evaluation.human.tasks.pearmut import CHECKS as PEARMUT_CHECKS
from steelyard.meta_evaluation.human.tasks.pearmut import pearmut_campaign
from steelyard.meta_evaluation.human.tasks.texts import TaskDocument, TaskTexts
from steelyard.text.wording import listed
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, TaskAssignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Engine

    from campaigns.accounts.principal import Principal
    from campaigns.inspection.visible import VisibleTestSet
    from campaigns.permissions import CampaignAccess
    from steelyard.meta_evaluation.human.tasks.tutorial import Tutorial

ANNOTATORS = 10
"""Of a campaign in Pearmut."""
SEED = 12345


@dataclass(frozen=True, kw_only=True)
class WantedTasks:
    """Which tasks to make."""

    tool: AnnotationTool
    protocol: AnnotationProtocol
    test_sets: Sequence[str] = ()
    systems: Sequence[str] = ()
    references: bool = False
    annotators: int | None = None
    assignment: TaskAssignment = TaskAssignment.DYNAMIC
    together: int | None = None
    checks: int | None = None
    tutorial: Tutorial = ()
    """Pages of errors that are explained."""
    seed: int = SEED


def names_to_judge(connection: Connection, access: CampaignAccess) -> tuple[list[str], list[str]]:
    """Return the current test sets that have both a source and outputs, and the systems with outputs on them.

    Raises
    ------
    Forbidden
        If the account does not organise the campaign.
    """
    access.require_organiser()
    outputs = outputs_by_test_set(connection, access)
    known = visible_test_sets(connection, access)
    found = [each for each in known if each.id in outputs and each.source_text is not None and not each.replaced]
    systems = {output.name for each in found for output in outputs[each.id]}
    return [each.title for each in found], sorted(systems, key=str.casefold)


def export_judgment_tasks(engine: Engine, principal: Principal, campaign: str, wanted: WantedTasks) -> Iterator[bytes]:
    """Yield a zip with the tasks of all test sets that have sources and outputs, or of those that are named.

    They are made before anything is returned. For organisers: whoever judges must not know whose output it is.

    Raises
    ------
    NotFound
        If the campaign does not exist, or there is nothing to judge.
    BadTasks
        For what the tool does not take.
    """
    with reading(engine) as connection:
        access = read_access(connection, principal, campaign)
        access.require_organiser()
        known = visible_test_sets(connection, access)
        chosen = [find_test_set(known, each) for each in wanted.test_sets] or [
            each for each in known if not each.replaced
        ]
        outputs = {each.id: _outputs(connection, access, each, wanted) for each in chosen}
        documents = {each.id: _documents(connection, each) for each in chosen}
    _require_systems(wanted.systems, [name for of_test_set in outputs.values() for name, _ in of_test_set])
    left_out = [each.title for each in chosen if each.source_text is None or not outputs[each.id]]
    files: list[tuple[str, Any]] = []
    names = GivenNames()
    for each in chosen:
        if each.title not in left_out:
            texts = TaskTexts(
                name=f"{campaign} {each.title}",
                source_language=each.source_language,
                target_language=each.target_language,
                source=_lines(engine, each.source_text or 0),
                outputs={name: _lines(engine, text) for name, text in outputs[each.id]},
                documents=documents[each.id],
            )
            files += _files(names.give(word(each.title)), texts, wanted)
    if not files:
        raise NotFound(f"There is nothing to judge: no test set has both a source and outputs, of {listed(left_out)}.")
    files.append((NAMES, {"campaign": campaign, "pairs": {}, "left_out": left_out}))
    return zipped((name, [_json(document)]) for name, document in files)


def _outputs(
    connection: Connection, access: CampaignAccess, test_set: VisibleTestSet, wanted: WantedTasks
) -> list[tuple[str, int]]:
    """Names and texts of what is judged; references by names that readers of judgments know as theirs."""
    found = [(each.name, each.text) for each in visible_outputs(connection, access, test_set.id)]
    if wanted.systems:
        found = [(name, text) for name, text in found if {name, name.rpartition("/")[2]} & set(wanted.systems)]
    if wanted.references:
        found += [(reference_word(label), text) for label, text in test_set.references]
    return found


def _require_systems(wanted: Sequence[str], known: Iterable[str]) -> None:
    there = sorted(set(known))
    strangers = [name for name in wanted if not any(name in (each, each.rpartition("/")[2]) for each in there)]
    if strangers:
        raise NotFound(f"There is no output of {strangers[0][:200]!r}. There are: {listed(there) or 'none'}.")


def _documents(connection: Connection, test_set: VisibleTestSet) -> list[TaskDocument]:
    before: Counter[str] = Counter()
    found = []
    rows = select(Document).where(Document.test_set_id == test_set.id).order_by(Document.first_segment)
    for row in connection.execute(rows):
        segments = range(row.first_segment, row.first_segment + row.segments)
        found.append(TaskDocument(row.name, row.domain, segments, before[row.name]))
        before[row.name] += row.segments
    return found or [TaskDocument("", "", range(at, at + 1)) for at in range(test_set.segments)]


def _lines(engine: Engine, text: int) -> list[str]:
    return b"".join(lines_of(engine, text)).decode().split("\n")[:-1]


def _files(name: str, texts: TaskTexts, wanted: WantedTasks) -> Iterator[tuple[str, Any]]:
    if wanted.tool is AnnotationTool.APPRAISE:
        tasks = appraise_tasks(
            texts,
            protocol=wanted.protocol.value,
            seed=wanted.seed,
            checks=CHECKS if wanted.checks is None else wanted.checks,
            annotators=wanted.annotators,
            together=wanted.together,
            tutorial=wanted.tutorial,
        )
        yield f"{name}.manifest.json", tasks.manifest
        yield f"{name}.batches.json", tasks.batches
        return
    campaign = pearmut_campaign(
        texts,
        protocol=wanted.protocol.value,
        assignment=wanted.assignment.value,
        annotators=ANNOTATORS if wanted.annotators is None else wanted.annotators,
        together=wanted.together,
        seed=wanted.seed,
        checks=PEARMUT_CHECKS if wanted.checks is None else wanted.checks,
        tutorial=wanted.tutorial,
    )
    yield f"{name}.json", campaign


def _json(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
