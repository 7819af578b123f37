"""Stores what was read of a campaign in one transaction: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, insert, update

from analysis.leaderboard.board import position_of_metric
from campaigns.campaign_imports.overview import ImportOverview
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest
from campaigns.measures import MeasureRequest, add_measures, add_protocols
from campaigns.permissions import CampaignAccess, read_access
from campaigns.phases import PhaseRules, add_phase
from campaigns.rules import Rules, campaign_metrics, create_campaign, set_rules
from campaigns.score_imports.importing import ScoreRequest, import_scores
from campaigns.systems.descriptions import import_descriptions
from campaigns.terms import restore_terms
from models.corpus.judgments import store_judgments
from models.schema.campaigns import CampaignTestSet, Correction, Declaration
from models.schema.corpus import Submission
from models.schema.imported import ImportedScore, ScoreImport
from models.schema.roles import DeclaredKind, Feedback, Joining, LateRule, PhaseKind, Visibility
from models.schema.states import ResamplingUnit
from models.storage.arrays import pack
from scheduler.ingest.campaigns import (
    NewProtocol,
    NewSubmission,
    store_protocols,
    store_submissions,
    store_systems_without_texts,
)
from scheduler.ingest.judgments import NothingMatched, store_matched_judgments
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.metrics.registry import parse_metric
from steelyard.text.names import printable

if TYPE_CHECKING:
    from campaigns.accounts.principal import Principal
    from campaigns.campaign_imports.content import CampaignContent
    from runtime.settings import Settings
    from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse

ENUMS = {"visibility": Visibility, "joining": Joining}


def store_campaign_content(
    connection: Connection, settings: Settings, principal: Principal, name: str, content: CampaignContent
) -> CampaignImportedResponse:
    """Store a campaign under a new name and queue its outputs; scores are computed again from the texts.

    Raises
    ------
    Conflict
        Where there is a campaign of that or a similar name.
    Forbidden
        For those who may not create campaigns.
    BadRequest, BadIngest, BadJudgments, MetricsError
        For content that does not fit together, or needs a metric that is not installed here.
    """
    storing = _Storing(connection, settings, principal, name or content.name, content)
    storing.store()
    return storing.overview.document(storing.name, storing.notices)


class _Storing:
    def __init__(
        self, connection: Connection, settings: Settings, principal: Principal, name: str, content: CampaignContent
    ) -> None:
        self.connection, self.settings, self.principal = connection, settings, principal
        self.name, self.content = name, content
        self.notices = list(content.notices)
        self.overview = ImportOverview(content)
        self.test_sets: dict[str, int] = {}
        self.submissions: dict[str, int] = {}

    @property
    def access(self) -> CampaignAccess:
        """As the campaign is now."""
        return read_access(self.connection, self.principal, self.name)

    def store(self) -> None:
        given: dict[str, Any] = {
            name: ENUMS[name](value) if name in ENUMS else value for name, value in self.content.rules.items()
        }
        # What ranks is known once there are metrics and judgments.
        later: dict[str, Any] = {
            name: given.pop(name) for name in ("ranked_by", "human_rule", "human_judgments") if name in given
        }
        create_campaign(self.connection, self.principal, self.name, Rules(**given))
        lock_for_change(self.connection, self.principal, self.name)
        restore_terms(self.connection, self.access.campaign_id, self.content.terms)
        for phase in self.content.phases:
            add_phase(self.connection, self.access, _phase(phase))
        self._store_test_sets()
        self._store_submissions()
        if self.content.descriptions and self.submissions:
            # Those who left their team out of what the public reads are called as the export calls them.
            import_descriptions(self.connection, self.access, self.content.descriptions)
        self._store_judgments()
        self._store_scores()
        self._store_protocols()
        wanted = later.get("ranked_by")
        if wanted and position_of_metric(campaign_metrics(self.connection, self.access.campaign_id), wanted) is None:
            # Its column was deleted after it was chosen: the first metric ranks, as it did there.
            del later["ranked_by"]
            self.notices.append(f"No leaderboard has the metric {printable(wanted)}, by which the campaign was ranked.")
        if later.get("ranked_by") or later.get("human_rule"):
            set_rules(self.connection, self.access, Rules(**later))
        access = self.access
        principal = self.principal
        principal.audit(
            self.connection, "campaign.import", f"campaign {self.name}", campaign_id=access.campaign_id,
            **{"from": self.content.name},
        )  # fmt: skip

    def _store_test_sets(self) -> None:
        access = self.access
        phases = {each.name: each.id for each in access.phases}
        for position, each in enumerate(self.content.test_sets):
            new = replace(NewTestSet.from_folder(each.folder.name, each.folder), version=each.version)
            if not each.folder.references:
                new = replace(new, segments=each.segments)
            test_set = store_test_set(self.connection, access.campaign_id, new)
            if test_set in self.test_sets.values():
                raise BadRequest(f"The test set {each.title} is there twice, with identical content.")
            self.test_sets[each.title] = test_set
            if each.phase and each.phase not in phases:
                raise BadRequest(f"The test set {each.title} belongs to a phase {each.phase!r} that there is not.")
            self._update_test_set(
                access, test_set, position=position, phase_id=phases.get(each.phase),
                references_released_at=each.released_at,
            )  # fmt: skip
        for each in self.content.test_sets:
            if each.replaced_by:
                by = self.test_sets[each.replaced_by]
                self._update_test_set(access, self.test_sets[each.title], replaced_by=by)
        for row in self.content.corrections:
            old, new_id = (self._version(row["test_set"], row[which]) for which in ("old_version", "new_version"))
            values = {"old_test_set_id": old, "new_test_set_id": new_id, "reason": row["reason"]}
            made = insert(Correction).values(campaign_id=access.campaign_id, made_at=float(row["made_at"]), **values)
            self.connection.execute(made)

    def _version(self, name: str, version: str) -> int:
        return self.test_sets[name if version == "1" else f"{name}@{version}"]

    def _update_test_set(self, access: CampaignAccess, test_set: int, **values: Any) -> None:
        there = CampaignTestSet.campaign_id == access.campaign_id, CampaignTestSet.test_set_id == test_set
        self.connection.execute(update(CampaignTestSet).where(*there).values(**values))

    def _store_submissions(self) -> None:
        access = self.access
        for title, test_set in self.test_sets.items():
            # Outputs that a system handed in one after the other are stored one after the other.
            waiting = [each for each in self.content.submissions if each.test_set == title]
            while waiting:
                batch = {(each.team, each.system, each.run): each for each in reversed(waiting)}
                chosen = [each for each in waiting if batch[each.team, each.system, each.run] is each]
                waiting = [each for each in waiting if each not in chosen]
                ids = self._stored(access, test_set, chosen)
                self.submissions |= dict(zip([each.number for each in chosen], ids, strict=True))
        for each in self.content.submissions:
            here = self.submissions[each.number]
            if each.created_at is not None:
                changed = update(Submission).where(Submission.id == here).values(created_at=each.created_at)
                self.connection.execute(changed)
            if each.declared is not None:
                kind = DeclaredKind(each.declared["kind"])
                row = {
                    "submission_id": here,
                    "campaign_id": access.campaign_id,
                    "test_set_id": self.test_sets[each.test_set],
                }
                declared = insert(Declaration).values(**{**each.declared, "kind": kind, "team": each.team, **row})
                self.connection.execute(declared)

    def _stored(self, access: CampaignAccess, test_set: int, chosen: list[Any]) -> list[int]:
        if any(each.text is None for each in chosen):
            names = [each.system for each in chosen]
            return store_systems_without_texts(self.connection, access.campaign_id, test_set, names)
        new = [NewSubmission(each.system, each.text, each.team, each.text.layers, each.run) for each in chosen]
        return store_submissions(self.connection, access.campaign_id, test_set, new)

    def _store_judgments(self) -> None:
        access = self.access
        for title, judgments in self.content.judgments:
            store_judgments(self.connection, access.campaign_id, self.test_sets[title], judgments)
            self.overview.add_stored(title, judgments)
        for title, name, judged in self.content.judged:
            try:
                found = store_matched_judgments(
                    self.connection, access.campaign_id, self.test_sets[title], name, judged
                )
            except NothingMatched as error:
                self.notices.append(f"{title}: the judgments {printable(name)} are left out. {error}")
                continue
            self.overview.add_judged(title, name, judged, found.matched)
            self.notices += [f"{title}: {each}" for each in (*judged.anonymous_notices, *found.notices)]

    def _store_scores(self) -> None:
        access = self.access
        for each in self.content.scores:
            values = {**each.values, "campaign_id": access.campaign_id, "test_set_id": self.test_sets[each.test_set]}
            values |= {"account_id": self.principal.account_id, "actor": (self.principal.email or "nobody")[:300]}
            stored = insert(ScoreImport).values(**values).returning(ScoreImport.id)
            number = self.connection.execute(stored).scalar_one()
            rows = [
                {
                    "import_id": number,
                    "submission_id": self.submissions[name],
                    "blob": pack(np.array(statistics, float)),
                }
                for name, statistics in each.statistics.items()
            ]
            if rows:
                self.connection.execute(insert(ImportedScore), rows)
            self.overview.add_scores(each.test_set, values["name"], values["version"], values["level"], len(rows))

    def _store_protocols(self) -> None:
        access = self.access
        new: dict[int, list[NewProtocol]] = {}
        for each in self.content.protocols:
            metrics = [parse_metric(metric) for metric in each.metrics]
            unit = ResamplingUnit(each.resample)
            protocol = NewProtocol(each.references, metrics, each.replicates, each.seed, unit)
            new.setdefault(self.test_sets[each.test_set], []).append(protocol)
        for test_set, protocols in new.items():
            add_protocols(
                self.connection, self.settings, access, test_set, store_protocols(self.connection, test_set, protocols)
            )
        if not self.content.protocols:
            for test_set in self.test_sets.values():
                self.notices += add_measures(self.connection, self.settings, access, test_set, MeasureRequest())
        if self.content.score_tables:
            request = ScoreRequest([each.unpacked() for each in self.content.score_tables], self.content.score_files)
            found = import_scores(self.connection, self.settings, access, request)
            self.notices += found.notices
            for column in found.columns:
                self.overview.add_scores(column.test_set, column.name, column.version, column.level, column.systems)


def _phase(given: Mapping[str, Any]) -> PhaseRules:
    kinds = {"kind": PhaseKind, "late": LateRule, "feedback": Feedback}
    values: dict[str, Any] = {name: kinds[name](value) if name in kinds else value for name, value in given.items()}
    return PhaseRules(**values)
