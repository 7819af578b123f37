"""schedules, their nights, what these measured, and messages to webhooks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261129"
down_revision = "20261128"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING, IN_FLIGHT = sa.text("state = 'pending'"), sa.text("state IN ('enqueued', 'running')")
ACTIVE, OPEN = sa.text("active"), sa.text("state IN ('due', 'fetching', 'scoring', 'judging')")


def upgrade() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", BIG, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("cron", sa.String(length=200), nullable=False),
        sa.Column("time_zone", sa.String(length=100), nullable=False),
        sa.Column("source", sa.JSON(), nullable=False),
        sa.Column("test_sets", sa.JSON(), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("replicates", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("baseline", sa.JSON(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("correction", sa.String(length=20), nullable=False),
        sa.Column("test", sa.String(length=20), nullable=False),
        sa.Column("minimum_difference", sa.Double(), server_default="0", nullable=False),
        sa.Column("webhook", sa.Text(), nullable=True),
        sa.Column("webhook_secret", sa.Text(), nullable=True),
        sa.Column("webhook_private", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("team", sa.String(length=100), nullable=False),
        sa.Column("active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("next_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("campaign_id", BIG, nullable=False),
        sa.CheckConstraint("test IN ('bootstrap', 'randomization')", name=op.f("ck_schedule_test")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_schedule_campaign_id_campaign")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule")),
        sa.UniqueConstraint("name", name=op.f("uq_schedule_name")),
    )
    op.create_index("ix_schedule_next_at", "schedule", ["next_at"], postgresql_where=ACTIVE, sqlite_where=ACTIVE)
    op.create_table(
        "night",
        sa.Column("id", BIG, nullable=False),
        sa.Column("schedule_id", BIG, nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.Column("date", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("caught_up", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("manual", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("owner", sa.String(length=100), nullable=True),
        sa.Column("worker", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.Double(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("comparisons", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("verdict", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("regressed", sa.Boolean(), nullable=True),
        sa.CheckConstraint(
            "state IN ('due', 'fetching', 'scoring', 'judging', 'done', 'failed', 'missed')",
            name=op.f("ck_night_state"),
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedule.id"], name=op.f("fk_night_schedule_id_schedule"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_night")),
        sa.UniqueConstraint("schedule_id", "due_at", name=op.f("uq_night_schedule_id_due_at")),
    )
    op.create_index("ix_night_open", "night", ["schedule_id"], postgresql_where=OPEN, sqlite_where=OPEN)
    op.create_table(
        "night_evaluation",
        sa.Column("night_id", BIG, nullable=False),
        sa.Column("evaluation_id", BIG, nullable=False),
        sa.Column("system", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["night_id"], ["night.id"], name=op.f("fk_night_evaluation_night_id_night"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_night_evaluation_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("night_id", "evaluation_id", name=op.f("pk_night_evaluation")),
    )
    op.create_index(op.f("ix_night_evaluation_evaluation_id"), "night_evaluation", ["evaluation_id"])
    op.create_table(
        "delivery",
        sa.Column("night_id", BIG, nullable=False),
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
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("edition", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=True),
        sa.Column("claimed_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')", name=op.f("ck_delivery_state")
        ),
        sa.ForeignKeyConstraint(
            ["night_id"], ["night.id"], name=op.f("fk_delivery_night_id_night"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("night_id", name=op.f("uq_delivery_night_id")),
    )
    op.create_index(
        "ix_delivery_in_flight",
        "delivery",
        ["state", "queue_class", "team"],
        postgresql_where=IN_FLIGHT,
        sqlite_where=IN_FLIGHT,
    )
    op.create_index(
        "ix_delivery_pending",
        "delivery",
        ["queue_class", "team", "id"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )


def downgrade() -> None:
    for table in ("delivery", "night_evaluation", "night", "schedule"):
        op.drop_table(table)
