"""Weights that torch has pickled, read without torch and without executing anything.

A pickle names functions to be called. Of these a reader of weights needs three, which build a tensor of a storage; for
every other name it puts a dictionary that does nothing. So a hostile file can make no call, as with torch's own
`weights_only`, and files are read whose hyperparameters are of classes that are not here.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadModel
from steelyard.metrics.learned.safetensors import widened

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

STORAGES = {
    "DoubleStorage": "<f8", "FloatStorage": "<f4", "HalfStorage": "<f2", "BFloat16Storage": "<u2",
    "LongStorage": "<i8", "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "i1", "ByteStorage": "u1",
    "BoolStorage": "?",
}  # fmt: skip


class Unread(dict[Any, Any]):
    """What stands for an object of a class that is not read: its items, if it is a mapping, and nothing else.

    Parameters
    ----------
    *_ : Any
        Not looked at.
    **__ : Any
        Not looked at.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def __setstate__(self, state: object) -> None:
        pass

    def append(self, item: object) -> None:
        """Nothing.

        Parameters
        ----------
        item : object
        """

    def extend(self, items: object) -> None:
        """Nothing.

        Parameters
        ----------
        items : object
        """


def read_pickled(path: Path) -> Any:
    """The object that `torch.save` wrote, with arrays for tensors and `Unread` for what is neither that nor plain.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Any
        As a rule a dict.

    Raises
    ------
    BadModel
        Where the file is damaged, or of torch before 1.6.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            (inside,) = [name for name in archive.namelist() if name.endswith("/data.pkl") or name == "data.pkl"]
            with archive.open(inside) as file:
                return _Reader(file, archive, inside.removesuffix("data.pkl")).load()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, RecursionError) as error:
        raise BadModel(f"{path}: torch's weights cannot be read ({error}). Copy the file again.") from error
    except (zipfile.BadZipFile, pickle.UnpicklingError) as error:
        raise BadModel(
            f"{path}: is no whole file of torch's weights, or of torch before 1.6 ({error}). Copy it again, or save "
            "it as safetensors."
        ) from error


class _Reader(pickle.Unpickler):
    def __init__(self, file: Any, archive: zipfile.ZipFile, folder: str) -> None:
        super().__init__(file)
        self._archive, self._folder = archive, folder
        self._storages: dict[str, tuple[NDArray[np.generic], bool]] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _parameter
        if module == "torch" and name in STORAGES:
            return name
        return Unread

    def persistent_load(self, pid: Any) -> tuple[NDArray[np.generic], bool]:
        what, storage, key, _, count = pid
        if what != "storage" or not isinstance(storage, str):
            raise pickle.UnpicklingError(f"a storage of an unknown kind, {what}")
        if key not in self._storages:
            kind = np.dtype(STORAGES[storage])
            entry = self._archive.getinfo(f"{self._folder}data/{key}")
            # Before anything is read: a few packed bytes could stand for a disk full of zeros.
            if entry.file_size != count * kind.itemsize or entry.compress_type != zipfile.ZIP_STORED:
                raise pickle.UnpicklingError(f"the storage {key} has another size than it says")
            self._storages[key] = np.frombuffer(self._archive.read(entry), kind), storage == "BFloat16Storage"
        return self._storages[key]


def _tensor(
    storage: tuple[NDArray[np.generic], bool], offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> NDArray[np.generic]:
    values, brain = storage
    last = offset + sum((count - 1) * step for count, step in zip(size, stride, strict=True))
    if offset < 0 or min((*size, *stride, 0)) < 0 or (0 not in size and last >= len(values)):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    steps = [step * values.itemsize for step in stride]
    view = np.lib.stride_tricks.as_strided(values[offset:], size, steps, writeable=False)
    return widened(view, brain=brain)


def _parameter(data: NDArray[np.generic], *_: Any) -> NDArray[np.generic]:
    return data
