"""Human judgments in files: their name, what was stored, and those in a campaign folder, which `evaluate` ingests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

    from analysis.meta_evaluation.human import Matched
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.meta_evaluation.human.judgments import Judged

RENAME_HINT = "Where they have another name here, say --rename OLD=NEW."


def read_campaign_judgments(folder: CampaignFolder) -> dict[str, Judged]:
    """The judgments in the files `human.*.tsv`, by name.

    `human.seg.tsv` and `human.sys.tsv` belong together, and so do `human.NAME.seg.tsv` and `human.NAME.sys.tsv`. Raises
    BadText and CommandError. Call it before anything is stored: unreadable judgments reject the whole campaign.
    """
    if not folder.human:
        return {}
    from steelyard.meta_evaluation.human.reading import Reading, read_judgments

    documents: dict[str, list[int]] = {}
    for segment, document in enumerate(folder.documents or ()):
        documents.setdefault(document.doc_id, []).append(segment)
    files: dict[str, list[Path]] = {}
    for path in folder.human:
        files.setdefault(judgments_name(path.name), []).append(path)
    return {name: read_judgments(paths, Reading(folder.segments, documents)) for name, paths in sorted(files.items())}


def store_campaign_judgments(
    engine: Engine, campaign_id: int, test_set_id: int, judgments: dict[str, Judged], folder: CampaignFolder
) -> list[str]:
    """Store the judgments of a campaign folder; notices on what was read and stored.

    Judgments that match none of the campaign's systems are left out with a notice and do not stop the evaluation.
    """
    from scheduler.ingest.judgments import NothingMatched, ingest_judgments

    notices = []
    for name, judged in judgments.items():
        try:
            taken = ingest_judgments(engine, campaign_id, test_set_id, name, judged)
        except NothingMatched as error:
            notices.append(f"Human judgments {name} were left out: {error}")
            continue
        notices += [
            *judged.notices,
            f"Human judgments {describe_import(taken.stored.title, folder.name, judged, taken.new)}",
        ]
        notices += match_notices(taken.matched)
    return notices


def judgments_name(file: str) -> str:
    """Judgments named after their file: `human.sys.tsv` human, `human.mqm.seg.tsv` mqm, `da.csv.gz` da."""
    words = file.split(".")
    while len(words) > 1 and words[-1].lower() in ("gz", "tsv", "csv", "txt"):
        words.pop()
    if len(words) > 1 and words[-1] in ("seg", "sys"):
        words.pop()
    if len(words) > 1 and words[0] == "human":
        words.pop(0)
    name = ".".join(words)
    if not name or len(name) > 100 or "@" in name:
        raise CommandError(f"{file!r}: judgments cannot be called {name!r}: 1 to 100 characters, without @.")
    return name


def describe_import(title: str, test_set: str, judged: Judged, new: bool) -> str:
    """What was stored, in one line."""
    from steelyard.meta_evaluation.human.kinds import ERRORS, RANKINGS
    from steelyard.meta_evaluation.human.rankings import rankings
    from steelyard.text.wording import number_of

    counts = []
    if judged.judgments:
        annotators = len({judgment.annotator for judgment in judged.judgments})
        # A ranking is several judgments, and one of errors may say that there is none.
        count = len(rankings(judged.judgments)) if judged.kind == RANKINGS else len(judged.judgments)
        what = "judgment" if judged.kind == ERRORS else judged.kind[:-1]
        counts.append(f"{number_of(count, what)} by {number_of(annotators, 'annotator')}")
    scored = [(len(judged.systems), "system"), (len(judged.segments), "segment")]
    counts.append("scores of " + " and ".join(number_of(count, noun) for count, noun in scored if count))
    return f"{title} of {test_set}{'' if new else ' (was there already)'}: {', '.join(counts)}."


def match_notices(matched: Matched) -> list[str]:
    """Notices on which judged systems have submissions and which do not; human translations have none."""
    from steelyard.text.names import printable
    from steelyard.text.wording import listed

    systems, unknown, not_judged = (
        listed([printable(name) for name in names]) for names in (matched.systems, matched.unknown, matched.not_judged)
    )
    if not systems:
        # With submissions, judgments that match none of them are rejected.
        return ["The test set has no submissions yet; later ones are matched by exactly these names."]
    notices = [f"Judged and submitted: {systems}."]
    if unknown:
        notices.append(f"Judged, but not submitted under that name: {unknown}. {RENAME_HINT}")
    if not_judged:
        notices.append(f"Submitted, but not judged: {not_judged}.")
    return notices
