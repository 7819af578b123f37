"""Finds the test sets in a folder of many language pairs, laid out as WMT24 and mt-metrics-eval have it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.campaign.description import Meta, SegmentDocument, split_documents
from steelyard.formats.campaign.layouts import BadCampaign, CampaignPaths, is_beside
from steelyard.formats.file_names import parse_wmt_name
from steelyard.formats.input.given_files import list_given
from steelyard.formats.plain import Text
from steelyard.text.language_pairs import NoSuchPair, fitting_pairs, pair_called, parse_pair
from steelyard.text.names import printable
from steelyard.text.normalization import normalized
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


FOLDERS = ("sources", "references", "documents", "system-outputs")
OTHERS = {
    "human-scores": "people's scores, which `steelyard campaign import` takes",
    "metric-scores": "scores of metrics, which `steelyard campaign import` takes",
    "human": "people's judgments, which `steelyard campaign import` takes",
    "metadata": "what is known of segments",
}
"""Folders beside the texts, and what is in them."""
FIELDS = {"source": ("source", "src"), "references": ("target", "reference"), "systems": ("hypothesis", "translation")}
"""Of the objects in `.jsonl`, one a segment; by role."""
NO_DOMAIN = "None"
"""Of documents of test suites, which WMT24 adds to its texts."""
CANARY = b"CANARY GUID"
"""What the first line of published test sets begins with, so that nobody trains on them unseen."""


def has_pairs(folder: Path) -> bool:
    """Whether a folder has this layout.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    bool
    """
    beside = {"references", "system-outputs", "documents"} if (folder / "sources").is_dir() else FOLDERS[2:]
    if not any((folder / name).is_dir() for name in beside):
        return False
    there = [path for name in FOLDERS if (folder / name).is_dir() for path in list_given(folder / name)]
    return any(parse_pair(_pair_of(path)) for path in there) and not any(parse_wmt_name(path.name) for path in there)


def find_pairs(folder: Path, read_elsewhere: Collection[str] = ()) -> list[CampaignPaths]:
    """The files of each language pair.

    Parameters
    ----------
    folder : Path
        With `sources/PAIR.txt`, `references/PAIR.NAME.txt`, `system-outputs/PAIR/SYSTEM.txt` and, where there are,
        `documents/PAIR.docs`; texts may also be `.jsonl`, and all may end in `.gz`.
    read_elsewhere : collection of str
        Names of folders that are not said to be unused.

    Returns
    -------
    list of CampaignPaths
        By pair, sorted; called as the source is, or else the first of the others that are there.

    Raises
    ------
    OSError
        Where a folder cannot be listed.
    NoSuchPair
        Where a file may be of two pairs.
    """
    found: dict[str, CampaignPaths] = {}
    called = _names_of_pairs(folder)
    unused: list[str] = []
    for place in list_given(folder):
        if place.name in read_elsewhere and place.is_dir():
            continue
        if place.name not in FOLDERS or not place.is_dir():
            if place.name in OTHERS and place.is_dir():
                unused.append(f"{place.name} ({OTHERS[place.name]})")
            elif not (
                is_beside(place) or place.suffix == ".md" or place.name.startswith((".", "MANIFEST", "expected_"))
            ):
                unused.append(printable(place.name))
            continue
        for path in list_given(place):
            name = _pair_of(path)
            here = called.get(name, "")
            pair = parse_pair(here)
            if pair is None or path.name.startswith("."):
                unused.append(f"{place.name}/{printable(path.name)}")
                continue
            meta = Meta(source_language=pair.source_code, target_language=pair.target_code)
            paths = found.setdefault(here, CampaignPaths(here, meta, lines_of_pairs=True))
            if name not in (here, *paths.spelt):
                paths.spelt.append(name)
            _sort(paths, place.name, path, name)
    for paths in found.values():
        labels = {label for label, _ in paths.references}
        humans = [name for name, _ in paths.systems if name in labels]
        paths.systems = [(name, path) for name, path in paths.systems if name not in labels]
        if humans:
            paths.unused.append(f"system-outputs/{paths.name}/{listed(humans)}, which are references")
    first = next(iter(found.values()), None)
    if first is not None:
        first.unused += unused
    return [found[name] for name in sorted(found)]


def _names_of_pairs(folder: Path) -> dict[str, str]:
    """How a pair is called, by how its files spell it: people name outputs in other ways than the source.

    What stands side by side in one place under two names is two pairs.
    """
    called: dict[str, str] = {}
    for place in (folder / each for each in FOLDERS):
        there = dict.fromkeys(map(_pair_of, list_given(place) if place.is_dir() else ()))
        known = list(dict.fromkeys(called.values()))
        new = {}
        for name in there:
            if parse_pair(name) is None:
                continue
            meant = called.get(name) or (pair_called(name, known, str(place)) if fitting_pairs(name, known) else name)
            new[name] = name if meant in there else meant
        for meant in dict.fromkeys(new.values()):
            spelt = [name for name, its in new.items() if its == meant]
            if len(spelt) > 1:
                raise NoSuchPair(f"{place}: {listed(spelt)} may each be {meant}. Name one of them as it is there.")
        called |= new
    return called


def _sort(paths: CampaignPaths, place: str, path: Path, pair: str) -> None:
    if place == "system-outputs" and path.is_dir():
        files = [file for file in list_given(path) if not (file.name.startswith(".") or file.is_dir())]
        paths.systems += [(normalized("NFC", _stem(file.name)), file) for file in files]
    elif place == "references":
        paths.references.append((normalized("NFC", _stem(path.name)[len(pair) + 1 :]) or "ref", path))
    elif place == "sources":
        # `.jsonl` is there for those that have no plain text.
        paths.sources = (
            [path, *paths.sources][:1] if _unpacked(path.name).endswith(".txt") else [*paths.sources, path][:1]
        )
    elif place == "documents" and _unpacked(path.name).endswith(".docs"):
        paths.documents = path
    else:
        paths.unused.append(f"{place}/{printable(path.name)}")


def _pair_of(path: Path) -> str:
    """The pair that a file or a folder is named after, as it is written."""
    name = path.name if path.is_dir() else _stem(path.name)
    return name.partition(".")[0]


def _unpacked(name: str) -> str:
    return name.removesuffix(".gz")


def _stem(name: str) -> str:
    """Without the last ending: names of systems have points."""
    return _unpacked(name).rpartition(".")[0] or name


def read_objects(text: Text, role: str) -> Text:
    """The text in `.jsonl` without ids: one object a segment, in their order.

    Parameters
    ----------
    text : Text
        Its lines.
    role : str
        "source", "references" or "systems".

    Returns
    -------
    Text
        White space in a segment, line ends too, is one blank.

    Raises
    ------
    BadText
        Naming the line.
    """
    lines, fields = [], FIELDS[role]
    for number, line in enumerate(text.lines(), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadText(f"{text.name}, line {number}: is not JSON ({str(error)[:100]}).") from error
        value = next((row[field] for field in fields if field in row), None) if isinstance(row, dict) else None
        if not isinstance(value, str):
            raise BadText(f"{text.name}, line {number}: has no text under {' or '.join(fields)}.")
        try:
            lines.append(b" ".join(value.encode().split()))
        except UnicodeEncodeError as error:
            raise BadText(f"{text.name}, line {number}: holds half a character (a lone surrogate).") from error
    return Text(text.name, b"\n".join(lines), len(lines), notices=text.notices)


def without_canary(texts: Mapping[Path, Text]) -> tuple[dict[Path, Text], str]:
    """Texts without their first line, where that is the same canary in all.

    Parameters
    ----------
    texts : mapping of Path to Text

    Returns
    -------
    texts : dict of Path to Text
    notice : str
        What was left out; "" for nothing.

    Raises
    ------
    BadCampaign
        Where some texts begin with a canary and others do not: their lines do not belong together.
    """
    begin = {path: text.bytes[: len(CANARY)] == CANARY for path, text in texts.items()}
    if not any(begin.values()):
        return dict(texts), ""
    if not all(begin.values()):
        missing = [printable(str(path)) for path, has in begin.items() if not has]
        raise BadCampaign(f"{listed(missing)}: does not begin with the canary line that the other files have.")
    shorter = {
        path: Text(text.name, text.bytes.partition(b"\n")[2], text.segments - 1, notices=text.notices)
        for path, text in texts.items()
    }
    return shorter, f"The first line of {number_of(len(texts), 'file')}, a canary, is left out."


def read_docs(table: Text, segments: int) -> tuple[tuple[SegmentDocument, ...], tuple[str, ...]]:
    """Read `PAIR.docs`: domain and document of each line.

    Parameters
    ----------
    table : Text
    segments : int
        Of the test set.

    Returns
    -------
    documents : tuple of SegmentDocument
        Of each segment.
    notices : tuple of str

    Raises
    ------
    BadCampaign
        Naming the line.
    """
    path, lines = table.name, table.lines()
    if lines and lines[0].split() == [b"canary", b"canary"]:
        lines = lines[1:]
    skipped = table.segments - len(lines)
    if len(lines) != segments:
        raise BadCampaign(
            f"{path}: names the documents of {number_of(len(lines), 'segment')}, and there are {segments:,}. Give a "
            "line for each: domain, tab, document."
        )
    documents: list[SegmentDocument] = []
    domains: dict[str, str] = {}
    for number, line in enumerate(lines, 1 + skipped):
        words = line.decode().split("\t") if b"\t" in line else line.decode().split()
        if len(words) != 2 or not words[1]:
            raise BadCampaign(f"{path}, line {number}: must be a domain, a tab and the name of a document.")
        domain, name = words
        suite = name if domain == NO_DOMAIN else ""
        if domains.setdefault(name, domain) != domain:
            raise BadCampaign(
                f"{path}, line {number}: document {name!r} has domain {domain!r}, but {domains[name]!r} before. A "
                "document has one domain."
            )
        documents.append(SegmentDocument(name, "" if suite else domain, suite))
    return tuple(documents), (*table.notices, *split_documents(path, documents, "line", 1 + skipped))


def needs_objects(path: Path) -> bool:
    """Whether a file has an object on each line.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    return _unpacked(path.name).endswith(".jsonl")
