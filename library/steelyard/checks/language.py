"""Identifies the language of an output from samples."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from steelyard.checks.finding import Finding, Severity, make_finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.checks.examined import AlignedOutput

SAMPLES = 40
"""Passages that are classified, evenly spread."""
PASSAGE = 400
"""Characters of a passage, from as many consecutive lines as needed."""
FEWEST, SHORTEST = 3, 60
"""Passages below which nothing is reported; `SHORTEST`: letters of a passage."""
SURE = 0.9
"""Minimum probability for a passage to count."""
MOSTLY, PARTLY = 0.6, 0.2
"""Shares of the passages in another language."""
ALIKE = (
    {"bs", "hr", "sr", "sh", "cnr"},
    {"da", "nb", "nn", "no"},
    {"id", "ms", "jv"},
    {"zh", "yue", "wuu"},
    {"gl", "pt"},
    {"hi", "mr", "ne", "sa"},
    {"ar", "ary", "arz"},
    {"fa", "ps", "ur", "sdh", "ku"},
    {"az", "tr", "tk"},
    {"uz", "uzs"},
    {"he", "hbo"},
    {"el", "grc"},
    {"lt", "ltg", "lv"},
    {"de", "lb"},
    {"be", "ru", "uk", "bg", "mk"},
)
"""Languages, or codes of one, that the classifier confuses."""


def find_language(examined: AlignedOutput) -> list[Finding]:
    """Check that the output is in the target language.

    Parameters
    ----------
    examined : AlignedOutput

    Returns
    -------
    list of Finding
        Empty where the language is unknown, the text too short, or the extra `langid` not installed.
    """
    target = _code(examined.target_language)
    if not target or not has_identifier() or not _known(target):
        return []
    passages = _passages(examined.lines)
    classified = [(place, language) for place, text in passages if (language := _language(text)) is not None]
    if len(classified) < FEWEST:
        return []
    source = _code(examined.source_language)
    counts = Counter(language for _, language in classified if not _same(language, target))
    for language, count in counts.most_common(1):
        share = count / len(classified)
        where = [int(examined.numbers[place]) for place, each in classified if each == language]
        called = f"{language}, the language of the source" if _same(language, source) else language
        if share >= MOSTLY:
            message = f"The output looks like {called}, not like {target}. Is it the right file?"
            return [Finding("language", Severity.WARNING, message)]
        if share >= PARTLY and len(where) >= FEWEST:
            message = (
                f"About {share:.0%} of the output looks like {called}, not like {target}. Is that part untranslated?"
            )
            return [make_finding("mixed_languages", Severity.WARNING, message, where)]
    return []


def has_identifier() -> bool:
    """Whether the package that identifies languages is installed.

    Returns
    -------
    bool
    """
    return find_spec("py3langid") is not None


def _passages(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the first line of each passage, and its text."""
    step = max(1, len(lines) / SAMPLES)
    found_passages = []
    for number in range(SAMPLES):
        begin, end = int(number * step), int((number + 1) * step)
        text, place = "", begin
        while place < min(end, len(lines)) and len(text) < PASSAGE:
            text += lines[place][:PASSAGE] + "\n"
            place += 1
        if sum(map(str.isalpha, text)) >= (SHORTEST if text.isascii() else SHORTEST // 3):
            found_passages.append((begin, text[:PASSAGE]))
    return found_passages


def _language(text: str) -> str | None:
    language, probability = _detector().classify(text)
    return str(language) if probability >= SURE and language != "zxx" else None


@cache
def _detector() -> Any:
    # Takes half a second and a hundred megabytes: loaded once, in processes that need it.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _known(code: str) -> bool:
    return code in _detector().labels or code in {"nb", "sh", "cnr"}


def _code(language: str) -> str:
    return language.replace("_", "-").split("-")[0].casefold()


def _same(one: str, other: str) -> bool:
    return one == other or any({one, other} <= group for group in ALIKE)
