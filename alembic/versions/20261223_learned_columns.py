"""Columns of models and programs fill in later, on a queue of their own, and their scores are stored by content."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261223"
down_revision = "20261222"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "scorer",
        sa.Column("id", BIG, nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scorer")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_scorer_content_hash")),
    )
    op.create_table(
        "segment_score",
        sa.Column("scorer_id", BIG, nullable=False),
        sa.Column("content_hash", sa.LargeBinary(length=32), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.Column("beside", sa.Text(), nullable=True),
        sa.Column("used_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scorer_id"], ["scorer.id"], name=op.f("fk_segment_score_scorer_id_scorer"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("scorer_id", "content_hash", name=op.f("pk_segment_score")),
    )
    with op.batch_alter_table("segment_score") as batch_op:
        batch_op.create_index(batch_op.f("ix_segment_score_used_at"), ["used_at"], unique=False)

    op.create_table(
        "learned_shard",
        sa.Column("protocol_id", BIG, nullable=False),
        sa.Column("metric", sa.SmallInteger(), nullable=False),
        sa.Column("specification", sa.String(length=500), nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("reduces", sa.Boolean(), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
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
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_learned_shard_state"),
        ),
        sa.ForeignKeyConstraint(["protocol_id"], ["protocol.id"], name=op.f("fk_learned_shard_protocol_id_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learned_shard")),
    )
    with op.batch_alter_table("learned_shard") as batch_op:
        batch_op.create_index("ix_learned_shard_ended_at", ["ended_at"], unique=False)
        batch_op.create_index(
            "ix_learned_shard_in_flight",
            ["state", "queue_class", "team"],
            unique=False,
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
        )
        batch_op.create_index(
            "ix_learned_shard_pending",
            ["queue_class", "team", "edition", "due_at", "id", "not_before"],
            unique=False,
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index(batch_op.f("ix_learned_shard_protocol_id"), ["protocol_id"], unique=False)
        batch_op.create_index(
            "ix_learned_shard_retried",
            ["attempts"],
            unique=False,
            postgresql_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
            sqlite_where=sa.text("state IN ('pending', 'enqueued') AND attempts > 0"),
        )

    op.create_table(
        "learned_column",
        sa.Column("evaluation_id", BIG, nullable=False),
        sa.Column("metric", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("remaining", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint("state IN ('waiting', 'done', 'failed')", name=op.f("ck_learned_column_state")),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_learned_column_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "metric", name=op.f("pk_learned_column")),
    )
    with op.batch_alter_table("learned_column") as batch_op:
        batch_op.create_index(
            "ix_learned_column_waiting",
            ["evaluation_id"],
            unique=False,
            postgresql_where=sa.text("state = 'waiting'"),
            sqlite_where=sa.text("state = 'waiting'"),
        )

    op.create_table(
        "learned_shard_evaluation",
        sa.Column("learned_shard_id", BIG, nullable=False),
        sa.Column("evaluation_id", BIG, nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_learned_shard_evaluation_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["learned_shard_id"],
            ["learned_shard.id"],
            name=op.f("fk_learned_shard_evaluation_learned_shard_id_learned_shard"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("learned_shard_id", "evaluation_id", name=op.f("pk_learned_shard_evaluation")),
    )
    with op.batch_alter_table("learned_shard_evaluation") as batch_op:
        batch_op.create_index(batch_op.f("ix_learned_shard_evaluation_evaluation_id"), ["evaluation_id"], unique=False)

    with op.batch_alter_table("worker") as batch_op:
        batch_op.add_column(sa.Column("queue", sa.String(length=50), server_default="", nullable=False))
        batch_op.add_column(sa.Column("device", sa.String(length=50), nullable=True))
        batch_op.add_column(sa.Column("lacks", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    # What is undefined only for now would stay so for ever, and be reused.
    for table in ("statistics", "score"):
        op.execute(
            f"DELETE FROM {table} WHERE EXISTS (SELECT 1 FROM learned_column c WHERE "  # noqa: S608
            f"c.evaluation_id = {table}.evaluation_id AND c.metric = {table}.metric AND c.state <> 'done')"
        )
    with op.batch_alter_table("worker") as batch_op:
        batch_op.drop_column("lacks")
        batch_op.drop_column("device")
        batch_op.drop_column("queue")
    for table in ("learned_shard_evaluation", "learned_column", "learned_shard", "segment_score", "scorer"):
        op.drop_table(table)
