"""The report of a campaign: what it shows, what it keeps to itself, and that nothing in it is taken for markup."""

import re

import pytest
from sqlalchemy import select, update

from analysis.meta_evaluation.human_ranking import rank_stored
from campaigns.reports.campaign import render_report
from models.corpus.judgments import NewJudgments, SegmentRow, list_judgments, store_judgments
from models.database.session import make_engine, writing
from models.schema.campaigns import Campaign
from models.schema.corpus import TestSet
from models.schema.human import HumanSystemScore, Judgments
from models.schema.states import JudgmentKind
from tests.analysis.campaigns import DOCUMENTS, REFERENCES, SYSTEMS, opened, store
from tests.campaigns.reports.pages import Page, checked

SOURCE = ["source one", "source two", "source three", "source four", "source five"]
NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></style></svg>&lt;b&gt; {{ 7 * 7 }} {% raw %}",
    "שלום <b>עולם</b> , نظام",
    "\x00\x07\x1b[31m \u202edlrow\u202c \ufeff \U0001f600",
]


def report(url: str, sort: str | None = None, **options) -> str:
    with opened(url, sort) as (connection, boards):
        return render_report(connection, boards, title="port", **options)


def headings(page: Page) -> list[str]:
    return page.text("h2")


@pytest.fixture
def whole(service_url: str) -> str:
    """A campaign with everything."""
    store(service_url, source=SOURCE, selections=[["A"], ["B"], ["A", "B"]])
    return service_url


def test_a_campaign_with_everything(database_url):
    store(database_url, source=SOURCE, selections=[["A"], ["B"], ["A", "B"]])
    text = report(database_url, notices=["something <odd>"])
    page = checked(text)
    assert headings(page) == [
        "Leaderboard: port, references A + B",
        "Differences",
        "Scores by reference",
        "Scores by segment length",
        "Scores by domain",
        "Scores by document",
        "Influential segments and n-grams",
        "Metrics compared with each other",
        "How the scores were computed",
        "Notices",
    ]
    assert "something <odd>" in page.text("li")
    assert "Leaderboard: port, reference A" in page.text("summary")
    # Every system is in every table of systems.
    assert all(page.text("bdi").count(name) >= 10 for name in SYSTEMS)
    assert text == report(database_url, notices=["something <odd>"]), "the bytes differ from time to time"


def test_so_many_leaderboards_are_shown_and_the_others_counted(whole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "more leaderboards are not shown."
    monkeypatch.setattr("campaigns.reports.limits.LEADERBOARDS", 3)
    assert told not in report(whole)
    monkeypatch.setattr("campaigns.reports.limits.LEADERBOARDS", 1)
    page = checked(report(whole))
    assert f"2 {told}" in page.text("li")
    assert sum("Leaderboard: port" in each for each in [*page.text("h2"), *page.text("summary")]) == 1


def test_of_a_large_test_set_no_single_segment_is_shown(whole, monkeypatch):
    everything = report(whole)
    monkeypatch.setattr("campaigns.reports.limits.TEXT_SEGMENTS", 4)
    text = report(whole)
    page = checked(text)
    assert set(headings(checked(everything))) - set(headings(page)) == {"Influential segments and n-grams"}
    assert any("the test set has 5 segments, and they are shown for up to 4" in said for said in page.text("li"))
    assert "gull" in everything
    assert "gull" not in text
    # What needs only statistics and lengths is the same.
    for heading in ("Scores by segment length", "Scores by domain", "Scores by document"):
        of_everything, found = (
            each.partition(f"<bdi>{heading}</bdi></h2>")[2].partition("</section>")[0] for each in (everything, text)
        )
        assert found == of_everything
        assert "<td" in found


def test_clusters_are_parted_and_whiskers_drawn(whole):
    with opened(whole) as (_, boards):
        board = boards[-1]
    page = checked(report(whole))
    labels = [text for attributes, text in page.all("svg") if "whisker" in (attributes["class"] or "")]
    first = board.interval(board.rows[0].scores[0])
    assert labels[0] == f"from {first[0]:.2f} to {first[1]:.2f}"
    assert len(labels) == 3 * 2 * 3


def test_cells_of_the_matrix_mirror_each_other(whole):
    text = report(whole)
    page = checked(text)
    matrix = text[text.index('<table class="matrix') :]
    matrix = matrix[: matrix.index("</table>")]
    numbers = [cell.replace("−", "-") for cell in re.findall(r"([+−][\d.]+|\b0\.0)(?:</a>)?<small>", matrix)]
    assert len(numbers) == 6
    upper = {(0, 1): numbers[0], (0, 2): numbers[1], (1, 2): numbers[3]}
    lower = {(0, 1): numbers[2], (0, 2): numbers[4], (1, 2): numbers[5]}
    assert all(float(upper[pair]) == -float(lower[pair]) for pair in upper)
    assert matrix.count("▲") == matrix.count("▼") == matrix.count('class="up"') == matrix.count('class="down"')
    links = {attributes["href"] for attributes, _ in page.all("a")}
    assert {"#pair-1-2", "#pair-2-3"} <= links


def test_differences_that_may_be_chance_have_no_mark(service_url):
    store(service_url, systems={**SYSTEMS, "copy": SYSTEMS["raft"]}, replicates=5)
    text = report(service_url)
    assert "No difference can be significant" in text
    assert "▲<span" not in text
    assert "Both have the same output." in text


def test_without_replicates_the_page_says_what_is_missing(service_url):
    store(service_url, replicates=0)
    text = report(service_url)
    page = checked(text)
    assert "There are no bootstrap replicates" in text
    assert not [attributes for attributes, _ in page.all("svg") if attributes["class"] == "whisker"]
    assert "Influential segments and n-grams" in headings(page)


@pytest.mark.parametrize("systems", [{"tug": SYSTEMS["tug"]}, {"tug": [""] * 5}])
def test_a_single_system(service_url, systems):
    store(service_url, systems=systems)
    page = checked(report(service_url))
    assert "Differences" in headings(page)
    assert "Influential segments and n-grams" not in headings(page)


def test_a_campaign_that_is_not_scored_yet(service_url):
    store(service_url, scored=False)
    page = checked(report(service_url))
    assert headings(page) == ["Leaderboard: port, references A + B", "Differences", "How the scores were computed"]
    assert page.text("td").count("queued") == 3


def test_no_boards_make_an_empty_page(service_url):
    with opened(service_url) as (connection, boards):
        checked(render_report(connection, boards, title="nothing"))


def test_undefined_scores_are_not_ranked(service_url):
    empty = ["", "", "", "", ""]
    store(
        service_url, references={"A": empty}, systems={"a": empty, "b": empty}, selections=[["A"]], metrics=("lebleu",)
    )
    text = report(service_url)
    page = checked(text)
    assert "n/a" in page.text("td")
    assert "1" not in page.text("td")
    assert "A comparison needs at least two systems with scores." in text


def test_words_of_the_texts_are_marked(whole):
    page = checked(report(whole))
    assert "+only here: is" in page.text("ins")
    assert any(text.startswith("↔moved: ") for text in page.text("mark"))
    assert "said the mate" not in page.text("del")
    definitions = [attributes for attributes, text in page.all("dd") if "hands" in text or "source" in text]
    assert {attributes["lang"] for attributes in definitions} == {"en", "cs"}
    assert {attributes["dir"] for attributes in definitions} == {"auto"}


def test_texts_can_be_left_out(whole):
    full, bare = report(whole), report(whole, show_texts=False)
    checked(bare)
    for word in ("source", "hands", "gull"):
        assert word in full
        assert word not in bare


def test_blind_references_stay_blind(service_url):
    secret = {"A": [f"secret{n} {line}" for n, line in enumerate(REFERENCES["A"])], "B": ["velvet words"] * 5}
    store(service_url, references=secret, source=SOURCE, selections=[["A"], ["A", "B"]])
    open_page, blind = report(service_url), report(service_url, show_references=False)
    assert "secret" in open_page
    assert "velvet" in open_page
    assert "secret" not in blind
    assert "velvet" not in blind
    assert "source one" in blind
    assert "gull" in blind
    assert "N-grams" not in blind
    page = checked(blind)
    assert "References are not shown" in blind
    # The two outputs are marked against each other.
    assert page.text("ins")


def test_that_an_output_is_a_blind_reference_stays_blind(service_url):
    store(service_url, systems={**SYSTEMS, "copy": REFERENCES["A"]})
    assert "same as reference A" in report(service_url)
    assert "same as reference" not in report(service_url, show_references=False)


def test_pairs_that_are_asked_for(whole):
    text = report(whole, pairs=[("raft", "tug"), ("tug", "raft"), ("tug", "gone"), ("gone", "tug"), ("tug", "tug")])
    page = checked(text)
    assert len([1 for attributes, _ in page.all("details") if attributes.get("class") == "pair"]) == 1
    with opened(whole) as (_, boards):
        names = [row.system for row in boards[-1].rows]
    ahead = "tug" if names.index("tug") < names.index("raft") else "raft"
    assert any(summary.startswith(f"{ahead} against") for summary in page.text("summary"))


def test_metrics_where_less_is_better(whole):
    text = report(whole, sort="ter")
    page = checked(text)
    with opened(whole, "ter") as (_, boards):
        first, second = boards[-1].rows[:2]
    distance = second.scores[1].score - first.scores[1].score
    assert distance >= 0
    assert f"{first.system} is ahead of {second.system} by {distance:.2f} TER" in " ".join(page.text("p"))


def test_people_are_on_the_scatter(whole):
    page = checked(report(whole, human={"human: da@1": {"tug": 0.5, "raft": -0.25, "other": 1.0}}))
    assert "Metrics compared with each other and with human judgments" in headings(page)
    assert "human: da@1" in page.text("bdi")
    assert {"0.500", "−0.250"} <= set(page.text("td"))
    assert any("2 systems, too few" in caption for caption in page.text("figcaption"))


def test_who_is_left_out_is_on_no_scatter_and_is_named(whole):
    text = report(whole, human={"human: da@1": {"tug": 0.5, "raft": -0.25, "barge": 7.125}}, without=["raft"])
    page = checked(text)
    assert "Left out, as asked: raft." in text
    captions = page.text("figcaption")
    assert [each for each in captions if "systems" in each]
    assert all("2 systems" in each for each in captions if "systems" in each)
    scatters = text[text.index("Metrics compared with each other and with human") :]
    assert ("7.125" in scatters, "−0.250" in scatters) == (True, False)
    assert "Left out, as asked" not in report(whole)
    # The leaderboard has everybody.
    assert "raft" in page.text("bdi")


def test_outputs_that_score_alike_are_not_the_same(service_url):
    """Other words in another order: by unigrams every segment is as good."""
    turned = [" ".join(reversed(line.split())) for line in SYSTEMS["tug"]]
    store(service_url, systems={"tug": SYSTEMS["tug"], "gut": turned}, metrics=("bleu:order=1",))
    assert "Both have the same output." not in report(service_url)


def test_each_segment_is_said_to_be_of_its_document(service_url):
    """Also the first one of a document."""
    other = list(REFERENCES["A"])
    other[2] = "nobody at all"
    store(service_url, systems={"tug": REFERENCES["A"], "odd": other}, selections=[["A"]])
    said = [each.split()[1:4:2] for each in checked(report(service_url)).text("h5") if each.startswith("Segment")]
    assert "3" in dict(said)
    assert dict(said) == {number: "quay:" if number in "12" else "deck:" for number, _ in said}


def test_stored_judgments_are_found(whole):
    with writing(make_engine(whole)) as connection:
        for version, score in ((1, 7.0), (2, 9.0)):
            values = {
                "campaign_id": 1,
                "test_set_id": 1,
                "name": "da",
                "version": version,
                "kind": str(JudgmentKind.SCORES),
            }
            row = Judgments.__table__.insert().values(**values, method={}, content_hash=str(version))
            (key,) = connection.execute(row).inserted_primary_key
            for system in ("tug", "HUMAN-A"):
                connection.execute(
                    HumanSystemScore.__table__.insert().values(judgments_id=key, system=system, score=score)
                )
    page = checked(report(whole))
    assert "human: da@2" in page.text("bdi")
    assert "9.000" in page.text("td")
    assert "7.000" not in page.text("td")
    assert "HUMAN-A" not in page.text("bdi")
    assert "with human judgments" not in report(whole, human={})


@pytest.mark.parametrize("hostile", NASTY)
def test_nothing_from_outside_is_markup(service_url, hostile):
    texts = [f"{hostile} {line}" for line in REFERENCES["A"]]
    systems = {f"a{n}&'#": [f"{hostile} {hostile} {line}" for line in SYSTEMS[name]] for n, name in enumerate(SYSTEMS)}
    store(
        service_url,
        references={"A": texts},
        systems=systems,
        source=texts,
        selections=[["A"]],
        documents=[(name.replace("quay", "<i>quay"), "<domain>" + domain, "") for name, domain, _ in DOCUMENTS],
        languages=('"><script>', "x y"),
    )
    with opened(service_url) as (connection, boards):
        text = render_report(connection, boards, title=hostile, notices=[hostile], human={hostile: {"a0&'#": 1.0}})
    page = checked(text)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text)
    assert {attributes.get("lang") for attributes, _ in page.all("dd")} <= {None}
    shown = " ".join(re.sub("[\x00-\x1f]", "\N{REPLACEMENT CHARACTER}", hostile).split())
    assert page.text("h1") == [shown]
    assert shown in page.text("li")


def test_several_test_sets_in_one_page(service_url):
    store(service_url, source=SOURCE)
    store(service_url, references={"A": SOURCE}, systems={"other": SOURCE, "tug": SYSTEMS["tug"]}, selections=[["A"]])
    page = checked(report(service_url))
    assert "port: Differences" in headings(page)
    assert "port (version 2): Differences" in headings(page)


def test_a_large_campaign_is_bounded_and_says_so(service_url, monkeypatch):
    for name, value in {"MATRIX_SYSTEMS": 4, "MATRIX_METRICS": 1}.items():
        monkeypatch.setattr(f"campaigns.reports.differences.{name}", value)
    monkeypatch.setattr("campaigns.reports.influential_segments.LETTERS", 12)
    for name, value in {
        "DOCUMENTS": 1,
        "DOCUMENT_SYSTEMS": 2,
        "BREAKDOWN_SYSTEMS": 3,
        "PAIRS": 1,
        "SEGMENTS": 1,
    }.items():
        monkeypatch.setattr(f"campaigns.reports.limits.{name}", value)
    systems = {f"s{n:02}": [line.replace("o", "o" * n) for line in SYSTEMS["tug"]] for n in range(7)}
    store(service_url, systems=systems)
    text = report(service_url, notices=[f"notice {n}" for n in range(200)])
    page = checked(text)
    for sentence in (
        "Only the first 4 systems are shown; 3 more are omitted here",
        "Matrices of 1 more metrics are not shown",
        "4 more systems are not shown",
        "The first 1 documents; 1 more.",
        "more characters)",
        "And 100 more are not shown.",
    ):
        assert sentence in text, sentence
    assert len([1 for attributes, _ in page.all("details") if attributes.get("class") == "pair"]) == 1
    assert len(page.all("article")) == 2


def judge_segments(url: str, name: str = "esa", *, kind: JudgmentKind = JudgmentKind.SCORES) -> None:
    """Scores of segments: the first systems are better, and a human translation is the best."""
    engine = make_engine(url)
    with writing(engine) as connection:
        campaign, test_set = connection.scalar(select(Campaign.id)), connection.scalar(select(TestSet.id))
        rows = [
            SegmentRow(system, segment, score, score, 1)
            for place, system in enumerate(["refA", *SYSTEMS])
            for segment in range(len(SOURCE))
            if (score := 95.0 - 20 * place + segment) >= 0
        ]
        store_judgments(connection, campaign, test_set, NewJudgments(name, kind, {}, [], rows))
    engine.dispose()


def test_people_rank_in_the_report(whole: str) -> None:
    judge_segments(whole, "esa <1>")
    text = report(whole)
    page = checked(text)
    assert headings(page)[:3] == ["Leaderboard: port, references A + B", "Ranking by people", "Differences"]
    part = text[text.index('id="people"') : text.index('id="differences"')]
    assert "esa &lt;1&gt;@1" in part
    with opened(whole) as (connection, boards):
        stored = list_judgments(connection, boards[0].listed.campaign_id, boards[0].listed.test_set_id)
        ranking = rank_stored(connection, "human", boards[0].listed.test_set_id, stored[0])
    assert ranking.board is not None
    assert len(ranking.systems) > 2
    names = re.findall(r'<th scope="row"><bdi>(.*?)</bdi></th>', part)
    assert names == list(ranking.systems)
    assert part.count("<tbody>") == len({each.cluster for each in ranking.systems.values()})
    for name, each in ranking.systems.items():
        low, high = ranking.intervals[name] or (0.0, 0.0)
        row = part[part.index(f"<bdi>{name}</bdi>") :]
        row = row[: row.index("</tr>")]
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
        assert cells[0] == f"{each.score:.2f}"
        assert cells[1:] == [f"[{low:.2f}, {high:.2f}]", f"{each.wins}", f"{each.losses}", f"{each.n}"]


def test_the_rule_of_the_campaign_ranks_and_relative_rankings_do_not(whole: str) -> None:
    judge_segments(whole, "ranks", kind=JudgmentKind.RANKINGS)
    assert "Ranking by people" not in report(whole)
    judge_segments(whole, "mqm")
    judge_segments(whole, "esa")
    assert report(whole).count("rule human,") == 2
    for name in ("besa", "esa2"):
        judge_segments(whole, name)
    engine = make_engine(whole)
    for chosen in ("esa", "esa@1"):
        with writing(engine) as connection:
            connection.execute(update(Campaign).values(human_rule="human:wmt25", human_judgments=chosen))
        text = report(whole)
        assert text.count("rule human:wmt25,") == text.count("<bdi>esa@1</bdi>, rule") == 1
        assert "mqm@1</bdi>, rule" not in text
    engine.dispose()
