"""Every operation of the API by both clients, against a server: what they return is what was sent, and nothing less."""

import inspect
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from models.schema.roles import SiteRole
from models.schema.states import EvaluationState
from steelyard_client import BadInput, Conflict, Forbidden, NotFound
from steelyard_client.documents.accounts.accounts import (
    AccountCreate,
    AccountPasswordUpdate,
    AccountRightsUpdate,
    AccountUpdate,
    PasswordUpdate,
)
from steelyard_client.documents.accounts.invitations import InvitationAccept, InvitationCreate
from steelyard_client.documents.accounts.notices import (
    AnnouncementCreate,
    NoticeChoiceResponse,
    NoticeSettingsUpdate,
)
from steelyard_client.documents.accounts.teams import TeamCreate, TeamMemberCreate, TeamMemberUpdate, TeamUpdate
from steelyard_client.documents.accounts.tokens import AccountTokenCreate, TokenCreate
from steelyard_client.documents.campaigns.campaigns import CampaignCreate, CampaignUpdate
from steelyard_client.documents.campaigns.participants import CampaignMemberUpdate
from steelyard_client.documents.campaigns.past_campaigns import CampaignClone
from steelyard_client.documents.campaigns.phases import PhaseCreate, PhaseExtend, PhaseUpdate
from steelyard_client.documents.campaigns.quotas import GeneralQuotaUpdate, QuotaUpdate
from steelyard_client.documents.campaigns.test_sets import MeasuresCreate, TestSetUpdate
from steelyard_client.documents.leaderboards.imported_scores import AutoRankUpdate
from steelyard_client.documents.submissions.evaluations import EvaluationsCancel, EvaluationSelection
from steelyard_client.documents.submissions.submissions import SubmissionUpdate
from steelyard_client.documents.submissions.systems import SystemsImport, SystemUpdate
from steelyard_client.operations import Operations
from steelyard_client.steps import listing, operation
from steelyard_client.vocabulary import (
    AnnotationTool,
    CampaignRole,
    DeclaredKind,
    Joining,
    PhaseKind,
    QuotaKind,
    TeamRole,
    Visibility,
)
from tests.analysis.nightly_runs import add_nightly_runs
from tests.analysis.nightly_runs import output as nightly_output
from tests.client.caller import COMPOSED, Caller
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.people import PASSWORD, with_password
from tests.service.port import REFERENCE, SEGMENTS, output
from tests.web.hostile.expected import zipped

OUTPUTS = [output(seed) for seed in (1, 2, 3)]


def names() -> set[str]:
    """The clients' methods that send requests."""
    return {name for name, _ in inspect.getmembers(Operations, lambda each: isinstance(each, operation | listing))}


def test_there_is_a_method_for_every_operation_and_no_other(live: Live) -> None:
    paths = live.service.app.openapi()["paths"]
    operations = {each["operationId"] for methods in paths.values() for each in methods.values()}
    assert names() - COMPOSED == operations


@pytest.fixture
def patient(service_url: str) -> Iterator[Live]:
    """A server that leaves all randomization tests to workers."""
    with ExitStack() as stack:
        yield Live.start(service_url, stack, at_once_seconds=0)


@pytest.mark.parametrize(
    "asynchronous", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["blocking", "awaiting"]
)
def test_what_is_sent_is_what_is_returned(patient: Live, asynchronous: bool, tmp_path: Path) -> None:
    call = Caller(patient, asynchronous=asynchronous)
    service = patient.service
    root = service.account("root", SiteRole.ADMINISTRATOR)
    mary, zoe = with_password(service, service.account("mary")), service.account("zoe")
    accounts(call, root, mary, zoe)
    campaigns(call, root, mary)
    submissions(call, root, mary, tmp_path)
    leaderboards(call, root, mary)
    corrections(call, root)
    nightly(call, root)
    exported = call(root, "export_campaign", "regatta")
    preview = call(root, "import_campaign", "regatta-archive", exported, preview=True)
    assert (preview.stored, preview.name) == (False, "regatta-archive")
    assert {"quay", "quay@2"} <= {each.test_set for each in preview.by_test_set}
    assert call(root, "import_campaign", "regatta-archive", exported).name == "regatta-archive"
    with ZipFile(BytesIO(call(root, "export_judgment_tasks", "regatta", tool=AnnotationTool.PEARMUT))) as tasks:
        assert len(tasks.namelist()) == 2
    item = {"source": "A ship.", "target": "Loď.", "explanation": "Right.", "score": 100}
    own = json.dumps([[item]]).encode()
    made = call(root, "export_judgment_tasks_with_tutorial", "regatta", own, tool=AnnotationTool.PEARMUT)
    with ZipFile(BytesIO(made)) as tasks:
        assert any(b"A ship." in tasks.read(name) for name in tasks.namelist())
    call(root, "close_campaign", "regatta")
    call(root, "publish_campaign", "regatta")
    assert call(root, "list_audit_entries", search="publish")
    assert call(root, "list_campaign_audit_entries", "regatta")
    call(root, "get_json", "me")
    call(root, "send", "GET", "me")
    assert call.called == names()


def accounts(call: Caller, root: int, mary: int, zoe: int) -> None:
    assert call(mary, "me").email == "mary@example.org"
    assert not call(None, "read_me").signed_in
    assert call(mary, "list_waiting_uploads") == []
    created = call(root, "create_account", AccountCreate(email="eve@example.org", name="Eve"))
    call(root, "update_account_password", created.id, AccountPasswordUpdate(password="another horse battery"))
    with pytest.raises(Forbidden):
        call(root, "create_account_token", created.id, AccountTokenCreate(name="there"))
    assert call(root, "list_account_tokens", created.id) == []
    link = call(root, "create_password_link", created.id).link.rpartition("/")[2]
    assert link
    call(root, "update_account", created.id, AccountRightsUpdate(verified=True))
    call(root, "end_account_sessions", created.id)
    assert call(root, "read_account", created.id).verified_at is not None
    assert len(call(root, "list_accounts", search="example.org")) == 4
    call(mary, "update_own_account", AccountUpdate(name="Mary"))
    assert call(mary, "read_own_account").name == "Mary"
    assert call(mary, "list_own_sessions") == []
    # For browsers alone, and for servers that send mails.
    with pytest.raises(Forbidden):
        call(mary, "end_own_sessions")
    with pytest.raises(Conflict):
        call(mary, "send_confirmation")
    call(mary, "create_team", TeamCreate(name="harbour"))
    call(mary, "update_team", "harbour", TeamUpdate(affiliation="The port"))
    call(root, "add_team_member", "harbour", TeamMemberCreate(email="eve@example.org"))
    call(mary, "update_team_member", "harbour", created.id, TeamMemberUpdate(role=TeamRole.LEAD))
    team = call(mary, "read_team", "harbour")
    assert (team.affiliation, [each.name for each in team.people]) == ("The port", ["Eve", "Mary"])
    call(mary, "remove_team_member", "harbour", created.id)
    assert [each.members for each in call(mary, "list_own_teams")] == [1]
    invited = call(mary, "create_invitation", InvitationCreate(team="harbour"))
    assert [each.id for each in call(mary, "list_invitations", team="harbour")] == [invited.id]
    secret = invited.link.rpartition("/")[2]
    assert call(zoe, "accept_invitation", InvitationAccept(secret=secret)).team == "harbour"
    call(mary, "withdraw_invitation", call(mary, "create_invitation", InvitationCreate(team="harbour")).id)
    token = TokenCreate(name="here", scopes=["read"], email="mary@example.org", password=PASSWORD)
    made = call(None, "create_token", token)
    assert {each.id for each in call(mary, "list_own_tokens") if each.name == "here"} == {made.id}
    call(mary, "revoke_own_token", made.id)
    call(root, "revoke_account_token", mary, made.id)
    call(mary, "update_own_password", PasswordUpdate(old=PASSWORD, new=f"{PASSWORD} staple"))


def campaigns(call: Caller, root: int, mary: int) -> None:
    call(root, "create_campaign", CampaignCreate(name="regatta", joining=Joining.OPEN, visibility=Visibility.PUBLIC))
    call(root, "update_campaign", "regatta", CampaignUpdate(title="The regatta"))
    assert call(None, "read_campaign", "regatta").title == "The regatta"
    tag = call(root, "campaign_etag", "regatta")
    call(root, "freeze_campaign", "regatta", if_match=tag)
    with pytest.raises(Conflict):
        call(root, "unfreeze_campaign", "regatta", if_match=tag)
    call(root, "unfreeze_campaign", "regatta")
    assert [each.name for each in call(None, "list_campaigns")] == ["regatta"]
    call(root, "create_phase", "regatta", PhaseCreate(name="first", kind=PhaseKind.OPEN, starts="2020-01-01T00:00"))
    later = PhaseCreate(name="later", kind=PhaseKind.CLOSED, starts="2120-01-01T00:00", ends="2121-01-01T00:00")
    phase = call(root, "create_phase", "regatta", later)
    call(root, "update_phase", "regatta", phase.id, PhaseUpdate(name="last"))
    call(root, "extend_phase", "regatta", phase.id, PhaseExtend(ends="2122-01-01T00:00"))
    assert [each.name for each in call(None, "list_phases", "regatta")] == ["first", "last"]
    call(root, "delete_phase", "regatta", phase.id)
    assert call(mary, "join_campaign", "regatta", "harbour").team == "harbour"
    call(mary, "leave_campaign", "regatta", "harbour")
    call(mary, "join_campaign", "regatta", "harbour")
    assert len(call(mary, "list_campaign_teams", "regatta")) == 1
    viewer = CampaignMemberUpdate(email="eve@example.org", role=CampaignRole.VIEWER)
    member = call(root, "set_campaign_member", "regatta", viewer)
    assert len(call(root, "list_campaign_members", "regatta")) == 2
    call(root, "remove_campaign_member", "regatta", member.account)
    quotas = call(root, "set_campaign_quota", "regatta", QuotaUpdate(kind=QuotaKind.PER_DAY, amount=50))
    assert call(root, "list_campaign_quotas", "regatta") == quotas
    general = call(root, "set_quota", GeneralQuotaUpdate(kind=QuotaKind.PER_PHASE, amount=500))
    assert call(root, "list_quotas") == [general, *quotas]
    call(root, "delete_quota", "per_phase")
    assert call(mary, "read_team_quotas", "regatta", "harbour").usage[0].kind == QuotaKind.IN_FLIGHT
    assert call(mary, "list_team_quotas", "harbour") == []
    call(root, "delete_campaign_quota", "regatta", "per_day")


def submissions(call: Caller, root: int, mary: int, folder: Path) -> None:
    path = folder / "A.txt"
    path.write_bytes(REFERENCE)
    made = call(
        root, "create_test_set", "regatta", "quay", {"A.txt": path}, source=REFERENCE, target_language="en",
        metrics=["bleu"], replicates=50,
    )  # fmt: skip
    extra = call(root, "create_test_set", "regatta", "spare", {"B.txt": REFERENCE}, metrics=["chrf"])
    call(root, "delete_test_set", "regatta", extra.id)
    call(root, "add_test_set_measures", "regatta", made.id, MeasuresCreate(metrics=["chrf"], replicates=50))
    call(root, "update_test_set", "regatta", made.id, TestSetUpdate(released=True, early=True))
    assert call(None, "read_test_set", "regatta", made.id).references_visible
    assert [each.name for each in call(None, "list_test_sets", "regatta")] == ["quay"]
    assert call(mary, "download_source", "regatta", made.id).rstrip() == REFERENCE.rstrip()
    assert call(None, "download_reference", "regatta", made.id, "A").rstrip() == REFERENCE.rstrip()
    with pytest.raises(BadInput) as refused:
        call(mary, "submit_outputs", "regatta", zipped({f"{made.name}.txt": "short\n"}), system="mast")
    assert "quay.txt: " in refused.value.details[0]
    checked = call(mary, "submit_outputs", "regatta", zipped({f"{made.name}.txt": "short\n"}), system="m", preview=True)
    assert ([each.file for each in checked.refused], checked.checked) == (["quay.txt"], [])
    assert not call(mary, "check_output", "regatta", OUTPUTS[0], system="mast").fatal
    numbers = [
        call(mary, "submit_output", "regatta", text, system=f"mast {place}").id for place, text in enumerate(OUTPUTS)
    ]
    (first, *_) = call(mary, "read_submission", numbers[0]).evaluations
    assert call(root, "cancel_evaluation", first.id, reason="too early").state == EvaluationState.CANCELLED
    assert call(root, "retry_evaluation", first.id).state == EvaluationState.QUEUED
    open_ones = EvaluationSelection(campaign="regatta", states=[EvaluationState.QUEUED])
    everything = [each.id for each in call(root, "list_evaluations", open_ones)]
    assert len(everything) == len(numbers)
    assert call(root, "read_queue_status", campaign="regatta").evaluations[EvaluationState.QUEUED] == len(numbers)
    cancelled = EvaluationsCancel(evaluations=everything, reason="too early")
    assert not call(root, "cancel_evaluations", cancelled, dry_run=True).changed
    assert [each.id for each in call(root, "cancel_evaluations", cancelled).evaluations] == everything
    again = call(root, "retry_evaluations", EvaluationSelection(evaluations=everything))
    assert [each.reason for each in again.evaluations] == ["too early"] * len(numbers)
    call.live.work()
    assert call(mary, "read_evaluation", first.id).state == EvaluationState.DONE
    recomputed = call(root, "recompute_evaluations", EvaluationSelection(evaluations=[first.id]))
    assert recomputed.scores
    call.live.work()
    assert call(root, "read_evaluation_scores", [first.id]).scores == recomputed.scores
    assert [each.state for each in call(mary, "watch_submission", numbers[0])] == [EvaluationState.DONE]
    assert call(mary, "wait_for_submission", numbers[0]).feedback
    call(mary, "update_submission", numbers[0], SubmissionUpdate(kind=DeclaredKind.PRIMARY))
    call(mary, "withdraw_submission", numbers[1])
    call(mary, "reinstate_submission", numbers[1])
    assert call(root, "delete_submission", numbers[1], dry_run=True).removed["submissions"] == 1
    assert call(root, "delete_campaign", "regatta", dry_run=True).removed["submissions"] == 3
    assert not call(root, "delete_team", "harbour", dry_run=True).deleted
    with pytest.raises(Forbidden):
        # One's own: in a browser alone.
        call(root, "delete_account", root)
    assert call(mary, "download_output", numbers[2]) == OUTPUTS[2]
    assert [each.id for each in call(mary, "list_campaign_submissions", "regatta")] == numbers[::-1]
    assert not call(None, "list_past_campaigns")
    assert call(root, "clone_campaign", "regatta", CampaignClone(name="regatta 2")).name == "regatta 2"
    assert call(root, "delete_campaign", "regatta 2").deleted
    assert call(root, "create_announcement", "regatta", AnnouncementCreate(subject="Soon", text="It is late.")).id
    assert len(call(mary, "list_announcements", "regatta")) == 1
    assert [each.kind for each in call(mary, "list_notices")] == ["announcement"]
    assert call(mary, "read_notice_settings").webhook is None
    off = NoticeChoiceResponse(kind="results", channel="mail", wanted=False)
    changed = call(mary, "update_notice_settings", NoticeSettingsUpdate(choices=[off]))
    assert [each.kind for each in changed.choices if not each.wanted] == ["scored", "phase", "results"]
    systems = call(mary, "list_campaign_systems", "regatta")
    assert len(systems) == 3
    own = next(each for each in systems if each.own)
    described = call(mary, "update_campaign_system", "regatta", own.id, SystemUpdate(parameters=7, weights="open"))
    assert (described.parameters, described.weights) == (7, "open")
    assert call(None, "read_campaign_system", "regatta", own.id).scores[0].scores
    table = SystemsImport(table=f"system\ttrack\n{own.system}\tconstrained\n")
    assert call(root, "import_campaign_systems", "regatta", table).matched == [own.system]
    assert call(None, "cite_campaign_system", "regatta", own.id).startswith(b"@misc{")
    assert call(None, "cite_campaign", "regatta").startswith(b"@misc{regatta-results")


def leaderboards(call: Caller, root: int, mary: int) -> None:
    assert call(None, "list_leaderboards", "regatta")
    board = call(None, "read_leaderboard", "regatta", shown="all")
    assert (len(board.items), board.items[0].scores[0].interval is not None) == (3, True)
    matrix = call(None, "read_campaign_matrix", "regatta", shown="all", only=[board.test_set])
    assert [row.cells[0].score for row in matrix.systems] == [each.scores[0].score for each in board.items]
    with pytest.raises(NotFound, match="no scores by document"):
        call(root, "read_campaign_breakdown", "regatta", by="document")
    assert call(None, "download_leaderboard", "regatta", "tsv").startswith(b"campaign\t")
    numbers = [each.submission for each in board.items]
    assert call(None, "read_comparisons", "regatta", numbers, metric="chrf").pairs
    requested = call(mary, "request_comparisons", "regatta", numbers)
    assert requested.progress.running
    call(root, "cancel_comparison", "regatta", requested.progress.comparison, reason="a mistake")
    assert call(None, "compare", "regatta", numbers).pairs
    shown = call(mary, "list_segments", "regatta", system=[str(numbers[0])], metric="chrf")
    assert (len(shown.items), shown.found) == (50, SEGMENTS)
    best = call(root, "read_campaign_ngrams", "regatta")
    told = call(
        root, "read_campaign_ngrams", "regatta", system=[str(each.submission) for each in reversed(best.systems)]
    )
    assert told.systems == best.systems[::-1]
    assert len(told.ngrams) == len(best.ngrams) > 0
    table = b"system\tscore\nharbour/mast 0\t90\nharbour/mast 1\t50\nharbour/mast 2\t70\n"
    judged = call(root, "add_human_scores", "regatta", {"da.tsv": table}, called="da")
    assert len(judged.matched) == 3
    assert [each.name for each in call(root, "list_human_scores", "regatta")] == ["da"]
    assert call(root, "read_correlations", "regatta", human="da").tables
    with ThreadPoolExecutor(1) as pool:
        # It waits for its columns, which workers compute.
        asked = pool.submit(call, root, "read_campaign_metrics_task", "regatta", human="da")
        while not asked.done():
            call.live.work()
    task = asked.result()
    assert (task.left_out, task.metrics) == ([board.test_set], []), "systems were judged, and no segments"
    ratings = "annotator\tsystem\tsegment\tscore\n" + "".join(
        f"eva\tharbour/mast {system}\t{segment}\t{50 + 10 * system}\n" for system in range(3) for segment in range(9)
    )
    checked = call(root, "add_human_scores", "regatta", {"x.tsv": ratings.encode()}, called="esa", preview=True)
    assert (checked.stored, checked.judgments, checked.annotators, checked.judged_segments) == (False, 27, 1, 9)
    assert [each.name for each in call(root, "list_human_scores", "regatta")] == ["da"]
    assert call(root, "add_human_scores", "regatta", {"x.tsv": ratings.encode()}, called="esa").stored
    rated = call(root, "read_human_scores", "regatta", "esa")
    assert (rated.name, rated.version, rated.annotators) == ("esa", 1, checked.annotators)
    rows = list(call(root, "list_judged_segments", "regatta", "esa@1"))
    assert len(rows) == checked.segment_scores
    assert {each.system for each in rows} == {each.system for each in rated.systems}
    call(root, "rename_human_scores", "regatta", "esa", "people")
    assert not call(None, "read_human_ranking", "regatta").systems
    call(root, "update_campaign", "regatta", CampaignUpdate(human_rule="human:wmt25", human_judgments="people"))
    official = call(None, "read_human_ranking", "regatta")
    assert (official.official.judgments, [each.human.n for each in official.systems]) == ("people@1", [9, 9, 9])
    best = call(None, "read_leaderboard", "regatta", shown="all")
    assert best.human.rule == "human:wmt25"
    assert sorted(each.human.score for each in best.items) == [50.0, 60.0, 70.0]
    call(root, "update_campaign", "regatta", CampaignUpdate(human_rule=""))
    call(root, "delete_human_scores", "regatta", "people@1")
    call(root, "delete_human_scores", "regatta", "da@1")
    scores = b"system\tmetric\tscore\nharbour/mast 0\tX\t0.5\nharbour/mast 1\tX\t0.25\n"
    imported = call(root, "import_scores", "regatta", {"x.tsv": scores}, metric="Y@b")
    assert [(each.name, each.version, each.systems) for each in imported.columns] == [("Y", "b", 2)]
    assert imported.notices
    call(root, "choose_imported_scores", "regatta", "Y@b")
    (listed,) = call(root, "list_imported_scores", "regatta")
    assert (listed.shown, listed.files[0].name, len(listed.files[0].sha256)) == (True, "x.tsv", 64)
    made = call(root, "rank_campaign_by_autorank", "regatta", AutoRankUpdate(rule="wmt24", metrics={"": ["Y"]}))
    assert made.ranked_by == "autorank:rule=wmt24"
    call(root, "delete_imported_scores", "regatta", "Y")
    assert not call(root, "list_imported_scores", "regatta")


def corrections(call: Caller, root: int) -> None:
    (test_set,) = call(root, "list_test_sets", "regatta")
    corrected = {"A.txt": output(9)}
    made = call(root, "create_correction", "regatta", test_set.id, corrected, reason="a wrong word")
    call.live.work()
    assert call(root, "read_correction", "regatta", made.id).metrics
    assert [each.reason for each in call(root, "list_corrections", "regatta")] == ["a wrong word"]


def nightly(call: Caller, root: int) -> None:
    service = call.live.service
    (run,) = add_nightly_runs(service.engine, service.settings.database_url, [{"tug": nightly_output()}])
    (schedule,) = call(root, "list_schedules")
    assert call(root, "read_schedule_history", schedule.name).runs
    assert call(root, "read_nightly_run", schedule.name, run)
