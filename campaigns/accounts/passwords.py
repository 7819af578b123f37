"""Passwords: what is refused, and how they are stored: by argon2, with its library's defaults of the day."""

from __future__ import annotations

import re
import threading
from functools import cache
from itertools import pairwise

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from campaigns.errors import BadRequest, Unavailable
from metrics.text.normalization import normalized

SHORTEST, LONGEST = 10, 200

AT_ONCE = 4
"""Passwords that are hashed at the same time: each takes 64 MiB for a moment, and anybody may ask for one."""
WAIT_SECONDS = 10.0

COMMON = frozenset(
    """
    abc abcd abcdef abcdefg abcdefgh abcdefghij admin administrator asdf asdfgh asdfghjkl azerty azertyuiop baseball
    bleu changeit changeme computer default dragon evaluation football freedom geheim guest heslo hello hunter iloveyou
    internet jmeno kennwort lemmein letmein login machinetranslation master metallica michael monkey motdepasse mustang
    nothing ourpassword pass passphrase passw passwd password passwords passwort princess pword qazwsx qazwsxedc qwe
    qwert qwerty qwertyui qwertyuiop qwertz qwertzuiop samsung secret secretpassword shadow starwars steelyard summer
    sunshine superman system test tester testing thisispassword topsecret translation trustno unknown user welcome
    whatever winter yourpassword yxcvbnm zaq zxcvbn zxcvbnm
    """.split()  # noqa: SIM905 - a list of a hundred strings reads worse
)
"""What is tried first, without the digits and signs that people put around it."""
_LETTERS = str.maketrans("014357@$!", "oiaestasi")
"""How people write letters to outwit a rule."""
_AROUND = re.compile(r"\A[\W\d_]++|(?<![\W\d_])[\W\d_]++\Z")

_hasher = PasswordHasher()
_gate = threading.BoundedSemaphore(AT_ONCE)


def check_password(password: str, *, email: str = "", name: str = "") -> None:
    """Raises BadRequest for a password that is too short, too long, or among the first that anybody tries."""
    if len(password) < SHORTEST:
        raise BadRequest(f"The password has {len(password)} characters; it needs {SHORTEST} at least.")
    if len(password) > LONGEST:
        raise BadRequest(f"The password has {len(password)} characters; {LONGEST} are the most.")
    folded = _prepared(password).casefold()
    if len(set(folded)) < 5 or _is_run(folded):
        raise BadRequest("The password is too easy to guess: it has few characters again and again, or a row of them.")
    own = {_bare(email), _bare(email.partition("@")[0]), _bare(name)} - {""}
    inside = _AROUND.sub("", folded)
    for core in (_bare(folded), _bare(inside.translate(_LETTERS))):
        if core in COMMON or _half(core) in COMMON:
            raise BadRequest("The password is one of those that are tried first. Take another one.")
        if core in own or _half(core) in own:
            raise BadRequest("The password is your name or your address. Take another one.")


def hashed(password: str) -> str:
    """What is stored of a password. It takes a tenth of a second: never call it within a transaction."""
    with _Turn():
        return _hasher.hash(_prepared(password))


def matches(password: str, stored: str | None) -> bool:
    """Whether it is the password. Without one (or without an account) it takes as long, and is never right."""
    if len(password) > LONGEST:
        # Nobody has one, and hashing what anybody sends would be work for free.
        password, stored = "", None
    with _Turn():
        try:
            return _hasher.verify(stored or _nobodys(), _prepared(password)) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether it was hashed with parameters that are not those of today."""
    return _hasher.check_needs_rehash(stored)


class _Turn:
    """One of the few places for hashing. Raises Unavailable where none gets free in time."""

    def __enter__(self) -> None:
        if not _gate.acquire(timeout=WAIT_SECONDS):
            raise Unavailable("Too many people sign in at this moment. Try again in a minute.")

    def __exit__(self, *_: object) -> None:
        _gate.release()


@cache
def _nobodys() -> str:
    return _hasher.hash("the password of nobody")


def _prepared(password: str) -> str:
    """The same bytes whatever keyboard it was typed on."""
    return normalized("NFKC", password)


def _bare(text: str) -> str:
    """Its letters alone, folded."""
    return "".join(each for each in text.casefold() if each.isalpha())


def _half(text: str) -> str:
    """What a text is that says the same twice; else the text."""
    middle = len(text) // 2
    return text[:middle] if text[:middle] == text[middle:] else text


def _is_run(text: str) -> bool:
    """Whether most characters follow the one before, as in 1234567890 and abcdefghij."""
    steps = [ord(after) - ord(before) for before, after in pairwise(text)]
    return max(steps.count(1), steps.count(-1), steps.count(0)) >= len(steps) - 2
