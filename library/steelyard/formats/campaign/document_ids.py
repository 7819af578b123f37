"""The ids of documents of WMT25 and WMT26, which say the language pair, the domain and the name."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.text.language_pairs import parse_pair

OLD, NEW = "_#_", "_###_"
"""Between the parts of an id of WMT25 and of WMT26."""


class DocumentId(NamedTuple):
    """An id in its parts."""

    source: str
    """Codes of the languages, as they are written."""
    target: str
    domain: str
    name: str
    new: bool
    """Whether it is WMT26's, whose documents are not cut into paragraphs."""

    @property
    def pair(self) -> str:
        """The language pair."""
        return f"{self.source}-{self.target}"


def parse_document_id(text: str) -> DocumentId | None:
    """Take an id apart.

    Parameters
    ----------
    text : str
        `en-cs_CZ_#_news_#_NAME`, or `WMT26_###_speech_###_eng_Latn_###_ces_Latn_###_NAME`.

    Returns
    -------
    DocumentId or None
        None where it is no such id.
    """
    new, old = text.split(NEW), text.split(OLD)
    if len(new) == 5 and parse_pair(f"{new[2]}-{new[3]}"):
        return DocumentId(new[2], new[3], new[1], new[4], new=True)
    if len(old) == 3 and (pair := parse_pair(old[0])):
        return DocumentId(pair.source_code, pair.target_code, old[1], old[2], new=False)
    return None
