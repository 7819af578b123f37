"""Comparisons: paired randomization tests that are to be made together, and the stored results of all of them."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    text,
)
from sqlalchemy import Text as LongString
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key, Seconds, now
from models.lease import Leased, lease_indexes
from models.states import ComparisonState, LeaseState, one_of

RUNNING = text("state = 'running'")


class Comparison(Base):
    """Tests of pairs of systems that are made together, because nobody had made them before."""

    __tablename__ = "comparison"
    __table_args__ = (
        CheckConstraint(one_of("state", ComparisonState), name="state"),
        Index(None, "protocol_id"),
        Index(None, "finished_at"),
        # Who asks for the same again while it runs gets the one that runs.
        Index("uq_comparison_running", "content_hash", unique=True, postgresql_where=RUNNING, sqlite_where=RUNNING),
    )

    id: Mapped[Key]
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"))
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of what is tested, and how."""
    contestants: Mapped[list[list[int]]] = mapped_column(JSON)
    """The evaluations of each system's runs, ascending."""
    tests: Mapped[list[list[int]]] = mapped_column(JSON)
    """Of each test the metric's position in the protocol, and two positions in `contestants`."""
    trials: Mapped[int] = mapped_column(Integer)
    seed: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(16), default=ComparisonState.RUNNING)
    remaining: Mapped[int] = mapped_column(Integer)
    """Rows of `trials` that are not done yet."""
    reason: Mapped[str | None] = mapped_column(LongString)
    created_at: Mapped[Seconds] = mapped_column(default=now())
    finished_at: Mapped[Seconds | None]


class Trials(Leased, Base):
    """Consecutive trials of all tests of a comparison, for one task."""

    __tablename__ = "trials"
    __table_args__ = (
        CheckConstraint(one_of("state", LeaseState), name="state"),
        Index(None, "comparison_id"),
        *lease_indexes("trials"),
    )

    comparison_id: Mapped[int] = mapped_column(ForeignKey("comparison.id", ondelete="CASCADE"))
    first_trial: Mapped[int] = mapped_column(Integer)
    last_trial: Mapped[int] = mapped_column(Integer)
    """Exclusive."""
    counts: Mapped[bytes | None] = mapped_column(LargeBinary)
    """(tests,) how many of the trials were as large, packed by models.arrays, until the comparison ends."""


class Contestant(Base):
    """A system as tests see it: the evaluations of all its runs.

    It is the last of them and the contestant of those before, so that it goes, with its tests, when any of them goes.
    """

    __tablename__ = "contestant"
    __table_args__ = (Index(None, "evaluation_id"), Index(None, "before_id"))

    id: Mapped[Key]
    content_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the evaluations' ids."""
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"))
    before_id: Mapped[int | None] = mapped_column(ForeignKey("contestant.id", ondelete="CASCADE"))
    """None where there is one run."""


class Randomization(Base):
    """A paired approximate randomization test of contestant b against contestant a, by one metric."""

    __tablename__ = "randomization"
    __table_args__ = (Index(None, "b_id"),)

    a_id: Mapped[int] = mapped_column(ForeignKey("contestant.id", ondelete="CASCADE"), primary_key=True)
    """The one whose evaluations come first when compared as lists of numbers."""
    b_id: Mapped[int] = mapped_column(ForeignKey("contestant.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    """Position in the protocol's list of metrics."""
    trials: Mapped[int] = mapped_column(Integer, primary_key=True)
    seed: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    difference: Mapped[float] = mapped_column(Double)
    """Score of b minus score of a; of several runs the means."""
    as_large: Mapped[int] = mapped_column(Integer)
    """Trials with a difference at least as large, in either direction."""
