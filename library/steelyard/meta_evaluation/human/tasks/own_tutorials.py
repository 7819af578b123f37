"""Reads tutorials that organisers wrote: JSON, a list of pages, each of translations and what to say of them."""

from __future__ import annotations

import json
from typing import Any

from steelyard.errors import BadTasks
from steelyard.formats.rows import is_whole
from steelyard.meta_evaluation.human.tasks.tutorial import MAJOR, MINOR, MISSING, Tutorial, TutorialItem
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

LARGEST_FILE = 1 << 20
"""Bytes."""
MOST_ITEMS = 50
"""Half of a batch of Appraise."""
LONGEST = 5000
"""Characters of a text or an explanation."""
FIELDS = ("source", "target", "explanation", "score", "errors", "marked")
NEEDED = FIELDS[:4]


def read_tutorial(content: bytes, name: str = "the tutorial") -> Tutorial:
    """Read a tutorial.

    Parameters
    ----------
    content : bytes
        JSON in UTF-8: a list of pages, each a list of objects with `source`, `target`, `explanation` and `score` (0 to
        100), and perhaps `errors`, a list of pairs of words of the target, or "missing", and "minor" or "major"; and
        `marked`, words that are marked as a minor error before, by mistake.
    name : str, optional
        What messages call it.

    Returns
    -------
    tuple of tuple of TutorialItem

    Raises
    ------
    BadTasks
        With all that is wrong, by page and item.
    """
    if len(content) > LARGEST_FILE:
        raise BadTasks(f"{name} has {len(content):,} bytes, and a tutorial at most {LARGEST_FILE:,}.")
    try:
        pages = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadTasks(f"{name} is not UTF-8. {_FORM}") from error
    except (ValueError, RecursionError) as error:
        raise BadTasks(f"{name} is not JSON ({str(error)[:100]}). {_FORM}") from error
    if not isinstance(pages, list) or not pages or not all(isinstance(page, list) and page for page in pages):
        raise BadTasks(f"{name} is no list of pages that have items. {_FORM}")
    if (count := sum(map(len, pages))) > MOST_ITEMS:
        raise BadTasks(f"{name} has {count} items, and a tutorial at most {MOST_ITEMS}.")
    problems: list[str] = []
    found = []
    for number, page in enumerate(pages, 1):
        read = []
        for place, item in enumerate(page, 1):
            faults = _faults(item)
            problems += [f"Page {number}, item {place}: {each}" for each in faults]
            if not faults:
                read.append(_item(item))
        found.append(tuple(read))
    if problems:
        raise BadTasks(f"{name}: {' '.join(problems[:20])}")
    return tuple(found)


_FORM = (
    'Write pages of items: [[{"source": "...", "target": "...", "explanation": "...", "score": 80, "errors": '
    '[["word", "minor"]]}]].'
)


def _faults(item: Any) -> list[str]:
    """What is wrong with an item, a sentence each."""
    if not isinstance(item, dict):
        return ["is no object."]
    found = [f"{name} is missing." for name in NEEDED if name not in item]
    strange = sorted(item.keys() - {*FIELDS})
    found += [f"there is no field {quoted(name[:50])}, but {listed(list(FIELDS))}." for name in strange]
    for name in ("source", "target", "explanation", "marked"):
        text = item.get(name, "")
        if not isinstance(text, str) or len(text) > LONGEST or not is_whole(text):
            found.append(f"{name} must be a text of at most {LONGEST:,} characters.")
        elif name in item and not text.strip():
            found.append(f"{name} is empty.")
    score = item.get("score", 0)
    if isinstance(score, bool) or not isinstance(score, int) or not 0 <= score <= 100:
        found.append("score must be a whole number from 0 to 100.")
    errors = item.get("errors", [])
    if not isinstance(errors, list) or not all(_is_error(each) for each in errors):
        found.append(f'errors must be a list of pairs, ["words", "{MINOR}"] or ["{MISSING}", "{MAJOR}"].')
    if found:
        return found
    words = [*(word for word, _ in errors if word != MISSING), *filter(None, [item.get("marked")])]
    for word in words:
        count = item["target"].count(word)
        if count != 1:
            where = "is not in the target" if not count else f"is {count} times in the target: name more words"
            found.append(f"{quoted(word[:50])} {where}.")
    if len({word for word, _ in errors}) < len(errors):
        found.append("an error is there twice.")
    return found


def _is_error(given: Any) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 2
        and all(isinstance(each, str) and each and is_whole(each) for each in given)
        and given[1] in (MINOR, MAJOR)
    )


def _item(item: dict[str, Any]) -> TutorialItem:
    return TutorialItem(
        item["source"].strip(), item["target"].strip(), item["explanation"].strip(), item["score"],
        tuple((word, how) for word, how in item.get("errors", ())), item.get("marked", ""),
    )  # fmt: skip
