"""Test sets scored by the sweeps of `steelyard tune`: ingested, queued, and read with the human judgments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli.stored import require_schema
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from analysis.meta_evaluation.parameter_sweep import SweepResult
    from cli.commands import Options
    from models.corpus.standing_submissions import StandingSubmissions
    from runtime.settings import Settings
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.meta_evaluation.sweep import Sweep
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.resources import Resources


EACH_AND_ALL = ("each", "all")
USUAL_REPLICATES = 1000


@dataclass(frozen=True)
class Measured:
    """One test set, scored by one variant of the sweep."""

    given: str
    """The folder or name on the command line."""
    sweep: Sweep
    """The sweep, with everything pinned that the metrics take from the test set."""
    swept: Sequence[SweepResult]
    """One for each choice of references."""


def measure(
    options: Options, settings: Settings, given: Sequence[str], sweeps: dict[str, Sweep]
) -> dict[str, list[Measured]]:
    """Score all test sets by all sweeps, by the sweeps' labels. Raises CommandError where an evaluation fails."""
    from cli.campaigns.evaluate import working
    from cli.campaigns.judgment_files import store_campaign_judgments
    from cli.terminal.progress import shown_progress
    from models.queue_status.progress import failure_reasons
    from scheduler.embedded.wait import read_with_retries, with_retries
    from steelyard.formats.campaign.campaigns import read_any_campaign
    from steelyard.formats.layers import common_layers
    from steelyard.meta_evaluation.human.beside_texts import judgments_beside
    from steelyard.metrics.resources import Resources

    resources = Resources(settings.resource_folder)
    for name, file in options.resource:
        resources.register(name, "file", file)
    folders = {each: read_any_campaign([each], pair=None, name=None) for each in given if Path(each).is_dir()}
    require_schema(settings, create=bool(folders))
    contests = stored_submissions(options, settings, [each for each in given if each not in folders])
    # Invalid input is rejected before anything is stored and any worker is started.
    judgments = {each: judgments_beside(folder) for each, folder in folders.items()}
    for folder in folders.values():
        note(folder.notices)
        layers = common_layers(folder.texts(sorted(folder.references)))
        for sweep in sweeps.values():
            pinned(sweep, folder.target_language or "", layers, resources)
        reference_choices(options.references or EACH_AND_ALL, folder.name, list(folder.references))
    for contest in contests.values():
        for sweep in sweeps.values():
            pinned(sweep, contest.target_language, contest.layers, resources)
        reference_choices(options.references or EACH_AND_ALL, contest.name, contest.references)
    with working(settings, options.processes or None) as (engine, wait):
        for each, folder in folders.items():
            # Retries store nothing twice, here and below.
            contest = contests[each] = with_retries(partial(taken_in, options, settings, engine, folder))
            of = contest.campaign_id, contest.test_set_id
            note(with_retries(partial(store_campaign_judgments, engine, *of, judgments[each], folder)))
            read_with_retries(engine, partial(_require_judgments, *of, options.human))
        queued: list[tuple[str, str, Sweep, list[int]]] = []
        evaluations: list[int] = []
        notices: dict[str, None] = {}
        for label, sweep in sweeps.items():
            for each in given:
                contest = contests[each]
                resolved, remarks = pinned(sweep, contest.target_language, contest.layers, resources)
                notices |= dict.fromkeys(remarks)
                protocols, more = with_retries(partial(queue, options, settings, engine, contest, resolved.every))
                queued.append((label, each, resolved, protocols))
                evaluations += more
        note(notices)
        with shown_progress() as on_progress:
            progress = wait(evaluations, on_progress)
        if progress.failed:
            reasons = read_with_retries(engine, lambda connection: failure_reasons(connection, evaluations))
            raise CommandError(f"{progress.failed} of {len(evaluations)} evaluations failed: {' '.join(reasons)}")
        measured: dict[str, list[Measured]] = {label: [] for label in sweeps}
        for label, each, resolved, protocols in queued:
            read = partial(read_sets, options=options, contest=contests[each], protocols=protocols)
            measured[label].append(Measured(each, resolved, read_with_retries(engine, read)))
    for one in measured[next(iter(sweeps))]:
        judged = one.swept[0].judged
        if left_out := sorted({*judged.matched.not_judged, *judged.unscored}):
            note([f"{judged.board.listed.name}: left out, not judged or not scored: {', '.join(left_out)}."])
    return measured


def _require_judgments(campaign_id: int, test_set_id: int, name: str | None, connection: Connection) -> None:
    from models.corpus.judgments import find_judgments

    find_judgments(connection, campaign_id, test_set_id, name)


def pinned(sweep: Sweep, language: str, layers: frozenset[str], resources: Resources) -> tuple[Sweep, list[str]]:
    """The sweep with everything pinned that its metrics take from test set and resources, and notices.

    Raises MetricsError.
    """
    from steelyard.metrics.resolution import resolve
    from steelyard.metrics.run_context import RunContext

    every, notices = resolve(sweep.every, RunContext(language, layers, resources))
    by_metric: dict[Metric, Metric] = dict(zip(sweep.every, every, strict=True))
    metrics = tuple(by_metric[metric] for metric in sweep.metrics)
    rivals = tuple(by_metric[metric] for metric in sweep.rivals)
    return replace(sweep, metrics=metrics, rivals=rivals), notices


def stored_submissions(options: Options, settings: Settings, names: Sequence[str]) -> dict[str, StandingSubmissions]:
    """The submissions to stored test sets, by name; each must have human judgments. Raises NotFound."""
    from models.corpus.judgments import find_judgments
    from models.corpus.standing_submissions import find_standing_submissions
    from models.database.session import make_engine, reading

    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        contests = {name: find_standing_submissions(connection, name) for name in names}
        for contest in contests.values():
            find_judgments(connection, contest.campaign_id, contest.test_set_id, options.human)
    engine.dispose()
    return contests


def taken_in(options: Options, settings: Settings, engine: Engine, folder: CampaignFolder) -> StandingSubmissions:
    """Store a campaign folder; its submissions. Raises BadIngest."""
    from cli.campaigns.evaluate import GivenTestSet, checked_name, ingest_test_set
    from cli.commands import Options
    from models.corpus.standing_submissions import read_standing_submissions
    from models.database.session import reading

    given = Options(**{"queue_class": "campaign", "due": None, **vars(options)})
    name = checked_name(folder.name)
    intake = ingest_test_set(given, settings, name, GivenTestSet(name, folder, [], [], {}), engine)
    with reading(engine) as connection:
        return read_standing_submissions(connection, intake.campaign_id, intake.test_set_id)


def queue(
    options: Options,
    settings: Settings,
    engine: Engine,
    contest: StandingSubmissions,
    metrics: Sequence[Metric],
) -> tuple[list[int], list[int]]:
    """Queue one sweep of one test set; the protocols, one for each choice of references, and all their evaluations.

    Stored evaluations are reused.
    """
    from models.database.session import writing
    from scheduler.enqueue.evaluations import enqueue_evaluations
    from scheduler.ingest.campaigns import NewProtocol, store_protocol

    protocols, evaluations = [], []
    with writing(engine, durable=True) as connection:
        for labels in reference_choices(options.references or EACH_AND_ALL, contest.name, contest.references):
            new = NewProtocol(
                labels,
                metrics,
                USUAL_REPLICATES if options.replicates is None else options.replicates,
                options.seed,
                sweep=True,
            )
            protocol = store_protocol(connection, contest.test_set_id, new)
            evaluations += enqueue_evaluations(
                connection, settings, protocol, contest.submissions, processes=options.processes or None
            )
            protocols.append(protocol)
    return protocols, evaluations


def reference_choices(asked: Sequence[str], name: str, labels: Sequence[str]) -> list[tuple[str, ...]]:
    """The lists of references to score a test set against; lists with labels that it does not have are skipped.

    Raises CommandError where nothing is left.
    """
    choices: list[tuple[str, ...]] = []
    for text in asked:
        if text == "each":
            choices += [(label,) for label in labels]
        elif text == "all":
            choices.append(tuple(labels))
        elif set(text.split(",")) <= set(labels):
            choices.append(tuple(text.split(",")))
    if not choices:
        raise CommandError(f"{name} has none of these references. It has {', '.join(labels)}.")
    return list(dict.fromkeys(choices))


def read_sets(
    connection: Connection, options: Options, contest: StandingSubmissions, protocols: Sequence[int]
) -> list[SweepResult]:
    """The scores with human judgments, in the order of the protocols. Raises NotFound and CommandError."""
    from analysis.meta_evaluation.parameter_sweep import read_sweep
    from models.results.boards import list_boards

    boards = {
        board.protocol_id: board
        for board in list_boards(connection, protocols=protocols, campaign_id=contest.campaign_id)
    }
    swept = [read_sweep(connection, boards[protocol], options.human) for protocol in protocols]
    found = [each for each in swept if each is not None]
    if not found:
        raise CommandError(
            f"{contest.name}: none of its systems has human judgments. `steelyard judgments show` lists the others."
        )
    return found
