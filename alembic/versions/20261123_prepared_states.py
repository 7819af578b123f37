"""what is counted in the references before shards are scored."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261123"
down_revision = "20261122"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING, IN_FLIGHT = sa.text("state = 'pending'"), sa.text("state IN ('enqueued', 'running')")


def upgrade() -> None:
    op.create_table(
        "prepared_state",
        sa.Column("id", BIG, nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("metric", sa.String(length=500), nullable=False),
        sa.Column("reference_texts", sa.JSON(), nullable=False),
        sa.Column("variable_references", sa.Boolean(), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prepared_state")),
        sa.UniqueConstraint("content_hash", name=op.f("uq_prepared_state_content_hash")),
    )
    op.create_table(
        "protocol_state",
        sa.Column("protocol_id", BIG, nullable=False),
        sa.Column("prepared_state_id", BIG, nullable=False),
        sa.ForeignKeyConstraint(
            ["protocol_id"], ["protocol.id"], name=op.f("fk_protocol_state_protocol_id_protocol"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["prepared_state_id"],
            ["prepared_state.id"],
            name=op.f("fk_protocol_state_prepared_state_id_prepared_state"),
        ),
        sa.PrimaryKeyConstraint("protocol_id", "prepared_state_id", name=op.f("pk_protocol_state")),
    )
    op.create_index(op.f("ix_protocol_state_prepared_state_id"), "protocol_state", ["prepared_state_id"])
    op.create_table(
        "preparation",
        sa.Column("prepared_state_id", BIG, nullable=False),
        sa.Column("first_block", sa.Integer(), nullable=False),
        sa.Column("last_block", sa.Integer(), nullable=False),
        sa.Column("merges", sa.Boolean(), nullable=False),
        sa.Column("part", sa.LargeBinary(), nullable=True),
        sa.Column("id", BIG, nullable=False),
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
            name=op.f("ck_preparation_state"),
        ),
        sa.ForeignKeyConstraint(
            ["prepared_state_id"],
            ["prepared_state.id"],
            name=op.f("fk_preparation_prepared_state_id_prepared_state"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_preparation")),
    )
    op.create_index(op.f("ix_preparation_prepared_state_id"), "preparation", ["prepared_state_id"])
    op.create_index(
        "ix_preparation_in_flight",
        "preparation",
        ["state", "queue_class", "team"],
        postgresql_where=IN_FLIGHT,
        sqlite_where=IN_FLIGHT,
    )
    op.create_index(
        "ix_preparation_pending",
        "preparation",
        ["queue_class", "team", "id"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )
    if op.get_bind().dialect.name == "postgresql":
        # They are compressed before they are stored: trying again costs time.
        for table, column in (("prepared_state", "blob"), ("preparation", "part")):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.drop_table("preparation")
    op.drop_table("protocol_state")
    op.drop_table("prepared_state")
