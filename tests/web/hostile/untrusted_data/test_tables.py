"""Names and texts that would become formulas, or other rows, in the tables that people take away and open.

One writer makes all of them (`steelyard.tables.delimited`). What was there before looked at the first character only,
and wrote tables between tabs without quotation marks: a quotation mark in one team's description hid another's
submissions.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select, update

from models.database.session import reading, writing
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from steelyard.errors import BadText
from steelyard.formats.campaign.description import read_documents
from steelyard.formats.markup.mteval import read_mteval
from steelyard.formats.plain import read_lines
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.latex import comments, escaped
from steelyard.text.spreadsheets import SIGNS, cells_of, defused, restored
from tests.web.hostile.world import OPEN, World

ROOT = Path(__file__).parents[4]
UNSEEN = (
    " \t\r\n\x0b\x0c\x00\x1f\x7f\x85\xa0\xad\u034f\u061c\u115f\u180e\u2003\u200b\u200f\u2028\u2060\u2800\u3000\u3164"
)
UNSEEN += "\ufe0f\ufeff\uffa0\U000e0020"
HOSTILE = (
    *(
        "=1+1",
        "+1",
        "-1",
        "@SUM(1)",
        "＝1+1",
        "＋1",
        "－1",
        "＠a",
        "'=1",
        "''=1",
        '"=1',
        '=HYPERLINK("http://a.b","c")',
    ),
    *('"', '""', '"swallow', 'a"b', '"a\tb', "a\tb", "a,b", "a;b", "a\nb", "a\r\nb", "a\rb", "\r", "\n", "'", ""),
    *("x;=1", "x, =1", "x\t=1", "x\n=1", "x\r=1", '";=1;"', '","=1', "a\u2028=1", "=cmd|'/C calc'!A1", "\\", "\ud7ff"),
    *(f"{one}=1" for one in UNSEEN),
)
TEXTS = st.text(
    st.sampled_from([*UNSEEN, *SIGNS, *"\"',;|\\aé1"]) | st.characters(exclude_categories=["Cs"]), max_size=12
)


def undone(cell: str) -> str:
    """What `defused` was given."""
    for at in range(len(cell) - 1, -1, -1):
        if (
            cell[at] == "'"
            and (at == 0 or cell[at - 1] in ",;\t\r\n")
            and begins_a_formula(cell[at + 1 :], inner=at > 0)
        ):
            cell = cell[:at] + cell[at + 1 :]
    return cell


def begins_a_formula(text: str, *, inner: bool = False) -> bool:
    """As people say it: after apostrophes, and all that is not seen, there is a sign; an inner one ends with it."""
    for character in text:
        if character in SIGNS:
            return True
        if inner and character in "\t\r\n":
            return False
        seen = unicodedata.category(character)[0] not in "ZC" and character not in UNSEEN
        if seen and character != "'" and not invisible(character):
            return False
    return False


def invisible(character: str) -> bool:
    """What Unicode says may be left out wherever it cannot be shown."""
    ranges = (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0000, 0xE0FFF)
    return any(low <= ord(character) <= high for low, high in ranges)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_begins_as_a_formula_whatever_a_program_parts_cells_by(text: str) -> None:
    shown = defused(text)
    for separators in ("", ",;\t", "\t\r\n", ";", ",;\t\r\n"):
        cells = [shown]
        for separator in separators:
            cells = [part for cell in cells for part in cell.split(separator)]
        for cell in cells:
            assert not begins_a_formula(cell) or cell.lstrip(UNSEEN).startswith("'"), cell
    assert undone(shown) == text


@given(st.lists(st.tuples(TEXTS, TEXTS, st.none() | st.integers() | st.floats(allow_nan=False)), max_size=4))
@example([(text, text[::-1], -0.5) for text in HOSTILE])
def test_what_is_read_back_is_what_was_written(rows: list[tuple[str, str, float | None]]) -> None:
    for written, delimiter in ((as_tsv, "\t"), (as_csv, ",")):
        table = written(("one", "two", "number"), rows)
        header, *found = csv.reader(io.StringIO(table, newline=""), delimiter=delimiter, strict=True)
        assert header == ["one", "two", "number"]
        assert [(undone(one), undone(two), number) for one, two, number in found] == [
            (one, two, "" if number is None else repr(number)) for one, two, number in rows
        ]


def test_numbers_are_numbers_and_what_is_undefined_is_empty() -> None:
    assert as_csv(("a", "b", "c", "d"), [(-0.5, float("nan"), None, -3)]) == "a,b,c,d\n-0.5,,,-3\n"


@pytest.mark.parametrize("text", ["a\n\\input{/etc/passwd}", "a\r\\input{x}", "a\u2028b", "a\x85b"])
def test_a_note_in_latex_stays_a_comment_and_a_cell_on_its_line(text: str) -> None:
    assert len(comments([text]).splitlines()) == 1
    assert comments([text]).startswith("% ")
    assert len(escaped(text).splitlines()) == 1


@pytest.mark.parametrize("text", ["=1+1", "x\n＝1", '"swallow', 'a"\t=1', "\xa0=HYPERLINK(1)", "a\r\n99\tshown"])
def test_an_export_has_a_row_for_each_submission_whatever_teams_write(world: World, text: str) -> None:
    with writing(world.service.engine) as connection:
        shown = select(Submission.id).where(Submission.campaign_id == world.campaigns[OPEN])
        ids = connection.scalars(shown.order_by(Submission.id)).all()
        connection.execute(update(Declaration).where(Declaration.submission_id.in_(ids)).values(description=text))
        connection.execute(update(Submission).where(Submission.id.in_(ids)).values(run=text))
        system = select(Submission.system_id).where(Submission.id == ids[0]).scalar_subquery()
        connection.execute(update(System).where(System.id == system).values(name=text))
    with zipfile.ZipFile(
        io.BytesIO(world.program("organiser").get(f"/api/v1/campaigns/{OPEN}/export").content)
    ) as file:
        for name in (each for each in file.namelist() if each.endswith(".tsv")):
            lines = io.StringIO(file.read(name).decode(), newline="")
            for row in csv.reader(lines, delimiter="\t", strict=True):
                assert not [cell for cell in row if begins_a_formula(cell) and not cell.lstrip(UNSEEN).startswith("'")]
        table = io.StringIO(file.read("submissions.tsv").decode(), newline="")
        rows = list(csv.DictReader(table, delimiter="\t", strict=True))
    assert [int(row["id"]) for row in rows] == list(ids)
    assert {undone(row["description"]) for row in rows} == {text}
    assert {undone(row["run"]) for row in rows} == {text}
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        answer = world.program("rival").get(f"/api/v1/campaigns/{OPEN}/leaderboard?format={form}&shown=all")
        table = io.StringIO(answer.content.decode(), newline="")
        systems = [undone(row["system"]) for row in csv.DictReader(table, delimiter=delimiter, strict=True)]
        with reading(world.service.engine) as connection:
            assert set(systems) <= set(connection.scalars(select(System.name))), form
        assert text in systems


FORMATS_OF_OTHERS = {
    "library/steelyard/commands/scoring/score_scr.py",
    "library/steelyard/commands/mtrics/output.py",
    "library/steelyard/commands/scoring/test_sets.py",
    "campaigns/exports/human_scores.py",
    "campaigns/exports/metric_scores.py",
    "campaigns/exports/mt_metrics_eval.py",
}
"""NIST's, that of Kos (2008), sacreBLEU's and mt-metrics-eval's say how they part fields; no spreadsheet opens them."""


def test_nobody_else_writes_tables() -> None:
    """A verb or a page that joins cells by itself forgets the one or the other."""
    found = set()
    rooms = ("analysis", "campaigns", "cli", "models", "runtime", "scheduler", "web", "worker")
    for room in (*rooms, "library/steelyard/tables", "library/steelyard/commands"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                joins = isinstance(node, ast.Attribute) and node.attr == "join" and isinstance(node.value, ast.Constant)
                if joins and node.value.value == "\t":
                    found.add(str(path.relative_to(ROOT)))
                if isinstance(node, ast.Attribute) and node.attr in ("writer", "DictWriter"):
                    found.add(str(path.relative_to(ROOT)))
                if isinstance(node, ast.JoinedStr) and any(
                    isinstance(part, ast.Constant) and "\t" in str(part.value) for part in node.values
                ):
                    found.add(str(path.relative_to(ROOT)))
    assert found == {"library/steelyard/tables/delimited.py", *FORMATS_OF_OTHERS}


@given(TEXTS)
@example("'=1")
@example("\n=1")
def test_what_was_defused_is_restored(text: str) -> None:
    assert restored(defused(text)) == text


NAMES = TEXTS.map(lambda text: re.sub(r"[\t\r\n]", "", text)).filter(bool)
"""None has what parts cells or lines: readers of documents refuse it."""


@given(st.lists(NAMES, min_size=2, max_size=4))
@example(['"', '""'])
@example(['"a"', "'=1"])
def test_a_line_between_tabs_is_read_back(cells: list[str]) -> None:
    written = as_tsv(["x"] * len(cells), [cells])
    assert cells_of(written.removesuffix("\n").split("\n")[1]) == cells


@pytest.mark.parametrize("line", ['he said "no"\tx', '"Ahoj," řekl\t"a', '"\t"', '\'tis\t"a" "b"', "\t"])
def test_quotation_marks_of_others_stay(line: str) -> None:
    """WMT's tables hold translations without any quoting: no cell may swallow the next one."""
    assert cells_of(line) == line.split("\t")


@pytest.mark.parametrize("name", ['a "b" c', '"q"', "=1+1", "'=x", "-5", "x;=1", '"', "@x", "plain"])
def test_names_make_the_way_there_and_back(tmp_path: Path, name: str) -> None:
    """Documents by an export, systems and annotators by tables of judgments."""
    file = tmp_path / "docs.tsv"
    file.write_text(as_tsv(("segment", "doc_id", "domain"), [[0, name, name]]))
    ((found,), _, _) = read_documents(read_lines(file), 1)
    assert (found.doc_id, found.domain) == (name, name)
    for write in (as_tsv, as_csv):
        table = write(
            ("annotator", "system", "doc_id", "seg_in_doc", "score"),
            [[name, name, name, 1, 50.0], [name, "other", name, 1, 60.0]],
        )
        judged = read_judgments([table.encode()], Reading(1, {name: [0]}))
        assert {(each.annotator, each.system) for each in judged.judgments} == {(name, name), (name, "other")}


@pytest.mark.parametrize("odd", ["&#9;", "&#10;", "&#13;", "&#x9b;"])
@pytest.mark.parametrize("attribute", ["docid", "genre"])
def test_no_document_has_a_name_that_parts_lines(odd: str, attribute: str) -> None:
    names = {"docid": "d", "genre": "news", attribute: f"a{odd}b"}
    doc = " ".join(f'{key}="{value}"' for key, value in names.items())
    text = f'<mteval><srcset setid="x" srclang="en"><doc {doc}><seg id="1">a</seg></doc></srcset></mteval>'
    if odd == "&#x9b;":
        with pytest.raises(BadText, match="control character"):
            read_mteval(text.encode())
        return
    (read,) = read_mteval(text.encode()).texts.values()
    (document,) = read.documents.values()
    assert {document.doc_id, document.domain} == {*names.values(), "a b"} - {names[attribute]}
