"""What a table of judgments holds, by its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.table import BadTable, folded_column, read_table
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source
    from steelyard.meta_evaluation.human.table import Table

SCORES, RATINGS, ERRORS, RANKINGS = KINDS = ("scores", "ratings", "errors", "rankings")

SYSTEM = ("system", "systemid")
ANNOTATOR = ("annotator", "rater", "judge", "judgeid", "user", "userid", "username", "worker", "workerid")
SCORE = ("score", "rating")
SPANS = ("spans", "errorspans", "esaspans")
RANKING = ("ranking", "rankingid")
WIDE_RANKING = "system1id"

_APPRAISE = [
    *("username", "system", "itemId", "itemType", "srcLang", "trgLang"),
    *("score", "docId", "isDocScore", "timeStart", "timeEnd"),
]
"""The columns that Appraise (WMT21, WMT22) exports without naming them."""
_ITEM_TYPES = (b"TGT", b"BAD", b"REF", b"CHK")

_KNOWN = """\
  scores: system, score; of segments also segment (or doc_id and seg_in_doc)
  ratings: annotator, system, segment, score; or Appraise's export
  errors (MQM): rater, system, segment (or globalSegId, seg_id), category, severity
  rankings: srcIndex, judgeId, system1Id, system1rank, system2Id, ...; or annotator, segment, ranking, system, rank"""


def read_judgment_table(source: Source, *, name: str | None = None) -> Table:
    """Read a table of judgments; Appraise's need no header.

    Parameters
    ----------
    source : path or bytes
    name : str, optional
        What messages call it.

    Returns
    -------
    Table

    Raises
    ------
    BadText
        Where it cannot be read.
    """
    return read_table(source, name=name, columns=_columns_of_appraise)


def _columns_of_appraise(first: bytes) -> list[str]:
    """Their names, where a first line is a row of Appraise's export; else none."""
    cells = first.split(b",")
    return _APPRAISE if len(cells) == len(_APPRAISE) and cells[3] in _ITEM_TYPES else []


def is_of_hundred(table: Table) -> bool:
    """Whether scores are those of direct assessment or ESA: in Appraise's exports, and beside error spans.

    Parameters
    ----------
    table : Table

    Returns
    -------
    bool
        False where annotators may have used any scale.
    """
    return not table.begins or table.column(*SPANS) is not None


def kind_of(table: Table) -> str:
    """What a table holds.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
        One of `KINDS`.

    Raises
    ------
    BadTable
        Where its columns do not tell.
    """
    if WIDE_RANKING in table.columns or (table.column(*RANKING) is not None and "rank" in table.columns):
        return RANKINGS
    if "category" in table.columns and "severity" in table.columns:
        return ERRORS
    if table.column(*SYSTEM) is not None and table.column(*SCORE) is not None:
        return SCORES if table.column(*ANNOTATOR) is None else RATINGS
    there = listed([quoted(title) for title in table.titles.values()], 20)
    raise BadTable(f"{table.name}, line 1: the columns do not tell what this is: {there}. Known are\n{_KNOWN}")


def required(table: Table, kind: str, *names: str) -> int:
    """The position of a column that judgments of a kind must have.

    Parameters
    ----------
    table : Table
    kind : str
        One of `KINDS`.
    *names : str
        What the column may be called.

    Returns
    -------
    int

    Raises
    ------
    BadTable
        Where it is not there.
    """
    position = table.column(*map(folded_column, names))
    if position is None:
        raise BadTable(f"{table.name}, line 1: {kind} need a column {quoted(names[0])}. Known are\n{_KNOWN}")
    return position
