"""`steelyard human`: human judgments, imported, listed and ranked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cli.options import add_width_option
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.prompts import add_yes_option, confirm
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from models.corpus.test_sets import StoredTestSet

KINDS = ("scores", "ratings", "errors", "rankings")
SYSTEM_SCORES = ("auto", "means", "wins", "better-or-equal", "none")
FORMATS = ("text", "json", "tsv")


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`human`, with verbs of its own."""
    parser = verbs.add_parser(
        "human",
        help="import human judgments, and rank systems by them",
        description="Human judgments of the systems of a test set: scores, ratings by annotators (DA, SQM), errors "
        "(MQM) and relative rankings. A campaign keeps them in versions beside its test set, never changed.",
    )
    own = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_import(own)
    listing = own.add_parser("list", help="list the stored judgments")
    _add_test_set(listing)
    listing.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    _add_show(own)
    remove = own.add_parser(
        "remove",
        help="delete judgments",
        description="Delete one version of judgments, by default the newest; the previous version becomes current "
        "again. Asks for confirmation.",
    )
    remove.add_argument("name", metavar="NAME", help="which judgments, NAME or NAME@VERSION")
    _add_test_set(remove)
    add_yes_option(remove)
    add_database_option(remove)
    remove.set_defaults(run=run_remove)


def _add_test_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--test-set", metavar="NAME", help="the test set, NAME or NAME@VERSION (default: the only one there is)"
    )
    parser.add_argument("--campaign", metavar="NAME", help="the campaign (default: the only one with the test set)")


def _add_import(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "import",
        help="read judgments from tables",
        description="Read tables of judgments, tab- or comma-separated, and store them with the scores that they make. "
        "The columns decide what a table contains: docs/how-to/human.md. "
        "Files given together are one set of judgments. Systems have the names of the leaderboard, with or without "
        "their teams; where none of them has a submission, nothing is stored.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    _add_test_set(parser)
    parser.add_argument("--name", help="name of the judgments (default: from the first file's name)")
    parser.add_argument("--kind", choices=KINDS, help="kind of judgments in the files (default: from their columns)")
    parser.add_argument("--pair", metavar="SRC-TRG", help="which language pair, where a file has several")
    parser.add_argument(
        "--rename", nargs="+", action="extend", type=_renamed, default=[], metavar="OLD=NEW",
        help="rename a system to the name of its submission",
    )  # fmt: skip
    parser.add_argument(
        "--by-document", action="store_true", help="find segments by document and number in it, if both are there"
    )
    parser.add_argument(
        "--first-segment", type=int, choices=(0, 1), metavar="0|1",
        help="the number of the first segment (default: 0 in a column `segment`, else 1)",
    )  # fmt: skip
    parser.add_argument(
        "--weights", nargs="+", action="extend", default=[], metavar="SEVERITY[/CATEGORY]=N",
        help="weights of errors (default: major=5 minor=1 neutral=0 major/non-translation=25 "
        "minor/fluency/punctuation=0.1)",
    )  # fmt: skip
    parser.add_argument(
        "--standardise", action=argparse.BooleanOptionalAction, default=None,
        help="standardise by annotator (default: ratings are, errors are not)",
    )  # fmt: skip
    parser.add_argument(
        "--system-scores", choices=SYSTEM_SCORES, default="auto",
        help="of systems: means over segments; of rankings the share of wins without ties, or of better-or-equal",
    )  # fmt: skip
    add_database_option(parser)
    parser.set_defaults(run=run_import)


def _add_show(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "show",
        help="rank the systems by human judgments",
        description="The systems by human score, with rank ranges and clusters by WMT's rule: one "
        "system is better than another where a one-sided Mann-Whitney test on the scores of segments gives p < 0.05.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which judgments, NAME or NAME@VERSION")
    _add_test_set(parser)
    parser.add_argument(
        "--level", choices=("system", "segment"), default="system", help="of the scores (default: system)"
    )
    parser.add_argument(
        "--shared-segments", action="store_true", help="test two systems only on segments that were judged for both"
    )
    parser.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_width_option(parser, 3, " in text")
    add_database_option(parser)
    parser.set_defaults(run=run_show)


def _renamed(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise argparse.ArgumentTypeError(f'"{text}" is not of the form OLD=NEW')
    return old, new


def run_import(options: argparse.Namespace) -> int:
    """Read the judgments, store them and print what was stored; the exit status."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.inspection.judgments import audit_judgments_added, judgment_counts
    from cli.campaigns.judgments import RENAME_HINT, describe_import, judgments_name, match_notices
    from models.corpus.standing_submissions import find_campaign_with
    from models.corpus.test_sets import find_test_set, segments_of_documents
    from models.database.session import make_engine, reading, writing
    from scheduler.ingest.judgments import NothingMatched, store_matched_judgments
    from steelyard.meta_evaluation.human.reading import Reading, read_judgments
    from steelyard.meta_evaluation.human.weights import parse_weights

    settings = read_settings(options)
    require_schema(settings, create=False)
    name = options.name or judgments_name(options.files[0].name)
    weights = parse_weights(options.weights)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        test_set = find_test_set(connection, options.test_set, options.campaign)
        campaign = find_campaign_with(connection, test_set, options.campaign)
        documents = segments_of_documents(connection, test_set.id)
    judged = read_judgments(
        options.files,
        Reading(
            test_set.segments,
            documents,
            kind=options.kind,
            pair=options.pair,
            rename=dict(options.rename),
            by_document=options.by_document,
            first_segment=options.first_segment,
            weights=weights,
            standardise=options.standardise,
            system_scores=options.system_scores,
        ),
    )
    note(judged.notices)
    try:
        with writing(engine, durable=True) as connection:
            taken = store_matched_judgments(connection, campaign, test_set.id, name, judged)
            if taken.new:
                audit_judgments_added(
                    connection, COMMAND_LINE, taken.stored, test_set, campaign, **judgment_counts(judged)
                )
    except NothingMatched as error:
        raise CommandError(f"{error} {RENAME_HINT}") from error
    finally:
        engine.dispose()
    print(describe_import(taken.stored.title, test_set.title, judged, taken.new))
    note(match_notices(taken.matched))
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print the stored judgments; the exit status."""
    from cli.meta_evaluation.human_output import listing
    from models.corpus.judgments import list_judgments
    from models.corpus.standing_submissions import campaigns_with
    from models.corpus.test_sets import find_test_set, list_test_sets
    from models.database.session import make_engine, reading

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        test_sets: list[StoredTestSet] = list_test_sets(connection)
        if options.test_set:
            test_sets = [find_test_set(connection, options.test_set, options.campaign)]
        there = [
            (campaign, test_set, stored)
            for test_set in test_sets
            for campaign, campaign_id in campaigns_with(connection, test_set).items()
            if options.campaign in (None, campaign)
            for stored in list_judgments(connection, campaign_id, test_set.id)
        ]
    engine.dispose()
    print(listing(there, options.format), end="")
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Print the systems or segments by the judgments of one name; the exit status."""
    from analysis.meta_evaluation.human import annotator_agreement, display_names, read_human
    from cli.meta_evaluation.human_output import Shown, segments, systems
    from models.corpus.judgments import count_annotators
    from models.corpus.standing_submissions import find_campaign_with
    from models.corpus.test_sets import find_test_set, submitted_systems
    from models.database.session import make_engine, reading

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        test_set = find_test_set(connection, options.test_set, options.campaign)
        campaign = find_campaign_with(connection, test_set, options.campaign)
        human = read_human(connection, campaign, test_set.id, options.name)
        shown = Shown(
            test_set,
            human,
            human.ranks(shared=options.shared_segments),
            frozenset(display_names(submitted_systems(connection, campaign, test_set.id)).values()),
            count_annotators(connection, human.stored.id),
            annotator_agreement(connection, human),
            options.shared_segments,
        )
    engine.dispose()
    if options.level == "segment" and not human.segments:
        raise CommandError(f"{human.title} has no scores of segments.")
    print((systems if options.level == "system" else segments)(shown, options.format, options.width), end="")
    return 0


def run_remove(options: argparse.Namespace) -> int:
    """Ask for confirmation and delete one version of judgments; the exit status."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.inspection.judgments import audit_judgments_removed
    from models.corpus.judgments import delete_judgments, find_judgments
    from models.corpus.standing_submissions import find_campaign_with
    from models.corpus.test_sets import find_test_set
    from models.database.session import make_engine, reading, writing

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        test_set = find_test_set(connection, options.test_set, options.campaign)
        campaign = find_campaign_with(connection, test_set, options.campaign)
        stored = find_judgments(connection, campaign, test_set.id, options.name)
    called = f"{stored.title} of {test_set.title}"
    confirm(f"Delete the human judgments {called}?", yes=options.yes)
    with writing(engine, durable=True) as connection:
        delete_judgments(connection, stored.id)
        audit_judgments_removed(connection, COMMAND_LINE, stored, test_set, campaign)
    engine.dispose()
    print(f"Deleted: {called}.")
    return 0
