"""The packages of the extra `learned`: imported when a model is opened, and never before."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from steelyard.errors import MissingResource

PRECISION = "fp32"
"""What models compute in. Half precision would be another engine: its scores differ from the third digit on."""
ENGINES = ("onnxruntime", "onnxruntime-gpu")
"""Distributions that bring the module `onnxruntime`; the second one computes on CUDA, too."""


def package(module: str) -> Any:
    """A module of the extra.

    Parameters
    ----------
    module : str
        "onnxruntime", "tokenizers" or "yaml".

    Returns
    -------
    module

    Raises
    ------
    MissingResource
        Where it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingResource(
            f"Learned metrics need the package {module}, which cannot be used here ({error}). "
            "Install it: pip install 'steelyard[learned]'."
        ) from error


@cache
def engine() -> str:
    """What computes here, with all versions that scores depend on.

    Returns
    -------
    str
        Such as "onnxruntime-1.22.0+tokenizers-0.21.0+fp32".

    Raises
    ------
    MissingResource
        Where the packages are not installed.
    """
    runtime, tokenizers = _version(*ENGINES), _version("tokenizers")
    return f"onnxruntime-{runtime}+tokenizers-{tokenizers}+{PRECISION}"


def _version(*distributions: str) -> str:
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    package(distributions[0])
    raise MissingResource(f"The version of {distributions[0]} is not known: install it with pip.")
