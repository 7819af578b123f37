"""What can be submitted: texts, keys, descriptions, languages, and what is ahead in the queue."""

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from campaigns.submissions.errors import ReusedKey
from campaigns.submissions.submit import MAX_DESCRIPTION_LENGTH, MAX_KEY_LENGTH, SubmitResult, submit
from models.database.session import reading, writing
from models.errors import NotFound
from models.queue.evaluation_end import cancel_evaluations
from models.queue_status.submission_progress import read_submission_progress
from models.schema.campaigns import SubmissionRequest
from models.schema.corpus import Submission
from models.schema.roles import SystemOrigin
from models.schema.states import Fault, QueueClass
from runtime.settings import Settings
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.formats.plain import Text as Output
from steelyard.metrics.registry import parse_metric
from tests.campaigns.quotas.quotas import CAMPAIGN, IN_FLIGHT, attempt, count, fail, limit, one_kind, refused, used
from tests.scheduler.jobs import one_block_shards, queue_job, some_text, work_off


def test_a_request_with_a_key_is_done_once(engine: Engine, settings: Settings) -> None:
    first = submit(engine, settings, attempt(1, request_key="a"))
    fail(engine, first, Fault.PLATFORM)
    again = submit(engine, settings, attempt(1, request_key="a"))
    assert (again.submission, again.queued) == (first.submission, False), "what came of it is left as it is"
    with pytest.raises(
        ReusedKey, match=f'The key "a" was already used for submission {first.submission} of team harbour'
    ):
        submit(engine, settings, attempt(2, request_key="a"))
    assert count(engine, Submission) == 2
    assert submit(engine, settings, attempt(1, request_key="b")).queued
    with pytest.raises(ReusedKey):
        submit(engine, settings, attempt(3, request_key="b"))
    assert submit(engine, settings, attempt(4, team="other", request_key="a")).stored, "keys are those of a team"
    for key in ("", "k" * 201):
        with pytest.raises(BadIngest, match="cannot be the key of a request"):
            submit(engine, settings, attempt(5, request_key=key))


@one_kind
def test_one_text_is_as_many_submissions_as_it_is_submitted_for(engine: Engine, settings: Settings) -> None:
    """By a team, for a system, as a run, for a test set, in a campaign; and keys are those of a team in a campaign."""
    queue_job(engine, settings, segments=6, systems=1, seed=9)
    queue_job(engine, settings, segments=6, systems=1, campaign="elsewhere")
    one = attempt(1, test_set="trial@1")
    attempts = [
        one,
        replace(one, team="other"),
        replace(one, system="boom"),
        replace(one, run="2"),
        replace(one, test_set="trial@2"),
        replace(one, campaign="elsewhere", test_set=None),
    ]
    found = [submit(engine, settings, each) for each in attempts]
    assert all(each.stored and each.queued for each in found)
    assert len({each.submission for each in found}) == len({each.evaluations for each in found}) == len(attempts)
    again = [submit(engine, settings, each) for each in attempts]
    assert [(each.submission, each.stored) for each in again] == [(each.submission, False) for each in found]
    for number in (0, 1, 5):
        with_key = submit(engine, settings, replace(attempts[number], request_key="k"))
        assert with_key.submission == found[number].submission
    with pytest.raises(ReusedKey):
        submit(engine, settings, replace(attempts[2], request_key="k"))


@one_kind
def test_what_has_been_scored_needs_no_quota_when_it_comes_again(engine: Engine, settings: Settings) -> None:
    """Nothing is queued, so it finds its scores where nothing else may be queued."""
    scored = submit(engine, settings, attempt(1))
    work_off(settings)
    limit(engine, {IN_FLIGHT: 1})
    assert submit(engine, settings, attempt(2)).queued
    again = submit(engine, settings, attempt(1))
    assert (again.submission, again.evaluations) == (scored.submission, scored.evaluations)
    assert (again.stored, again.queued) == (False, False)
    refused(engine, settings, 3)
    assert used(engine)[0] == 1


@one_kind
def test_what_cannot_be_submitted(engine: Engine, settings: Settings) -> None:
    with pytest.raises(BadIngest, match="has 5 lines, but the test set trial has 6 segments"):
        submit(engine, settings, attempt(1, segments=5))
    with pytest.raises(BadIngest, match="cannot be the name of a team: it is empty"):
        submit(engine, settings, attempt(1, team=""))
    with pytest.raises(NotFound, match=r"has no test set 'trail'. There are: trial@1"):
        submit(engine, settings, attempt(1, test_set="trail"))
    queue_job(engine, settings, segments=7, systems=1)
    with pytest.raises(NotFound, match=r"several test sets: trial@1, trial@2. Choose one with --test-set"):
        submit(engine, settings, attempt(1))
    assert submit(engine, settings, attempt(1, segments=7, test_set="trial@2")).measures.test_set.segments == 7


@one_kind
@pytest.mark.parametrize(("language", "taken"), [("cs", True), ("czech", True), ("", True), ("de", False)])
def test_an_output_is_in_the_language_of_the_references(engine: Engine, language: str, taken: bool) -> None:
    settings, text = one_block_shards(str(engine.url)), some_text(6, 1)
    ingest_campaign(
        engine,
        settings,
        campaign=CAMPAIGN,
        test_set=NewTestSet("trial", {"A": text}, target_language="cs"),
        submissions=[NewSubmission("mast", text)],
        protocols=[NewProtocol(["A"], [parse_metric("bleu")], 0)],
    )
    mine = attempt(1)
    mine = replace(mine, text=replace(mine.text, language=language))
    if taken:
        assert submit(engine, settings, mine).queued
    else:
        with pytest.raises(BadIngest, match="is in 'de', but the references of trial are in 'cs'"):
            submit(engine, settings, mine)


@one_kind
def test_an_output_has_the_layers_that_metrics_need(engine: Engine) -> None:
    settings = one_block_shards(str(engine.url))
    text, layer = b"a dog barks", {"sempos": b"dog/n.denot bark/v"}
    ingest_campaign(
        engine,
        settings,
        campaign=CAMPAIGN,
        test_set=NewTestSet("trial", {"A": text}, layers={"A": layer}),
        submissions=[NewSubmission("mast", text, layers=layer)],
        protocols=[NewProtocol(["A"], [parse_metric("bleu"), parse_metric("sempos")], 0)],
    )
    plain = replace(attempt(1, system="keel"), text=Output("out.txt", text, 1))
    before = count(engine, Submission)
    with pytest.raises(BadIngest) as refused_plain:
        submit(engine, settings, plain)
    assert str(refused_plain.value) == (
        'out.txt: misses the layer "sempos" (tectogrammatical nodes with their semantic parts of speech), which sempos '
        "needs in trial. Formats that have it: TectoMT or Treex."
    )
    assert count(engine, Submission) == before
    assert submit(engine, settings, replace(plain, text=Output("out.txt", text, 1, layer))).queued


@one_kind
def test_a_baseline_is_of_no_team(engine: Engine, settings: Settings) -> None:
    with pytest.raises(BadIngest) as both:
        submit(engine, settings, attempt(1, origin=SystemOrigin.BASELINE))
    assert str(both.value) == "A baseline or an online system is of no team. Leave out the team, or what it is."
    assert submit(engine, settings, attempt(1, team="", origin=SystemOrigin.BASELINE)).stored


@one_kind
def test_keys_and_descriptions_that_cannot_be(engine: Engine, settings: Settings) -> None:
    """As long as they may be they are taken, and there is room for them."""
    assert SubmissionRequest.__table__.c.request_key.type.length == MAX_KEY_LENGTH
    longest = {"request_key": "k" * MAX_KEY_LENGTH, "description": "d" * MAX_DESCRIPTION_LENGTH}
    assert submit(engine, settings, attempt(1, **longest)).stored
    for key in ("", "k" * (MAX_KEY_LENGTH + 1), "k\0"):
        with pytest.raises(BadIngest, match="cannot be the key of a request"):
            submit(engine, settings, attempt(2, request_key=key))
    unfit = {"d" * (MAX_DESCRIPTION_LENGTH + 1): "is too long", "d\0": "contains a NUL character"}
    for description, why in unfit.items():
        with pytest.raises(BadIngest, match=f"description {why}"):
            submit(engine, settings, attempt(2, description=description))


@one_kind
def test_who_is_before_it(engine: Engine, settings: Settings) -> None:
    first = submit(engine, settings, attempt(1))
    second = submit(engine, settings, attempt(2, team="other"))
    third = submit(engine, settings, attempt(3, team="third", queue_class=QueueClass.CAMPAIGN))

    def ahead(submitted: SubmitResult) -> int | None:
        with reading(engine) as connection:
            return read_submission_progress(connection, [submitted.submission], 60.0)[submitted.submission].ahead

    assert (ahead(first), ahead(second), ahead(third)) == (0, 1, 3), "the campaign has one of its own"
    with writing(engine) as connection:
        cancel_evaluations(connection, first.evaluations)
    assert (ahead(first), ahead(second), ahead(third)) == (None, 0, 2)
