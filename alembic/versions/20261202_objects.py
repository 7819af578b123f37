"""statistics in an object store; room for updates in the tables that change most."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261202"
down_revision = "20261129"
branch_labels = None
depends_on = None

RESULTS = ("statistics", "replicate_part")
CHANGING = ("shard", "evaluation", "reduction", "preparation", "trials", "worker")


def upgrade() -> None:
    for table in RESULTS:
        op.add_column(table, sa.Column("object_url", sa.String(length=500), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        for table in CHANGING:
            # A row changes a few times and then never again: new versions find room on its page, and what they leave
            # is swept before a fifth of a large table has to be.
            op.execute(
                f"ALTER TABLE {table} SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, "
                "autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0.02)"
            )


def downgrade() -> None:
    connection = op.get_bind()
    for table in RESULTS:
        results = sa.table(table, sa.column("object_url"))
        if connection.scalar(sa.select(results.c.object_url).where(results.c.object_url.is_not(None)).limit(1)):
            raise RuntimeError(
                f"The table {table} has rows whose bytes lie in objects, of which the older schema knows nothing."
            )
    if connection.dialect.name == "postgresql":
        for table in CHANGING:
            op.execute(
                f"ALTER TABLE {table} RESET (fillfactor, autovacuum_vacuum_scale_factor, "
                "autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor)"
            )
    for table in RESULTS:
        with op.batch_alter_table(table) as batch_op:
            batch_op.drop_column("object_url")
