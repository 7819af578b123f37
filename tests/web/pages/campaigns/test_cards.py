"""What stands on pictures of campaigns and systems, against the scores, phases and languages that were stored."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from campaigns.accounts.principal import NOBODY
from campaigns.leaderboards.view import Boards
from campaigns.permissions import read_access
from models.corpus.phases import deadline_at, next_phase
from models.database.session import reading, writing
from models.schema.corpus import TestSet
from models.schema.roles import PhaseKind
from steelyard.tables.formatting import date_time
from tests.service.scored_campaigns import CONTRASTIVE, Scored
from tests.service.service import DAY, Service
from web.share import drawing
from web.share.card import Card, CardRow, read_campaign_card, read_system_card
from web.share.drawing import ELLIPSIS, HEIGHT, WIDTH, can_draw, draw_card

if TYPE_CHECKING:
    from collections.abc import Sequence

ZONE = "Asia/Tokyo"


def card_of(service: Service, system: int | None = None) -> Card:
    with reading(service.engine) as connection:
        boards = Boards(service.engine, 2**20)
        if system is None:
            return read_campaign_card(connection, boards, "port")
        return read_system_card(connection, boards, "port", system)


PHASES: dict[str, tuple[Sequence[tuple[PhaseKind, dict[str, float]]], str, bool]] = {
    "none": ((), "Open for submissions", True),
    "coming": (((PhaseKind.OPEN, {"begins": DAY}),), "Begins on {coming}", False),
    "open": (((PhaseKind.OPEN, {}),), "Open for submissions", True),
    "open until": (((PhaseKind.OPEN, {"ends": DAY}),), "Open for submissions until {deadline}", True),
    "over": (((PhaseKind.OPEN, {"ends": -1.0}),), "Closed for submissions", True),
    "between": (
        ((PhaseKind.OPEN, {"ends": -1.0}), (PhaseKind.BLIND, {"begins": DAY})),
        "Begins on {coming}",
        True,
    ),
    "closed after open": (
        ((PhaseKind.OPEN, {"begins": -2 * DAY}), (PhaseKind.CLOSED, {})),
        "Closed for submissions",
        True,
    ),
    "closed after blind": (
        ((PhaseKind.BLIND, {"begins": -2 * DAY}), (PhaseKind.CLOSED, {})),
        "Closed for submissions",
        False,
    ),
    "published": (((PhaseKind.BLIND, {"begins": -2 * DAY}), (PhaseKind.PUBLISHED, {})), "Results", True),
}


@pytest.mark.parametrize("name", PHASES)
def test_the_phase_says_what_a_picture_tells(service: Service, name: str) -> None:
    phases, state, shown = PHASES[name]
    scored = Scored(service)
    scored.add("", "mast", 30.0)
    campaign = service.campaign("port", title="The Port", time_zone=ZONE)
    for number, (kind, times) in enumerate(phases):
        service.phase(campaign, f"phase {number}", kind, **times)
    card, of_system = card_of(service), None
    with reading(service.engine) as connection:
        access = read_access(connection, NOBODY, "port")
    coming, deadline = next_phase(access.phases, access.at), deadline_at(access.phases, access.at)
    said = state.format(
        coming=coming and date_time(coming.starts_at, ZONE), deadline=deadline and date_time(deadline, ZONE)
    )
    assert (card.title, card.instead, card.state) == ("The Port", "port", said)
    assert [row.name for row in card.rows] == ["mast"] * shown, "a hidden leaderboard is on no picture"
    assert bool(card.table) == shown
    if shown:
        of_system = card_of(service, 1)
        assert (of_system.title, of_system.state, len(of_system.rows)) == ("mast", "The Port", 1)


@pytest.mark.parametrize(("ranked_by", "amount"), list(product(("", "bleu", "ter"), (1, 4, 7))))
def test_the_best_systems_by_the_metric_that_ranks(service: Service, ranked_by: str, amount: int) -> None:
    scored = Scored(service)
    values = [(0.5 + 7 * (place * 3 % amount), 40.0 + place * 5 % amount / 3) for place in range(amount)]
    for place, (bleu, ter) in enumerate(values):
        scored.add("", f"system {place}", bleu, ter=ter)
    scored.add("gulls", "first of all", 99.0, ter=1.0, **CONTRASTIVE)
    scored.add("", "without scores", None, ter=None)
    service.campaign("port", ranked_by=ranked_by)
    by_ter = ranked_by == "ter"
    best = sorted(range(amount), key=lambda place: values[place][1] if by_ter else -values[place][0])
    card = card_of(service)
    assert [row.name for row in card.rows] == [f"system {place}" for place in best][:5]
    assert [row.rank for row in card.rows] == [str(rank) for rank in range(1, amount + 1)][:5]
    assert card.table.startswith("port, by TER" if by_ter else "port, by BLEU")
    for row, place in zip(card.rows, best, strict=False):
        value = values[place][by_ter]
        assert row.value == value
        assert row.low is not None
        assert row.high is not None
        assert row.low < value < row.high
        places = 4 if value <= 1 else 1
        assert row.score == f"{value:.{places}f}"


def test_languages_are_named_from_source_to_target(service: Service) -> None:
    scored = Scored(service)
    scored.add("", "mast", 30.0)
    service.campaign("port", teams=(service.team("gulls"),))
    with writing(service.engine) as connection:
        languages: dict[str, Any] = {"source_language": "cs", "target_language": "uk"}
        connection.execute(update(TestSet).where(TestSet.id == scored.test_set).values(**languages))
    assert card_of(service).facts == "Czech to Ukrainian · 1 team"


@pytest.mark.parametrize(("metric", "on_one_axis"), [("bleu", True), ("ter", False)])
def test_scores_of_one_metric_alone_share_an_axis(service: Service, metric: str, on_one_axis: bool) -> None:
    """Of a system on two test sets, which rank by the same metric or by two."""
    for version, measured, score in (("1", "bleu", 30.0), ("2", metric, 40.0)):
        scored = Scored(service, version=version, lines=b"x\n" + version.encode(), metrics=(measured,))
        scored.add("", "mast", score)
        scored.add("", "hull", 35.0)
    service.campaign("port")
    card = card_of(service, 1)
    assert card.table == ("Rank, BLEU" if on_one_axis else "Rank, BLEU, TER ↓")
    assert [(row.rank, row.value) for row in card.rows] == [("2/2", 30.0), ("1/2" if on_one_axis else "2/2", 40.0)]
    assert [row.low is not None and row.high is not None for row in card.rows] == [on_one_axis] * 2


def test_systems_with_equal_scores_share_a_rank(service: Service) -> None:
    scored = Scored(service, replicates=0)
    for system in ("mast", "hull", "keel"):
        scored.add("", system, 20.0 if system == "keel" else 30.0)
    service.campaign("port")
    assert [row.rank for row in card_of(service).rows] == ["1", "1", "3"]
    assert [card_of(service, system).rows[0].rank for system in (1, 2, 3)] == ["1/3", "1/3", "3/3"]


@pytest.mark.skipif(not can_draw(), reason="pip install '.[share]'")
@pytest.mark.parametrize(("amount", "words"), list(product((0, 1, 5), (1, 6, 12, 60))))
def test_what_is_drawn_has_its_place(monkeypatch: pytest.MonkeyPatch, amount: int, words: int) -> None:
    texts: list[tuple[float, str]] = []
    dots: list[float] = []
    draws_text, draws_dot = drawing._text, drawing._dot

    def text(draw: Any, x: float, y: float, shown: str, *more: Any, **options: Any) -> None:
        texts.append((y, shown))
        draws_text(draw, x, y, shown, *more, **options)

    def dot(draw: Any, x: float, y: float, radius: float) -> None:
        dots.append(x)
        draws_dot(draw, x, y, radius)

    monkeypatch.setattr(drawing, "_text", text)
    monkeypatch.setattr(drawing, "_dot", dot)
    # The first one's score lies outside of all intervals, as a score may.
    rows = [CardRow(str(n), f"row {n}", f"{n}", 90.0 - 20 * n if n else 120.0, 1.0, 80.0) for n in range(amount)]
    title = " ".join(f"title{number}" for number in range(words))[:290]
    draw_card(Card(title, "", "facts", "state", "table", rows))
    shown = [each for _, each in texts]
    of_title = " ".join(each for each in shown if each.startswith("title"))
    assert title.startswith(of_title.rstrip(ELLIPSIS))
    assert of_title.endswith(ELLIPSIS) == (of_title.rstrip(ELLIPSIS) != title), "cut where it says so"
    assert {f"row {n}" for n in range(amount)} <= set(shown)
    lines = [y for y, each in texts if each.startswith("row")]
    assert all(below - above >= 20 for above, below in pairwise(lines)), "one below the other"
    assert all(0 <= y < HEIGHT - 20 for y, _ in texts)
    assert all(y < HEIGHT - 70 for y in lines)
    assert dots == sorted(dots, reverse=True), "better is to the right"
    assert all(WIDTH // 2 < x < WIDTH for x in dots)


def test_a_system_without_a_score_has_a_picture_without_rows(service: Service) -> None:
    scored = Scored(service)
    scored.add("", "mast", 30.0)
    scored.add("", "keel", None)
    service.campaign("port")
    assert [len(card_of(service, system).rows) for system in (1, 2)] == [1, 0]
    assert card_of(service, 2).title == "keel"


def test_published_results_of_a_campaign_without_systems(service: Service) -> None:
    service.phase(service.campaign("empty"), "Results", PhaseKind.PUBLISHED)
    page = service.client().get("/campaigns/empty")
    assert (page.status_code, "Results" in page.text, "@misc" in page.text) == (200, True, False)
