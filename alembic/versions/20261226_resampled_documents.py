"""Protocols say whether replicates draw segments or documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261226"
down_revision = "20261224"
branch_labels = None
depends_on = None

UNITS = "resample IN ('segment', 'document')"


def upgrade() -> None:
    with op.batch_alter_table("protocol") as batch_op:
        batch_op.add_column(sa.Column("resample", sa.String(length=16), server_default="segment", nullable=False))
        batch_op.create_check_constraint(op.f("ck_protocol_resample"), UNITS)
    # Those that were here before a downgrade: the signatures of their scores still say it.
    op.execute(
        "UPDATE protocol SET resample = 'document' WHERE id IN (SELECT evaluation.protocol_id FROM evaluation "
        "JOIN score ON score.evaluation_id = evaluation.id WHERE score.signature LIKE '%|resample:document|%')"
    )


def downgrade() -> None:
    with op.batch_alter_table("protocol") as batch_op:
        batch_op.drop_constraint(op.f("ck_protocol_resample"), type_="check")
        batch_op.drop_column("resample")
