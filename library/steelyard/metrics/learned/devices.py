"""What a model is computed on, and what kind of device that is: other kinds give other bits."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, MissingResource

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "STEELYARD_DEVICE"
"""The environment variable that names the device where nobody else does."""
_DEVICE = re.compile(r"cpu|cuda:\d{1,2}", re.ASCII)
_CHOSEN: ContextVar[str | None] = ContextVar("device", default=None)


def checked_device(text: str) -> str:
    """A device as users name it.

    Parameters
    ----------
    text : str
        "cpu", "cuda" (its first) or "cuda:N".

    Returns
    -------
    str
        "cpu" or "cuda:N".

    Raises
    ------
    BadParameter
        For anything else.
    """
    device = "cuda:0" if text == "cuda" else text
    if not _DEVICE.fullmatch(device):
        raise BadParameter(f'The device is "{text}", but must be cpu or cuda:N, such as cuda:0.')
    return device


def current_device() -> str:
    """What models are computed on: the choice of `computing_on`, then that of the environment, else the processor.

    Returns
    -------
    str
        "cpu" or "cuda:N".

    Raises
    ------
    BadParameter
        Where STEELYARD_DEVICE names none.
    """
    return _CHOSEN.get() or checked_device(os.environ.get(VARIABLE) or "cpu")


@contextmanager
def computing_on(device: str) -> Iterator[None]:
    """Models that are opened or used inside compute on this device.

    Parameters
    ----------
    device : str
        As `checked_device` takes it.

    Raises
    ------
    BadParameter
        For anything else.
    """
    token = _CHOSEN.set(checked_device(device))
    try:
        yield
    finally:
        _CHOSEN.reset(token)


@cache
def device_kind(device: str) -> str:
    """What kind of device it is. Bits are the same on all of one kind, as far as their makers promise.

    Parameters
    ----------
    device : str
        "cpu" or "cuda:N".

    Returns
    -------
    str
        Such as "cpu-avx512" (instructions that matrix products are made of) or "cuda-nvidia-h100-80gb-hbm3".

    Raises
    ------
    MissingResource
        Where there is no such device.
    """
    if device == "cpu":
        return f"cpu-{_instructions()}"
    number = device.partition(":")[2]
    try:
        asked = ["nvidia-smi", f"--id={number}", "--query-gpu=name", "--format=csv,noheader"]
        found = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingResource(f"The device {device} is not here: nvidia-smi does not find it ({error}).") from error
    return "cuda-" + re.sub(r"[^a-z0-9]+", "-", found.stdout.strip().lower()).strip("-")


def _instructions() -> str:
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        flags = None
    known = set(flags[1].split()) if flags else set()
    return "avx512" if "avx512f" in known else "avx2" if "avx2" in known else platform.machine().lower()
