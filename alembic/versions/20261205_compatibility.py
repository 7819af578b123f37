"""which programs can work with the tables, the revision of workers, and the edition of prepared states."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261205"
down_revision = "20261204"
branch_labels = None
depends_on = None

# All migrations since then only add.
OLDEST = "20261127"


def upgrade() -> None:
    table = op.create_table(
        "compatibility",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("oldest", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_compatibility")),
    )
    op.bulk_insert(table, [{"id": 1, "oldest": OLDEST}])
    op.add_column("worker", sa.Column("revision", sa.String(length=32), nullable=True))
    op.add_column("prepared_state", sa.Column("edition", sa.Integer(), server_default="1", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("prepared_state") as batch_op:
        batch_op.drop_column("edition")
    with op.batch_alter_table("worker") as batch_op:
        batch_op.drop_column("revision")
    op.drop_table("compatibility")
