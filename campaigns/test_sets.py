"""Test sets of a campaign: read with all checks, stored, bound to a phase; their references hidden or released."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, func, select, update

from campaigns.errors import BadRequest, Conflict, NotFound
from campaigns.measures import MeasureRequest, add_measures
from campaigns.permissions import CampaignAccess
from campaigns.phases import find_phase
from campaigns.sandbox.limits import Limits
from campaigns.short_text import short_text
from campaigns.submissions.segment_lengths import check_segments
from models.corpus.test_sets import match_test_set, short_address
from models.schema.base import now
from models.schema.campaigns import CampaignProtocol, CampaignTestSet, is_campaign_test_set
from models.schema.corpus import Protocol, Reference, Submission, TestSet
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewTestSet, store_test_set
from steelyard.errors import BadText
from steelyard.formats.campaign.campaigns import read_any_campaign
from steelyard.formats.detection import read_text
from steelyard.formats.file_names import is_text, system_name
from steelyard.formats.input.contents import opened
from steelyard.formats.reader import Kind
from steelyard.formats.registry import reader_of
from steelyard.text.limits import TextLimits
from steelyard.text.names import MAX_NAME_LENGTH, fault_of_name

if TYPE_CHECKING:
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text

MAX_REFERENCES = 50
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class NamedContent:
    """A file that somebody uploaded."""

    name: str
    """The sender's name for it: used for a label, never as a path on the server."""
    content: bytes


@dataclass(frozen=True, slots=True)
class InputTestSet:
    """The files of a test set."""

    references: Sequence[NamedContent]
    """Plain texts are labelled by their names, `A.txt`; mteval's format and WMT's XML contain the labels."""
    source: NamedContent | None = None
    documents: NamedContent | None = None
    source_language: str = ""
    target_language: str = ""
    variable_references: bool = False


@dataclass(frozen=True, slots=True)
class CampaignTestSetInfo:
    """A test set of a campaign, for display."""

    id: int
    name: str
    version: str
    segments: int
    source_language: str
    target_language: str
    has_source: bool
    references: tuple[str, ...]
    """Labels."""
    phase_id: int | None
    phase: str
    """Name of the only phase in which outputs for it are accepted; "" for all."""
    released_at: float | None
    replaced_by: int | None

    @property
    def title(self) -> str:
        """Its name, with the version if that is not the first."""
        return short_address(self.name, self.version)


def read_test_set_files(
    given: InputTestSet, place: Path, limits: Limits, metrics: Collection[str] = frozenset()
) -> CampaignFolder:
    """Read the files of a test set with all the checks of a campaign's folder; large texts stay in files at `place`.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadText
        If a text is invalid, with all problems, by file and line; also for a reference with a segment that is too
        long for one of `metrics`.
    """
    if not given.references:
        raise BadRequest("A test set needs at least one reference.")
    if len(given.references) > MAX_REFERENCES:
        raise BadRequest(f"A test set can have at most {MAX_REFERENCES} references.")
    for language in (given.source_language, given.target_language):
        if language and _LANGUAGE.fullmatch(language) is None:
            raise BadRequest(f"{language[:20]!r} is not a language code such as cs or pt-BR.")
    # A folder of its own, so that messages name "test set/refs/A.txt" and never a path on the server.
    folder = place / "test set"
    try:
        read = _read(folder, _write_folder(folder, given, limits.text), given, limits)
        for reference in read.references.values():
            check_segments(reference, metrics, limits.segment_seconds)
        return read
    except BadText as error:
        raise BadText(str(error).replace(f"{folder}/", "").replace(str(folder), "test set")) from error


def add_test_set(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    name: str,
    folder: CampaignFolder,
    measuring: MeasureRequest,
    *,
    phase: str = "",
) -> tuple[int, list[str]]:
    """Store a test set in a locked campaign (`lock_for_change`), with its metrics; its id, and notices.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    BadIngest
        If the texts do not fit the test set.
    MetricsError
        If a metric does not exist.
    """
    name = short_text(name, "The name", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"{name[:50]!r} cannot be the name of a test set: {fault}.")
    phase_id = find_phase(access, phase).id if phase else None
    test_set_id = store_test_set(connection, access.campaign_id, new_test_set(name, folder))
    if test_set_id in access.test_sets:
        raise Conflict("The campaign already has a test set with identical content.")
    _change(connection, access, test_set_id, phase_id=phase_id)
    audit_test_set(connection, access, "test_set.add", test_set_id, phase=phase, references=list(folder.references))
    notices = add_measures(connection, settings, access, test_set_id, measuring)
    return test_set_id, [*folder.notices, *notices]


def read_reference_files(
    files: Sequence[NamedContent], limits: Limits, metrics: Collection[str] = frozenset()
) -> dict[str, Text]:
    """Read references by label, each from a file with that name.

    Raises
    ------
    BadRequest
        If a value is invalid.
    BadText
        As in `read_test_set_files`.
    """
    texts: dict[str, Text] = {}
    for file in files:
        label = system_name(_basename(file.name))
        if label in texts:
            raise BadRequest(f"There are two files for the reference {label[:100]!r}. Upload only one.")
        texts[label] = read_text(file.content, name=_display_name(file.name), limits=limits.text)
        check_segments(texts[label], metrics, limits.segment_seconds)
    return texts


def new_test_set(name: str, folder: CampaignFolder) -> NewTestSet:
    """Convert what was read for storing."""
    return NewTestSet(
        name,
        folder.references,
        layers={label: text.layers for label, text in folder.references.items()},
        source=folder.source,
        source_language=folder.source_language or "",
        target_language=folder.target_language or "",
        documents=folder.documents or (),
        segment_ids=folder.segment_ids or (),
        variable_references=folder.variable_references,
    )


def list_campaign_test_sets(connection: Connection, access: CampaignAccess) -> list[CampaignTestSetInfo]:
    """Return the visible test sets in their order, replaced ones last."""
    ids = [each for each in access.test_sets if each not in access.hidden_test_sets]
    if not ids:
        return []
    labels: dict[int, list[str]] = {}
    for reference in connection.execute(
        select(Reference.test_set_id, Reference.label)
        .where(Reference.test_set_id.in_(ids))
        .order_by(Reference.test_set_id, Reference.position)
    ):
        labels.setdefault(reference.test_set_id, []).append(reference.label)
    names = {phase.id: phase.name for phase in access.phases}
    found = []
    for test_set in connection.execute(select(TestSet).where(TestSet.id.in_(ids))):
        row: Any = test_set
        seen = access.test_sets[row.id]
        found.append(
            CampaignTestSetInfo(
                id=row.id,
                name=seen.name,
                version=seen.version,
                segments=row.segments,
                source_language=row.source_language,
                target_language=row.target_language,
                has_source=row.source_text_id is not None,
                references=tuple(labels.get(row.id, ())),
                phase_id=seen.phase_id,
                phase=names.get(seen.phase_id, "") if seen.phase_id is not None else "",
                released_at=seen.released_at,
                replaced_by=seen.replaced_by,
            )
        )
    return sorted(found, key=lambda each: (each.replaced_by is not None, ids.index(each.id)))


def find_campaign_test_set(connection: Connection, access: CampaignAccess, wanted: str | int) -> CampaignTestSetInfo:
    """Return the test set with that name (`match_test_set`), preferring current ones over replaced ones.

    Raises
    ------
    NotFound
        If it does not exist; the message lists the existing names.
    """
    known = list_campaign_test_sets(connection, access)
    if (found := match_test_set(known, str(wanted))) is not None:
        return found
    there = f"There are: {', '.join(each.title for each in known)}." if known else "It has none yet."
    raise NotFound(f"The campaign has no test set {str(wanted)[:100]!r}. {there}")


def set_test_set(
    connection: Connection,
    access: CampaignAccess,
    test_set: CampaignTestSetInfo,
    *,
    phase: str | None = None,
    released: bool | None = None,
    early: bool = False,
) -> None:
    """Bind a test set of a locked campaign to a phase, or to none (""); release or hide its references.

    Raises
    ------
    BadRequest
        If a value is invalid.
    Conflict
        If references would be released while outputs are accepted, unless `early` confirms it.
    """
    values: dict[str, Any] = {}
    if phase is not None:
        values["phase_id"] = find_phase(access, phase).id if phase else None
    if released is not None and released != (test_set.released_at is not None):
        if released and not early and (why := _why_not_release(access, test_set)):
            raise Conflict(
                f"{why} Anyone who sees the references can copy them. Confirm the early release to do it anyway."
            )
        values["references_released_at"] = now() if released else None
    if not values:
        return
    _change(connection, access, test_set.id, **values)
    if phase is not None and phase != test_set.phase:
        audit_test_set(connection, access, "test_set.phase", test_set.id, phase=[test_set.phase, phase])
    if "references_released_at" in values:
        audit_test_set(connection, access, "test_set.release" if released else "test_set.hide", test_set.id)


def _change(connection: Connection, access: CampaignAccess, test_set_id: int, **values: Any) -> None:
    where = is_campaign_test_set(access.campaign_id, test_set_id)
    connection.execute(update(CampaignTestSet).where(where).values(**values))


def remove_test_set(connection: Connection, access: CampaignAccess, test_set: CampaignTestSetInfo) -> None:
    """Remove a test set without submissions from a campaign.

    Raises
    ------
    Conflict
        If it contradicts what is stored.
    """
    submissions = connection.scalar(
        select(func.count())
        .select_from(Submission)
        .where(Submission.campaign_id == access.campaign_id, Submission.test_set_id == test_set.id)
    )
    if submissions or any(each.replaced_by == test_set.id for each in access.test_sets.values()):
        raise Conflict(f"The test set {test_set.title} has submissions, so it cannot be deleted.")
    on_it = select(Protocol.id).where(Protocol.test_set_id == test_set.id)
    protocols = CampaignProtocol.campaign_id == access.campaign_id, CampaignProtocol.protocol_id.in_(on_it)
    connection.execute(delete(CampaignProtocol).where(*protocols))
    audit_test_set(connection, access, "test_set.remove", test_set.id)
    connection.execute(delete(CampaignTestSet).where(is_campaign_test_set(access.campaign_id, test_set.id)))


def audit_test_set(
    connection: Connection, access: CampaignAccess, action: str, test_set_id: int, **details: Any
) -> None:
    """Write an audit log entry for a change to a test set."""
    named = read_test_set_name(connection, access, test_set_id)
    subject = f"test set {named.name}@{named.version} of campaign {access.name}"
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)


def read_test_set_name(connection: Connection, access: CampaignAccess, test_set_id: int) -> Row[int, str, str]:
    """Return id, name and version of a test set of the campaign, even one added in this transaction."""
    columns = (CampaignTestSet.test_set_id.label("id"), CampaignTestSet.name, CampaignTestSet.version)
    return connection.execute(select(*columns).where(is_campaign_test_set(access.campaign_id, test_set_id))).one()


def _why_not_release(access: CampaignAccess, test_set: CampaignTestSetInfo) -> str:
    """Return why the references of a test set should not be released now; "" if nothing speaks against it."""
    phases = [each for each in access.phases if test_set.phase_id in (None, each.id)]
    open_phases = [each for each in phases if each.takes(max(access.at, each.starts_at))]
    if not open_phases:
        return ""
    when = "are accepted" if any(each.starts_at <= access.at for each in open_phases) else "will be accepted"
    return f'Outputs for {test_set.title} {when} in the phase "{open_phases[0].name}".'


def _write_folder(folder: Path, given: InputTestSet, limits: TextLimits) -> list[Path]:
    """Write the files in the layout of a campaign's folder; returns those in a format with segment ids."""
    (folder / "refs").mkdir(parents=True)
    marked = []
    labels: set[str] = set()
    for number, (role, file) in enumerate(
        [("source", given.source), *(("reference", each) for each in given.references)]
    ):
        if file is None:
            continue
        contents = opened(file.content, name=_display_name(file.name), limits=limits)
        ending = _ending(file.name)
        if reader_of(contents.head).kind is Kind.DOCUMENTS:
            path = folder / f"{number} {_safe_file_name(file.name)}"
            marked.append(path)
        elif role == "source":
            path = folder / f"source{ending}"
        else:
            label = system_name(_basename(file.name))
            if fault := fault_of_name(label):
                raise BadRequest(f"{label[:50]!r} cannot be the label of a reference: {fault}. Rename the file.")
            if label in labels:
                raise BadRequest(f"Two references are called {label!r}. Rename one of the files.")
            labels.add(label)
            path = folder / "refs" / f"{label}{ending}"
        path.write_bytes(file.content)
    if given.documents is not None:
        (folder / "docs.tsv").write_bytes(given.documents.content)
    said = {"source_language": given.source_language, "target_language": given.target_language}
    meta = {"variable_references": given.variable_references, **{key: each for key, each in said.items() if each}}
    (folder / "meta.json").write_text(json.dumps(meta))
    return marked


def _read(folder: Path, marked: list[Path], given: InputTestSet, limits: Limits) -> CampaignFolder:
    bounds: Any = {"limits": limits.text, "markup_limits": limits.markup}
    if not marked:
        return read_any_campaign([folder], name="test set", without_systems=True, **bounds)
    if len(marked) < len(given.references) + (given.source is not None):
        raise BadRequest("Some of these files have segment ids and others do not. Use the same format for all.")
    read = read_any_campaign(marked, name="test set", without_systems=True, **bounds)
    if read.systems:
        raise BadRequest("These files also contain system outputs. Upload only source and references.")
    return replace(
        read,
        source_language=given.source_language or read.source_language,
        target_language=given.target_language or read.target_language,
    )


def _basename(name: str) -> str:
    """Return the last part of a path, with slashes or backslashes."""
    return re.split(r"[/\\]", name)[-1]


def _ending(name: str) -> str:
    """Return `.treex.gz` and the like; other files are read as text, by their content."""
    packed = ".gz" if name.lower().endswith(".gz") else ""
    ending = Path(name[: len(name) - len(packed)]).suffix.lower()
    return f"{ending if is_text(ending) else '.txt'}{packed}"


def _safe_file_name(name: str) -> str:
    """Return a file name that is valid on every file system."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", _basename(name))[-60:] or "file"


def _display_name(name: str) -> str:
    return _basename(name)[:100] or "a file"
