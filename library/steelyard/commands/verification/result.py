"""All that `steelyard score -f json` printed: scores, intervals and tests, by the texts whose hashes it names."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.commands.errors import CommandError
from steelyard.commands.scoring.inputs import GivenSystem, read_inputs
from steelyard.commands.scoring.score import scored
from steelyard.commands.scoring.score_json import structure
from steelyard.commands.scoring.score_options import ScoreOptions
from steelyard.commands.verification.printed_signatures import parse_signature
from steelyard.commands.verification.texts import files_by_content
from steelyard.commands.verification.verdicts import BITS, Verdict, Verification, compared, different
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from steelyard.commands.verification.printed_signatures import Signature

Document = dict[str, Any]
NOT_NUMBERS = ("signature", "title", "metric", "higher_is_better")
SHORT_HASH = 12


def read_document(text: str, name: str) -> Any:
    """A JSON document whose numbers stay as they are written.

    Raises CommandError.

    Parameters
    ----------
    text : str
    name : str

    Returns
    -------
    object
    """
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{name} is no JSON: {error}.") from error


def verify_result(
    document: Document,
    name: str,
    files: Sequence[str],
    systems: Sequence[str],
    documents: str | None = None,
    *,
    source: str | None = None,
    resources: Sequence[tuple[str, Path]] = (),
) -> Verification:
    """Compute again what a result says of the texts in some files.

    Parameters
    ----------
    document : dict
        As `read_document` has it.
    name : str
        Of its file, for messages.
    files : list of str
        All texts in any order, found by their content; with `systems`, the references.
    systems : list of str
        Outputs, where files have ids for their segments.
    documents : str, optional
        The file that says the document of each segment, where documents were resampled.
    source : str, optional
        The file of what was translated.
    resources : list of (str, Path)
        Files that metrics ask for.

    Returns
    -------
    Verification

    Raises
    ------
    CommandError, MetricsError
    """
    try:
        signatures = _signatures(document)
        options = _options(document, signatures, resources)
        options.documents = documents
        hashes = document["test_set"]["hashes"]
        published = {system["system"]: system for system in document["systems"]}
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise CommandError(
            f"{name} is not what `steelyard score -f json` prints: {type(error).__name__}: {error}."
        ) from error
    verification = Verification(notes=_versions(document))
    names: list[str] = []
    if systems:
        references, outputs = list(files), [GivenSystem([file]) for file in systems]
    else:
        by_content = files_by_content([*files, *([] if source is None else [source])])
        references, outputs, names = _by_hash(document, by_content, verification)
        if hashes.get("source") in by_content:
            source = by_content[hashes["source"]]
        if len(references) < len(hashes["references"]) or not outputs:
            return verification
    inputs = read_inputs(references, outputs, variable_references=_variable(signatures), source=source)
    if names:
        called = [replace(each, name=name) for each, name in zip(inputs.systems, names, strict=True)]
        inputs = replace(inputs, systems=called)
    if {*inputs.names} != {*published}:
        options.paired = None
    metrics = [each.metric() for each in signatures]
    again = structure(scored(options, metrics, inputs))
    verification.problems += _other_texts(hashes, again["test_set"]["hashes"])
    for system in again["systems"]:
        known = published.get(system["system"])
        if known is None:
            verification.problems.append(f'{name} has no system "{system["system"]}".')
            continue
        if known.get("hash") != system.get("hash"):
            verification.problems.append(f'The output of "{system["system"]}" is not the one that was scored.')
        for score, found in zip(known["scores"], system["scores"], strict=True):
            verification.verdicts.append(_of_score(system["system"], score, found))
        runs = [*different(_nameless(known.get("runs", [])), _nameless(system.get("runs", [])), "runs")]
        verification.problems += [f"{system['system']}: {line}" for line in runs]
    if options.paired:
        verification.problems += _of_tests(document["paired"], again["paired"])
    elif document.get("paired"):
        verification.problems.append("Tests of pairs, and their correction, need the outputs of all systems.")
    return verification


def _signatures(document: Document) -> list[Signature]:
    return [parse_signature(score["signature"], score["title"]) for score in document["systems"][0]["scores"]]


def _variable(signatures: Sequence[Signature]) -> bool:
    return any(each.fields.get("nrefs") == "var" for each in signatures)


def _options(
    document: Document, signatures: Sequence[Signature], resources: Sequence[tuple[str, Path]]
) -> ScoreOptions:
    """The options of `score` that made a result."""
    scores = [score for system in document["systems"] for score in system["scores"]]
    options = ScoreOptions(metrics=[each["metric"] for each in document["systems"][0]["scores"]], resource=resources)
    options.segments = any("segments" in score for score in scores)
    resampled = [each for each in signatures if each.replicates]
    if resampled:
        options.confidence, options.seed = resampled[0].replicates, int(resampled[0].fields["seed"])
        options.resample = resampled[0].fields.get("resample", "segment")
    ends = next((score["interval"] for score in scores if score.get("interval")), None)
    if ends:
        options.level, options.interval = float(ends["level"]), ends["kind"]
    tests = document.get("paired") or []
    if tests:
        options.paired, options.correction = tests[0]["test"], tests[0]["correction"]
        options.trials = int(tests[0]["n"]) if options.paired == "randomization" else None
        pairs = {(each["a"], each["b"]) for each in tests}
        first = {a for a, _ in pairs}
        names = [system["system"] for system in document["systems"]]
        alone = len(first) == 1 and len(pairs) == len(names) - 1
        options.baseline = first.pop() if alone else "none"
    return options


def _by_hash(
    document: Document, by_content: Mapping[str, str], verification: Verification
) -> tuple[list[str], list[GivenSystem], list[str]]:
    """The files of references and of systems, and the systems' names; what is missing or unknown is a problem."""
    hashes = document["test_set"]["hashes"]
    wanted = {hashes.get("source"), *hashes["references"]}
    references, outputs, names = [], [], []
    for number, each in enumerate(hashes["references"], 1):
        if each in by_content:
            references.append(by_content[each])
        else:
            verification.problems.append(f"No file has the text of reference {number}, SHA-256 {each[:SHORT_HASH]}...")
    for system in document["systems"]:
        needed = [system["hash"]] if "hash" in system else [run["hash"] for run in system["runs"]]
        wanted |= {*needed}
        if all(each in by_content for each in needed):
            outputs.append(
                GivenSystem([by_content[each] for each in needed], system["system"] if "runs" in system else None)
            )
            names.append(system["system"])
        else:
            verification.problems.append(f'No file has the output of "{system["system"]}" that was scored.')
    strangers = [file for each, file in by_content.items() if each not in wanted]
    if strangers:
        verification.problems.append(f"Not among the texts that were scored: {listed(strangers)}.")
    return references, outputs, names


def _other_texts(published: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    problems = []
    for number, (one, other) in enumerate(zip(published["references"], found["references"], strict=False), 1):
        if one != other:
            problems.append(f"Reference {number} is not the one that was scored.")
    if len(published["references"]) != len(found["references"]):
        problems.append(f"There were {len(published['references'])} references, and are {len(found['references'])}.")
    if "source" in published and "source" in found and published["source"] != found["source"]:
        problems.append("The source is not the one that was scored.")
    return problems


def _versions(document: Document) -> list[str]:
    from steelyard.metrics.metric import VERSION

    made_by = document.get("version")
    return [] if made_by == VERSION else [f"The scores were made by version {made_by}; this is {VERSION}."]


def _of_score(system: str, published: Document, found: Document) -> Verdict:
    equal, verdict = compared(published["score"], found["score"])
    more = [*different(_numbers(published), _numbers(found))]
    if more and equal:
        verdict = f"score {verdict}, but {len(more)} other number{'s'[: len(more) > 1]} differ{'s'[len(more) > 1 :]}"
    elif equal and verdict == BITS and published.get("interval"):
        verdict = f"{BITS}, with its interval"
    return Verdict(
        system, found["title"], found["signature"], published["score"], found["score"], equal and not more, verdict,
        [*more, *_fields(published["signature"], found["signature"])],
    )  # fmt: skip


def _numbers(score: Document) -> Document:
    return {key: value for key, value in score.items() if key not in (*NOT_NUMBERS, "score", "hash")}


def _fields(published: str, found: str) -> list[str]:
    """Fields of the signature that differ, beside the version."""
    one, other = (dict(part.partition(":")[::2] for part in each.split("|")) for each in (published, found))
    return [
        f"{key} was {one.get(key, 'nothing')}, and is {other.get(key, 'nothing')} here"
        for key in {**one, **other}
        if key != "version" and one.get(key) != other.get(key)
    ]


def _nameless(runs: Sequence[Document]) -> list[Document]:
    """Runs by their content: they are called as the files are."""
    return [{key: value for key, value in run.items() if key != "run"} for run in runs]


def _of_tests(published: Sequence[Document], found: Sequence[Document]) -> list[str]:
    """What differs between tests."""
    again = {(each["a"], each["b"], each["metric"]): each for each in found}
    problems = []
    for test in published:
        pair = (test["a"], test["b"], test["metric"])
        if pair not in again:
            problems.append(f"{test['a']} against {test['b']} by {test['metric']} was not tested again.")
            continue
        problems += [
            f"{test['a']} against {test['b']} by {test['metric']}: {line}" for line in different(test, again[pair])
        ]
    return problems
