"""Times on the command line, and what becomes of them."""

from pathlib import Path

import pytest
from sqlalchemy import select

from campaigns.demo import demo_folder
from cli.main import main
from models.database.session import make_engine, reading
from models.schema.queue import Evaluation
from models.schema.states import QueueClass
from steelyard_client.commands.urgency import Due, due_time


def test_times_from_now_and_with_a_zone() -> None:
    assert due_time("2h") == Due(7200.0, from_now=True)
    assert due_time("90m") == Due(5400.0, from_now=True)
    assert due_time("1.5d") == Due(129600.0, from_now=True)
    assert due_time("2026-11-30T18:00+01:00") == Due(1796058000.0, from_now=False)
    assert due_time("2026-11-30T17:00Z") == Due(1796058000.0, from_now=False)


def test_a_deadline_depends_on_the_time_where_it_is_from_now() -> None:
    assert due_time("2h").at(1000.0) == 8200.0
    assert due_time("2026-11-30T17:00Z").at(1000.0) == 1796058000.0
    assert due_time("3650d") == Due(3650 * 86400.0, from_now=True)


@pytest.mark.parametrize("text", ["3651d", "", "2", "-2h", "2w", "99999d", "2026-11-30T18:00", "tomorrow", "1e3h"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="with its zone"):
        due_time(text)


def test_evaluate_hands_class_and_time_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    arguments = ["-m", "bleu", "--references", "A", "--confidence", "0", "--database", url, "--processes", "1"]
    arguments += ["--output", str(tmp_path / "report"), "--class", "interactive", "--due", "2h"]
    assert main(["evaluate", str(demo_folder()), *arguments]) == 0
    with reading(make_engine(url)) as connection:
        rows = connection.execute(select(Evaluation.queue_class, Evaluation.due_at, Evaluation.created_at)).all()
    assert rows
    for row in rows:
        assert row.queue_class == QueueClass.INTERACTIVE
        assert 3600 < row.due_at - row.created_at <= 7200
