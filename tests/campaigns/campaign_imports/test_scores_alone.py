"""A campaign of imported scores, without any text, exported and taken in again."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import select

from models.database.session import reading
from models.schema.corpus import TestSet
from tests.campaigns.campaign_imports.zips import exported, taken_in
from tests.campaigns.score_imports.scores import boards, take_in
from tests.service.service import Service


def test_a_campaign_without_texts_comes_back_with_its_segments_and_scores(service: Service, tmp_path: Path) -> None:
    service.campaign("wmt25")
    for number, system in enumerate(("ant", "bee")):
        lines = [
            {
                "language_pair": "en-cs_CZ",
                "domain": "news",
                "document_id": name,
                "metric_scores": {"X": [number, number + 0.5, None]},
            }
            for name in ("a", "b")
        ]
        (tmp_path / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    take_in(service.engine, "wmt25", *sorted(tmp_path.glob("*.jsonl")), create=True)
    taken_in(service, exported(service, "wmt25"), tmp_path)
    with reading(service.engine) as connection:
        # The very same test set.
        assert list(connection.scalars(select(TestSet.segments))) == [6]
    for campaign in ("wmt25", "copy"):
        ((_, rows),) = boards(service.engine, campaign).values()
        assert {system: [score.score for score in row.scores] for system, row in rows.items()} == {
            "ant": [0.25],
            "bee": [1.25],
        }
