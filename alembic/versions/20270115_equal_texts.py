"""Equal outputs are found by text, test set and campaign at once, whatever SQLite guesses of other indexes."""

from __future__ import annotations

from alembic import op

revision = "20270115"
down_revision = "20270114"
branch_labels = None
depends_on = None

OLD, NEW = "ix_submission_text_id", "ix_submission_text_id_test_set_id_campaign_id"


def upgrade() -> None:
    op.create_index(NEW, "submission", ["text_id", "test_set_id", "campaign_id"])
    op.drop_index(OLD, "submission")


def downgrade() -> None:
    op.create_index(OLD, "submission", ["text_id"])
    op.drop_index(NEW, "submission")
