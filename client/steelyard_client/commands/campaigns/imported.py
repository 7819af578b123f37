"""What came in with a campaign, or would, as tables: its test sets, and the judgments of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.notices import note
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.names import printable
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse, ImportedTestSet


def print_imported(found: CampaignImportedResponse) -> int:
    """Print what was stored of each test set, or would be, and what was left out."""
    if not found.stored:
        print("Nothing is stored: this is what would be.")
    tables = [_test_sets(found.by_test_set)]
    if found.judgments:
        tables.append(_judgments(found.by_test_set))
    print(render(tables, "text", f"Imported as {found.name}"))
    print(
        f"{found.name}: {number_of(found.test_sets, 'test set')}, {number_of(found.submissions, 'output')}, "
        f"{number_of(found.judgments, 'file')} of human judgments, {number_of(found.imported, 'imported metric')}.",
        flush=True,
    )
    note(found.notices)
    return 0


def _test_sets(found: Sequence[ImportedTestSet]) -> Table:
    columns = [
        Column("test_set", "Test set", Kind.NAME),
        Column("pair", "Pair"),
        Column("spelt", "Also spelt"),
        Column("segments", "Segments", Kind.COUNT),
        Column("documents", "Documents", Kind.COUNT),
        Column("references", "References"),
        Column("systems", "Systems", Kind.COUNT),
        Column("missing", "Without"),
        Column("judgments", "Judgments", Kind.COUNT),
        Column("scores", "Imported metrics", Kind.COUNT),
    ]
    rows = [
        [
            each.test_set,
            each.pair,
            _names(each.spelt),
            each.segments,
            each.documents,
            _names(each.references),
            len(each.systems),
            _names(each.missing),
            len(each.judgments),
            len(each.scores),
        ]
        for each in found
    ]
    return Table(columns, rows, key="test_sets")


def _judgments(found: Sequence[ImportedTestSet]) -> Table:
    columns = [
        Column("test_set", "Test set", Kind.NAME),
        Column("judgments", "Judgments", Kind.NAME),
        Column("segments", "Segments", Kind.COUNT),
        Column("matched", "Systems", Kind.COUNT),
        Column("references", "References"),
        Column("unknown", "Judged without output"),
        Column("not_judged", "Not judged"),
    ]
    rows = [
        [
            each.test_set,
            judged.name,
            judged.segments,
            len(judged.matched),
            _names(judged.references),
            _names(judged.unknown),
            _names(judged.not_judged),
        ]
        for each in found
        for judged in each.judgments
    ]
    return Table(columns, rows, key="judgments")


def _names(names: Sequence[str]) -> str:
    return listed([printable(each) for each in names]) if names else ""
