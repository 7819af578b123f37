"""A small database of one campaign, and commands that are run on it."""

from cli.main import main
from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.cli.status import status_of
from tests.scheduler.jobs import similar_text, some_text, work_off

METRICS = ("bleu", "ter")
REPLICATES, SEED, SEGMENTS = 200, 5, 60
REFERENCE = some_text(SEGMENTS, 1)


def worse(step: int, seed: int) -> bytes:
    """The reference, more of it replaced the greater the step."""
    text = REFERENCE
    for number in range(step):
        text = similar_text(text, 100 * seed + number)
    return text


# tug and barge are alike, raft is clearly the worst; ferry has three runs, and copy is barge once more.
TUG, BARGE, RAFT = worse(1, 1), worse(1, 2), worse(6, 3)
FERRY = {run: worse(2, 4 + number) for number, run in enumerate(("x", "y", "z"))}
LATER = worse(1, 9)
SUBMISSIONS = [
    *(NewSubmission(name, text) for name, text in {"tug": TUG, "barge": BARGE, "raft": RAFT, "copy": BARGE}.items()),
    *(NewSubmission("ferry", text, run=run) for run, text in FERRY.items()),
]


def submit(url: str, submissions, replicates: int = REPLICATES, campaign: str = "port", labels=("A",)):
    engine = make_engine(url)
    settings = Settings(database_url=url)
    protocol = [NewProtocol(labels, [parse_metric(each) for each in METRICS], replicates, SEED)]
    test_set = NewTestSet(campaign, {"A": REFERENCE})
    job = ingest_campaign(
        engine, settings, campaign=campaign, test_set=test_set, submissions=submissions, protocols=protocol
    )
    engine.dispose()
    work_off(settings)
    return job


def shown(capsys, *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def refused(capsys, *arguments: str) -> tuple[int, str]:
    status = status_of([*arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    return status, captured.err
