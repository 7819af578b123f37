"""The word rules of tercom's Normalizer (Snover et al. 2006), as sacreBLEU's TER applies them.

They differ from 13a in one rule for Western languages, the English possessive, and leave `<skipped>` as it is.
"""

from __future__ import annotations

import re

from steelyard.kernels.text.tokenize_13a import tokenize_13a
from steelyard.tokenizers.rules import ASCII_PUNCTUATION, ENTITIES

# An 's is cut off in front of a blank, of punctuation that will be cut off itself, and of the end of the line. Other
# white space than the blank only counts at the end.
POSSESSIVE = rf"'s(?=[ {re.escape(ASCII_PUNCTUATION)}]|[^\S\n]*(?:\n|\Z))"

PUNCTUATION = '.,?:;!"()'
"""What punct=no takes away; hyphens, brackets and apostrophes stay."""

ASIAN_PUNCTUATION = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"
)
"""In the notation of a regular expression's set."""

# The last range ends at 3f22 where 32ff is meant; scores that others have published contain that. sacreBLEU has
# rules for runs of kana, too, but they ask for kana at the very start of a text that starts with a blank by then.
ASIAN_CHARACTERS = (
    "\u4e00-\u9fff\u3400-\u4dbf\u31c0-\u31ef\u2e80-\u2eff\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f\u3200-\u3f22"
)

ASIAN_TOKEN = f"[{ASIAN_CHARACTERS}{ASIAN_PUNCTUATION}]"
ASIAN_MARK = f"[{ASIAN_PUNCTUATION}]"
BLANKS = re.compile(r"[^\S\n]+")
WITHOUT_PUNCTUATION = str.maketrans(dict.fromkeys(PUNCTUATION))


def tercom_text(text: str, *, norm: bool, punct: bool, asian: bool) -> str:
    """The lines of a text with white space between tercom's tokens.

    Parameters
    ----------
    text : str
        Lowercased before, where case does not matter.
    norm : bool
        Entities are resolved, punctuation is cut off, and with `asian` every Chinese character and Asian punctuation
        mark is a token.
    punct : bool
        False takes punctuation away, with `asian` also the Asian marks.
    asian : bool

    Returns
    -------
    str
        As many lines as before.
    """
    if norm:
        for entity, character in ENTITIES:
            text = text.replace(entity.decode(), character.decode())
        text = re.sub(POSSESSIVE, " 's", text)
        text = tokenize_13a(text.encode()).decode()
        if asian:
            text = re.sub(ASIAN_TOKEN, r" \g<0> ", text)
    if not punct:
        text = text.translate(WITHOUT_PUNCTUATION)
        if asian:
            text = re.sub(ASIAN_MARK, "", text)
    return text


def reference_text(text: str, *, norm: bool, punct: bool, asian: bool) -> str:
    """As `tercom_text`, for a reference, which sacreBLEU prepares twice.

    The second time changes what the first one left: a possessive is cut off before the full stop that now stands alone,
    and `&amp;lt;` is an entity within an entity.

    Parameters
    ----------
    text : str
    norm : bool
    punct : bool
    asian : bool

    Returns
    -------
    str
    """
    once = tercom_text(text, norm=norm, punct=punct, asian=asian)
    return tercom_text(BLANKS.sub(" ", once), norm=norm, punct=punct, asian=asian) if norm else once
