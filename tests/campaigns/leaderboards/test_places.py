"""The ranks of a submission by each metric, among those that are ranked, and why it has none."""

from campaigns.leaderboards.places import SUPERSEDED, WITHDRAWN, BoardPlace, read_places
from campaigns.leaderboards.view import Boards
from models.database.session import reading
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import Service


def place_of(scored: Scored, submission: int, *, withdrawn: bool = False) -> BoardPlace:
    with reading(scored.service.engine) as connection:
        boards = Boards(scored.service.engine, 2**20)
        protocols = [scored.protocol]
        return read_places(connection, boards, scored.campaign_id, submission, protocols, withdrawn=withdrawn)[
            scored.protocol
        ]


def test_where_each_submission_stands(service: Service) -> None:
    scored = Scored(service)
    mast = scored.add("harbour", "mast", 30.0, ter=60.0, **PRIMARY)
    keel = scored.add("harbour", "keel", 50.0, ter=10.0, **CONTRASTIVE)
    before = scored.add("guests", "lamp", 10.0, ter=90.0, late_seconds=60.0)
    runs = [scored.add("", "buoy", score, ter=50.0, run=run) for run, score in (("a", 34.0), ("b", 38.0))]
    unmeasured = scored.add("", "raft", 20.0, ter=None)
    waiting = scored.add("", "barge", None, state="queued")
    lamp = scored.add("guests", "lamp", 40.0, ter=70.0, late_seconds=60.0)
    # By BLEU lamp, the mean of buoy's runs, mast, raft; by TER, of which less is better, buoy, mast, lamp.
    assert place_of(scored, lamp) == BoardPlace((1, 3), (4, 3), "late")
    for run in runs:
        assert place_of(scored, run) == BoardPlace((2, 1), (4, 3), "the mean of 2 runs has the rank")
    assert place_of(scored, mast) == BoardPlace((3, 2), (4, 3), "")
    assert place_of(scored, unmeasured) == BoardPlace((4, None), (4, 3), "")
    assert place_of(scored, keel) == BoardPlace((None, None), (4, 3), "contrastive")
    assert place_of(scored, waiting) == BoardPlace((None, None), (4, 3), "")
    assert place_of(scored, before) == BoardPlace((None, None), (4, 3), SUPERSEDED)
    scored.withdraw(mast)
    # The team's other system is contrastive still.
    assert place_of(scored, mast, withdrawn=True) == BoardPlace((None, None), (3, 2), WITHDRAWN)


def test_nothing_is_read_where_no_leaderboard_is_seen(service: Service) -> None:
    scored = Scored(service)
    mast = scored.add("harbour", "mast", 30.0)
    with reading(service.engine) as connection:
        boards = Boards(service.engine, 2**20)
        assert read_places(connection, boards, scored.campaign_id, mast, [], withdrawn=False) == {}
