"""The Python client, from its operations: what each takes and returns."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from markdown import table
from numpydoc.docscrape import NumpyDocString

from steelyard_client.operations import Operations
from steelyard_client.requests import Requests
from steelyard_client.steps import listing, operation

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULT = re.compile(r"(Steps|Items)\[(.*)\]")


def sections() -> str:
    """A section for each subject, and in it one for each method."""
    subjects = {each.__module__.rpartition(".")[2].replace("_", " "): each for each in Operations.__bases__}
    return "\n\n".join(part for named in (subjects | {"other requests": Requests}).items() for part in _subject(*named))


def _subject(title: str, subject: type) -> Iterator[str]:
    yield f"## {title[:1].upper()}{title[1:]}"
    yield inspect.getdoc(subject) or ""
    for method in vars(subject).values():
        if isinstance(method, operation | listing):
            yield from _method(method)


def _method(method: Any) -> Iterator[str]:
    signature = inspect.signature(method.steps)
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    found = RESULT.fullmatch(signature.return_annotation)
    assert found, signature.return_annotation
    yield f"### `{method.__name__}`"
    shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    result = found[2] if found[1] == "Steps" else f"Iterator[{found[2]}]"
    yield f"```text\n{method.__name__}{str(shown).replace(chr(39), '')} -> {result}\n```"
    said = NumpyDocString(inspect.getdoc(method.steps))
    yield " ".join([*said["Summary"], *said["Extended Summary"]])
    if said["Parameters"]:
        yield table(("parameter", "meaning"), [(f"`{each.name}`", " ".join(each.desc)) for each in said["Parameters"]])
    if said["Raises"]:
        yield table(("raises", "when"), [(f"`{each.type}`", " ".join(each.desc)) for each in said["Raises"]])
