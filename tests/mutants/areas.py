"""The parts of the code that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "library" / "steelyard" / "kernels"


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
    """C files, whose names are their own in all families."""
    found = (next(KERNELS.rglob(name)) for name in names.split())
    return _target(" ".join(str(path.relative_to(ROOT)) for path in found), tests)


AREAS: dict[str, list[Target]] = {
    "claims": [
        _target(
            "models/queue/task_kind.py models/queue/kinds/shards.py models/queue/kinds/reductions.py "
            "models/queue/evaluation_end.py",
            "tests/models/queue/test_reductions.py "
            "tests/models/kinds/test_others_rows.py "
            "tests/models/kinds/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/worker/test_preemption.py "
            "tests/models/queue/test_random_orders.py tests/worker/test_handlers.py",
        ),
        _target(
            "models/queue/kinds/corpus_statistics.py models/queue/kinds/corpus_statistics_plan.py",
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_corpus_statistics.py tests/models/kinds/test_every_kind.py "
            "tests/scheduler/enqueue/test_corpus_statistics_failures.py "
            "tests/models/queue/test_random_corpus_statistics.py tests/scheduler/enqueue/test_corpus_statistics.py",
        ),
        _target(
            "models/queue/kinds/comparisons.py",
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_comparisons.py tests/models/kinds/test_every_kind.py "
            "tests/models/queue/test_random_comparisons.py",
        ),
        _target(
            "worker/handlers.py worker/runners.py",
            "tests/worker/test_preemption.py "
            "tests/worker/test_handlers.py tests/worker/test_upgrading.py tests/runtime/test_logs.py "
            "tests/models/storage/test_blobs.py",
        ),
    ],
    "leases": [
        _target(
            "models/queue/lease.py",
            "tests/models/queue/test_reductions.py "
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_lease.py tests/models/kinds/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/scheduler/test_recovery.py",
        ),
        _target(
            "scheduler/recovery.py models/queue/consistency.py models/queue/retention.py scheduler/maintenance.py",
            "tests/scheduler/test_recount.py tests/scheduler/test_recovery.py tests/scheduler/test_maintenance.py",
        ),
        _target("models/queue/leader.py scheduler/leader.py", "tests/scheduler/test_leader.py"),
        _target("models/queue/workers.py", "tests/models/database/test_session.py"),
    ],
    "fairness": [
        _target(
            "scheduler/fair_share.py",
            "tests/scheduler/test_fair_share.py tests/scheduler/test_dispatch.py tests/scheduler/test_charging.py",
        ),
        _target(
            "scheduler/queue_queries.py scheduler/dispatch.py",
            "tests/scheduler/test_charging.py "
            "tests/scheduler/test_queue_queries.py tests/scheduler/test_dispatch.py tests/scheduler/test_editions.py "
            "tests/scheduler/test_leader.py",
        ),
        _target("scheduler/editions.py", "tests/scheduler/test_editions.py"),
        _target(
            "scheduler/enqueue/cost_model.py scheduler/completion_accounting.py",
            "tests/scheduler/enqueue/test_cost_model.py",
        ),
    ],
    "queueing": [
        _target("scheduler/enqueue/partition.py", "tests/scheduler/enqueue/test_partition.py"),
        _target(
            "scheduler/enqueue/shard_plan.py",
            "tests/scheduler/enqueue/test_shard_plan.py tests/scheduler/ingest/test_campaigns.py",
        ),
        _target("scheduler/admin.py", "tests/scheduler/admin/test_admin.py tests/scheduler/admin/test_requeue.py"),
        _target("worker/preemption.py", "tests/worker/test_preemption.py"),
        _target("worker/processes/dead_processes.py", "tests/worker/processes/test_dead_processes.py"),
    ],
    "runs": [
        _target(
            "models/nightly/transitions.py models/queue/kinds/nightly_run_steps.py",
            "tests/models/nightly/test_transitions.py tests/models/queue/test_nightly_run_steps.py "
            "tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/nightly/test_steps.py",
        ),
        _target(
            "scheduler/nightly/plan.py", "tests/scheduler/nightly/test_plan.py tests/scheduler/nightly/test_steps.py"
        ),
        _target(
            "scheduler/nightly/steps.py scheduler/nightly/runner.py scheduler/nightly/schedules.py",
            "tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/nightly/test_runner.py tests/scheduler/nightly/test_steps.py "
            "tests/scheduler/nightly/test_plan.py",
        ),
        _target(
            "scheduler/webhooks/delivery.py",
            "tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/webhooks/test_delivery.py tests/scheduler/nightly/test_steps.py",
        ),
    ],
    "reducer": [
        _target("models/storage/arrays.py", "tests/models/storage/test_arrays.py"),
        _target("worker/computing/reducer.py", "tests/worker/computing/test_reducer.py"),
    ],
    "quotas": [
        _target(
            "campaigns/quotas/rules.py campaigns/quotas/usage_log.py campaigns/quotas/quotas.py",
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/campaigns/quotas/test_submit.py",
        ),
        _target(
            "campaigns/submissions/submit.py campaigns/submissions/admission.py",
            "tests/campaigns/submissions/test_admission.py tests/campaigns/quotas/test_quotas.py "
            "tests/campaigns/quotas/test_usage_log.py tests/campaigns/quotas/test_submit.py "
            "tests/campaigns/submissions/test_lock_order.py tests/web/api/submissions/test_submit.py",
        ),
    ],
    "phases": [
        _target("models/corpus/phases.py", "tests/models/corpus/test_phases.py"),
        _target("campaigns/phases.py", "tests/campaigns/test_phases.py tests/web/pages/campaigns/test_manage.py"),
    ],
    "feedback": [
        _target(
            "campaigns/leaderboards/feedback.py campaigns/leaderboards/rounding.py",
            "tests/campaigns/leaderboards/test_rounding.py tests/campaigns/leaderboards/test_feedback.py "
            "tests/campaigns/leaderboards/test_view.py",
        ),
        _target(
            "campaigns/leaderboards/ladder.py",
            "tests/campaigns/leaderboards/test_ladder.py tests/campaigns/leaderboards/test_feedback.py",
        ),
    ],
    "rights": [
        _target(
            "campaigns/permissions.py",
            "tests/campaigns/test_permissions.py tests/campaigns/test_permissions_in_database.py",
        ),
        _target(
            "campaigns/accounts/principal.py",
            "tests/campaigns/accounts/test_principal.py tests/web/hostile/accounts/test_sign_in.py",
        ),
        _target(
            "campaigns/accounts/sessions.py campaigns/accounts/tokens.py campaigns/accounts/permissions.py "
            "campaigns/accounts/confirmations.py campaigns/accounts/secrets.py",
            "tests/campaigns/accounts/test_sessions.py tests/campaigns/accounts/test_tokens.py "
            "tests/campaigns/accounts/test_confirmations.py tests/web/hostile/accounts/test_sign_in.py "
            "tests/campaigns/accounts/test_races.py",
        ),
        _target(
            "campaigns/accounts/accounts.py",
            "tests/campaigns/accounts/test_accounts.py tests/campaigns/accounts/test_races.py",
        ),
        _target(
            "campaigns/accounts/teams.py",
            "tests/campaigns/accounts/test_teams.py tests/campaigns/accounts/test_races.py "
            "tests/web/hostile/accounts/test_squatting.py",
        ),
        _target(
            "campaigns/invitations/invitations.py",
            "tests/campaigns/invitations/test_invitations.py tests/campaigns/accounts/test_races.py",
        ),
        _target("campaigns/participants.py", "tests/campaigns/test_participants.py"),
        _target("campaigns/accounts/audit_log.py", "tests/web/api/accounts/test_accounts.py"),
        _target("campaigns/accounts/mail.py", "tests/campaigns/accounts/test_mail.py"),
        _target(
            "campaigns/accounts/throttle.py campaigns/invitations/sign_up.py campaigns/accounts/passwords.py",
            "tests/campaigns/accounts/test_throttle.py tests/campaigns/accounts/test_passwords.py "
            "tests/web/api/accounts/test_teams_and_invitations.py "
            "tests/web/api/accounts/test_accounts.py "
            "tests/web/pages/accounts/test_accounts.py",
        ),
    ],
    "views": [
        _target(
            "campaigns/inspection/visible.py campaigns/inspection/segments.py",
            "tests/campaigns/inspection/test_visible.py tests/web/pages/leaderboards/test_segments.py "
            "tests/web/pages/leaderboards/test_metrics.py",
        ),
        _target(
            "campaigns/submissions/views.py",
            "tests/campaigns/submissions/test_views.py tests/web/pages/submissions/test_submissions.py "
            "tests/web/api/submissions/test_submit.py tests/campaigns/test_corrections.py",
        ),
        _target(
            "campaigns/leaderboards/view.py campaigns/leaderboards/names.py campaigns/leaderboards/choice.py "
            "campaigns/leaderboards/snapshot.py models/results/boards.py",
            "tests/campaigns/leaderboards/test_choice.py tests/campaigns/leaderboards/test_view.py "
            "tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py tests/models/results/test_boards.py",
        ),
        _target("campaigns/visibility.py", "tests/campaigns/test_visibility.py"),
        _target(
            "campaigns/failure_reasons.py campaigns/texts.py",
            "tests/campaigns/submissions/test_views.py tests/web/api/campaigns/test_campaigns.py",
        ),
        _target(
            "web/uploads/judgments.py campaigns/inspection/metrics_and_human.py "
            "campaigns/inspection/segment_scores.py campaigns/inspection/method.py campaigns/inspection/words.py",
            "tests/web/pages/leaderboards/test_metrics.py tests/web/pages/leaderboards/test_segments.py",
        ),
        _target(
            "campaigns/inspection/scheduled_runs.py campaigns/inspection/queue.py",
            "tests/web/pages/test_server.py",
        ),
        _target(
            "web/etags.py campaigns/leaderboards/documents.py web/pages/leaderboards/table.py",
            "tests/web/pages/leaderboards/test_eyes.py tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py",
        ),
        _target("models/results/equal_outputs.py", "tests/models/results/test_equal_outputs.py"),
        _target("campaigns/checks/equality.py", "tests/web/pages/submissions/test_equal_outputs.py"),
        _target("models/queue_status/submission_progress.py", "tests/models/queue_status/test_submission_progress.py"),
        _target("models/results/entries.py", "tests/models/results/test_entries.py"),
        _target("campaigns/leaderboards/cache.py", "tests/campaigns/leaderboards/test_cache.py"),
    ],
    "submissions": [
        _target("campaigns/declarations.py", "tests/campaigns/test_declarations.py"),
        _target("campaigns/submissions/declarations.py", "tests/campaigns/submissions/test_admission.py"),
        _target("campaigns/corrections.py", "tests/campaigns/test_corrections.py"),
        _target("campaigns/times.py", "tests/campaigns/test_times.py"),
        _target(
            "campaigns/submissions/systems.py",
            "tests/campaigns/submissions/test_views.py tests/campaigns/submissions/test_systems.py",
        ),
        _target("campaigns/submissions/progress.py", "tests/web/api/submissions/test_watching.py"),
        _target("campaigns/submissions/segment_lengths.py", "tests/campaigns/submissions/test_segment_lengths.py"),
        _target(
            "web/uploads/submit.py web/uploads/request.py campaigns/submissions/upload_file.py "
            "campaigns/submissions/reading.py campaigns/submissions/zip_archive.py campaigns/submissions/form.py "
            "campaigns/submissions/test_sets.py",
            "tests/campaigns/submissions/test_who_submits.py tests/web/api/submissions/test_submit.py "
            "tests/web/hostile/denial_of_service/test_uploads.py",
        ),
        _target("campaigns/submissions/submission_window.py", "tests/campaigns/submissions/test_submission_window.py"),
        _target("campaigns/submissions/history.py", "tests/campaigns/submissions/test_history.py"),
        _target(
            "web/stored_output.py campaigns/submissions/evaluation_actions.py",
            "tests/web/api/submissions/test_submit.py tests/web/pages/submissions/test_submissions.py",
        ),
    ],
    "guards": [
        _target("web/dependencies.py", "tests/web/test_forms.py tests/web/hostile/accounts/test_credentials.py"),
        _target("web/guards/bodies.py", "tests/web/guards/test_bodies.py"),
        _target("web/guards/connections.py", "tests/web/guards/test_connections.py"),
        _target(
            "web/guards/concurrency_limit.py web/guards/unexpected_errors.py web/guards/headers.py "
            "web/guards/head_requests.py web/guards/hosts.py web/guards/request_ids.py web/guards/proxies.py "
            "web/guards/rate_limit.py web/guards/refusing.py web/guards/request_validation.py",
            "tests/web/guards/test_guards.py tests/web/guards/test_bodies.py tests/web/test_app.py",
        ),
    ],
    "export": [
        _target("campaigns/export.py", "tests/campaigns/test_export.py tests/campaigns/test_export_files.py"),
        _target("campaigns/leaderboards/downloads.py", "tests/web/api/leaderboards/test_leaderboards.py"),
    ],
    "resampling": [
        _target("library/steelyard/resampling/bootstrap.py", "tests/library/resampling/test_bootstrap.py"),
        _target("library/steelyard/resampling/randomization.py", "tests/library/resampling/test_randomization.py"),
        *_of_one_name(
            "library/steelyard/resampling", "interval jackknife runs bounded_cache", "tests/library/resampling"
        ),
    ],
    "significance": [
        *_of_one_name(
            "library/steelyard/resampling", "bootstrap_p correction paired power best_of", "tests/library/resampling"
        ),
        _target(
            "library/steelyard/resampling/draws_needed.py",
            "tests/library/resampling/test_correction.py tests/library/resampling/test_paired.py",
        ),
        *_of_one_name("library/steelyard/kernels/resampling", "binomial", "tests/library/resampling"),
        *_of_one_name(
            "analysis/leaderboard", "significance more_replicates randomization", "tests/analysis/leaderboard"
        ),
        *_of_one_name("library/steelyard/ranking", "clusters power tested_ranking", "tests/library/ranking"),
    ],
    "analysis": [
        _target(
            "analysis/leaderboard/board.py",
            "tests/analysis/leaderboard/test_board.py tests/analysis/leaderboard/test_more_replicates.py",
        ),
        *_of_one_name("analysis/breakdown", "group_scores influential_segments ngrams", "tests/analysis/breakdown"),
        *_of_one_name("analysis/meta_evaluation", "human tuning", "tests/analysis/meta_evaluation"),
        *_of_one_name(
            "library/steelyard/resampling", "change_points level_changes regression", "tests/library/resampling"
        ),
        _target(
            "library/steelyard/meta_evaluation/correlation.py",
            "tests/library/meta_evaluation/test_correlation.py tests/analysis/meta_evaluation/test_correlation.py",
        ),
        _target(
            "analysis/meta_evaluation/correlation_json.py analysis/meta_evaluation/correlation_text.py",
            "tests/analysis/meta_evaluation/test_correlation_text.py",
        ),
        _target(
            "analysis/nightly/regression.py analysis/nightly/baselines.py",
            "tests/analysis/nightly/test_regression.py tests/analysis/nightly/test_verdict.py",
        ),
        _target(
            "analysis/nightly/verdict.py analysis/nightly/series.py analysis/nightly/entries.py "
            "analysis/nightly/tests.py analysis/nightly/text.py",
            "tests/analysis/nightly/test_text.py tests/analysis/nightly/test_verdict.py",
        ),
        _target(
            "analysis/meta_evaluation/metrics_and_human.py",
            "tests/analysis/meta_evaluation/test_correlation.py tests/analysis/meta_evaluation/test_tuning.py",
        ),
        _target("analysis/meta_evaluation/parameter_sweep.py", "tests/analysis/meta_evaluation/test_tuning.py"),
        _target(
            "library/steelyard/meta_evaluation/parameter_choice.py",
            "tests/library/meta_evaluation/test_parameter_choice.py tests/analysis/meta_evaluation/test_tuning.py",
        ),
        _target(
            "analysis/breakdown/texts.py",
            "tests/analysis/breakdown/test_group_scores.py tests/analysis/breakdown/test_ngrams.py",
        ),
    ],
    "metrics": [
        *_of_one_name("library/steelyard/metrics/ngram", "bleu chrf nist lebleu", "tests/library/metrics/ngram"),
        *_of_one_name("library/steelyard/metrics/edit", "ter wer per character", "tests/library/metrics/edit"),
        *_of_one_name("library/steelyard/metrics/alignment", "fmeasure gtm tbleu", "tests/library/metrics/alignment"),
        *_of_one_name(
            "library/steelyard/metrics/alignment",
            "sempos meteor",
            "tests/library/metrics/alignment",
            "tests/library/test_composed.py",
        ),
        *_of_one_name(
            "library/steelyard/metrics/embeddings",
            "bleu_modif wer_modif",
            "tests/library/metrics/embeddings",
            "tests/library/test_composed.py",
        ),
        *_of_one_name(
            "library/steelyard/metrics",
            "average_length segments segmentation parameters sweep",
            "tests/library/metrics",
        ),
        _target(
            "library/steelyard/numerics/deterministic.py",
            "tests/library/numerics/test_deterministic.py tests/library/metrics/ngram/test_bleu.py",
        ),
        _target(
            "library/steelyard/metrics/edit/error_rate.py library/steelyard/metrics/reference_choice.py",
            "tests/library/metrics/edit/test_wer.py tests/library/metrics/edit/test_per.py",
        ),
        _target("library/steelyard/metrics/ngram/ribes.py", "tests/library/metrics/ngram/test_ribes.py"),
        _target("library/steelyard/metrics/common_words.py", "tests/library/metrics/alignment/test_fmeasure.py"),
        _target(
            "library/steelyard/metrics/ngram/information_weights.py library/steelyard/metrics/ngram/ngram_table.py "
            "library/steelyard/metrics/corpus_statistics.py",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        _target(
            "library/steelyard/metrics/alignment/meteor_modules.py "
            "library/steelyard/metrics/alignment/meteor_resolution.py",
            "tests/library/metrics/alignment/test_meteor.py tests/library/metrics/alignment/test_meteor_real_data.py",
        ),
        *_of_one_name("library/steelyard/metrics/alignment", "lemmas synonyms", "tests/library/metrics/alignment"),
        *_of_one_name("library/steelyard/metrics", "resources entry_points stopwatch", "tests/library/metrics"),
        _target("library/steelyard/metrics/resolution.py", "tests/library/metrics/test_resolution.py"),
        _target("library/steelyard/plugins/entry_points.py", "tests/library/metrics/test_entry_points.py"),
        _target(
            "library/steelyard/metrics/metric.py",
            "tests/library/metrics/test_metric.py tests/library/metrics/test_parameters.py",
        ),
        _target(
            "library/steelyard/metrics/segments.py library/steelyard/metrics/score_systems.py",
            "tests/library/metrics/test_segments.py tests/library/test_composed.py",
        ),
        _target("library/steelyard/metrics/registry.py", "tests/library/metrics/test_parameters.py"),
    ],
    "conformance": [
        _target(
            "library/steelyard/conformance/campaign.py library/steelyard/conformance/check.py "
            "library/steelyard/conformance/declarations.py library/steelyard/conformance/promises.py "
            "library/steelyard/conformance/subject.py",
            "tests/library/conformance/test_check.py tests/library/conformance/test_subject.py",
        ),
    ],
    "vectors": [
        *_of_one_name("library/steelyard/numerics", "distributions", "tests/library/numerics"),
        *_of_one_name(
            "library/steelyard/metrics/embeddings", "vectors vector_files training", "tests/library/metrics/embeddings"
        ),
        _target(
            "library/steelyard/metrics/embeddings/embedding_metric.py",
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/embeddings/test_wer_modif.py",
        ),
    ],
    "correlation": [
        _target(
            "library/steelyard/meta_evaluation/statistics.py library/steelyard/meta_evaluation/system.py",
            "tests/library/meta_evaluation/test_system.py",
        ),
        _target(
            "library/steelyard/meta_evaluation/segment.py library/steelyard/meta_evaluation/segment_statistic.py "
            "library/steelyard/meta_evaluation/tie_calibration.py library/steelyard/meta_evaluation/pairs.py",
            "tests/library/meta_evaluation/test_segment.py tests/library/meta_evaluation/test_exchanged.py",
        ),
        _target(
            "library/steelyard/meta_evaluation/exchanged_moments.py", "tests/library/meta_evaluation/test_exchanged.py"
        ),
        *_of_one_name("library/steelyard/meta_evaluation", "comparison soft_accuracy", "tests/library/meta_evaluation"),
    ],
    "human": [
        *_of_one_name("library/steelyard/ranking", "human_significance", "tests/library/ranking"),
        *_of_one_name("library/steelyard/meta_evaluation/human", "scoring", "tests/library/meta_evaluation/human"),
        _target("library/steelyard/ranking/human_ranks.py", "tests/library/ranking/test_human_significance.py"),
        _target(
            "library/steelyard/meta_evaluation/human/rankings.py library/steelyard/meta_evaluation/human/agreement.py",
            "tests/library/meta_evaluation/human/test_rankings.py",
        ),
        _target(
            "library/steelyard/meta_evaluation/human/assessments.py "
            "library/steelyard/meta_evaluation/human/assessment_files.py library/steelyard/ranking/human_boards.py "
            "library/steelyard/tables/human_boards.py",
            "tests/library/commands/test_rank_humans.py",
        ),
        _target(
            "library/steelyard/meta_evaluation/human/cells.py library/steelyard/meta_evaluation/human/kinds.py "
            "library/steelyard/meta_evaluation/human/readers.py library/steelyard/meta_evaluation/human/reading.py "
            "library/steelyard/meta_evaluation/human/table.py library/steelyard/meta_evaluation/human/weights.py",
            "tests/library/meta_evaluation/human/test_reading.py "
            "tests/library/meta_evaluation/human/test_hostile_judgments.py",
        ),
    ],
    "inspection": _of_one_name(
        "library/steelyard/inspection",
        "influential_segments lengths marks ngrams partitions",
        "tests/library/inspection",
    ),
    "readers": [
        *_of_one_name("library/steelyard/formats/campaign", "campaigns folder pairing", "tests/library/formats"),
        *_of_one_name("library/steelyard/formats", "conllu filed plain tables", "tests/library/formats"),
        *_of_one_name("library/steelyard/formats/input", "encodings", "tests/library/formats"),
        *_of_one_name("library/steelyard/formats/treebanks", "layered", "tests/library/formats"),
        *_of_one_name("library/steelyard/formats/markup", "mteval wmt_xml", "tests/library/formats"),
        *_of_one_name("library/steelyard/text", "normalization", "tests/library/text"),
        *_of_one_name("library/steelyard/tokenizers", "tercom", "tests/library/tokenizers"),
        _target(
            "library/steelyard/formats/campaign/alignment.py",
            "tests/library/formats/test_alignment.py tests/library/formats/test_wmt_xml.py "
            "tests/library/formats/test_mteval.py",
        ),
        _target(
            "library/steelyard/tokenizers/rules.py library/steelyard/tokenizers/registry.py "
            "library/steelyard/tokenizers/mecab.py",
            "tests/library/tokenizers/test_tokenizers.py",
        ),
        _target(
            "library/steelyard/text/blocks.py",
            "tests/library/formats/test_filed.py tests/library/kernels/resampling/test_resampling.py",
        ),
        _target(
            "library/steelyard/formats/campaign/description.py library/steelyard/text/names.py "
            "library/steelyard/formats/campaign/layouts.py library/steelyard/text/limits.py",
            "tests/library/formats/test_folder.py tests/library/formats/test_folder_description.py "
            "tests/library/formats/test_folder_runs.py tests/library/formats/test_layered_folders.py "
            "tests/library/formats/test_campaigns.py",
        ),
        _target(
            "library/steelyard/formats/input/contents.py library/steelyard/formats/input/gzip_members.py "
            "library/steelyard/formats/input/windows.py",
            "tests/library/formats/test_gzip.py tests/library/formats/test_plain.py "
            "tests/library/formats/test_encodings.py",
        ),
        _target(
            "library/steelyard/formats/markup/documents.py library/steelyard/formats/markup/elements.py "
            "library/steelyard/text/findings.py library/steelyard/formats/detection.py "
            "library/steelyard/formats/markup/scanner.py library/steelyard/formats/markup/limits.py "
            "library/steelyard/text/wording.py library/steelyard/formats/registry.py "
            "library/steelyard/formats/zones.py library/steelyard/text/languages.py",
            "tests/library/formats/test_mteval.py tests/library/formats/test_wmt_xml.py "
            "tests/library/formats/test_hostile_markup.py",
        ),
        _target(
            "library/steelyard/formats/treebanks/pml.py library/steelyard/formats/treebanks/pml_bounds.py "
            "library/steelyard/formats/treebanks/pml_elements.py library/steelyard/formats/treebanks/trees.py "
            "library/steelyard/formats/sentences.py library/steelyard/formats/layers.py",
            "tests/library/formats/test_layered.py tests/library/formats/test_hostile_layers.py",
        ),
    ],
    "kernels": [
        _kernel(
            "ngrams.c ngram_counts.c clipped_ngrams.h ngram_masks.h ngram_rows.h ngram_trie.h",
            "tests/library/kernels/ngram/test_ngrams.py",
        ),
        _kernel("ngram_scores.c chrf_score.h", "tests/library/kernels/ngram/test_ngram_scores.py"),
        _kernel(
            "chrf.c character_ngrams.c word_ngrams.c shared_ngrams.h overlap.h overlap_bits.h automaton_overlap.h "
            "ngram_automaton.h ngram_lists.h code_points.h code_symbols.h scratch.h",
            "tests/library/kernels/chrf/test_chrf.py tests/library/metrics/ngram/test_chrf.py",
        ),
        _kernel("edit_distance.c comparing.h", "tests/library/kernels/edit/test_edit_distance.py"),
        _kernel(
            "myers.h",
            "tests/library/kernels/edit/test_edit_distance.py tests/library/kernels/edit/test_ter.py "
            "tests/library/metrics/edit/test_character.py",
        ),
        _kernel(
            "ter.c ter_shifts.h ter_distance.h",
            "tests/library/kernels/edit/test_ter.py tests/library/metrics/edit/test_ter.py",
        ),
        _kernel("resampling.c philox.h", "tests/library/kernels/resampling/test_resampling.py"),
        _kernel(
            "columns.c subset_sums.h sums_of_draws.c",
            "tests/library/resampling/test_bootstrap.py tests/library/resampling/test_randomization.py",
        ),
        _kernel("draw_bits.c draw_bits.h", "tests/library/kernels/resampling/test_draw_bits.py"),
        _kernel("kendall.c", "tests/library/kernels/ranking/test_kendall.py"),
        _kernel(
            "rank_sums.c pairs.c",
            "tests/library/kernels/ranking/test_rank_sums.py tests/library/meta_evaluation/test_segment.py",
        ),
        _kernel(
            "gtm.c gtm_budget.h",
            "tests/library/kernels/alignment/test_gtm.py tests/library/metrics/alignment/test_gtm.py",
        ),
        _kernel(
            "meteor.c meteor_components.h meteor_guess.h meteor_links.h meteor_options.h meteor_search.h",
            "tests/library/kernels/alignment/test_meteor.py tests/library/metrics/alignment/test_meteor.py",
        ),
        _kernel(
            "words.c lines.c token_cuts.h byte_classes.h interning.h bytes16.h vocabulary.c word_index.c",
            "tests/library/kernels/text/test_words.py tests/library/kernels/text/test_lines.py "
            "tests/library/kernels/text/test_word_index.py tests/library/tokenizers/test_tokenizers.py",
        ),
        _kernel("utf8.c utf8.h", "tests/library/kernels/characters/test_utf8.py"),
        _kernel("class_tokenizer.c", "tests/library/tokenizers/test_tokenizers.py"),
        _kernel("lebleu.c fuzzy_ngrams.h", "tests/library/metrics/ngram/test_lebleu.py"),
        _kernel("character.c character_shifts.h spelling.h swap.h", "tests/library/metrics/edit/test_character.py"),
        _kernel("alignments.c affix_distance.h assignment.h", "tests/library/kernels/alignment/test_alignments.py"),
        _kernel("bag_overlap.c", "tests/library/kernels/alignment/test_bag_overlap.py"),
        _kernel("nfc.c", "tests/library/kernels/characters/test_nfc.py"),
        _kernel("lowercase.c", "tests/library/kernels/characters/test_lowercase.py"),
        _kernel("entities.c", "tests/library/kernels/characters/test_entities.py"),
        _kernel("elementary.c elementary.h fixed_point.h", "tests/library/numerics/test_deterministic.py"),
        _kernel(
            "ngram_information.c ngram_weights.c",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        _kernel(
            "weighted_ngrams.c",
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/alignment/test_tbleu.py",
        ),
        _kernel(
            "similarities.c gram_matrix.h dot_products.h soft_distance.h soft_ngrams.h",
            "tests/library/metrics/embeddings/test_similarities.py "
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/embeddings/test_wer_modif.py",
        ),
    ],
    "bindings": [
        *_of_one_name(
            "library/steelyard/kernels/alignment",
            "alignments bag_overlap gtm meteor",
            "tests/library/kernels/alignment",
        ),
        *_of_one_name(
            "library/steelyard/kernels/text",
            "lines word_index words",
            "tests/library/kernels/text",
        ),
        *_of_one_name(
            "library/steelyard/kernels/characters",
            "entities lowercase nfc utf8",
            "tests/library/kernels/characters",
        ),
        *_of_one_name(
            "library/steelyard/kernels/resampling", "draw_bits resampling", "tests/library/kernels/resampling"
        ),
        *_of_one_name("library/steelyard/kernels/edit", "edit_distance ter", "tests/library/kernels/edit"),
        *_of_one_name("library/steelyard/kernels/ranking", "kendall rank_sums", "tests/library/kernels/ranking"),
        *_of_one_name("library/steelyard/kernels", "loader bindings", "tests/library/kernels"),
        *_of_one_name("library/steelyard/kernels/ngram", "ngram_scores ngrams", "tests/library/kernels/ngram"),
        _target(
            "library/steelyard/kernels/chrf/chrf.py library/steelyard/kernels/chrf/shared_ngrams.py",
            "tests/library/kernels/chrf/test_chrf.py",
        ),
        _target(
            "library/steelyard/kernels/resampling/columns.py library/steelyard/kernels/resampling/sums_of_draws.py",
            "tests/library/resampling/test_bootstrap.py",
        ),
        _target("library/steelyard/kernels/edit/character.py", "tests/library/metrics/edit/test_character.py"),
        _target(
            "library/steelyard/kernels/edit/lebleu.py library/steelyard/kernels/text/code_points.py",
            "tests/library/metrics/ngram/test_lebleu.py",
        ),
        _target("library/steelyard/kernels/numerics/elementary.py", "tests/library/numerics/test_deterministic.py"),
        _target(
            "library/steelyard/kernels/nist/ngram_counts.py library/steelyard/kernels/nist/ngram_information.py "
            "library/steelyard/kernels/nist/ngram_weights.py library/steelyard/kernels/text/vocabulary.py",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        _target("library/steelyard/kernels/ranking/pairs.py", "tests/library/meta_evaluation/test_segment.py"),
        _target("library/steelyard/kernels/text/class_tokenizer.py", "tests/library/tokenizers/test_tokenizers.py"),
        _target(
            "library/steelyard/kernels/embeddings/similarities.py "
            "library/steelyard/kernels/alignment/weighted_ngrams.py library/steelyard/kernels/text/word_pairs.py",
            "tests/library/metrics/embeddings/test_similarities.py "
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/alignment/test_tbleu.py",
        ),
    ],
}


def targets(area: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Area, source and tests of each source, of one area or of all."""
    for name, known in AREAS.items():
        for target in known if area in ("", name) else []:
            for source in target.sources:
                yield name, source, target.tests
