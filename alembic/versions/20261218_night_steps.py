"""Steps of nights are tasks with a lease of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261218"
down_revision = "20261217"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING = sa.text("state = 'pending'")
IN_FLIGHT = sa.text("state IN ('enqueued', 'running')")
RETRIED = sa.text("state IN ('pending', 'enqueued') AND attempts > 0")


def upgrade() -> None:
    op.create_table(
        "night_step",
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
        sa.Column("refused_by", sa.JSON(none_as_null=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'enqueued', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_night_step_state"),
        ),
        sa.ForeignKeyConstraint(
            ["night_id"], ["night.id"], name=op.f("fk_night_step_night_id_night"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_night_step")),
    )
    op.create_index(op.f("ix_night_step_night_id"), "night_step", ["night_id"])
    op.create_index(
        "ix_night_step_pending",
        "night_step",
        ["queue_class", "team", "edition", "due_at", "id", "not_before"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )
    op.create_index(
        "ix_night_step_in_flight", "night_step", ["state", "queue_class", "team"], postgresql_where=IN_FLIGHT
    )
    op.create_index("ix_night_step_retried", "night_step", ["attempts"], postgresql_where=RETRIED, sqlite_where=RETRIED)
    op.create_index(op.f("ix_night_step_ended_at"), "night_step", ["ended_at"])
    # What somebody held is begun anew, with the attempts that it has had.
    op.execute(
        "INSERT INTO night_step (night_id, queue_class, team, state, attempts, not_before) "
        "SELECT night.id, 2, schedule.team, 'pending', night.attempts, night.not_before "
        "FROM night JOIN schedule ON schedule.id = night.schedule_id WHERE night.state IN ('fetching', 'judging')"
    )
    with op.batch_alter_table("night") as batch:
        for name in ("owner", "worker", "lease_until", "attempts", "not_before"):
            batch.drop_column(name)
    # Older programs look for the lease where it was.
    op.execute("UPDATE compatibility SET oldest = '20261218'")


def downgrade() -> None:
    op.add_column("night", sa.Column("owner", sa.String(length=100), nullable=True))
    op.add_column("night", sa.Column("worker", sa.String(length=200), nullable=True))
    op.add_column("night", sa.Column("lease_until", sa.Double(), nullable=True))
    op.add_column("night", sa.Column("attempts", sa.Integer(), server_default="0", nullable=False))
    op.add_column("night", sa.Column("not_before", sa.Double(), server_default="0", nullable=False))
    # Nobody holds a night then: whoever sees it first takes it up.
    op.execute(
        "UPDATE night SET attempts = (SELECT max(attempts) FROM night_step "
        "WHERE night_step.night_id = night.id AND night_step.state IN ('pending', 'running')) "
        "WHERE EXISTS (SELECT 1 FROM night_step "
        "WHERE night_step.night_id = night.id AND night_step.state IN ('pending', 'running'))"
    )
    op.drop_table("night_step")
    op.execute("UPDATE compatibility SET oldest = '20261127'")
