"""The table of library/steelyard/tokenizers/unicode_categories.py, as the package `regex` has it.

`python -m tests.library.tokenizers.unicode_categories` writes the file anew: `intl` then follows another version
of Unicode, which takes a new edition of the numbers.
"""

import textwrap
from pathlib import Path

import regex

from steelyard.tokenizers import unicode_categories

FILE = Path(unicode_categories.__file__)
ABOUT = '''"""Which characters are numbers, punctuation and symbols in Unicode 17.0, whatever Python itself knows.

Code points from-to, hexadecimal. `python -m tests.library.tokenizers.unicode_categories` writes this file.
"""
'''
NAMES = {"N": "NUMBERS", "P": "PUNCTUATION", "S": "SYMBOLS"}
NEW_IN_17 = "\u20c1"


def made() -> str:
    """The text of the module."""
    everything = "".join(map(chr, range(0x110000)))
    tables = []
    for category, name in NAMES.items():
        found = (each.span() for each in regex.finditer(rf"\p{{{category}}}+", everything))
        ranges = " ".join(f"{first:x}-{end - 1:x}" for first, end in found)
        tables.append(f'{name} = """\n' + "\n".join(textwrap.wrap(ranges, 118, break_on_hyphens=False)) + '\n"""\n')
    return "\n".join([ABOUT, *tables])


if __name__ == "__main__":
    FILE.write_text(made(), "utf-8")
