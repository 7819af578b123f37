"""Indexes for what the scheduler, its metrics and the queue's pages ask at every look."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20261211"
down_revision = "20261210"
branch_labels = None
depends_on = None

LEASED = ("shard", "reduction", "preparation", "trials", "delivery")
WAITING = sa.text("state = 'pending'")
UNPREPARED = sa.text("state = 'pending' AND not_before = 1e15")
UNMADE = sa.text("blob IS NULL")
FAILED = sa.text("state = 'failed'")
IN_FLIGHT = sa.text("state IN ('enqueued', 'running')")
OPEN = sa.text("state IN ('queued', 'running', 'reducing')")


def upgrade() -> None:
    _waiting("edition", "due_at", "id", "not_before")
    _in_flight()
    op.create_index(
        "ix_shard_unprepared", "shard", ["protocol_id"], postgresql_where=UNPREPARED, sqlite_where=UNPREPARED
    )
    op.create_index(
        "ix_prepared_state_open", "prepared_state", ["edition"], postgresql_where=UNMADE, sqlite_where=UNMADE
    )
    op.drop_index("ix_evaluation_open", table_name="evaluation")
    op.create_index(op.f("ix_evaluation_state"), "evaluation", ["state"])
    op.create_index(op.f("ix_evaluation_finished_at"), "evaluation", ["finished_at"])
    op.create_index(
        "ix_evaluation_failed", "evaluation", ["finished_at", "id"], postgresql_where=FAILED, sqlite_where=FAILED
    )


def downgrade() -> None:
    for name in ("failed", "finished_at", "state"):
        op.drop_index(f"ix_evaluation_{name}", table_name="evaluation")
    op.create_index("ix_evaluation_open", "evaluation", ["state"], postgresql_where=OPEN, sqlite_where=OPEN)
    op.drop_index("ix_prepared_state_open", table_name="prepared_state")
    op.drop_index("ix_shard_unprepared", table_name="shard")
    # An earlier release looks by itself whether the references are prepared.
    op.execute("UPDATE shard SET not_before = 0 WHERE not_before = 1e15")
    _waiting("due_at", "id")
    _in_flight(IN_FLIGHT)


def _waiting(*columns: str) -> None:
    for table in LEASED:
        name = f"ix_{table}_pending"
        op.drop_index(name, table_name=table)
        op.create_index(name, table, ["queue_class", "team", *columns], postgresql_where=WAITING, sqlite_where=WAITING)


def _in_flight(sqlite_where: sa.TextClause | None = None) -> None:
    """SQLite's alone: it uses a partial index only for a condition that has the very same words."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in LEASED:
        name = f"ix_{table}_in_flight"
        op.drop_index(name, table_name=table)
        op.create_index(name, table, ["state", "queue_class", "team"], sqlite_where=sqlite_where)
