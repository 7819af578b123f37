"""The findings of the checks on a submission are called by this name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261222"
down_revision = "20261221"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _rename("diagnosis", "submission_findings")
    # Older programs look for the table by its name.
    op.execute("UPDATE compatibility SET oldest = '20261222'")


def downgrade() -> None:
    _rename("submission_findings", "diagnosis")
    op.execute("UPDATE compatibility SET oldest = '20261220'")


def _rename(old: str, new: str) -> None:
    # A table of its own, since SQLite cannot rename constraints; nothing refers to it.
    op.create_table(
        new,
        sa.Column("submission_id", BIG, nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f(f"fk_{new}_submission_id_submission"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f(f"pk_{new}")),
    )
    op.execute(f"INSERT INTO {new} (submission_id, findings) SELECT submission_id, findings FROM {old}")  # noqa: S608
    op.drop_table(old)
