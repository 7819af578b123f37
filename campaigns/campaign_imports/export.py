"""An exported campaign: every file as its manifest says, every table with its columns."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from campaigns.campaign_imports.checking import check_export
from campaigns.campaign_imports.content import CampaignContent, ReadProtocol, ReadScores, ReadSubmission, ReadTestSet
from campaigns.errors import BadRequest
from models.corpus.judgments import NewJudgments, RatingRow, SegmentRow, SpanRow, SystemRow
from models.schema.roles import DeclaredKind, Feedback, Joining, LateRule, PhaseKind, Visibility
from models.schema.states import JudgmentKind, ResamplingUnit
from steelyard.formats.campaign.description import read_documents
from steelyard.formats.campaign.exports import BadExport, bytes_of, changed_files, read_manifest, rows_of
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.plain import Text, read_lines
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zipfile import ZipFile

    from steelyard.text.limits import TextLimits

Row = dict[str, str]
NAME = "The zip"
SYSTEMS = "systems.tsv"
RULES = (
    *("title", "description", "time_zone", "visibility", "joining", "anonymous", "verified_only", "ranked_by"),
    *("human_rule", "human_judgments", "embeddable"),
)
FLAGS = ("anonymous", "verified_only", "embeddable")
BEFORE = {"embeddable": False, "terms": []}
"""What an export of a release before these has of them."""
PHASE = ("name", "kind", "starts_at", "ends_at", "late", "grace_seconds", "feedback", "feedback_step")
SUBMISSION = (
    *("id", "test_set", "team", "system", "run", "kind", "constrained", "description", "phase", "late_seconds"),
    *("created_at", "withdrawn_at", "output"),
)
TEST_SET = (
    *("id", "name", "version", "segments", "source_language", "target_language", "references", "phase", "released_at"),
    *("replaced_by", "folder", "variable_references"),
)
LARGEST, LARGEST_SEED = 2**31 - 1, 2**63 - 1
"""What columns of whole numbers hold."""
SCORES = ("name", "version", "specification", "content_hash", "level")


def read_export(archive: ZipFile, limits: TextLimits) -> CampaignContent:
    """Read an export.

    Raises
    ------
    BadRequest
        For one that was changed, whose format is newer than this release, or that lacks what only organisers get.
    """
    try:
        manifest = read_manifest(archive, NAME)
        if sum(each.file_size for each in archive.infolist()) > limits.file_bytes:
            raise BadRequest(f"{NAME} has more than {limits.file_bytes:,} bytes unpacked, the most of an upload.")
        if changed := changed_files(archive, manifest["files"]):
            raise BadRequest(f"{NAME} is not as it was exported, and nothing is stored.", details=changed)
        if "judgments.tsv" not in manifest["files"]:
            raise BadRequest(
                f"{NAME} is what somebody saw of a campaign who does not organise it. Import one that an organiser "
                "exported."
            )
        return _Export(archive, limits).content()
    except BadExport as error:
        raise BadRequest(str(error)) from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadRequest(f"{NAME} cannot be read ({type(error).__name__}: {error!s:.100}).") from error


class _Export:
    def __init__(self, archive: ZipFile, limits: TextLimits) -> None:
        self.archive, self.limits = archive, limits
        self.campaign = {**BEFORE, **json.loads(bytes_of(archive, "campaign.json"))}
        self.rows = rows_of(archive, "test-sets.tsv", TEST_SET)
        self.titles = {row["id"]: _title(row) for row in self.rows}
        shown = rows_of(archive, "teams.tsv", ("name", "publication_name"))
        self.teams = {row["publication_name"]: row["name"] for row in shown if row["publication_name"]}

    def content(self) -> CampaignContent:
        test_sets = [self._test_set(row) for row in self.rows]
        textless = {each.title for each in test_sets if not each.folder.references}
        corrections = rows_of(
            self.archive, "corrections.tsv", ("test_set", "old_version", "new_version", "made_at", "reason")
        )
        for row in corrections:
            _finite(row["made_at"])
        content = CampaignContent(
            str(self.campaign["name"]),
            test_sets,
            [self._submission(row, textless) for row in rows_of(self.archive, "submissions.tsv", SUBMISSION)],
            rules=_rules(self.campaign),
            terms=[_terms(each) for each in self.campaign["terms"]],
            phases=[_phase(phase) for phase in self.campaign["phases"]],
            protocols=[_protocol(row) for row in self._table("protocols.tsv", ("test_set", "references", "metrics"))],
            judgments=[self._judgments(row) for row in self._table("judgments.tsv", ("test_set", "folder"))],
            scores=[self._scores(row) for row in self._table("imported.tsv", (*SCORES, "file"))],
            corrections=corrections,
            # Exports of earlier releases have none.
            descriptions=bytes_of(self.archive, SYSTEMS).decode() if SYSTEMS in self.archive.namelist() else "",
        )
        check_export(content)
        return content

    def _test_set(self, row: Row) -> ReadTestSet:
        folder, segments = row["folder"], _integer(row["segments"])
        there = self.archive.namelist()
        labels = [each for each in row["references"].split(",") if each]
        files = [
            sorted(each for each in there if each.startswith(f"{folder}/refs/{place}-")) for place in range(len(labels))
        ]
        source = f"{folder}/source.txt"
        if any(len(each) != 1 for each in files):
            raise BadRequest(f"{NAME} lacks references of {row['name']}: {listed(labels)}. Export the campaign again.")
        references = {label: self._text(found[0]) for label, found in zip(labels, files, strict=True)}
        texts = {"source": self._text(source)} if source in there else {}
        for name, text in {**references, **texts}.items():
            if text.segments != segments:
                raise BadRequest(f"{row['name']}: {name} has {text.segments:,} lines, not {segments:,}.")
        documents = ids = None
        if (name := f"{folder}/docs.tsv") in there:
            documents, ids, _ = read_documents(self._text(name), segments)
        read = CampaignFolder(
            name=row["name"], source=texts.get("source"), references=references, systems={}, documents=documents,
            source_language=row["source_language"] or None, target_language=row["target_language"] or None,
            variable_references=row["variable_references"] == "yes", human=(), notices=(), segment_ids=ids,
        )  # fmt: skip
        return ReadTestSet(
            _title(row), read, segments, row["version"], row["phase"], _number(row["released_at"]),
            self.titles[row["replaced_by"]] if row["replaced_by"] else "",
        )  # fmt: skip

    def _submission(self, row: Row, textless: set[str]) -> ReadSubmission:
        without_text = row["test_set"] in textless
        declared = {
            "kind": DeclaredKind(row["kind"]).value,
            "constrained": {"True": True, "False": False}.get(row["constrained"]),
            "description": row["description"],
            "phase": row["phase"],
            "late_seconds": _finite(row["late_seconds"] or 0),
            "withdrawn_at": _number(row["withdrawn_at"]),
        }
        return ReadSubmission(
            row["id"], row["test_set"], self.teams.get(row["team"], row["team"]), row["system"], row["run"],
            None if without_text else self._text(row["output"]), declared if row["late_seconds"] else None,
            _number(row["created_at"]),
        )  # fmt: skip

    def _judgments(self, row: Row) -> tuple[str, NewJudgments]:
        folder = row["folder"]
        systems = self._table(f"{folder}/systems.tsv", SystemRow._fields)
        segments = self._table(f"{folder}/segments.tsv", SegmentRow._fields)
        ratings = self._table(f"{folder}/ratings.tsv", RatingRow._fields)
        spans = self._table(f"{folder}/spans.tsv", SpanRow._fields)
        return row["test_set"], NewJudgments(
            row["name"],
            JudgmentKind(row["kind"]),
            _object(row["method"]),
            [
                SystemRow(
                    each["system"], _finite(each["score"]), _number(each["raw"]),
                    *(_whole(each[name]) for name in ("segments", "judgments", "wins")),
                )
                for each in systems
            ],
            [
                SegmentRow(
                    each["system"], _integer(each["segment"]), _finite(each["score"]), _number(each["raw"]),
                    _whole(each["judgments"]),
                )
                for each in segments
            ],
            [
                RatingRow(
                    each["annotator"], each["system"], _integer(each["segment"]), _finite(each["value"]), each["label"],
                    _integer(each["wave"]), _number(each["seconds"]),
                )
                for each in ratings
            ],
            [
                SpanRow(
                    each["annotator"], each["system"],
                    _integer(each["segment"]), _integer(each["begins"]), _integer(each["ends"]),
                    each["severity"], each["category"], each["missing"] == "True", each["in_source"] == "True",
                    _integer(each["wave"]),
                )
                for each in spans
            ],
        )  # fmt: skip

    def _scores(self, row: Row) -> ReadScores:
        values: dict[str, Any] = {name: row[name] for name in SCORES}
        values |= {
            "higher_is_better": row["higher_is_better"] == "True",
            "systems": _integer(row["systems"]),
            "files": json.loads(row["files"]),
            "notices": json.loads(row["notices"]),
        }
        found: dict[str, list[tuple[float, ...]]] = {}
        for each in self._table(row["file"], ("submission", "segment", "statistics")):
            of_submission = found.setdefault(each["submission"], [])
            if _integer(each["segment"]) != len(of_submission):
                raise BadExport(f"{row['file']}: a segment is missing or twice there.")
            of_submission.append(tuple(map(float, each["statistics"].split())))
        return ReadScores(row["test_set"], values, {name: tuple(each) for name, each in found.items()})

    def _table(self, name: str, columns: tuple[str, ...]) -> list[Row]:
        return rows_of(self.archive, name, columns)

    def _text(self, name: str) -> Text:
        return read_lines(bytes_of(self.archive, name, self.limits.file_bytes), name=name, limits=self.limits)


def _rules(campaign: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: campaign[name] for name in RULES}
    for name, value in found.items():
        kind = bool if name in FLAGS else str
        if not isinstance(value, kind):
            raise BadExport(f"campaign.json: {name} is {value!r:.50}. Export the campaign again.")
    return {**found, "visibility": Visibility(found["visibility"]).value, "joining": Joining(found["joining"]).value}


def _terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": _integer(terms["version"]),
        "text": str(terms["text"]),
        "created_at": _finite(terms["created_at"]),
    }


def _phase(phase: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: phase[name] for name in PHASE}
    for name, kind in (("kind", PhaseKind), ("late", LateRule), ("feedback", Feedback)):
        kind(found[name])
    for name in ("starts_at", "grace_seconds", "feedback_step"):
        found[name] = _finite(found[name])
    found["ends_at"] = None if found["ends_at"] is None else _finite(found["ends_at"])
    return found


def _protocol(row: Row) -> ReadProtocol:
    return ReadProtocol(
        row["test_set"], tuple(json.loads(row["references"])), tuple(json.loads(row["metrics"])),
        _integer(row["replicates"]), _integer(row["seed"], LARGEST_SEED), ResamplingUnit(row["resample"]).value,
    )  # fmt: skip


def _object(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{text:.50} is no object")
    return found


def _title(row: Row) -> str:
    return row["name"] if row["version"] == "1" else f"{row['name']}@{row['version']}"


def _finite(given: str | float) -> float:
    """A number as databases hold it. Raises ValueError for others: "nan" is one for Python."""
    found = float(given)
    if not math.isfinite(found):
        raise ValueError(f"{given} is not a number")
    return found


def _integer(given: str | int, most: int = LARGEST) -> int:
    """A whole number as databases hold it. Raises ValueError for others."""
    found = int(given)
    if abs(found) > most:
        raise ValueError(f"{given!s:.20}... is too large")
    return found


def _number(text: str) -> float | None:
    return _finite(text) if text else None


def _whole(text: str) -> int | None:
    return _integer(text) if text else None
