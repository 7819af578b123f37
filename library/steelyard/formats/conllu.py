"""Reads CoNLL-U: one word per line, in ten columns with tabs between them; a blank line ends a sentence.

Source: universaldependencies.org/format.html. Read are ID, FORM and LEMMA. Ranges such as `1-2` (a token that
is several words) and empty nodes such as `1.1` are no words and are passed over.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.formats.input.contents import opened
from steelyard.formats.layers import NOTHING, one_item
from steelyard.formats.plain import read_lines
from steelyard.formats.sentences import SentenceIds, text_of_sentences
from steelyard.text.findings import Findings, place, quoted
from steelyard.text.limits import DEFAULT_LIMITS, OverLimit
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.formats.input.contents import Source
    from steelyard.formats.plain import Text, Utf8
    from steelyard.text.limits import TextLimits

COLUMNS = 10
_TELLING = ("sent_id", "text")
"""Comments by which a sentence counts."""
_WORD = re.compile(r"[0-9]{1,9}")
_NO_WORD = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9}|\.[0-9]{1,9})")


def read_conllu(source: Source, *, name: str | None = None, limits: TextLimits = DEFAULT_LIMITS) -> Text:
    """Read a file in CoNLL-U as a text of its forms with the layer `lemma`, one segment per sentence.

    A sentence of comments alone counts where it has a `sent_id` or `text`: its translation is empty.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it.
    limits : TextLimits

    Returns
    -------
    Text

    Raises
    ------
    BadText
        BadMarkup with all malformed lines; OverLimit, Unreadable, BadGzip, WrongFormat, NotUtf8.
    """
    contents = opened(source, name=name, limits=limits)
    # The bound on segments is one on sentences, not on lines.
    plain = read_lines(contents, limits=replace(limits, segments=limits.file_bytes + 1))
    findings = Findings(contents.name)
    sentences = _Sentences(findings, limits)
    for number, line in enumerate(_lines(plain.bytes), start=1):
        if number > limits.elements:
            raise OverLimit(
                f"{contents.name}: more than {limits.elements:,} lines. Split the file, or raise the limit on elements."
            )
        sentences.line(line.decode(), number)
    sentences.end()
    if not sentences.words and not findings.problem_count:
        findings.problem("has no sentences. Is it a file in CoNLL-U?")
    findings.raise_if_any()
    return text_of_sentences(contents.name, sentences.words, {"lemma": sentences.lemmas}, sentences.ids, limits)


def _lines(data: Utf8) -> Iterator[Utf8]:
    """One line after the other: a list of very many empty ones would need many times the memory of the file."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    yield data[start:]


class _Sentences:
    def __init__(self, findings: Findings, limits: TextLimits) -> None:
        self.words: list[bytes] = []
        self.lemmas: list[bytes] = []
        self.ids = SentenceIds("sentence", findings)
        self._findings = findings
        self._limits = limits
        self._blank = 0
        """Line of a blank line that ended no sentence."""
        self._begin()

    def _begin(self) -> None:
        self._first = 0
        self._id = ""
        self._there = False
        self._seen = 0
        """Words, those in malformed lines too."""
        self._forms: list[str] = []
        self._lemmas: list[str] = []

    def line(self, line: str, number: int) -> None:
        if not line:
            self.end(number)
            return
        if self._blank:
            self._findings.problem(
                "a blank line that ends no sentence. Remove it; a sentence without words has the comment `# text =`.",
                self._blank,
            )
            self._blank = 0
        self._first = self._first or number
        if line.startswith("#"):
            self._comment(line, number)
        else:
            self._there = True
            self._word(line.split("\t"), number)

    def end(self, number: int = 0) -> None:
        """The sentence is complete; so is the file where no line is given."""
        if self._there:
            if len(self.words) >= self._limits.segments:
                raise OverLimit(
                    f"{place(self._findings.name, self._first)}: more than {self._limits.segments:,} sentences. "
                    "Split the file, or raise the limit."
                )
            self.words.append(" ".join(self._forms).encode())
            self.lemmas.append(" ".join(self._lemmas).encode())
            self.ids.add(self._id, self._first)
        elif not self._first:
            # At the end of the file it does no harm.
            self._blank = self._blank or number
        self._begin()

    def _comment(self, line: str, number: int) -> None:
        key, equals, value = (part.strip() for part in line.removeprefix("#").partition("="))
        if not equals or key not in _TELLING:
            return
        self._there = True
        if key == "sent_id":
            if self._id:
                self._findings.problem(
                    f"a second sent_id, {quoted(value)}, after {quoted(self._id)}. Is a blank line missing?",
                    number,
                )
            self._id = value

    def _word(self, columns: Sequence[str], number: int) -> None:
        if len(columns) != COLUMNS:
            self._findings.problem(
                f"{number_of(len(columns), 'column')}, CoNLL-U has {COLUMNS}. Put one tab between two columns and a "
                "blank line between sentences.",
                number,
            )
            self._seen += 1
            return
        identity, form, lemma = columns[:3]
        if _NO_WORD.fullmatch(identity):
            return
        self._seen += 1
        if self._seen > self._limits.nodes:
            raise OverLimit(
                f"{place(self._findings.name, number)}: more than {self._limits.nodes:,} words in one sentence. "
                "Cut it, or raise the limit."
            )
        if not _WORD.fullmatch(identity) or int(identity) != self._seen:
            self._findings.problem(
                f"the id {quoted(identity)} where {self._seen} is expected. Number the words of each sentence from 1; "
                "is a blank line or a word missing?",
                number,
            )
            self._seen = int(identity) if _WORD.fullmatch(identity) else self._seen
        form = one_item(form)
        if not form:
            self._findings.problem(f"word {self._seen} has no form. Add it.", number)
            return
        self._forms.append(form)
        self._lemmas.append(one_item(lemma) or NOTHING)
