"""Where each score of a file stands in a test set: by order, by ids, by numbers, by documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from campaigns.errors import BadRequest
from campaigns.score_imports.placement import Segmented, place
from models.corpus.test_sets import DocumentSegments
from steelyard.formats.scores.score_runs import ScoredDocument
from steelyard.formats.scores.score_tables import MetricTable


def known(*documents: tuple[str, list[int], list[str] | None]) -> Segmented:
    """A test set of these documents: name, segments, ids."""
    total = sum(len(positions) for _, positions, _ in documents)
    return Segmented("news", total, {name: DocumentSegments(positions, ids) for name, positions, ids in documents})


def scores(*documents: tuple[str, Sequence[str] | int], level: str = "segment") -> MetricTable:
    """Scores of these documents: name, ids or how many."""
    found = tuple(
        ScoredDocument("", name, ids, None) if isinstance(ids, int) else ScoredDocument("", name, len(ids), tuple(ids))
        for name, ids in documents
    )
    return MetricTable("M", level, np.zeros((1, sum(each.size for each in found))), documents=found)


# The second document begins before the first one ends.
TWO = known(("quay", [0, 1, 3], ["q1", "q2", "q3"]), ("mast", [2, 4], ["m1", "m2"]))
NUMBERED = known(("quay", [0, 1, 3], ["1", "2", "3"]), ("mast", [2, 4], ["1", "2"]))
WITHOUT_IDS = known(("quay", [0, 1, 3], None), ("mast", [2, 4], None))
WITHOUT_DOCUMENTS = Segmented("news", 5, {})
LONG = known(("a", list(range(12)), None), ("b", list(range(12, 14)), None))
WMT25 = known(("en-cs_#_news_#_doc-1", [0, 1], None), ("en-cs_#_speech_#_vid_clip", [2], None), ("other", [3], None))


@pytest.mark.parametrize(
    ("test_set", "table", "places"),
    [
        # Without documents: all segments in order, by their own ids, or by numbers from 1, else from 0.
        (TWO, scores(("", 5)), [0, 1, 2, 3, 4]),
        (TWO, scores(("", ["m2", "q1", "q3"])), [4, 0, 3]),
        (WITHOUT_IDS, scores(("", ["5", "1", "3"])), [4, 0, 2]),
        (WITHOUT_IDS, scores(("", ["1", "2"])), [0, 1]),
        (WITHOUT_IDS, scores(("", ["0", "4"])), [0, 4]),
        # Ids that are not unique in the whole test set are numbers of segments instead.
        (NUMBERED, scores(("", ["3", "1"])), [2, 0]),
        # By document: each in its own order, whichever comes first.
        (TWO, scores(("mast", 2), ("quay", 3)), [2, 4, 0, 1, 3]),
        (TWO, scores(("mast", ["m2"]), ("quay", ["q3", "q1"])), [4, 3, 0]),
        # One that the test set lacks has no place for any of its scores.
        (TWO, scores(("pier", 2), ("mast", 2), ("quay", 3)), [None, None, 2, 4, 0, 1, 3]),
        # Numbers count through the whole test set from 1 where all fit that, else through each document, else from 0.
        (WITHOUT_IDS, scores(("quay", ["1", "2", "4"]), ("mast", ["3", "5"])), [0, 1, 3, 2, 4]),
        (WITHOUT_IDS, scores(("quay", ["3", "2", "1"]), ("mast", ["2"])), [3, 1, 0, 4]),
        (WITHOUT_IDS, scores(("quay", ["0", "1", "3"]), ("mast", ["2", "4"])), [0, 1, 3, 2, 4]),
        (WITHOUT_IDS, scores(("quay", ["0", "1", "2"]), ("mast", ["0", "1"])), [0, 1, 3, 2, 4]),
        (LONG, scores(("a", ["1", "2"]), ("b", ["13", "14"])), [0, 1, 12, 13]),
        (LONG, scores(("a", ["1", "12"]), ("b", ["1", "2"])), [0, 11, 12, 13]),
        # Where the test set knows no documents, numbers through the whole test set tell.
        (WITHOUT_DOCUMENTS, scores(("quay", ["1", "2", "4"]), ("mast", ["3", "5"])), [0, 1, 3, 2, 4]),
        (WITHOUT_DOCUMENTS, scores(("quay", ["0", "1"]), ("mast", ["2"])), [0, 1, 2]),
        (WITHOUT_DOCUMENTS, scores(("all", 5)), [0, 1, 2, 3, 4]),
        # WMT25 writes pair and domain before names in one place, and vid_ before spoken ones, and not in another.
        (WMT25, scores(("doc-1", 2), ("clip", 1), ("other", 1)), [0, 1, 2, 3]),
        (known(("doc", [0], None), ("vid_clip", [1], None)), scores(("x_#_y_#_doc", 1), ("clip", 1)), [0, 1]),
        (known(("clip", [0], None), ("vid_clip", [1], None)), scores(("clip", 1), ("vid_clip", 1)), [0, 1]),
        # A score of a document stands at its first segment, one of a system at the first of all.
        (TWO, scores(("", ["mast", "quay"]), level="document"), [2, 0]),
        (TWO, scores(("", ["pier", "mast"]), level="document"), [None, 2]),
        (TWO, scores(("", 2), level="document"), [0, 2]),
        (TWO, scores(("", 1), level="system"), [0]),
    ],
)
def test_places(test_set: Segmented, table: MetricTable, places: list[int | None]) -> None:
    assert list(place(table, test_set).places) == places


def test_what_is_missing_and_what_is_unknown_is_said() -> None:
    found = place(scores(("mast", 2), ("pier", 1)), TWO)
    assert found.notices == [
        "M: no scores of 1 document of news: 'quay'.",
        "M: left out, for news has no such documents: 'pier'.",
    ]
    assert place(scores(("mast", 2), ("quay", 3)), TWO).notices == []
    found = place(scores(("", ["mast", "pier"]), level="document"), TWO)
    assert len(found.notices) == 2
    found = place(scores(("", ["5", "1", "3"])), WITHOUT_DOCUMENTS)
    assert found.notices == ["M: no scores of 2 segments of news: 2, 4."]
    assert place(scores(("quay", ["q1", "q3"])), TWO).notices == [
        "M: no scores of 1 document of news: 'mast'.",
        "M: no scores of 1 segment of news: 2.",
    ]


@pytest.mark.parametrize(
    ("test_set", "table", "message"),
    [
        (TWO, scores(("", 4)), "There are 4 scores by M for each system, but the test set news has 5 segments"),
        (TWO, scores(("", 3), ("", 2)), "do not name their documents"),
        (WITHOUT_DOCUMENTS, scores(("quay", 3), ("mast", 2)), "are of documents, and the test set news has none"),
        (WITHOUT_DOCUMENTS, scores(("quay", ["1", "2"]), ("mast", ["1"])), "Number their segments through the whole"),
        (TWO, scores(("", ["6"])), "The ids of segments in the scores by M are not those of the test set news.*: '6'"),
        (WITHOUT_IDS, scores(("", ["0", "5"])), "are not those of the test set news, which has 5 segments"),
        (WITHOUT_IDS, scores(("", ["1", "2", "5", "6"])), "which has 5 segments: '6'\\."),
        (WITHOUT_IDS, scores(("", ["x1"])), "are not those of the test set"),
        (WITHOUT_IDS, scores(("", ["²"])), "are not those of the test set"),
        (TWO, scores(("mast", 3), ("quay", 3)), "There are 3 scores by M .* but document 'mast' of the test set news"),
        (
            TWO,
            scores(("mast", ["m3"]), ("quay", ["q1"])),
            "are not those of document 'mast' of the test set news: 'm3'",
        ),
        (WITHOUT_IDS, scores(("mast", ["9"]), ("quay", ["1"])), "are not those of document"),
        (
            TWO,
            scores(("pier", 1), ("dock", 1)),
            "are of other documents than those of the test set news: 'pier', 'dock'",
        ),
        (TWO, scores(("", ["pier"]), level="document"), "are of other documents than those of news"),
        (TWO, scores(("", 3), level="document"), "the test set news has 2 documents"),
        # Two documents end alike: neither is meant.
        (known(("a_#_x", [0], None), ("b_#_x", [1], None)), scores(("x", 1)), "are of other documents"),
    ],
)
def test_what_does_not_fit_is_refused(test_set: Segmented, table: MetricTable, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        place(table, test_set)
