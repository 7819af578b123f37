"""`steelyard campaign test-set`, `measure`, `release`, `correct_test_set` and `export`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.options import at_most, whole_number
from cli.stored import add_database_option, read_settings
from steelyard.commands.errors import UsageError
from steelyard.commands.notices import note
from steelyard.commands.values import MOST_REPLICATES

if TYPE_CHECKING:
    from campaigns.measures import MeasureRequest


def add_test_set_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`test-set`, `measure`, `release`, `correct`, `correction` and `export`."""
    add = verbs.add_parser(
        "test-set",
        help="add a test set to a campaign, bind it to a phase, or remove it",
        description="Add a test set: a folder that `steelyard evaluate` reads, without systems, or marked-up files. "
        "Without files, change or remove the one of that name.",
    )
    add.add_argument("campaign", metavar="CAMPAIGN")
    add.add_argument("test_set", metavar="NAME", help="name of a new test set, or NAME@VERSION of a stored one")
    add.add_argument("paths", nargs="*", metavar="DIR|FILE", help="its source, references and documents")
    add.add_argument("--pair", metavar="SRC-TRG", help="which language pair, where a WMT folder has several")
    add.add_argument("--phase", metavar="PHASE", help='accept submissions for it in this phase only; "" for all')
    add.add_argument("--remove", action="store_true", help="remove the test set, if it has no submissions")
    _add_measures(add)
    add_database_option(add)
    add.set_defaults(run=run_test_set)
    measure = verbs.add_parser(
        "measure", help="add metrics or references to a test set and score existing submissions by them"
    )
    _add_names(measure)
    _add_measures(measure)
    measure.set_defaults(run=run_measure)
    release = verbs.add_parser("release", help="release the references of a test set, or hide them again")
    _add_names(release)
    release.add_argument("--early", action="store_true", help="release although submissions are still open")
    release.add_argument("--hide", action="store_true", help="hide them again")
    release.set_defaults(run=run_release)
    correct = verbs.add_parser(
        "correct",
        help="replace references of a test set and rescore all submissions",
        description="The test set gets a new version, and all submissions to the old one are queued on it in one "
        "transaction. The old scores are kept; `steelyard campaign correction` shows both side by side.",
    )
    _add_names(correct)
    correct.add_argument("files", nargs="+", type=Path, metavar="FILE", help="each named after its reference: A.txt")
    correct.add_argument(
        "--reason", required=True, metavar="TEXT", help="the reason, visible to everyone who sees the campaign"
    )
    correct.set_defaults(run=run_correct)
    correction = verbs.add_parser("correction", help="show scores and ranks before a correction and after it")
    correction.add_argument("campaign", metavar="CAMPAIGN")
    correction.add_argument("correction", nargs="?", type=whole_number, metavar="NUMBER", help="(default: the last)")
    add_database_option(correction)
    correction.set_defaults(run=run_correction)
    export = verbs.add_parser("export", help="write everything of a campaign into a zip")
    export.add_argument("campaign", metavar="CAMPAIGN")
    export.add_argument("file", type=Path, metavar="FILE")
    add_database_option(export)
    export.set_defaults(run=run_export)


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("campaign", metavar="CAMPAIGN")
    parser.add_argument("test_set", metavar="TEST-SET", help="NAME or NAME@VERSION")
    add_database_option(parser)


def _add_measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--metrics", nargs="+", action="extend", default=None, metavar="METRIC",
        help="metrics as NAME[:key=value]... (default: those of the campaign so far, else bleu chrf ter)",
    )  # fmt: skip
    parser.add_argument(
        "--references", nargs="+", metavar="A,B",
        help="which references to measure against, e.g. A B A,B (default: each alone, then all together)",
    )  # fmt: skip
    parser.add_argument(
        "--confidence", type=at_most(MOST_REPLICATES), metavar="N", help="replicates of the bootstrap (default: 1000)"
    )
    parser.add_argument("--seed", type=whole_number, help="seed of the resampling (default: 12345)")


def run_test_set(options: argparse.Namespace) -> int:
    """Add, bind or remove a test set."""
    from campaigns.test_sets import add_test_set, find_campaign_test_set, remove_test_set, set_test_set
    from cli.campaigns.changes import changing, show_campaign, to_change
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.text.limits import STORING_LIMITS

    _check_test_set(options)
    if options.paths:
        folder = read_any_campaign(
            options.paths, pair=options.pair, name=options.test_set, limits=STORING_LIMITS, without_systems=True
        )
        settings = read_settings(options)
        with changing(options) as connection:
            access = to_change(connection, options)
            _, notices = add_test_set(
                *(connection, settings, access, options.test_set, folder, _measuring(options)),
                phase=options.phase or "",
            )
        if folder.systems or folder.runs:
            notices = [*notices, "System outputs in the folder are ignored; submit them with `steelyard submit`."]
        note(notices)
        return show_campaign(options)
    with changing(options) as connection:
        access = to_change(connection, options)
        known = find_campaign_test_set(connection, access, options.test_set)
        if options.remove:
            remove_test_set(connection, access, known)
        else:
            set_test_set(connection, access, known, phase=options.phase)
    return show_campaign(options)


def _check_test_set(options: argparse.Namespace) -> None:
    """Raise UsageError for options that do not go together, and where none says what to do."""
    of_files = {"--pair": "pair", "-m": "metrics", "--references": "references"}
    of_files |= {"--confidence": "confidence", "--seed": "seed"}
    given = [option for option, name in of_files.items() if getattr(options, name) is not None]
    if options.remove and (options.paths or options.phase is not None or given):
        raise UsageError("--remove goes with the name alone: it removes the test set.")
    if given and not options.paths:
        raise UsageError(
            f"{given[0]} goes with the files of a new test set; `steelyard campaign measure` measures more on one that "
            "is there."
        )
    if not (options.paths or options.remove or options.phase is not None):
        raise UsageError("Say what: files to add the test set, or --phase or --remove for one that is there.")


def run_measure(options: argparse.Namespace) -> int:
    """Measure more."""
    from campaigns.measures import add_measures
    from campaigns.test_sets import find_campaign_test_set
    from cli.campaigns.changes import changing, show_campaign, to_change

    settings = read_settings(options)
    with changing(options) as connection:
        access = to_change(connection, options)
        known = find_campaign_test_set(connection, access, options.test_set)
        note(add_measures(connection, settings, access, known.id, _measuring(options)))
    return show_campaign(options)


def run_release(options: argparse.Namespace) -> int:
    """Release references, or hide them."""
    from campaigns.test_sets import find_campaign_test_set, set_test_set
    from cli.campaigns.changes import changing, show_campaign, to_change

    if options.early and options.hide:
        raise UsageError("--early is for releasing: leave out one of --early and --hide.")
    with changing(options) as connection:
        access = to_change(connection, options)
        known = find_campaign_test_set(connection, access, options.test_set)
        set_test_set(connection, access, known, released=not options.hide, early=options.early)
    return show_campaign(options)


def run_correct(options: argparse.Namespace) -> int:
    """Correct references."""
    from campaigns.corrections import correct_test_set
    from campaigns.measures import standing_submissions
    from campaigns.sandbox.limits import UNLIMITED
    from campaigns.test_set_files import NamedContent, read_reference_files
    from campaigns.test_sets import find_campaign_test_set
    from cli.campaigns.changes import changing, to_change
    from steelyard.formats.input.given_files import read_given
    from steelyard.text.wording import number_of

    files = [NamedContent(path.name, read_given(path)) for path in options.files]
    texts = read_reference_files(files, UNLIMITED)
    settings = read_settings(options)
    with changing(options) as connection:
        access = to_change(connection, options)
        known = find_campaign_test_set(connection, access, options.test_set)
        number = correct_test_set(connection, settings, access, known, texts, options.reason)
        queued = len(standing_submissions(connection, access.campaign_id, known.id))
    print(f"Correction {number}: {number_of(queued, 'submission')} queued for rescoring.")
    if queued:
        note([f"`steelyard campaign correction {options.campaign}` compares old and new scores once they exist"])
    return 0


def run_correction(options: argparse.Namespace) -> int:
    """Print old and new side by side."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.corrections import compare_correction, count_open_evaluations, find_correction, list_corrections
    from campaigns.permissions import read_access
    from cli.campaigns.changes import looking
    from models.results.entries import RULE
    from steelyard.commands.errors import CommandError
    from steelyard.tables.text import aligned

    with looking(options) as connection:
        access = read_access(connection, COMMAND_LINE, options.campaign)
        known = list_corrections(connection, access)
        if not known:
            raise CommandError(f"No references of {options.campaign} were corrected.")
        chosen = known[0] if options.correction is None else find_correction(connection, access, options.correction)
        compared = compare_correction(connection, access, chosen)
        left = count_open_evaluations(connection, access.campaign_id, chosen.new_test_set_id)
    print(f"{chosen.test_set}, version {chosen.old_version} -> {chosen.new_version}: {chosen.reason}")
    for metric in compared:
        rows = [["Team", "System", "Before", "After", "Difference", "Rank before", "after"]]
        for row in metric.rows:
            scores = [_score(each) for each in (row.old, row.new)]
            difference = "n/a" if row.difference is None else f"{row.difference:+.2f}"
            rows.append([row.team, row.system, *scores, difference, str(row.old_rank or "-"), str(row.new_rank or "-")])
        print(f"\n{metric.title} against {', '.join(metric.references)}\n{aligned(rows)}", end="")
    if any(not row.ranked for metric in compared for row in metric.rows):
        print(f"{RULE} Other submissions are not ranked.")
    if left:
        note([f"{left} evaluation(s) on the new version are still open"])
    return 0


def run_export(options: argparse.Namespace) -> int:
    """Write the zip."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.export import export_campaign
    from models.database.session import make_engine
    from runtime.private_files import write_privately

    settings = read_settings(options)
    engine = make_engine(settings.database_url, pooled=False)
    parts = export_campaign(engine, COMMAND_LINE, options.campaign)
    # It contains outputs and scores that are not public yet.
    with open(options.file, "wb", opener=write_privately) as file:
        file.writelines(parts)
    print(f"Written: {options.file}")
    return 0


def _measuring(options: argparse.Namespace) -> MeasureRequest:
    from campaigns.measures import MeasureRequest

    given: dict[str, Any] = {"replicates": options.confidence, "seed": options.seed}
    lists = [each.split(",") for each in options.references or ()]
    return MeasureRequest(
        options.metrics or (), lists, **{name: each for name, each in given.items() if each is not None}
    )


def _score(score: float | None) -> str:
    return "n/a" if score is None else f"{score:.2f}"
