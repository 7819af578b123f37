"""CONTRIBUTING.md's steps for a table, followed in a copy of the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

TABLE = '''"""What organisers tell everybody."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from models.schema.base import Base


class Announcement(Base):
    """A text for all teams of a campaign."""

    __tablename__ = "trial_announcements"

    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaigns.id"), index=True)
    text: Mapped[str]
'''


def test_make_migration_writes_what_changed(tmp_path: Path) -> None:
    for folder in ("alembic", "models"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("Makefile", "alembic.ini", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    schema = tmp_path / "models" / "schema"
    (schema / "trial_announcements.py").write_text(TABLE)
    with (schema / "__init__.py").open("a") as classes:
        classes.write("\nfrom models.schema import trial_announcements as trial_announcements\n")
    known = {path.name for path in (tmp_path / "alembic" / "versions").glob("*.py")}

    made = subprocess.run(
        ["make", "--assume-old=install", f"BIN={Path(sys.executable).parent}", "migration", "NAME=trial announcements"],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if not key.startswith(("STEELYARD_", "MAKE"))},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert made.returncode == 0, made.stdout + made.stderr
    written = {path.name for path in (tmp_path / "alembic" / "versions").glob("*.py")} - known
    (name,) = written
    assert name > max(known)
    assert name.endswith("_trial_announcements.py")
    text = (tmp_path / "alembic" / "versions" / name).read_text()
    # This table and nothing else: what the classes say and what the migrations make are the same.
    assert text.count("op.create_table(") == 1
    assert text.count("op.drop_table(") == 1
    assert "'trial_announcements'" in text or '"trial_announcements"' in text
    assert "add_column" not in text
