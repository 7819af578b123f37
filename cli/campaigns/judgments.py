"""The human judgments in a campaign folder, which `evaluate` takes in with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

    from metrics.human.judgments import Judged
    from metrics.text.folder import CampaignFolder


def read_campaign_judgments(folder: CampaignFolder) -> dict[str, Judged]:
    """By name, the judgments in the files `human.*.tsv`.

    `human.seg.tsv` and `human.sys.tsv` belong together, and so do `human.NAME.seg.tsv` and `human.NAME.sys.tsv`. Raises
    BadText and CommandError, so that nothing of a campaign is stored whose judgments cannot be read.
    """
    if not folder.human:
        return {}
    from cli.meta_evaluation.human import name_of_judgments
    from metrics.human.reading import Reading, read_judgments

    documents: dict[str, list[int]] = {}
    for segment, document in enumerate(folder.documents or ()):
        documents.setdefault(document.doc_id, []).append(segment)
    files: dict[str, list[Path]] = {}
    for path in folder.human:
        files.setdefault(name_of_judgments(path.name), []).append(path)
    return {name: read_judgments(paths, Reading(folder.segments, documents)) for name, paths in sorted(files.items())}


def store_campaign_judgments(
    engine: Engine, campaign_id: int, test_set_id: int, judgments: dict[str, Judged], folder: CampaignFolder
) -> list[str]:
    """Store them; notices on what was read and stored.

    Those of other systems than the campaign's are left out: they are no reason not to measure these.
    """
    from cli.meta_evaluation.human import about_names, imported
    from scheduler.ingest.judgments import NothingMatched, take_in_judgments

    notices = []
    for name, judged in judgments.items():
        try:
            taken = take_in_judgments(engine, campaign_id, test_set_id, name, judged)
        except NothingMatched as error:
            notices.append(f"Human judgments {name} were left out: {error}")
            continue
        notices += [*judged.notices, f"Human judgments {imported(taken.stored.title, folder.name, judged, taken.new)}"]
        notices += about_names(taken.matched)
    return notices
