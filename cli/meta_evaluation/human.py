"""`steelyard human`: human judgments, imported, listed and ranked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError
from cli.options import add_width_option, note
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.prompts import add_yes_option, confirm

if TYPE_CHECKING:
    from analysis.meta_evaluation.human import Matched
    from metrics.human.judgments import Judged
    from models.corpus.test_sets import KnownTestSet

KINDS = ("scores", "ratings", "errors", "rankings")
SYSTEM_SCORES = ("auto", "means", "wins", "better-or-equal", "none")
FORMATS = ("text", "json", "tsv")
RENAME = "Where they have another name here, say --rename OLD=NEW."


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
    listing = own.add_parser("list", help="which judgments there are")
    _add_test_set(listing)
    listing.add_argument("-f", "--format", choices=FORMATS, default="text")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    _add_show(own)
    remove = own.add_parser(
        "remove",
        help="delete judgments",
        description="Delete judgments in one version, the newest where none is named; the version before it stands "
        "again. Asks before it does.",
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
        "What a table holds is told by its columns: docs/human.md. Files given together are one set of judgments. "
        "Systems are called as on the leaderboard, with or without their teams; where none of them has a submission, "
        "nothing is stored.",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    _add_test_set(parser)
    parser.add_argument("--name", help="what the judgments are called (default: by the first file's name)")
    parser.add_argument("--kind", choices=KINDS, help="what the files hold (default: as their columns say)")
    parser.add_argument("--pair", metavar="SRC-TRG", help="which language pair, where a file has several")
    parser.add_argument(
        "--rename", nargs="+", action="extend", type=_renamed, default=[], metavar="OLD=NEW",
        help="call a system as its submission is called",
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
        help="what errors weigh (default: major=5 minor=1 neutral=0 major/non-translation=25 "
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
        description="The systems by human score, with the ranks that tests leave open and clusters by WMT's rule: one "
        "system is better than another where a one-sided Mann-Whitney test on the scores of segments gives p < 0.05.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which judgments, NAME or NAME@VERSION")
    _add_test_set(parser)
    parser.add_argument(
        "--level", choices=("system", "segment"), default="system", help="of the scores (default: system)"
    )
    parser.add_argument(
        "--shared-segments", action="store_true", help="test two systems only on segments that were judged of both"
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
    """Read, store, say what was stored."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.inspection.judgments import amounts, note_added
    from metrics.human.reading import Reading, read_judgments
    from metrics.human.weights import parse_weights
    from models.corpus.standing_submissions import find_campaign_with
    from models.corpus.test_sets import find_test_set, segments_of_documents
    from models.database.session import make_engine, reading, writing
    from scheduler.ingest.judgments import NothingMatched, store_judged

    settings = read_settings(options)
    require_schema(settings, create=False)
    name = options.name or name_of_judgments(options.files[0].name)
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
            taken = store_judged(connection, campaign, test_set.id, name, judged)
            if taken.new:
                note_added(connection, COMMAND_LINE, taken.stored, test_set, campaign, **amounts(judged))
    except NothingMatched as error:
        raise CommandError(f"{error} {RENAME}") from error
    finally:
        engine.dispose()
    print(imported(taken.stored.title, test_set.title, judged, taken.new))
    note(about_names(taken.matched))
    return 0


def name_of_judgments(file: str) -> str:
    """What judgments are called after their file: `human.sys.tsv` human, `human.mqm.seg.tsv` mqm, `da.csv.gz` da."""
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


def imported(title: str, test_set: str, judged: Judged, new: bool) -> str:
    """One line that says what was stored."""
    from metrics.human.kinds import ERRORS, RANKINGS
    from metrics.human.rankings import rankings
    from metrics.text.wording import number_of

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


def about_names(matched: Matched) -> list[str]:
    """Notices on which judged systems have submissions, and which do not; human translations have none."""
    from metrics.text.names import printable
    from metrics.text.wording import listed

    systems, unknown, not_judged = (
        listed([printable(name) for name in names]) for names in (matched.systems, matched.unknown, matched.not_judged)
    )
    if not systems:
        # Otherwise they would have been refused.
        return ["The test set has no submissions yet: those of judged systems will be found under exactly these names."]
    notices = [f"Judged, and with a submission: {systems}."]
    if unknown:
        notices.append(f"Judged, but without a submission of that name: {unknown}. {RENAME}")
    if not_judged:
        notices.append(f"Submitted, but not judged: {not_judged}.")
    return notices


def run_list(options: argparse.Namespace) -> int:
    """Print what there is."""
    from cli.meta_evaluation.human_output import listing
    from models.corpus.judgments import list_judgments
    from models.corpus.standing_submissions import campaigns_with
    from models.corpus.test_sets import find_test_set, list_test_sets
    from models.database.session import make_engine, reading

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        test_sets: list[KnownTestSet] = list_test_sets(connection)
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
    """Print judgments of one name, ranked."""
    from analysis.meta_evaluation.human import annotator_agreement, called_here, read_human
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
            human.places(shared=options.shared_segments),
            frozenset(called_here(submitted_systems(connection, campaign, test_set.id)).values()),
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
    """Say what goes, ask, delete."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.inspection.judgments import note_removed
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
        note_removed(connection, COMMAND_LINE, stored, test_set, campaign)
    engine.dispose()
    print(f"Deleted: {called}.")
    return 0
