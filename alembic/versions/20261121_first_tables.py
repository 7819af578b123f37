"""first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261121"
down_revision = None
branch_labels = None
depends_on = None

BLOBS = (
    ("statistics", "blob"),
    ("replicate_part", "blob"),
    ("score", "sums"),
    ("score", "replicate_scores"),
)


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("name", name=op.f("uq_campaign_name")),
    )
    op.create_table(
        "system",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_system")),
        sa.UniqueConstraint("team", "name", name=op.f("uq_system_team_name")),
    )
    op.create_table(
        "text",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text")),
        sa.UniqueConstraint("sha256", name=op.f("uq_text_sha256")),
    )
    op.create_table(
        "worker",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("beat_at", sa.Double(), nullable=False),
        sa.Column("version", sa.String(length=50), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker")),
    )
    op.create_table(
        "test_set",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=50), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("source_language", sa.String(length=35), nullable=False),
        sa.Column("target_language", sa.String(length=35), nullable=False),
        sa.Column("source_text_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("variable_references", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["source_text_id"], ["text.id"], name=op.f("fk_test_set_source_text_id_text")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_test_set")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_test_set_content_hash")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_test_set_name_version")),
    )
    op.create_table(
        "text_block",
        sa.Column("text_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_text_block_text_id_text"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("text_id", "block", name=op.f("pk_text_block")),
    )
    op.create_table(
        "document",
        sa.Column("test_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first_segment", sa.Integer(), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=500), nullable=False),
        sa.Column("domain", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["test_set_id"],
            ["test_set.id"],
            name=op.f("fk_document_test_set_id_test_set"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("test_set_id", "first_segment", name=op.f("pk_document")),
    )
    op.create_table(
        "protocol",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("test_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reference_labels", sa.JSON(), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("replicates", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["test_set_id"], ["test_set.id"], name=op.f("fk_protocol_test_set_id_test_set")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_protocol")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_protocol_content_hash")),
    )
    with op.batch_alter_table("protocol", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_protocol_test_set_id"), ["test_set_id"], unique=False)

    op.create_table(
        "reference",
        sa.Column("test_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["test_set_id"],
            ["test_set.id"],
            name=op.f("fk_reference_test_set_id_test_set"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_reference_text_id_text")),
        sa.PrimaryKeyConstraint("test_set_id", "label", name=op.f("pk_reference")),
        sa.UniqueConstraint("test_set_id", "position", name=op.f("uq_reference_test_set_id_position")),
    )
    with op.batch_alter_table("reference", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reference_text_id"), ["text_id"], unique=False)

    op.create_table(
        "submission",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("campaign_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("test_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("system_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("text_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_submission_campaign_id_campaign")),
        sa.ForeignKeyConstraint(["system_id"], ["system.id"], name=op.f("fk_submission_system_id_system")),
        sa.ForeignKeyConstraint(["test_set_id"], ["test_set.id"], name=op.f("fk_submission_test_set_id_test_set")),
        sa.ForeignKeyConstraint(["text_id"], ["text.id"], name=op.f("fk_submission_text_id_text")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint(
            "campaign_id",
            "test_set_id",
            "system_id",
            "text_id",
            name=op.f("uq_submission_campaign_id_test_set_id_system_id_text_id"),
        ),
    )
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_submission_system_id"), ["system_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_test_set_id"), ["test_set_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_submission_text_id"), ["text_id"], unique=False)

    op.create_table(
        "reduction",
        sa.Column("protocol_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("queue_class", sa.SmallInteger(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("enqueued_at", sa.Double(), nullable=True),
        sa.Column("owner", sa.String(length=100), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_reduction_state"),
        ),
        sa.ForeignKeyConstraint(["protocol_id"], ["protocol.id"], name=op.f("fk_reduction_protocol_id_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reduction")),
    )
    with op.batch_alter_table("reduction", schema=None) as batch_op:
        batch_op.create_index(
            "ix_reduction_in_flight",
            ["state", "queue_class", "team"],
            unique=False,
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
            sqlite_where=sa.text("state IN ('enqueued', 'running')"),
        )
        batch_op.create_index(
            "ix_reduction_pending",
            ["queue_class", "team", "id"],
            unique=False,
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index(batch_op.f("ix_reduction_protocol_id"), ["protocol_id"], unique=False)

    op.create_table(
        "shard",
        sa.Column("protocol_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("queue_class", sa.SmallInteger(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("enqueued_at", sa.Double(), nullable=True),
        sa.Column("owner", sa.String(length=100), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_shard_state"),
        ),
        sa.ForeignKeyConstraint(["protocol_id"], ["protocol.id"], name=op.f("fk_shard_protocol_id_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shard")),
    )
    with op.batch_alter_table("shard", schema=None) as batch_op:
        batch_op.create_index(
            "ix_shard_in_flight",
            ["state", "queue_class", "team"],
            unique=False,
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
            sqlite_where=sa.text("state IN ('enqueued', 'running')"),
        )
        batch_op.create_index(
            "ix_shard_pending",
            ["queue_class", "team", "id"],
            unique=False,
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.create_index(batch_op.f("ix_shard_protocol_id"), ["protocol_id"], unique=False)

    op.create_table(
        "evaluation",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("submission_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("protocol_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("queue_class", sa.SmallInteger(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("remaining", sa.Integer(), nullable=False),
        sa.Column("reduction_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'reducing', 'done', 'failed', 'cancelled')",
            name=op.f("ck_evaluation_state"),
        ),
        sa.ForeignKeyConstraint(["protocol_id"], ["protocol.id"], name=op.f("fk_evaluation_protocol_id_protocol")),
        sa.ForeignKeyConstraint(["reduction_id"], ["reduction.id"], name=op.f("fk_evaluation_reduction_id_reduction")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_evaluation_submission_id_submission")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
        sa.UniqueConstraint("submission_id", "protocol_id", name=op.f("uq_evaluation_submission_id_protocol_id")),
    )
    with op.batch_alter_table("evaluation", schema=None) as batch_op:
        batch_op.create_index(
            "ix_evaluation_open",
            ["state"],
            unique=False,
            postgresql_where=sa.text("state IN ('queued', 'running', 'reducing')"),
            sqlite_where=sa.text("state IN ('queued', 'running', 'reducing')"),
        )
        batch_op.create_index(batch_op.f("ix_evaluation_protocol_id"), ["protocol_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_evaluation_reduction_id"), ["reduction_id"], unique=False)

    op.create_table(
        "replicate_part",
        sa.Column("evaluation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("metric", sa.SmallInteger(), nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_replicate_part_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "metric", "first_block", name=op.f("pk_replicate_part")),
    )
    op.create_table(
        "score",
        sa.Column("evaluation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("metric", sa.SmallInteger(), nullable=False),
        sa.Column("specification", sa.String(length=500), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("higher_is_better", sa.Boolean(), nullable=False),
        sa.Column("scale", sa.Double(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("sums", sa.LargeBinary(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("replicate_scores", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_score_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "metric", name=op.f("pk_score")),
    )
    op.create_table(
        "shard_evaluation",
        sa.Column("shard_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("evaluation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_shard_evaluation_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["shard_id"], ["shard.id"], name=op.f("fk_shard_evaluation_shard_id_shard"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("shard_id", "evaluation_id", name=op.f("pk_shard_evaluation")),
    )
    with op.batch_alter_table("shard_evaluation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_shard_evaluation_evaluation_id"), ["evaluation_id"], unique=False)

    op.create_table(
        "statistics",
        sa.Column("evaluation_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("metric", sa.SmallInteger(), nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_statistics_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("evaluation_id", "metric", "first_block", name=op.f("pk_statistics")),
    )

    if op.get_bind().dialect.name == "postgresql":
        # Counts are compressed before they are stored and floats cannot be: trying again costs time.
        for table, column in BLOBS:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("statistics")
    with op.batch_alter_table("shard_evaluation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_shard_evaluation_evaluation_id"))

    op.drop_table("shard_evaluation")
    op.drop_table("score")
    op.drop_table("replicate_part")
    with op.batch_alter_table("evaluation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_evaluation_reduction_id"))
        batch_op.drop_index(batch_op.f("ix_evaluation_protocol_id"))
        batch_op.drop_index(
            "ix_evaluation_open",
            postgresql_where=sa.text("state IN ('queued', 'running', 'reducing')"),
            sqlite_where=sa.text("state IN ('queued', 'running', 'reducing')"),
        )

    op.drop_table("evaluation")
    with op.batch_alter_table("shard", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_shard_protocol_id"))
        batch_op.drop_index(
            "ix_shard_pending",
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.drop_index(
            "ix_shard_in_flight",
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
            sqlite_where=sa.text("state IN ('enqueued', 'running')"),
        )

    op.drop_table("shard")
    with op.batch_alter_table("reduction", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reduction_protocol_id"))
        batch_op.drop_index(
            "ix_reduction_pending",
            postgresql_where=sa.text("state = 'pending'"),
            sqlite_where=sa.text("state = 'pending'"),
        )
        batch_op.drop_index(
            "ix_reduction_in_flight",
            postgresql_where=sa.text("state IN ('enqueued', 'running')"),
            sqlite_where=sa.text("state IN ('enqueued', 'running')"),
        )

    op.drop_table("reduction")
    with op.batch_alter_table("submission", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_submission_text_id"))
        batch_op.drop_index(batch_op.f("ix_submission_test_set_id"))
        batch_op.drop_index(batch_op.f("ix_submission_system_id"))

    op.drop_table("submission")
    with op.batch_alter_table("reference", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reference_text_id"))

    op.drop_table("reference")
    with op.batch_alter_table("protocol", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_protocol_test_set_id"))

    op.drop_table("protocol")
    op.drop_table("document")
    op.drop_table("text_block")
    op.drop_table("test_set")
    op.drop_table("worker")
    op.drop_table("text")
    op.drop_table("system")
    op.drop_table("campaign")
