"""Columns of metrics tasks: computed by workers, and kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270113"
down_revision = "20270112"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "metrics_task_part",
        sa.Column("campaign_id", BIG, nullable=False),
        sa.Column("protocol_id", BIG, nullable=False),
        sa.Column("judgments_id", BIG, nullable=False),
        sa.Column("pair", sa.String(length=300), nullable=False),
        sa.Column("statistic", sa.String(length=30), nullable=False),
        sa.Column("inputs", sa.String(length=64), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.Column("id", BIG, nullable=False),
        sa.Column("queue_class", sa.SmallInteger(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("enqueued_at", sa.Double(), nullable=True),
        sa.Column("owner", sa.String(length=100), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("edition", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=True),
        sa.Column("claimed_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("refused_by", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("trace", sa.String(length=55), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_metrics_task_part_state"),
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_metrics_task_part_campaign_id_campaign"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["judgments_id"],
            ["judgments.id"],
            name=op.f("fk_metrics_task_part_judgments_id_judgments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["protocol_id"], ["protocol.id"], name=op.f("fk_metrics_task_part_protocol_id_protocol"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metrics_task_part")),
        sa.UniqueConstraint(
            "protocol_id",
            "campaign_id",
            "judgments_id",
            "statistic",
            "inputs",
            name="uq_metrics_task_part_inputs",
        ),
    )
    with op.batch_alter_table("metrics_task_part") as batch_op:
        batch_op.create_index(batch_op.f("ix_metrics_task_part_campaign_id"), ["campaign_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_metrics_task_part_judgments_id"), ["judgments_id"], unique=False)
        batch_op.create_index("ix_metrics_task_part_ended_at", ["ended_at"], unique=False)
        batch_op.create_index(
            "ix_metrics_task_part_in_flight",
            ["state", "queue_class", "team"],
            unique=False,
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
        )
        batch_op.create_index(
            "ix_metrics_task_part_pending",
            ["queue_class", "team", "edition", "due_at", "id", "not_before"],
            unique=False,
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index(
            "ix_metrics_task_part_retried",
            ["attempts"],
            unique=False,
            postgresql_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
            sqlite_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
        )


def downgrade() -> None:
    op.drop_table("metrics_task_part")
