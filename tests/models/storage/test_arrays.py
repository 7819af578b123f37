"""Arrays as blobs: every bit comes back, and what is damaged is refused."""

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import BadBlob
from models.storage import arrays
from models.storage.arrays import max_packed_bytes, pack, unpack, unpack_scores

numbers = st.one_of(
    st.floats(width=64, allow_nan=True, allow_infinity=True),
    st.integers(0, 300).map(float),
    st.sampled_from([0.0, -0.0, 255.0, 256.0, 65535.0, 65536.0, 2.0**32 - 1, 2.0**32, -1.0, 0.5]),
)


@given(rows=st.integers(0, 5), columns=st.integers(0, 4), data=st.data())
def test_every_bit_comes_back(rows: int, columns: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(numbers, min_size=rows * columns, max_size=rows * columns))
    array = np.array(values, dtype=np.float64).reshape(rows, columns)
    again = unpack(pack(array))
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()
    assert again.flags.c_contiguous


@pytest.mark.parametrize(
    ("largest", "width"), [(255.0, 1), (256.0, 2), (65535.0, 2), (65536.0, 4), (2.0**32 - 1, 4), (2.0**32, 8)]
)
def test_counts_take_the_smallest_type(largest: float, width: int) -> None:
    blob = pack(np.array([[0.0, largest]]))
    assert blob[2] == width
    assert blob[1] == (0 if width == 8 else 1)


def test_counts_are_compressed_column_by_column() -> None:
    array = np.tile([1.0, 200.0, 3.0], (5000, 1))
    assert len(pack(array)) < 200


def test_a_single_dimension_is_a_column() -> None:
    assert unpack(pack(np.array([1.5, np.nan]))).shape == (2, 1)


@given(rows=st.integers(0, 4), arrays=st.integers(0, 4), data=st.data())
def test_many_arrays_come_back_as_each_alone(rows: int, arrays: int, data: st.DataObject) -> None:
    columns = [data.draw(st.lists(numbers, min_size=rows, max_size=rows)) for _ in range(arrays)]
    blobs = [pack(np.array(each, dtype=np.float64)) for each in columns]
    found = unpack_scores(blobs)
    assert [each.tobytes() for each in found] == [unpack(each, columns=1).tobytes() for each in blobs]
    assert len(found) == arrays


@pytest.mark.parametrize(
    ("blobs", "message"),
    [
        ([pack(np.array([0.5, 0.25])), pack(np.array([0.5]))], "different lengths"),
        ([pack(np.array([0.5, 0.25])), pack(np.array([0.5, 0.25]))[:-1]], "should have 16 bytes and has 15"),
        ([pack(np.array([[0.5, 0.25]]))] * 2, "2 columns and should have 1"),
        ([b"", b""], "only 0 bytes"),
    ],
)
def test_many_arrays_of_which_one_is_damaged(blobs: list[bytes], message: str) -> None:
    with pytest.raises(BadBlob, match=message):
        unpack_scores(blobs)


GOOD = pack(np.arange(12.0).reshape(4, 3))
FLOATS = pack(np.array([0.5, 0.25]))


@pytest.mark.parametrize(
    ("blob", "message"),
    [
        (b"", "only 0 bytes"),
        (GOOD[:11], "only 11 bytes"),
        (bytes([2]) + GOOD[1:], "format 2; this release reads 1"),
        (GOOD[:1] + bytes([9]) + GOOD[2:], "unknown codec 9"),
        (GOOD[:2] + bytes([3]) + GOOD[3:], "unknown codec 1 with 3 bytes"),
        (GOOD[:12] + b"junk", "cannot be decompressed"),
        (GOOD[:-4], "cut off"),
        (FLOATS[:-1], "should have 16 bytes and has 15"),
        (FLOATS + b"x", "should have 16 bytes and has 17"),
        # A header that promises less than the body holds.
        (GOOD[:4] + struct.pack("<II", 2, 3) + GOOD[12:], "should have 6 bytes and has 7"),
        (GOOD[:4] + struct.pack("<II", 2**32 - 1, 2**32 - 1) + GOOD[12:], "that is impossible"),
    ],
)
def test_damage_is_refused(blob: bytes, message: str) -> None:
    with pytest.raises(BadBlob, match=message):
        unpack(blob)


def test_memory_is_taken_for_what_is_expected() -> None:
    """A blob of a quarter of a megabyte says that it has half a thousand million numbers."""
    rows = 1 << 22
    zeros = zlib.compress(bytes(rows), 1)
    lying = struct.pack("<BBBxII", 1, 1, 1, rows, 128) + zeros
    for expected in ({}, {"rows": 10}, {"columns": 3}, {"rows": 10, "columns": 3}, {"rows": rows, "columns": 1}):
        tracemalloc.start()
        with pytest.raises(BadBlob):
            unpack(lying, **expected)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


def test_the_shape_must_be_the_expected_one() -> None:
    assert unpack(GOOD, rows=4, columns=3).shape == (4, 3)
    with pytest.raises(BadBlob, match="has 4 rows and should have 5"):
        unpack(GOOD, rows=5, columns=3)
    with pytest.raises(BadBlob, match="has 3 columns and should have 12"):
        unpack(GOOD, columns=12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_are_finite_where_they_must_be(value: float) -> None:
    blob = pack(np.array([[0.5, value]]))
    assert unpack(blob).shape == (1, 2)
    with pytest.raises(BadBlob, match="NaN or infinity"):
        unpack(blob, finite=True)


@given(rows=st.integers(0, 50), columns=st.integers(1, 5), width=st.sampled_from([1, 1 << 9, 1 << 20]))
def test_no_blob_is_longer_than_it_may_be(rows: int, columns: int, width: int) -> None:
    generator = np.random.default_rng(rows)
    for array in (generator.integers(0, width, (rows, columns)).astype(float), generator.random((rows, columns))):
        assert len(pack(array)) <= max_packed_bytes(rows, columns)


def test_an_array_of_unknown_shape_may_be_as_large_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.full((2, 3), 0.5)
    monkeypatch.setattr(arrays, "MAX_BYTES", 48)
    assert unpack(pack(array)).tolist() == array.tolist()
    monkeypatch.setattr(arrays, "MAX_BYTES", 47)
    assert unpack(pack(array), rows=2, columns=3).tolist() == array.tolist()
    with pytest.raises(BadBlob, match="impossible"):
        unpack(pack(array), rows=2)
