"""Synonyms: from a word to the groups it belongs to, read from a group file, WordNet or a MyThes thesaurus.

Two words are synonyms where they share a group. That is not transitive: "shore" and "loan office" have nothing in
common, though each shares a group with "bank".
"""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from functools import lru_cache
from io import BufferedReader
from typing import TYPE_CHECKING

from steelyard.errors import MissingResource
from steelyard.formats.input.given_files import open_given, open_given_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDNET = ("index.noun", "index.verb", "index.adj", "index.adv")
"""The files of WordNet's dictionary folder that are read."""
OTHER_RELATIONS = (
    "generic term", "similar term", "related term", "antonym", "oberbegriff", "unterbegriff", "assoziation",
)  # fmt: skip
"""What a MyThes thesaurus says in brackets of words that are not synonyms but something near."""
_BRACKETS = re.compile(r"\(([^()]*)\)")


def synonym_groups(path: Path) -> dict[str, tuple[int, ...]]:
    """The groups of synonyms that each word is in; kept in memory for the next call.

    Parameters
    ----------
    path : Path
        A folder with WordNet's index files, a MyThes thesaurus (`*.dat`) or a text file with one group of words per
        line. Only single words are taken.

    Returns
    -------
    dict of str to tuple of int
        Numbers of groups, by word in lower case.

    Raises
    ------
    MissingResource
        With the line that cannot be read.
    """
    try:
        stat = path.stat()
        return _synonym_groups(path, stat.st_mtime_ns, stat.st_size)
    except UnicodeDecodeError as error:
        raise MissingResource(f"{path}: is not {error.encoding} ({error.reason}). Convert it.") from error
    except OSError as error:
        raise MissingResource(f"{path}: cannot be read ({error.strerror}). Check the path.") from error


@lru_cache(maxsize=4)
def _synonym_groups(path: Path, modified: int, size: int) -> dict[str, tuple[int, ...]]:  # noqa: ARG001 - read again
    groups: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(_groups_of(path)):
        for word in words:
            groups[word.lower()].append(number)
    # A word may stand twice in one line.
    return {word: tuple(sorted(set(numbers))) for word, numbers in groups.items()}


def _groups_of(path: Path) -> Iterator[list[str]]:
    if path.is_dir():
        return _wordnet(path)
    with open_given(path) as raw, BufferedReader(raw) as file:
        encoding, head = file.readline(100).strip(), file.readline(1000).strip()
    # A thesaurus begins with its encoding; then come entries `head|number of meanings`.
    if re.fullmatch(rb"[\w-]+", encoding) and re.fullmatch(rb"[^|]*\|\d+", head):
        return _mythes(path, encoding.decode("ascii", "replace"))
    return _group_file(path)


def _group_file(path: Path) -> Iterator[list[str]]:
    """One group per line, words separated by white space."""
    with open_given_text(path, "utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            words = [] if line.startswith("#") else line.split()
            for word in words:
                if len(word) > 1 and word[-1] in ",;|":
                    raise MissingResource(
                        f'{path}, line {number}: "{word}" ends with "{word[-1]}". Words of a group are separated by '
                        "white space alone."
                    )
            yield words


def _wordnet(folder: Path) -> Iterator[list[str]]:
    """WordNet's index files: `lemma pos synset_cnt p_cnt [pointers] sense_cnt tagsense_cnt offset...`."""
    synsets: dict[tuple[str, str], list[str]] = defaultdict(list)
    found = [folder / name for name in WORDNET if (folder / name).exists()]
    if not found:
        raise MissingResource(f"{folder}: has none of WordNet's index files ({', '.join(WORDNET)}).")
    for path in found:
        with open_given_text(path) as lines:
            for number, line in enumerate(lines, 1):
                if line.startswith("  "):  # the licence
                    continue
                fields = line.split()
                if len(fields) < 3 or not fields[2].isdigit() or int(fields[2]) > len(fields) - 4:
                    raise MissingResource(f"{path}, line {number}: is not a line of a WordNet index.")
                if "_" not in fields[0]:
                    for offset in fields[len(fields) - int(fields[2]) :]:
                        synsets[path.name, offset].append(fields[0])
    yield from synsets.values()


def _mythes(path: Path, encoding: str) -> Iterator[list[str]]:
    """Entries `head|k`, then k lines `part of speech|synonym|synonym...`: head and synonyms are a group."""
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise MissingResource(f'{path}, line 1: there is no encoding "{encoding}".') from error
    with open_given_text(path, encoding) as lines:
        next(lines)
        numbered = enumerate(lines, 2)
        for number, line in numbered:
            head, bar, meanings = line.strip().rpartition("|")
            if not line.strip():
                continue
            if not (bar and meanings.isdigit()):
                raise MissingResource(f'{path}, line {number}: an entry of a thesaurus begins "WORD|MEANINGS".')
            for _ in range(int(meanings)):
                _, meaning = next(numbered, (0, ""))
                _, _, synonyms = meaning.strip().partition("|")
                yield list(_single_words([head, *synonyms.split("|")]))


def _single_words(terms: list[str]) -> Iterator[str]:
    """Terms without the remarks in brackets, where that leaves one word and the remarks do not say it is no synonym."""
    for term in terms:
        remarks = _BRACKETS.findall(term.lower())
        if any(relation in remark for remark in remarks for relation in OTHER_RELATIONS):
            continue
        words = _BRACKETS.sub(" ", term).split()
        if len(words) == 1:
            yield words[0]
