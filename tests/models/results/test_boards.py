"""Which leaderboards there are, and what stands on none of them."""

from sqlalchemy import Engine, insert, update

from models.database.session import make_engine, reading, writing
from models.results.boards import BoardSummary, list_boards, superseded_boards
from models.results.leaderboard import read_leaderboard, read_selected_systems
from models.schema.base import now
from models.schema.campaigns import CampaignProtocol, Declaration
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from runtime.settings import Settings
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.statements import caught


def measured(
    engine: Engine,
    url: str,
    *metrics: str,
    systems: str = "ab",
    replicates: int = 5,
    done: bool = True,
    campaign: str = "port",
    test_set: str = "port",
    references: str = "A",
) -> IngestResult:
    job = ingest_campaign(
        engine,
        Settings(database_url=url),
        campaign=campaign,
        test_set=NewTestSet(test_set, {"A": f"x {test_set}\ny".encode(), "B": b"u\nv"}, target_language="cs"),
        submissions=[NewSubmission(name, f"{name}\ny".encode(), "harbour") for name in systems],
        protocols=[NewProtocol([*references], [parse_metric(metric) for metric in metrics], replicates)],
    )
    if done:
        with writing(engine) as connection:
            ours = Evaluation.id.in_(job.all_evaluations)
            connection.execute(update(Evaluation).where(ours).values(state="done"))
    return job


def superseded(engine: Engine) -> list[tuple[str, ...]]:
    with reading(engine) as connection:
        boards = list_boards(connection)
        found = superseded_boards(connection, boards)
    return [board.metrics for board in boards if board in found]


def test_a_board_is_outgrown_by_one_that_says_everything_of_it(database_url: str) -> None:
    engine = make_engine(database_url)
    measured(engine, database_url, "bleu")
    assert superseded(engine) == []
    measured(engine, database_url, "ter", "bleu", done=False)
    assert superseded(engine) == [], "it is not done yet"
    measured(engine, database_url, "ter", "bleu")
    assert superseded(engine) == [("bleu",)]
    measured(engine, database_url, "bleu", systems="abc")
    assert superseded(engine) == [], "c stands only there"


def test_which_boards_are_listed(database_url: str) -> None:
    """Of two campaigns on a test set that they share and one of their own, with a sweep that must be named."""
    engine = make_engine(database_url)
    shared = measured(engine, database_url, "bleu")
    both = measured(engine, database_url, "bleu", "ter", references="BA", replicates=7)
    again = measured(engine, database_url, "bleu", campaign="quay")
    own = measured(engine, database_url, "bleu", campaign="quay", test_set="quay")
    sweep = measured(engine, database_url, "ter")
    port, quay = shared.campaign_id, again.campaign_id
    plain, several, other, swept = (each.protocols[0] for each in (shared, both, own, sweep))
    assert again.protocols == (plain,)
    with writing(engine) as connection:
        connection.execute(update(Protocol).where(Protocol.id == swept).values(sweep=True))
    everything = [(port, plain), (port, several), (quay, plain), (quay, other)]
    for asked, expected in (
        ({}, everything),
        ({"campaign_id": quay}, everything[2:]),
        ({"protocols": [plain]}, [(port, plain), (quay, plain)]),
        ({"protocols": [swept, other]}, [(port, swept), (quay, other)]),
        ({"protocols": [swept, other], "planned": True}, [(port, swept), (quay, other)]),
        ({"protocols": [plain, swept], "campaign_id": quay}, [(quay, plain)]),
        ({"protocols": []}, []),
        ({"name": "port"}, everything[:3]),
        ({"name": "quay"}, everything[2:]),
        ({"name": "harbour"}, []),
        ({"references": ["A", "B"]}, [(port, several)]),
        ({"references": ["A"], "name": "port"}, [(port, plain), (quay, plain)]),
        ({"references": []}, []),
    ):
        with reading(engine) as connection:
            found = list_boards(connection, **asked)  # type: ignore[arg-type]
        assert [(each.campaign_id, each.protocol_id) for each in found] == expected, asked
    with reading(engine) as connection:
        (board,) = list_boards(connection, references=["A", "B"])
    assert board == BoardSummary(
        *(several, port, "port", "port", "1", ("B", "A"), board.metrics, 7, 12345, 2, both.test_set_id, "cs")
    )
    assert [each.partition(":")[0] for each in board.metrics] == ["bleu", "ter"]
    engine.dispose()


def test_boards_are_compared_by_one_statement(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    for number in range(5):
        measured(engine, sqlite_url, *("bleu", "ter", "wer", "per", "chrf")[: number + 1])
    with reading(engine) as connection:
        boards = list_boards(connection)
        with caught() as statements:
            assert len(superseded_boards(connection, boards)) == 4
    assert len(statements) == 1


def test_other_metrics_and_lost_replicates_outgrow_nothing(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    measured(engine, sqlite_url, "bleu")
    measured(engine, sqlite_url, "ter")
    measured(engine, sqlite_url, "bleu", "ter", replicates=0)
    assert superseded(engine) == []


def test_what_is_planned_is_listed_only_where_it_is_asked_for(database_url: str) -> None:
    engine = make_engine(database_url)
    job = measured(engine, database_url, "bleu")
    with writing(engine) as connection:
        row = {"campaign_id": job.campaign_id, "protocol_id": job.protocols[0]}
        connection.execute(insert(CampaignProtocol).values(**row))

    def listed(**options: bool) -> list[BoardSummary]:
        with reading(engine) as connection:
            return list_boards(connection, campaign_id=job.campaign_id, **options)

    assert listed() == listed(planned=True)
    with writing(engine) as connection:
        other = take_in_nothing(connection, job)
    assert [board.protocol_id for board in listed(planned=True)] == [job.protocols[0], other]
    assert [board.protocol_id for board in listed()] == [job.protocols[0]]
    assert listed()[0].test_set_id == job.test_set_id
    # What another campaign plans on the same test set is not this one's.
    quay = measured(engine, database_url, "bleu", campaign="quay")
    with writing(engine) as connection:
        connection.execute(insert(CampaignProtocol).values(campaign_id=quay.campaign_id, protocol_id=other))
    assert quay.test_set_id == job.test_set_id
    assert [(board.campaign_id, board.protocol_id) for board in listed(planned=True)] == [
        (job.campaign_id, job.protocols[0]),
        (job.campaign_id, other),
    ]


def take_in_nothing(connection, job: IngestResult) -> int:
    """Another protocol of the campaign, by which nothing was measured."""
    from scheduler.ingest.campaigns import store_protocols

    (other,) = store_protocols(connection, job.test_set_id, [NewProtocol(["A"], [parse_metric("ter")], 5)])
    connection.execute(insert(CampaignProtocol).values(campaign_id=job.campaign_id, protocol_id=other))
    return other


def test_what_was_withdrawn_stands_nowhere_unless_it_is_named(database_url: str) -> None:
    engine = make_engine(database_url)
    job = measured(engine, database_url, "bleu")
    first, second = job.submissions
    with writing(engine) as connection:
        row = {"submission_id": first, "campaign_id": job.campaign_id, "test_set_id": job.test_set_id}
        connection.execute(insert(Declaration).values(**row, team="harbour", withdrawn_at=now()))
    with reading(engine) as connection:
        board = job.protocols[0]
        assert [row.submissions for row in read_leaderboard(connection, board)] == [(second,)]
        assert len(read_leaderboard(connection, board, all_submissions=True)) == 1
        assert len(read_leaderboard(connection, board, submissions=[first, second])) == 2
        both = [(evaluation,) for evaluation in job.evaluations[0]]
        assert len(read_selected_systems(connection, board, both)) == 2
