"""The parts of the code that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """Sources, and the tests that must fail where one of them is wrong."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def _target(sources: str, tests: str) -> Target:
    return Target(tuple(sources.split()), tuple(tests.split()))


def _of_one_name(folder: str, names: str, tests: str, more: str = "") -> list[Target]:
    """Sources that each have a test of their name."""
    return [_target(f"{folder}/{name}.py", f"{tests}/test_{name}.py {more}") for name in names.split()]


def _kernel(names: str, tests: str) -> Target:
    return _target(" ".join(f"metrics/kernels/{name}" for name in names.split()), tests)


AREAS: dict[str, list[Target]] = {
    "claims": [
        _target(
            "models/claims.py models/outcomes.py models/reducing.py",
            "tests/models/test_claims.py tests/scheduler/test_quotas.py tests/models/test_random_orders.py "
            "tests/worker/test_outcome.py",
        ),
        _target("models/preparing.py", "tests/models/test_preparing.py tests/models/test_random_preparations.py"),
        _target("models/comparing.py", "tests/models/test_comparing.py tests/models/test_random_comparisons.py"),
    ],
    "leases": [
        _target(
            "models/lease.py",
            "tests/models/test_lease.py tests/models/test_claims.py tests/scheduler/test_recovery.py",
        ),
        _target(
            "scheduler/recovery.py models/recounting.py models/forgetting.py",
            "tests/scheduler/test_recovery.py tests/scheduler/test_upkeep.py",
        ),
    ],
    "fairness": [
        _target("scheduler/turns.py", "tests/scheduler/test_turns.py tests/scheduler/test_dispatch.py"),
        _target(
            "scheduler/waiting_rows.py scheduler/dispatch.py",
            "tests/scheduler/test_dispatch.py tests/scheduler/test_layers.py tests/scheduler/test_editions.py",
        ),
    ],
    "reducer": [
        _target("models/arrays.py", "tests/models/test_arrays.py"),
        _target("worker/reducer.py", "tests/worker/test_reducer.py"),
    ],
    "quotas": [
        _target("models/quota.py models/ledger.py scheduler/quotas.py", "tests/scheduler/test_quotas.py"),
        _target(
            "scheduler/submitting.py scheduler/admission.py",
            "tests/scheduler/test_admission.py tests/scheduler/test_quotas.py tests/web/submissions/test_handing_in.py",
        ),
    ],
    "phases": [
        _target("models/phases.py", "tests/models/test_phases.py"),
        _target("web/life/phases.py", "tests/web/life/test_phases.py tests/web/pages/test_managing.py"),
    ],
    "feedback": [
        _target(
            "web/boards/feedback.py web/boards/rounding.py",
            "tests/web/boards/test_rounding.py tests/web/boards/test_feedback.py tests/web/boards/test_view.py",
        ),
    ],
    "rights": [
        _target("web/life/sight.py", "tests/web/life/test_sight.py"),
        _target("web/access/principal.py", "tests/web/access/test_principal.py"),
        _target(
            "web/access/sessions.py web/access/tokens.py web/access/rights.py",
            "tests/web/access/test_api.py tests/web/access/test_pages.py",
        ),
        _target(
            "web/access/accounts.py web/access/invitations.py web/access/teams.py",
            "tests/web/access/test_api.py tests/web/access/test_pages.py tests/web/access/test_races.py",
        ),
        _target(
            "web/access/throttle.py web/access/secrets.py web/access/confirmations.py web/access/sign_up.py",
            "tests/web/access/test_throttle.py tests/web/access/test_passwords.py tests/web/access/test_api.py "
            "tests/web/access/test_pages.py",
        ),
    ],
    "views": [
        _target(
            "web/inspection/visible.py web/inspection/segments.py",
            "tests/web/inspection/test_visible.py tests/web/inspection/test_segments.py "
            "tests/web/inspection/test_metrics.py",
        ),
        _target(
            "web/submissions/seen.py",
            "tests/web/submissions/test_seen.py tests/web/submissions/test_pages.py "
            "tests/web/submissions/test_handing_in.py tests/web/life/test_corrections.py",
        ),
        _target(
            "web/boards/view.py web/boards/names.py web/boards/choice.py web/boards/standing.py models/boards.py",
            "tests/web/boards/test_view.py tests/web/boards/test_board_api.py tests/web/boards/test_board_page.py "
            "tests/models/test_boards.py",
        ),
    ],
    "export": [
        _target("web/life/export.py", "tests/web/life/test_export.py"),
        _target("web/boards/downloads.py", "tests/web/boards/test_board_api.py"),
    ],
    "resampling": [
        _target("metrics/resampling/bootstrap.py", "tests/metrics/resampling/test_bootstrap.py"),
        _target("metrics/resampling/randomization.py", "tests/metrics/resampling/test_randomization.py"),
        _target(
            "metrics/resampling/interval.py metrics/resampling/jackknife.py",
            "tests/metrics/resampling/test_interval.py tests/metrics/resampling/test_jackknife.py",
        ),
        _target("metrics/resampling/runs.py", "tests/metrics/resampling/test_runs.py"),
    ],
    "significance": [
        *_of_one_name(
            "metrics/resampling", "bootstrap_p correction binomial paired power best_of", "tests/metrics/resampling"
        ),
        _target("analysis/significance.py", "tests/analysis/test_significance.py"),
        _target("metrics/ranking.py", "tests/metrics/test_ranking.py"),
    ],
    "metrics": [
        *_of_one_name(
            "metrics",
            "bleu chrf ter nist wer per fmeasure gtm lebleu character tbleu sempos meteor bleu_modif wer_modif",
            "tests/metrics",
        ),
        _target("metrics/portable.py", "tests/metrics/test_portable.py tests/metrics/test_bleu.py"),
        _target(
            "metrics/correlation/statistics.py metrics/correlation/system.py",
            "tests/metrics/correlation/test_system.py",
        ),
        _target(
            "metrics/correlation/segment.py metrics/correlation/tie_calibration.py",
            "tests/metrics/correlation/test_segment.py",
        ),
        _target("metrics/human/rankings.py", "tests/metrics/human/test_rankings.py"),
    ],
    "kernels": [
        _kernel("ngrams.c ngram_counts.c clipped_ngrams.h gram.h", "tests/metrics/kernels/test_ngrams.py"),
        _kernel("ngram_scores.c", "tests/metrics/kernels/test_ngram_scores.py"),
        _kernel("chrf.c character_ngrams.c", "tests/metrics/kernels/test_chrf.py tests/metrics/test_chrf.py"),
        _kernel("edit_distance.c distance_rows.h", "tests/metrics/kernels/test_edit_distance.py"),
        _kernel("ter.c ter_shifts.h ter_distance.h", "tests/metrics/kernels/test_ter.py tests/metrics/test_ter.py"),
        _kernel("resampling.c subset_sums.h", "tests/metrics/kernels/test_resampling.py"),
        _kernel("draw_bits.c draw_bits.h", "tests/metrics/kernels/test_draw_bits.py"),
        _kernel("kendall.c", "tests/metrics/kernels/test_kendall.py"),
        _kernel("rank_sums.c", "tests/metrics/kernels/test_rank_sums.py"),
        _kernel("gtm.c", "tests/metrics/kernels/test_gtm.py tests/metrics/test_gtm.py"),
        _kernel("meteor.c", "tests/metrics/kernels/test_meteor.py tests/metrics/test_meteor.py"),
        _kernel("words.c lines.c", "tests/metrics/kernels/test_words.py tests/metrics/kernels/test_lines.py"),
        _kernel("utf8.c utf8_decoding.h", "tests/metrics/kernels/test_utf8.py"),
        _kernel("spacing.c", "tests/metrics/text/test_tokenizers.py"),
        _kernel("lebleu.c", "tests/metrics/test_lebleu.py"),
        _kernel("character.c", "tests/metrics/test_character.py"),
    ],
}


def targets(area: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Area, source and tests of each source, of one area or of all."""
    for name, known in AREAS.items():
        for target in known if area in ("", name) else []:
            for source in target.sources:
                yield name, source, target.tests
