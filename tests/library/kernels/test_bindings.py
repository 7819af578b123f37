"""Every kernel refuses arrays of another dtype, rank, shape or layout than it works on, before C sees them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import BadArray, TooLarge
from steelyard.kernels import bindings
from steelyard.kernels.bindings import TABLE, Status, kernel
from steelyard.kernels.edit.character import character_rates
from steelyard.kernels.ngram.ngrams import ngram_statistics
from steelyard.metrics.segments import Segments
from steelyard.resampling.bootstrap import replicate_sums, sums_of_tables
from tests.library.kernels.called import everything_called

SOURCES = Path(bindings.__file__).parent
FREE = {("resampling_counts", "counts")}
"""Some other lengths will do: fewer replicates."""


KERNELS = re.compile(
    r"(?:^/\*((?:(?!\*/).)*)\*/\n)?^KERNEL int64_t steelyard_(\w+)\(([^{;]*)\)\s*\{", re.MULTILINE | re.DOTALL
)
"""The comment, the name and the parameters of a C function that the library exports."""


def prototypes() -> dict[str, list[str]]:
    """The types and names of the parameters of each C function that the library exports, by its name."""
    found = {}
    for path in SOURCES.rglob("*.c"):
        for _, name, given in KERNELS.findall(path.read_text()):
            found[name] = [" ".join(each.split()) for each in given.split(",")]
    return found


def comments() -> dict[str, str]:
    """What stands above each of them, on one line."""
    return {
        name: " ".join(comment.replace("\n *", "\n").split())
        for path in SOURCES.rglob("*.c")
        for comment, name, _ in KERNELS.findall(path.read_text())
    }


def test_statuses_are_those_of_the_header():
    declared = re.search(r"enum Status \{(.*?)\n\};", (SOURCES / "include" / "kernel.h").read_text(), re.DOTALL)
    found = {name: int(number) for name, number in re.findall(r"(\w+) = (-\d+)", declared[1])}
    assert found == Status.__members__


def test_nothing_but_kernels_is_exported():
    """Another library of the process may have a function called `words`, too."""
    if not shutil.which("nm") and not os.environ.get("CI"):
        pytest.skip("no nm here: apt install binutils")
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", SOURCES / "_kernels.so"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    exported = {line.split()[0] for line in listed} - {"_init", "_fini"}
    assert exported == {f"steelyard_{name}" for name in (*TABLE, "fingerprint")}


@pytest.mark.parametrize("name", sorted({*TABLE, *prototypes()}))
def test_the_table_says_what_the_c_function_takes(name):
    """Pointers and numbers in the same places, arrays of the same numbers; those are written that are not const."""
    declared, prototype = kernel(name).parameters, prototypes()[name]
    assert len(declared) == len(prototype)
    numbers = {"int": "int64_t", "uint64": "uint64_t", "real": "double"}
    arrays = {
        "int8": "int8_t", "uint8": "uint8_t", "uint16": "uint16_t", "int32": "int32_t", "uint32": "uint32_t",
        "int64": "int64_t", "uint64": "uint64_t", "float32": "float", "float64": "double", "bytes": "uint8_t",
    }  # fmt: skip
    for parameter, text in zip(declared, prototype, strict=True):
        if parameter.axes is None:
            # A mask of slots is as wide as a hash.
            assert text.split()[0] == numbers[parameter.kind] or (name, parameter.name)[1] == "mask"
        else:
            assert parameter.written == (not text.startswith("const "))
            kind = text.removeprefix("const ").split()[0]
            wanted = {arrays[each] for each in parameter.kind.split("|")}
            # Where addresses of arrays are handed over as numbers, and where three numbers make a run.
            assert kind in wanted or kind == "void" or "*const *" in text or (name, kind) == ("gtm_runs", "Run")


@pytest.mark.parametrize("name", sorted(TABLE))
def test_the_comment_says_dtype_and_shape_of_each_array(name):
    """In C as in the table, in the names of the prototype; only what is written may have another name there."""
    arrays = {False: [], True: []}
    for parameter, text in zip(kernel(name).parameters, prototypes()[name], strict=True):
        own = re.search(r"\w+$", text)[0]
        assert parameter.written or own == parameter.name
        kind = parameter.kind.replace("bytes", "uint8")
        if parameter.axes is not None:
            arrays[parameter.written].append(f"{own}: {kind}[{parameter.axes}]{'?' * parameter.optional}")
    said = f"Reads {', '.join(arrays[False])}."
    if arrays[True]:
        said += f" Writes {', '.join(arrays[True])}."
    assert comments()[name].endswith(said)


def spoilt(parameter, value):
    """The argument in ways in which it must not be."""
    if isinstance(value, bytes):
        yield "type", bytearray(value)
        yield "type", value.decode("latin-1")
        return
    other = np.float32 if value.dtype != np.float32 else np.float64
    yield "dtype", np.zeros(value.shape, other)
    yield "byte order", np.zeros(value.shape, value.dtype.newbyteorder(">")) if value.itemsize > 1 else None
    yield "rank", value[np.newaxis]
    yield "rank", value.ravel()[0]
    yield "list", value.tolist()
    yield "none", None if not parameter.optional else 3
    if value.size > 1:
        yield "layout", np.repeat(value, 2, axis=-1)[..., ::2]
    declared = re.split(r", (?![^(]*\))", parameter.axes)
    assert len(declared) == value.ndim
    for axis, expression in enumerate(declared):
        if expression != "*":
            yield "longer", np.concatenate([value, value[(slice(None),) * axis + (slice(0, 1),)]], axis=axis)
            yield "shorter", value[(slice(None),) * axis + (slice(1, None),)].copy()
    if parameter.written:
        frozen = value.copy()
        frozen.flags.writeable = False
        yield "read-only", frozen


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return everything_called(tmp_path_factory.mktemp("resources"))


@pytest.mark.parametrize("name", sorted(TABLE))
def test_wrong_arrays_are_refused(name, calls):
    function = kernel(name)
    known = {each.name: each for each in function.parameters}
    given = calls[name]
    tried = 0
    for place, value in enumerate(given):
        parameter = known[function.given[place]]
        if not isinstance(value, (np.ndarray, bytes)) or (isinstance(value, np.ndarray) and not value.size):
            continue
        for what, wrong in spoilt(parameter, value):
            if what == "byte order" and wrong is None:
                continue
            same = isinstance(wrong, np.ndarray) and wrong.shape == value.shape and wrong.dtype == value.dtype
            if what in ("longer", "shorter", "layout") and same and wrong.flags.c_contiguous:
                continue
            if what in ("longer", "shorter") and (name, parameter.name) in FREE:
                continue
            arguments = [*given[:place], wrong, *given[place + 1 :]]
            with pytest.raises(BadArray, match=f"The kernel {name}"):
                function(*arguments)
            tried += 1
    assert tried > 1
    with pytest.raises(BadArray):
        function(*given, 0)
    with pytest.raises(BadArray):
        function(*given[:-1])


@pytest.mark.parametrize("name", sorted(name for name, takes in TABLE.items() if "systems: int;" in takes))
def test_wrong_numbers_of_texts_are_refused(name, calls):
    function = kernel(name)
    place = function.given.index("systems")
    for wrong in (0, 2, 3, -1, 2**62, 2**70, 1.0, "1", None):
        if wrong == calls[name][place]:
            continue
        with pytest.raises(BadArray):
            function(*calls[name][:place], wrong, *calls[name][place + 1 :])


def test_counts_that_are_no_bytes_are_refused():
    statistics = np.arange(100.0).reshape(100, 1)
    for dtype in (np.uint8, np.uint16):
        assert replicate_sums(np.ones((2, 100), dtype), statistics).ravel().tolist() == [4950, 4950]
    for dtype in (np.int32, np.int64, np.float64, np.int8):
        with pytest.raises(BadArray, match=r"counts is .*\[2, 100\], but must be .*uint8\|uint16"):
            replicate_sums(np.ones((2, 100), dtype), statistics)
    with pytest.raises(BadArray, match=r"99 segments .* 100 rows"):
        replicate_sums(np.ones((2, 99), np.uint8), statistics)
    with pytest.raises(BadArray, match=r"3 segments .* 4 rows"):
        sums_of_tables(np.ones((2, 3), np.uint8), [np.ones((1, 3, 1)), np.ones((1, 4, 1))])


@pytest.mark.parametrize("orders", [(2, 1), (1, 1), (0, 1), (-1,), ()])
def test_orders_must_ascend(orders):
    words = Segments(references=[b"a b c"], hypotheses=[b"a b"]).words("none", "mixed")
    with pytest.raises(BadArray, match="ascend"):
        ngram_statistics(words, np.ones((1, 1), np.uint8), 1, orders)


def test_systems_must_be_those_of_the_words():
    words = Segments(references=[b"a b c"], hypotheses=[b"a b"]).words("none", "mixed")
    with pytest.raises(BadArray, match="starts"):
        character_rates(words, np.ones((1, 1), np.uint8), 3)


def test_checks_are_made_without_asserts():
    program = """
import numpy as np
from steelyard.metrics.segments import Segments
from steelyard.errors import MetricsError
from steelyard.kernels.edit.character import character_rates
from steelyard.kernels.text.words import words
from steelyard.resampling.bootstrap import replicate_sums
from steelyard.metrics.segments import Segments
assert False
segments = Segments(references=[b"a b c"], hypotheses=[b"a b"]).words("none", "mixed")
for call in (
    lambda: character_rates(segments, np.ones((1, 1), np.uint8), 3),
    lambda: words(b"a b\\nc", 1),
    lambda: replicate_sums(np.ones((2, 100), np.int64), np.ones((100, 1))),
):
    try:
        call()
    except MetricsError as error:
        print(type(error).__name__)
"""
    run = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, check=True, text=True)
    assert run.stdout.split() == ["BadArray", "BadText", "BadArray"]


def test_too_many_words_are_not_called_too_little_memory():
    """The words are zeros that no page of memory is taken for."""
    count = 2**31 // 16 + 1
    ids, starts = np.zeros(count, np.int32), np.array([0, count, count])
    with pytest.raises(TooLarge, match="too many words for the kernel ngram_statistics"):
        kernel("ngram_statistics")(ids, 1, starts, np.ones((1, 1), np.uint8), 1, np.array([16]), np.empty((1, 1, 4)))


def test_a_kernel_without_memory_says_so():
    ids, starts = np.zeros(1, np.int32), np.array([0, 1, 1])
    with pytest.raises(MemoryError):
        kernel("bag_overlaps")(ids, starts, np.ones((1, 1), np.uint8), 2**60, 1, np.empty((1, 1, 1), np.int64))
