"""Names of registered resources: whether one is free, and taking one away."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from steelyard.errors import BadParameter, MissingResource

if TYPE_CHECKING:
    from steelyard.metrics.resources import Resource, Resources


def check_free(resources: Resources, name: str, kind: str) -> None:
    """See that a name stands for nothing of another kind.

    Parameters
    ----------
    resources : Resources
    name : str
    kind : str
        What is to be registered, such as "program".

    Raises
    ------
    BadParameter
    """
    for each in resources.listed():
        if each.name == name and each.kind != kind:
            raise BadParameter(f'"{name}" is the name of registered {each.kind}. Choose another one.')


def unregister(resources: Resources, name: str, kind: str) -> Resource:
    """Take a name away, and the content that it stood for unless another name stands for it, too.

    Parameters
    ----------
    resources : Resources
    name : str
    kind : str
        What it must be, such as "program".

    Returns
    -------
    Resource
        The one that was there.

    Raises
    ------
    MissingResource
        Where there is none of that name and kind, with those there are.
    """
    listed = resources.listed()
    alike = {each.name: each for each in listed if each.kind == kind}
    if name not in alike or resources.folder is None:
        there = ", ".join(alike) or "none"
        raise MissingResource(f'There is no registered {kind} "{name}". Registered: {there}.')
    found = alike[name]
    (resources.folder / f"{name}.json").unlink(missing_ok=True)
    if all(each.digest != found.digest for each in listed if each.name != name):
        shutil.rmtree(resources.folder / found.digest, ignore_errors=True)
    return found
