"""Texts compressed by LZ4, which a worker unpacks several times as fast as PostgreSQL's own format."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20270114"
down_revision = "20270113"
branch_labels = None
depends_on = None

TABLES = ("text_block", "layer_block")


def upgrade() -> None:
    # Not every PostgreSQL is built with it. Texts that are stored keep their form.
    _compress_by("lz4")


def downgrade() -> None:
    _compress_by("default")


def _compress_by(method: str) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    known = "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    if connection.scalar(sa.text(known)):
        for table in TABLES:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN content SET COMPRESSION {method}")
