"""Draws a card as a PNG, with Pillow and the letters of Noto Sans: the extra `share`."""

from __future__ import annotations

import io
import unicodedata
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from steelyard.text.normalization import normalized

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

    from web.share.card import Card, CardRow

WIDTH, HEIGHT = 1200, 630
"""What messengers and social networks show without cutting."""
SUPERSAMPLING = 2
"""Pillow draws lines without smooth edges: the picture is drawn larger, and made smaller."""
MARGIN = 64
PAPER, INK, SOFT, MAIN, LINE, BAND = "#ffffff", "#1b1f24", "#57606a", "#0b5cad", "#d5dae0", "#f4f6f8"
SCRIPTS = ("LATIN", "GREEK", "CYRILLIC")
"""Scripts whose letters stand side by side as they are; others would need shaping."""
ELLIPSIS = "…"
LONGEST = 300
"""Characters of a text that are looked at: more would not fit."""


@cache
def can_draw() -> bool:
    """Whether the packages of the extra are installed."""
    return find_spec("PIL") is not None and find_spec("fontpkg_noto_sans") is not None


def drawable(text: str) -> str:
    """Return the text as the font has it; "" where it lacks letters of it, which would be boxes."""
    text = " ".join(normalized("NFC", text[:LONGEST]).split())
    return text if all(map(_has_letter, text)) else ""


def draw_card(card: Card) -> bytes:
    """Return the picture. A text in another script is left out."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (WIDTH * SUPERSAMPLING, HEIGHT * SUPERSAMPLING), PAPER)
    draw = ImageDraw.Draw(picture)
    _box(draw, 0, 0, WIDTH, 14, MAIN)
    title = drawable(card.title) or drawable(card.instead)
    few = not card.rows
    below = _paragraph(draw, title, MARGIN, 150 if few else 54, size=76 if few else 54, lines=3 if few else 2)
    for text, color in ((drawable(card.facts), SOFT), (drawable(card.state), MAIN)):
        if text:
            _text(draw, MARGIN, below + 12, _fitting(text, 28, WIDTH - 2 * MARGIN), 28, color)
            below += 42
    if card.rows:
        _table(draw, card, below + 40)
    _text(draw, MARGIN, HEIGHT - 56, "Steelyard", 26, MAIN, bold=True)
    file = io.BytesIO()
    picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).save(file, "PNG")
    return file.getvalue()


def _table(draw: ImageDraw, card: Card, top: int) -> None:
    rows = card.rows
    step = min(56, (HEIGHT - 70 - top - 30) // len(rows))
    size = min(30, step - 16)
    _text(draw, MARGIN, top - 14, _fitting(drawable(card.table), 22, WIDTH - 2 * MARGIN), 22, SOFT)
    rank, name, score, chart = MARGIN + 10, MARGIN + 90, 700, 730
    place = _axis(rows, chart, WIDTH - MARGIN - 16)
    for number, row in enumerate(rows):
        y = top + 24 + number * step
        if number % 2 == 0:
            _box(draw, MARGIN, y, WIDTH - MARGIN, y + step, BAND)
        middle = y + step // 2
        shown = _fitting(drawable(row.name) or ELLIPSIS, size, score - name - 110)
        _text(draw, rank, middle, row.rank, size, SOFT, anchor="lm")
        _text(draw, name, middle, shown, size, INK, bold=number == 0, anchor="lm")
        _text(draw, score, middle, row.score, size, INK, bold=number == 0, anchor="rm")
        if row.low is not None and row.high is not None:
            _box(draw, place(row.low), middle - 2, place(row.high), middle + 2, MAIN)
            _dot(draw, place(row.value), middle, 9)


def _axis(rows: Sequence[CardRow], left: int, right: int) -> Callable[[float], float]:
    ends = [each for row in rows for each in (row.low, row.high, row.value) if each is not None]
    low, high = min(ends), max(ends)

    def place(value: float) -> float:
        return left + (right - left) * ((value - low) / (high - low) if high > low else 0.5)

    return place


def _paragraph(draw: ImageDraw, text: str, x: int, y: int, *, size: int, lines: int) -> int:
    """Draw a title in at most so many lines; return where the next text begins."""
    words, height = text.split(" "), round(size * 1.25)
    for number in range(lines):
        if not words:
            break
        line = words.pop(0)
        while words and _length(f"{line} {words[0]}", size, bold=True) <= WIDTH - 2 * MARGIN:
            line += f" {words.pop(0)}"
        if words and number == lines - 1:
            line += ELLIPSIS
        _text(draw, x, y, _fitting(line, size, WIDTH - 2 * MARGIN, bold=True), size, INK, bold=True)
        y += height
    return y


def _fitting(text: str, size: int, room: float, *, bold: bool = False) -> str:
    """Return the text, or its beginning where it is too long."""
    if _length(text, size, bold=bold) <= room:
        return text
    while text and _length(text + ELLIPSIS, size, bold=bold) > room:
        text = text[:-1]
    return text.rstrip() + ELLIPSIS


def _length(text: str, size: int, *, bold: bool) -> float:
    return _font(size, bold=bold).getlength(text) / SUPERSAMPLING


def _text(
    draw: ImageDraw, x: float, y: float, text: str, size: int, color: str, *, bold: bool = False, anchor: str = "la"
) -> None:
    draw.text((x * SUPERSAMPLING, y * SUPERSAMPLING), text, color, _font(size, bold=bold), anchor)


def _box(draw: ImageDraw, left: float, top: float, right: float, bottom: float, color: str) -> None:
    left, top, right, bottom = (edge * SUPERSAMPLING for edge in (left, top, right, bottom))
    # Pillow counts the last pixel in.
    draw.rectangle((left, top, right - 1, bottom - 1), color)


def _dot(draw: ImageDraw, x: float, y: float, radius: float) -> None:
    draw.ellipse([value * SUPERSAMPLING for value in (x - radius, y - radius, x + radius, y + radius)], MAIN)


@cache
def _font(size: int, *, bold: bool = False) -> FreeTypeFont:
    import fontpkg
    from PIL import ImageFont

    font = ImageFont.truetype(fontpkg.path("Noto Sans"), size * SUPERSAMPLING)
    font.set_variation_by_axes([700 if bold else 400, 100])
    return font


@cache
def _has_letter(letter: str) -> bool:
    kind = unicodedata.category(letter)
    if kind.startswith("L") and not unicodedata.name(letter, "").startswith(SCRIPTS):
        return False
    # Marks that stand over other letters, and what is no letter at all.
    if kind.startswith(("M", "C")) or unicodedata.bidirectional(letter) in ("R", "AL"):
        return False
    font = _font(30)
    return letter == " " or bytes(font.getmask(letter)) != bytes(font.getmask("\uffff"))
