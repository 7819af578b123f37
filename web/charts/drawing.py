"""A chart in the making: matplotlib draws it, then its SVG is made fit for a page."""

from __future__ import annotations

import hashlib
import io
import logging
import math
import re
from threading import RLock
from typing import TYPE_CHECKING, Any

from web.charts.palette import CLASSES, INK, LINE, SOFT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
FONT = "system-ui, 'Liberation Sans', Arial, sans-serif"
SIZE = 11.0
"""Of letters, in pixels."""
WIDTH_OF_LETTER = 0.56
"""Of a letter of the middling kind, as a share of its size."""
LONGEST_LABEL = 40
"""Letters of a text in a chart; longer ones are cut."""

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    # The names of clip paths and markers come from a hash: salted by chance unless told otherwise.
    "svg.hashsalt": "steelyard",
    "path.simplify": False,
}
_ONE_AT_A_TIME = RLock()
"""matplotlib's settings belong to the whole process, and pages are made in threads."""
_IDS = re.compile(r"#([\w.-]+)")
_UNCONTROLLED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
"""What XML cannot hold, or nobody can see."""


class Drawing:
    """One pair of axes of so many pixels. `svg` gives the chart."""

    def __init__(self, width: int, height: int) -> None:
        # Its font cache is of no concern to who asked for a chart.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        # SVG has 72 points to the inch: one unit of the view box is one pixel of the page.
        self.figure: Figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self.figure.patch.set_visible(False)
        self.axes.patch.set_visible(False)
        self._words: dict[str, str] = {}
        for name, spine in self.axes.spines.items():
            spine.set_visible(name in {"left", "bottom"})
            spine.set(color=SOFT, linewidth=1)
        self.axes.tick_params(color=SOFT, labelcolor=INK, labelsize=SIZE, length=4, width=1)
        self.axes.grid(color=LINE, linewidth=0.6)
        self.axes.set_axisbelow(True)

    def say(self, artist: Text, text: str) -> None:
        """Let a text of matplotlib show this.

        Matplotlib itself sees only as many plain letters: it would take dollars for mathematics, warn of letters that
        its font lacks, and write from left to right what runs from right to left.
        """
        shown = shortened(writable(text))
        number = f"text-{len(self._words)}"
        self._words[number] = shown
        artist.set(text="n" * max(len(shown), 1), gid=number, fontsize=artist.get_fontsize(), parse_math=False)

    def write(self, x: float, y: float, text: str, **how: Any) -> Text:
        """A text at a place in pixels from the bottom left corner."""
        look: dict[str, Any] = {"fontsize": SIZE, "color": INK} | how
        artist = self.figure.text(x / self.width, y / self.height, "", **look)
        self.say(artist, text)
        return artist

    def place(self, left: float, bottom: float, right: float, top: float) -> None:
        """So many pixels around the axes."""
        across, up = self.width - left - right, self.height - bottom - top
        self.axes.set_position((left / self.width, bottom / self.height, across / self.width, up / self.height))

    def name_axes(self, x_label: str, y_label: str) -> None:
        """What is on the axes: below, and above the left one, where it can be read without turning the head."""
        where = self.axes.get_position()
        middle = self.width * (where.x0 + where.x1) / 2
        self.write(middle, 4, x_label, horizontalalignment="center", verticalalignment="bottom")
        self.write(4, self.height - 4, y_label, horizontalalignment="left", verticalalignment="top")

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the axes is."""
        across, up = self.axes.transData.transform((x, y))
        return float(across), float(up)

    def svg(self, title: str, description: str) -> str:
        """The chart; the same bytes for the same chart."""
        from defusedxml.ElementTree import fromstring
        from matplotlib import rc_context

        written = io.BytesIO()
        with _ONE_AT_A_TIME, rc_context(SETTINGS):
            self.figure.savefig(written, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
        root = fromstring(written.getvalue())
        name = hashlib.sha256(repr((written.getvalue(), self._words, title)).encode()).hexdigest()[:10]
        return _written(_fit(root, f"c{name}-", self._words), f"c{name}", title, description, self.width, self.height)


def writable(text: str) -> str:
    """The text without what XML cannot hold, or nobody can see."""
    return _UNCONTROLLED.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """At most so many letters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def wide(text: str, size: float = SIZE) -> float:
    """About how many pixels a text takes."""
    import unicodedata

    doubles = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return size * (WIDTH_OF_LETTER * len(text) + 0.44 * doubles)


def spread(values: list[float]) -> tuple[float, float]:
    """The ends of an axis with room around these values."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or max(abs(high) * 0.01, 1e-6)
    assert math.isfinite(room), "an axis needs finite values"
    return low - room, high + room


def _fit(root: Element, prefix: str, words: Mapping[str, str]) -> Element:
    """The tree without names of its space, styles, document-wide rules and names that other charts have, too."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{SVG}metadata" or child.find(f"{SVG}style") is not None:
                parent.remove(child)
    used = {found for each in root.iter() for value in each.attrib.values() for found in _IDS.findall(value)}
    for group in root.iter(f"{SVG}g"):
        if group.get("id") in words:
            _say(group, words[group.get("id", "")])
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        for key in list(element.attrib):
            value = element.attrib.pop(key)
            if key == "id":
                if value in used:
                    element.set("id", prefix + value)
            elif key == "style":
                _restyle(element, value)
            elif key == "d":
                element.set(key, " ".join(value.split()))
            elif key != "transform" or not value.startswith("rotate(-0 "):
                element.set("href" if key == LINK else key, _IDS.sub(rf"#{prefix}\1", value) if "#" in value else value)
        if element.text and not element.text.strip():
            element.text = None
        element.tail = None
    return root


def _say(group: Element, text: str) -> None:
    element = group.find(f".//{SVG}text")
    if element is not None:
        element[:] = []
        element.text = text


def _restyle(element: Element, style: str) -> None:
    """Attributes and classes in the place of a style, which a strict page would not obey."""
    classes = []
    for part in style.split(";"):
        key, _, value = (each.strip() for each in part.partition(":"))
        if key in {"", "font-family", "font", "stroke-dashoffset"}:
            continue
        if value in CLASSES:
            classes.append(f"{key}-{CLASSES[value]}")
        element.set(key, value)
    if element.tag == "text" and not element.get("fill"):
        classes.append("fill-ink")
        element.set("fill", INK)
    if classes:
        element.set("class", " ".join(classes))


def _written(root: Element, name: str, title: str, description: str, width: int, height: int) -> str:
    from xml.etree.ElementTree import Element, tostring

    root.attrib.clear()
    for key, value in {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "chart",
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
        "width": str(width),
        "height": str(height),
        "viewBox": f"0 0 {width} {height}",
        "font-family": FONT,
    }.items():
        root.set(key, value)
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Element(tag, id=f"{name}-{'title' if tag == 'title' else 'description'}")
        element.text = writable(text)
        root.insert(position, element)
    return tostring(root, encoding="unicode")
