"""Docstrings of the library are in numpydoc's form: of everything that is not private to its module."""

import inspect
import pkgutil
from dataclasses import is_dataclass
from importlib import import_module
from types import FunctionType

import pytest
from numpydoc.validate import validate

import steelyard

WANTED = {"GL08", "PR01", "PR02", "PR03", "PR04", "PR10", "RT01", "SS01"}
"""A docstring with a summary; parameters all named, in order, with types; what is returned."""
OF_BASE = {"PR01", "RT01"}
"""What a method need not say again where a base class has said it."""
OF_FIELDS = {"PR01"}
"""What a dataclass says beside its fields, and a class that is made as its base is need not say."""

COMPILED = "steelyard.kernels._kernels"
MODULES = [each.name for each in pkgutil.walk_packages(steelyard.__path__, "steelyard.") if each.name != COMPILED]


def has_arguments(found):
    """Whether a class says itself what it is made from; the docstring of an error is its message."""
    if issubclass(found, BaseException):
        return False
    return not is_dataclass(found) and found.__init__.__qualname__ == f"{found.__qualname__}.__init__"


def public(module):
    """Public functions, classes and methods that a module defines, by path; and what need not be said there."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isclass(value):
            path = f"{module.__name__}.{value.__name__}"
            yield path, set() if has_arguments(value) else OF_FIELDS
            for method in methods(value):
                inherited = any(method in vars(base) for base in value.__mro__[1:])
                yield f"{path}.{method}", OF_BASE if inherited else set()
        elif inspect.isfunction(inspect.unwrap(value)):
            yield f"{module.__name__}.{name}", set()


def methods(found):
    """Public methods and properties that a class defines itself."""
    for name, value in vars(found).items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_field = name in getattr(found, "__dataclass_fields__", ())
        if not name.startswith("_") and not is_field and isinstance(plain, (FunctionType, property)):
            yield name


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_are_in_numpydocs_form(name):
    faults = [
        f"{path}: {code} {text}"
        for path, inherited in public(import_module(name))
        for code, text in validate(path)["errors"]
        if code in WANTED - inherited
    ]
    assert not faults, "\n".join(faults)
