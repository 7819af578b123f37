"""A folder of many language pairs as a campaign: texts, and scores by metrics and people.

metric-scores/ and human-scores/ are mt-metrics-eval's, automatic_scores/ WMT25's; human/ has what
annotation tools export.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING

from campaigns.campaign_imports.content import CampaignContent, ReadSubmission, ReadTestSet
from campaigns.score_imports.reading import read_score_files
from campaigns.score_imports.versions import ScoreFile
from steelyard.formats.campaign.campaigns import read_test_sets
from steelyard.formats.input.contents import opened
from steelyard.meta_evaluation.human.assessment_formats.reading import LIMITS
from steelyard.meta_evaluation.human.beside_texts import judgments_beside
from steelyard.meta_evaluation.human.reading import Reading, read_judgments
from steelyard.text.language_pairs import fitting_pairs, pair_called
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.meta_evaluation.human.judgments import Judged
    from steelyard.text.limits import TextLimits

_HUMAN = re.compile(r"(?P<pair>[^.]+)\.(?P<name>.+)\.(?P<level>seg|sys|doc|domain)\.(?P<kind>score|rating)")
METRIC_LEVELS = ("seg", "doc", "sys")
AUTOMATIC = "automatic_scores"
HUMAN = "human"
_EXPORTED = re.compile(r"(?P<pair>[^.]+)\.(?P<name>.+)\.(?:csv|tsv|jsonl|json)")
READ_HERE = ("metric-scores", "human-scores", HUMAN, AUTOMATIC)
"""Folders that are read here, and not with the texts."""


def read_pairs(folder: Path, limits: TextLimits) -> CampaignContent:
    """Read the folder.

    Of a metric the finest scores are taken: those of systems only where there are none of segments or documents.

    Raises
    ------
    BadText, BadRequest
        Naming file and line.
    """
    campaign = read_test_sets([folder], limits=limits, without_systems=True, read_elsewhere=READ_HERE)
    notices = campaign.notices
    titles = [each.name for each in campaign.test_sets]
    spelt: dict[str, list[str]] = {each: [] for each in titles}
    human = []
    for place, pattern, read in (("human-scores", _HUMAN, _judgments), (HUMAN, _EXPORTED, _exported_judgments)):
        files_of, unused = _files_of(folder / place, pattern, titles)
        human.append((files_of, read))
        for title, of_pair in files_of.items():
            spelt[title] += [match["pair"] for _, match in of_pair if match["pair"] != title]
        notices += unused
    test_sets, submissions, judged = [], [], []
    for each in campaign.test_sets:
        alone = dataclasses.replace(each, systems={}, runs={}, human=())
        test_sets.append(ReadTestSet(each.name, alone, each.segments))
        outputs = [(name, "", text) for name, text in each.systems.items()]
        outputs += [(name, run, text) for name, runs in each.runs.items() for run, text in runs.items()]
        submissions += [
            ReadSubmission(f"{each.name}/{name}/{run}", each.name, "", name, run, text) for name, run, text in outputs
        ]
        own = judgments_beside(each, lambda path: str(path.relative_to(folder)))
        judged += [(each.name, name, one) for name, one in own.items()]
        for files_of, read in human:
            found, left_out = read(files_of[each.name], each)
            judged += [(each.name, name, one) for name, one in found.items()]
            notices += left_out
    scores, files, left_out = _metric_scores(folder / "metric-scores", titles, spelt)
    for path in sorted(folder.glob(f"**/{AUTOMATIC}/*")):
        if path.is_file() and not path.name.startswith("."):
            content = path.read_bytes()
            scores.append((f"{AUTOMATIC}/{path.name}", content))
            files.append(ScoreFile(path.name, hashlib.sha256(content).hexdigest()))
    return CampaignContent(
        campaign.name,
        test_sets,
        submissions,
        judged=judged,
        score_tables=read_score_files(scores, (), limits) if scores else (),
        score_files=files,
        spelt=spelt,
        notices=[*notices, *left_out],
    )


def _files_of(
    folder: Path, pattern: re.Pattern[str], titles: Sequence[str]
) -> tuple[dict[str, list[tuple[Path, re.Match[str]]]], list[str]]:
    """The files of each test set, by the pairs that they are named after, and notices on what is of none.

    Raises NoSuchPair where a name fits two test sets.
    """
    found: dict[str, list[tuple[Path, re.Match[str]]]] = {each: [] for each in titles}
    unused = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        match = pattern.fullmatch(path.name.removesuffix(".gz"))
        if match and fitting_pairs(match["pair"], titles):
            found[pair_called(match["pair"], titles, f"{folder.name}/{path.name}")].append((path, match))
        elif not path.name.startswith("."):
            unused.append(printable(path.name))
    return found, [f"{folder.name}: not used, for there is no such pair: {listed(unused)}."] if unused else []


def _judgments(
    files: Sequence[tuple[Path, re.Match[str]]], test_set: CampaignFolder
) -> tuple[dict[str, Judged], list[str]]:
    """The judgments of a pair by name; marked errors beside scores of the same name are judgments of their own."""
    found: dict[str, Judged] = {}
    left_out = []
    scored = {match["name"] for _, match in files if (match["level"], match["kind"]) == ("seg", "score")}
    for path, match in files:
        name = match["name"]
        if match["level"] != "seg":
            if name not in scored:
                left_out.append(path.name)
            continue
        if match["kind"] == "rating" and name in scored:
            name = f"{name}.errors"
        found[name] = _judged(path, test_set)
    notices = [f"human-scores: not used, for there are no scores of segments: {listed(left_out)}."] if left_out else []
    return found, notices


def _exported_judgments(
    files: Sequence[tuple[Path, re.Match[str]]], test_set: CampaignFolder
) -> tuple[dict[str, Judged], list[str]]:
    """The judgments of a pair in `PAIR.NAME.csv` and the like, in any format of judgments.

    The same in two formats is taken once: an export of annotators before a table made of it, as CSV is before TSV.
    """
    found: dict[str, Judged] = {}
    left_out = []
    for path, match in files:
        if match["name"] in found:
            left_out.append(path.name)
        else:
            found[match["name"]] = _judged(path, test_set)
    notices = [f"{HUMAN}: not used, for another file has the same name: {listed(left_out)}."] if left_out else []
    return found, notices


def _judged(path: Path, test_set: CampaignFolder) -> Judged:
    documents: dict[str, list[int]] = {}
    for segment, document in enumerate(test_set.documents or ()):
        documents.setdefault(document.doc_id, []).append(segment)
    # Where it was unpacked is nobody's business.
    contents = opened(path, name=f"{path.parent.name}/{path.name}", limits=LIMITS)
    languages = f"{test_set.source_language or ''}-{test_set.target_language or ''}"
    return read_judgments([contents], Reading(test_set.segments, documents, languages=languages))


def _metric_scores(
    folder: Path, titles: Sequence[str], spelt: Mapping[str, list[str]]
) -> tuple[list[tuple[str, bytes]], list[ScoreFile], list[str]]:
    files: list[tuple[str, bytes]] = []
    unused = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if not place.is_dir() or not fitting_pairs(place.name, titles):
            unused += [] if place.name.startswith(".") else [printable(place.name)]
            continue
        title = pair_called(place.name, titles, f"{folder.name}/{place.name}")
        spelt[title] += [place.name] if place.name != title else []
        finest: dict[str, Path] = {}
        for path in sorted(each for each in place.iterdir() if not each.name.startswith(".")):
            metric, _, level = _unpacked(path).removesuffix(".score").rpartition(".")
            if level not in METRIC_LEVELS or not _unpacked(path).endswith(".score"):
                unused.append(f"{place.name}/{printable(path.name)}")
            elif metric not in finest or METRIC_LEVELS.index(level) < METRIC_LEVELS.index(_level(finest[metric])):
                finest[metric] = path
        files += [(f"{title}/{_unpacked(path)}", path.read_bytes()) for path in finest.values()]
    notices = [f"metric-scores: not used: {listed(unused)}."] if unused else []
    return files, [ScoreFile(name, hashlib.sha256(content).hexdigest()) for name, content in files], notices


def _unpacked(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _level(path: Path) -> str:
    return _unpacked(path).removesuffix(".score").rpartition(".")[2]
