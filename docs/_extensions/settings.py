"""The settings, from their class: name, default and the docstring below each field."""

from __future__ import annotations

from markdown import code, table
from sphinx.pycode import ModuleAnalyzer

from runtime.service_settings import WebSettings
from runtime.settings import Settings


def of_all_processes() -> str:
    """A table of the settings that all processes read."""
    return _table(Settings, list(Settings.model_fields))


def of_the_web_service() -> str:
    """A table of the settings that only the web service reads."""
    return _table(WebSettings, [name for name in WebSettings.model_fields if name not in Settings.model_fields])


def _table(settings: type[Settings], names: list[str]) -> str:
    described = ModuleAnalyzer.for_module(settings.__module__).find_attr_docs()
    rows = []
    for name in names:
        default = settings.model_fields[name].default
        text = " ".join(described[settings.__name__, name])
        rows.append((f"`STEELYARD_{name.upper()}`", code("" if default is None else str(default)), text))
    return table(("variable", "default", "meaning"), rows)
