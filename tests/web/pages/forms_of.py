"""What a browser would send of the forms on a page, as they stand."""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any


class _Forms(HTMLParser):
    """Fields and values of each form."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[dict[str, list[str]]] = []
        self._text: str | None = None
        self._options: list[tuple[str, bool]] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        known = dict(attrs)
        if tag == "form":
            self.forms.append({})
        if tag == "option" and self._options is not None:
            self._options.append((known.get("value", ""), "selected" in known))
        if not self.forms or "name" not in known:
            return
        values = self.forms[-1].setdefault(known["name"], [])
        kind = known.get("type", "text")
        if tag == "textarea":
            self._text = ""
        elif tag == "select":
            self._options = []
        elif tag == "input" and kind != "file" and (kind not in ("checkbox", "radio") or "checked" in known):
            values.append(known.get("value", "on"))
        self._last = values

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text is not None:
            # A browser drops the first line feed.
            self._last.append(self._text.removeprefix("\n"))
            self._text = None
        elif tag == "select" and self._options is not None:
            chosen = [value for value, selected in self._options if selected]
            self._last += chosen or [value for value, _ in self._options[:1]]
            self._options = None


def form_with(page: str, fields: Iterable[str], does: str = "") -> dict[str, list[str]]:
    """The values of the only form that has all these fields, of several that which does this."""
    wanted, forms = set(fields), _Forms(page).forms
    found = [form for form in forms if wanted <= form.keys()]
    if len(found) > 1:
        found = [form for form in found if does in form.get("do", ())]
    assert len(found) == 1, (wanted, [sorted(each) for each in forms])
    return found[0]
