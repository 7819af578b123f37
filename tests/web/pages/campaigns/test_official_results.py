"""A campaign that is ranked by people opens on that ranking once its results are out."""

from __future__ import annotations

import re

from campaigns.leaderboards.view import Boards
from models.database.session import reading
from models.schema.roles import PhaseKind
from tests.service.port import SEGMENTS, Port, output
from tests.service.service import DAY, Service
from web.share.card import read_campaign_card

HERE = "/campaigns/port%201"


def rows(page: str) -> list[tuple[str, str]]:
    """Rank and system of each row of a leaderboard."""
    return re.findall(r'<td class="number rank">([^<\s]*).*?<th scope="row".*?<bdi>(.*?)</bdi>', page, re.DOTALL)


def test_published_results_lead_with_the_ranking_by_people(service: Service) -> None:
    port = Port.opened(service)
    for who, system, seed in (("mary", "mast", 1), ("zoe", "oar", 2)):
        assert port.submit(port.program(who), output(seed), system=system).status_code == 201
    port.work_off()
    ann, visitor = port.browser("ann"), service.client()
    service.phase(port.campaign, "results", PhaseKind.PUBLISHED, begins=-DAY / 2)
    assert "by people" not in visitor.get(HERE).text
    # Everybody judges oar as better, segment by segment.
    table = "".join(
        f"{system}\t{base + n % 7}\n" for system, base in (("mast", 40), ("oar", 80)) for n in range(SEGMENTS)
    )
    judged = {"test_set": "quay", "called": "seg"}
    answer = ann.post(f"{HERE}/metrics", data=judged, files={"files": ("human.seg.tsv", table.encode())})
    assert answer.status_code == 200, answer.text
    rules = {"visibility": "public", "joining": "invited", "human_rule": "human:wmt25", "human_judgments": "seg"}
    assert "Rules saved." in ann.post(f"{HERE}/manage/rules", data=rules).text
    page = visitor.get(HERE).text
    assert "Officially ranked by people, <strong><bdi>oar</bdi></strong> is first." in page
    assert "The table is in the order of the ranking by people" in page
    assert rows(page) == [("1", "oar"), ("2", "mast"), ("–", "anchor")], "nobody judged the organisers' own"
    assert page.partition("</table>")[0].count("<tbody>") == 2, "a cluster of its own for each judged system"
    assert "by people</span></th>" not in page, "the ranks stand first, and only once"
    # The leaderboard is in the order of its metric, beside which people have columns.
    board = visitor.get(f"{HERE}/leaderboard?shown=all").text
    assert board.count('data-title="Rank by people">') == 3
    assert board.count('Rank by people">–') == 1
    # So is the picture that a link to the campaign shows: what people rank first, by their scores.
    assert service.client().get(f"{HERE}/share.png").status_code == 200
    with reading(service.engine) as connection:
        card = read_campaign_card(connection, Boards(service.engine, 2**20), "port 1")
    assert card.table.endswith(", by people")
    assert [(row.rank, row.name) for row in card.rows] == [("1", "oar"), ("2", "mast")]
    assert all(row.low <= row.value <= row.high for row in card.rows if row.low is not None and row.high is not None)
    assert card.rows[0].score == "83.0"


def test_the_best_by_people_is_one_that_the_page_shows(service: Service) -> None:
    """What a team has replaced was judged better, and has no rank."""
    port = Port.opened(service)
    for system, kind, seed in (("mast", "primary", 1), ("oar", "contrastive", 2)):
        assert port.submit(port.program("mary"), output(seed), system=system, kind=kind).status_code == 201
    port.work_off()
    ann = port.browser("ann")
    service.phase(port.campaign, "results", PhaseKind.PUBLISHED, begins=-DAY / 2)
    table = "".join(
        f"{system}\t{base + n % 7}\n" for system, base in (("mast", 40), ("oar", 80)) for n in range(SEGMENTS)
    )
    judged = {"test_set": "quay", "called": "seg"}
    assert ann.post(f"{HERE}/metrics", data=judged, files={"files": ("h.seg.tsv", table.encode())}).status_code == 200
    rules = {"visibility": "public", "joining": "invited", "human_rule": "human:wmt25", "human_judgments": "seg"}
    assert "Rules saved." in ann.post(f"{HERE}/manage/rules", data=rules).text
    page = service.client().get(HERE).text
    assert "Officially ranked by people, <strong><bdi>mast</bdi></strong> is first." in page
    assert [name for _, name in rows(page)] == ["mast", "anchor"]


def test_while_it_runs_the_rules_say_that_people_rank(service: Service) -> None:
    port = Port.opened(service)
    port.work_off()
    ann, mary = port.browser("ann"), port.browser("mary")
    table = "segment\tsystem\tannotator\tscore\n" + "".join(f"{n}\tanchor\tu\t{n}\n" for n in range(SEGMENTS))
    judged = {"test_set": "quay", "called": "da"}
    assert ann.post(f"{HERE}/metrics", data=judged, files={"files": ("da.tsv", table.encode())}).status_code == 200
    assert "People rank" not in mary.get(HERE).text
    rules = {"visibility": "public", "joining": "invited", "human_rule": "human:wmt24", "human_judgments": "da"}
    assert "Rules saved." in ann.post(f"{HERE}/manage/rules", data=rules).text
    rule = "People rank officially, by the rule <code>human:wmt24</code>"
    assert f'{rule}: <a href="{HERE}/human-ranking">human ranking</a>.' in mary.get(HERE).text
