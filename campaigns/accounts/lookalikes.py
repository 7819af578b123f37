"""Confusable names: letters of other scripts, and digits, that look like Latin ones.

A subset of the skeletons of Unicode's TR39, with the letters that imitate a Latin name.
"""

from __future__ import annotations

from steelyard.text.names import folded
from steelyard.text.normalization import normalized

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
    """Return a name in the Latin letters that its characters look like, case-folded."""
    return folded(normalized("NFKC", name).translate(_LETTERS))


def confusable_key(name: str) -> str:
    """Return a key that is equal for names that look alike but are not equal when case-folded."""
    look = folded(normalized("NFKC", name).translate(_LETTERS).translate(_STROKES))
    for letters, seen in _TOGETHER:
        look = look.replace(letters, seen)
    return look
