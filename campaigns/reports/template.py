"""The templates of a page. All external text is escaped."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.formats.registry import titles
from steelyard.tables.formatting import TYPESET, digits, p_value

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parent / "templates"
STYLE = Path(__file__).parents[2] / "web" / "static" / "report.css"
"""The style of reports, which the server's pages use, too."""
_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*\Z")


def rendered(template: str, **values: Any) -> Markup:
    """Render a template, as markup that other templates insert unchanged."""
    from markupsafe import Markup

    return Markup(_environment().get_template(f"{template}.html.j2").render(values))  # noqa: S704 - escaped by the engine


def drawing(svg: str) -> Markup:
    """Mark a chart of `campaigns.charts` as markup; it escapes its texts itself."""
    from markupsafe import Markup

    return Markup(svg)  # noqa: S704 - see above


def language(code: str) -> str:
    """Return a language code for HTML; "" if it is invalid."""
    code = code.replace("_", "-")
    return code if _LANGUAGE.match(code) else ""


@cache
def load_templates() -> None:
    """Compile all templates, so that the first page does not wait for them."""
    environment = _environment()
    for name in environment.list_templates(extensions=["j2"]):
        environment.get_template(name)


@cache
def _environment() -> Environment:
    return make_environment(FOLDER)


def make_environment(*folders: Path) -> Environment:
    """Create a Jinja environment for the templates in these folders, with the filters that all pages share."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from campaigns.reports.compiled import TemplateCache

    environment = Environment(
        loader=FileSystemLoader(folders),
        bytecode_cache=TemplateCache(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_showable,
    )
    environment.filters |= {
        "number": TYPESET.number,
        "p": p_value,
        "ends": TYPESET.interval,
        "language": language,
        "grouped": lambda value: f"{value:,}",
    }
    environment.globals |= {"digits": digits, "rank_range": TYPESET.rank_range, "format_titles": titles}
    return environment


def _showable(value: Any) -> Any:
    """Replace the characters that HTML forbids: a browser would drop some of them and fail on others."""
    # Markup has been through here. It is not imported for each of thousands of values.
    if isinstance(value, str) and not value.isprintable() and not hasattr(value, "__html__"):
        return _UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    return value
