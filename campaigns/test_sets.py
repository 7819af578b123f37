"""Test sets of a campaign: read with all checks, stored, bound to a phase; their references kept, or released."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, func, select, update

from campaigns.errors import BadRequest, NotThere, Taken
from campaigns.measures import Measuring, add_measures
from campaigns.permissions import Sight
from campaigns.phases import find_phase
from campaigns.sandbox.limits import Limits
from campaigns.short_text import short_text
from campaigns.submissions.segment_lengths import check_segments
from metrics.errors import BadText
from metrics.text.campaigns import read_any_campaign
from metrics.text.contents import LOOKED_AT, opened
from metrics.text.formats import MARKED, looks_like, read_text
from metrics.text.limits import TextLimits
from metrics.text.names import MAX_NAME_LENGTH, fault_of_name, system_name
from models.corpus.test_sets import first_called
from models.schema.base import now
from models.schema.campaigns import CampaignProtocol, CampaignTestSet, called_there
from models.schema.corpus import Protocol, Reference, Submission, TestSet
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewTestSet, store_test_set

if TYPE_CHECKING:
    from metrics.text.folder import CampaignFolder
    from metrics.text.plain import Text

MOST_REFERENCES = 50
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*")
_LAYERED_ENDING = re.compile(r"\.(conllu|tmt|treex)(\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file as somebody uploaded it."""

    name: str
    """As its sender calls it: looked at for a label, never a path of ours."""
    content: bytes


@dataclass(frozen=True, slots=True)
class GivenTestSet:
    """The files of a test set."""

    references: Sequence[GivenFile]
    """Plain texts are labelled by their names, `A.txt`; files in mteval's format or WMT's XML say it themselves."""
    source: GivenFile | None = None
    documents: GivenFile | None = None
    source_language: str = ""
    target_language: str = ""
    variable_references: bool = False


@dataclass(frozen=True, slots=True)
class KnownTestSet:
    """A test set of a campaign, in words."""

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
    """Name of the only phase in which outputs for it are taken; "" for all."""
    released_at: float | None
    replaced_by: int | None

    @property
    def title(self) -> str:
        """Its name, with the version where that is not the first."""
        return self.name if self.version == "1" else f"{self.name}@{self.version}"


def read_given(
    given: GivenTestSet, place: Path, limits: Limits, metrics: Collection[str] = frozenset()
) -> CampaignFolder:
    """Read the files of a test set by all the checks of a campaign's folder; large texts stay in files at `place`.

    Raises BadText with all that is wrong, naming files and lines, also for a reference that one of `metrics` would take
    too long for.
    """
    if not given.references:
        raise BadRequest("A test set needs at least one reference.")
    if len(given.references) > MOST_REFERENCES:
        raise BadRequest(f"A test set can have {MOST_REFERENCES} references at most.")
    for language in (given.source_language, given.target_language):
        if language and _LANGUAGE.fullmatch(language) is None:
            raise BadRequest(f"{language[:20]!r} is no code of a language such as cs, or pt-BR.")
    # A folder of its own, so that messages name "test set/refs/A.txt" and never where we keep it.
    folder = place / "test set"
    try:
        read = _read(folder, _laid_out(folder, given, limits.text), given, limits)
        for reference in read.references.values():
            check_segments(reference, metrics, limits.segment_seconds)
        return read
    except BadText as error:
        raise BadText(str(error).replace(f"{folder}/", "").replace(str(folder), "test set")) from error


def add_test_set(
    connection: Connection,
    settings: Settings,
    sight: Sight,
    name: str,
    folder: CampaignFolder,
    measuring: Measuring,
    *,
    phase: str = "",
) -> tuple[int, list[str]]:
    """Store a test set for a campaign (`to_change`), with what is to be measured on it; its id, and notices.

    Raises BadRequest, Taken, BadIntake and MetricsError.
    """
    name = short_text(name, "The name", MAX_NAME_LENGTH)
    if fault := fault_of_name(name):
        raise BadRequest(f"{name[:50]!r} cannot be the name of a test set: {fault}.")
    phase_id = find_phase(sight, phase).id if phase else None
    test_set_id = store_test_set(connection, sight.campaign_id, as_new(name, folder))
    if test_set_id in sight.test_sets:
        raise Taken("The campaign has a test set with this very content.")
    _change(connection, sight, test_set_id, phase_id=phase_id)
    audit(connection, sight, "test_set.add", test_set_id, phase=phase, references=list(folder.references))
    notices = add_measures(connection, settings, sight, test_set_id, measuring)
    return test_set_id, [*folder.notices, *notices]


def read_references(
    files: Sequence[GivenFile], limits: Limits, metrics: Collection[str] = frozenset()
) -> dict[str, Text]:
    """References by their labels, each from a file named like it. Raises BadRequest, and BadText as `read_given`."""
    texts: dict[str, Text] = {}
    for file in files:
        label = system_name(_basename(file.name))
        if label in texts:
            raise BadRequest(f"Two files are for the reference {label[:100]!r}. Give one.")
        texts[label] = read_text(file.content, name=_shown(file.name), limits=limits.text)
        check_segments(texts[label], metrics, limits.segment_seconds)
    return texts


def as_new(name: str, folder: CampaignFolder) -> NewTestSet:
    """What was read, to be stored."""
    return NewTestSet(
        name,
        folder.references,
        layers={label: text.layers for label, text in folder.references.items()},
        source=folder.source,
        source_language=folder.source_language or "",
        target_language=folder.target_language or "",
        documents=folder.documents or (),
        variable_references=folder.variable_references,
    )


def list_campaign_test_sets(connection: Connection, sight: Sight) -> list[KnownTestSet]:
    """The test sets that somebody may know of, in their order, those that were replaced after those that stand."""
    ids = [each for each in sight.test_sets if each not in sight.hidden_test_sets]
    if not ids:
        return []
    labels: dict[int, list[str]] = {}
    for reference in connection.execute(
        select(Reference.test_set_id, Reference.label)
        .where(Reference.test_set_id.in_(ids))
        .order_by(Reference.test_set_id, Reference.position)
    ):
        labels.setdefault(reference.test_set_id, []).append(reference.label)
    names = {phase.id: phase.name for phase in sight.phases}
    found = []
    for test_set in connection.execute(select(TestSet).where(TestSet.id.in_(ids))):
        row: Any = test_set
        seen = sight.test_sets[row.id]
        found.append(
            KnownTestSet(
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


def find_campaign_test_set(connection: Connection, sight: Sight, wanted: str | int) -> KnownTestSet:
    """The test set that is called so (`first_called`), one that was not replaced before others.

    Raises NotThere with what there is.
    """
    known = list_campaign_test_sets(connection, sight)
    if (found := first_called(known, str(wanted))) is not None:
        return found
    there = f"There are: {', '.join(each.title for each in known)}." if known else "It has none yet."
    raise NotThere(f"The campaign has no test set {str(wanted)[:100]!r}. {there}")


def set_test_set(
    connection: Connection,
    sight: Sight,
    test_set: KnownTestSet,
    *,
    phase: str | None = None,
    released: bool | None = None,
    early: bool = False,
) -> None:
    """Bind a test set of a campaign (`to_change`) to a phase, or to none (""); release its references, or hide them.

    Raises BadRequest, and Taken where references would be released while outputs are taken, unless it is said that it
    is meant to be so `early`.
    """
    values: dict[str, Any] = {}
    if phase is not None:
        values["phase_id"] = find_phase(sight, phase).id if phase else None
    if released is not None and released != (test_set.released_at is not None):
        if released and not early and (why := _still_blind(sight, test_set)):
            raise Taken(f"{why} Whoever sees its references can copy them. Say that you mean it to be early.")
        values["references_released_at"] = now() if released else None
    if not values:
        return
    _change(connection, sight, test_set.id, **values)
    if phase is not None and phase != test_set.phase:
        audit(connection, sight, "test_set.phase", test_set.id, phase=[test_set.phase, phase])
    if "references_released_at" in values:
        audit(connection, sight, "test_set.release" if released else "test_set.hide", test_set.id)


def _change(connection: Connection, sight: Sight, test_set_id: int, **values: Any) -> None:
    where = called_there(sight.campaign_id, test_set_id)
    connection.execute(update(CampaignTestSet).where(where).values(**values))


def remove_test_set(connection: Connection, sight: Sight, test_set: KnownTestSet) -> None:
    """Let a test set for which nothing was handed in be none of the campaign's. Raises Taken."""
    handed_in = connection.scalar(
        select(func.count())
        .select_from(Submission)
        .where(Submission.campaign_id == sight.campaign_id, Submission.test_set_id == test_set.id)
    )
    if handed_in or any(each.replaced_by == test_set.id for each in sight.test_sets.values()):
        raise Taken(f"Outputs were handed in for the test set {test_set.title}: it stays.")
    on_it = select(Protocol.id).where(Protocol.test_set_id == test_set.id)
    protocols = CampaignProtocol.campaign_id == sight.campaign_id, CampaignProtocol.protocol_id.in_(on_it)
    connection.execute(delete(CampaignProtocol).where(*protocols))
    audit(connection, sight, "test_set.remove", test_set.id)
    connection.execute(delete(CampaignTestSet).where(called_there(sight.campaign_id, test_set.id)))


def audit(connection: Connection, sight: Sight, action: str, test_set_id: int, **details: Any) -> None:
    """Note a change of a test set."""
    named = called(connection, sight, test_set_id)
    subject = f"test set {named.name}@{named.version} of campaign {sight.name}"
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)


def called(connection: Connection, sight: Sight, test_set_id: int) -> Row[int, str, str]:
    """Id, name and version of a test set of the campaign, also of one that it has only now."""
    columns = (CampaignTestSet.test_set_id.label("id"), CampaignTestSet.name, CampaignTestSet.version)
    return connection.execute(select(*columns).where(called_there(sight.campaign_id, test_set_id))).one()


def _still_blind(sight: Sight, test_set: KnownTestSet) -> str:
    """Why the references of a test set had better not be released now; "" where nothing is against it."""
    phases = [each for each in sight.phases if test_set.phase_id in (None, each.id)]
    taking = [each for each in phases if each.takes(max(sight.at, each.starts_at))]
    if not taking:
        return ""
    when = "are taken" if any(each.starts_at <= sight.at for each in taking) else "will be taken"
    return f'Outputs for {test_set.title} {when} in the phase "{taking[0].name}".'


def _laid_out(folder: Path, given: GivenTestSet, limits: TextLimits) -> list[Path]:
    """Write the files down as a campaign's folder has them; those that say themselves what they are."""
    (folder / "refs").mkdir(parents=True)
    marked = []
    labels: set[str] = set()
    for number, (role, file) in enumerate(
        [("source", given.source), *(("reference", each) for each in given.references)]
    ):
        if file is None:
            continue
        contents = opened(file.content, name=_shown(file.name), limits=limits)
        ending = _ending(file.name)
        if looks_like(contents.head[:LOOKED_AT]) in MARKED:
            path = folder / f"{number} {_safe(file.name)}"
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


def _read(folder: Path, marked: list[Path], given: GivenTestSet, limits: Limits) -> CampaignFolder:
    bounds: Any = {"limits": limits.text, "markup_limits": limits.markup}
    if not marked:
        return read_any_campaign([folder], name="test set", without_systems=True, **bounds)
    if len(marked) < len(given.references) + (given.source is not None):
        raise BadRequest("Some of these files have ids for their segments, and others have not: give all in one way.")
    read = read_any_campaign(marked, name="test set", without_systems=True, **bounds)
    if read.systems:
        raise BadRequest("These files hold outputs of systems, too. Give source and references alone.")
    return replace(
        read,
        source_language=given.source_language or read.source_language,
        target_language=given.target_language or read.target_language,
    )


def _basename(name: str) -> str:
    """The last part of a name, be it of a system with slashes or with backslashes."""
    return re.split(r"[/\\]", name)[-1]


def _ending(name: str) -> str:
    """`.treex.gz` and so on; everything else is read as text, by its content."""
    found = _LAYERED_ENDING.search(name)
    if found:
        return found[0].lower()
    return ".txt.gz" if name.lower().endswith(".gz") else ".txt"


def _safe(name: str) -> str:
    """A name that is one on every disk."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", _basename(name))[-60:] or "file"


def _shown(name: str) -> str:
    return _basename(name)[:100] or "a file"
