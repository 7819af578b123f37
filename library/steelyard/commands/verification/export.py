"""Every score of an exported campaign, computed again from the texts in the zip."""

from __future__ import annotations

import zipfile
import zlib
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from steelyard.commands.errors import CommandError
from steelyard.commands.verification.verdicts import Verdict, Verification, compared
from steelyard.formats.campaign.exports import BadExport, bytes_of, changed_files, read_manifest, rows_of
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from steelyard.metrics.metric import Metric

TABLES = {
    "test-sets.tsv": ("id", "name", "version", "references", "folder"),
    "submissions.tsv": ("id", "test_set", "team", "system", "run", "output"),
    "scores.tsv": ("submission", "references", "metric", "score", "replicates", "seed", "signature", "edition"),
}
"""The tables that are read, each with the columns that are."""
Row = dict[str, str]


def verify_export(path: str, resources: Sequence[tuple[str, Path]] = (), submission: int | None = None) -> Verification:
    """Compute all scores of an exported campaign again, or those of one submission.

    Parameters
    ----------
    path : str
        The zip.
    resources : list of (str, Path)
        Files that metrics ask for.
    submission : int, optional
        Its number.

    Returns
    -------
    Verification

    Raises
    ------
    CommandError
        For a zip that is no export, or a damaged one.
    MetricsError
        For an export of a newer release, and one without a manifest, whose files cannot be known to be unchanged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _Export(path, archive, resources, submission).verified()
    except (zipfile.BadZipFile, EOFError, RuntimeError, zlib.error) as error:
        raise CommandError(f"{path} is damaged: {error}.") from error


class _Export:
    def __init__(
        self, path: str, archive: zipfile.ZipFile, resources: Sequence[tuple[str, Path]], submission: int | None
    ) -> None:
        self.path, self.archive, self.resources, self.submission = path, archive, resources, submission
        self.files = {each.filename: each for each in archive.infolist()}
        missing = [name for name in TABLES if name not in self.files]
        if missing:
            raise CommandError(f"{path} is no exported campaign: it has no {', '.join(missing)}.")
        self.verification = Verification()
        self.verification.problems += changed_files(archive, read_manifest(archive, path)["files"])
        sets, self.submissions, self.scores = (self._table(name, columns) for name, columns in TABLES.items())
        if submission is not None:
            self.scores = [row for row in self.scores if row["submission"] == str(submission)]
        for row, key in ((row, key) for row in self.scores for key in ("replicates", "seed")):
            if row[key] and not row[key].isdecimal():
                self._refuse("scores.tsv", f"{key} is {quoted(row[key])}, not a whole number")
        self.test_sets = {_title(row): row for row in sets}

    def verified(self) -> Verification:
        """All scores, by test set, references and metric."""
        groups: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
        known = {row["id"]: row for row in self.submissions}
        for score in self.scores:
            submission = known.get(score["submission"])
            if submission is None:
                self.verification.problems.append(f"scores.tsv: there is no submission {score['submission']}.")
                continue
            groups[submission["test_set"], score["references"]][score["metric"]].append(score)
        for (test_set, references), scores in groups.items():
            self._verify_group(test_set, [each for each in references.split(",") if each], scores, known)
        self.verification.notes += _editions(self.scores)
        if not self.scores:
            whom = "" if self.submission is None else f" of submission {self.submission}"
            self.verification.problems.append(f"{self.path} has no scores{whom}.")
        return self.verification

    def _verify_group(
        self, test_set: str, labels: Sequence[str], scores: Mapping[str, list[Row]], submissions: Mapping[str, Row]
    ) -> None:
        """The scores against some references of a test set."""
        scores = {name: rows for name, rows in scores.items() if not self._without_texts(name, rows, submissions)}
        texts = self._references(test_set, labels) if scores else None
        if texts is None:
            return
        ids = list(dict.fromkeys(row["submission"] for rows in scores.values() for row in rows))
        outputs: dict[str, bytes] = {}
        for each in ids:
            file = submissions[each]["output"]
            if file and file in self.files:
                outputs[each] = self._text(file)
            else:
                self.verification.problems.append(f"The export has no output of submission {each}.")
        for specification, rows in scores.items():
            measured = [row for row in rows if row["submission"] in outputs]
            self._verify_metric(specification, measured, texts, self._source(test_set), outputs, submissions)

    def _without_texts(self, specification: str, rows: Sequence[Row], submissions: Mapping[str, Row]) -> bool:
        """Verify scores that were made elsewhere by their statistics in the export; whether these are such."""
        from steelyard.errors import MetricsError
        from steelyard.metrics.registry import parse_metric
        from steelyard.metrics.without_texts.imported import Imported

        try:
            metric = parse_metric(specification)
        except MetricsError:
            return False
        if metric.reads_texts:
            return False
        if not isinstance(metric, Imported):
            self.verification.notes.append(f"{metric.title} ranks all systems of a leaderboard: no score to verify.")
            return True
        sums = self._imported.get(specification)
        if sums is None:
            self.verification.problems.append(f"The export has no scores of {metric.title}: only organisers get them.")
            return True
        for row in rows:
            found = sums.get(row["submission"])
            if found is not None and len(found) != len(metric.columns):
                self._refuse("imported.tsv", f"{specification} has {len(found)} statistics, not {len(metric.columns)}")
            score = float("nan") if found is None else float(metric.score(found))
            self.verification.verdicts.append(_verdict(row, submissions[row["submission"]], metric, score))
        return True

    @cached_property
    def _imported(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        """Specification -> submission -> the summed statistics."""
        import numpy as np

        found: dict[str, dict[str, NDArray[np.float64]]] = {}
        if "imported.tsv" not in self.files:
            return found
        for each in self._table("imported.tsv", ("specification", "file")):
            sums = found.setdefault(each["specification"], {})
            for row in self._table(each["file"], ("submission", "segment", "statistics")):
                try:
                    values = np.array(row["statistics"].split(), float)
                    sums[row["submission"]] = sums.get(row["submission"], np.zeros_like(values)) + values
                except ValueError:
                    self._refuse(each["file"], f"the statistics {quoted(row['statistics'])} are not as others are")
        return found

    def _source(self, test_set: str) -> bytes | None:
        name = f"{self.test_sets[test_set]['folder']}/source.txt"
        return self._text(name) if name in self.files else None

    def _verify_metric(
        self, specification: str, rows: Sequence[Row], references: list[bytes], source: bytes | None,
        outputs: Mapping[str, bytes], submissions: Mapping[str, Row],
    ) -> None:  # fmt: skip
        from steelyard.commands.registered import registered_resources
        from steelyard.errors import MetricsError
        from steelyard.metrics.registry import parse_metric
        from steelyard.metrics.resolution import resolve
        from steelyard.metrics.run_context import RunContext
        from steelyard.metrics.score_systems import score_systems
        from steelyard.metrics.segments import Segments

        if not rows:
            return
        resources = registered_resources(dict(self.resources))
        try:
            (metric,), _ = resolve([parse_metric(specification)], RunContext("", frozenset(), resources, {}))
            segments = Segments(
                references=references,
                source=source if "source" in metric.inputs else None,
                hypotheses=[outputs[row["submission"]] for row in rows],
                variable_references="nrefs:var" in rows[0]["signature"].split("|"),
            )
            (measured,) = score_systems(segments, [metric], resources=resources)
        except MetricsError as error:
            self.verification.problems.append(f"{specification} cannot be computed here: {error}")
            return
        for row, score in zip(rows, measured.scores.tolist(), strict=True):
            self.verification.verdicts.append(_verdict(row, submissions[row["submission"]], metric, score))

    def _references(self, test_set: str, labels: Sequence[str]) -> list[bytes] | None:
        row = self.test_sets.get(test_set)
        if row is None:
            self.verification.problems.append(f"test-sets.tsv: there is no test set {test_set}.")
            return None
        named = row["references"].split(",")
        folder = f"{row['folder']}/refs/"
        found = []
        for label in labels:
            place = named.index(label) if label in named else None
            file = next(
                (name for name in self.files if place is not None and name.startswith(f"{folder}{place}-")), None
            )
            if file is None:
                self.verification.problems.append(f'The export has no reference "{label}" of {row["name"]}.')
                return None
            found.append(self._text(file))
        return found

    def _table(self, name: str, columns: Sequence[str]) -> list[Row]:
        try:
            return rows_of(self.archive, name, columns)
        except BadExport as error:
            raise CommandError(f"{self.path}: {error}") from error

    def _refuse(self, name: str, what: str) -> NoReturn:
        raise CommandError(f"{self.path}: {name}: {what}. Export the campaign again.")

    def _text(self, name: str) -> bytes:
        return bytes_of(self.archive, name).removesuffix(b"\n")


def _title(row: Row) -> str:
    """What submissions call a test set."""
    return row["name"] if row["version"] == "1" else f"{row['name']}@{row['version']}"


def _editions(scores: Sequence[Row]) -> list[str]:
    from steelyard.metrics.metric import EDITION, edition_name

    others = sorted({row["edition"] for row in scores if row["edition"].isdecimal()} - {str(EDITION)})
    return [
        f"Scores have edition {edition_name(int(each))} of the numbers; this is {edition_name(EDITION)}."
        for each in others
    ]


def _verdict(row: Row, submission: Row, metric: Metric, score: float) -> Verdict:
    equal, verdict = compared(row["score"] or None, score)
    name = "/".join(part for part in (submission["team"], submission["system"], submission["run"]) if part)
    fields = dict(part.partition(":")[::2] for part in row["signature"].split("|"))
    nrefs: Any = fields.get("nrefs", "1")
    # Plain scores do not depend on what replicates draw, and the export's table has no column for it.
    unit = "document" if fields.get("resample") == "document" else "segment"
    again = metric.signature(nrefs, int(row["replicates"] or 0), int(row["seed"] or 0), unit)
    # Earlier releases wrote so of imported scores of segments, too, whose number they did not say.
    known = again, f"{again}|segments:0"
    differences = [] if row["signature"] in known else [f"the signature was {row['signature']}, and is {again} here"]
    return Verdict(
        f"{name} ({submission['id']})", f"{metric.title}, {row['references']}", again, row["score"] or None,
        None if score != score else score, equal, verdict, differences,
    )  # fmt: skip
