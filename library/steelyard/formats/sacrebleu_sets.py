"""Test sets where sacreBLEU keeps them: plain texts in its cache folder, which only sacreBLEU itself fills."""

from __future__ import annotations

import os
import re
import shutil
import weakref
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.plain import Text, read_lines
from steelyard.text.limits import DEFAULT_LIMITS, TextLimits
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VARIABLE = "SACREBLEU"
"""Of the environment: another folder than `~/.sacrebleu`."""
REFERENCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "wmt24": {"": ("ref-refA",)},
    "wmt23": {"": ("ref-refA",), "en-he": ("ref-refB",), "he-en": ("ref-refB",)},
    "wmt22": {"": ("ref-A",), "cs-en": ("ref-B",), "en-cs": ("ref-B",), "liv-en": ("ref",), "ru-sah": ("ref",)},
    "wmt21/systems": {"": ("ref-A",)},
    "wmt21": {"": ("ref-A",)},
    "wmt21/B": {"": ("ref-B",)},
    "wmt21/AB": {"": ("ref-A", "ref-B")},
    "wmt21/C": {"": ("ref-C",)},
    "wmt21/AC": {"": ("ref-A", "ref-C")},
    "wmt21/D": {"": ("ref-D",)},
    "wmt21/dev": {"": ("ref-A", "ref")},
}
"""Which of several references sacreBLEU 2.6 scores against: by pair, "" for all others. Of other test sets all."""
MARKS = 2
"""Points in the name of a file: TEST-SET.PAIR.FIELD."""
_PAIR = re.compile(r"[A-Za-z]{2,3}(?:_[A-Za-z]{2,4})*-[A-Za-z]{2,3}(?:_[A-Za-z]{2,4})*")


@dataclass(frozen=True)
class CachedTestSet:
    """A test set in the cache."""

    name: str
    pair: str
    fields: Mapping[str, Path]
    """By the names that sacreBLEU gives them, in its order: src, ref, ref:A, docid, origlang, domain."""

    @property
    def references(self) -> list[Path]:
        """The references that sacreBLEU scores against."""
        known = REFERENCES.get(self.name, {})
        wanted = known.get(self.pair, known.get("", ()))
        fields = [each.replace("ref-", "ref:", 1) for each in wanted]
        names = [each for each in fields if each in self.fields] if fields else _references(self.fields)
        return [self.fields[each] for each in names]

    def text(self, field: str, limits: TextLimits = DEFAULT_LIMITS) -> Text:
        """The lines of a field; `ref` is the first reference where there is none of that very name, as in sacreBLEU.

        Parameters
        ----------
        field : str
        limits : TextLimits, optional

        Returns
        -------
        Text

        Raises
        ------
        BadText
            For a field that is not there.
        """
        if field == "ref" and "ref" not in self.fields:
            field = min(_references(self.fields), default=field)
        if field not in self.fields:
            raise BadText(
                f"{self.name}/{self.pair} has no field {printable(field)}. It has {listed([*self.fields], 40)}."
            )
        return read_lines(self.fields[field], limits=limits)

    def kept(self, origlang: str | None, subset: str | None) -> list[bool] | None:
        """Which segments `--origlang` and `--subset` keep; None for all.

        Parameters
        ----------
        origlang : str or None
            A language, or `non-` and a language.
        subset : str or None
            A regular expression to be found in the domain.

        Returns
        -------
        list of bool or None

        Raises
        ------
        BadText
            Where the test set does not say it of its segments.
        """
        if origlang is None and subset is None:
            return None
        kept = [True] * self.text("src").segments
        if origlang is not None:
            unwanted, language = origlang.startswith("non-"), origlang.removeprefix("non-").encode()
            kept = [(each == language) != unwanted for each in self.text("origlang").lines()]
        if subset is not None:
            try:
                pattern = re.compile(subset.removeprefix("country:").encode())
            except re.error as error:
                raise BadText(f"--subset {subset}: is no regular expression ({error}).") from error
            found = [pattern.search(each) is not None for each in self.text("domain").lines()]
            kept = [one and other for one, other in zip(kept, found, strict=True)]
        if not any(kept):
            raise BadText(f"{self.name}/{self.pair} has no such segments. Choose another --origlang or --subset.")
        return kept


def cache_folder() -> Path:
    """Where sacreBLEU keeps its test sets.

    Returns
    -------
    Path
    """
    return Path(os.environ.get(VARIABLE) or Path.home() / ".sacrebleu")


def cached_test_set(name: str, pair: str) -> CachedTestSet:
    """The files of a test set. Nothing is downloaded.

    Parameters
    ----------
    name : str
        As `sacrebleu -t` takes it: `wmt22`, `wmt21/B`.
    pair : str
        As `sacrebleu -l` takes it: `en-cs`.

    Returns
    -------
    CachedTestSet

    Raises
    ------
    BadText
        Where it is not in the cache, saying how to get it there.
    """
    if _PAIR.fullmatch(pair) is None:
        raise BadText(f"-l {printable(pair)}: is no language pair such as en-cs.")
    if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", name) is None or ".." in name:
        raise BadText(f"-t {printable(name)}: is no name of a test set such as wmt22. Give one test set.")
    folder = cache_folder() / name
    begin = f"{name.replace('/', '_')}.{pair}."
    found = {
        path.name.removeprefix(begin).replace("ref-", "ref:", 1): path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if path.is_file() and path.name.startswith(begin)
    }
    test_set = CachedTestSet(name, pair, {field: found[field] for field in sorted(found, key=_column)})
    if "src" not in found or not test_set.references:
        files = [path.name for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
        pairs = sorted({each.split(".")[-2] for each in files if each.count(".") >= MARKS})
        raise BadText(
            f"{folder} has no test set {name} of {pair}{f' (there: {listed(pairs, 40)})' if pairs else ''}. sacreBLEU "
            f"fills it: `sacrebleu -t {name} -l {pair} --echo src > /dev/null` downloads it once; nothing is "
            f"downloaded here. {VARIABLE} names another folder than ~/.sacrebleu."
        )
    return test_set


def joined_test_sets(names: str, pair: str) -> CachedTestSet:
    """One test set after the other, as sacreBLEU joins those that -t names with commas.

    Parameters
    ----------
    names : str
        `wmt21,wmt22`; a single one is that one.
    pair : str

    Returns
    -------
    CachedTestSet
        With the fields that all of them have, and reference i of each one after the other.

    Raises
    ------
    BadText
        As `cached_test_set`, and where they have different numbers of references.
    """
    sets = [cached_test_set(name, pair) for name in names.split(",")]
    if len(sets) == 1:
        return sets[0]
    counts = {each.name: len(each.references) for each in sets}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise BadText(f"-t {names}: the test sets have different numbers of references: {said}. Score each alone.")
    shared = [field for field in sets[0].fields if all(field in each.fields for each in sets)]
    parts = {field: [each.fields[field] for each in sets] for field in shared if not field.startswith("ref")}
    for number, references in enumerate(zip(*(each.references for each in sets), strict=True)):
        parts[f"ref:{number}" if number else "ref"] = list(references)
    place = Path(mkdtemp(prefix="steelyard-"))
    fields = {}
    for number, (field, paths) in enumerate(parts.items()):
        fields[field] = place / f"{number}.txt"
        fields[field].write_bytes(b"".join(_whole_lines(path) for path in paths))
    joined = CachedTestSet(names, pair, fields)
    # They stay as long as somebody may read them.
    weakref.finalize(joined, shutil.rmtree, place, ignore_errors=True)
    return joined


def _column(field: str) -> tuple[int, str]:
    """Where `sacrebleu --echo all` prints a field: outputs of systems stand before the domain."""
    known = {"src": 0, "docid": 2, "origlang": 3, "domain": 5}
    return (1 if field.startswith("ref") else known.get(field, 4)), field


def _whole_lines(path: Path) -> bytes:
    content = path.read_bytes()
    return content if content.endswith(b"\n") or not content else content + b"\n"


def _references(fields: Mapping[str, Path]) -> Sequence[str]:
    return [each for each in fields if each.startswith("ref")]
