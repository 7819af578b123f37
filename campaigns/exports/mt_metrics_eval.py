"""Export of a campaign in the layout of mt-metrics-eval, as its own reader loads it, in strict mode too.

Its rules: names are single words, line i of all files of a pair is one segment, human scores may be `None`, and a
metric scores every file of system outputs but its own references.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, select

from campaigns.errors import BadRequest, NotFound
from campaigns.exports.archive import zipped
from campaigns.exports.human_scores import human_files
from campaigns.exports.metric_scores import metric_files
from campaigns.exports.names import GivenNames, reference_word, word
from campaigns.exports.pair import Pair
from campaigns.inspection.visible import VisibleTestSet, find_test_set, visible_outputs, visible_test_sets
from campaigns.permissions import read_access
from campaigns.texts import lines_of
from models.database.session import reading
from models.schema.corpus import Document
from steelyard.text.language_pairs import parse_pair
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal
    from campaigns.permissions import CampaignAccess

MISSING = b"[No translation supplied]"
"""A line that its reader takes for a missing text."""
NAMES = "names.json"
"""Which test set, reference, system, metric and judgments each name in the folder stands for, and what is left out."""


def export_mt_metrics_eval(
    engine: Engine, principal: Principal, campaign: str, test_sets: Sequence[str] = ()
) -> Iterator[bytes]:
    """Yield a zip of the folder, part by part: all test sets with texts, or those that are named.

    Permissions are read before anything is returned. Human scores are in it as far as the leaderboard is visible.

    Raises
    ------
    NotFound
        If the campaign does not exist, or nothing with texts is visible of it.
    BadRequest
        Where two test sets have one language pair: the layout has one folder for a pair.
    """
    with reading(engine) as connection:
        access = read_access(connection, principal, campaign)
        pairs, left_out = _pairs(connection, access, test_sets)
    return zipped(_files(engine, access, pairs, left_out))


def _pairs(connection: Connection, access: CampaignAccess, wanted: Sequence[str]) -> tuple[list[Pair], list[str]]:
    known = visible_test_sets(connection, access)
    chosen = [find_test_set(known, each) for each in wanted] or [each for each in known if not each.replaced]
    left_out = [each.title for each in chosen if each.source_text is None or not each.references]
    found: dict[str, Pair] = {}
    for test_set in chosen:
        if test_set.title in left_out:
            continue
        name = pair_of(test_set)
        if name in found:
            raise BadRequest(
                f"{found[name].test_set.title} and {test_set.title} are both of {name}, and mt-metrics-eval has one "
                "set of files for a pair. Name the test sets that you want (--test-set), and export the others apart."
            )
        found[name] = _pair(connection, access, name, test_set)
    if not found:
        why = f" Without source or visible references: {listed(left_out)}." if left_out else ""
        raise NotFound(f"There is no test set with texts that you may see.{why}")
    return list(found.values()), left_out


def pair_of(test_set: VisibleTestSet) -> str:
    """Return the language pair that the files of a test set are named after: its name, if that is one."""
    if parse_pair(test_set.name):
        return test_set.name
    return f"{test_set.source_language or 'und'}-{test_set.target_language or 'und'}"


def _pair(connection: Connection, access: CampaignAccess, name: str, test_set: VisibleTestSet) -> Pair:
    names = GivenNames()
    references = {names.give(reference_word(label)): (label, text) for label, text in test_set.references}
    # A system with the name of a reference would count as human.
    systems = {
        names.give(word(each.name.replace("/", "-"))): (each.name, each.submission, each.text)
        for each in visible_outputs(connection, access, test_set.id)
    }
    return Pair(name, test_set, references, systems)


def _files(
    engine: Engine, access: CampaignAccess, pairs: Sequence[Pair], left_out: Sequence[str]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    described: dict[str, Any] = {}
    for pair in pairs:
        yield from _texts(engine, pair)
        with reading(engine) as connection:
            documents = list(
                connection.execute(
                    select(Document).where(Document.test_set_id == pair.test_set.id).order_by(Document.first_segment)
                )
            )
            people = human_files(connection, access, pair) if access.sees_board else None
            metrics = metric_files(connection, access, pair, people.references if people else ())
        yield f"documents/{pair.name}.docs", [_documents(documents, pair.test_set.segments)]
        if people:
            for reference in people.references:
                # Judged like a system: by the equal name its reader knows that it is human.
                name = f"system-outputs/{pair.name}/{reference}"
                yield _text_file(engine, name, pair.references[reference][1], "hypothesis")
            yield from people.files
        yield from metrics.files
        described[pair.name] = {
            "test_set": pair.test_set.title,
            "references": {name: label for name, (label, _) in pair.references.items()},
            "systems": {name: called for name, (called, _, _) in pair.systems.items()},
            "metrics": metrics.described,
            "human_scores": people.described if people else {},
            "left_out": [*metrics.left_out, *(people.left_out if people else ())],
        }
    document = {"campaign": access.name, "pairs": described, "left_out": list(left_out)}
    yield NAMES, [(json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()]


def _texts(engine: Engine, pair: Pair) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield _text_file(engine, f"sources/{pair.name}", pair.source, "source")
    for name, (_, text) in pair.references.items():
        yield _text_file(engine, f"references/{pair.name}.{name}", text, "target")
    for name, (_, _, text) in pair.systems.items():
        yield _text_file(engine, f"system-outputs/{pair.name}/{name}", text, "hypothesis")


def _text_file(engine: Engine, name: str, text: int, field: str) -> tuple[str, Iterable[bytes]]:
    """A text as lines, or as objects where its reader would read other lines: it cuts at carriage returns too."""
    content = b"".join(lines_of(engine, text))
    lines = content.split(b"\n")
    if b"\r" not in content and not any(line.strip() == MISSING for line in lines):
        return f"{name}.txt", [content]
    objects = (json.dumps({field: line.decode()}, ensure_ascii=False) + "\n" for line in lines[:-1])
    return f"{name}.jsonl", ["".join(objects).encode()]


def _documents(documents: Sequence[Any], segments: int) -> bytes:
    """Domain and document of each segment; each document is one block, so its next part is named apart."""
    names = GivenNames()
    lines = []
    for each in documents:
        line = f"{word(each.domain, 'all')}\t{names.give(word(each.name))}\n"
        lines += [line] * each.segments
    return "".join(lines or ["all\tall\n"] * segments).encode()
