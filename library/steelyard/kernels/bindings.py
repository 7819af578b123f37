"""What each kernel takes: one table, by which every call is checked before C sees it.

An entry is a list of parameters in the order of the C function's, `NAME: TYPE` each. Types are

- `DTYPE[AXIS, ...]`, an array of that shape, C-contiguous and aligned; an axis is an expression of other parameters, or
  `*` where any length will do. `out` before the name: it is written to. `DTYPE|DTYPE`: either. `DTYPE[...]?`: or None;
- `bytes[LENGTH]`, a text; `int`, `uint64` and `real`.

`NAME: TYPE = EXPRESSION` is not given by the caller but follows from what is. What else must hold stands behind
`where`. What numbers an array holds is for the callers to know: to look at all of them would cost as much as the work.
"""

from __future__ import annotations

import ctypes
import operator
import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from steelyard.errors import BadArray, TooLarge
from steelyard.kernels.loader import shared_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ROWS = """
    ids: int32[starts[-1]]; starts: int64[(references + systems) * segments + 1]; present: uint8[references, segments]
"""
PAIRS = f"""{ROWS}; types: int; references: int = present.shape[0]; systems: int; segments: int = present.shape[1]"""
OWN_WORDS = "starts[-1] - starts[references * segments]"
EACH = "values: float64[*]; count: int = len(values); out found: float64[count]"

TABLE = {
    "alignments": f"""{ROWS}; letters: uint32[letter_starts[-1]]; letter_starts: int64[types + 1]; types: int;
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1];
        out matched: int32[references, {OWN_WORDS}]; out distances: float64[references, {OWN_WORDS}]""",
    "bag_overlaps": f"{PAIRS}; out found: int64[references, systems, segments]",
    "bleu_scores": """sums: float64[rows, 2 + 2 * orders]; rows: int = sums.shape[0]; orders: int = len(lengths);
        lengths: int64[*]; smoothing: int; value: real; effective: int;
        out scores: float64[rows]; out penalties: float64[rows]; out precisions: float64[rows, orders]""",
    "bootstrap_pairs": """scores: float64[systems]; replicates: float64[*, *]; systems: int = replicates.shape[0];
        drawn: int = replicates.shape[1]; pairs: int64[*, 2]; count: int = len(pairs); out counts: int64[count]""",
    "calibrate_drawn": """segment: int32[*]; upwards: uint8[steps]; last: uint8[steps]; steps: int = len(segment);
        worth: int64[*, 64]; number: int; out sums: int64[64]; out best: int64[64]; out at: int64[64]""",
    "character_ngrams": """text: bytes[size]; size: int = len(text); present: uint8[references, segments];
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1]; orders: int;
        white_space: int; out lengths: int64[(references + systems) * segments];
        out shared: uint32[references, systems, segments, orders]; where 0 < orders <= 64""",
    "character_rates": f"""{ROWS}; letters: int32[letter_starts[-1]]; letter_starts: int64[types + 1]; types: int;
        alphabet: int; references: int = present.shape[0]; systems: int; segments: int = present.shape[1];
        out rates: float64[systems, segments]""",
    "chrf_scores": """sums: float64[rows, 3 * orders]; rows: int = sums.shape[0]; orders: int = sums.shape[1] // 3;
        beta_squared: real; effective: int; out scores: float64[rows]""",
    "chrf_statistics": """character_lengths: int64[(references + systems) * segments]?;
        characters: uint32[references, systems, segments, character_orders]?;
        word_lengths: int64[(references + systems) * segments]?;
        words: uint32[references, systems, segments, word_orders]?; present: uint8[references, segments];
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1];
        character_orders: int = 0 if characters is None else characters.shape[-1];
        word_orders: int = 0 if words is None else words.shape[-1]; beta_squared: real; effective: int;
        out statistics: float64[systems, segments, 3 * (character_orders + word_orders)];
        where character_orders <= 64 and word_orders <= 64
        and (characters is None) == (character_lengths is None) and (words is None) == (word_lengths is None)""",
    "nfc_surely": "text: bytes[size]; size: int = len(text)",
    "count_discordant": """first: int32[*]; out second: int32[count]; out room: int32[count]; count: int = len(first);
        out counts: int64[4]""",
    "count_pairs": """human: float64[*, *]; metric: float64[systems, segments]; systems: int = human.shape[0];
        segments: int = human.shape[1]; more_than: real; out counts: int32[5, segments]""",
    "cut_marks": "lines: bytes[size]; size: int = len(lines); out cut: uint8[2 * size]",
    "edit_distances": f"{PAIRS}; out found: int64[references, systems, segments]",
    "exchanged_calibration": """human: float64[*, *]; first: float64[systems, segments];
        second: float64[systems, segments]; systems: int = human.shape[0]; segments: int = human.shape[1];
        order: int64[segments]; share: int64[segments]; swapped: uint64[*, systems * segments];
        words: int = len(swapped); out sums: int64[2, words, 64]; out best: int64[2, words, 64];
        where systems * segments < 2**30""",
    "exchanged_half_wins": """whole: float64[*, *, *]; moved: float64[metrics, rows, permutations, 16];
        metrics: int = whole.shape[0]; rows: int = whole.shape[1]; permutations: int = whole.shape[2];
        compared: int64[*, 2]; comparisons: int = len(compared); left: int64[*]; right: int64[pairs];
        pairs: int = len(left); out counts: int32[2, comparisons, pairs, 16]""",
    "exchanged_sums": """scores: float64[*, *, *]; metrics: int = scores.shape[0]; rows: int = scores.shape[1];
        segments: int = scores.shape[2]; swapped: uint8[rows, segments, 16];
        turned: uint8[3 * ((segments + 17) // 18), *]; permutations: int = turned.shape[1];
        out sums: float64[metrics, rows, permutations, 16]""",
    "exp_of_each": EACH,
    "find_words": """wanted: bytes[len(wanted)]; count: int; vocabulary: uint8[starts[-1]]; starts: int64[size + 1];
        size: int = len(starts) - 1; out places: int32[count];
        where wanted.count(b"\\n") >= count and starts[0] == 0""",
    "gtm_runs": f"""{PAIRS}; powers: float64[*]; out totals: float64[systems, segments];
        out rests: int64[systems, segments]; out taken: int32[{OWN_WORDS}, 3]?; out counts: int64[systems, segments]""",
    "lebleu_statistics": f"""{ROWS}; letters: int32[letter_starts[-1]]; letter_starts: int64[*]; alphabet: int;
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1]; order: int;
        threshold: real; out statistics: float64[systems, segments, 2 * order + 2]; where 1 <= order <= 8""",
    "log2_of_each": EACH,
    "log_of_each": EACH,
    "lowercase": """text: bytes[size]; size: int = len(text); small: uint32[*]; limit: int = len(small);
        out found: uint8[size + size // 2 + 16]""",
    "meteor": f"""starts: int64[(references + systems) * segments + 1]; present: uint8[references, segments];
        keys: int32[modules, starts[-1]]; modules: int = len(keys); grouped: int; set_starts: int64[*];
        groups: int32[set_starts[-1]]; limit: int; entries: int; references: int = present.shape[0]; systems: int;
        segments: int = present.shape[1]; steps: int; out counts: int64[references, systems, segments, modules + 2];
        out partners: int32[references, {OWN_WORDS}]; where -1 <= grouped < modules""",
    "ngram_counts": """words: int32[starts[-1]]; starts: int64[rows + 1]; rows: int = len(starts) - 1; types: int;
        deepest: int; repeated: int; out children: uint32[deepest, starts[-1]]; out last: uint32[deepest, starts[-1]];
        out counts: uint32[deepest, starts[-1]]; out sizes: int64[deepest];
        where 1 <= deepest <= 255 and starts[0] == 0""",
    "ngram_information": """ids: int32[starts[-1]]; types: int; starts: int64[(references + systems) * segments + 1];
        present: uint8[references, segments]; references: int = present.shape[0]; systems: int;
        segments: int = present.shape[1]; known: int32[*]; first_child: int64[len(words) + 1]; words: int32|uint32[*];
        information: float64[len(words)]; orders: int64[*]; chosen: int = len(orders);
        out found: float64[systems, segments, chosen]; where ascend(orders)""",
    "ngram_statistics": """ids: int32[starts[-1]]; types: int; starts: int64[(references + systems) * segments + 1];
        present: uint8[references, segments]; references: int = present.shape[0]; systems: int;
        segments: int = present.shape[1]; orders: int64[*]; chosen: int = len(orders);
        out statistics: float64[systems, segments, 2 + 2 * chosen]; where ascend(orders)""",
    "ngram_weights": """children: uint32[*]; counts: uint32[nodes]; types: int; nodes: int = len(children); total: int;
        out first_child: int64[nodes + 1]; out bits: float64[nodes]; where 0 <= types <= nodes""",
    "power_of_each": """values: float64[*]; exponent: real; count: int = len(values); out found: float64[count]""",
    "rank_sums": """human: float64[systems, segments]; metric: float64[systems, segments];
        systems: int = human.shape[0]; segments: int = human.shape[1]; out room: int32[2, systems, segments];
        out sums: int64[3, segments]""",
    "resampling_counts": """segments: int; draws: int; seed: uint64; replicates: int = counts.shape[0]; first: int;
        last: int; bounds: uint64[*]; rows: int64[*, 258];
        out counts: uint8|uint16[replicates, min(last * 256, segments) - first * 256]; bytes: int = counts.itemsize;
        where 0 <= draws < 2**32 and len(rows) >= draws.bit_length() - 12""",
    "similarities": f"""{ROWS}; rows: int32[types]; vectors: float32[*, *]; size: int = vectors.shape[1]; types: int;
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1]; deepest: int;
        out best: int64[deepest, {OWN_WORDS}]; out distances: int64[2, references, systems, segments]""",
    "tokenize_13a": "text: bytes[size]; size: int = len(text); out found: uint8[2 * size]",
    "tokenize_by_class": """text: bytes[size]; size: int = len(text); kinds: uint8[0x110000]; rules: int;
        out found: uint8[3 * size + 2]""",
    "ter_least_edits": f"{PAIRS}; out edits: int64[systems, segments]",
    "validate_utf8": "text: bytes[size]; size: int = len(text); out found: int64[2]",
    "weighted_ngrams": f"""{ROWS}; corrected: int32[references, {OWN_WORDS}]; weights: int64[references, {OWN_WORDS}];
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1]; orders: int64[*];
        chosen: int = len(orders); out credit: int64[systems, segments, chosen]; where ascend(orders)""",
    "word_ngrams": """ids: int32[starts[-1]]; starts: int64[(references + systems) * segments + 1];
        pieces: int32[piece_starts[-1]]; piece_starts: int64[*]; present: uint8[references, segments]; types: int;
        references: int = present.shape[0]; systems: int; segments: int = present.shape[1]; orders: int;
        out lengths: int64[(references + systems) * segments];
        out shared: uint32[references, systems, segments, orders]; where 0 < orders <= 64""",
    "words": """text: bytes[size]; size: int = len(text); rows: int; mteval_13a: int; out ids: int32[size + 1];
        out starts: int64[rows + 1]; out lines: uint8[2 * size + 1]; out used: int64[1]; where rows > 0""",
}
"""By the name of the C function, less its prefix `steelyard_`."""


class Status(IntEnum):
    """What kernels return where they cannot go on, as in include/kernel.h; the first two become exceptions here."""

    OUT_OF_MEMORY = -1
    TOO_MANY_WORDS = -2
    BAD_TEXT = -3
    COUNT_TOO_LARGE = -4
    BEYOND_TABLE = -5
    DEPENDS_ON_CONTEXT = -6


_FORM = re.compile(r"(out )?(\w+): ([\w|]+)(?:\[(.*)\](\?)?)?(?: = (.+))?", re.DOTALL)
_NUMBERS = {
    "int": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "real": ctypes.c_double,
}
_BUFFER = ctypes.c_char * 0
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    name: str
    kind: str
    axes: str | None
    """Expressions, separated by commas; None for a single number."""
    written: bool
    optional: bool
    follows: str | None
    """The expression that it is made by, where the caller does not give it."""

    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]:
        """Those that an array may have."""
        return tuple(np.dtype(each) for each in self.kind.split("|"))

    @property
    def ctype(self) -> Any:
        """What C takes: a number, or where an array or a text begins."""
        return ctypes.c_void_p if self.axes else _NUMBERS[self.kind]

    @property
    def needs(self) -> int:
        """The flags that an array must have."""
        return _C_CONTIGUOUS | _ALIGNED | (_WRITEABLE if self.written else 0)

    @property
    def shape(self) -> str:
        """The expression for what an array's shape must be."""
        axes = (self.axes or "").split(", ")
        return f"({', '.join(f'{self.name}.shape[{k}]' if each == '*' else each for k, each in enumerate(axes))},)"


class Kernel:
    """A C function that checks what it is given.

    Parameters
    ----------
    name : str
    """

    def __init__(self, name: str) -> None:
        self.name = name
        declared, _, self.where = " ".join(TABLE[name].split()).partition("; where ")
        self.parameters = [_parameter(each.strip()) for each in declared.split(";")]
        self.given = [each.name for each in self.parameters if each.follows is None]
        self._arguments = _checker(self.given, self.parameters, self.where)
        self._function = shared_library()[f"steelyard_{name}"]
        self._function.argtypes = [each.ctype for each in self.parameters]
        self._function.restype = ctypes.c_int64

    def __call__(self, *given: Any) -> int:
        """What the C function returns; `given` are the arguments that the table does not derive from others.

        The interpreter lock is free during the call, so that kernels may run in threads. Raises BadArray before
        anything is read or written; MemoryError; TooLarge.
        """
        try:
            arguments = self._arguments(*given)
        except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
            raise BadArray(f"The kernel {self.name} cannot take these arguments: {error}.") from error
        result: int = self._function(*arguments)
        if result == Status.OUT_OF_MEMORY:
            raise MemoryError("a kernel could not allocate its tables: use smaller shards or more memory")
        if result == Status.TOO_MANY_WORDS:
            raise TooLarge(
                f"A segment, or all of them together, has too many words for the kernel {self.name}. Split it."
            )
        return result


@cache
def kernel(name: str) -> Kernel:
    """The kernel of that name in TABLE. Raises KernelsNotBuilt.

    Parameters
    ----------
    name : str
    """
    return Kernel(name)


def _parameter(text: str) -> Parameter:
    found = _FORM.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a parameter")
    written, name, kind, axes, optional, follows = found.groups()
    return Parameter(name, kind, axes, bool(written), bool(optional), follows)


def _checker(given: list[str], parameters: list[Parameter], where: str) -> Callable[..., tuple[Any, ...]]:
    """From what a caller gives to what C is given, all of it checked: a function written out as one would by hand.

    A sentence calls a handful of kernels, and a loop over parameters took longer than the kernels.
    """
    names: dict[str, Any] = {
        "_whole": _whole, "_float": float, "_bytes": bytes, "_is": isinstance, "_buffer": _BUFFER.from_buffer,
        "_refuse_text": _refuse_text, "_refuse_array": _refuse_array, "_refuse": _refuse, "ascend": _ascend,
    }  # fmt: skip
    lines = [f"def arguments({', '.join(given)}):"]
    for each in parameters:
        if each.follows is not None:
            lines.append(f" {each.name} = {each.follows}")
        elif each.kind in ("int", "uint64") and each.axes is None:
            lines.append(f" {each.name} = _whole({each.name})")
    passed = []
    for position, each in enumerate(parameters):
        name = each.name
        if each.kind == "bytes":
            check = f"_is({name}, _bytes) and len({name}) == {each.axes}"
            lines.append(f" if not ({check}): _refuse_text({name!r}, {name}, {each.axes})")
            passed.append(name)
        elif each.axes is not None:
            names |= {f"_{position}": each, f"_dtypes{position}": each.dtypes}
            indent = " "
            if each.optional:
                lines += [f" if {name} is None: _at{position} = None", " else:"]
                indent = "  "
            check = (
                f"{name}.dtype in _dtypes{position} and {name}.shape == {each.shape} "
                f"and _flags & {each.needs} == {each.needs}"
            )
            # A buffer or an address, whichever is made sooner.
            address = f"_buffer({name}) if _flags & {_WRITEABLE} else {name}.__array_interface__['data'][0]"
            lines += [
                f"{indent}_flags = {name}.flags.num",
                f"{indent}if not ({check}): _refuse_array(_{position}, {name}, {each.shape})",
                f"{indent}_at{position} = {address}",
            ]
            passed.append(f"_at{position}")
        else:
            passed.append(f"_float({name})" if each.kind == "real" else name)
    if where:
        lines.append(f" if not ({where}): _refuse({where!r})")
    exec("\n".join([*lines, f" return {', '.join(passed)},"]), names)  # noqa: S102 - all of it stands in TABLE
    return cast("Callable[..., tuple[Any, ...]]", names["arguments"])


def _ascend(orders: NDArray[np.int64]) -> bool:
    """Whether these are orders of n-grams, each larger than the one before."""
    listed = orders.tolist()
    return bool(listed) and listed[0] > 0 and all(map(operator.lt, listed, listed[1:]))


def _whole(value: Any) -> int:
    number = operator.index(value)
    if not -(2**63) <= number < 2**64:
        raise TypeError(f"the number {number} does not fit in 64 bits")
    return number


def _refuse(where: str) -> None:
    raise ValueError(f"what must hold is {where}")


def _refuse_text(name: str, value: Any, length: int) -> None:
    raise TypeError(f"{name} is {type(value).__name__} of {len(value)}, but must be {length} bytes")


def _refuse_array(parameter: Parameter, value: NDArray[Any], shape: tuple[int, ...]) -> None:
    layout = [] if value.flags.c_contiguous else ["not C-contiguous"]
    layout += [] if value.flags.aligned else ["not aligned"]
    layout += [] if value.flags.writeable else ["read-only"]
    raise TypeError(
        f"{parameter.name} is {', '.join([f'{value.dtype}{list(value.shape)}', *layout])}, but must be a C-contiguous "
        f"{'writeable ' if parameter.written else ''}{parameter.kind}{list(shape)}"
    )
