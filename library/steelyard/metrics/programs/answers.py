"""What a program is asked, and what it may answer: a JSON object on a line for each segment."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from steelyard.metrics.preparation.score_store import Scored
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.content_scores import Content
    from steelyard.metrics.programs.registration import RegisteredProgram

LARGEST_SCORE = 1e6
"""In either direction, so that sums of any number of segments are exact."""
LONGEST_LINE = 1 << 20
"""Bytes."""
LONGEST_BESIDE = 4000
"""Characters of what is kept beside a score, as JSON."""


class Nonsense(Exception):
    """A program said what cannot be; the message is the rest of a sentence about it."""


class Answers:
    """The answers to a batch, checked as they come.

    Parameters
    ----------
    first : int
        The id of the first segment; the others follow.
    amount : int

    Attributes
    ----------
    scored : dict of int to Scored
        By place in the batch.
    """

    def __init__(self, first: int, amount: int) -> None:
        self.scored: dict[int, Scored] = {}
        self._first, self._amount = first, amount

    @property
    def complete(self) -> bool:
        """Whether every segment was answered."""
        return len(self.scored) == self._amount

    def question(self, contents: Sequence[Content], program: RegisteredProgram) -> bytes:
        """The batch as JSON lines: id, hypothesis, and of source and references what the program reads.

        A program that keeps running gets an empty line at the end of each batch.

        Parameters
        ----------
        contents : list of Content
        program : RegisteredProgram

        Returns
        -------
        bytes
        """
        lines = []
        for number, content in enumerate(contents, self._first):
            asked: dict[str, Any] = {"id": str(number), "hypothesis": content.hypothesis}
            if "source" in program.inputs:
                asked["source"] = content.source
            if "reference" in program.inputs:
                asked["references"] = content.references
            lines.append(json.dumps(asked, ensure_ascii=False).encode())
        return b"\n".join([*lines, b"", b""] if program.keeps_running else [*lines, b""])

    def take(self, line: bytes) -> None:
        """Take an answer.

        Parameters
        ----------
        line : bytes
            A JSON object with the segment's `id`, its `score`, a number or null, and whatever else. Empty lines are
            passed over.

        Raises
        ------
        Nonsense
            For anything else.
        """
        if not line.strip():
            return
        answer = _object(line)
        place = self._place(answer.pop("id", None))
        score = answer.pop("score", "missing")
        if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
            raise Nonsense(f"gave no number as the score of segment {place + 1} of its batch: {_shown(score)}.")
        if score is not None and not (abs(score) <= LARGEST_SCORE and math.isfinite(score)):
            raise Nonsense(f"gave {_shown(score)} as a score, which is not from -1,000,000 to 1,000,000.")
        beside = _written(answer) if answer else ""
        value = math.nan if score is None else float(score)
        self.scored[place] = Scored((value,), beside if len(beside) <= LONGEST_BESIDE else "")

    def _place(self, name: Any) -> int:
        """The segment that an id is of. Raises Nonsense."""
        # Numbers are taken, too: programs that read ids as numbers write them as such.
        text = str(name) if isinstance(name, (str, int)) and not isinstance(name, bool) else ""
        place = int(text) - self._first if text.isascii() and text.isdigit() and len(text) < 19 else -1
        if str(place + self._first) != text or place >= self._amount:
            raise Nonsense(f"answered a segment that it was not asked for: id {_shown(name)}.")
        if place < 0 or place in self.scored:
            raise Nonsense(f"answered the segment with id {text} twice.")
        return place


def _object(line: bytes) -> dict[str, Any]:
    def refused(constant: str) -> float:
        raise Nonsense(f"wrote {constant}, which is not a number of JSON.")

    if len(line) > LONGEST_LINE:
        raise Nonsense(f"wrote a line of more than {LONGEST_LINE:,} bytes.")
    try:
        found = json.loads(line, parse_constant=refused)
    except (ValueError, RecursionError) as error:
        shown = printable(line[:100].decode("utf-8", "replace"))
        raise Nonsense(f"wrote a line that is not JSON: {shown}") from error
    if not isinstance(found, dict):
        raise Nonsense(f"wrote a line that is not a JSON object: {_shown(found)}.")
    return found


def _written(answer: dict[str, Any]) -> str:
    """As JSON that can be stored: half a character (a lone surrogate) stays the escape that it came as."""
    written = json.dumps(answer, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.dumps(answer)
    return written


def _shown(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False)[:100])
