"""Whether what is built in is what it was before other people's plug-ins were imported.

Their modules can do anything, and we do not run them apart: this does not keep out who means harm. It finds the package
that replaces a part of a metric of ours "to fix it", which would give other numbers under the same signature.
"""

from __future__ import annotations

import builtins
import math
import sys
import unicodedata
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

PACKAGE = __name__.partition(".")[0]

Key = tuple[str, str]
"""Whose attribute it is, and which one."""

_SKIPPED = frozenset(
    {"__builtins__", "__warningregistry__", "__annotations__", "__dict__", "__weakref__", "__cached__"}
)
_WORK = frozenset({"__abstractmethods__", "_abc_impl", "__slotnames__"})
"""What Python itself changes in classes while they are used."""


class House:
    """All that computes in this package, as it was at one moment: modules, classes and functions."""

    def __init__(self) -> None:
        _import_all()
        self._guests: dict[int, tuple[Any, str]] = {}
        """Plug-ins that were imported, by identity, and the distributions they are of."""
        self._owners: dict[str, Any] = {}
        self._before: dict[Key, Any] = {}
        self._classes: dict[str, frozenset[str]] = {}
        """The attributes that each class had: one more can stand before that of a base."""
        self._codes: dict[Key, tuple[FunctionType, tuple[Any, ...]]] = {}
        self._contents: dict[Key, tuple[Any, Any]] = {}
        for name, module in sorted(sys.modules.items()):
            if module is not None and (name == PACKAGE or name.startswith(PACKAGE + ".")) and _is_ours(module):
                self._remember(name, module)
        for module in (np, np.linalg, math, unicodedata, builtins):
            self._remember(module.__name__, module)

    def changed(self) -> list[str]:
        """What is not as it was, as `steelyard.metrics.ngram.bleu.BLEU.score`.

        Returns
        -------
        list of str
        """
        found = [
            key for key, value in self._before.items() if vars(self._owners[key[0]]).get(key[1], _GONE) is not value
        ]
        found += self._added()
        found += [key for key, (function, code) in self._codes.items() if _code(function) != code]
        found += [key for key, (value, content) in self._contents.items() if _content(value) != content]
        return sorted({f"{owner}.{name}" for owner, name in found})

    def welcome(self, plugin: Any, distribution: str) -> None:
        """Remember a plug-in that was found sound.

        Parameters
        ----------
        plugin : object
        distribution : str
            Name and version.
        """
        self._guests[id(plugin)] = plugin, distribution

    def is_guest(self, plugin: Any) -> bool:
        """Whether this very object was found sound before.

        Parameters
        ----------
        plugin : object

        Returns
        -------
        bool
        """
        return id(plugin) in self._guests

    def origin(self, plugin: Any) -> str:
        """The distribution of a plug-in.

        Parameters
        ----------
        plugin : object

        Returns
        -------
        str
            Empty where it was not found sound here.
        """
        return self._guests[id(plugin)][1] if self.is_guest(plugin) else ""

    def restore(self) -> None:
        """Restore what was replaced."""
        for (owner, name), value in self._before.items():
            if vars(self._owners[owner]).get(name, _GONE) is not value:
                with suppress(AttributeError, TypeError):
                    setattr(self._owners[owner], name, value)
        for owner, name in self._added():
            with suppress(AttributeError, TypeError):
                delattr(self._owners[owner], name)
        for function, code in self._codes.values():
            if _code(function) != code:
                function.__code__, function.__defaults__ = code[0], code[1]
                function.__kwdefaults__ = dict(code[2]) if code[2] is not None else None
        for value, content in self._contents.values():
            if _content(value) != content:
                value.clear()
                if isinstance(value, dict):
                    value.update(content)
                else:
                    (value.extend if isinstance(value, list) else value.update)(content)

    def _added(self) -> list[Key]:
        """The attributes of classes that were not there."""
        return [
            (owner, name)
            for owner, names in self._classes.items()
            for name in vars(self._owners[owner]).keys() - names - _SKIPPED - _WORK
        ]

    def _remember(self, owner: str, holder: Any) -> None:
        self._owners[owner] = holder
        if isinstance(holder, type):
            self._classes[owner] = frozenset(vars(holder))
        for name, value in list(vars(holder).items()):
            if name in _SKIPPED or name in _WORK:
                continue
            key = owner, name
            self._before[key] = value
            function = getattr(value, "__func__", getattr(value, "__wrapped__", value))
            if isinstance(function, FunctionType):
                self._codes[key] = function, _code(function)
            elif isinstance(value, (dict, list, set)) and owner.startswith(PACKAGE) and isinstance(holder, type(sys)):
                self._contents[key] = value, _content(value)
            if isinstance(value, type) and value.__module__ == owner and isinstance(holder, type(sys)):
                self._remember(f"{owner}.{name}", value)


_GONE = object()


@cache
def house() -> House:
    """The library's own objects as they were when this was called first: before the first plug-in is imported.

    Returns
    -------
    House
    """
    return House()


def _import_all() -> None:
    """What is imported only where it is used, too: else it could be replaced before anybody has looked at it."""
    package = import_module(PACKAGE)
    import pkgutil

    for module in pkgutil.walk_packages(package.__path__, PACKAGE + "."):
        if not module.name.startswith("steelyard.conformance"):
            with suppress(ImportError):
                import_module(module.name)


def _is_ours(module: Any) -> bool:
    """Not a module of somebody else that only calls itself so."""
    folder = str(next(iter(import_module(PACKAGE).__path__)))
    return str(getattr(module, "__file__", "") or "").startswith(folder)


def _code(function: FunctionType) -> tuple[Any, ...]:
    keywords = function.__kwdefaults__
    return function.__code__, function.__defaults__, tuple(keywords.items()) if keywords else None


def _content(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else set(value)
