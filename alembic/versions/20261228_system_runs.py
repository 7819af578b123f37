"""Systems that comparisons test, the usage log of quotas and the scores that the Ladder discloses: by these names."""

from __future__ import annotations

from alembic import op

from models.database.renaming import rename, reversed_names

revision = "20261228"
down_revision = "20261226"
branch_labels = None
depends_on = None

TABLES = {
    "contestant": "system_runs",
    "ledger_entry": "usage_log_entry",
    # Their own names stay.
    "randomization": "randomization",
    "comparison": "comparison",
    "ladder_step": "ladder_step",
}
"""Referred to before referring."""
COLUMNS = {"contestants": "systems", "told": "disclosed"}


def upgrade() -> None:
    rename(TABLES, COLUMNS, {})
    # Older programs look for the tables by their names.
    op.execute("UPDATE compatibility SET oldest = '20261228'")


def downgrade() -> None:
    rename(reversed_names(TABLES), reversed_names(COLUMNS), {})
    op.execute("UPDATE compatibility SET oldest = '20261222'")
