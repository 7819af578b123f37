"""A migration breaks in the middle of work: all of it is rolled back, and the mended one goes through."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError

from models.database import migrate
from models.database.migrate import REVISION
from tests.faults.cluster import SHORT_TIMES, Cluster
from tests.faults.drills.drill import LATER, SLOW, calm, ends_as, in_the_middle, start

pytestmark = [pytest.mark.faults, pytest.mark.long]

NEXT = "29990101"
MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "{next}"
down_revision = "{revision}"
branch_labels = depends_on = None


def upgrade():
    op.add_column("shard", sa.Column("next", sa.Text()))
    op.execute("UPDATE shard SET next = 'seen'")
    op.create_table("next", sa.Column("id", sa.Integer(), primary_key=True))
    op.execute("{last}")


def downgrade():
    op.drop_table("next")
    op.drop_column("shard", "next")
"""


def test_it_breaks_and_is_mended(
    tmp_path: Path, postgres_url: str, redis_url: str, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = calm(sqlite_template, tmp_path, SLOW, LATER)
    folder = shutil.copytree(migrate.migrations_folder(), tmp_path / "alembic")
    file = folder / "versions" / f"{NEXT}_next.py"
    monkeypatch.setattr(migrate, "migrations_folder", lambda: folder)
    with Cluster(tmp_path, postgres_url, redis_url, **SHORT_TIMES) as cluster:
        start(cluster)
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        file.write_text(MIGRATION.format(next=NEXT, revision=REVISION, last="SELECT 1 / 0"))
        with pytest.raises(DBAPIError, match="division by zero"):
            migrate.upgrade(postgres_url)
        assert migrate.current_revision(postgres_url) == REVISION
        assert "next" not in inspect(cluster.engine).get_table_names()
        assert "next" not in {column["name"] for column in inspect(cluster.engine).get_columns("shard")}
        LATER.queue(cluster.engine)
        in_the_middle(cluster)
        file.write_text(MIGRATION.format(next=NEXT, revision=REVISION, last="SELECT 1"))
        migrate.upgrade(postgres_url)
        assert migrate.current_revision(postgres_url) == NEXT
        # And back, while the work goes on.
        migrate.downgrade(postgres_url, REVISION)
        assert migrate.current_revision(postgres_url) == REVISION
        ends_as(cluster, expected)
