"""Names that people would take for one another: letters of other scripts, and digits, that look like Latin ones.

A short form of the skeletons of Unicode's TR39, with the letters that a Latin name can be imitated by.
"""

from __future__ import annotations

from metrics.text.names import folded
from metrics.text.normalization import normalized

_LETTERS = str.maketrans(
    {
        strange: plain
        for strangers, looks in (
            ("АВЕЅІЈКМНОРСТУХҮԌԚԜ", "ABESIJKMHOPCTYXYGQW"),  # Cyrillic
            ("аеорсухіјѕԁһԛԝӏѵктмпгҝ", "aeopcyxijsdhqwlvktmnrk"),
            ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"),  # Greek
            ("ανορτυχικεϲϳη", "avoptuxikecjn"),
            ("օսոհԼՕՍ", "ounhLOU"),  # Armenian
            ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ"),  # Cherokee
            ("ıɩɡɑʟ", "iigal"),  # Latin of phonetics and of Turkish
        )
        for strange, plain in zip(strangers, looks, strict=True)
    }
)
_STROKES = str.maketrans("0O1I", "ooll")
_TOGETHER = (("rn", "m"), ("vv", "w"))


def in_latin(name: str) -> str:
    """A name in the Latin letters that its own look like, without differences of case."""
    return folded(normalized("NFKC", name).translate(_LETTERS))


def look_of(name: str) -> str:
    """Equal for names that look alike, beside those that are equal when they are folded."""
    look = folded(normalized("NFKC", name).translate(_LETTERS).translate(_STROKES))
    for letters, seen in _TOGETHER:
        look = look.replace(letters, seen)
    return look
