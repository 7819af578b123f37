"""`steelyard judgments`: human judgments, imported, listed and ranked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    format_option,
    granularity_option,
    many,
    option,
    seed_option,
    width_option,
    yes_option,
)
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard_client.commands.backend import backend
from steelyard_client.commands.human.test_sets import choose_test_set, test_set_options, test_sets_of
from steelyard_client.vocabulary import AnnotationProtocol, AnnotationTool, TaskAssignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.commands.human.test_sets import Chosen
    from steelyard_client.documents.leaderboards.judgments import HumanScoresResponse

KINDS = ("scores", "ratings", "errors", "rankings")
SYSTEM_SCORES = ("auto", "means", "wins", "better-or-equal", "none")

judgments = Noun(
    "judgments",
    help="Human judgments of the systems of a test set: scores, ratings by annotators (DA, SQM), errors (MQM) and "
    "relative rankings. A campaign keeps them in versions beside its test set, never changed.",
)


def renamed(text: str) -> tuple[str, str]:
    """Parse OLD=NEW. Raises ValueError."""
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise ValueError(f'"{text}" is not of the form OLD=NEW')
    return old, new


@judgments.command(
    "tasks",
    help="Write the outputs of a campaign as tasks for people, in the files that Appraise or Pearmut take: every "
    "document by every system, once, and damaged outputs as attention checks. What people gave there is read by "
    "`judgments import`.",
    example="steelyard judgments tasks wmt26 --for pearmut --protocol cesa --annotators 30 -o tasks",
)
@click.argument("campaign", metavar="CAMPAIGN", help="the campaign")
@option("--for", "tool", type=click.Choice([each.value for each in AnnotationTool]), required=True, help="the tool")
@option(
    "--protocol",
    type=click.Choice([each.value for each in AnnotationProtocol]),
    default=AnnotationProtocol.ESA.value,
    help="errors and scores (ESA), the same of several systems beside each other (cESA), errors with categories (MQM), "
    "or scores alone (DA) (default: esa)",
)
@option("-o", "--output", type=Value(Path), metavar="DIR", required=True, help="the folder to write, a new one")
@many("--test-set", "test_sets", metavar="NAME...", help="only these test sets (default: all)")
@many("--systems", metavar="SYSTEM...", help="only these systems (default: the last output of each)")
@option("--references", is_flag=True, help="judge references like systems")
@option(
    "--annotators",
    type=Value(int),
    metavar="N",
    help="how many people judge (default: one for each batch of Appraise, 10 in Pearmut)",
)
@option(
    "--assignment",
    type=click.Choice([each.value for each in TaskAssignment]),
    default=TaskAssignment.DYNAMIC.value,
    help="of Pearmut: documents for everybody, by systems chosen from the scores so far, or documents of one's own "
    "(default: dynamic)",
)
@option(
    "--together",
    type=Value(int),
    metavar="N",
    help="systems beside each other (default: 1; by cESA 3 in Pearmut, and 2 in Appraise)",
)
@option(
    "--checks",
    type=Value(int),
    metavar="N",
    help="damaged outputs: of each batch of Appraise (default: 12), or of a campaign of Pearmut (default: 10)",
)
@option("--tutorial", is_flag=True, help="begin with errors that are explained: not by DA in Appraise")
@option("--tutorial-file", type=Value(Path), metavar="FILE", help="begin with a tutorial of your own, in JSON")
@seed_option("choices")
@backend()
def tasks(
    client: Client,
    campaign: str,
    tool: str,
    protocol: str,
    assignment: str,
    output: Path,
    tutorial: bool,
    tutorial_file: Path | None,
    **asked: Any,
) -> int:
    """Write the files of the tasks."""
    from steelyard_client.commands.campaigns.exported import write_folder

    chosen = {
        "tool": AnnotationTool(tool),
        "protocol": AnnotationProtocol(protocol),
        "assignment": TaskAssignment(assignment),
        **asked,
    }
    if tutorial_file is None:
        content = client.export_judgment_tasks(campaign, tutorial=tutorial, **chosen)
    else:
        content = client.export_judgment_tasks_with_tutorial(campaign, tutorial_file, **chosen)
    note(write_folder(output, content))
    print(f"Written: {output}")
    return 0


@judgments.command(
    "import",
    help="Read tables of judgments, tab- or comma-separated, and store them with the scores computed from them. Their "
    "columns decide what a table contains: docs/how-to/human.md. Files given together are one set of judgments. "
    "Systems are named as on the leaderboard, with or without teams; if none of them was submitted, nothing is stored.",
    example="steelyard judgments import mqm.tsv --campaign wmt24 --rename ONLINE_A=online-A",
)
@click.argument("files", nargs=-1, required=True, type=Value(Path), metavar="FILE...", help="tables of judgments")
@test_set_options()
@option("--name", help="name of the judgments (default: from the first file's name)")
@option("--kind", type=click.Choice(KINDS), help="kind of judgments in the files (default: from their columns)")
@option("--pair", default="", metavar="SRC-TRG", help="which language pair, where a file has several")
@many("--rename", parse=renamed, metavar="OLD=NEW...", help="rename a system to the name of its submission")
@option("--by-document", is_flag=True, help="find segments by document and number in it, if both are there")
@option(
    "--first-segment",
    type=click.Choice(("0", "1")),
    help="the number of the first segment (default: 0 in a column `segment`, else 1)",
)
@many(
    "--weights",
    metavar="SEVERITY[/CATEGORY]=N...",
    help="weights of errors (default: major=5 minor=1 neutral=0 major/non-translation=25 "
    "minor/fluency/punctuation=0.1)",
)
@option(
    "--standardise/--no-standardise",
    default=None,
    help="standardise by annotator (default: ratings are, errors are not)",
)
@option(
    "--system-scores",
    "aggregation",
    type=click.Choice(SYSTEM_SCORES),
    default="auto",
    help="how systems are scored: by means over segments; from rankings, by the share of wins without ties or of "
    "better-or-equal",
)
@option("--preview", is_flag=True, help="say which systems and segments match, and store nothing")
@backend()
def import_judgments(
    client: Client,
    files: Sequence[Path],
    test_set: str | None,
    campaign: str | None,
    name: str | None,
    rename: Sequence[tuple[str, str]],
    first_segment: str | None,
    **given: Any,
) -> int:
    """Read the judgments, store them and print what was stored."""
    from steelyard.errors import BadParameter
    from steelyard.meta_evaluation.human.beside_texts import judgments_name
    from steelyard.meta_evaluation.human.weights import parse_weights
    from steelyard_client.commands.human.imported import describe_import, match_notices

    try:
        parse_weights(given["weights"])
    except BadParameter as error:
        raise UsageError(str(error)) from None
    called = name or judgments_name(files[0].name)
    sent = _read(files)
    chosen = choose_test_set(client, test_set, campaign)
    made = client.add_human_scores(
        chosen.campaign, sent, test_set=chosen.name, called=called, rename=dict(rename),
        first_segment=None if first_segment is None else int(first_segment), **given,
    )  # fmt: skip
    if not made.stored:
        print("Nothing is stored: this is what would be.")
    known = "" if made.new else " (was there already)"
    described = describe_import(
        f"{made.name}@{made.version} of {made.test_set}{known}",
        kind=made.kind, judgments=made.judgments, rankings=made.rankings, annotators=made.annotators,
        systems=made.system_scores, segments=made.segment_scores,
    )  # fmt: skip
    print(described, flush=True)
    note([*made.notices, *match_notices(made.matched, made.unknown, made.not_judged)])
    return 0


def _read(files: Sequence[Path]) -> dict[str, bytes]:
    """The content of the files, unpacked, by their names. Raises MetricsError for those that cannot be read.

    Raises UsageError for two that nothing tells apart.
    """
    from steelyard.formats.input.contents import Contents
    from steelyard.text.limits import STORING_LIMITS

    found: dict[str, bytes] = {}
    for file in files:
        content = Contents(file, limits=STORING_LIMITS).read(STORING_LIMITS)
        # Messages name files: of two in different folders, the later one says where it is.
        name, longer = (each.removesuffix(".gz") for each in (file.name, str(file).replace("/", "_")))
        if name in found and longer in found:
            raise UsageError(f"There are two files called {longer}.")
        found[longer if name in found else name] = content
    return found


@judgments.command(
    "list",
    help="List the stored judgments with their versions.",
    example="steelyard judgments list --campaign wmt24",
)
@test_set_options()
@format_option()
@backend()
def list_(client: Client, test_set: str | None, campaign: str | None, format: str) -> int:  # noqa: A002 - the option's name
    """Print the stored judgments."""
    from steelyard.tables.rendering import render
    from steelyard_client import Forbidden
    from steelyard_client.commands.human.output import listing

    chosen = choose_test_set(client, test_set, campaign) if test_set and campaign else None
    campaigns = [campaign] if campaign else [each.name for each in client.list_campaigns()][::-1]
    found: list[HumanScoresResponse] = []
    for name in campaigns:
        try:
            found += client.list_human_scores(name)
        except Forbidden:
            if campaign:
                raise
            note([f"{name}: its judgments are not shown in this phase"])
    if test_set:
        titles = {chosen.title} if chosen else _titles(client, test_set)
        found = [each for each in found if each.test_set in titles]
    print(render([listing(found)], format, "Human judgments"), end="")
    return 0


def _titles(client: Client, test_set: str) -> set[str]:
    titles = {each.title for each in test_sets_of(client, None) if test_set in (each.title, each.name)}
    return titles or {choose_test_set(client, test_set, None).title}


@judgments.command(
    "show",
    help="Show the systems by human score, with rank ranges and clusters by WMT's rule: one system is better than "
    "another where a one-sided Mann-Whitney test on the scores of segments gives p < 0.05.",
    example="steelyard judgments show mqm --campaign wmt24 -f markdown",
)
@click.argument(
    "name", required=False, metavar="[NAME]", help="which judgments, NAME or NAME@VERSION (default: the only ones)"
)
@test_set_options()
@granularity_option("system")
@option("--shared-segments", is_flag=True, help="test two systems only on segments that were judged for both")
@format_option()
@width_option(3, " in formats for people")
@backend()
def show(
    client: Client,
    name: str | None,
    test_set: str | None,
    campaign: str | None,
    granularity: str,
    shared_segments: bool,
    format: str,  # noqa: A002 - the option's name
    width: int,
) -> int:
    """Print the judgments."""
    from steelyard_client.commands.human.output import segments, systems

    chosen = choose_test_set(client, test_set, campaign)
    title = name or _only(client, chosen)
    shown = client.read_human_scores(chosen.campaign, title, test_set=chosen.name, shared_segments=shared_segments)
    rows = []
    if granularity == "segment" or not shown.systems:
        listed = client.list_judged_segments(chosen.campaign, f"{shown.name}@{shown.version}", test_set=chosen.name)
        rows = sorted(listed, key=lambda each: (each.system, each.segment))
    if granularity == "segment" and not rows:
        raise CommandError(f"{shown.name}@{shown.version} has no scores of segments.")
    text = segments(shown, rows, format, width) if granularity == "segment" else systems(shown, rows, format, width)
    print(text, end="")
    return 0


def _only(client: Client, chosen: Chosen) -> str:
    """The name of the only judgments of a test set. Raises CommandError where there are none or several."""
    names = dict.fromkeys(
        each.name for each in client.list_human_scores(chosen.campaign) if each.test_set == chosen.title
    )
    if not names:
        raise CommandError("The test set has no human judgments. Import some: `steelyard judgments import FILE`.")
    if len(names) > 1:
        raise CommandError(f"The test set has several human judgments: {', '.join(names)}. Name one.")
    return next(iter(names))


@judgments.command(
    "rename",
    help="Rename judgments: all versions under a name.",
    example="steelyard judgments rename da esa --campaign wmt24",
)
@click.argument("name", metavar="NAME", help="which judgments")
@click.argument("to", metavar="NEW", help="their new name")
@test_set_options()
@backend()
def rename(client: Client, name: str, to: str, test_set: str | None, campaign: str | None) -> int:
    """Rename the judgments."""
    chosen = choose_test_set(client, test_set, campaign)
    client.rename_human_scores(chosen.campaign, name, to, test_set=chosen.name)
    print(f"Renamed: {name} of {chosen.title} is {to}.")
    return 0


@judgments.command(
    "delete",
    help="Delete one version of judgments, by default the newest; the previous version becomes current again.",
    example="steelyard judgments delete mqm@2 --campaign wmt24 --yes",
)
@click.argument("name", metavar="NAME", help="which judgments, NAME or NAME@VERSION")
@test_set_options()
@yes_option()
@backend()
def delete(client: Client, name: str, test_set: str | None, campaign: str | None, yes: bool) -> int:
    """Ask for confirmation and delete one version of judgments."""
    chosen = choose_test_set(client, test_set, campaign)
    stored = client.read_human_scores(chosen.campaign, name, test_set=chosen.name)
    title = f"{stored.name}@{stored.version}"
    confirm(f"Delete the human judgments {title} of {chosen.title}?", yes=yes)
    client.delete_human_scores(chosen.campaign, title, test_set=chosen.name)
    print(f"Deleted: {title} of {chosen.title}.")
    return 0
