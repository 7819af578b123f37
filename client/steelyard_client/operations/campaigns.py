"""Operations on campaigns: rules, phases, teams, members, quotas, schedules, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard_client.addresses import drop_none, path_of
from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse
from steelyard_client.documents.campaigns.campaigns import (
    CampaignResponse,
    CampaignSummary,
    UnreadableCampaignResponse,
)
from steelyard_client.documents.campaigns.participants import (
    CampaignMemberResponse,
    CampaignTeamCreate,
    CampaignTeamResponse,
)
from steelyard_client.documents.campaigns.past_campaigns import PastCampaign
from steelyard_client.documents.campaigns.phases import PhaseResponse
from steelyard_client.documents.campaigns.quotas import QuotaResponse, TeamQuotasResponse
from steelyard_client.documents.submissions.nightly import NightlyRunResponse, ScheduleHistoryResponse, ScheduleResponse
from steelyard_client.files import read_file
from steelyard_client.reading import decode
from steelyard_client.requests import Requests, json_of
from steelyard_client.steps import listing, operation
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, ExportLayout, TaskAssignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from steelyard_client.documents.campaigns.campaigns import CampaignCreate, CampaignUpdate
    from steelyard_client.documents.campaigns.deletions import DeletionResponse
    from steelyard_client.documents.campaigns.participants import CampaignMemberUpdate
    from steelyard_client.documents.campaigns.past_campaigns import CampaignClone
    from steelyard_client.documents.campaigns.phases import PhaseCreate, PhaseExtend, PhaseUpdate
    from steelyard_client.documents.campaigns.quotas import GeneralQuotaUpdate, QuotaUpdate
    from steelyard_client.steps import Items, Steps


SEED = 12345
"""Of what is drawn, unless another one is given."""


class CampaignOperations(Requests):
    """Campaigns. `if_match`, where a method has it, is a `campaign_etag`: the server refuses what is out of date."""

    @listing
    def list_campaigns(
        self, *, on_unreadable: Callable[[UnreadableCampaignResponse], None] | None = None
    ) -> Items[CampaignSummary]:
        """The campaigns that the account may see, newest first.

        `on_unreadable` is called for each that cannot be shown, because of what the database holds of it.
        """

        def tell(page: dict[str, Any]) -> None:
            if on_unreadable is not None:
                for each in page.get("unreadable", ()):
                    on_unreadable(decode(UnreadableCampaignResponse, each))

        return self._pages(CampaignSummary, "campaigns", on_page=tell)

    @operation
    def create_campaign(self, new: CampaignCreate) -> Steps[CampaignResponse]:
        """Create a campaign; you become its organiser."""
        return self._change(CampaignResponse, "POST", "campaigns", body=new)

    @operation
    def read_campaign(self, name: str) -> Steps[CampaignResponse]:
        """A campaign with its rules. Raises NotFound."""
        return self._get(CampaignResponse, "campaigns", name)

    @operation
    def campaign_etag(self, name: str) -> Steps[str]:
        """What changes with the rules, phases and test sets of a campaign, for `if_match`. For organisers."""
        answer = yield from self._send("GET", path_of("campaigns", name))
        return str(answer.headers.get("ETag", ""))

    @operation
    def update_campaign(
        self, name: str, change: CampaignUpdate, *, if_match: str | None = None
    ) -> Steps[CampaignResponse]:
        """Change rules of a campaign. For organisers."""
        return self._change(CampaignResponse, "PATCH", "campaigns", name, body=change, headers=matching(if_match))

    @operation
    def delete_campaign(self, name: str, *, dry_run: bool = False) -> Steps[DeletionResponse]:
        """Delete a campaign with everything in it, or with `dry_run` ask what would be deleted. For organisers."""
        return self._delete("campaigns", name, dry_run=dry_run)

    @operation
    def freeze_campaign(self, name: str, *, if_match: str | None = None) -> Steps[CampaignResponse]:
        """Freeze a campaign: no submissions, declarations or withdrawals, regardless of its phases."""
        return self._change(CampaignResponse, "POST", "campaigns", name, "freeze", headers=matching(if_match))

    @operation
    def unfreeze_campaign(self, name: str, *, if_match: str | None = None) -> Steps[CampaignResponse]:
        """Unfreeze a campaign: its phases apply again."""
        return self._change(CampaignResponse, "POST", "campaigns", name, "unfreeze", headers=matching(if_match))

    @operation
    def close_campaign(self, name: str, *, if_match: str | None = None) -> Steps[CampaignResponse]:
        """Close the current phase and its grace period now."""
        return self._change(CampaignResponse, "POST", "campaigns", name, "close", headers=matching(if_match))

    @operation
    def publish_campaign(
        self, name: str, *, delete_later: bool = False, if_match: str | None = None
    ) -> Steps[CampaignResponse]:
        """Publish the results: scores, names and outputs. Phases that were to come first are deleted if so wished."""
        params = {"delete_later": "true"} if delete_later else None
        return self._change(
            CampaignResponse, "POST", "campaigns", name, "publish", params=params, headers=matching(if_match)
        )

    @operation
    def import_campaign(
        self, name: str, file: Path | bytes, *, preview: bool = False
    ) -> Steps[CampaignImportedResponse]:
        """Create a campaign from a zip: an export, or a folder of language pairs. For organisers of the server.

        With `preview` only say what would be stored.
        """
        content, fields = {"file": read_file(file, f"{name}.zip")}, {"preview": str(preview).lower()}
        return self._change(CampaignImportedResponse, "POST", "campaigns", name, "import", data=fields, files=content)

    @operation
    def export_campaign(
        self, name: str, *, layout: ExportLayout = ExportLayout.CAMPAIGN, test_sets: Sequence[str] = ()
    ) -> Steps[bytes]:
        """What the account may see of a campaign, as a zip archive; test sets can be chosen for mt-metrics-eval."""
        return self._get_bytes("campaigns", name, "export", layout=layout, test_set=list(test_sets))

    @operation
    def export_judgment_tasks(
        self,
        name: str,
        *,
        tool: AnnotationTool,
        protocol: AnnotationProtocol = AnnotationProtocol.ESA,
        test_sets: Sequence[str] = (),
        systems: Sequence[str] = (),
        references: bool = False,
        annotators: int | None = None,
        assignment: TaskAssignment = TaskAssignment.DYNAMIC,
        together: int | None = None,
        checks: int | None = None,
        tutorial: bool = False,
        seed: int = SEED,
    ) -> Steps[bytes]:
        """Outputs as tasks of an annotation tool, as a zip archive.

        Parameters
        ----------
        name
            Name of the campaign.
        tool
            Appraise or Pearmut.
        protocol
            How people judge.
        test_sets
            Only these; default all.
        systems
            Only these systems; default the last output of each.
        references
            Whether references are judged like systems.
        annotators
            How many there are; default one for each batch of Appraise, and ten in Pearmut.
        assignment
            Who judges what, in Pearmut.
        together
            How many systems are shown beside each other; default one, by cESA three in Pearmut and two in Appraise.
        checks
            Damaged outputs that nobody should find good: of each batch of Appraise (default 12), or of a campaign of
            Pearmut (default 10).
        tutorial
            Whether errors that are explained come first.
        seed
            Of all that is drawn.
        """
        asked = _tasks_asked_for(
            tool, protocol, test_sets, systems, references=references, annotators=annotators, assignment=assignment,
            together=together, checks=checks, tutorial="true" if tutorial else None, seed=seed,
        )  # fmt: skip
        return self._get_bytes("campaigns", name, "judgment-tasks", **asked)

    @operation
    def export_judgment_tasks_with_tutorial(
        self,
        name: str,
        tutorial_file: Path | bytes,
        *,
        tool: AnnotationTool,
        protocol: AnnotationProtocol = AnnotationProtocol.ESA,
        test_sets: Sequence[str] = (),
        systems: Sequence[str] = (),
        references: bool = False,
        annotators: int | None = None,
        assignment: TaskAssignment = TaskAssignment.DYNAMIC,
        together: int | None = None,
        checks: int | None = None,
        seed: int = SEED,
    ) -> Steps[bytes]:
        """The same tasks, with a tutorial of your own before them: `tutorial_file`, in JSON.

        The other arguments are those of `export_judgment_tasks`.
        """
        asked = _tasks_asked_for(
            tool, protocol, test_sets, systems, references=references, annotators=annotators, assignment=assignment,
            together=together, checks=checks, seed=seed,
        )  # fmt: skip
        answer = yield from self._send(
            "POST",
            path_of("campaigns", name, "judgment-tasks"),
            params=drop_none(asked),
            files={"tutorial_file": read_file(tutorial_file)},
        )
        return answer.content

    @listing
    def list_past_campaigns(self) -> Items[PastCampaign]:
        """The campaigns whose results are published, newest first, with their winners."""
        return self._pages(PastCampaign, "archive")

    @operation
    def clone_campaign(self, name: str, new: CampaignClone) -> Steps[CampaignResponse]:
        """Create a campaign with the rules, phases, terms and test sets of another one. For organisers."""
        return self._change(CampaignResponse, "POST", "campaigns", name, "clone", body=new)

    @operation
    def cite_campaign(self, name: str) -> Steps[bytes]:
        """BibTeX for the results of a campaign."""
        return self._get_bytes("campaigns", name, "citation")

    @listing
    def list_phases(self, name: str) -> Items[PhaseResponse]:
        """The phases of a campaign, ordered by their start."""
        return self._pages(PhaseResponse, "campaigns", name, "phases")

    @operation
    def create_phase(self, name: str, new: PhaseCreate, *, if_match: str | None = None) -> Steps[PhaseResponse]:
        """Create a phase. Phases must not overlap."""
        return self._change(PhaseResponse, "POST", "campaigns", name, "phases", body=new, headers=matching(if_match))

    @operation
    def update_phase(
        self, name: str, phase: int, change: PhaseUpdate, *, if_match: str | None = None
    ) -> Steps[PhaseResponse]:
        """Change a phase. The name is fixed once the phase has begun."""
        path = ("campaigns", name, "phases", phase)
        return self._change(PhaseResponse, "PATCH", *path, body=change, headers=matching(if_match))

    @operation
    def extend_phase(
        self, name: str, phase: int, change: PhaseExtend, *, if_match: str | None = None
    ) -> Steps[PhaseResponse]:
        """Extend a phase, even one that has ended; late submissions are judged by the new deadline."""
        path = ("campaigns", name, "phases", phase, "extend")
        return self._change(PhaseResponse, "POST", *path, body=change, headers=matching(if_match))

    @operation
    def delete_phase(self, name: str, phase: int, *, if_match: str | None = None) -> Steps[None]:
        """Delete a phase without test sets and submissions."""
        return self._command("DELETE", "campaigns", name, "phases", phase, headers=matching(if_match))

    @listing
    def list_campaign_teams(self, name: str) -> Items[CampaignTeamResponse]:
        """The teams of a campaign, as the account may see them."""
        return self._pages(CampaignTeamResponse, "campaigns", name, "teams")

    @operation
    def join_campaign(self, name: str, team: str) -> Steps[CampaignTeamResponse]:
        """Let a team that you lead take part."""
        new = CampaignTeamCreate(team=team)
        return self._change(CampaignTeamResponse, "POST", "campaigns", name, "teams", body=new)

    @operation
    def leave_campaign(self, name: str, team: str) -> Steps[None]:
        """Take a team out of a campaign."""
        return self._command("DELETE", "campaigns", name, "teams", team)

    @listing
    def list_campaign_members(self, name: str) -> Items[CampaignMemberResponse]:
        """The organisers and viewers of a campaign. For organisers."""
        return self._pages(CampaignMemberResponse, "campaigns", name, "members")

    @operation
    def set_campaign_member(self, name: str, new: CampaignMemberUpdate) -> Steps[CampaignMemberResponse]:
        """Make an account an organiser or viewer of a campaign."""
        return self._change(CampaignMemberResponse, "PUT", "campaigns", name, "members", body=new)

    @operation
    def remove_campaign_member(self, name: str, account: int) -> Steps[None]:
        """Remove an organiser or viewer from a campaign."""
        return self._command("DELETE", "campaigns", name, "members", account)

    @listing
    def list_campaign_quotas(self, name: str) -> Items[QuotaResponse]:
        """The quotas in force in a campaign. For organisers."""
        return self._pages(QuotaResponse, "campaigns", name, "quotas")

    @operation
    def set_campaign_quota(self, name: str, new: QuotaUpdate) -> Steps[list[QuotaResponse]]:
        """Set a quota for a campaign, or for one of its teams or phases; all quotas in force."""
        content = new.model_dump(mode="json", exclude_unset=True)
        answer = yield from self._send("PUT", path_of("campaigns", name, "quotas"), json=content)
        return [decode(QuotaResponse, each) for each in json_of(answer)]

    @operation
    def delete_campaign_quota(self, name: str, kind: str, *, team: str = "", phase: str = "") -> Steps[None]:
        """Delete a quota of a campaign, or of one of its teams or phases."""
        params = drop_none({"team": team or None, "phase": phase or None})
        return self._command("DELETE", "campaigns", name, "quotas", kind, params=params)

    @listing
    def list_quotas(self) -> Items[QuotaResponse]:
        """All quotas of all campaigns. For administrators."""
        return self._pages(QuotaResponse, "quotas")

    @operation
    def set_quota(self, new: GeneralQuotaUpdate) -> Steps[QuotaResponse]:
        """Set a quota that holds in each campaign that has none of its own. For administrators."""
        return self._change(QuotaResponse, "PUT", "quotas", body=new)

    @operation
    def delete_quota(self, kind: str) -> Steps[None]:
        """Delete a quota that holds in each campaign. For administrators."""
        return self._command("DELETE", "quotas", kind)

    @operation
    def read_team_quotas(self, name: str, team: str) -> Steps[TeamQuotasResponse]:
        """A team's use of each kind of quota in a campaign. For its members and organisers."""
        return self._get(TeamQuotasResponse, "campaigns", name, "teams", team, "quotas")

    @listing
    def list_team_quotas(self, team: str) -> Items[TeamQuotasResponse]:
        """A team's use of its quotas, by campaign. For its members and administrators."""
        return self._pages(TeamQuotasResponse, "teams", team, "quotas")

    @listing
    def list_schedules(self, *, removed: bool = False) -> Items[ScheduleResponse]:
        """The schedules: all for administrators, with `removed` deleted ones; for organisers of visible campaigns."""
        return self._pages(ScheduleResponse, "nightly", removed="true" if removed else None)

    @operation
    def read_schedule_history(self, name: str) -> Steps[ScheduleHistoryResponse]:
        """All runs of a schedule and their series of scores."""
        return self._get(ScheduleHistoryResponse, "nightly", name)

    @operation
    def read_nightly_run(self, name: str, run: int) -> Steps[NightlyRunResponse]:
        """The result of one run of a schedule."""
        return self._get(NightlyRunResponse, "nightly", name, "runs", run)


def matching(etag: str | None) -> dict[str, str]:
    """The header by which a server refuses a change of what has changed since."""
    return {} if etag is None else {"If-Match": etag}


def _tasks_asked_for(
    tool: AnnotationTool,
    protocol: AnnotationProtocol,
    test_sets: Sequence[str],
    systems: Sequence[str],
    *,
    references: bool,
    **others: Any,
) -> dict[str, Any]:
    """Which tasks, as parameters of a request."""
    return {
        "tool": tool,
        "protocol": protocol,
        "test_set": list(test_sets),
        "system": list(systems),
        "references": "true" if references else None,
        **others,
    }
