"""Reads campaigns in JSON Lines with an object for each document or segment: WMT25's, WMT26's and WMT24++'s.

A test file has all language pairs, and each system one file with its outputs for all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadText
from steelyard.formats.campaign.description import SegmentDocument
from steelyard.formats.campaign.document_ids import parse_document_id
from steelyard.formats.campaign.document_row_files import document_files, kind_of, object_of
from steelyard.formats.campaign.file_checks import faults_of_names, raise_if_any
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.campaign.layouts import BadCampaign
from steelyard.formats.plain import Text, read_lines
from steelyard.text.language_pairs import fitting_pairs, pairs_called, parse_pair
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits, check_systems
from steelyard.text.names import printable
from steelyard.text.normalization import normalized
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

PARAGRAPH = "\n\n"
"""Between the paragraphs of WMT25's documents."""
GENERAL = "general"
"""The collection of WMT25 that is no test suite."""
POST_EDITED, ORIGINAL = "postedit", "original"
"""How the two translations of WMT24++ are called as references."""


@dataclass(frozen=True)
class Document:
    """A document of a test set."""

    name: str
    domain: str
    test_suite: str
    source: str
    references: Mapping[str, str]
    whole: bool
    """Whether blank lines do not part its segments."""


@dataclass
class _Pair:
    """A test set while it is read."""

    name: str
    documents: dict[str, Document] = field(default_factory=dict)
    """By the id that outputs name."""
    systems: dict[str, dict[str, str]] = field(default_factory=dict)
    """System -> document -> text."""


def read_document_campaign(
    folder: Path,
    pairs: Sequence[str] = (),
    *,
    given: Sequence[Path] = (),
    test_suites: bool = False,
    limits: TextLimits = DEFAULT_LIMITS,
    without_systems: bool = False,
    read_elsewhere: Collection[str] = (),
) -> list[CampaignFolder]:
    """Read all language pairs of such a campaign.

    A document is cut into paragraphs at blank lines where its source, references and all outputs have equally many of
    them, and is one segment elsewhere; WMT26's documents, whose blank lines part nothing, always are. White space in a
    segment, line ends too, is one blank.

    Parameters
    ----------
    folder : Path
    pairs : sequence of str
        Only these, in any spelling.
    given : sequence of Path
        The files, where they are not all those of the folder.
    test_suites : bool
        Whether documents of test suites count, too.
    limits : TextLimits
    without_systems : bool
        Whether a pair may have no outputs.
    read_elsewhere : collection of str
        Names of folders that are not said to be unused.

    Returns
    -------
    list of CampaignFolder
        By name.

    Raises
    ------
    BadText
        With all that does not fit, naming files, pairs, systems and documents.
    """
    found: dict[str, _Pair] = {}
    notices: list[str] = []
    files = given or document_files(folder)
    strange: list[Path] = []
    outputs = []
    for path in files:
        rows = list(_rows(path, limits))
        kind = kind_of(rows[0][1] if rows else {})
        if kind == "outputs":
            outputs.append((normalized("NFC", _stem(path)), path, rows))
        elif kind == "test":
            notices += _add_documents(found, path, rows)
        elif kind == "wmt24++":
            notices += _add_segments(found, path, rows)
        else:
            strange.append(path)
    _add_outputs(folder, found, outputs)
    wanted = pairs_called(pairs, sorted(found), str(folder))
    problems: list[str] = []
    sets = []
    for name in wanted:
        made = _made(found[name], notices, problems, test_suites=test_suites, without_systems=without_systems)
        if made is not None:
            check_systems(len(made.systems), folder, limits)
            sets.append(made)
    raise_if_any(folder, problems)
    if not sets:
        raise BadCampaign(f"{folder}: no language pair has references and outputs. {' '.join(notices)}")
    others = strange if given else [path.relative_to(folder) for path in _all_files(folder) if path not in files]
    unused = [printable(str(path)) for path in others if not {*path.parent.parts} & {*read_elsewhere}]
    notices += [f"{folder}: not used: {listed(unused)}."] if unused else []
    # They are of the campaign, and said once.
    return [replace(sets[0], notices=(*notices, *sets[0].notices)), *sets[1:]]


def _all_files(folder: Path) -> list[Path]:
    """But those that are hidden, or in a hidden folder."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _stem(path: Path) -> str:
    """Only the last ending is none of the name: `GPT-4.1.jsonl` is GPT-4.1."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def _rows(path: Path, limits: TextLimits) -> Iterator[tuple[int, Mapping[str, Any]]]:
    bounds = TextLimits(limits.file_bytes, segment_characters=limits.file_bytes, segments=limits.segments)
    for number, line in enumerate(read_lines(path, limits=bounds).lines(), 1):
        if line.strip():
            try:
                yield number, object_of(line.decode())
            except ValueError as error:
                raise BadText(f"{path}, line {number}: is not a JSON object ({str(error)[:100]}).") from error


def _text(path: Path, number: int, row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise BadText(f"{path}, line {number}: has no text under {key!r}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadText(f"{path}, line {number}: holds half a character (a lone surrogate).") from error
    return value


def _id(path: Path, number: int, row: Mapping[str, Any], key: str) -> str:
    """The id of a document, which may be a whole number."""
    value = row.get(key)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(path, number, row, key)


def _pair_called(found: dict[str, _Pair], source: str, target: str, path: Path, number: int) -> _Pair:
    """The pair of that name, in any spelling: one that says more or less than another one may be either."""
    name = f"{source}-{target}"
    if name in found:
        return found[name]
    pair = parse_pair(name)
    if pair is None:
        raise BadText(f"{path}, line {number}: {printable(name[:100])} is no language pair.")
    for other in fitting_pairs(name, found):
        known = parse_pair(other)
        if known and (known.source, known.target) == (pair.source, pair.target):
            return found[other]
        raise BadText(
            f"{path}, line {number}: the pair {name} may be {other}, which is there, too. Spell one pair in one way."
        )
    return found.setdefault(name, _Pair(name))


def _add_documents(found: dict[str, _Pair], path: Path, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> list[str]:
    """Documents of WMT25 and WMT26; what is noticed."""
    for number, row in rows:
        doc_id, source = _id(path, number, row, "doc_id"), _text(path, number, row, "src_text")
        domain = row.get("domain") if isinstance(row.get("domain"), str) else ""
        cut = parse_document_id(doc_id)
        if cut:
            source_code, target_code, domain, name, _ = cut
        else:
            source_code, target_code = (_text(path, number, row, key) for key in ("src_lang", "tgt_lang"))
            name = doc_id
        pair = _pair_called(found, source_code, target_code, path, number)
        if doc_id in pair.documents:
            raise BadText(f"{path}, line {number}: the document {printable(doc_id[:200])} is there twice.")
        if any(each.name == name for each in pair.documents.values()):
            # One name in two domains is two documents.
            name = f"{domain}.{name}"
        collection = row.get("collection_id")
        suite = collection if isinstance(collection, str) and collection != GENERAL else ""
        pair.documents[doc_id] = Document(
            name, str(domain), suite, source, _references(path, number, row.get("refs")), bool(cut and cut.new)
        )
        if isinstance(translations := row.get("tgt_text"), dict):
            for system in translations:
                # A system lacks whole pairs, and a text that is none is no empty one.
                if translations[system] is not None:
                    text = _text(path, number, translations, system)
                    pair.systems.setdefault(normalized("NFC", system), {})[doc_id] = text
    return []


def _references(path: Path, number: int, given: object) -> dict[str, str]:
    """`{"refA": {"ref": TEXT}}`, or with the text itself."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise BadText(f"{path}, line {number}: 'refs' must be an object.")
    found = {}
    for label, value in given.items():
        inner, key = (value, "ref") if isinstance(value, dict) else (given, label)
        if inner.get(key) is not None:
            found[label] = _text(path, number, inner, key)
    return found


def _add_segments(found: dict[str, _Pair], path: Path, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> list[str]:
    """Segments of WMT24++, each a document of its own until they are put together; what is noticed."""
    bad = 0
    for number, row in rows:
        if row.get("domain") == "canary":
            continue
        if row.get("is_bad_source"):
            bad += 1
            continue
        cut = parse_pair(_text(path, number, row, "lp"))
        if cut is None:
            raise BadText(f"{path}, line {number}: {printable(str(row['lp'])[:100])} is no language pair.")
        pair = _pair_called(found, cut.source_code, cut.target_code, path, number)
        segment = f"{row.get('segment_id')}"
        if segment in pair.documents:
            raise BadText(f"{path}, line {number}: the segment {printable(segment[:50])} is there twice.")
        pair.documents[segment] = Document(
            _id(path, number, row, "document_id"), _text(path, number, row, "domain"), "",
            _text(path, number, row, "source"),
            {POST_EDITED: _text(path, number, row, "target"), ORIGINAL: _text(path, number, row, "original_target")},
            whole=True,
        )  # fmt: skip
    return [f"{path}: {number_of(bad, 'segment')} with a bad source left out."] if bad else []


def _add_outputs(
    folder: Path, found: dict[str, _Pair], outputs: Sequence[tuple[str, Path, Sequence[tuple[int, Mapping[str, Any]]]]]
) -> None:
    pair_of = {doc_id: pair for pair in found.values() for doc_id in pair.documents}
    problems = []
    for system, path, rows in outputs:
        strangers = []
        seen: set[str] = set()
        for number, row in rows:
            doc_id = _id(path, number, row, "doc_id")
            pair = pair_of.get(doc_id)
            if pair is None:
                strangers.append(printable(doc_id[:200]))
                continue
            texts, text = pair.systems.setdefault(system, {}), _text(path, number, row, "hypothesis")
            # Later editions of WMT25's test file have all outputs, too.
            if doc_id in texts and (doc_id in seen or texts[doc_id] != text):
                problems.append(f"{path}, line {number}: the document {printable(doc_id[:200])} is there twice.")
            seen.add(doc_id)
            texts[doc_id] = text
        if strangers:
            problems.append(f"{path}: documents that no test file has: {listed(strangers)}.")
    for pair in found.values():
        labels = {label for document in pair.documents.values() for label in document.references}
        for what, names in (("reference", labels), ("system", {*pair.systems} - labels)):
            problems += [
                f"{pair.name}: {each}" for each in faults_of_names(what, [(name, name) for name in sorted(names)])
            ]
    raise_if_any(folder, problems)


def _made(
    pair: _Pair, notices: list[str], problems: list[str], *, test_suites: bool, without_systems: bool
) -> CampaignFolder | None:
    """A test set; None where it has nothing to score, which is noticed."""
    documents = {key: each for key, each in pair.documents.items() if test_suites or not each.test_suite}
    if left_out := len(pair.documents) - len(documents):
        notices.append(f"{pair.name}: {number_of(left_out, 'document')} of test suites left out.")
    bare = [key for key, each in documents.items() if not each.references]
    if len(bare) == len(documents):
        notices.append(f"{pair.name}: left out, for it has no references.")
        return None
    if bare:
        notices.append(f"{pair.name}: {number_of(len(bare), 'document')} without any reference left out.")
        documents = {key: each for key, each in documents.items() if each.references}
    labels = sorted({label for each in documents.values() for label in each.references})
    systems = {name: texts for name, texts in pair.systems.items() if name not in labels}
    for name, texts in systems.items():
        if missing := [key for key in documents if key not in texts]:
            problems.append(
                f"{pair.name}: {printable(name)} lacks {number_of(len(missing), 'document')}: {listed(missing)}."
            )
    if not systems and not without_systems:
        notices.append(f"{pair.name}: left out, for it has no outputs.")
        return None
    lines: dict[tuple[str, str], list[bytes]] = {("source", ""): []}
    lines |= {("reference", label): [] for label in labels} | {("system", name): [] for name in sorted(systems)}
    of_segment: list[SegmentDocument] = []
    whole = []
    for key, document in documents.items():
        of_role: dict[tuple[str, str], str | None] = {("source", ""): document.source}
        of_role |= {("reference", label): document.references.get(label) for label in labels}
        of_role |= {("system", name): systems[name].get(key, "") for name in systems}
        cut = {role: [""] if text is None else text.split(PARAGRAPH) for role, text in of_role.items()}
        counts = {len(cut[role]) for role, text in of_role.items() if text is not None}
        if document.whole or len(counts) > 1:
            if not document.whole:
                whole.append(f"{document.name} ({_who_differs(of_role)})")
            cut, counts = {role: [text or ""] for role, text in of_role.items()}, {1}
        (count,) = counts
        for role, parts in cut.items():
            lines[role] += [b" ".join(part.encode().split()) for part in parts + [""] * (count - len(parts))]
        of_segment += [SegmentDocument(document.name, document.domain, document.test_suite)] * count
    said = [f"{pair.name}: not cut into paragraphs, whose numbers differ: {listed(whole)}."] if whole else []
    made = {role: Text(" ".join(role).strip(), b"\n".join(each), len(each)) for role, each in lines.items()}
    languages = parse_pair(pair.name)
    assert languages is not None
    return CampaignFolder(
        name=pair.name,
        source=made["source", ""],
        references={label: made["reference", label] for label in labels},
        systems={name: made["system", name] for name in sorted(systems)},
        documents=tuple(of_segment),
        source_language=languages.source_code,
        target_language=languages.target_code,
        variable_references=any(label not in each.references for each in documents.values() for label in labels),
        human=(),
        notices=tuple(said),
    )


def _who_differs(of_role: Mapping[tuple[str, str], str | None]) -> str:
    """Whose text has how many paragraphs, where it is not as many as the source has."""
    counts = {name: text.count(PARAGRAPH) + 1 for (_, name), text in of_role.items() if text is not None}
    source = counts.pop("")
    others = [f"{printable(name)} {count:,}" for name, count in counts.items() if count != source]
    return f"source {source:,}; {listed(others)}"
