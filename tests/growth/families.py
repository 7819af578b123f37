"""Texts made to do harm, of any size. What only one format knows stands in `tests.growth.readers`."""

import random
from collections.abc import Callable

Family = Callable[[int], str]


def runs_of(piece: str) -> Family:
    """The piece again and again."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def numbered(piece: str) -> Family:
    """The piece with another number each time."""

    def make(size: int) -> str:
        parts, length = [], 0
        while length < size:
            parts.append(piece.format(len(parts)))
            length += len(parts[-1])
        return "".join(parts)[:size]

    return make


def drawn_from(letters: str) -> Family:
    """Letters in disorder, the same each time."""
    return lambda size: "".join(random.Random(size).choices(letters, k=size))


MARKS = "\u0301\u0323\u0338\u05b0\u3099\u1dce"
FAMILIES: dict[str, Family] = {
    "one letter": runs_of("a"),
    "one word": runs_of("ab "),
    "words, all different": numbered("w{} "),
    "words in disorder": drawn_from("ab cd ef "),
    "blanks": runs_of(" "),
    "blanks, then a letter": lambda size: "a" + " " * (size - 2) + "b",
    "tabs": runs_of("\t"),
    "no-break spaces": runs_of("\u00a0"),
    "blanks of all kinds": runs_of(" \t\u00a0\u2003\u3000\x85\u2028"),
    "line feeds": runs_of("\n"),
    "carriage returns": runs_of("\r"),
    "carriage returns and line feeds": runs_of("\r\r\n"),
    "lines, all different": numbered("{}\n"),
    "short lines": runs_of("a b\n"),
    "combining marks": runs_of("\u0301"),
    "combining marks in disorder": runs_of(MARKS),
    "marks that decompose": runs_of("\u0f73\u0344"),
    "letters with marks": runs_of("e\u0301\u0323"),
    "Korean letters, apart": runs_of("\u1112\u1161\u11ab"),
    "less-than signs": runs_of("<"),
    "openings of tags": runs_of("<a "),
    "openings of tags with a quotation mark": runs_of('<a b="'),
    "greater-than signs": runs_of(">"),
    "tags": runs_of("<b>"),
    "closing tags": runs_of("</b>"),
    "attributes": numbered(' a{}="1"'),
    "comments": runs_of("<!--"),
    "instructions": runs_of("<?"),
    "quotation marks": runs_of('"'),
    "apostrophes": runs_of("'"),
    "possessives": runs_of("'s\t"),
    "guillemets": runs_of("‹"),
    "opening brackets": runs_of("(["),
    "closing brackets": runs_of("])"),
    "objects of JSON": runs_of('{"a":'),
    "arrays of JSON": runs_of("["),
    "backslashes": runs_of("\\"),
    "entities": runs_of("&amp;"),
    "entities within entities": runs_of("&amp;amp;lt;"),
    "ampersands": runs_of("&"),
    "numeric entities": runs_of("&#x41;"),
    "skipped": runs_of("<skipped>"),
    "digits": runs_of("1"),
    "digits with separators": runs_of("1,2.3-"),
    "digits and blanks": runs_of("1 2 "),
    "separators": runs_of(".,-"),
    "hyphens": runs_of("-"),
    "hyphens and digits": runs_of("-1"),
    "underscores": runs_of("_"),
    "equals signs": runs_of("="),
    "number signs": runs_of("#"),
    "number signs and digits": runs_of("#1-1"),
    "addresses": runs_of("a://b:"),
    "capitals that grow": runs_of("İ"),
    "sigmas": runs_of("Σ"),
    "Chinese": runs_of("中文"),
    "alternating scripts": runs_of("aжα中あ한"),
    "joined emoji": runs_of("👩\u200d👧\u200d"),
    "direction marks": runs_of("\u202e\u2066"),
    "pieces of words": runs_of("@@ ▁##a"),
    "encoded twice": runs_of("Ã©â€™"),
    "replacement characters": runs_of("\ufffd"),
    "surrogates": runs_of("\ud800"),
    "control characters": runs_of("\x01\x1b"),
    "NUL": runs_of("\x00"),
    "byte-order marks": runs_of("\ufeff"),
}

ALWAYS = (
    "one letter",
    "words, all different",
    "blanks, then a letter",
    "lines, all different",
    "combining marks in disorder",
    "openings of tags",
    "attributes",
    "quotation marks",
    "digits with separators",
    "alternating scripts",
)
"""Families that everything is tried on."""
TURNS = 8
"""Of the others one of so many: what has several places or relatives meets all of them."""


def in_turn(number: int) -> list[str]:
    """The families for the subject of this number."""
    others = [family for family in FAMILIES if family not in ALWAYS]
    return [*ALWAYS, *others[number % TURNS :: TURNS]]
