"""SVG elements as text, coloured by attributes and classes, which a strict content security policy allows."""

from __future__ import annotations

from html import escape

from campaigns.charts.lettering import writable
from campaigns.charts.palette import CLASSES


def element(tag: str, text: str | None = None, **attributes: str | float) -> str:
    """Return one element; underscores in attribute names become hyphens. Texts and values are escaped."""
    head = f"<{tag}{written(**attributes)}"
    return f"{head}/>" if text is None else f"{head}>{escape(writable(text), quote=False)}</{tag}>"


def written(**attributes: str | float) -> str:
    """Return attributes as they stand in a tag, with the classes of their colours."""
    classes = [f"{key}-{CLASSES[str(attributes[key])]}" for key in ("fill", "stroke") if attributes.get(key) in CLASSES]
    found = [
        f' {key.replace("_", "-")}="{number(value) if isinstance(value, float) else escape(str(value))}"'
        for key, value in attributes.items()
    ]
    if classes:
        found.append(f' class="{" ".join(classes)}"')
    return "".join(found)


def number(pixels: float) -> str:
    """Format to a hundredth of a pixel."""
    return f"{round(pixels, 2) or 0.0:.6g}"
