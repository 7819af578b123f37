"""Which language an output is in, found from samples of it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from campaigns.checks.finding import Finding, Severity, found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.checks.examined import Examined

SAMPLES = 40
"""Passages that are looked at, evenly spread."""
PASSAGE = 400
"""Characters of a passage: consecutive lines together, as many as it takes."""
FEWEST, SHORTEST = 3, 60
"""Passages, and letters of a passage, below which nothing is said."""
SURE = 0.9
"""Probability from which on a passage counts."""
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
"""Languages, or names of one, that a detector takes for one another."""


def find_language(examined: Examined) -> list[Finding]:
    """Whether the output is in the target language; nothing where it is unknown, or too short to tell."""
    target = _code(examined.target_language)
    if not target or not _known(target):
        return []
    passages = _passages(examined.lines)
    told = [(place, language) for place, text in passages if (language := _language(text)) is not None]
    if len(told) < FEWEST:
        return []
    source = _code(examined.source_language)
    counts = Counter(language for _, language in told if not _same(language, target))
    for language, count in counts.most_common(1):
        share = count / len(told)
        where = [int(examined.numbers[place]) for place, each in told if each == language]
        called = f"{language}, the language of the source" if _same(language, source) else language
        if share >= MOSTLY:
            message = f"The output looks like {called}, not like {target}. Is it the right file?"
            return [Finding("language", Severity.WARNING, message)]
        if share >= PARTLY and len(where) >= FEWEST:
            message = (
                f"About {share:.0%} of the output looks like {called}, not like {target}. Is that part untranslated?"
            )
            return [found("mixed_languages", Severity.WARNING, message, where)]
    return []


def _passages(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Where each passage begins, and the passage."""
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
    # Takes half a second and a hundred megabytes: for processes that need it, once.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _known(code: str) -> bool:
    return code in _detector().labels or code in {"nb", "sh", "cnr"}


def _code(language: str) -> str:
    return language.replace("_", "-").split("-")[0].casefold()


def _same(one: str, other: str) -> bool:
    return one == other or any({one, other} <= group for group in ALIKE)
