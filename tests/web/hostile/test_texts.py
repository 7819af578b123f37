"""Small files that took minutes: each holds up nobody now."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from metrics import Meteor
from metrics.batch import Batch
from metrics.segments import Segments
from tests.web.hostile.world import PRIVATE, Template, World

ADDRESS = f"/api/v1/campaigns/{PRIVATE}/diagnosis"


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield world_template.copy(tmp_path_factory.mktemp("texts"), stack)


def test_a_comment_of_blanks_is_read_at_once(world: World) -> None:
    """A regular expression looked for its end at each: a kilobyte, packed, kept the whole server for an hour."""
    comment = b"# text = a" + b" " * 999_000 + b"b\n1\ta\ta" + b"\t_" * 7 + b"\n"
    said = world.program("lead").post(
        ADDRESS,
        data={"system": "new", "team": "harbour"},
        files={"file": ("out.conllu", gzip.compress(comment, mtime=0))},
    )
    assert said.status_code == 200, said.text
    assert [each["code"] for each in said.json()["findings"]] == ["count"]


def test_marks_in_disorder_are_composed_at_once() -> None:
    """Python moves each past all that belong behind it: four such outputs kept the workers for four minutes."""
    hypothesis = "a" + "\u0301\u0323" * 400_000
    texts = Segments(references=[b"a b"], hypotheses=[hypothesis.encode()])
    statistics = Meteor().segment_statistics(Batch(texts))
    assert statistics.shape[:2] == (1, 1)
