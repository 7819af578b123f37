"""Pictures that go with links: what they show, to whom, and what they cost."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.campaigns import Campaign
from models.schema.roles import PhaseKind, Visibility
from tests.service.port import Port
from tests.service.service import Service
from web.share.card import Card, CardRow, read_campaign_card, read_system_card
from web.share.drawing import can_draw, draw_card, drawable

if TYPE_CHECKING:
    from campaigns.leaderboards.view import Boards

PAGE = "/campaigns/port%201"
PICTURE = f"{PAGE}/share.png"
needs_packages = pytest.mark.skipif(not can_draw(), reason="pip install '.[share]'")


def rows(*names: str) -> tuple[CardRow, ...]:
    return tuple(CardRow(str(n), name, "1.0", 50.0 - n, 49.0 - n, 51.0 - n) for n, name in enumerate(names, 1))


def card_of(service: Service, boards: Boards, name: str = "port 1") -> Card:
    with service.engine.connect() as connection:
        return read_campaign_card(connection, boards, name)


@pytest.fixture
def boards(service: Service) -> Boards:
    return service.client().app.state.steelyard.boards  # type: ignore[attr-defined]


def test_a_card_says_what_everybody_sees(port: Port, boards: Boards) -> None:
    port.submit(port.program("mary"))
    port.work_off()
    card = card_of(port.service, boards)
    assert (card.title, card.facts) == ("port 1", "2 teams")
    assert card.state.startswith("Open for submissions")
    assert card.table == "quay, by BLEU"
    assert {each.name for each in card.rows} == {"anchor", "mast"}
    assert [each.rank for each in card.rows] == ["1", "2"]
    assert all(each.low <= each.value <= each.high for each in card.rows if each.low is not None and each.high)
    with port.service.engine.connect() as connection:
        system = read_system_card(connection, boards, "port 1", 1)
    assert (system.title, system.state) == ("anchor", "port 1")
    assert [(each.rank, each.name) for each in system.rows] in ([("1/2", "quay")], [("2/2", "quay")])


@needs_packages
def test_a_blind_or_private_campaign_has_no_picture(service: Service) -> None:
    port = Port.opened(service, PhaseKind.BLIND)
    port.submit(port.program("mary"))
    port.work_off()
    for who in (port.browser("ann"), port.browser("mary"), service.client()):
        assert who.get(PICTURE).status_code == 404
        assert who.get(f"{PAGE}/systems/1/share.png").status_code == 404
        assert "og:image" not in who.get(PAGE).text
    with writing(service.engine) as connection:
        connection.execute(update(Campaign).values(visibility=Visibility.PRIVATE))
    assert port.browser("ann").get(PICTURE).status_code == 404
    assert "og:image" not in port.browser("ann").get(PAGE).text


def test_the_names_of_anonymous_teams_are_on_no_picture(port: Port, boards: Boards) -> None:
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(anonymous=True))
    card = card_of(port.service, boards)
    assert "anchor" in {each.name for each in card.rows}
    assert not {"mast", "harbour"} & {each.name for each in card.rows}


@needs_packages
def test_a_page_names_its_picture_which_is_drawn_once(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    port.work_off()
    drawn: list[Card] = []

    def draw(card: Card) -> bytes:
        drawn.append(card)
        return draw_card(card)

    monkeypatch.setattr("web.pages.share.draw_card", draw)
    client = port.service.client()
    for page in (PAGE, f"{PAGE}/systems/1"):
        text = client.get(page).text
        assert '<meta name="twitter:card" content="summary_large_image">' in text
        address = re.search(r'<meta property="og:image" content="([^"]+)">', text)
        assert address
        path = "/" + address[1].split("/", 3)[3]
        assert path == f"{page}/share.png"
        answer = client.get(path)
        assert answer.headers["Content-Type"] == "image/png"
        assert Image.open(io.BytesIO(answer.content)).size == (1200, 630)
        assert "max-age" in answer.headers["Cache-Control"]
        again = client.get(path, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["Cache-Control"] == answer.headers["Cache-Control"], "or it is asked for each time"
        assert client.get(path).content == answer.content
        assert port.browser("ann").get(path).content == answer.content, "the same, whoever asks"
    assert len(drawn) == 2


def test_without_the_packages_pages_name_no_picture(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.pages.share.can_draw", lambda: False)
    client = port.service.client()
    page = client.get(PAGE).text
    assert "og:title" in page
    assert "og:image" not in page
    assert "twitter:card" not in page
    assert client.get(PICTURE).status_code == 404


@needs_packages
@pytest.mark.parametrize("text", ["ě š č ř ż ő Ł ğ ẞ", "Ελληνικά", "Українська", "a – b · c… (d)", ""])
def test_letters_that_the_font_has(text: str) -> None:
    assert drawable(text) == text


@needs_packages
@pytest.mark.parametrize("text", ["日本語", "हिन्दी", "עברית", "العربية", "WMT 😀", "a\x00b", "\ue000", "→", "e\u0335"])
def test_what_would_be_boxes_is_left_out(text: str) -> None:
    assert drawable(text) == ""
    blank = Card("Title", "name", "", "", "", rows("one", ""))
    assert draw_card(Card("Title", "name", text, "", "", rows("one", text))) == draw_card(blank)
    instead = draw_card(Card("name", "", "", "", "", ()))
    assert draw_card(Card(text, "name", "", "", "", ())) == instead


@needs_packages
@pytest.mark.parametrize("long", ["W" * 5000, "word " * 1000, "ő" * 100])
def test_long_texts_stay_on_the_picture(long: str) -> None:
    from PIL import Image

    picture = Image.open(io.BytesIO(draw_card(Card(long, long, long, long, long, rows(*[long] * 5)))))
    edge = picture.crop((1190, 20, 1200, 630))
    assert edge.getcolors() == [(edge.width * edge.height, (255, 255, 255))]
    assert len(draw_card(Card(long, "", "", "", "", (CardRow("1", "a", "1.0", 1.0, None, None),)))) > 1000
